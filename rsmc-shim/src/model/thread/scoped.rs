//! Threads that borrow from the frame that waits for them.

use std::cell::OnceCell;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread::Result;

use rsmc_core::base::ThreadId;
use rsmc_core::runtime::hook;

use crate::model::thread::handle::Thread;
use crate::model::thread::spawned::{Builder, Started, start};

/// The place where threads that borrow are started; mirrors [`std::thread::Scope`]. In a check they are modelled
/// threads.
pub struct Scope<'scope, 'env: 'scope> {
    kind: Kind<'scope, 'env>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

enum Kind<'scope, 'env: 'scope> {
    Std(&'scope std::thread::Scope<'scope, 'env>),
    /// The threads started so far.
    Model(Mutex<Vec<ThreadId>>),
}

/// Runs `body`, which may start threads that borrow, and waits for them; mirrors [`std::thread::scope`]. In a check
/// they are modelled threads.
///
/// # Panics
/// As `body` does; else, if a thread panicked that was not joined.
#[track_caller]
pub fn scope<'env, F, T>(body: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    if !hook::executions::in_run() {
        let (mut body, mut value) = (Some(body), None);
        scope_outside(&mut |scope| value = body.take().map(|body| body(scope)));
        return value.expect("the body has returned");
    }
    let kind = Kind::Model(Mutex::new(Vec::new()));
    let scope = Scope { kind, scope: PhantomData, env: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    let panicked = scope.join_all();
    match result {
        Err(payload) => resume_unwind(payload),
        Ok(_) if panicked => panic!("a scoped thread panicked"),
        Ok(value) => value,
    }
}

/// Runs `body` once, with std's threads. It is compiled once, not for every scope of a test program.
fn scope_outside<'env>(body: &mut dyn for<'scope> FnMut(&'scope Scope<'scope, 'env>)) {
    let place: OnceCell<Scope<'static, 'static>> = OnceCell::new();
    std::thread::scope(|inner| {
        // SAFETY: only lifetimes change. `place` lives until std's scope returns, which is when the last thread that
        // may use it has ended, and no code sees the longer lifetimes.
        let scope: &Scope<'_, 'env> = unsafe {
            let inner: &'static std::thread::Scope<'static, 'static> = std::mem::transmute(inner);
            let kind = Kind::Std(inner);
            let scope = place.get_or_init(|| Scope { kind, scope: PhantomData, env: PhantomData });
            std::mem::transmute(scope)
        };
        body(scope);
    });
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread that may borrow what outlives the scope.
    ///
    /// # Panics
    /// If the operating system cannot start it. Never in a check.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, code: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new().spawn_scoped(self, code).expect("failed to spawn thread")
    }

    /// Waits for all threads; true if a thread left a panic that was not received.
    #[track_caller]
    fn join_all(&self) -> bool {
        let Kind::Model(children) = &self.kind else { unreachable!("std waits for its own threads") };
        let mut panicked = false;
        // A thread that is waited for may start others.
        for nth in 0.. {
            let children = children.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(&child) = children.get(nth) else { break };
            drop(children);
            hook::threads::join(child);
            panicked |= hook::threads::receive_panic(child);
        }
        panicked
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl Builder {
    /// Starts a thread in a scope.
    ///
    /// # Errors
    /// If the operating system cannot start it. Never in a check.
    ///
    /// # Panics
    /// If the name contains a null byte.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        code: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let kind = match &scope.kind {
            Kind::Std(inner) => {
                // In a box: see `Builder::spawn_unchecked`.
                let code: Box<dyn FnOnce() -> T + Send + 'scope> = Box::new(code);
                let handle = self.into_std().spawn_scoped(inner, code)?;
                let thread = Thread::of_std(handle.thread().clone());
                HandleKind::Std(handle, thread)
            }
            Kind::Model(children) => {
                // SAFETY: `scope` waits for the thread before `'scope` ends, whether its body returns or panics. If
                // the execution ends before, its threads are left or unwound, the youngest first, so this one before
                // the frame that it borrows from.
                let started = unsafe { start(self.name, code) };
                children.lock().unwrap_or_else(PoisonError::into_inner).push(started.id);
                HandleKind::Model(started)
            }
        };
        Ok(ScopedJoinHandle { kind, scope: PhantomData })
    }
}

/// The right to wait for a thread of a scope; mirrors [`std::thread::ScopedJoinHandle`]. In a check it waits for the
/// end of the modelled thread.
pub struct ScopedJoinHandle<'scope, T> {
    kind: HandleKind<'scope, T>,
    scope: PhantomData<&'scope mut &'scope ()>,
}

enum HandleKind<'scope, T> {
    Std(std::thread::ScopedJoinHandle<'scope, T>, Thread),
    Model(Started<T>),
}

impl<T> ScopedJoinHandle<'_, T> {
    /// The thread's handle.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.kind {
            HandleKind::Std(_, thread) => thread,
            HandleKind::Model(started) => started.thread(),
        }
    }

    /// Waits for the end of the thread.
    ///
    /// # Errors
    /// The payload of the panic that ended the thread.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.kind {
            HandleKind::Std(handle, _) => handle.join(),
            HandleKind::Model(started) => started.join(),
        }
    }

    /// Whether the thread has ended; see [`JoinHandle::is_finished`](super::JoinHandle::is_finished).
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.kind {
            HandleKind::Std(handle, _) => handle.is_finished(),
            HandleKind::Model(started) => started.is_finished(),
        }
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
