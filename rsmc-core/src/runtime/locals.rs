//! Values that belong to a modelled thread: `thread_local!`.
//!
//! A value is made at its thread's first use of it in an execution, and dropped on that thread at its end, the youngest
//! first. A value that a destructor uses is made and dropped as well; one that was dropped is not made again.

use std::any::Any;
use std::ptr::NonNull;

/// A value of a thread: its key, and `None` when it was dropped.
struct Local {
    key: usize,
    value: Option<Box<dyn Any>>,
}

/// The value was dropped already, since its thread ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// The values of a thread, in the order in which they were made.
#[derive(Default)]
pub(super) struct Locals(Vec<Local>);

impl Locals {
    /// Drops all values; mostly there are none.
    #[inline]
    pub(super) fn clear(&mut self) {
        if !self.0.is_empty() {
            self.0.clear();
        }
    }

    /// The value of a key, if it was made. It stays where it is until the thread ends.
    pub(super) fn find<T: 'static>(&mut self, key: usize) -> Option<Result<NonNull<T>, Gone>> {
        let local = self.0.iter_mut().find(|local| local.key == key)?;
        let value = local.value.as_mut().map(|value| value.downcast_mut::<T>().expect("a key has one type"));
        Some(value.map(NonNull::from).ok_or(Gone))
    }

    /// Adds the value of a key, which has none.
    pub(super) fn add(&mut self, key: usize, value: Box<dyn Any>) {
        self.0.push(Local { key, value: Some(value) });
    }

    /// Takes the youngest value that is there.
    pub(super) fn take_youngest(&mut self) -> Option<Box<dyn Any>> {
        self.0.iter_mut().rev().find_map(|local| local.value.take())
    }

    /// Leaves all values where they are for ever.
    pub(super) fn leak(&mut self) {
        self.0.drain(..).for_each(std::mem::forget);
    }
}
