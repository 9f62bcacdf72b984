//! The signals of a process that dies, and the one that stops the thread of a check.
//!
//! Problem. A signal handler may neither allocate nor take a lock, and its stack may be small. And the data of an
//! execution belongs to one OS thread, which changes it while it runs.
//!
//! Method. The handler of a signal writes down the check whose thread dies and the signal, wakes the watchdog through a
//! pipe, and waits. The watchdog (`watch`) looks at the execution, whose thread stands in the handler, and answers when
//! the last words are said. Then the handler passes the signal to the handler that was there before, and the process
//! dies as it would have. `exit` is seen by `atexit`. To look at an execution that goes on, the watchdog sends its
//! thread SIGURG, which is ignored elsewhere; its handler waits until it is let go.
//!
//! Overflows of the stacks of modelled threads are faults, too: these go to the handler of the library that made the
//! stacks, which leaves them for good. That one prints and allocates where a fault is none of its own, so it is asked
//! for its own ones only.
//!
//! Limits. Where the watchdog cannot answer, as where it waits for a lock of the allocator that the dying thread holds,
//! the handler gives up after some seconds, and says just that.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGURG, c_int, c_void, sigaction, siginfo_t};

use crate::runtime::checks::{self, Check, Fate, Moment};
use crate::runtime::current::in_current;
use crate::runtime::execution::Execution;
use crate::runtime::fibers::Coroutine;

/// The signals that end a process by its own doing.
const DEADLY: [c_int; 5] = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT];

/// The number of milliseconds that a thread which dies waits for its last words.
const PATIENCE: u32 = 10_000;

/// The time that a thread may take to stop.
const TO_STOP: Duration = Duration::from_secs(2);

/// The message if there are no last words.
const NO_WORDS: &[u8] = b"\nrsmc: this process dies in the middle of a check, and memory is in no state to say where\n";

/// The two ends of the pipe by which the watchdog is woken.
static PIPE: [AtomicI32; 2] = [AtomicI32::new(-1), AtomicI32::new(-1)];
/// The watchdog's thread.
static WATCHDOG: AtomicUsize = AtomicUsize::new(0);

/// Whether a thread dies: [`NOBODY`] or one of the states that follow.
static DEATH: AtomicU32 = AtomicU32::new(NOBODY);
const NOBODY: u32 = 0;
/// A thread is writing down [`WHO`] and [`OF_WHAT`].
const BEGUN: u32 = 1;
/// They are written down.
const ASKED: u32 = 2;
const TOLD: u32 = 3;
/// The check whose thread dies, or null, and the signal of which it dies; 0 is `exit`.
static WHO: AtomicPtr<Check> = AtomicPtr::new(std::ptr::null_mut());
static OF_WHAT: AtomicI32 = AtomicI32::new(0);

/// An `exit` is meant.
static IS_MEANT: AtomicBool = AtomicBool::new(false);

/// The check whose thread is to stop, and whether it stands.
static TO_STAND: AtomicPtr<Check> = AtomicPtr::new(std::ptr::null_mut());
static STANDS: AtomicPtr<Check> = AtomicPtr::new(std::ptr::null_mut());

/// The handlers of a signal that were there before ours.
struct Before {
    signal: c_int,
    /// The handler that gets it after ours.
    action: sigaction,
    /// The handler that sees overflows of the stacks of modelled threads.
    of_overflows: sigaction,
}

/// The handlers of all signals that were there before ours. It is set before there are ours.
static BEFORE: OnceLock<Vec<Before>> = OnceLock::new();

fn before(signal: c_int) -> Option<&'static Before> {
    BEFORE.get()?.iter().find(|before| before.signal == signal)
}

/// The OS thread that calls.
pub(super) fn this_thread() -> usize {
    // SAFETY: it has no conditions. A `pthread_t` is a number or a pointer.
    unsafe { libc::pthread_self() as usize }
}

/// Starts the watchdog, which does `watch`, and installs the handlers, once in the life of the process.
pub(super) fn install(stack_size: usize, watch: fn()) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let mut ends = [-1; 2];
        // SAFETY: there is room for two numbers.
        if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
            return;
        }
        for (own, end) in PIPE.iter().zip(ends) {
            // SAFETY: the files were just opened. Neither is to block a thread or to outlive an `exec`.
            unsafe {
                libc::fcntl(end, libc::F_SETFL, libc::O_NONBLOCK);
                libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC);
            }
            own.store(end, Ordering::Release);
        }
        let dog = std::thread::Builder::new().name("rsmc-watchdog".to_owned()).spawn(move || {
            WATCHDOG.store(this_thread(), Ordering::Release);
            watch();
        });
        if dog.is_ok() {
            handle_signals(stack_size);
            // SAFETY: the function has the right type, and does not unwind.
            unsafe { libc::atexit(on_exit) };
        }
    });
}

fn handle_signals(stack_size: usize) {
    let now = |signal| {
        // SAFETY: a zeroed `sigaction` is a valid one, and asking changes nothing.
        unsafe {
            let mut action: sigaction = std::mem::zeroed();
            sigaction(signal, std::ptr::null(), &raw mut action);
            action
        }
    };
    let signals = || DEADLY.into_iter().chain([SIGURG]);
    let at_first: Vec<sigaction> = signals().map(now).collect();
    // The first stack of the process installs the handler of overflows.
    Coroutine::new(stack_size).retire();
    let before = signals().zip(at_first);
    let before = before.map(|(signal, action)| Before { signal, action, of_overflows: now(signal) }).collect();
    BEFORE.get_or_init(|| before);
    for signal in signals() {
        let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
            if signal == SIGURG { on_stop } else { on_death };
        // SAFETY: a zeroed `sigaction` is a valid one. The handlers do what handlers may do.
        unsafe {
            let mut action: sigaction = std::mem::zeroed();
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            action.sa_sigaction = handler as *const () as libc::sighandler_t;
            sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Whether an address is where the stack of the running modelled thread ends.
fn is_overflow(address: usize) -> bool {
    /// More than the guard, the rounding of the size, and what lies above the first frame.
    const MARGIN: usize = 128 << 10;
    // SAFETY: an execution of the check goes on here.
    let Some(check) = (unsafe { checks::here().as_ref() }) else { return false };
    let is_there = |execution: &Execution| {
        let Some(suspender) = execution.suspender.get() else { return false };
        let (top, size) = (suspender.base(), check.stack_size);
        (top.saturating_sub(size + MARGIN)..top).contains(&address)
    };
    in_current(is_there).unwrap_or(false)
}

extern "C" fn on_death(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(before) = before(signal) else { return };
    // SAFETY: the system passes a pointer to what it knows of the signal.
    let code = unsafe { (*info).si_code };
    // SAFETY: as before; of these two signals it knows an address.
    if [SIGSEGV, SIGBUS].contains(&signal) && code > 0 && is_overflow(unsafe { (*info).si_addr() }.addr()) {
        let handler = before.of_overflows.sa_sigaction;
        if ![libc::SIG_DFL, libc::SIG_IGN].contains(&handler) {
            // SAFETY: the handler of overflows takes three arguments, and was installed by the library that made the
            // stack.
            unsafe {
                let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = std::mem::transmute(handler);
                handler(signal, info, context);
            }
            // It was no overflow.
        }
    }
    ask(signal);
    // SAFETY: the action is what the system gave us. A fault comes again by itself, and what was sent is sent again.
    unsafe {
        sigaction(signal, &raw const before.action, std::ptr::null_mut());
        if code <= 0 {
            libc::raise(signal);
        }
    }
}

extern "C" fn on_exit() {
    ask(0);
}

/// Lets the process end by `exit` from now on without last words about the checks that go on.
pub(super) fn expect_exit() {
    IS_MEANT.store(true, Ordering::Release);
}

/// Asks the watchdog for last words, and waits for them.
fn ask(of_what: c_int) {
    if this_thread() == WATCHDOG.load(Ordering::Acquire) {
        return; // It cannot wait for itself.
    }
    let check = checks::here().cast_mut();
    if of_what == 0 && check.is_null() && (IS_MEANT.load(Ordering::Acquire) || !checks::somebody_goes_on()) {
        return;
    }
    if DEATH.compare_exchange(NOBODY, BEGUN, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        WHO.store(check, Ordering::Relaxed);
        OF_WHAT.store(of_what, Ordering::Relaxed);
        DEATH.store(ASKED, Ordering::Release);
        wake();
    }
    for _ in 0..PATIENCE {
        if DEATH.load(Ordering::Acquire) == TOLD {
            return;
        }
        pause();
    }
    // SAFETY: the bytes are there.
    unsafe { libc::write(2, NO_WORDS.as_ptr().cast(), NO_WORDS.len()) };
}

/// Sleeps for a millisecond. A signal handler may call this.
fn pause() {
    // SAFETY: no file is looked at.
    unsafe { libc::poll(std::ptr::null_mut(), 0, 1) };
}

/// Wakes the watchdog. A signal handler may call this.
pub(super) fn wake() {
    // SAFETY: the byte is there. If the pipe is full, the watchdog wakes anyway.
    unsafe { libc::write(PIPE[1].load(Ordering::Acquire), [0_u8].as_ptr().cast(), 1) };
}

/// Sleeps until the watchdog is woken, or for so long. Returns the fate of a thread that dies, and the check whose
/// thread that is.
pub(super) fn sleep(time: Option<Duration>) -> Option<(Fate, Option<Stopped<'static>>)> {
    let time = time.map_or(-1, |time| c_int::try_from(time.as_millis()).unwrap_or(c_int::MAX));
    let file = PIPE[0].load(Ordering::Acquire);
    let mut files = [libc::pollfd { fd: file, events: libc::POLLIN, revents: 0 }];
    let mut bytes = [0_u8; 64];
    // SAFETY: there is one file in the list, and room for the bytes.
    unsafe {
        if libc::poll(files.as_mut_ptr(), 1, time) > 0 {
            libc::read(file, bytes.as_mut_ptr().cast(), bytes.len());
        }
    }
    if DEATH.load(Ordering::Acquire) != ASKED {
        return None;
    }
    let fate = match OF_WHAT.load(Ordering::Relaxed) {
        0 => Fate::Exit,
        signal => Fate::Signal(signal),
    };
    // SAFETY: the thread of that check waits in `ask`, and nothing of the check goes before it does.
    let check = unsafe { WHO.load(Ordering::Relaxed).as_ref() };
    Some((fate, check.map(|check| Stopped { check, is_dying: true, belongs_to_one_thread: PhantomData })))
}

/// Notes that the last words were said: the thread that waits for them may die.
pub(super) fn was_told() {
    DEATH.store(TOLD, Ordering::Release);
}

/// Ends the process, of which the last words were said.
pub(super) fn die() -> ! {
    was_told();
    std::process::abort()
}

/// A check whose thread stands in a signal handler, until this is dropped.
pub(super) struct Stopped<'a> {
    check: &'a Check,
    /// The thread does not go on after that.
    is_dying: bool,
    belongs_to_one_thread: PhantomData<*const ()>,
}

impl Stopped<'_> {
    pub(super) fn check(&self) -> &Check {
        self.check
    }

    /// Looks at the execution of the check; at nothing if there is none, or if the runtime is at work in it.
    pub(super) fn look<R>(&self, look: impl FnOnce(Option<Moment<'_>>) -> R) -> R {
        let execution: *const Execution = self.check.execution.load(Ordering::Acquire);
        // SAFETY: the execution goes on, and its thread stands. So no other thread looks at it or changes it.
        let Some(execution) = (unsafe { execution.as_ref() }) else { return look(None) };
        let Ok(core) = execution.core.try_borrow() else { return look(None) };
        let (run, observed) = (core.machine.run(), &core.observed);
        look(Some(Moment { run, thread: execution.running.get(), observed }))
    }
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        if !self.is_dying {
            TO_STAND.store(std::ptr::null_mut(), Ordering::Release);
        }
    }
}

/// Stops the thread of a check, which must be in the table of checks; `None` if it does not stop.
pub(super) fn stop(check: &Check) -> Option<Stopped<'_>> {
    let own = std::ptr::from_ref(check).cast_mut();
    STANDS.store(std::ptr::null_mut(), Ordering::Release);
    TO_STAND.store(own, Ordering::Release);
    let stopped = Stopped { check, is_dying: false, belongs_to_one_thread: PhantomData };
    // SAFETY: the thread of a check in the table has not ended.
    unsafe { libc::pthread_kill(check.thread as libc::pthread_t, SIGURG) };
    let start = Instant::now();
    while STANDS.load(Ordering::Acquire) != own {
        if start.elapsed() > TO_STOP {
            return None;
        }
        pause();
    }
    Some(stopped)
}

extern "C" fn on_stop(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let own = checks::here().cast_mut();
    if own.is_null() || TO_STAND.load(Ordering::Acquire) != own {
        return pass_on(signal, info, context);
    }
    let error = std::io::Error::last_os_error().raw_os_error();
    STANDS.store(own, Ordering::Release);
    while TO_STAND.load(Ordering::Acquire) == own {
        pause();
    }
    restore(error.unwrap_or(0));
}

/// Puts the thread's error number back.
fn restore(error: c_int) {
    #[cfg(any(target_os = "linux", target_os = "emscripten", target_os = "redox"))]
    // SAFETY: the place is the thread's own.
    unsafe {
        *libc::__errno_location() = error;
    }
    #[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
    // SAFETY: the place is the thread's own.
    unsafe {
        *libc::__error() = error;
    }
    let _ = error;
}

/// Passes a signal on that is not ours.
fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(before) = before(signal) else { return };
    let handler = before.action.sa_sigaction;
    if ![libc::SIG_DFL, libc::SIG_IGN].contains(&handler) {
        // SAFETY: it is a handler of this signal. One that takes a single argument does not look at the others.
        unsafe {
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = std::mem::transmute(handler);
            handler(signal, info, context);
        }
    }
}

/// Whether a call of the system with this number writes to a file.
pub(super) fn writes(call: i64) -> bool {
    #[cfg(target_os = "linux")]
    return [libc::SYS_write, libc::SYS_writev].map(i64::from).contains(&call);
    #[cfg(not(target_os = "linux"))]
    return call < 0;
}
