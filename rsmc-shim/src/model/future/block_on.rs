//! `block_on`.

use std::future::Future;
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use rsmc_core::base::ThreadId;
use rsmc_core::runtime::{Object, Tag, hook};
use rsmc_core::trace::{Action, Rmw, RmwKind};

use crate::real_future;

/// Polls a future until it is ready, and returns its output. The calling thread waits whenever the future is pending,
/// until its waker is used. It does not use the token of [`park`](crate::thread::park).
///
/// In a check it waits as by `park`, and the use of a waker is an `unpark`, by whichever thread; a report shows it at
/// the line of its `block_on`. Clones and drops of wakers are no steps. The future is polled only when a waker was
/// used, though executors may poll without cause. Where no thread can use one any more, that is a deadlock at this
/// line. A waker does nothing outside its execution.
///
/// # Panics
/// If the future panics.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    block_on_at(Location::caller(), future)
}

/// As [`block_on`], called at this place: in a check, waiting is reported there. For `rsmc-shuttle`, whose tasks are
/// threads that do nothing else.
#[doc(hidden)]
pub fn block_on_at<F: Future>(place: &'static Location<'static>, future: F) -> F::Output {
    let Some(execution) = hook::executions::execution() else { return real_future::block_on(future) };
    let mut future = pin!(future);
    let token = StdArc::new(Token::new(execution, place));
    let waker = Waker::from(StdArc::clone(&token));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        hook::calls::pending(token.place);
        token.wait();
    }
}

/// The token that a thread in [`block_on`] waits for.
struct Token {
    execution: u64,
    owner: Option<ThreadId>,
    tag: Tag,
    /// The call of `block_on`.
    place: &'static Location<'static>,
    /// The thread has used the waker itself since it last waited.
    given_by_owner: AtomicBool,
}

impl Token {
    fn new(execution: u64, place: &'static Location<'static>) -> Self {
        let owner = hook::threads::current();
        Self { execution, owner, tag: Tag::new(), place, given_by_owner: AtomicBool::new(false) }
    }

    /// Waits for the token and takes it.
    ///
    /// A future that wakes its own thread asks to be polled again when others have run: that is an iteration of a loop
    /// that waits. To give the token and take it at once would be two steps that change something, and the loop would
    /// not look like one. So the thread itself only sets a flag; a token that others gave is taken with it.
    fn wait(&self) {
        if self.given_by_owner.swap(false, Ordering::Relaxed) {
            hook::loops::hint_at(self.place);
            self.act(Action::Rmw(Rmw { kind: RmwKind::Swap, operand: 0, bits: 1 }), Ordering::Acquire);
        } else {
            self.act(Action::Park, Ordering::Acquire);
        }
    }

    /// An operation on the token, at the line of `block_on`: the use of a waker has no line of its own.
    fn act(&self, action: Action, order: Ordering) {
        let object = Object { tag: &self.tag, kind: "Waker", created: Some(self.place) };
        hook::objects::access_at(self.place, object, || 0, action, order, order);
    }
}

impl Wake for Token {
    fn wake(self: StdArc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &StdArc<Self>) {
        if hook::executions::execution() != Some(self.execution) {
            return;
        }
        if hook::threads::current() == self.owner {
            self.given_by_owner.store(true, Ordering::Relaxed);
        } else {
            self.act(Action::Unpark, Ordering::Release);
        }
    }
}
