//! The random policies: uniform, and PCT.
//!
//! Source of PCT. S. Burckhardt et al., "A randomized scheduler with probabilistic guarantees of finding bugs",
//! ASPLOS 2010: random distinct priorities, highest first; at `depth - 1` random steps the running thread gets the
//! lowest priority so far. Deviations: a thread draws its priority when it is first seen; the buffer of a thread is
//! a thread of its own, whose steps are flushes.

use crate::base::{IdVec, ThreadId};
use crate::step::{SchedulingPolicy, Step};

/// A stream of random numbers, the same for the same seed on every platform and in every version: seeds are kept
/// by users, so no library's stream will do. (SplitMix64, Steele, Lea and Flood, OOPSLA 2014.)
#[derive(Clone, Debug, Default)]
pub struct Stream(pub u64);

impl Stream {
    /// The next number.
    #[allow(clippy::should_implement_trait, reason = "it has no end")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

/// State of the random policies during one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Dice {
    stream: Stream,
    /// By thread: its priority, and that of its buffer.
    priorities: IdVec<ThreadId, [u64; 2]>,
    lowered_at: Vec<u32>,
    lowest: u64,
}

/// Random priorities are above this, lowered ones below.
const LOWERED: u64 = 1 << 32;

impl Dice {
    pub(super) fn reset(&mut self, policy: SchedulingPolicy) {
        self.priorities.clear();
        self.lowered_at.clear();
        self.lowest = LOWERED;
        match policy {
            SchedulingPolicy::RunOn => {}
            SchedulingPolicy::Random(seed) => self.stream = Stream(seed),
            SchedulingPolicy::Pct { seed, depth, length } => {
                self.stream = Stream(seed);
                for _ in 1..depth {
                    let at = self.stream.below(length.max(1) as usize) as u32;
                    self.lowered_at.push(at);
                }
            }
        }
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.stream.below(bound)
    }

    /// A random one of the steps, uniformly.
    pub(super) fn any(&mut self, steps: &[Step]) -> Step {
        steps[self.stream.below(steps.len())]
    }

    /// The step of highest priority at this point; any, where a buffer has several.
    pub(super) fn highest(&mut self, steps: &[Step], now: u32) -> Step {
        for step in steps {
            let stream = &mut self.stream;
            let mut draw = || LOWERED + (stream.next() >> 1);
            self.priorities.grow_to(step.thread(), || [draw(), draw()]);
        }
        let mut best = self.best(steps);
        if self.lowered_at.contains(&now) {
            self.lowest -= 1;
            self.priorities[best.thread()][lane(best)] = self.lowest;
            best = self.best(steps);
        }
        let same = |step: &&Step| step.thread() == best.thread() && lane(**step) == lane(best);
        match steps.iter().filter(same).count() {
            1 => best,
            several => *steps.iter().filter(same).nth(self.stream.below(several)).expect("there are several"),
        }
    }

    fn best(&self, steps: &[Step]) -> Step {
        *steps.iter().max_by_key(|step| self.priorities[step.thread()][lane(**step)]).expect("somebody can run")
    }
}

fn lane(step: Step) -> usize {
    usize::from(matches!(step, Step::Flush(_)))
}
