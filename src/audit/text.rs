//! An audit as text, and the sentences that its other forms share.

use std::fmt::{self, Write};
use std::sync::atomic::Ordering;

use rsmc_core::report::{quoted, visible, wrap};
use rsmc_core::trace::Weakened;

use crate::audit::cost::savings;
use crate::audit::{Audit, AuditedOrdering, Needed, Standing};

pub(super) fn write(audit: &Audit, f: &mut impl Write) -> fmt::Result {
    if audit.failure.is_some() {
        return writeln!(f, "{}", wrap(&visible(&summary(audit)), "  "));
    }
    writeln!(f, "{}", summary(audit))?;
    if !audit.is_complete {
        writeln!(f, "{INCOMPLETE}")?;
    }
    for note in &audit.notes {
        writeln!(f, "{}", wrap(&visible(note), "  "))?;
    }
    for ordering in &audit.orderings {
        writeln!(f)?;
        one(ordering, &audit.orderings, f)?;
    }
    if makes_no_difference(audit) {
        writeln!(f, "\n{}", wrap(NO_DIFFERENCE, ""))?;
    }
    if let Some(command) = together(audit) {
        writeln!(f, "\nThe check verifies with all of these together:\n    {command}")?;
        let saved: Vec<String> = savings(&audit.orderings).iter().map(ToString::to_string).collect();
        if !saved.is_empty() {
            writeln!(f, "\nThat saves on usual machines:\n    {}", visible(&saved.join("\n    ")))?;
        }
    }
    comments(audit, f)
}

/// The comments for the source, each below its line.
fn comments(audit: &Audit, f: &mut impl Write) -> fmt::Result {
    let comments = audit.orderings.iter().filter_map(|one| Some((one, one.comment()?)));
    for (number, (ordering, comment)) in comments.enumerate() {
        if number == 0 {
            writeln!(f, "\nComments to paste:")?;
        }
        write!(f, "\n{}\n{comment}\n", visible(&ordering.place))?;
    }
    Ok(())
}

pub(super) const INCOMPLETE: &str = "not complete: the time was over; an ordering that was not tried counts as needed";
pub(super) const NO_DIFFERENCE: &str = "No ordering makes a difference here. A check sees races on data in cells of the \
                                        shim only, and what assertions say.";

/// The number of orderings by what is said of them; or the reason why nothing was audited.
pub(super) fn summary(audit: &Audit) -> String {
    if let Some(why) = &audit.failure {
        return format!("no audit of a check that does not verify: {why}");
    }
    let count = |what| audit.orderings.iter().filter(|ordering| ordering.standing() == what).count();
    let (all, strong, unused) = (audit.orderings.len(), count(Standing::TooStrong), count(Standing::NotExercised));
    let needed = all - strong - unused;
    let orderings = if all == 1 { "ordering is" } else { "orderings are" };
    format!(
        "{all} {orderings} stronger than Relaxed: {needed} needed as written, {strong} too strong, {unused} not exercised"
    )
}

/// Whether the check can tell none of the orderings that are exercised from `Relaxed`.
pub(super) fn makes_no_difference(audit: &Audit) -> bool {
    let mut exercised = audit.orderings.iter().filter(|ordering| ordering.is_exercised).peekable();
    exercised.peek().is_some() && exercised.all(|ordering| ordering.together == Ordering::Relaxed)
}

/// The command that runs the check with all that is weaker together.
pub(super) fn together(audit: &Audit) -> Option<String> {
    let list = Weakened::list(&audit.together);
    (!list.is_empty()).then(|| format!("RSMC_WEAKEN={} {}", quoted(&list), command(audit.test.as_deref())))
}

/// One of all orderings: its place, its verdict, and what it is needed for.
pub(super) fn one(ordering: &AuditedOrdering, all: &[AuditedOrdering], f: &mut impl Write) -> fmt::Result {
    writeln!(f, "{}  {}", visible(&ordering.place), title(ordering))?;
    let mut say = |what: &str| writeln!(f, "{}", wrap(&format!("  {}", visible(what)), "    "));
    if let Some(verdict) = verdict(ordering) {
        say(&verdict)?;
    }
    if let Some(pairs) = pairs(ordering, all) {
        say(&pairs)?;
    }
    let Some(needed) = &ordering.needed else { return Ok(()) };
    let reason = reason(ordering, needed);
    say(&if ordering.is_minimal() { format!("needed: {reason}") } else { reason })?;
    writeln!(f, "    {}", replay(needed))
}

/// `store: Release`
pub(super) fn title(ordering: &AuditedOrdering) -> String {
    let &AuditedOrdering { operation, is_failure, written, .. } = ordering;
    format!("{operation}{}: {written:?}", if is_failure { ", where it fails" } else { "" })
}

/// The verdict on an ordering that is not minimal.
pub(super) fn verdict(ordering: &AuditedOrdering) -> Option<String> {
    let &AuditedOrdering { written, alone, together, .. } = ordering;
    match ordering.standing() {
        Standing::NotExercised => {
            Some("not exercised: no execution has two threads that use the atomic; add a test that has".to_owned())
        }
        Standing::TooStrong => {
            let beside = match together {
                _ if together == alone => String::new(),
                _ if together == written => ", but not beside the weaker orderings below".to_owned(),
                _ => format!(", and {} beside the weaker orderings below", name(ordering, together)),
            };
            Some(format!("too strong: {} is enough{beside}", name(ordering, alone)))
        }
        Standing::Needed | Standing::NotTried => None,
    }
}

/// The places with which one of all orderings synchronises; and if no test needs it, what one would do that does.
pub(super) fn pairs(ordering: &AuditedOrdering, all: &[AuditedOrdering]) -> Option<String> {
    let places = listed(&ordering.pairs);
    match (ordering.pairs.is_empty(), is_untested(ordering, all)) {
        (true, false) => None,
        (true, true) => Some(UNPAIRED.to_owned()),
        (false, false) => Some(format!("pairs with {places}")),
        (false, true) => Some(format!("pairs with {places}; {UNREAD}")),
    }
}

const UNPAIRED: &str = "pairs with nothing: in no execution does it synchronise two threads; a test that needs it has one \
                        acquire what another has released";
const UNREAD: &str = "a test that needs it looks, behind the acquire, at what was written before the release";

/// Whether no test needs it, nor an ordering with which it synchronises. If a test needs one of these, it looks at the
/// data, and another ordering is enough for that.
fn is_untested(ordering: &AuditedOrdering, all: &[AuditedOrdering]) -> bool {
    let is_needed = |one: &AuditedOrdering| one.is_exercised && one.alone != Ordering::Relaxed;
    let is_other = |one: &AuditedOrdering| ordering.pairs.contains(&one.place) && is_needed(one);
    ordering.is_exercised && ordering.together == Ordering::Relaxed && !all.iter().any(is_other)
}

/// Places in one sentence, as many as one can look at.
pub(super) fn listed(places: &[String]) -> String {
    const MOST: usize = 4;
    match places.len().saturating_sub(MOST) {
        0 => places.join(", "),
        more => format!("{} and {more} more", places[..MOST].join(", ")),
    }
}

/// The failure with a weaker ordering.
pub(super) fn reason(ordering: &AuditedOrdering, needed: &Needed) -> String {
    let Needed { weakened, .. } = needed;
    let weaker = weakened.last().map_or_else(String::new, |weakened| name(ordering, weakened.most));
    let others = if weakened.len() > 1 { " beside the others" } else { "" };
    format!("with {weaker}{others} it fails: {}", failure(needed))
}

/// The failure in one line. The table of a scenario's results is left to the replay.
fn failure(Needed { message, scenario, .. }: &Needed) -> String {
    let Some(scenario) = scenario else { return message.split_whitespace().collect::<Vec<_>>().join(" ") };
    let first = message.lines().next().unwrap_or_default();
    // The panic is one of the client that stands for the user's test.
    let own = first.split_once("__rsmc_").and_then(|(_, rest)| rest.split_once(": "));
    format!("in {scenario}: {}", own.map_or(first, |(_, what)| what))
}

/// The command that shows what fails.
pub(super) fn replay(needed: &Needed) -> String {
    let Needed { weakened, seed, scenario, test, .. } = needed;
    let scenario = scenario.as_ref().map(|scenario| format!("RSMC_SCENARIO={} ", quoted(scenario)));
    let (weaken, command) = (quoted(&Weakened::list(weakened)), command(test.as_deref()));
    format!("RSMC_WEAKEN={weaken} RSMC_REPLAY={seed} {}{command}", scenario.unwrap_or_default())
}

fn name(ordering: &AuditedOrdering, order: Ordering) -> String {
    match (ordering.operation, order) {
        ("fence", Ordering::Relaxed) => "no fence".to_owned(),
        _ => format!("{order:?}"),
    }
}

fn command(test: Option<&str>) -> String {
    test.map_or("cargo test".to_owned(), |test| format!("cargo test {test} -- --exact"))
}
