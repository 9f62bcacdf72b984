//! The execution in progress on this OS thread, and the executor that starts it.

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use scoped_tls::scoped_thread_local;

use crate::machine::Rules;
use crate::model::MemoryModel;
use crate::runtime::coroutine;
use crate::runtime::execution::Execution;
use crate::runtime::hook;
use crate::runtime::panics;
use crate::step::{Executor, Knowledge, Plan, Run, Watcher};
use crate::trace::Site;

scoped_thread_local!(pub(super) static CURRENT: Execution);

/// Whether this OS thread is inside an execution.
#[inline]
pub fn in_run() -> bool {
    CURRENT.is_set()
}

/// Runs a test body on coroutines.
pub struct Runtime<'body> {
    execution: Execution,
    body: PhantomData<&'body ()>,
}

impl<'body> Runtime<'body> {
    /// Prepares to run `body`, with stacks of `stack_size` bytes.
    pub fn new(body: &'body (dyn Fn() + 'body), rules: Rules, stack_size: usize) -> Self {
        panics::install();
        // SAFETY: the coroutines are part of `execution`, which cannot outlive `'body`. One that is leaked never
        // runs again.
        let body = unsafe { coroutine::extend(body) };
        let body = Rc::new(move || drop(hook::catch(|| body())));
        Self { execution: Execution::new(body, rules, stack_size), body: PhantomData }
    }

    /// How many stacks were allocated so far.
    pub fn stacks_allocated(&self) -> usize {
        self.execution.stacks_allocated()
    }
}

impl Executor for Runtime<'_> {
    fn execute(&mut self, plan: &Plan, run: &mut Run) {
        CURRENT.set(&self.execution, || self.execution.execute(plan, run));
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

    fn watch(&mut self, watcher: Option<Watcher>) {
        self.execution.watch(watcher);
    }
}
