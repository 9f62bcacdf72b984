//! Samples that are run twice each: the second run follows the steps of the first, and diverges if the program does
//! something else. Explorers that are exhaustive notice that anyway, since their plans repeat parts of earlier runs.

use crate::explore::Divisible;
use crate::step::{Explorer, Plan, Run};

/// The samples of another explorer, twice each.
#[derive(Debug)]
pub struct Twice<E> {
    samples: E,
    /// The plan that repeats the last sample.
    again: Option<Plan>,
    /// Whether the last plan was a repetition.
    repeats: bool,
}

impl<E> Twice<E> {
    /// The samples of this explorer, twice each.
    pub fn new(samples: E) -> Self {
        Self { samples, again: None, repeats: false }
    }
}

impl<E: Explorer> Explorer for Twice<E> {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        self.repeats = self.again.is_some();
        match &self.again {
            Some(again) => plan.clone_from(again),
            None => {
                plan.clone_from(&Plan::default());
                return self.samples.next_plan(plan);
            }
        }
        true
    }

    fn observe(&mut self, run: &Run) {
        if self.repeats {
            self.again = None;
        } else {
            self.samples.observe(run);
            self.again = Some(Plan::again(run));
        }
    }

    fn retract(&mut self) {
        if !self.repeats {
            self.samples.retract();
        }
    }
}

impl<E: Explorer> Divisible for Twice<E> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ThreadId;
    use crate::explore::Random;
    use crate::step::{SchedulingPolicy, Step};

    #[test]
    fn each_sample_is_repeated_and_a_plan_that_is_taken_back_is_made_again() {
        let mut explorer = Twice::new(Random::new(3));
        let (mut plan, run) = (Plan::default(), Run::default());
        let mut seeds = Vec::new();
        for _ in 0..2 {
            assert!(explorer.next_plan(&mut plan));
            let first = plan.policy;
            explorer.retract();
            assert!(explorer.next_plan(&mut plan));
            assert_eq!(plan.policy, first);
            assert!(matches!(first, SchedulingPolicy::Random(_)), "{first:?}");
            seeds.push(format!("{first:?}"));
            explorer.observe(&run);
            plan.frozen.push(ThreadId::MAIN);
            assert!(explorer.next_plan(&mut plan));
            explorer.retract();
            assert!(explorer.next_plan(&mut plan));
            assert_eq!(plan.policy, SchedulingPolicy::RunOn);
            assert_eq!(
                plan.forced.iter().map(|forced| forced.step).collect::<Vec<Step>>(),
                run.steps().collect::<Vec<_>>()
            );
            assert!(plan.frozen.is_empty());
            explorer.observe(&run);
        }
        assert_ne!(seeds[0], seeds[1]);
    }
}
