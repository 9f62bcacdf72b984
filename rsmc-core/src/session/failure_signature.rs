//! The signature of a failure: the part of it that stays the same when the order of execution changes.
//!
//! | kind | what must be the same |
//! | --- | --- |
//! | panic | the place, and the first line of the message without its numbers: values may depend on the order |
//! | data race | the two accesses, in any order |
//! | use after free | the object, and the place of the use |
//! | double free | nothing else: which thread freed first depends on the order |
//! | deadlock, livelock | the places at which threads wait, and the kind of object each waits for |
//! | leak | the objects that were not freed, and where each was created |
//! | thread left | the place where it was started |
//!
//! A signature names no threads: which of two threads that run the same code fails makes no difference. Failures of all
//! other kinds have no signature ([`FailureSignature::of`] returns `None`): they break an execution off, or do not
//! depend on its order.

use crate::session::FailureKind;
use crate::session::judge::Finding;
use crate::step::{BadMemory, Panicked, Run, Why};
use crate::trace::Site;

/// The properties that all executions with one failure share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FailureSignature {
    kind: FailureKind,
    /// Sorted, so that their order does not depend on the execution.
    parts: Vec<(String, Place)>,
}

/// A site that can be sorted.
type Place = (String, (u32, u32));

fn place(site: Site) -> Place {
    (site.to_string(), site.line_and_column())
}

impl FailureSignature {
    /// The signature of this failure; `None` if another order of execution cannot show it again.
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
                let access = |access: &crate::analysis::race::Access| (access.verb().to_owned(), place(access.site));
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
            FailureKind::ThreadLeft => vec![(String::new(), place(finding.spots.first()?.site))],
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
        Why::Suspended => "suspended",
        Why::Spin { .. } => "spin",
    }
}
