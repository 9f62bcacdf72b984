//! The loops that wait, in one execution or another.

use crate::base::LocId;
use crate::step::{Observed, WaitingLoops};
use crate::trace::{Action, Op, Site, Trace};

/// The loops that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Loops {
    /// Those that are known, here or to another executor.
    pub(super) known: WaitingLoops,
    /// The places of lines that were noted here.
    sites: Vec<Site>,
    /// The places where locks were created that are tried, as far as noted here.
    created: Vec<Site>,
}

impl Loops {
    /// These loops.
    pub(super) fn of(known: &WaitingLoops) -> Self {
        Self { known: known.clone(), ..Self::default() }
    }

    /// Notes that there is a loop that waits. Returns whether none was known.
    pub(super) fn note(&mut self) -> bool {
        !std::mem::replace(&mut self.known.any, true)
    }

    /// Notes a line before which a thread waits.
    pub(super) fn note_line(&mut self, site: Site) {
        note(&mut self.sites, site, &mut self.known.lines);
    }

    /// Notes the locks of an execution at which threads look without waiting for them. Returns whether one is new.
    pub(super) fn note_tried(&mut self, trace: &Trace, standing: impl Iterator<Item = Op>) -> bool {
        let known = self.known.tried.len();
        let ops = || trace.events.iter().map(|event| event.op);
        let mut locks: Vec<LocId> = Vec::new();
        for op in ops().filter(|op| op.action.locks()) {
            if !locks.contains(&op.loc) {
                locks.push(op.loc);
            }
        }
        for op in ops().chain(standing) {
            if op.action == Action::TryAcquire || (op.action == Action::Load && locks.contains(&op.loc)) {
                note(&mut self.created, trace.locs[op.loc].created, &mut self.known.tried);
            }
        }
        self.known.tried.len() > known
    }
}

/// Notes a place, and its number.
fn note(sites: &mut Vec<Site>, site: Site, numbers: &mut Vec<u32>) {
    if !sites.contains(&site) {
        sites.push(site);
        let number = Observed::number_of(&site.to_string());
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
}
