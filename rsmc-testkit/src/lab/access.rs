//! Steps of threads, what they do, and how long they sleep.

use rsmc_core::base::{LocId, ThreadId};
use rsmc_core::step::Step;
use rsmc_core::trace::Event;

/// A step of a thread, and what it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) thread: ThreadId,
    /// The number of the alternative, of a choice.
    pub(super) which: u64,
    pub(super) loc: LocId,
    pub(super) writes: bool,
    /// Whether its operation has no alternative.
    pub(super) alone: bool,
}

impl Access {
    pub(super) fn of(event: &Event) -> Self {
        let (thread, which) = (event.id.thread, event.op.action.alternative());
        let alone = event.op.action.alternatives() == 1;
        Self { thread, which, loc: event.op.loc, writes: event.written.is_some(), alone }
    }

    /// Whether the order of the two can be seen.
    pub(super) fn conflicts(&self, other: &Self) -> bool {
        self.loc == other.loc && (self.writes || other.writes)
    }

    pub(super) fn is_of(&self, step: Step) -> bool {
        (self.thread, self.which) == (step.thread(), step.performed().0)
    }

    pub(super) fn step(&self) -> Step {
        Step::alternative(self.thread, self.which, None)
    }
}

/// The steps that were explored from a place.
#[derive(Clone, Debug, Default)]
pub(super) struct Explored {
    /// Those that are over. They *sleep*, here and behind other steps, until a step conflicts with them.
    pub(super) sleep: Vec<Access>,
    /// The one that is taken now, if it was run.
    taken: Option<Access>,
}

impl Explored {
    /// Those of the place behind the taken step.
    pub(super) fn behind(place: Option<&Self>) -> Self {
        let Some(Self { sleep, taken: Some(taken) }) = place else { return Self::default() };
        let stays = |access: &&Access| access.thread != taken.thread && !access.conflicts(taken);
        Self { sleep: sleep.iter().filter(stays).copied().collect(), taken: None }
    }

    pub(super) fn sleeps(&self, step: Step) -> bool {
        self.sleep.iter().any(|access| access.is_of(step))
    }

    /// Notes that the taken step was run.
    pub(super) fn ran(&mut self, step: Access) {
        self.taken = Some(step);
    }

    /// Lets the taken step sleep, all behind which is explored.
    pub(super) fn ends(&mut self) {
        self.sleep.extend(self.taken.take());
    }
}
