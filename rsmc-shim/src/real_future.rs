//! `block_on` and `AtomicWaker` on locks of std: for the ordinary build, and for the modelled one outside a check.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Polls a future until it is ready, and returns its output. The calling thread waits whenever the future is pending,
/// until its waker is used. It does not use the token of [`park`](std::thread::park).
///
/// # Panics
/// If the future panics.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = future;
    // SAFETY: the future is not moved from here to the end of the function, where it is dropped. (`pin!` needs
    // Rust 1.68.)
    let mut future = unsafe { Pin::new_unchecked(&mut future) };
    let token = Arc::new(Token { available: Mutex::new(false), given: Condvar::new() });
    let waker = Waker::from(Arc::clone(&token));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        token.take();
    }
}

/// The token that a blocked thread waits for.
struct Token {
    available: Mutex<bool>,
    given: Condvar,
}

impl Token {
    fn take(&self) {
        let available = self.available.lock().expect("nothing panics here");
        *self.given.wait_while(available, |available| !*available).expect("nothing panics here") = false;
    }
}

impl Wake for Token {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.available.lock().expect("nothing panics here") = true;
        self.given.notify_one();
    }
}

/// A place for one waker, which a task leaves there and another thread uses; as in the crate `futures`.
///
/// A task registers its waker and *then* looks whether it has to wait: a wake-up that comes earlier finds no waker.
/// What a thread did before a call of [`wake`](Self::wake) that found none is visible after the next
/// [`register`](Self::register).
#[derive(Default)]
pub struct AtomicWaker(Mutex<Option<Waker>>);

impl AtomicWaker {
    /// An `AtomicWaker` without a waker.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Leaves a clone of the waker, in place of the one that is there.
    pub fn register(&self, waker: &Waker) {
        let new = waker.clone();
        drop(self.replace(Some(new)));
    }

    /// Takes the waker out and uses it. Without a waker it does nothing.
    pub fn wake(&self) {
        if let Some(waker) = self.take() {
            waker.wake();
        }
    }

    /// Takes the waker out.
    #[must_use]
    pub fn take(&self) -> Option<Waker> {
        self.replace(None)
    }

    /// Replaces the waker. The old one must not be used or dropped under the lock: that runs code of others.
    fn replace(&self, waker: Option<Waker>) -> Option<Waker> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), waker)
    }
}

impl fmt::Debug for AtomicWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AtomicWaker")
    }
}
