//! The legend for the remarks on buffers in rows.

use crate::report::rows::{Buffering, Scene};
use crate::report::text::wrap;

/// The legend; `None` if no row has a remark on buffers.
pub(super) fn legend(scene: &Scene<'_>) -> Option<String> {
    let any = |what: fn(&Buffering) -> bool| scene.lines.iter().any(|line| what(&line.buffering));
    if !any(|row| matches!(row, Buffering::Waits)) {
        let remedy = if scene.buffers.seq_cst_missed { STRONGER } else { ORDERED };
        return any(|row| matches!(row, Buffering::Misses(_))).then(|| wrap(&format!("{STALE}{remedy}"), "    "));
    }
    let until = if any(|row| matches!(row, Buffering::Flush(_))) {
        "until \"#n visible to all\""
    } else {
        "here until the end"
    };
    let mut lines = vec![format!("  buffered: only its own thread sees the value, {until}")];
    if any(|row| matches!(row, Buffering::Misses(_))) {
        lines.push("  not #n: the newer value of row n was still buffered".to_owned());
        lines.push(format!("  {}", remedy(scene)));
    }
    Some(lines.iter().map(|line| wrap(line, "    ")).collect::<Vec<_>>().join("\n"))
}

/// The meaning of a read that took an old write under C11.
const STALE: &str = "  not #n: row n stored a newer value, and nothing orders that store before this load; ";
/// The orderings that would have made it read a newer one.
const ORDERED: &str = "a `Release` store after it, and an `Acquire` load of that before this one, would";
/// The reason, if the store is as strong as it can be.
const STRONGER: &str = "the store is `SeqCst`, and this load is not";

/// The change that would have made the store visible in time.
fn remedy(scene: &Scene<'_>) -> String {
    match overtaking(scene) {
        Some((later, earlier)) => {
            format!("#{later} became visible to all before #{earlier} did; as a `Release` store it could not")
        }
        None => "`SeqCst` stores are visible at once; a `SeqCst` fence waits for earlier ones".to_owned(),
    }
}

/// The rows of a store that became visible before an earlier one of its thread, and of that earlier store, which a read
/// then missed.
pub(super) fn overtaking(scene: &Scene<'_>) -> Option<(usize, usize)> {
    let (later, earlier) = scene.buffers.overtaking()?;
    Some((scene.row_of_event(later)?, scene.row_of_event(earlier)?))
}
