//! The threads of an execution and their stacks.

use rustc_hash::FxHashMap;

use crate::base::{Id, LocId, ThreadId};
use crate::machine::State;
use crate::runtime::coroutine::{Coroutine, Job};
use crate::runtime::execution::Core;
use crate::runtime::locals::Local;
use crate::runtime::state::Changes;
use crate::runtime::time::Clock;
use crate::trace::Site;

/// What the runtime knows of a modelled thread.
#[derive(Default)]
pub(super) struct Fiber {
    pub(super) coroutine: Option<Coroutine>,
    /// What it runs on when it has a job, so that its stack has the same place in all executions.
    pub(super) idle: Option<Coroutine>,
    pub(super) job: Option<Job>,
    /// A panic is unwinding it.
    pub(super) panicking: bool,
    /// What its last panic said.
    pub(super) last_panic: Option<(String, Site)>,
    /// What belongs to it alone, in the order in which it was made.
    pub(super) locals: Vec<Local>,
    /// The location of its choices.
    pub(super) choices: Option<LocId>,
    /// The type of the value behind an `Arc` that it drops, since it drops the last reference.
    pub(super) dropping: Option<&'static str>,
    pub(super) clock: Clock,
    /// What its clock said when it was in a state, if time has passed.
    pub(super) times: FxHashMap<State, Clock>,
    pub(super) changes: Changes,
    /// Where its stack begins, and where it ends while the thread is suspended.
    pub(super) base: usize,
    pub(super) low: usize,
    /// Where it ended when the thread last came to an operation, in an execution that is watched.
    pub(super) stood: usize,
}

impl Fiber {
    /// Becomes a thread that has not started.
    fn begin(&mut self, job: Job) {
        let Self {
            coroutine: _,
            idle: _,
            job: own,
            panicking,
            last_panic,
            locals,
            choices,
            dropping,
            clock,
            times,
            changes,
            base: _,
            low,
            stood: _,
        } = self;
        *own = Some(job);
        *panicking = false;
        *last_panic = None;
        locals.clear();
        *choices = None;
        *dropping = None;
        *clock = Clock::default();
        times.clear();
        *changes = Changes::default();
        *low = 0;
    }
}

/// So many threads have a stack of their own. The others share some, so that a body may start any number.
const OWN_STACKS: usize = 64;

impl Core {
    pub(super) fn admit(&mut self, thread: ThreadId, job: Job) {
        self.fibers.grow_to(thread, Fiber::default);
        let fiber = &mut self.fibers[thread];
        debug_assert!(fiber.coroutine.is_none(), "the thread of the last run is gone");
        fiber.begin(job);
    }

    /// The coroutine of a thread, with a stack from the pool if the thread has not started.
    #[inline]
    pub(super) fn coroutine_for(&mut self, thread: ThreadId) -> Coroutine {
        if let Some(coroutine) = self.fibers[thread].coroutine.take() {
            return coroutine;
        }
        let idle = self.fibers[thread].idle.take();
        let idle = idle.or_else(|| if thread.index() < OWN_STACKS { None } else { self.idle.pop() });
        let coroutine = idle.unwrap_or_else(|| {
            self.stacks += 1;
            Coroutine::new(self.stack_size)
        });
        let job = self.fibers[thread].job.take().expect("a thread without a coroutine has not started");
        coroutine.assign(job);
        coroutine
    }

    /// Returns the stack of a thread to the pool.
    pub(super) fn release(&mut self, thread: ThreadId) {
        if let Some(coroutine) = self.fibers[thread].coroutine.take() {
            self.fibers[thread].panicking = false;
            if self.savings.pooled_stacks {
                match thread.index() < OWN_STACKS {
                    true => self.fibers[thread].idle = Some(coroutine),
                    false => self.idle.push(coroutine),
                }
            }
        }
    }

    /// The threads that have not ended, the youngest first.
    pub(super) fn unfinished(&self) -> Option<ThreadId> {
        (0..self.fibers.len())
            .rev()
            .map(ThreadId::from_index)
            .find(|&thread| self.fibers[thread].coroutine.is_some() || self.fibers[thread].job.is_some())
    }
}
