//! Progress: the calls in which a thread is suspended for ever, and the calls of others that then do not complete.
//!
//! Problem. Operations are lock-free if the threads that go on complete their calls, wherever another one stops. Where
//! must it stop, so that no case is left out?
//!
//! Method. A thread stops in its last call only: calls behind that one would not begin, and the scenario without them
//! is run as well. It stops after each number of operations from 1 on, until no execution has more. Before its first
//! operation the call might as well not be there. A thread that stops is a thread that does less: the scenario is
//! explored as any other, with every class of executions (`rsmc_core::machine`, `suspend`).
//!
//! Only scenarios without orders of a client are run so. A client that waits for a call which does not return waits by
//! its own fault.

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;

use rsmc_core::session::{Config, Failure, FailureKind, check_body};

use crate::spec::Spec;
use crate::spec::execute::Prepared;
use crate::spec::scenario::{Call, Scenario, Suspended};

impl<T: Sync, M: Clone + PartialEq> Spec<T, M> {
    /// The calls of a scenario in which a thread is to be suspended, one of those that are alike.
    pub(crate) fn suspended_calls(&self, scenario: &Scenario) -> Vec<usize> {
        let operation = |call: &Call| &self.operations[call.operation];
        let may_wait = scenario.threads.iter().flatten().any(|call| operation(call).may_wait);
        if may_wait || scenario.threads.len() < 2 || !scenario.end.is_empty() {
            return Vec::new();
        }
        let calls: Vec<Call> = scenario.calls().collect();
        let last = scenario.numbers().into_iter().map(|numbers| numbers.end - 1);
        let mut keys = HashSet::new();
        let is_new = |&call: &usize| {
            let images = scenario.suspended(call, 1).images();
            keys.insert(images.into_iter().map(|image| self.renumbered(image)).min())
        };
        last.filter(|&call| self.lock_free.contains(&operation(&calls[call]).name)).filter(is_new).collect()
    }

    /// Says in a failure which calls do not complete, if it is one of progress. The failing execution is run once more
    /// to know that.
    pub(crate) fn tell_progress(&self, config: &Config, scenario: &Scenario, failure: &mut Failure) {
        let Some(Suspended { call: suspended, .. }) = scenario.suspended else { return };
        if !matches!(failure.kind, FailureKind::Deadlock | FailureKind::Livelock) {
            return;
        }
        let prepared = Prepared::new(self, scenario.clone());
        let config = config.clone().jobs(1).allow_trivial(true).shrink(0).replay(failure.seed.clone());
        if check_body(&config, &|| prepared.execute(None), |body| body.check().run()).is_err() {
            return;
        }
        let calls: Vec<Call> = scenario.calls().collect();
        let label = |call: usize| self.label(calls[call]);
        let open = scenario.numbers().into_iter().zip(&prepared.returned).zip(1..);
        let open =
            open.filter_map(|((mut numbers, returned), thread)| Some((thread, numbers.nth(returned.load(Relaxed))?)));
        let (stopped, others): (Vec<(usize, usize)>, Vec<_>) = open.partition(|&(_, call)| call == suspended);
        let others: Vec<String> =
            others.iter().map(|&(thread, call)| format!("{} of thread {thread}", label(call))).collect();
        if let ([(thread, call)], false) = (&stopped[..], others.is_empty()) {
            let (others, call) = (others.join(" and "), label(*call));
            failure.message =
                format!("not lock-free: {others} cannot complete while thread {thread} is suspended in {call}");
        }
    }
}
