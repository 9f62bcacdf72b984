//! `Sender` and `SyncSender`.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::mpsc::{self as std_mpsc, SendError, TrySendError};

use rsmc_core::runtime::hook;

use crate::model::mpsc::channel::SendingEnd;
use crate::model::mpsc::{of_std, would_wait};

/// Mirrors [`std::sync::mpsc::Sender`]. In a check, cloning it is no step; dropping it is one.
pub struct Sender<T>(Kind<std_mpsc::Sender<T>, T>);

/// Mirrors [`std::sync::mpsc::SyncSender`]. In a check, cloning it is no step; dropping it is one.
pub struct SyncSender<T>(Kind<std_mpsc::SyncSender<T>, T>);

/// By where the channel was created.
enum Kind<S, T> {
    Outside(S),
    InRun(SendingEnd<T>),
}

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}
impl<T> UnwindSafe for SyncSender<T> {}
impl<T> RefUnwindSafe for SyncSender<T> {}

impl<S: Clone, T> Clone for Kind<S, T> {
    #[track_caller]
    fn clone(&self) -> Self {
        match self {
            Kind::Outside(sender) => Kind::Outside(sender.clone()),
            Kind::InRun(sender) => Kind::InRun(sender.clone()),
        }
    }
}

impl<T> Sender<T> {
    pub(super) fn outside(sender: std_mpsc::Sender<T>) -> Self {
        Self(Kind::Outside(sender))
    }

    pub(super) fn in_run(sender: SendingEnd<T>) -> Self {
        Self(Kind::InRun(sender))
    }

    /// Sends a message. Never waits.
    ///
    /// # Errors
    /// The message, if the receiver was dropped.
    ///
    /// # Panics
    /// If the channel belongs to a check, and this is not the same execution of it.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Kind::Outside(sender) => of_std(sender).send(message),
            Kind::InRun(sender) => sender.send(message),
        }
    }
}

impl<T> SyncSender<T> {
    pub(super) fn outside(sender: std_mpsc::SyncSender<T>) -> Self {
        Self(Kind::Outside(sender))
    }

    pub(super) fn in_run(sender: SendingEnd<T>) -> Self {
        Self(Kind::InRun(sender))
    }

    /// Sends a message; waits until there is room for it, or, where messages pass from hand to hand, until it is
    /// received.
    ///
    /// # Errors
    /// The message, if the receiver was or is dropped.
    ///
    /// # Panics
    /// If the channel belongs to a check, and this is not the same execution of it; if it was created outside of the
    /// check that goes on, and there is no room.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Kind::InRun(sender) => sender.send(message),
            Kind::Outside(sender) if !hook::executions::in_run() => sender.send(message),
            Kind::Outside(sender) => match of_std(sender).try_send(message) {
                Ok(()) => Ok(()),
                Err(TrySendError::Disconnected(message)) => Err(SendError(message)),
                Err(TrySendError::Full(_)) => would_wait(Location::caller()),
            },
        }
    }

    /// Sends a message if there is room for it, or a receiver that waits for it.
    ///
    /// # Errors
    /// The message, if there is not, or the receiver was dropped.
    ///
    /// # Panics
    /// If the channel belongs to a check, and this is not the same execution of it.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            Kind::Outside(sender) => of_std(sender).try_send(message),
            Kind::InRun(sender) => sender.try_send(message),
        }
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Clone for SyncSender<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}
