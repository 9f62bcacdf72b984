//! Values that have to be dropped, once.

use core::fmt;
use core::mem::ManuallyDrop;

#[cfg(feature = "model")]
use rsmc_core::runtime::hook::tracked;
#[cfg(feature = "model")]
use rsmc_core::runtime::{Birth, Identity, hook};

/// A value whose fate a check watches: it must be dropped by the end of the execution that created it, and not be used
/// or dropped again after that.
///
/// This is for code that handles memory itself, where a value may be forgotten in a slot, or read from one twice: put
/// `Track`s into the data structure in a test. Outside a check, and in ordinary builds, it is the value and nothing
/// else.
///
/// ```
/// use rsmc_shim::alloc::Track;
///
/// let value = Track::new(String::from("a"));
/// assert_eq!(value.get_ref(), "a");
/// assert_eq!(value.into_inner(), "a");
/// ```
///
/// An operation on a `Track` is no step of a check. That a thread uses one which another thread drops or frees is found
/// as for a [cell](crate::cell::UnsafeCell): also where it is luck that the use came first. A use is the call of
/// [`get_ref`](Self::get_ref) or [`get_mut`](Self::get_mut), not what is done with the reference. A `Track` reports no
/// data races.
pub struct Track<T> {
    value: ManuallyDrop<T>,
    #[cfg(feature = "model")]
    birth: Option<Birth>,
    #[cfg(feature = "model")]
    identity: Identity,
}

impl<T> Track<T> {
    /// Begins to watch a value.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self {
            value: ManuallyDrop::new(value),
            #[cfg(feature = "model")]
            birth: hook::counts::born(tracked::KIND),
            #[cfg(feature = "model")]
            identity: Identity::new(),
        }
    }

    /// The value.
    ///
    /// # Panics
    /// In a check, if it was dropped.
    #[track_caller]
    pub fn get_ref(&self) -> &T {
        self.check();
        &self.value
    }

    /// The value, for writing.
    ///
    /// # Panics
    /// In a check, if it was dropped.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.check();
        &mut self.value
    }

    /// Takes the value out.
    ///
    /// # Panics
    /// In a check, if it was dropped or taken out before.
    #[track_caller]
    pub fn into_inner(self) -> T {
        let mut this = ManuallyDrop::new(self);
        assert!(this.is_taken(), "a tracked value is taken out after it was dropped");
        // SAFETY: `this` is not used again, so the value is moved out once.
        unsafe { ManuallyDrop::take(&mut this.value) }
    }

    #[track_caller]
    fn check(&self) {
        assert!(self.is_used(), "a tracked value is used after it was dropped");
    }

    /// Notes a use of the value; false if its life had ended.
    #[cfg(feature = "model")]
    #[track_caller]
    fn is_used(&self) -> bool {
        // A closure would not know the caller.
        match self.birth {
            Some(birth) => tracked::is_used(self.identity.object(tracked::KIND), birth),
            None => true,
        }
    }

    #[cfg(not(feature = "model"))]
    fn is_used(&self) -> bool {
        true
    }

    /// Notes that the value is taken out; false if its life had ended.
    #[cfg(feature = "model")]
    #[track_caller]
    fn is_taken(&self) -> bool {
        match self.birth {
            Some(birth) => tracked::is_taken(self.identity.object(tracked::KIND), birth),
            None => true,
        }
    }

    #[cfg(not(feature = "model"))]
    fn is_taken(&self) -> bool {
        true
    }

    /// Notes that the value is dropped; false if its life had ended.
    #[cfg(feature = "model")]
    fn is_dropped(&self) -> bool {
        self.birth.is_none_or(|birth| tracked::is_dropped(self.identity.object(tracked::KIND), birth))
    }

    #[cfg(not(feature = "model"))]
    fn is_dropped(&self) -> bool {
        true
    }
}

impl<T> Drop for Track<T> {
    fn drop(&mut self) {
        if self.is_dropped() {
            // SAFETY: the value is not used after this.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        } else {
            dropped_twice();
        }
    }
}

#[cfg(feature = "model")]
fn dropped_twice() {
    if !crate::thread::panicking() {
        panic!("a tracked value is dropped twice");
    }
}

#[cfg(not(feature = "model"))]
fn dropped_twice() {}

impl<T: fmt::Debug> fmt::Debug for Track<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Track").field(self.get_ref()).finish()
    }
}
