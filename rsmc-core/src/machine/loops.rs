//! The loops that wait, in one execution or another.

use crate::step::{Observed, WaitingLoops};
use crate::trace::Site;

/// The loops that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Loops {
    /// Those that are known, here or to another executor.
    pub(super) known: WaitingLoops,
    /// The places of lines that were noted here.
    sites: Vec<Site>,
}

impl Loops {
    /// These loops.
    pub(super) fn of(known: &WaitingLoops) -> Self {
        Self { known: known.clone(), sites: Vec::new() }
    }

    /// Notes that there is a loop that waits. Returns whether none was known.
    pub(super) fn note(&mut self) -> bool {
        !std::mem::replace(&mut self.known.any, true)
    }

    /// Notes a line before which a thread waits.
    pub(super) fn note_line(&mut self, site: Site) {
        if self.sites.contains(&site) {
            return;
        }
        self.sites.push(site);
        let number = Observed::number_of(&site.to_string());
        if !self.known.lines.contains(&number) {
            self.known.lines.push(number);
        }
    }
}
