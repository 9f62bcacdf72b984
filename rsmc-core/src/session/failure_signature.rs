//! When two executions fail the same way: what stays of a failure when the order of execution changes.
//!
//! | kind | what must be the same |
//! | --- | --- |
//! | panic | where, and the first line of the message without its numbers: values may depend on the order |
//! | data race | the two accesses, in any order |
//! | use after free | the object, and where it is used |
//! | double free | nothing else: who freed first depends on the order |
//! | deadlock, livelock | the places at which threads wait, and for what kind of thing |
//! | leak | what is left, and where it was created |
//! | thread left | where it was started |
//!
//! Threads are left out: which of two that run the same code fails makes no difference. All other kinds are alike only to
//! themselves, and are not looked for ([`FailureSignature::of`] gives nothing): they break an execution off, or are no property of
//! its order.

use crate::session::FailureKind;
use crate::session::judge::Finding;
use crate::step::{BadMemory, Panicked, Run, Why};
use crate::trace::Site;

/// What is the same in all executions that fail in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FailureSignature {
    kind: FailureKind,
    /// In no order that depends on the execution.
    parts: Vec<(String, Place)>,
}

/// A site that can be sorted.
type Place = (String, (u32, u32));

fn place(site: Site) -> Place {
    (site.to_string(), site.line_and_column())
}

impl FailureSignature {
    /// What it is for this failure; `None` if another order of execution cannot show it again.
    pub(super) fn of(run: &Run, finding: &Finding) -> Option<Self> {
        let mut parts = match finding.kind {
            FailureKind::Panic => {
                let panic = &run.panics[Panicked::cause(&run.panics)?];
                let line = panic.message.lines().next().unwrap_or_default();
                vec![(line.chars().filter(|c| !c.is_ascii_digit()).collect(), place(panic.site))]
            }
            FailureKind::DataRace => {
                let race = finding.race.as_ref()?;
                let cell = &run.trace.locs[race.loc];
                let access = |access: &crate::analysis::race::Access| {
                    (if access.writes { "writes" } else { "reads" }.to_owned(), place(access.site))
                };
                vec![(cell.kind.to_owned(), Place::default()), access(&race.first), access(&race.second)]
            }
            FailureKind::UseAfterFree | FailureKind::DoubleFree => match run.bad_memory? {
                BadMemory::UsedAfterFree { loc, site, .. } => {
                    let info = &run.trace.locs[loc];
                    vec![(info.kind.to_owned(), place(info.created)), (String::new(), place(site))]
                }
                BadMemory::FreedTwice { .. } => Vec::new(),
            },
            FailureKind::Deadlock | FailureKind::Livelock => {
                run.waiting.iter().map(|pending| (why(&pending.why).to_owned(), place(pending.site))).collect()
            }
            FailureKind::Leak => run.leaks.iter().map(|leak| (leak.kind.to_owned(), place(leak.created))).collect(),
            FailureKind::ThreadLeft => vec![(String::new(), place(finding.started?))],
            _ => return None,
        };
        parts.sort();
        Some(Self { kind: finding.kind, parts })
    }

    /// The kind of the failure.
    pub(super) fn kind(&self) -> FailureKind {
        self.kind
    }
}

fn why(why: &Why) -> &'static str {
    match why {
        Why::Lock { .. } => "lock",
        Why::Join(_) => "join",
        Why::Park => "park",
        Why::Spin { .. } => "spin",
    }
}
