//! The explorer of one given execution: that of a seed, or a livelock that another process has planned.

use crate::explore::Divisible;
use crate::step::{Explorer, Plan, Purpose, Route, Run};

/// An explorer that gives one plan.
#[derive(Debug)]
pub struct OnePlan {
    plan: Option<Plan>,
    route: Option<Route>,
}

impl OnePlan {
    /// An explorer that gives this plan.
    pub fn new(plan: Plan) -> Self {
        Self { plan: Some(plan), route: None }
    }

    /// An explorer of a run that may end in a livelock, along a route of another process.
    pub fn of_livelock(route: Route) -> Self {
        let mut plan = Plan { purpose: Purpose::Livelock, ..Plan::default() };
        route.force(&mut plan);
        Self { plan: Some(plan), route: Some(route) }
    }
}

impl Explorer for OnePlan {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        self.plan.take().is_some_and(|own| {
            *plan = own;
            true
        })
    }

    fn observe(&mut self, _run: &Run) {}

    fn route(&self) -> Option<&Route> {
        self.route.as_ref()
    }
}

impl Divisible for OnePlan {}
