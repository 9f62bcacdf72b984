//! Where following a run got stuck: a proof that there is no execution, if one is near.
//!
//! Problem. Some parts of a new sequence are left, none of which can happen next. Is that so in every execution, or only in
//! the one that was followed?
//!
//! Method. Under SC a part comes after others, whatever else happens: after what is before it in program order, and after
//! the write that it reads; a write comes after the reads of every write that is older than it (closure, rule 4), and
//! after every other write that one of its own readers has seen (rule 3). The largest set of parts each of which comes after
//! another one of the set is found by taking parts out. If something remains, no execution has it.
//!
//! Cost. Passes times (parts left)², most of which differ in their location at once.
//!
//! Source. The rules of the closure (`consistency::closure`), applied to the causal order of the run instead of to an order
//! that grows; so it refutes less, and never what is possible.

use crate::explore::rf_smc::follow::{NOBODY, Part};

/// What is known of the new sequence, whatever order it happens in.
pub(super) struct Known<P, B> {
    /// What is before an actor in program order.
    pub(super) preds: P,
    /// Whether a write certainly happens before an actor.
    pub(super) precedes: B,
}

/// Whether these parts, of which none has happened, cannot all happen. By actor, `waits` says whether it is among them.
pub(super) fn is_refuted<'a, P, B>(parts: &[Part], left: &mut Vec<u32>, waits: &mut [bool], known: &Known<P, B>) -> bool
where
    P: Fn(u32) -> &'a [u32],
    B: Fn(u32, u32) -> bool,
{
    let mut before = usize::MAX;
    while left.len() < before {
        before = left.len();
        for i in (0..before).rev() {
            let part = parts[left[i] as usize];
            if !comes_after_another(part, parts, left, waits, known) {
                waits[part.who as usize] = false;
                left.swap_remove(i);
            }
        }
    }
    !left.is_empty()
}

/// Whether one of those that are left certainly happens before this part.
fn comes_after_another<'a, P, B>(part: Part, parts: &[Part], left: &[u32], waits: &[bool], known: &Known<P, B>) -> bool
where
    P: Fn(u32) -> &'a [u32],
    B: Fn(u32, u32) -> bool,
{
    let Part { who, source, loc, reads, writes } = part;
    if (known.preds)(who).iter().any(|&pred| waits[pred as usize]) {
        return true;
    }
    if reads && source != NOBODY && waits[source as usize] {
        return true;
    }
    if !writes {
        return false;
    }
    let others = || left.iter().map(|&part| parts[part as usize]).filter(|other| other.loc == loc && other.who != who);
    let readers = || others().filter(|other| other.reads && other.source == who);
    let is_older = |write: u32| {
        let seen = || (known.precedes)(write, who) || readers().any(|reader| (known.precedes)(write, reader.who));
        write == NOBODY || (write != who && seen())
    };
    others().any(|other| other.reads && other.source != who && is_older(other.source))
        || others().any(|other| {
            other.writes && readers().any(|read| read.who != other.who && (known.precedes)(other.who, read.who))
        })
}
