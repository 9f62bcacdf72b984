//! Mirrors [`std::sync::mpsc`].
//!
//! A channel that is created in a check is modelled, and belongs to that execution: used outside of it, it panics. A
//! channel that is created outside is std's own; in a check it panics where it would have to wait. Both may be dropped
//! anywhere.
//!
//! In a check every operation on a channel is ordered with the others as if each took a lock of it, which is more than
//! std promises; so is the drop of the last [`Sender`]. Where a thread waits, the thread that brings what it needs
//! completes its operation. [`Receiver::recv_timeout`] ends without a message if there is none when it has its turn,
//! and every turn is explored. A check does not recognise a loop that asks for a message again and again as waiting;
//! unless the loop looks at the [`time`](crate::time), it ends at the limit of steps.

mod channel;
mod iter;
mod message;
mod receiver;
mod sender;

use std::panic::Location;

use rsmc_core::runtime::hook;

use crate::model::mpsc::channel::Channel;

type Place = &'static Location<'static>;

pub use iter::{IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use sender::{Sender, SyncSender};
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// A channel without a limit; mirrors [`std::sync::mpsc::channel`]. Modelled if it is called in a check.
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    match hook::executions::execution() {
        Some(execution) => {
            let (sender, receiver) = Channel::create(execution, None);
            (Sender::in_run(sender), Receiver::in_run(receiver))
        }
        None => {
            let (sender, receiver) = std::sync::mpsc::channel();
            (Sender::outside(sender), Receiver::outside(receiver))
        }
    }
}

/// A channel for at most `bound` messages that were not received; mirrors [`std::sync::mpsc::sync_channel`]. Modelled
/// if it is called in a check.
///
/// With 0, a message passes from hand to hand.
#[must_use]
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    match hook::executions::execution() {
        Some(execution) => {
            let (sender, receiver) = Channel::create(execution, Some(bound));
            (SyncSender::in_run(sender), Receiver::in_run(receiver))
        }
        None => {
            let (sender, receiver) = std::sync::mpsc::sync_channel(bound);
            (SyncSender::outside(sender), Receiver::outside(receiver))
        }
    }
}

/// An end of std that is used: a check does not model it, and takes note of it.
fn of_std<T>(end: &T) -> &T {
    hook::executions::unmodelled();
    end
}

/// Panics: a channel of std is used in a check, and nothing there can end its wait.
#[cold]
#[track_caller]
fn would_wait(place: Place) -> ! {
    let (file, line) = (place.file(), place.line());
    panic!("at {file}:{line} a channel that was created outside of the check would have to wait: create it in the body")
}
