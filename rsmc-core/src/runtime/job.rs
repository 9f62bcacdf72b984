//! A modelled thread's job on its coroutine: the steps before and after the user's code.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::runtime::arena::Switched;
use crate::runtime::coroutine::Task;
use crate::runtime::current::in_current;
use crate::runtime::execution::Execution;
use crate::runtime::fibers::Job;
use crate::runtime::state::clear_below;

impl Task for Job {
    type Prepared = Option<Switched>;

    #[inline(always)]
    fn prepare() -> Self::Prepared {
        if in_current(|execution| execution.compares_states.get()) == Some(true) {
            clear_below::<{ 32 << 10 }>();
        }
        in_current(Execution::enter_user_code)
    }

    fn run(self) {
        let _ = catch_unwind(AssertUnwindSafe(|| match self {
            Job::Body(body) => body(),
            Job::Thread(main) => main(),
        }));
        in_current(Execution::drop_locals);
    }
}

impl Execution {
    /// Lets user code of the execution run until the result is dropped.
    fn enter_user_code(&self) -> Switched {
        let mut core = self.core.borrow_mut();
        if let Some(suspender) = self.suspender.get().filter(|suspender| suspender.is_new()) {
            let base = suspender.base();
            self.registered.has_stack(base.saturating_sub(core.fibers.stack_size)..base);
        }
        core.arena.enter()
    }

    /// Drops the values of the running thread, which is at its end.
    fn drop_locals(&self) {
        let me = self.running.get();
        loop {
            let youngest = self.core.borrow_mut().fibers[me].locals.take_youngest();
            let mut value @ Some(_) = youngest else { return };
            drop(self.catch(me, &mut || drop(value.take())));
        }
    }
}
