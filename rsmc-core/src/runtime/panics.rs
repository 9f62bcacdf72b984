//! Panics of modelled threads.
//!
//! A process-wide hook, installed once in front of whatever hook there is, stays out of the way of every thread
//! that is in no execution. In one it prints nothing, since most executions of a failing test panic in the same
//! way, and writes down the message and the place for the report.
//!
//! A panic in a destructor during unwinding makes std abort the process. The hook sees it coming, and `abort` leaves
//! the thread for good instead, so that one failing check never takes the test binary down.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

use crate::base::ThreadId;
use crate::runtime::arena;
use crate::runtime::current::in_current;
use crate::runtime::execution::Execution;
use crate::runtime::file_names::keep;
use crate::runtime::teardown::Teardown;
use crate::step::End;
use crate::trace::{Act, Site};

/// The messages of std just before it aborts because of a panic from which it cannot unwind.
const FATAL: [&str; 2] = ["panic in a destructor during cleanup", "panic in a function that cannot unwind"];

/// Installs the hook, once in the life of the process.
pub(super) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if in_current(|execution| execution.on_panic(info)).is_none() {
                before(info);
            }
        }));
    });
}

/// The number of panics of a thread that are remembered with their places, the last ones.
const MOST_PANICS: usize = 64;

/// The message of a panic.
fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".to_owned())
}

impl Execution {
    fn on_panic(&self, info: &PanicHookInfo<'_>) {
        let message = text(info.payload());
        // What is kept behind this execution is in memory of ours.
        let _ours = arena::outside();
        let (message, me) = (message.clone(), self.running.get());
        if FATAL.contains(&message.as_str()) {
            return self.prepare_for_abort(me);
        }
        let site =
            info.location().map_or(Site::Unknown, |place| Site::Place { file: keep(place.file()), line: place.line() });
        if let Ok(mut core) = self.core.try_borrow_mut() {
            let fiber = &mut core.fibers[me];
            fiber.panicking = true;
            self.panics.some_unwind.set(true);
            if fiber.panics.len() == MOST_PANICS {
                fiber.panics.remove(0);
            }
            fiber.panics.push((message, site));
            if core.captures.is_some() {
                self.capture(&core, Act::Panic);
            }
        }
    }

    /// std is about to abort: ends the run as failed, and the thread when the abort comes.
    fn prepare_for_abort(&self, me: ThreadId) {
        self.broken.set(true);
        if !self.unwinding.get()
            && let Ok(mut core) = self.core.try_borrow_mut()
        {
            let (said, site) = core.fibers[me].panics.pop().unwrap_or_default();
            let message = format!("{said} (in a destructor, while another panic unwound its thread: std would abort)");
            core.machine.panicked(me, message, site);
            core.machine.breaks_off(End::Complete);
        }
        #[cfg(unix)]
        crate::runtime::abort::catch_abort();
        #[cfg(not(unix))]
        self.abandon();
    }

    /// Runs a thread's code and catches its panic, which is then on record as one that left the thread.
    pub(super) fn catch(&self, me: ThreadId, code: &mut dyn FnMut()) -> Result<(), Box<dyn Any + Send>> {
        let result = catch_unwind(AssertUnwindSafe(code));
        if let Err(payload) = &result
            && !payload.is::<Teardown>()
        {
            let mut core = self.core.borrow_mut();
            let fiber = &mut core.fibers[me];
            fiber.panicking = false;
            // The program may have caught several, and gone on with one of them.
            let message = text(&**payload);
            let its_own = fiber.panics.drain(..).rev().find(|(said, _)| *said == message);
            let site = its_own.map_or(Site::Unknown, |(_, site)| site);
            if !self.unwinding.get() {
                core.machine.panicked(me, message, site);
            }
        }
        result
    }

    /// Whether the running thread is unwinding. std's answer covers the whole OS thread, on which others may unwind;
    /// it is the exact one where no other does.
    #[inline]
    pub(super) fn is_panicking(&self) -> bool {
        (std::thread::panicking() || self.panics.some_unwind.get()) && self.tell_who_panics()
    }

    #[cold]
    fn tell_who_panics(&self) -> bool {
        if !std::thread::panicking() {
            if self.panics.some_unwind.take() {
                self.core.borrow_mut().fibers.values_mut().for_each(|fiber| fiber.panicking = false);
            }
            return false;
        }
        let me = self.running.get();
        let mut core = self.core.borrow_mut();
        if !self.panics.left_behind.get() {
            let others = core.fibers.iter().any(|(id, fiber)| id != me && fiber.panicking);
            core.fibers[me].panicking |= !others;
            self.panics.some_unwind.set(true);
        }
        core.fibers[me].panicking
    }
}
