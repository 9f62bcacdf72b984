//! An execution of a new sequence, as steps that a plan can force.

use crate::base::EventId;
use crate::step::{Forced, Plan, Route};

/// An execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Witness {
    pub(super) steps: Vec<Forced>,
    /// Under C11: all writes, those of each location in modification order.
    pub(super) modification: Vec<EventId>,
}

impl Witness {
    /// Makes a plan force it.
    pub(super) fn force(&self, plan: &mut Plan) {
        plan.forced.extend_from_slice(&self.steps);
        plan.modification.extend_from_slice(&self.modification);
    }

    /// The execution as data.
    pub(super) fn route(&self) -> Route {
        Route::new(&self.steps, &self.modification)
    }

    /// The execution that was saved.
    pub(super) fn of_route(route: &Route) -> Self {
        Self { steps: route.forced().collect(), modification: route.modification.clone() }
    }
}
