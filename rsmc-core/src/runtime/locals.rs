//! Values that belong to a modelled thread: `thread_local!`.
//!
//! A value is made at its thread's first use of it in an execution, and dropped on that thread at its end, the youngest
//! first. What a destructor uses is made and dropped as well; what was dropped is not made again.

use std::any::Any;
use std::ptr::NonNull;

use crate::base::ThreadId;
use crate::runtime::arena;
use crate::runtime::execution::Execution;

/// A value of a thread: its key, and `None` when it was dropped.
pub(super) struct Local {
    key: usize,
    value: Option<Box<dyn Any>>,
}

/// The value was dropped already, since its thread ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

impl Execution {
    /// The running thread's value of a key. It stays where it is until the thread ends.
    pub(super) fn local<T: 'static>(&self, key: usize, init: impl FnOnce() -> T) -> Result<NonNull<T>, Gone> {
        let me = self.running.get();
        if let Some(found) = self.find_local(me, key) {
            return found;
        }
        // This may run other threads, or use the same key: then that value stays.
        let value = Box::new(init());
        if let Some(found) = self.find_local(me, key) {
            return found;
        }
        let _ours = arena::outside();
        self.core.borrow_mut().fibers[me].locals.push(Local { key, value: Some(value) });
        self.find_local(me, key).expect("it was just added")
    }

    fn find_local<T: 'static>(&self, thread: ThreadId, key: usize) -> Option<Result<NonNull<T>, Gone>> {
        let mut core = self.core.borrow_mut();
        let local = core.fibers[thread].locals.iter_mut().find(|local| local.key == key)?;
        let value = local.value.as_mut().map(|value| value.downcast_mut::<T>().expect("a key has one type"));
        Some(value.map(NonNull::from).ok_or(Gone))
    }

    /// The running thread is at its end.
    pub(super) fn drop_locals(&self) {
        let me = self.running.get();
        while let Some(value) = self.take_local(me) {
            drop(self.catch(me, move || drop(value)));
        }
    }

    fn take_local(&self, thread: ThreadId) -> Option<Box<dyn Any>> {
        let mut core = self.core.borrow_mut();
        core.fibers[thread].locals.iter_mut().rev().find_map(|local| local.value.take())
    }
}
