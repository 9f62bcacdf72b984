//! Stackful coroutines that run one job after another on a stack that is allocated once.
//!
//! A coroutine never ends between jobs: it suspends itself and takes the next job from its slot when it is resumed, so
//! starting a thread costs one switch and no allocation. When a check is over its coroutines end, and their stacks are
//! kept for the next check of this process, on whatever OS thread that runs: mapping and unmapping them would take a
//! good part of a small check.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use generator::{Gn, LocalGenerator, Scope};

use crate::runtime::{leave, memcheck};

/// A job of a coroutine.
pub(super) trait Task: 'static {
    /// Dropped when the job is done or was left.
    type Prepared;

    /// Prepares for a job, on the stack on which it will run.
    fn prepare() -> Self::Prepared;

    /// Runs it. It catches the panics of its user; only the unwinding of a finished run whose threads are not left may
    /// come out of it.
    fn run(self);
}

type Switch = Scope<'static, 'static, (), ()>;

/// A coroutine as it is seen from outside and from the job that it runs.
struct Slot<J> {
    job: Cell<Option<J>>,
    state: State,
}

#[derive(Default)]
struct State {
    busy: Cell<bool>,
    switch: Cell<Option<*mut Switch>>,
    /// The address at which the stack of the job begins.
    base: Cell<usize>,
    /// The check was told where the stack is.
    is_known: Cell<bool>,
    /// The mark by which the job can be left.
    mark: Cell<usize>,
    /// The number that valgrind gives the stack.
    number: Cell<usize>,
}

/// The reason why control came back from a coroutine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Returned {
    /// It suspended itself in the middle of its job.
    Suspended,
    /// Its job is done.
    Finished,
    /// It ran out of stack. It must be leaked.
    Overflowed,
}

type Stack = LocalGenerator<'static, (), ()>;

/// A coroutine with its stack, for jobs of one type.
pub(super) struct Coroutine<J> {
    /// `None` when it is retired.
    generator: Option<Stack>,
    /// The number of words of the stack.
    words: usize,
    slot: Rc<Slot<J>>,
}

/// A stack on which nothing runs.
struct Spare {
    generator: Stack,
    words: usize,
}

// SAFETY: its generator is done. What ran on the stack has returned, and what the generator keeps there are pointers
// into the stack itself; the OS thread that resumes it is entered when it does.
unsafe impl Send for Spare {}

/// The stacks that no check uses.
static SPARE: Mutex<Vec<Spare>> = Mutex::new(Vec::new());

/// The largest number of stacks that are kept. Only the pages that were used take memory.
const MOST_SPARE: usize = 64;

/// A handle with which the running coroutine suspends itself.
#[derive(Clone, Copy)]
pub(super) struct Suspender(*const State);

impl<J: Task> Coroutine<J> {
    /// A coroutine with a stack of this many bytes.
    pub(super) fn new(stack_size: usize) -> Self {
        let slot = Rc::new(Slot { job: Cell::new(None), state: State::default() });
        let own = Rc::clone(&slot);
        // The stack is counted in words; an odd number would turn on a costly measurement of its use.
        let words = (stack_size / size_of::<usize>()).next_multiple_of(2);
        let run = move |scope: Scope<'_, '_, (), ()>| serve(&own, words, scope);
        let mut generator = match take_spare(words) {
            Some(mut generator) => {
                generator.scoped_init(run);
                generator
            }
            None => Gn::new_scoped_opt_local(words, run),
        };
        // Any non-null pointer: it makes the library hand an overflow to us instead of panicking.
        generator.set_local_data(std::ptr::dangling_mut());
        Self { generator: Some(generator), words, slot }
    }

    /// Gives it a job, to be started by the next `resume`.
    pub(super) fn assign(&self, job: J) {
        debug_assert!(!self.slot.state.busy.get(), "a coroutine runs one job at a time");
        self.slot.state.busy.set(true);
        self.slot.job.set(Some(job));
    }
}

impl<J> Coroutine<J> {
    /// Ends it, and keeps its stack for another. It must have no job.
    pub(super) fn retire(mut self) {
        self.end();
        if let Some(generator) = self.generator.take().filter(Stack::is_done) {
            let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
            if spare.len() < MOST_SPARE {
                spare.push(Spare { generator, words: self.words });
            }
        }
    }

    /// Ends a coroutine that has no job: it returns, and its generator can be used anew or freed.
    fn end(&mut self) {
        if let Some(generator) = &mut self.generator
            && !self.slot.state.busy.get()
            && !generator.is_done()
        {
            generator.resume();
            memcheck::forget_stack(self.slot.state.number.get());
        }
    }

    /// Runs it until it suspends itself or its job is done.
    #[inline]
    pub(super) fn resume(&mut self) -> Returned {
        let generator = self.generator.as_mut().expect("a retired coroutine is gone");
        generator.resume();
        if generator.get_panic_data().is_some() {
            return Returned::Overflowed;
        }
        if self.slot.state.busy.get() { Returned::Suspended } else { Returned::Finished }
    }

    pub(super) fn suspender(&self) -> Suspender {
        Suspender(&raw const self.slot.state)
    }
}

/// Runs a job, which lies at `job`.
unsafe extern "C" fn run<J: Task>(job: *mut ()) {
    // SAFETY: `serve` passes it, and nothing else uses it meanwhile.
    let job = unsafe { &mut *job.cast::<Option<J>>() }.take().expect("there is a job");
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job.run()));
}

/// Runs a job until it returns or is left. It is a call, so that what is known of the job is forgotten then.
#[inline(never)]
fn serve_once<J: Task>(state: &State, job: J) {
    let _prepared = J::prepare();
    let mut job = Some(job);
    // SAFETY: the function gets the job that it expects, and it does not unwind. Nothing of this frame is used by a job
    // but that, and what a job has in its own frames may be left behind: nothing reads them again, since the threads
    // that may borrow from them are left as well (`teardown`).
    unsafe { leave::call(state.mark.as_ptr(), run::<J>, (&raw mut job).cast()) };
}

fn serve<J: Task>(slot: &Slot<J>, words: usize, mut scope: Scope<'_, '_, (), ()>) {
    let switch = &raw mut scope;
    let base = switch.expose_provenance();
    // The frames of the library are above.
    let stack = base.saturating_sub(words * size_of::<usize>())..base + 4096;
    let state = &slot.state;
    state.number.set(memcheck::register_stack(stack));
    state.base.set(base);
    state.switch.set(Some(switch.cast()));
    while let Some(job) = slot.job.take() {
        serve_once(state, job);
        state.busy.set(false);
        scope.yield_with(());
    }
}

impl<J> Drop for Coroutine<J> {
    fn drop(&mut self) {
        self.end();
    }
}

/// A stack of this size that no check uses.
fn take_spare(words: usize) -> Option<Stack> {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let at = spare.iter().rposition(|spare| spare.words == words)?;
    Some(spare.swap_remove(at).generator)
}

impl Suspender {
    /// Where the stack of the job begins that runs on this coroutine, which has started.
    #[inline]
    pub(super) fn base(self) -> usize {
        // SAFETY: as for `suspend`.
        unsafe { &*self.0 }.base.get()
    }

    /// Whether this is called for the first time.
    #[inline]
    pub(super) fn is_new(self) -> bool {
        // SAFETY: as for `suspend`.
        !unsafe { &*self.0 }.is_known.replace(true)
    }

    /// Suspends the coroutine this handle belongs to, which must be the running one.
    #[inline]
    pub(super) fn suspend(self) {
        // SAFETY: a coroutine owns its state for as long as it runs, and the caller runs on it.
        let switch = unsafe { &*self.0 }.switch.get().expect("a running coroutine has started");
        // SAFETY: `switch` points into the frame of `serve`, which is alive as long as its coroutine is, and the caller
        // runs on that coroutine. Nothing else uses the scope between two jobs or during one: `serve` itself is
        // suspended in `job.run()`.
        unsafe { (*switch).yield_with(()) };
    }

    /// Ends the job of the coroutine this handle belongs to, which must be the running one, without unwinding it.
    pub(super) fn leave(self) -> ! {
        // SAFETY: as for `suspend`.
        let mark = unsafe { &*self.0 }.mark.get();
        // SAFETY: the caller runs on this coroutine, in the job, and no thread that was left is resumed.
        unsafe { leave::leave(mark) }
    }
}

/// Pretends that a body lives for ever.
///
/// # Safety
/// The caller must drop every coroutine that was given the result before `body` ends.
pub(super) unsafe fn extend<'a>(body: &'a (dyn Fn() + 'a)) -> Rc<dyn Fn()> {
    // SAFETY: only the lifetime changes, and the caller keeps the use within it.
    let body: &'static (dyn Fn() + 'static) = unsafe { std::mem::transmute(body) };
    Rc::new(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Task for Box<dyn FnOnce()> {
        type Prepared = ();

        fn prepare() {}

        fn run(self) {
            self();
        }
    }

    /// The address of a job's frame.
    fn place_of_a_job(stack_size: usize) -> usize {
        let mut coroutine = Coroutine::<Box<dyn FnOnce()>>::new(stack_size);
        let place = Rc::new(Cell::new(0));
        let told = Rc::clone(&place);
        coroutine.assign(Box::new(move || {
            let here = 0;
            told.set((&raw const here).addr());
        }));
        assert_eq!(coroutine.resume(), Returned::Finished);
        coroutine.retire();
        place.get()
    }

    #[test]
    fn the_stack_of_a_check_that_is_over_serves_another_on_any_thread() {
        let size = 128 * 1024 + 4096; // No other test uses this size.
        let first = place_of_a_job(size);
        let second = std::thread::spawn(move || place_of_a_job(size)).join().unwrap();
        assert!(first.abs_diff(second) < size, "{first:x} {second:x}");
        assert!(place_of_a_job(2 * size).abs_diff(first) >= size, "a stack has the size that was asked for");
    }

    #[test]
    fn runs_jobs_one_after_another_on_one_stack() {
        let mut coroutine = Coroutine::<Box<dyn FnOnce()>>::new(64 * 1024);
        let suspender = coroutine.suspender();
        let log = Rc::new(Cell::new(0));
        for round in 1..=3 {
            let log = Rc::clone(&log);
            coroutine.assign(Box::new(move || {
                log.set(round * 10);
                suspender.suspend();
                log.set(round * 10 + 1);
            }));
            assert_eq!(coroutine.resume(), Returned::Suspended);
            assert_eq!(coroutine.resume(), Returned::Finished);
        }
        assert_eq!(log.get(), 31);
    }
}
