//! Iterators over messages.

use std::fmt;

use crate::model::mpsc::{Place, Receiver};

/// Receives until the last sender is dropped; mirrors [`std::sync::mpsc::Iter`]. In a check each item is one `recv`,
/// at the line of `iter`.
pub struct Iter<'a, T: 'a> {
    pub(super) rx: &'a Receiver<T>,
    pub(super) made: Place,
}

/// Receives the messages that are there; mirrors [`std::sync::mpsc::TryIter`]. In a check each item is one `try_recv`,
/// at the line of `try_iter`.
pub struct TryIter<'a, T: 'a> {
    pub(super) rx: &'a Receiver<T>,
    pub(super) made: Place,
}

/// Receives until the last sender is dropped; mirrors [`std::sync::mpsc::IntoIter`]. In a check each item is one
/// `recv`, at the line that made the iterator.
pub struct IntoIter<T> {
    pub(super) rx: Receiver<T>,
    pub(super) made: Place,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.rx.recv_at(self.made).ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.rx.try_recv_at(self.made).ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.rx.recv_at(self.made).ok()
    }
}

impl<T: fmt::Debug> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("rx", &self.rx).finish()
    }
}

impl<T: fmt::Debug> fmt::Debug for TryIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryIter").field("rx", &self.rx).finish()
    }
}

impl<T: fmt::Debug> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("rx", &self.rx).finish()
    }
}
