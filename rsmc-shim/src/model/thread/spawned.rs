//! Starting threads and waiting for their end.

use std::cell::UnsafeCell;
use std::fmt;
use std::io;
use std::sync::{Arc as StdArc, OnceLock};
use std::thread::Result;

use rsmc_core::base::ThreadId;
use rsmc_core::runtime::{Tag, hook};

use crate::model::thread::handle::Thread;

/// The state that a modelled thread shares with the thread that waits for it.
struct Packet<T> {
    /// Its end, where that is a step.
    end: Tag,
    /// The thread writes it, once; the last owner of the packet takes it.
    result: UnsafeCell<Option<Result<T>>>,
}

// SAFETY: no code reads the result through a shared packet, and only the thread itself writes it. That it may be
// another OS thread's is as for `JoinHandle`.
unsafe impl<T> Send for Packet<T> {}
// SAFETY: see above.
unsafe impl<T> Sync for Packet<T> {}

/// A modelled thread, seen from outside.
pub(super) struct Started<T> {
    pub(super) id: ThreadId,
    /// Its handle, from the first request on.
    thread: OnceLock<Thread>,
    packet: StdArc<Packet<T>>,
}

/// Starts a modelled thread.
///
/// # Safety
/// All that `code` and its result borrow must live until the thread has ended or its execution is over and its threads
/// are unwound. A thread that can neither run on nor be unwound never runs again, and its memory is leaked.
#[track_caller]
pub(super) unsafe fn start<'a, T: 'a>(name: Option<String>, code: impl FnOnce() -> T + 'a) -> Started<T> {
    if let Some(name) = &name {
        assert!(!name.contains('\0'), "thread name may not contain interior null bytes");
    }
    let packet = StdArc::new(Packet { end: Tag::new(), result: UnsafeCell::new(None) });
    let theirs = StdArc::clone(&packet);
    let main = Box::new(move || end(hook::threads::catch(code), theirs));
    // SAFETY: the caller promises it.
    unsafe { start_main(name, main, packet) }
}

/// Starts a modelled thread that runs `main`, which writes the packet. It is compiled for each `T` once, whatever the
/// thread runs.
///
/// # Safety
/// As for [`start`].
#[track_caller]
unsafe fn start_main<'a, T: 'a>(
    name: Option<String>,
    main: Box<dyn FnOnce() + 'a>,
    packet: StdArc<Packet<T>>,
) -> Started<T> {
    // SAFETY: only the lifetime changes, and the caller answers for it.
    let main = unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'a>, Box<dyn FnOnce()>>(main) };
    let is_named = name.is_some();
    let started = Started { id: hook::threads::spawn(name, main), thread: OnceLock::new(), packet };
    if is_named {
        // When the execution is over, the check does not know the name any more.
        started.thread();
    }
    started
}

/// Ends a modelled thread whose code has this result.
fn end<T>(result: Result<T>, packet: StdArc<Packet<T>>) {
    if result.as_ref().is_err_and(|payload| hook::executions::is_teardown(&**payload)) {
        return;
    }
    // SAFETY: the thread is here once, and no code reads this before the thread's packet is gone.
    unsafe { *packet.result.get() = Some(result) };
    hook::threads::ending(&packet.end);
    // The result of a thread that no other waits for is dropped here, and its destructor may panic.
    drop(hook::threads::catch(|| drop(packet)));
}

impl<T> Started<T> {
    #[track_caller]
    pub(super) fn join(self) -> Result<T> {
        if hook::executions::in_run() {
            hook::threads::join(self.id);
        }
        // The packet of a thread that has ended is gone.
        match StdArc::into_inner(self.packet).and_then(|packet| packet.result.into_inner()) {
            Some(Ok(value)) => Ok(value),
            Some(Err(payload)) => {
                hook::threads::receive_panic(self.id);
                Err(payload)
            }
            // The thread was unwound with its execution, and so is the caller: no second panic.
            None => Err(Box::new("the execution of this thread is over")),
        }
    }

    pub(super) fn thread(&self) -> &Thread {
        self.thread.get_or_init(|| Thread::of_check(self.id))
    }

    #[track_caller]
    pub(super) fn is_finished(&self) -> bool {
        !hook::executions::in_run() || hook::threads::is_finished(self.id, &self.packet.end)
    }
}

/// The right to wait for a thread; mirrors [`std::thread::JoinHandle`]. Dropping it detaches the thread.
///
/// A detached thread of a check belongs to the execution, which ends when all threads have ended.
pub struct JoinHandle<T>(Kind<T>);

enum Kind<T> {
    Std(std::thread::JoinHandle<T>, Thread),
    Model(Started<T>),
}

// SAFETY: as for std: `spawn` asked for `T: Send`, or its caller promised (`spawn_unchecked`), and a shared handle
// gives out no `&T`.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: see above.
unsafe impl<T> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// The thread's handle.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Kind::Std(_, thread) => thread,
            Kind::Model(started) => started.thread(),
        }
    }

    /// Waits for the end of the thread.
    ///
    /// # Errors
    /// The payload of the panic that ended the thread.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            Kind::Std(handle, _) => handle.join(),
            Kind::Model(started) => started.join(),
        }
    }

    /// In a check: an execution may end while the thread waits, which is no deadlock then. For `rsmc-shuttle`, whose
    /// tasks nobody waits for without their handles.
    #[doc(hidden)]
    pub fn may_wait_for_ever(&self) {
        if let Kind::Model(started) = &self.0 {
            hook::threads::detach(started.id);
        }
    }

    /// Whether the thread has ended. In a check its end is a step from the first use of this on.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Kind::Std(handle, _) => handle.is_finished(),
            Kind::Model(started) => started.is_finished(),
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Starts a thread; mirrors [`std::thread::spawn`].
///
/// # Panics
/// If the operating system cannot start it. Never in a check.
#[track_caller]
pub fn spawn<F, T>(code: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(code).expect("failed to spawn thread")
}

/// Properties of a thread to be started; mirrors [`std::thread::Builder`]. In a check it starts a modelled thread,
/// with the stack that `Config::stack_size` says.
#[derive(Debug)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    pub(super) name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// No name, and a stack of the usual size.
    #[expect(clippy::new_without_default, reason = "std has no default either")]
    pub fn new() -> Self {
        Self { name: None, stack_size: None }
    }

    /// Gives the thread a name.
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// Asks for a stack of some bytes. In a check all stacks have the size that the check was given.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size);
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// If the operating system cannot start it. Never in a check.
    ///
    /// # Panics
    /// If the name contains a null byte.
    #[track_caller]
    pub fn spawn<F, T>(self, code: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.spawn_unchecked(code) }
    }

    /// Starts a thread that may borrow.
    ///
    /// # Safety
    /// As for [`std::thread::Builder::spawn_unchecked`]: the thread must be joined before what it borrows ends.
    ///
    /// # Errors
    /// If the operating system cannot start it. Never in a check.
    ///
    /// # Panics
    /// If the name contains a null byte.
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, code: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        if hook::executions::in_run() {
            // SAFETY: the caller promises that what the thread borrows outlives it.
            return Ok(JoinHandle(Kind::Model(unsafe { start(self.name, code) })));
        }
        // In a box, std's function is compiled for each `T` once, and not for every thread of a test program.
        let code: Box<dyn FnOnce() -> T + Send + '_> = Box::new(code);
        // SAFETY: the caller promises what std asks for.
        let handle = unsafe { self.into_std().spawn_unchecked(code)? };
        let thread = Thread::of_std(handle.thread().clone());
        Ok(JoinHandle(Kind::Std(handle, thread)))
    }

    /// Starts a thread of a check. What it runs need not be `Send`, since all threads of a check are on one OS thread.
    /// For `rsmc-loom` and `rsmc-shuttle`: `loom::thread::spawn` and `shuttle::future::spawn_local` ask for no `Send`.
    ///
    /// # Panics
    /// Outside a check, or if the name contains a null byte.
    #[doc(hidden)]
    #[track_caller]
    pub fn spawn_in_check<F, T>(self, code: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        assert!(hook::executions::in_run(), "a thread of a model is started outside of a check");
        // SAFETY: nothing is borrowed.
        JoinHandle(Kind::Model(unsafe { start(self.name, code) }))
    }

    pub(super) fn into_std(self) -> std::thread::Builder {
        let mut builder = std::thread::Builder::new();
        if let Some(name) = self.name {
            builder = builder.name(name);
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }
}
