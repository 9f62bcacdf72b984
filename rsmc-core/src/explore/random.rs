//! Random schedules: uniform, and probabilistic concurrency testing (PCT). They find, and prove nothing.
//!
//! Source of PCT. Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic
//! guarantees of finding bugs", ASPLOS 2010. A bug of depth d is found by one run with probability at least
//! 1/(n·k^(d-1)) for n threads and k steps. Deviations. The depth goes through 1, 2, 3 in turn, since it is not
//! known; k is the largest number of steps seen so far.

use crate::base::mix;
use crate::step::{Explorer, Plan, Run, SchedulingPolicy};

/// Uniformly random schedules, for ever.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    runs: u64,
}

impl Random {
    /// The same seed gives the same schedules.
    pub fn new(seed: u64) -> Self {
        Self::starting_at(seed, 0)
    }

    /// The same, from the schedule with this number on.
    pub fn starting_at(seed: u64, number: u64) -> Self {
        Self { seed, runs: number }
    }

    /// How many schedules it has given, or skipped.
    pub fn runs(&self) -> u64 {
        self.runs
    }
}

impl Explorer for Random {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
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

/// Schedules by random priorities, for ever.
#[derive(Debug)]
pub struct Pct {
    seed: u64,
    runs: u64,
    length: u32,
}

impl Pct {
    /// The same seed gives the same schedules.
    pub fn new(seed: u64) -> Self {
        Self::starting_at(seed, 0, 1)
    }

    /// The same, from the schedule with this number on, where the longest run so far had so many steps.
    pub fn starting_at(seed: u64, number: u64, length: u32) -> Self {
        Self { seed, runs: number, length }
    }

    /// How many schedules it has given, or skipped.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// The number of steps that it assumes: that of the longest run.
    pub fn length(&self) -> u32 {
        self.length
    }
}

/// The largest bug depth that PCT aims at.
pub const DEPTHS: u64 = 3;

impl Explorer for Pct {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        plan.forced.clear();
        let depth = 1 + (self.runs % DEPTHS) as u32;
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
