//! An executor of futures: each task is a thread of the check that polls its future to the end.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use rsmc_shim::future::block_on_at;
use rsmc_shim::sync::{Arc, Mutex, MutexGuard, PoisonError};
use rsmc_shim::thread::{Builder, JoinHandle as ThreadHandle};

pub use rsmc_shim::future::block_on;

/// Starts a task, which is polled to its end.
///
/// # Panics
/// Outside of a check.
///
/// ```
/// use rsmc_shuttle as shuttle;
/// use shuttle::future;
///
/// shuttle::check_dfs(
///     || {
///         let sum = future::block_on(async {
///             let three = future::spawn(async { 3 });
///             three.await.unwrap() + 4
///         });
///         assert_eq!(sum, 7);
///     },
///     None,
/// );
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    start(future)
}

/// As [`spawn`], of a future that need not be `Send`.
///
/// # Panics
/// Outside of a check.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    start(future)
}

#[track_caller]
fn start<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let place = Location::caller();
    let control = Arc::new(Mutex::new(Control::default()));
    let outcome = Arc::new(Mutex::new(Outcome { result: None, waiter: None }));
    rsmc_shim::label(&*control, "task control");
    rsmc_shim::label(&*outcome, "task outcome");
    let task = Task { future: Some(Box::pin(future)), control: Arc::clone(&control), outcome: Arc::clone(&outcome) };
    let thread = Builder::new().spawn_in_check(move || block_on_at(place, task));
    JoinHandle { control, outcome, thread }
}

/// The part of a task that all its handles share.
#[derive(Default)]
struct Control {
    is_aborted: bool,
    has_ended: bool,
    /// The waker of the task, which looks whether it is aborted.
    waker: Option<Waker>,
}

/// The part of a task that waits for whoever awaits it.
struct Outcome<T> {
    result: Option<Result<T, JoinError>>,
    waiter: Option<Waker>,
}

/// A future that runs another, unless it is aborted.
struct Task<F: Future> {
    future: Option<Pin<Box<F>>>,
    control: Arc<Mutex<Control>>,
    outcome: Arc<Mutex<Outcome<F::Output>>>,
}

/// The lock, also behind a panic: none of this module's code panics under it.
#[track_caller]
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<F: Future> Task<F> {
    /// Whether the task is aborted. If not, this waker is used when that changes.
    fn is_aborted(&self, waker: &Waker) -> bool {
        let mut control = lock(&self.control);
        if !control.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            control.waker = Some(waker.clone());
        }
        control.is_aborted
    }

    fn end(&mut self, result: Result<F::Output, JoinError>) {
        // Its destructors may use what belongs to the task.
        self.future = None;
        let waker = {
            let mut control = lock(&self.control);
            control.has_ended = true;
            control.waker.take()
        };
        drop(waker);
        let waiter = {
            let mut outcome = lock(&self.outcome);
            outcome.result = Some(result);
            outcome.waiter.take()
        };
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}

impl<F: Future> Future for Task<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let task = self.get_mut();
        if task.is_aborted(context.waker()) {
            task.end(Err(JoinError::Cancelled));
            return Poll::Ready(());
        }
        let future = task.future.as_mut().expect("a task that has ended is not polled");
        match future.as_mut().poll(context) {
            Poll::Ready(value) => {
                task.end(Ok(value));
                Poll::Ready(())
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

#[track_caller]
fn abort(control: &Mutex<Control>) {
    let waker = {
        let mut control = lock(control);
        if control.has_ended || std::mem::replace(&mut control.is_aborted, true) {
            return;
        }
        control.waker.clone()
    };
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// The right to await a task. Dropping it detaches the task: it goes on, and the execution may end while it waits.
pub struct JoinHandle<T> {
    control: Arc<Mutex<Control>>,
    outcome: Arc<Mutex<Outcome<T>>>,
    thread: ThreadHandle<()>,
}

impl<T> JoinHandle<T> {
    /// Makes the task end where it waits next. Who awaits it gets [`JoinError::Cancelled`], unless it has ended before.
    #[track_caller]
    pub fn abort(&self) {
        abort(&self.control);
    }

    /// Whether the task has ended.
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        lock(&self.control).has_ended
    }

    /// A handle that can only abort the task.
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(Arc::clone(&self.control))
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Clones and drops of a waker run code of others, which must not be under the lock.
        let waiter = context.waker().clone();
        let old = {
            let mut outcome = lock(&self.outcome);
            if let Some(result) = outcome.result.take() {
                return Poll::Ready(result);
            }
            outcome.waiter.replace(waiter)
        };
        drop(old);
        Poll::Pending
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        self.thread.may_wait_for_ever();
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// The right to abort a task.
#[derive(Clone)]
pub struct AbortHandle(Arc<Mutex<Control>>);

impl AbortHandle {
    /// As [`JoinHandle::abort`].
    #[track_caller]
    pub fn abort(&self) {
        abort(&self.0);
    }

    /// Whether the task has ended.
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        lock(&self.0).has_ended
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").finish_non_exhaustive()
    }
}

/// The reason for which a task has no output.
#[derive(Debug)]
pub enum JoinError {
    /// It was aborted.
    Cancelled,
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("task was cancelled")
    }
}

impl std::error::Error for JoinError {}

/// Lets other tasks run.
pub async fn yield_now() {
    let mut has_yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
