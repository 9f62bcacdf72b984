//! The threads of an execution and their stacks.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::base::{Id, IdVec, LocId, ThreadId};
use crate::machine::State;
use crate::runtime::coroutine;
use crate::runtime::locals::Locals;
use crate::runtime::time::Clock;
use crate::trace::Site;

/// The job of a modelled thread.
pub(super) enum Job {
    /// The test body, shared by all executions.
    Body(Rc<dyn Fn()>),
    /// A spawned thread.
    Thread(Box<dyn FnOnce()>),
}

/// The coroutine of a modelled thread.
pub(super) type Coroutine = coroutine::Coroutine<Job>;

/// The changes that a thread has made outside its stack since the machine remembers states of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Changes {
    pub(super) own: u64,
    /// The number for all that is seen there, at the last look.
    pub(super) seen: u64,
}

/// A modelled thread, as the runtime knows it.
#[derive(Default)]
pub(super) struct Fiber {
    pub(super) coroutine: Option<Coroutine>,
    /// The coroutine that it runs on when it has a job, kept so that its stack has the same place in all executions.
    pub(super) idle: Option<Coroutine>,
    pub(super) job: Option<Job>,
    /// A panic is unwinding it.
    pub(super) panicking: bool,
    /// The messages and places of its last panics.
    pub(super) panics: Vec<(String, Site)>,
    /// The values that belong to it alone.
    pub(super) locals: Locals,
    /// The location of its choices.
    pub(super) choices: Option<LocId>,
    /// The type of the value behind an `Arc` that it drops, since it drops the last reference.
    pub(super) dropping: Option<&'static str>,
    pub(super) clock: Clock,
    /// The number of keys that it has taken for hash maps.
    pub(super) hash_keys: u64,
    /// By state: its clock when it was in that state, if time has passed.
    pub(super) times: FxHashMap<State, Clock>,
    pub(super) changes: Changes,
    /// Where its stack begins, and where it ends while the thread is suspended.
    pub(super) base: usize,
    pub(super) low: usize,
    /// Where it ended when the thread last came to an operation, in an execution that is watched.
    pub(super) stood: usize,
}

impl Fiber {
    /// Keeps the clock for the state of the thread. If the thread came to it by an iteration that is left out, the
    /// clock goes back, since no time has passed there.
    pub(super) fn keep_time(&mut self, state: State, is_left_out: bool) {
        if self.clock.is_at_origin() && self.times.is_empty() {
            return;
        }
        match is_left_out {
            true => self.clock = self.times.get(&state).copied().unwrap_or_default(),
            false => _ = self.times.insert(state, self.clock),
        }
    }

    /// Becomes a thread that has not started.
    fn begin(&mut self, job: Job) {
        let Self {
            coroutine: _,
            idle: _,
            job: own,
            panicking,
            panics,
            locals,
            choices,
            dropping,
            clock,
            hash_keys,
            times,
            changes,
            base: _,
            low,
            stood: _,
        } = self;
        *own = Some(job);
        *panicking = false;
        panics.clear();
        locals.clear();
        *choices = None;
        *dropping = None;
        *clock = Clock::default();
        *hash_keys = 0;
        times.clear();
        *changes = Changes::default();
        *low = 0;
    }
}

/// The modelled threads of an execution, and the stacks for them.
pub(super) struct Fibers {
    threads: IdVec<ThreadId, Fiber>,
    /// The stacks for threads that have none of their own, on which none runs.
    idle: Vec<Coroutine>,
    /// The stack of a thread that has ended is the next thread's.
    pub(super) pools_stacks: bool,
    /// The number of bytes of a stack.
    pub(super) stack_size: usize,
    /// The number of stacks that were allocated so far.
    pub(super) allocated: usize,
}

/// The number of threads that have a stack of their own. The others share some, so that a body may start any number.
const OWN_STACKS: usize = 64;

impl Fibers {
    /// No threads, with stacks of so many bytes.
    pub(super) fn new(stack_size: usize) -> Self {
        Self { threads: IdVec::new(), idle: Vec::new(), pools_stacks: true, stack_size, allocated: 0 }
    }

    pub(super) fn admit(&mut self, thread: ThreadId, job: Job) {
        self.threads.grow_to(thread, Fiber::default);
        let fiber = &mut self.threads[thread];
        debug_assert!(fiber.coroutine.is_none(), "the thread of the last run is gone");
        fiber.begin(job);
    }

    /// The coroutine of a thread, with a stack from the pool if the thread has not started.
    #[inline]
    pub(super) fn coroutine_for(&mut self, thread: ThreadId) -> Coroutine {
        if let Some(coroutine) = self.threads[thread].coroutine.take() {
            return coroutine;
        }
        let idle = self.threads[thread].idle.take();
        let idle = idle.or_else(|| if thread.index() < OWN_STACKS { None } else { self.idle.pop() });
        let coroutine = idle.unwrap_or_else(|| {
            self.allocated += 1;
            Coroutine::new(self.stack_size)
        });
        let job = self.threads[thread].job.take().expect("a thread without a coroutine has not started");
        coroutine.assign(job);
        coroutine
    }

    /// Keeps the coroutine of a thread that has stopped.
    #[inline]
    pub(super) fn suspended(&mut self, thread: ThreadId, coroutine: Coroutine) {
        let none = self.threads[thread].coroutine.replace(coroutine);
        debug_assert!(none.is_none(), "it was taken from there");
        std::mem::forget(none); // Nothing is to be dropped, which the compiler does not know.
    }

    /// Returns the stack of a thread to the pool.
    pub(super) fn release(&mut self, thread: ThreadId) {
        if let Some(coroutine) = self.threads[thread].coroutine.take() {
            self.threads[thread].panicking = false;
            if self.pools_stacks {
                match thread.index() < OWN_STACKS {
                    true => self.threads[thread].idle = Some(coroutine),
                    false => self.idle.push(coroutine),
                }
            }
        }
    }

    /// The youngest thread that has not ended.
    pub(super) fn unfinished(&self) -> Option<ThreadId> {
        (0..self.threads.len())
            .rev()
            .map(ThreadId::from_index)
            .find(|&thread| self.threads[thread].coroutine.is_some() || self.threads[thread].job.is_some())
    }

    /// Keeps the stacks on which no thread runs for another check.
    pub(super) fn retire(&mut self) {
        let own = self.threads.values_mut().filter_map(|fiber| fiber.idle.take());
        own.chain(self.idle.drain(..)).for_each(Coroutine::retire);
    }
}

impl Deref for Fibers {
    type Target = IdVec<ThreadId, Fiber>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.threads
    }
}

impl DerefMut for Fibers {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.threads
    }
}
