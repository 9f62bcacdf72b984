//! Schedules that are set aside until the bound of preemptions has risen.
//!
//! Problem. Explore the classes with few preemptions first, and none twice. A schedule that needs more preemptions than
//! the bound is explored when the bound has risen. By then its decision has left the path, and with it the set of the
//! schedules that were seen there.
//!
//! Method. A decision that leaves the path is kept if it has schedules aside, or if a kept decision stands below it. A
//! kept decision knows the one above it, the answer of that one on the path, and the part of `τ` between the two. When
//! the path is empty, the bound rises, and the path to a kept decision with a schedule that is now within the bound
//! becomes the path again. So every decision is in one place, on the path or kept, and has one set.
//!
//! Memory. All decisions above a schedule that is aside, with their sets.

use std::collections::BTreeSet;

use crate::base::EventId;
use crate::explore::rf_smc::RfSmc;
use crate::explore::rf_smc::decision::Decision;
use crate::explore::rf_smc::schedule::SetAside;
use crate::explore::rf_smc::tau::NamedEntry;

/// A decision that is kept, or one on the path that stands above a kept one.
#[derive(Debug)]
struct Kept {
    /// The decision above, and its answer on the path to this one: the event there, and whether it is frozen.
    above: Option<(usize, EventId, bool)>,
    /// The entries of `τ` from the place of the decision above to the place of this one.
    tau: Vec<NamedEntry>,
    /// `None` while it is on the path.
    decision: Option<Decision>,
    /// The number of kept decisions right below.
    below: usize,
}

/// The kept decisions; see the module.
#[derive(Debug, Default)]
pub(super) struct Aside {
    kept: Vec<Option<Kept>>,
    free: Vec<usize>,
    /// The decisions with schedules aside that are not on the path, by the lowest bound of these.
    by_level: BTreeSet<(u32, usize)>,
}

impl Aside {
    fn get(&mut self, number: usize) -> &mut Kept {
        self.kept[number].as_mut().expect("a kept decision stays while one below it is kept")
    }

    fn insert(&mut self, above: Option<(usize, EventId, bool)>, tau: Vec<NamedEntry>) -> usize {
        if let Some((above, ..)) = above {
            self.get(above).below += 1;
        }
        let kept = Kept { above, tau, decision: None, below: 0 };
        let number = self.free.pop().unwrap_or_else(|| {
            self.kept.push(None);
            self.kept.len() - 1
        });
        self.kept[number] = Some(kept);
        number
    }

    /// Forgets a decision that has left the path, and those above it that are not needed any more. Decisions on the
    /// path are needed.
    fn forget(&mut self, number: usize) {
        self.free.push(number);
        let above = self.kept[number].take().and_then(|kept| kept.above);
        if let Some((above, ..)) = above {
            let kept = self.get(above);
            kept.below -= 1;
            if kept.below == 0 && kept.decision.as_ref().is_some_and(|decision| decision.aside().is_empty()) {
                self.forget(above);
            }
        }
    }

    /// Takes a decision from the path. If it has schedules aside, it can be found by the lowest of their bounds.
    fn put(&mut self, number: usize, decision: Decision) {
        self.by_level.extend(decision.lowest_aside().map(|level| (level, number)));
        self.get(number).decision = Some(decision);
    }

    /// Moves a decision to the path.
    fn take(&mut self, number: usize) -> Decision {
        let decision = self.get(number).decision.take().expect("it is not on the path");
        if let Some(level) = decision.lowest_aside() {
            self.by_level.remove(&(level, number));
        }
        decision
    }
}

impl Decision {
    /// Sets a schedule aside.
    pub(super) fn set_aside(&mut self, schedule: SetAside) {
        self.later.get_or_insert_default().aside.push(schedule);
    }

    /// The schedules that are aside.
    fn aside(&self) -> &[SetAside] {
        self.later.as_ref().map_or(&[], |later| &later.aside)
    }

    /// Its number among the kept decisions, if it has one.
    fn kept(&self) -> Option<usize> {
        self.later.as_ref().and_then(|later| later.kept)
    }

    /// The lowest bound within which one of its schedules that are aside may be.
    fn lowest_aside(&self) -> Option<u32> {
        self.aside().iter().map(|aside| aside.level).min()
    }
}

impl RfSmc {
    /// Takes the last decision from the path, and keeps it if it is needed for schedules that are aside.
    #[cold]
    pub(super) fn leave_last(&mut self) {
        let Some(mut decision) = self.decisions.pop() else { return };
        let has_below = |aside: &mut Aside, number: usize| aside.get(number).below > 0;
        match decision.kept() {
            Some(number) if decision.aside().is_empty() && !has_below(&mut self.bound.aside, number) => {
                self.bound.aside.forget(number);
            }
            None if decision.aside().is_empty() => {}
            kept => {
                let number = kept.unwrap_or_else(|| self.keep(decision.at));
                decision.later.get_or_insert_default().kept = Some(number);
                self.bound.aside.put(number, decision);
            }
        }
    }

    /// Makes a place among the kept decisions for one below the path, which stands at this place of `τ`, and for those
    /// on the path. Returns its number.
    fn keep(&mut self, at: usize) -> usize {
        let (mut above, mut from) = (None, 0);
        for number in 0..self.decisions.len() {
            let Decision { at, id, frozen, .. } = self.decisions[number];
            let kept = self.decisions[number]
                .kept()
                .unwrap_or_else(|| self.bound.aside.insert(above, self.tau[from..at].to_vec()));
            self.decisions[number].later.get_or_insert_default().kept = Some(kept);
            (above, from) = (Some((kept, id, frozen)), at);
        }
        self.bound.aside.insert(above, self.tau[from..at].to_vec())
    }

    /// Makes the path to a kept decision with a schedule within the bound the path again, and raises the bound before
    /// if there is none. Returns whether there is a schedule.
    pub(super) fn take_up(&mut self) -> bool {
        let Some(&(lowest, last)) = self.bound.aside.by_level.first() else { return false };
        let level = self.bound.most.map_or(lowest, |most| most.max(lowest));
        self.bound.most = Some(level);
        let mut number = Some(last);
        self.tau.clear();
        let (mut decisions, mut parts, mut answer) = (Vec::new(), Vec::new(), None);
        while let Some(at) = number {
            let mut decision = self.bound.aside.take(at);
            let kept = self.bound.aside.get(at);
            if let Some((id, frozen)) = answer {
                (decision.id, decision.frozen) = (id, frozen);
            }
            parts.push(kept.tau.clone());
            answer = kept.above.map(|(_, id, frozen)| (id, frozen));
            number = kept.above.map(|(above, ..)| above);
            decisions.push(decision);
        }
        parts.iter().rev().for_each(|part| self.tau.extend_from_slice(part));
        for mut decision in decisions.into_iter().rev() {
            let is_within = |aside: &mut SetAside| aside.level <= level;
            let aside = decision.later.as_mut().map(|later| &mut later.aside);
            let within: Vec<SetAside> =
                aside.map(|aside| aside.extract_if(.., is_within).collect()).unwrap_or_default();
            within.into_iter().for_each(|aside| self.budget.add(&mut decision, aside.schedule));
            self.decisions.push(decision);
        }
        true
    }
}
