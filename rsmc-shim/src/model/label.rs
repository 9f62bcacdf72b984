//! Names for objects, in reports.

use rsmc_core::runtime::hook;
use rsmc_core::trace::FREE;

use crate::model::cell::{Cell, UnsafeCell};
use crate::model::sync::{Condvar, Mutex, RwLock};

/// Objects that can have a name in the reports of a check: atomics, locks, condition variables and cells.
pub trait Label {
    /// Gives it a name, in this execution; see [`label`].
    #[track_caller]
    fn label(&self, name: &str);
}

/// Gives an atomic, a lock, a condition variable or a cell a name, which reports use instead of one made of its type
/// (`usize1`). Does nothing outside a check, and in ordinary builds.
///
/// Call it where the object was created: the name holds for the execution, wherever the object moves to. Of several
/// names the last counts. A number distinguishes two objects with one name, and long names are cut.
///
/// ```
/// use rsmc_shim::sync::atomic::AtomicUsize;
///
/// struct Ring {
///     head: AtomicUsize,
///     slots: [AtomicUsize; 4],
/// }
///
/// let ring = Ring { head: AtomicUsize::new(0), slots: Default::default() };
/// rsmc_shim::label(&ring.head, "head");
/// ring.slots.iter().enumerate().for_each(|(i, slot)| rsmc_shim::label(slot, &format!("slots[{i}]")));
/// ```
#[track_caller]
pub fn label<T: Label + ?Sized>(object: &T, name: &str) {
    object.label(name);
}

impl<T: ?Sized> Label for Mutex<T> {
    #[track_caller]
    fn label(&self, name: &str) {
        hook::objects::label(self.object(), || self.outside(), name);
    }
}

impl<T: ?Sized> Label for RwLock<T> {
    #[track_caller]
    fn label(&self, name: &str) {
        hook::objects::label(self.object(), || FREE, name);
    }
}

impl Label for Condvar {
    #[track_caller]
    fn label(&self, name: &str) {
        hook::objects::label(self.object(), || FREE, name);
    }
}

impl<T: ?Sized> Label for UnsafeCell<T> {
    #[track_caller]
    fn label(&self, name: &str) {
        hook::objects::label(self.object(), || 0, name);
    }
}

impl<T: ?Sized> Label for Cell<T> {
    #[track_caller]
    fn label(&self, name: &str) {
        hook::objects::label(self.object(), || 0, name);
    }
}
