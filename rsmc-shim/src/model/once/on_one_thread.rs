//! Values of `lazy_static!` that are not `Sync`.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::thread::{self, ThreadId};

/// A value that only the OS thread uses on which it was made. All modelled threads of an execution are on one.
#[doc(hidden)]
pub struct OnOneThread<T> {
    value: ManuallyDrop<T>,
    maker: ThreadId,
}

// SAFETY: no other OS thread gets at the value, nor drops it.
unsafe impl<T> Send for OnOneThread<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for OnOneThread<T> {}

impl<T> OnOneThread<T> {
    /// A value that this OS thread may use.
    pub fn new(value: T) -> Self {
        Self { value: ManuallyDrop::new(value), maker: thread::current().id() }
    }

    fn is_mine(&self) -> bool {
        thread::current().id() == self.maker
    }
}

impl<T> Deref for OnOneThread<T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        assert!(
            self.is_mine(),
            "a value of `lazy_static!` was made by another OS thread: outside a model only one may use it, since its \
             type need not be `Sync`"
        );
        &self.value
    }
}

impl<T> Drop for OnOneThread<T> {
    fn drop(&mut self) {
        if self.is_mine() {
            // SAFETY: it is dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}
