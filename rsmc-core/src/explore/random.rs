//! Random schedules: uniform, and probabilistic concurrency testing (PCT). They find failures and prove nothing.
//!
//! Source of PCT. Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic
//! guarantees of finding bugs", ASPLOS 2010. A bug of depth d is found by one run with probability at least
//! 1/(n·k^(d-1)) for n threads and k steps. Deviations. The depth goes through 1, 2, 3 in turn, unless one is given; k
//! is the largest number of steps seen so far.

use std::ops::Range;

use crate::base::mix;
use crate::explore::{Divisible, Division, Saved};
use crate::step::{Explorer, Plan, Run, SchedulingPolicy};

/// Uniformly random schedules.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    runs: u64,
    /// The number of the first schedule that it does not give.
    end: u64,
}

impl Random {
    /// An explorer of all schedules of this seed, without an end.
    pub fn new(seed: u64) -> Self {
        Self::starting_at(seed, 0)
    }

    /// An explorer that begins with the schedule of this number.
    pub fn starting_at(seed: u64, number: u64) -> Self {
        Self::among(seed, number..u64::MAX)
    }

    /// An explorer of the schedules with these numbers.
    pub fn among(seed: u64, numbers: Range<u64>) -> Self {
        Self { seed, runs: numbers.start, end: numbers.end }
    }
}

impl Explorer for Random {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        if self.runs >= self.end {
            return false;
        }
        plan.forced.clear();
        plan.policy = SchedulingPolicy::Random(mix(self.seed, self.runs));
        self.runs += 1;
        true
    }

    fn observe(&mut self, _run: &Run) {}

    fn retract(&mut self) {
        self.runs -= 1;
    }
}

impl Divisible for Random {
    fn save(&self) -> Option<Saved> {
        Some(Saved::Samples(self.runs))
    }

    fn divide(&self) -> Option<Division> {
        Some(Division::Samples(self.runs))
    }
}

/// Schedules by random priorities, for ever.
#[derive(Debug)]
pub struct Pct {
    seed: u64,
    runs: u64,
    length: u32,
    /// The bug depth that it aims at; `None`: each of [`DEPTHS`] in turn.
    depth: Option<u32>,
}

impl Pct {
    /// An explorer of all schedules of this seed, without an end.
    pub fn new(seed: u64) -> Self {
        Self::starting_at(seed, 0, 1)
    }

    /// An explorer that begins with the schedule of this number; the longest run so far had `length` steps.
    pub fn starting_at(seed: u64, number: u64, length: u32) -> Self {
        Self { seed, runs: number, length, depth: None }
    }

    /// As before, with one bug depth for all schedules.
    #[must_use]
    pub fn with_depth(self, depth: Option<u32>) -> Self {
        Self { depth, ..self }
    }
}

/// The number of bug depths, from 1 on, that PCT aims at where none is given.
const DEPTHS: u64 = 3;

/// The largest bug depth that can be given.
pub const DEEPEST: u32 = 1_000;

impl Explorer for Pct {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        plan.forced.clear();
        let depth = self.depth.unwrap_or(1 + (self.runs % DEPTHS) as u32);
        plan.policy = SchedulingPolicy::Pct { seed: mix(self.seed, self.runs), depth, length: self.length };
        self.runs += 1;
        true
    }

    fn observe(&mut self, run: &Run) {
        self.length = self.length.max(run.steps().count() as u32);
    }

    fn retract(&mut self) {
        self.runs -= 1;
    }
}

impl Divisible for Pct {
    fn save(&self) -> Option<Saved> {
        Some(Saved::Pct(self.runs, self.length))
    }
}
