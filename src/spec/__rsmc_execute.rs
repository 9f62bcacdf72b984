//! One execution of a scenario, and whether its results are right.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex, PoisonError};

use rsmc_core::runtime::hook::calls::{begins_of_scenario, returns_of_scenario};
use rsmc_core::runtime::hook::threads::{current, detach, suspend};
use rsmc_core::session::Seen as SeenByCheck;
use rsmc_core::trace::{ScenarioCall, ScenarioCalls};
use rsmc_shim::sync::atomic::AtomicBool;
use rsmc_shim::{hint, label, thread};

use crate::spec::history::{Closest, Model, explain};
use crate::spec::operation::{Run, Value};
use crate::spec::order::{Order, members};
use crate::spec::scenario::{Call, Scenario};
use crate::spec::{Criterion, Spec, text};

/// The results of the calls of an execution, by number.
pub(crate) type Results = Vec<Box<dyn Value>>;

/// A call of a thread, with the flags around it.
struct Step {
    /// The number of the call.
    call: usize,
    /// The flags for which it waits.
    waits: Vec<usize>,
    /// The flag that it sets.
    sets: Option<usize>,
    /// The number of operations after which the thread is suspended in it.
    suspended: Option<u32>,
}

/// A call whose argument is one of these values, by number. It is here so that call paths end in the user's code.
pub(crate) fn by_number<T, A: Send + Sync + 'static, R: Value + 'static>(
    values: Arc<Vec<A>>,
    run: impl Fn(&T, &A) -> R + Send + Sync + 'static,
) -> Box<Run<T>> {
    Box::new(move |shared, value| Box::new(run(shared, &values[value])))
}

/// A scenario, prepared so that its executions do little beside the calls.
pub(crate) struct Prepared<'s, T, M> {
    spec: &'s Spec<T, M>,
    pub(crate) scenario: Scenario,
    /// The order that an explanation must keep to.
    pub(crate) order: Order,
    calls: Vec<Call>,
    threads: Vec<Vec<Step>>,
    flags: usize,
    /// The number of calls that have returned in the last execution, by thread.
    pub(crate) returned: Vec<AtomicUsize>,
    /// If it is asked for: the results of the last execution in words, by call.
    told: Option<Mutex<Vec<Option<String>>>>,
}

/// The results that were seen. All of them are right.
#[derive(Default)]
pub(crate) struct Seen {
    /// The largest number of threads that were suspended in an execution.
    pub(crate) suspended: usize,
    pub(crate) known: Vec<Results>,
    /// The results of the last execution, if they are new. What an execution has allocated must not outlive it for
    /// long, so they are copied before the next.
    last: Option<Results>,
}

impl Seen {
    /// Copies new results, and notes suspended threads. It must be called outside executions.
    pub(crate) fn keep(&mut self, of_check: SeenByCheck<'_>) {
        if let SeenByCheck::Run(run, _) = of_check {
            self.suspended = self.suspended.max(run.waiting.iter().filter(|it| it.is_suspended()).count());
        }
        if let Some(results) = self.last.take() {
            self.known.push(results.iter().map(|result| result.copy()).collect());
        }
    }

    fn has(&self, results: &Results) -> bool {
        let is_same = |known: &Results| known.iter().zip(results).all(|(known, result)| known.is_same(&**result));
        self.known.iter().any(is_same)
    }
}

impl<'s, T: Sync, M: Clone + PartialEq> Prepared<'s, T, M> {
    /// A scenario whose calls do not wait for each other in a circle.
    pub(crate) fn new(spec: &'s Spec<T, M>, scenario: Scenario) -> Self {
        let calls: Vec<Call> = scenario.calls().collect();
        let step = |call: usize| {
            let flag = |sets| scenario.flag_of(sets).expect("a call that others wait for sets a flag");
            let waits = members(scenario.awaited_by(call)).map(flag).collect();
            Step { call, waits, sets: scenario.flag_of(call), suspended: scenario.suspended_in(call) }
        };
        let threads: Vec<Vec<Step>> =
            scenario.numbers().into_iter().map(|numbers| numbers.map(step).collect()).collect();
        let returned = threads.iter().map(|_| AtomicUsize::new(0)).collect();
        let flags = (0..calls.len()).filter(|&call| scenario.flag_of(call).is_some()).count();
        let judged = match spec.criterion {
            Criterion::SequentiallyConsistent => Scenario { signals: Vec::new(), ..scenario.clone() }.order(),
            Criterion::Linearizable | Criterion::QuiescentlyConsistent => scenario.order(),
        };
        let order = spec.criterion.kept().of(&judged.expect("calls do not wait for each other in a circle"));
        Self { spec, scenario, order, calls, threads, flags, returned, told: None }
    }

    /// As [`new`](Self::new), to tell the calls of an execution afterwards.
    pub(crate) fn to_tell(spec: &'s Spec<T, M>, scenario: Scenario) -> Self {
        let told = Some(Mutex::new(vec![None; scenario.len()]));
        Self { told, ..Self::new(spec, scenario) }
    }

    /// The calls of the last execution.
    pub(crate) fn told(&self) -> ScenarioCalls {
        let results = self.told.as_ref().map(|told| told.lock().unwrap_or_else(PoisonError::into_inner).clone());
        let call = |(call, result): (usize, Option<String>)| {
            let begun = self.spec.label(self.calls[call]);
            ScenarioCall { returned: result.map(|it| text::told(&begun, &it)).unwrap_or_default(), begun }
        };
        let calls: Vec<ScenarioCall> = results.unwrap_or_default().into_iter().enumerate().map(call).collect();
        ScenarioCalls { table: text::table_of_calls(&self.scenario, &calls), calls }
    }

    /// Makes the call of a number. It is here so that call paths end in the user's code.
    fn call(&self, number: usize, shared: &T) -> Box<dyn Value> {
        let Call { operation, value } = self.calls[number];
        begins_of_scenario(number as u32);
        let result = (self.spec.operations[operation].run)(shared, value);
        returns_of_scenario(number as u32);
        if let Some(told) = &self.told {
            let text = result.text();
            told.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(text);
        }
        result
    }

    /// Runs the scenario once. If a thread is to be suspended, nothing is asked of the results: they are those of
    /// another scenario.
    ///
    /// # Panics
    /// If no order of the calls explains their results.
    pub(crate) fn execute(&self, seen: Option<&Mutex<Seen>>) {
        let results = self.results();
        if !self.scenario.suspended.is_empty() {
            return;
        }
        let seen = seen.map(|seen| seen.lock().unwrap_or_else(PoisonError::into_inner));
        if seen.as_ref().is_some_and(|seen| seen.has(&results)) {
            return;
        }
        let history = self.history(&results);
        if let Err(closest) = explain(&history, &self.order) {
            drop(seen);
            panic!("{}", self.contradiction(&results, &closest));
        }
        if let Some(mut seen) = seen {
            seen.last = Some(results);
        }
    }

    /// The calls with their results, and the model.
    pub(crate) fn history<'h>(&'h self, results: &'h Results) -> History<'h, T, M> {
        History { spec: self.spec, calls: &self.calls, results }
    }

    fn contradiction(&self, results: &Results, closest: &Closest) -> String {
        let told = |call: usize| text::told(&self.spec.label(self.calls[call]), &results[call].text());
        let told: Vec<String> = (0..results.len()).map(told).collect();
        text::contradiction(self.spec.criterion, &self.scenario, &told, closest)
    }

    fn results(&self) -> Results {
        let shared = (self.spec.new)();
        self.returned.iter().for_each(|returned| returned.store(0, Relaxed));
        if let Some(told) = &self.told {
            told.lock().unwrap_or_else(PoisonError::into_inner).fill(None);
        }
        let call = |number: usize| self.call(number, &shared);
        let all = self.calls.len();
        let mut results: Results = (0..self.scenario.init.len()).map(call).collect();
        match &self.threads[..] {
            [_] => results.extend(self.thread(0, &shared, &[])),
            threads => results.extend(self.parallel(threads.len(), &shared)),
        }
        results.extend((all - self.scenario.end.len()..all).map(call));
        if let Some(validate) = self.spec.validate.as_ref().filter(|_| self.scenario.suspended.is_empty()) {
            validate(&shared);
        }
        results
    }

    fn parallel(&self, threads: usize, shared: &T) -> Results {
        let flags: Vec<AtomicBool> = (0..self.flags).map(|_| AtomicBool::new(false)).collect();
        let name = |(flag, name): (&AtomicBool, char)| label(flag, &format!("flag {name}"));
        flags.iter().zip('a'..).for_each(name);
        let flags = &flags;
        let mut results: Vec<Results> = (0..threads).map(|_| Vec::new()).collect();
        thread::scope(|scope| {
            for (number, results) in results.iter_mut().enumerate() {
                let builder = thread::Builder::new().name(format!("thread {}", number + 1));
                let code = move || *results = self.thread(number, shared, flags);
                builder.spawn_scoped(scope, code).expect("a modelled thread starts");
            }
            // It waits for the threads at the end of the scope.
            if let Some(main) = current().filter(|_| !self.scenario.suspended.is_empty()) {
                detach(main);
            }
        });
        results.into_iter().flatten().collect()
    }

    fn thread(&self, number: usize, shared: &T, flags: &[AtomicBool]) -> Results {
        let step = |step: &Step| {
            for &flag in &step.waits {
                while !flags[flag].load(Acquire) {
                    hint::spin_loop();
                }
            }
            if step.suspended.is_some() {
                suspend(step.suspended);
            }
            let result = self.call(step.call, shared);
            if step.suspended.is_some() {
                suspend(None);
            }
            self.returned[number].fetch_add(1, Relaxed);
            if let Some(flag) = step.sets {
                flags[flag].store(true, Release);
            }
            result
        };
        self.threads[number].iter().map(step).collect()
    }
}

/// The calls of an execution with their results, as the search for an explanation takes them.
pub(crate) struct History<'h, T, M> {
    spec: &'h Spec<T, M>,
    calls: &'h [Call],
    results: &'h Results,
}

impl<T, M: Clone + PartialEq> Model for History<'_, T, M> {
    type State = M;

    fn first(&self) -> M {
        (self.spec.model)()
    }

    fn step(&self, state: &mut M, call: usize) -> Result<(), String> {
        let Call { operation, value } = self.calls[call];
        (self.spec.operations[operation].step)(state, value, &*self.results[call])
    }
}
