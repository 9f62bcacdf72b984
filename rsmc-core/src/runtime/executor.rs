//! The executor for real code: it runs a test body on coroutines.

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::machine::Rules;
use crate::model::MemoryModel;
use crate::runtime::checks::Watched;
use crate::runtime::coroutine;
use crate::runtime::current::progress;
use crate::runtime::execution::{Body, Execution};
use crate::runtime::hook::threads;
use crate::runtime::panics;
use crate::runtime::watch;
use crate::step::{Executor, Knowledge, Plan, Run, Watcher};
use crate::trace::{Site, Weakened};

/// Runs a test body on coroutines.
pub struct Runtime<'body> {
    execution: Execution,
    watched: Watched,
    body: PhantomData<&'body ()>,
}

/// The means by which the runtime saves time. Nothing else depends on them: without one it only takes longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savings {
    /// The stack of a thread that has ended is the next thread's, in this execution or a later one.
    pub pooled_stacks: bool,
    /// A thread that goes on after an operation of its own does so at once, without a switch to the scheduler and back.
    pub in_place: bool,
}

impl Savings {
    /// All of them.
    pub const ALL: Self = Self { pooled_stacks: true, in_place: true };
}

impl<'body> Runtime<'body> {
    /// Prepares to run `body`, with stacks of `stack_size` bytes.
    pub fn new(body: &'body (dyn Fn() + 'body), rules: Rules, stack_size: usize) -> Self {
        panics::install();
        let caller = std::ptr::from_ref(body).addr();
        // SAFETY: the coroutines are part of `execution`, which cannot outlive `'body`. One that is leaked never
        // runs again.
        let body = unsafe { coroutine::extend(body) };
        let main = Rc::new(move || drop(threads::catch(|| body())));
        let execution = Execution::new(Body { main, caller }, rules, stack_size);
        Self { watched: Watched::new(&execution), execution, body: PhantomData }
    }

    /// Says where the stack of the check's caller begins: at this place or behind it. The caller's variables may lead
    /// to memory that executions leave. Without this it begins at the body, and a variable before that is overlooked.
    pub fn called_from(mut self, place: usize) -> Self {
        self.execution.set_caller(place);
        self
    }

    /// Makes the runtime use these savings only, to see what the others are worth.
    pub fn with_savings(mut self, savings: Savings) -> Self {
        self.execution.save(savings.pooled_stacks, savings.in_place);
        self
    }

    /// Names the check of this runtime, which is the one on this OS thread. Where no operation of it comes for
    /// `stuck_after`, the process ends with last words ([`tell_by`](crate::runtime::tell_by)); with `None` it may take
    /// as long as it likes.
    pub fn of_check(mut self, name: &str, stuck_after: Option<Duration>) -> Self {
        self.watched = watch::begin(&self.execution, name, stuck_after);
        self
    }

    /// The number of stacks that were allocated so far.
    pub fn stacks_allocated(&self) -> usize {
        self.execution.stacks_allocated()
    }
}

impl Executor for Runtime<'_> {
    fn execute(&mut self, plan: &Plan, run: &mut Run) {
        let _goes_on = self.watched.begin(&self.execution);
        progress(&self.execution, || self.execution.execute(plan, run));
    }

    /// After a destructor panicked while its thread was unwound, or a stack overflowed inside the machine.
    fn is_broken(&self) -> bool {
        self.execution.is_broken()
    }

    fn knowledge(&self) -> Knowledge {
        self.execution.knowledge()
    }

    fn know(&mut self, knowledge: &Knowledge) {
        self.execution.know(knowledge);
    }

    fn follow(&mut self, memory: MemoryModel) -> bool {
        self.execution.follow(memory);
        true
    }

    fn strengthen(&mut self, changes: &[(Site, Ordering)]) -> bool {
        self.execution.strengthen(changes);
        true
    }

    fn weaken(&mut self, changes: &[Weakened]) -> bool {
        self.execution.weaken(changes);
        true
    }

    fn unused(&self) -> Vec<Weakened> {
        self.execution.unused()
    }

    fn trace_paths(&mut self, on: bool) -> bool {
        self.execution.trace_paths(on);
        true
    }

    fn watch(&mut self, watcher: Option<Watcher>) {
        self.execution.watch(watcher);
    }
}
