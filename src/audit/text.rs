//! An audit as text.

use std::fmt::{self, Write};
use std::sync::atomic::Ordering;

use rsmc_core::report::{quoted, visible, wrap};
use rsmc_core::trace::Weakened;

use crate::audit::cost::saved;
use crate::audit::{Audit, AuditedOrdering, Needed};

pub(super) fn write(audit: &Audit, f: &mut impl Write) -> fmt::Result {
    if let Some(why) = &audit.failure {
        return writeln!(f, "{}", wrap(&visible(&format!("no audit of a check that does not verify: {why}")), "  "));
    }
    let count = |what: fn(&AuditedOrdering) -> bool| audit.orderings.iter().filter(|ordering| what(ordering)).count();
    let (all, strong) = (audit.orderings.len(), count(is_too_strong));
    let unused = count(|ordering| !ordering.is_exercised);
    let needed = all - strong - unused;
    let orderings = if all == 1 { "ordering is" } else { "orderings are" };
    writeln!(
        f,
        "{all} {orderings} stronger than Relaxed: {needed} needed as written, {strong} too strong, {unused} not \
         exercised"
    )?;
    if !audit.is_complete {
        writeln!(f, "not complete: the time was over; an ordering that was not tried counts as needed")?;
    }
    for ordering in &audit.orderings {
        writeln!(f)?;
        one(ordering, f)?;
    }
    let mut exercised = audit.orderings.iter().filter(|ordering| ordering.is_exercised).peekable();
    if exercised.peek().is_some() && exercised.all(|ordering| ordering.together == Ordering::Relaxed) {
        let what = "No ordering makes a difference here. A check sees races on data in cells of the shim only, and \
                    what assertions say.";
        writeln!(f, "\n{}", wrap(what, ""))?;
    }
    if !audit.together.is_empty() {
        writeln!(f, "\nThe check verifies with all of these together:")?;
        writeln!(f, "    RSMC_WEAKEN={} {}", quoted(&Weakened::list(&audit.together)), command(audit.test.as_deref()))?;
        let saved = saved(&audit.orderings);
        if !saved.is_empty() {
            writeln!(f, "\nThat saves on usual machines:\n    {}", visible(&saved.join("\n    ")))?;
        }
    }
    Ok(())
}

fn is_too_strong(ordering: &AuditedOrdering) -> bool {
    ordering.is_exercised && ordering.alone != ordering.written
}

pub(super) fn one(ordering: &AuditedOrdering, f: &mut impl Write) -> fmt::Result {
    let &AuditedOrdering { operation, is_failure, written, alone, together, .. } = ordering;
    let of_failure = if is_failure { ", where it fails" } else { "" };
    writeln!(f, "{}  {operation}{of_failure}: {written:?}", visible(&ordering.place))?;
    let name = |order: Ordering| match (operation, order) {
        ("fence", Ordering::Relaxed) => "no fence".to_owned(),
        _ => format!("{order:?}"),
    };
    let mut say = |what: &str| writeln!(f, "{}", wrap(&format!("  {}", visible(what)), "    "));
    if !ordering.is_exercised {
        return say("not exercised: no execution has two threads that use the atomic");
    }
    if is_too_strong(ordering) {
        let beside = match together {
            _ if together == alone => String::new(),
            _ if together == written => ", but not beside the weaker orderings below".to_owned(),
            _ => format!(", and {} beside the weaker orderings below", name(together)),
        };
        say(&format!("too strong: {} is enough{beside}", name(alone)))?;
    }
    let Some(Needed { weakened, message, seed, test, .. }) = &ordering.needed else { return Ok(()) };
    let weaker = weakened.last().map_or_else(String::new, |weakened| name(weakened.most));
    let others = if weakened.len() > 1 { " beside the others" } else { "" };
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let needed = if is_too_strong(ordering) { "" } else { "needed: " };
    say(&format!("{needed}with {weaker}{others} it fails: {message}"))?;
    writeln!(f, "    RSMC_WEAKEN={} RSMC_REPLAY={seed} {}", quoted(&Weakened::list(weakened)), command(test.as_deref()))
}

fn command(test: Option<&str>) -> String {
    test.map_or("cargo test".to_owned(), |test| format!("cargo test {test} -- --exact"))
}
