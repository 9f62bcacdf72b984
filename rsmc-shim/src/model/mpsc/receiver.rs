//! `Receiver`.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::mpsc::{self as std_mpsc, RecvError, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use rsmc_core::runtime::hook;

use crate::model::mpsc::channel::ReceivingEnd;
use crate::model::mpsc::iter::{IntoIter, Iter, TryIter};
use crate::model::mpsc::{Place, of_std, would_wait};

/// Mirrors [`std::sync::mpsc::Receiver`]. In a check every operation is a step, and dropping it is one.
///
/// As in std, it may be sent to another thread but not shared:
///
/// ```compile_fail,E0277
/// fn sync<T: Sync>() {}
/// sync::<rsmc_shim::sync::mpsc::Receiver<u8>>();
/// ```
/// ```compile_fail,E0277
/// fn send<T: Send>() {}
/// send::<rsmc_shim::sync::mpsc::Sender<*const u8>>();
/// ```
pub struct Receiver<T>(Kind<T>);

/// By where the channel was created.
enum Kind<T> {
    Outside(std_mpsc::Receiver<T>),
    InRun(ReceivingEnd<T>),
}

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Receiver<T> {
    pub(super) fn outside(receiver: std_mpsc::Receiver<T>) -> Self {
        Self(Kind::Outside(receiver))
    }

    pub(super) fn in_run(receiver: ReceivingEnd<T>) -> Self {
        Self(Kind::InRun(receiver))
    }

    /// Receives a message if there is one.
    ///
    /// # Errors
    /// If there is none.
    ///
    /// # Panics
    /// If the channel belongs to a check, and this is not the same execution of it.
    #[inline(always)]
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        hook::loops::stand();
        self.poll()
    }

    #[track_caller]
    fn poll(&self) -> Result<T, TryRecvError> {
        self.try_recv_at(Location::caller())
    }

    #[track_caller]
    pub(super) fn try_recv_at(&self, place: Place) -> Result<T, TryRecvError> {
        match &self.0 {
            Kind::Outside(receiver) => of_std(receiver).try_recv(),
            Kind::InRun(receiver) => receiver.try_recv(place),
        }
    }

    /// Receives a message; waits until there is one.
    ///
    /// # Errors
    /// If there is none and the last sender was or is dropped.
    ///
    /// # Panics
    /// As [`try_recv`](Self::try_recv); if the channel was created outside of the check that goes on, and there is no
    /// message.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_at(Location::caller())
    }

    #[track_caller]
    pub(super) fn recv_at(&self, place: Place) -> Result<T, RecvError> {
        match &self.0 {
            Kind::InRun(receiver) => receiver.recv(place),
            Kind::Outside(receiver) if !hook::executions::in_run() => receiver.recv(),
            Kind::Outside(receiver) => at_once(receiver, place).ok_or(RecvError),
        }
    }

    /// As [`recv`](Self::recv), for some time.
    ///
    /// In a check other threads may go on, and then there is a message or not. If not, time passes for the calling
    /// thread.
    ///
    /// # Errors
    /// If there is none when the time is over, or the last sender was or is dropped.
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.0 {
            Kind::InRun(receiver) => {
                let received = receiver.recv_timeout(Location::caller());
                if matches!(received, Err(RecvTimeoutError::Timeout)) {
                    hook::time::pass_time(timeout);
                }
                received
            }
            Kind::Outside(receiver) if !hook::executions::in_run() => receiver.recv_timeout(timeout),
            Kind::Outside(receiver) => at_once(receiver, Location::caller()).ok_or(RecvTimeoutError::Disconnected),
        }
    }

    /// Receives until the last sender is dropped.
    ///
    /// In a check, an operation of the iterator is shown at the line that made it; so are waits of [`IntoIter`].
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { rx: self, made: Location::caller() }
    }

    /// Receives the messages that are there.
    #[track_caller]
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { rx: self, made: Location::caller() }
    }
}

/// In a check, from a channel that was created outside: the next message, or `None` if there will be none.
#[track_caller]
fn at_once<T>(receiver: &std_mpsc::Receiver<T>, place: Place) -> Option<T> {
    match of_std(receiver).try_recv() {
        Ok(message) => Some(message),
        Err(TryRecvError::Disconnected) => None,
        Err(TryRecvError::Empty) => would_wait(place),
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    #[track_caller]
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    #[track_caller]
    fn into_iter(self) -> IntoIter<T> {
        IntoIter { rx: self, made: Location::caller() }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
