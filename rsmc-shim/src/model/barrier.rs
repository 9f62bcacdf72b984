//! `Barrier`.

use std::fmt;
use std::panic::Location;

use rsmc_core::runtime::hook::calls;
use rsmc_core::trace::{CallResult, FREE};

use crate::model::condvar::Condvar;
use crate::model::mutex::Mutex;

/// Mirrors [`std::sync::Barrier`]. The last thread to come is the leader, as in std today. In a check it is a modelled
/// lock and a modelled condition.
pub struct Barrier {
    round: Mutex<Round>,
    all_there: Condvar,
    threads: usize,
}

/// The number of threads that have come, and the number of times that all have.
struct Round {
    there: usize,
    number: usize,
}

/// The result of [`Barrier::wait`]; mirrors [`std::sync::BarrierWaitResult`]. A check explores which thread is the
/// leader.
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether the thread is the leader of its round.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier for `threads` threads.
    #[must_use]
    #[track_caller]
    pub const fn new(threads: usize) -> Self {
        let round = Mutex::part_of("Barrier", Round { there: 0, number: 0 });
        Self { round, all_there: Condvar::new(), threads }
    }

    /// Waits until all threads have come.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let _call = calls::begin(Some(Location::caller()), self.round.object(), || FREE, "Barrier", "wait");
        let mut round = self.round.lock().expect("nothing panics here");
        let number = round.number;
        round.there += 1;
        calls::decide(CallResult::Came { there: round.there, all: self.threads });
        if round.there < self.threads {
            drop(self.all_there.wait_while(round, |round| round.number == number).expect("nothing panics here"));
            return BarrierWaitResult(false);
        }
        round.there = 0;
        round.number = round.number.wrapping_add(1);
        self.all_there.notify_all();
        BarrierWaitResult(true)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.0).finish()
    }
}
