//! The visits of a thread since it last changed something: its states, and how far it had come.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::{LocId, mix};
use crate::machine::glimpse::Glimpse;
use crate::machine::rounds::{Changed, Rounds};

/// A fingerprint of all that a thread's next steps depend on: equal states have the same future if they read the same.
pub type State = u128;

/// A visit of a thread at an operation or hint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    /// The state of the thread, and the locks that it had taken since the first visit and not given back.
    pub(super) state: State,
    /// The number of the thread's events, and the number of all notes.
    pub(super) events: u32,
    pub(super) notes: u32,
    /// The rounds that ended in this state.
    pub(super) rounds: Rounds,
}

/// The visits of a thread since it last changed something.
#[derive(Clone, Debug, Default)]
pub(super) struct Visits {
    pub(super) list: Vec<Visit>,
    /// By state: the number of the visit in the list, if there are many.
    numbers: FxHashMap<State, u32>,
    pub(super) held: u64,
    pub(super) changed: Changed,
    /// The glimpses of the thread, also where states are not asked for: the first few, and numbers of the others.
    glances: Vec<Glimpse>,
    many_glances: FxHashSet<u64>,
}

/// The largest number of visits or glimpses that are searched one by one.
const FEW: usize = 32;

impl Visits {
    /// Forgets them: the thread changed something.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.glances.clear();
        self.held = 0;
        if !self.numbers.is_empty() || !self.many_glances.is_empty() {
            self.clear_many();
        }
    }

    /// Whether the thread has been at so many places that it is in no short round. One that counts by updates would
    /// never forget a place.
    pub(super) fn are_many(&self) -> bool {
        self.list.len() >= FEW || self.glances.len() >= FEW
    }

    #[cold]
    fn clear_many(&mut self) {
        self.numbers.clear();
        self.many_glances.clear();
    }

    /// Whether the thread was at this place before; if not, it is noted.
    #[inline]
    pub(super) fn glance(&mut self, glimpse: Glimpse) -> bool {
        let known = self.glances.iter().any(|before| before.calls == glimpse.calls);
        if known || self.glances.len() == FEW {
            return known || !self.many_glances.insert(glimpse.calls);
        }
        self.glances.push(glimpse);
        false
    }

    /// Whether its registers were the same there, as far as they are needed; they are noted.
    pub(super) fn glance_closer(&mut self, glimpse: Glimpse, needed: u32) -> bool {
        let known = self.glances.iter().any(|before| before.is_same(&glimpse, needed));
        if known || self.glances.len() == FEW {
            return known || !self.many_glances.insert(glimpse.number(needed));
        }
        self.glances.push(glimpse);
        false
    }

    pub(super) fn find(&self, state: State) -> Option<usize> {
        match self.list.len() {
            0..=FEW => self.list.iter().position(|visit| visit.state == state),
            _ => self.numbers.get(&state).map(|&number| number as usize),
        }
    }

    pub(super) fn push(&mut self, visit: Visit) {
        self.list.push(visit);
        match self.list.len() - 1 {
            0..FEW => {}
            FEW => self.number_from(0),
            last => self.number_from(last),
        }
    }

    fn number_from(&mut self, first: usize) {
        let list = self.list.iter().enumerate().skip(first);
        self.numbers.extend(list.map(|(number, visit)| (visit.state, number as u32)));
    }

    pub(super) fn truncate(&mut self, length: usize) {
        for visit in self.list.drain(length..) {
            self.numbers.remove(&visit.state);
        }
    }

    /// Forgets those behind so many events of the thread.
    pub(super) fn forget_since(&mut self, events: u32) {
        self.truncate(self.list.partition_point(|visit| visit.events < events));
    }

    /// Adapts to the removal of the notes at these positions.
    pub(super) fn forget_notes(&mut self, gone: &[u32]) {
        for visit in &mut self.list {
            visit.notes -= gone.partition_point(|&at| at < visit.notes) as u32;
        }
    }

    /// Forgets all visits but this one. The locks that the thread holds are still a part of its state.
    pub(super) fn restart(&mut self, visit: Visit) {
        self.truncate(0);
        self.push(visit);
    }

    /// Notes that the thread has chosen, with this event, whether it waits: no iteration begins before that. It stands
    /// where it stood.
    pub(super) fn chooses(&mut self, index: u32) {
        let here = self.list.last().copied().filter(|visit| visit.events == index);
        self.truncate(0);
        if let Some(here) = here {
            self.push(Visit { events: index + 1, ..here });
        }
    }

    /// Notes that a lock is taken, or given back.
    #[inline]
    pub(super) fn turn(&mut self, lock: LocId) {
        self.held ^= mix(7, u64::from(lock.0));
    }
}
