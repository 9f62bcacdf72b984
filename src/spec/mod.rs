//! Specifications: say what a concurrent structure is, and rsmc writes the tests.
//!
//! A [`Spec`] has a structure, a sequential model of it, and the operations of both. [`Spec::check`] runs all
//! scenarios, from one call to six calls in three threads, and in each all classes of executions. The results of every
//! execution must be those of the model in some order of the calls.
//!
//! ```
//! use std::collections::VecDeque;
//! use rsmc::spec::{Spec, opaque};
//! use rsmc::sync::Mutex;
//!
//! fn spec() -> Spec<Mutex<VecDeque<u32>>, VecDeque<u32>> {
//!     Spec::new(|| Mutex::new(VecDeque::new()), VecDeque::new)
//!         .op("push", opaque(1..), |q, &v| q.lock().unwrap().push_back(v), |m, &v| m.push_back(v))
//!         .op0("pop", |q| q.lock().unwrap().pop_front(), |m| m.pop_front())
//! }
//!
//! // In a test: `#[test] fn queue() { spec().check(); }`.
//! spec().calls(4).check();
//! ```
//!
//! [`#[rsmc::spec]`](macro@crate::spec) makes such a function, and the test, of a module with the functions of the
//! model.
//!
//! # What is judged
//!
//! [`Criterion::Linearizable`], the default: whatever a client does to synchronise its threads between calls, the
//! results are those of the model in an order of the calls that keeps to what the client has ordered. rsmc runs each
//! scenario with threads that do not synchronise. Where another order between threads would leave a result without
//! explanation, it runs the scenario again with threads that wait for each other so. The decision
//! `docs/decisions/039-linearizability.md` says why this is exact.
//!
//! Races, deadlocks, livelocks, panics and leaks are found as in any check.
//!
//! [`Spec::lock_free`] asks for progress, too: whichever threads are suspended for ever in the middle of a call, the
//! others complete theirs.
//!
//! # What is not
//!
//! - Scenarios with more calls or threads than asked for, and those that the time did not suffice for:
//!   the line of a check that passes says how far it came.
//! - Whether a call makes what its thread did before visible to the thread that gets its result. Put a value through
//!   the structure that has a [`cell`](mod@crate::cell): if the structure does not publish it, it is a data race.
//! - Calls that may wait ([`Spec::blocking`]) in scenarios in which the model itself could wait for ever: these are
//!   left out, and counted.
//! - Progress without [`Spec::lock_free`]; obstruction-freedom and wait-freedom.
//! - Relaxed structures, as a queue that is out of order by a few places, except by [`Spec::op_where`].
//!
//! # Parts
//!
//! - `operation`: operations without their types; `values`: the values of their arguments.
//! - `enumerate`: all scenarios up to symmetry; `scenario`: one of them, and its text.
//! - `order`: partial orders, and those that contradict a result.
//! - `history`: the search for an order that explains results.
//! - `execute`: one execution; `text`: what is said of one that fails.
//! - `progress`: the calls in which threads are suspended, and what is said of others that do not complete.
//! - `drawn`: random scenarios, and how one that fails is made smaller.
//! - `explore`: the loop over scenarios; `coverage`: how far it came; `check`: what a test says of it.

mod check;
mod coverage;
mod drawn;
mod enumerate;
// Reports show no places of files with such a name: the rows of the client are no lines of the user.
#[path = "__rsmc_execute.rs"]
mod execute;
mod explore;
mod history;
mod operation;
#[cfg(test)]
mod oracle;
mod order;
mod progress;
#[cfg(test)]
mod progress_oracle;
mod scenario;
mod text;
pub(crate) mod values;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use rsmc_core::runtime::hook::executions::in_run;
use rsmc_core::session::Config;

pub use crate::spec::coverage::{Covered, SpecReport};
pub use crate::spec::drawn::Drawn;
use crate::spec::execute::{Prepared, by_number};
use crate::spec::explore::Specified;
use crate::spec::operation::{Advance, Operation, Value, expect, known, label};
use crate::spec::order::Kept;
use crate::spec::scenario::{Call, Scenario};
pub use crate::spec::values::{DefaultValues, Values, opaque, symmetric};

/// The condition on the results of a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Criterion {
    /// Those of the model in an order of the calls that keeps to the order of each thread, and to every order that a
    /// client makes by synchronising threads between calls.
    #[default]
    Linearizable,
    /// Those of the model in an order of the calls that keeps to the order of calls between which the structure rests:
    /// a client has ordered all calls so that some are before all others. Calls of one thread may change places while
    /// others go on.
    QuiescentlyConsistent,
    /// Those of the model in an order of the calls that keeps to the order of each thread. Structures that are so one
    /// by one need not be so together.
    SequentiallyConsistent,
}

impl Criterion {
    /// The part of a client's order that an explanation must keep to.
    fn kept(self) -> Kept {
        match self {
            Self::Linearizable | Self::SequentiallyConsistent => Kept::All,
            Self::QuiescentlyConsistent => Kept::AroundRests,
        }
    }
}

/// Looks at a structure.
type Look<T> = dyn Fn(&T) + Send + Sync;

/// A concurrent structure `T` and its sequential model `M`, with their operations.
///
/// Settings are chained. [`check`](Self::check) runs the tests.
pub struct Spec<T, M> {
    new: Box<dyn Fn() -> T + Send + Sync>,
    model: Box<dyn Fn() -> M + Send + Sync>,
    operations: Vec<Operation<T, M>>,
    /// Sets of operations that only one thread may use.
    exclusive: Vec<Vec<String>>,
    /// The operations in the middle of which threads are suspended.
    lock_free: Vec<String>,
    /// The number of random scenarios.
    random: usize,
    validate: Option<Box<Look<T>>>,
    criterion: Criterion,
    size: enumerate::Size,
    budget: Duration,
    config: Config,
}

impl<T: Sync, M: Clone + PartialEq> Spec<T, M> {
    /// A specification without operations. `new` makes the structure of an execution, `model` the first state of its
    /// model. States must be equal (`==`) only if no calls tell them apart.
    ///
    /// Functions of the model must not use types of `rsmc-shim`.
    pub fn new(new: impl Fn() -> T + Send + Sync + 'static, model: impl Fn() -> M + Send + Sync + 'static) -> Self {
        Self {
            new: Box::new(new),
            model: Box::new(model),
            operations: Vec::new(),
            exclusive: Vec::new(),
            lock_free: Vec::new(),
            random: 0,
            validate: None,
            criterion: Criterion::default(),
            size: enumerate::Size { calls: 6, threads: 3, init: 0, end: 0 },
            budget: Duration::from_secs(10),
            config: Config::default(),
        }
    }

    /// Adds an operation with an argument. `run` makes the call of the structure, `model` that of the model; the
    /// results must be equal. Arguments are `values`: an array, a vector, a range, [`symmetric`] or [`opaque`] ones.
    /// For several arguments use tuples: an array of tuples, or a tuple of [`Values`].
    ///
    /// The result is kept between executions, so it must not hold anything of the shim, such as an `Arc`.
    ///
    /// # Panics
    /// If there is an operation of that name.
    #[track_caller]
    pub fn op<A: Debug + Send + Sync + 'static, R: Debug + PartialEq + Clone + Send + 'static>(
        self,
        name: &str,
        values: impl Into<Values<A>>,
        run: impl Fn(&T, &A) -> R + Send + Sync + 'static,
        model: impl Fn(&mut M, &A) -> R + Send + Sync + 'static,
    ) -> Self {
        let model = Arc::new(model);
        let ahead = Arc::clone(&model);
        self.with(
            name,
            values.into(),
            run,
            move |state, value, result| expect::<R>(&model(state, value), result),
            move |state, value| {
                ahead(state, value);
                Advance::Returns
            },
        )
    }

    /// Adds an operation without an argument; see [`op`](Self::op).
    #[track_caller]
    pub fn op0<R: Debug + PartialEq + Clone + Send + 'static>(
        self,
        name: &str,
        run: impl Fn(&T) -> R + Send + Sync + 'static,
        model: impl Fn(&mut M) -> R + Send + Sync + 'static,
    ) -> Self {
        self.op(name, [Nothing], move |shared, _| run(shared), move |state, _| model(state))
    }

    /// Adds an operation that may have several results, or one that is not compared by `==`. `allows` says whether the
    /// call may return this result in this state, and makes the change that it then makes to the model.
    ///
    /// ```
    /// use rsmc::spec::Spec;
    /// use rsmc::sync::Mutex;
    ///
    /// // `try_add` gives up where it does not get the lock.
    /// let add = |sum: &Mutex<u32>, by: &u32| sum.try_lock().map(|mut sum| *sum += by).is_ok();
    /// Spec::new(|| Mutex::new(0), || 0)
    ///     .op_where("try_add", [1, 2], add, |sum, by, &added| {
    ///         *sum += if added { *by } else { 0 };
    ///         true
    ///     })
    ///     .op0("get", |sum| *sum.lock().unwrap(), |sum| *sum)
    ///     .calls(3)
    ///     .check();
    /// ```
    #[track_caller]
    pub fn op_where<A: Debug + Send + Sync + 'static, R: Debug + PartialEq + Clone + Send + 'static>(
        self,
        name: &str,
        values: impl Into<Values<A>>,
        run: impl Fn(&T, &A) -> R + Send + Sync + 'static,
        allows: impl Fn(&mut M, &A, &R) -> bool + Send + Sync + 'static,
    ) -> Self {
        let step = move |state: &mut M, value: &A, result: &dyn Value| match allows(state, value, known(result)) {
            true => Ok(()),
            false => Err("does not allow this".to_owned()),
        };
        self.with(name, values.into(), run, step, |_, _| Advance::Unknown)
    }

    /// Adds an operation that may wait: the model returns `None`, and changes nothing, where the call waits until
    /// another call has changed the state.
    ///
    /// Scenarios in which some order of the calls leaves all threads waiting are left out. So a deadlock in one that is
    /// run is a mistake of the structure: somebody was not woken. Left out are also scenarios with such a call and one
    /// of [`op_where`](Self::op_where), whose model needs a result to go on: whether it could wait for ever is not
    /// known.
    #[track_caller]
    pub fn blocking<A: Debug + Send + Sync + 'static, R: Debug + PartialEq + Clone + Send + 'static>(
        self,
        name: &str,
        values: impl Into<Values<A>>,
        run: impl Fn(&T, &A) -> R + Send + Sync + 'static,
        model: impl Fn(&mut M, &A) -> Option<R> + Send + Sync + 'static,
    ) -> Self {
        let model = Arc::new(model);
        let ahead = Arc::clone(&model);
        let step = move |state: &mut M, value: &A, result: &dyn Value| match model(state, value) {
            Some(expected) => expect::<R>(&expected, result),
            None => Err("waits".to_owned()),
        };
        let ahead = move |state: &mut M, value: &A| match ahead(state, value) {
            Some(_) => Advance::Returns,
            None => Advance::Waits,
        };
        let mut spec = self.with(name, values.into(), run, step, ahead);
        spec.operations.last_mut().expect("it was added").may_wait = true;
        spec
    }

    /// Adds an operation without an argument that may wait; see [`blocking`](Self::blocking).
    #[track_caller]
    pub fn blocking0<R: Debug + PartialEq + Clone + Send + 'static>(
        self,
        name: &str,
        run: impl Fn(&T) -> R + Send + Sync + 'static,
        model: impl Fn(&mut M) -> Option<R> + Send + Sync + 'static,
    ) -> Self {
        self.blocking(name, [Nothing], move |shared, _| run(shared), move |state, _| model(state))
    }

    #[track_caller]
    fn with<A: Debug + Send + Sync + 'static, R: Debug + PartialEq + Clone + Send + 'static>(
        mut self,
        name: &str,
        values: Values<A>,
        run: impl Fn(&T, &A) -> R + Send + Sync + 'static,
        step: impl Fn(&mut M, &A, &dyn Value) -> Result<(), String> + Send + Sync + 'static,
        ahead: impl Fn(&mut M, &A) -> Advance + Send + Sync + 'static,
    ) -> Self {
        let Values { values, parts } = values;
        let text = |value: &A| label(name, Some(value as &dyn Debug));
        let labels: Vec<String> = values.iter().map(text).collect();
        let is_twice =
            |other: &Operation<T, M>| other.name == name || other.labels.iter().any(|it| labels.contains(it));
        assert!(!self.operations.iter().any(is_twice), "there are two operations `{name}`");
        assert!(!labels.is_empty(), "there is no value for the argument of `{name}`");
        let (of_run, of_step, of_ahead) = (Arc::clone(&values), Arc::clone(&values), values);
        self.operations.push(Operation {
            name: name.to_owned(),
            labels,
            parts,
            may_wait: false,
            run: by_number(of_run, run),
            step: Box::new(move |state, value, result| step(state, &of_step[value], result)),
            ahead: Box::new(move |state, value| ahead(state, &of_ahead[value])),
        });
        self
    }

    /// Lets only one thread of a scenario use these operations: those of the only producer, or of the owner of a deque.
    /// Calls before the threads start and after they have ended do not count.
    ///
    /// # Panics
    /// If there is no operation of such a name; so it comes after the operations.
    #[track_caller]
    pub fn on_one_thread<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let names = names.into_iter().map(|name| self.operation(name).name.clone()).collect();
        self.exclusive.push(names);
        self
    }

    /// Says that these operations are lock-free: if threads are suspended for ever in the middle of calls of these, all
    /// other threads complete their calls, of whichever operations.
    ///
    /// When a scenario is verified, it is run again for each set of threads, but not all of them, whose last calls are
    /// of these, and each number of operations of atomics, locks and the like that they may perform in these calls:
    /// there they stop for ever. If then another thread waits for ever, or threads can repeat themselves for ever
    /// though all get their turns, the check fails. These runs use up the [`budget`](Self::budget) as others do; of
    /// several threads there are as many as the product of their operations.
    ///
    /// Nothing is suspended in scenarios with calls that may wait ([`blocking`](Self::blocking)). Stores of a suspended
    /// thread that wait in its buffer (under TSO and PSO) become visible some time. Under C11 its stores become visible
    /// to whoever waits for them.
    ///
    /// ```
    /// use rsmc::spec::Spec;
    /// use rsmc::sync::Mutex;
    ///
    /// let report = Spec::new(|| Mutex::new(0), || 0)
    ///     .op0("inc", |n| *n.lock().unwrap() += 1, |n| *n += 1)
    ///     .lock_free(["inc"])
    ///     .explore();
    /// assert_eq!(report.scenario.as_deref(), Some("inc() @1 | inc()"));
    /// ```
    ///
    /// # Panics
    /// If there is no operation of such a name, or if it may wait.
    #[track_caller]
    pub fn lock_free<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        for name in names {
            let operation = self.operation(name);
            assert!(!operation.may_wait, "`{name}` may wait for other calls, so it is not lock-free");
            self.lock_free.push(operation.name.clone());
        }
        self
    }

    #[track_caller]
    fn operation(&self, name: &str) -> &Operation<T, M> {
        let found = self.operations.iter().find(|operation| operation.name == name);
        let Some(found) = found else {
            let known: Vec<&str> = self.operations.iter().map(|operation| &*operation.name).collect();
            panic!("there is no operation `{name}`; known are {}", known.join(", "));
        };
        found
    }

    /// Looks at the structure when all calls of a scenario have returned; `validate` panics if something is wrong.
    pub fn validate(mut self, validate: impl Fn(&T) + Send + Sync + 'static) -> Self {
        self.validate = Some(Box::new(validate));
        self
    }

    /// Sets the criterion. Default: [`Criterion::Linearizable`].
    pub fn criterion(mut self, criterion: Criterion) -> Self {
        self.criterion = criterion;
        self
    }

    /// Sets the largest number of calls of a scenario. Default: 6.
    ///
    /// # Panics
    /// If it is 0 or more than 12.
    #[track_caller]
    pub fn calls(mut self, most: usize) -> Self {
        assert!((1..=12).contains(&most), "a scenario has 1 to 12 calls, not {most}");
        self.size.calls = most;
        self
    }

    /// Sets the largest number of threads of a scenario. Default: 3.
    ///
    /// # Panics
    /// If it is 0 or more than 6.
    #[track_caller]
    pub fn threads(mut self, most: usize) -> Self {
        assert!((1..=6).contains(&most), "a scenario has 1 to 6 threads, not {most}");
        self.size.threads = most;
        self
    }

    /// Sets the largest number of calls before the threads start. Default: 0. These calls count as calls of the
    /// scenario, and any operation may be among them.
    ///
    /// Scenarios without them contain the same behaviour: there one thread makes these calls, and the others wait for
    /// it. With them, more calls are affordable, since what comes before the threads is not interleaved. To begin with
    /// fixed contents, put them into `new` and `model`.
    pub fn init(mut self, most: usize) -> Self {
        self.size.init = most;
        self
    }

    /// Sets the largest number of calls after the threads have ended; see [`init`](Self::init). Default: 0.
    pub fn end(mut self, most: usize) -> Self {
        self.size.end = most;
        self
    }

    /// Goes on with so many random scenarios, with up to four calls more than [`calls`](Self::calls) says, and
    /// at most twelve. Default: 0.
    ///
    /// They come behind all others, and half of the [`budget`](Self::budget) is left for them, of which each has an
    /// equal part: what is not explored by then counts as not verified. A random scenario that fails is made smaller as
    /// long as it fails, which may take as long again. [`SpecReport::drawn`] says how many were verified.
    ///
    /// The same ones are drawn each time; [`Config::seed`] asks for others.
    ///
    /// ```
    /// use rsmc::spec::Spec;
    /// use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
    ///
    /// // Wrong from the fourth call on.
    /// let report = Spec::new(|| AtomicU32::new(0), || 0)
    ///     .op0("inc", |n: &AtomicU32| n.fetch_add(1, SeqCst).min(2), |m| {
    ///         *m += 1;
    ///         *m - 1
    ///     })
    ///     .calls(2)
    ///     .random(10)
    ///     .explore();
    /// assert_eq!(report.scenario.as_deref(), Some("inc(), inc(), inc(), inc()"));
    /// ```
    pub fn random(mut self, scenarios: usize) -> Self {
        self.random = scenarios;
        self
    }

    /// Sets the time after which no further scenario is begun, and the one that runs is stopped. Default: 10 seconds. A
    /// check that ends so passes if it came through all scenarios with two calls, and says how far it came.
    ///
    /// `RSMC_MAX_DURATION`, and a `max_duration` of [`config`](Self::config), take its place.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = budget;
        self
    }

    /// Sets the configuration of the check of each scenario: the memory model, or the explorer. Worker processes
    /// ([`Config::jobs`]) are used for a single scenario (`RSMC_SCENARIO`) and for audits only.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Runs the scenarios, the smallest first, as overridden by the environment.
    ///
    /// `RSMC_SCENARIO` has the text of one scenario, which is then the only one to be run; with `RSMC_REPLAY` one of
    /// its executions.
    ///
    /// # Panics
    /// With the scenario and its report if an execution fails. If the time did not suffice for the scenarios with two
    /// calls. With an explanation if a variable of the environment is wrong, or if called inside a check.
    #[track_caller]
    pub fn check(&self) {
        check::__rust_end_short_backtrace_of_spec(self.config.clone(), self);
    }

    /// Runs the scenarios, the smallest first, and returns how far it came. It does not look at the environment.
    ///
    /// # Panics
    /// If the configuration cannot be carried out, or if called inside a check.
    ///
    /// ```
    /// use rsmc::spec::Spec;
    /// use rsmc::sync::atomic::{AtomicU32, Ordering::Relaxed};
    ///
    /// let lost = |n: &AtomicU32| {
    ///     let old = n.load(Relaxed);
    ///     n.store(old + 1, Relaxed);
    ///     old
    /// };
    /// let report = Spec::new(|| AtomicU32::new(0), || 0)
    ///     .op0("inc", lost, |m| {
    ///         *m += 1;
    ///         *m - 1
    ///     })
    ///     .explore();
    /// assert_eq!(report.scenario.as_deref(), Some("inc() | inc()"));
    /// ```
    #[track_caller]
    pub fn explore(&self) -> SpecReport {
        let report = self.run_up_to(&self.config, usize::MAX, &mut |_| {});
        report.unwrap_or_else(|error| panic!("rsmc: {error}"))
    }

    /// Runs a scenario once, as the body of a check: to keep one as a test.
    ///
    /// # Panics
    /// If no order of the calls explains their results, if the text is no scenario, or outside of a check.
    ///
    /// ```
    /// # use rsmc::spec::Spec;
    /// # use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
    /// fn spec() -> Spec<AtomicU32, u32> {
    ///     Spec::new(|| AtomicU32::new(0), || 0)
    ///         .op("set", [1, 2], |n, &to| n.store(to, SeqCst), |m, &to| *m = to)
    ///         .op0("get", |n| n.load(SeqCst), |m| *m)
    /// }
    ///
    /// // In a test module: `#[rsmc::test] fn set_and_get() { … }`.
    /// rsmc::check(|| spec().execute("set(1) !a, get() | ?a get(), set(2)"));
    /// ```
    #[track_caller]
    pub fn execute(&self, scenario: &str) {
        assert!(
            in_run(),
            "rsmc: only a check runs `{scenario}`: `#[rsmc::test]` instead of `#[test]`, or `rsmc::check`"
        );
        match self.read(scenario) {
            Ok(scenario) => Prepared::new(self, scenario).execute(None),
            Err(error) => panic!("rsmc: `{scenario}` is no scenario: {error}"),
        }
    }

    fn read(&self, scenario: &str) -> Result<Scenario, String> {
        let labels = |(operation, it): (usize, &Operation<T, M>)| {
            let call = move |(value, label): (usize, &String)| (label.clone(), Call { operation, value });
            it.labels.iter().enumerate().map(call).collect::<Vec<_>>()
        };
        let known: Vec<_> = self.operations.iter().enumerate().flat_map(labels).collect();
        Scenario::parse(scenario, &known)
    }

    fn label(&self, call: Call) -> String {
        self.operations[call.operation].labels[call.value].clone()
    }
}

impl<T, M> Debug for Spec<T, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.operations.iter().map(|operation| &*operation.name).collect();
        f.debug_struct("Spec").field("operations", &names).finish_non_exhaustive()
    }
}

/// The argument of an operation without one.
struct Nothing;

impl Debug for Nothing {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
