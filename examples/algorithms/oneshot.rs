//! A channel for one value, whose receiver is a future.
//!
//! Source. In the manner of the crates `oneshot` and `tokio::sync::oneshot`: one state says who may use the value and
//! the receiver's waker.
//!
//! | state | meaning | the value is used by | the waker is used by |
//! | --- | --- | --- | --- |
//! | `EMPTY` | nothing has happened | the sender | the receiver |
//! | `WAITING` | the receiver left a waker | the sender | the sender |
//! | `SENT` | there is a value | the receiver | nobody any more |
//! | `CLOSED` | one side gave up | the sender | nobody any more |
//!
//! Orderings. Every change hands something over, and so releases; who finds out about it acquires.
//!
//! The mistakes. All show under every model. The first three are data races:
//!
//! - [`send_relaxed`](Sender::send_relaxed) does not release the value.
//! - [`poll_in_place`](Receiver::poll_in_place) replaces the waker of a receiver that is polled again, while the sender
//!   may be using it: it has to be taken back first. So in `async-oneshot` (issue 20 of irrustible/async-oneshot) and
//!   `kanal` (issue 14 of fereidani/kanal).
//! - [`send_over_closed`](Sender::send_over_closed) says `SENT` though the receiver has closed the channel, and then
//!   takes the value back; but the receiver sees a value, and takes it, too. Once so in `tokio` (issue 4225 of
//!   tokio-rs/tokio).
//! - [`poll_overwriting`](Receiver::poll_overwriting) says `WAITING` whatever the state is now: a value that was sent
//!   since it looked is never found. A deadlock.
//! - [`abandon`](Sender::abandon) closes the channel and wakes nobody: a receiver that waits is never told. A deadlock.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::future::block_on;
use rsmc_shim::sync::Arc;
use rsmc_shim::sync::atomic::AtomicU8;
use rsmc_shim::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed};
use rsmc_shim::thread;

const EMPTY: u8 = 0;
const WAITING: u8 = 1;
const SENT: u8 = 2;
const CLOSED: u8 = 3;

/// The end that sends. Dropping it closes the channel.
pub struct Sender<T>(Option<Arc<Channel<T>>>);

/// The end that receives: a future of the value. Dropping it closes the channel.
pub struct Receiver<T>(Arc<Channel<T>>);

/// There is no value, and there will be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

struct Channel<T> {
    state: AtomicU8,
    value: UnsafeCell<Option<T>>,
    waker: UnsafeCell<Option<Waker>>,
}

// SAFETY: there are one sender and one receiver, and the state tells whose the value and the waker are.
unsafe impl<T: Send> Sync for Channel<T> {}

/// A channel's two ends.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (state, value, waker) = (AtomicU8::new(EMPTY), UnsafeCell::new(None), UnsafeCell::new(None));
    let channel = Arc::new(Channel { state, value, waker });
    (Sender(Some(Arc::clone(&channel))), Receiver(channel))
}

impl<T> Sender<T> {
    /// Sends a value.
    ///
    /// # Errors
    /// The value, if the receiver is gone or has closed the channel.
    pub fn send(self, value: T) -> Result<(), T> {
        self.put(value, |channel| channel.finish(SENT, AcqRel))
    }

    /// As [`send`](Self::send), but broken: the value need not be visible to the receiver.
    pub fn send_relaxed(self, value: T) -> Result<(), T> {
        self.put(value, |channel| channel.finish(SENT, Relaxed))
    }

    /// As [`send`](Self::send), but broken: for a moment there seems to be a value in a closed channel.
    pub fn send_over_closed(self, value: T) -> Result<(), T> {
        self.put(value, |channel| channel.state.swap(SENT, AcqRel))
    }

    /// As dropping it, but broken: a receiver that waits is not woken.
    pub fn abandon(mut self) {
        self.take().finish(CLOSED, AcqRel);
    }

    fn put(mut self, value: T, finish: fn(&Channel<T>) -> u8) -> Result<(), T> {
        let channel = self.take();
        // SAFETY: the value is the sender's until it says `SENT`.
        channel.value.with_mut(|place| unsafe { *place = Some(value) });
        match finish(&channel) {
            // SAFETY: it stays the sender's. (Where `finish` is broken it does not, but the checker runs one thread
            // at a time.)
            CLOSED => Err(channel.value.with_mut(|value| unsafe { (*value).take() }).expect("nobody took it")),
            before => {
                channel.wake_if(before == WAITING);
                Ok(())
            }
        }
    }

    fn take(&mut self) -> Arc<Channel<T>> {
        self.0.take().expect("only the last act of a sender takes it")
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Some(channel) = self.0.take() {
            let before = channel.finish(CLOSED, AcqRel);
            channel.wake_if(before == WAITING);
        }
    }
}

impl<T> Channel<T> {
    /// The sender's last change, unless the channel is closed; returns the state before.
    fn finish(&self, state: u8, order: Ordering) -> u8 {
        let open = |now| (now != CLOSED).then_some(state);
        // The compare-exchange orders; what the load finds is confirmed by it, or was `CLOSED`.
        self.state.fetch_update(order, Acquire, open).unwrap_or_else(|closed| closed)
    }

    /// Wakes the receiver if it waited at the sender's last change.
    fn wake_if(&self, waited: bool) {
        // SAFETY: who changes `WAITING` to something else owns the waker.
        let waker = waited.then(|| self.waker.with_mut(|waker| unsafe { (*waker).take() })).flatten();
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T> Receiver<T> {
    /// Says that no value is wanted any more. One that was sent before can still be received.
    pub fn close(&self) {
        let open = |now| (now != SENT && now != CLOSED).then_some(CLOSED);
        // If it fails, there is nothing to close.
        self.0.state.fetch_update(AcqRel, Acquire, open).ok();
    }

    /// The value, if it was sent; otherwise leaves a waker, to be used when it is or will not be.
    pub fn poll_value(&self, context: &mut Context<'_>) -> Poll<Result<T, Closed>> {
        // The sender may be about to use the waker that is there, unless it is taken back.
        match self.0.state.compare_exchange(WAITING, EMPTY, AcqRel, Acquire) {
            Ok(_) | Err(EMPTY) => self.wait(context.waker()),
            Err(last) => self.end(last),
        }
    }

    /// As [`poll_value`](Self::poll_value), but broken: it replaces a waker that is there already.
    pub fn poll_in_place(&self, context: &mut Context<'_>) -> Poll<Result<T, Closed>> {
        match self.0.state.load(Acquire) {
            WAITING => {
                self.set_waker(context.waker());
                match self.0.state.load(Acquire) {
                    WAITING => Poll::Pending,
                    last => self.end(last),
                }
            }
            EMPTY => self.wait(context.waker()),
            last => self.end(last),
        }
    }

    /// As [`poll_value`](Self::poll_value), but broken: what was sent meanwhile is forgotten.
    pub fn poll_overwriting(&self, context: &mut Context<'_>) -> Poll<Result<T, Closed>> {
        match self.0.state.compare_exchange(WAITING, EMPTY, AcqRel, Acquire) {
            Ok(_) | Err(EMPTY) => {
                self.set_waker(context.waker());
                self.0.state.store(WAITING, Ordering::Release);
                Poll::Pending
            }
            Err(last) => self.end(last),
        }
    }

    /// Leaves a waker where there is none.
    fn wait(&self, waker: &Waker) -> Poll<Result<T, Closed>> {
        self.set_waker(waker);
        match self.0.state.compare_exchange(EMPTY, WAITING, AcqRel, Acquire) {
            Ok(_) => Poll::Pending,
            Err(last) => self.end(last),
        }
    }

    fn set_waker(&self, waker: &Waker) {
        // SAFETY: the waker is the receiver's in `EMPTY`. (Where the poll is broken it may be the sender's, but the
        // checker runs one thread at a time.)
        self.0.waker.with_mut(|place| unsafe { *place = Some(waker.clone()) });
    }

    fn end(&self, last: u8) -> Poll<Result<T, Closed>> {
        let sent = last == SENT;
        // SAFETY: what was sent is the receiver's.
        let value = sent.then(|| self.0.value.with_mut(|value| unsafe { (*value).take() })).flatten();
        Poll::Ready(value.ok_or(Closed))
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, Closed>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_value(context)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.close();
    }
}

type Sends = fn(Sender<u32>, u32) -> Result<(), u32>;
type Polls = fn(&Receiver<u32>, &mut Context<'_>) -> Poll<Result<u32, Closed>>;

/// A receiver that is polled by one task, and then by another that waits, gets the value.
pub fn correct() {
    is_received(Sender::send, Receiver::poll_value);
}

/// A sender that is dropped is noticed.
pub fn correct_dropped() {
    is_noticed(drop);
}

/// A receiver that closes the channel, and then looks: either side has the value.
pub fn correct_closing() {
    one_side_has_it(Sender::send);
}

/// A value that nobody receives is dropped once.
pub fn correct_receiver_dropped() {
    let (sender, receiver) = channel();
    let value = Arc::new(());
    thread::scope(|scope| {
        scope.spawn(|| sender.send(Arc::clone(&value)).is_ok());
        drop(receiver);
    });
    assert_eq!(Arc::strong_count(&value), 1, "what nobody received is dropped");
}

/// A `send` that does not release.
pub fn broken_send_relaxed() {
    is_received(Sender::send_relaxed, Receiver::poll_value);
}

/// A receiver that replaces its waker in place.
pub fn broken_poll_in_place() {
    is_received(Sender::send, Receiver::poll_in_place);
}

/// A receiver that overwrites the state.
pub fn broken_poll_overwriting() {
    is_received(Sender::send, Receiver::poll_overwriting);
}

/// A sender that is gone without a word.
pub fn broken_abandoned() {
    is_noticed(Sender::abandon);
}

/// A `send` into a channel that is being closed.
pub fn broken_send_over_closed() {
    one_side_has_it(Sender::send_over_closed);
}

fn is_received(send: Sends, poll: Polls) {
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        scope.spawn(move || send(sender, 7).expect("the receiver is there"));
        let received = match poll(&receiver, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(received) => received,
            Poll::Pending => block_on(std::future::poll_fn(|context| poll(&receiver, context))),
        };
        assert_eq!(received, Ok(7));
    });
}

fn is_noticed(leave: fn(Sender<u32>)) {
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        scope.spawn(move || leave(sender));
        assert_eq!(block_on(receiver), Err(Closed));
    });
}

fn one_side_has_it(send: Sends) {
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        let sender = scope.spawn(move || send(sender, 7));
        receiver.close();
        let received = block_on(receiver);
        let sent = sender.join().expect("the sender does not panic");
        assert_eq!(sent.is_ok(), received.is_ok(), "one side has the value: {sent:?}, {received:?}");
    });
}
