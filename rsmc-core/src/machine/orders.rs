//! Orderings that are other than written.

use std::sync::atomic::Ordering;

use crate::trace::{Op, Site, Weakened, weakest};

/// The changes of orderings.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// Places, with the weakest ordering that operations there have.
    strengthened: Vec<(Site, Ordering)>,
    /// Weaker orderings, and whether an operation had one of them.
    weakened: Vec<(Weakened, bool)>,
    /// Whether there is a change at all, which every operation asks.
    are_changed: bool,
}

impl Orders {
    /// Whether all orderings are as written.
    #[inline]
    pub(super) fn are_written(&self) -> bool {
        !self.are_changed
    }

    fn note_change(&mut self) {
        self.are_changed = !(self.strengthened.is_empty() && self.weakened.is_empty());
    }

    pub(super) fn strengthen(&mut self, changes: &[(Site, Ordering)]) {
        self.strengthened.clear();
        self.strengthened.extend_from_slice(changes);
        self.note_change();
    }

    pub(super) fn weaken(&mut self, changes: &[Weakened]) {
        self.weakened = changes.iter().map(|change| (change.clone(), false)).collect();
        self.note_change();
    }

    /// The weaker orderings that no operation had.
    pub(super) fn unused(&self) -> Vec<Weakened> {
        self.weakened.iter().filter(|(_, used)| !used).map(|(change, _)| change.clone()).collect()
    }

    /// An operation with its ordering. If it is both weakened and strengthened, it is as strong as the latter says.
    pub(super) fn of(&mut self, mut op: Op) -> Op {
        let site = op.site;
        for (change, used) in self.weakened.iter_mut().filter(|(change, _)| change.is_at(site)) {
            let weaker =
                if change.is_failure { op.with_failure_at_most(change.most) } else { op.with_at_most(change.most) };
            *used |= weaker != op;
            op = weaker;
        }
        match self.strengthened.iter().find(|(site, _)| *site == op.site) {
            Some(&(_, order)) => op.with_at_least(order),
            None => op,
        }
    }

    /// The ordering of a fence; `Relaxed`: there is none.
    pub(super) fn of_fence(&mut self, mut order: Ordering, site: Site) -> Ordering {
        for (change, used) in self.weakened.iter_mut().filter(|(change, _)| !change.is_failure && change.is_at(site)) {
            let weaker = weakest(order, change.most);
            *used |= weaker != order;
            order = weaker;
        }
        order
    }
}
