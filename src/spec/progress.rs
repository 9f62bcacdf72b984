//! Progress: the calls in which a thread is suspended for ever, and the calls of others that then do not complete.
//!
//! Problem. Operations are lock-free if the threads that go on complete their calls, wherever others stop. Where must
//! these stop, so that no case is left out?
//!
//! Method. Every set of threads stops, but not all of them. A thread stops in its last call only: calls behind that one
//! would not begin, and the scenario without them is run as well. It stops after each number of operations from 1 on,
//! until no execution has more. Before its first operation the call might as well not be there. A thread that stops is
//! a thread that does less: the scenario is explored as any other, with every class of executions
//! (`rsmc_core::machine`, `suspend`).
//!
//! Cost. For each set of threads as many runs as the product of the operations in their last calls.
//!
//! Only scenarios without orders of a client are run so. A client that waits for a call which does not return waits by
//! its own fault.

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;

use rsmc_core::session::{Failure, FailureKind};

use crate::spec::Spec;
use crate::spec::execute::Prepared;
use crate::spec::scenario::{Call, Scenario, Suspended};

impl<T: Sync, M: Clone + PartialEq> Spec<T, M> {
    /// The sets of calls of a scenario in which threads are to be suspended together, one of those that are alike: the
    /// smallest first.
    pub(crate) fn suspended_calls(&self, scenario: &Scenario) -> Vec<Vec<usize>> {
        let operation = |call: &Call| &self.operations[call.operation];
        let may_wait = scenario.threads.iter().flatten().any(|call| operation(call).may_wait);
        if may_wait || !scenario.end.is_empty() {
            return Vec::new();
        }
        let calls: Vec<Call> = scenario.calls().collect();
        let last = scenario.numbers().into_iter().map(|numbers| numbers.end - 1);
        let last: Vec<usize> = last.filter(|&call| self.lock_free.contains(&operation(&calls[call]).name)).collect();
        let set = |members: usize| {
            let chosen = last.iter().enumerate().filter(|(at, _)| members & (1 << at) != 0);
            chosen.map(|(_, &call)| call).collect::<Vec<usize>>()
        };
        let mut sets: Vec<Vec<usize>> = (1..1 << last.len()).map(set).collect();
        sets.retain(|set| set.len() < scenario.threads.len());
        sets.sort_by_key(Vec::len);
        let mut keys = HashSet::new();
        sets.retain(|set| {
            let points: Vec<Suspended> = set.iter().map(|&call| Suspended { call, after: 1 }).collect();
            let images = scenario.suspended(&points).images();
            keys.insert(images.into_iter().map(|image| self.renumbered(image)).min())
        });
        sets
    }

    /// Says in a failure which calls do not complete, if it is one of progress; `prepared` has run the failing
    /// execution.
    pub(crate) fn tell_progress(&self, prepared: &Prepared<'_, T, M>, failure: &mut Failure) {
        let scenario = &prepared.scenario;
        if scenario.suspended.is_empty() || !matches!(failure.kind, FailureKind::Deadlock | FailureKind::Livelock) {
            return;
        }
        let calls: Vec<Call> = scenario.calls().collect();
        let label = |call: usize| self.label(calls[call]);
        let open = scenario.numbers().into_iter().zip(&prepared.returned).zip(1..);
        let open =
            open.filter_map(|((mut numbers, returned), thread)| Some((thread, numbers.nth(returned.load(Relaxed))?)));
        let is_suspended = |call: usize| scenario.suspended_in(call).is_some();
        let (stopped, others): (Vec<(usize, usize)>, Vec<_>) = open.partition(|&(_, call)| is_suspended(call));
        let others: Vec<String> =
            others.iter().map(|&(thread, call)| format!("{} of thread {thread}", label(call))).collect();
        let Some((first, further)) = stopped.split_first().filter(|_| !others.is_empty()) else { return };
        let (others, (thread, call)) = (others.join(" and "), first);
        let further = further.iter().map(|&(thread, call)| format!(", and thread {thread} in {}", label(call)));
        failure.message = format!(
            "not lock-free: {others} cannot complete while thread {thread} is suspended in {}{}",
            label(*call),
            further.collect::<String>()
        );
    }
}
