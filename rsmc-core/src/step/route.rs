//! A schedule as data that another process of the same executable can follow.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

use crate::base::EventId;
use crate::step::{Expect, Forced, Plan, Run, Step};

/// Forced steps as data. A number replaces the expectation of each step, since names and places are addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// The steps, each with the [`Expect::check`] of its expectation, if it has one.
    pub steps: Vec<(Step, Option<u32>)>,
    /// As [`Plan::modification`].
    pub modification: Vec<EventId>,
}

impl Route {
    /// The route of forced steps.
    pub fn new(forced: &[Forced], modification: &[EventId]) -> Self {
        let step = |forced: &Forced| (forced.step, forced.expect.as_ref().map(Expect::check));
        Self { steps: forced.iter().map(step).collect(), modification: modification.to_vec() }
    }

    /// The forced steps, without expectations.
    pub fn forced(&self) -> impl Iterator<Item = Forced> + '_ {
        self.steps.iter().map(|&(step, _)| Forced { step, expect: None })
    }

    /// Makes a plan force the route.
    pub fn force(&self, plan: &mut Plan) {
        plan.forced.extend(self.forced());
        plan.modification.extend_from_slice(&self.modification);
    }

    /// The first event of a run that followed the route and did not meet its expectation.
    pub fn mismatch(&self, run: &Run) -> Option<EventId> {
        let performed = self.steps.iter().filter(|(step, _)| !matches!(step, Step::Flush(_)));
        let differs = |check: u32, at: usize| {
            let event = &run.trace.events[at];
            Expect::of(event, &run.trace.locs[event.op.loc]).check() != check
        };
        let mut pairs = performed.zip(0..run.trace.events.len());
        let found = pairs.find(|((_, check), at)| check.is_some_and(|check| differs(check, *at)));
        found.map(|(_, at)| run.trace.events[at].id)
    }
}

impl Expect {
    /// A number for the expectation, the same in every process of one executable. It differs where [`Expect::differs`]
    /// would find a difference, but ignores operands, and values that may be addresses.
    pub fn check(&self) -> u32 {
        let mut hasher = FxHasher::default();
        std::mem::discriminant(&self.action).hash(&mut hasher);
        self.action.alternative().hash(&mut hasher);
        self.order.hash(&mut hasher);
        self.kind.len().hash(&mut hasher);
        self.site.line_and_column().hash(&mut hasher);
        self.value().hash(&mut hasher);
        hasher.finish() as u32
    }
}
