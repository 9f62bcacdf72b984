//! Modelled threads: their start and end, their panics, their names and their values.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use crate::base::ThreadId;
use crate::runtime::arena;
use crate::runtime::current::in_current;
use crate::runtime::execution::Execution;
use crate::runtime::hook::enter::{enter, here};
use crate::runtime::identity::Object;
use crate::runtime::locals::Gone;
use crate::runtime::locations::Tag;
use crate::trace::{Action, Op};

/// Starts a modelled thread. `main` must not unwind; wrap the user's code in [`catch`].
#[track_caller]
pub fn spawn(name: Option<String>, main: Box<dyn FnOnce()>) -> ThreadId {
    let site = here();
    enter(|execution| execution.spawn(name, site, main)).expect("called in an execution")
}

/// Waits for the end of a modelled thread.
#[track_caller]
pub fn join(target: ThreadId) {
    let site = here();
    enter(|execution| execution.join(target, site)).expect("called in an execution");
}

/// Whether the modelled thread `target`, whose end is `tag`, has ended, without waiting. The first use starts the
/// exploration again, with the end of every thread as a visible operation.
#[track_caller]
pub fn is_finished(target: ThreadId, tag: &Tag) -> bool {
    let site = here();
    enter(|execution| {
        if !execution.unwinding.get() && !execution.core.borrow().observed.ends {
            let mut core = execution.core.borrow_mut();
            core.observed.learned.ends = true;
            core.machine.give_up();
        }
        let object = Object { tag, kind: "thread end", created: None };
        let loc = execution.locate(object, || 0, site);
        let order = Ordering::Acquire;
        let is_seen = execution.operate(Op { action: Action::Load, loc, order, failure: order, site }).read == 1;
        let core = execution.core.borrow();
        // Where ends are not seen yet, the execution was given up, and goes on.
        if core.observed.ends { is_seen } else { core.machine.has_ended(target) }
    })
    .expect("called in an execution")
}

/// The last act of a thread's code: visible only where some thread asks whether others have ended.
#[track_caller]
pub fn ending(tag: &Tag) {
    let site = here();
    let is_seen = |execution: &Execution| execution.core.borrow().observed.ends && !execution.unwinding.get();
    if in_current(is_seen) == Some(true) {
        enter(|execution| {
            let loc = execution.locate(Object { tag, kind: "thread end", created: None }, || 0, site);
            // Behind all stores of the thread, and for all to see at once: this store waits in no buffer.
            let order = Ordering::SeqCst;
            execution.operate(Op { action: Action::Store(1), loc, order, failure: order, site });
        });
    }
}

/// Receives the panic that ended `target`. Returns whether there was one that no thread had received.
pub fn receive_panic(target: ThreadId) -> bool {
    enter(|execution| execution.core.borrow_mut().machine.receive_panic(target)).unwrap_or(false)
}

/// An execution may end while this thread waits, which is then no deadlock.
pub fn detach(thread: ThreadId) {
    enter(|execution| {
        if !execution.unwinding.get() {
            execution.core.borrow_mut().machine.detach(thread);
        }
    });
}

/// Suspends the running thread for ever once it has performed so many more operations, which is no deadlock. `None`:
/// it goes on.
#[track_caller]
pub fn suspend(after: Option<u32>) {
    let site = here();
    enter(|execution| {
        if !execution.unwinding.get() {
            let machine = &mut execution.core.borrow_mut().machine;
            machine.suspend(execution.running.get(), after, site);
        }
    });
}

/// The modelled thread that runs.
pub fn current() -> Option<ThreadId> {
    enter(|execution| execution.running.get())
}

/// The name that a modelled thread was given.
pub fn thread_name(thread: ThreadId) -> Option<String> {
    with_thread_name(thread, |name| name.map(str::to_owned))
}

/// Whether a modelled thread was given this name, or none.
pub fn has_name(thread: ThreadId, name: Option<&str>) -> bool {
    with_thread_name(thread, |known| known == name)
}

fn with_thread_name<R>(thread: ThreadId, look: impl Fn(Option<&str>) -> R) -> R {
    let found = enter(|execution| {
        let core = execution.core.borrow();
        look(core.machine.run().trace.threads.get(thread).and_then(|thread| thread.name.as_deref()))
    });
    found.unwrap_or_else(|| look(None))
}

/// Runs a thread's code and catches its panic. One that leaves the thread is on record for the report.
#[inline]
pub fn catch<T>(code: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    let (mut code, mut value) = (Some(code), None);
    catch_once(&mut || value = code.take().map(|code| code()))?;
    Ok(value.expect("the code has returned"))
}

/// See [`catch`]. It is compiled once, not for every thread of a test program.
fn catch_once(code: &mut dyn FnMut()) -> Result<(), Box<dyn Any + Send>> {
    in_current(|execution| execution.catch(execution.running.get(), code)).expect("called in an execution")
}

/// Whether the modelled thread that runs is unwinding.
pub fn panicking() -> bool {
    enter(Execution::is_panicking).unwrap_or_else(std::thread::panicking)
}

/// The running thread's value of a key, made by `init` if this is its first use; [`Gone`] if the thread is dropping its
/// values and this one is dropped. The value stays where it is until the thread ends.
pub fn local<T: 'static>(key: usize, init: impl FnOnce() -> T) -> Option<Result<NonNull<T>, Gone>> {
    in_current(|execution| {
        let me = execution.running.get();
        let find = || execution.core.borrow_mut().fibers[me].locals.find(key);
        if let Some(found) = find() {
            return found;
        }
        // This may run other threads, or use the same key: then that value stays.
        let value = Box::new(init());
        if let Some(found) = find() {
            return found;
        }
        let _ours = arena::outside();
        execution.core.borrow_mut().fibers[me].locals.add(key, value);
        find().expect("it was just added")
    })
}
