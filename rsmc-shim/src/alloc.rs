//! Values that have to be dropped, once.

use core::fmt;
use core::mem::ManuallyDrop;

#[cfg(feature = "model")]
use rsmc_core::runtime::{Birth, hook};

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
/// An operation on a `Track` is no step of a check. A `Track` says nothing about memory that is used after it was
/// freed: a check notices that only as far as the bytes are still those of the `Track`.
pub struct Track<T> {
    value: ManuallyDrop<T>,
    #[cfg(feature = "model")]
    birth: Option<Birth>,
}

impl<T> Track<T> {
    /// Begins to watch a value.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self {
            value: ManuallyDrop::new(value),
            #[cfg(feature = "model")]
            birth: hook::counts::born("Track"),
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
        assert!(this.goes(), "a tracked value is taken out after it was dropped");
        // SAFETY: `this` is not used again, so the value is moved out once.
        unsafe { ManuallyDrop::take(&mut this.value) }
    }

    #[track_caller]
    fn check(&self) {
        assert!(self.is_alive(), "a tracked value is used after it was dropped");
    }

    #[cfg(feature = "model")]
    fn is_alive(&self) -> bool {
        self.birth.is_none_or(hook::counts::is_alive)
    }

    #[cfg(not(feature = "model"))]
    fn is_alive(&self) -> bool {
        true
    }

    /// Notes the end of the value's life; false if it had ended before.
    #[cfg(feature = "model")]
    fn goes(&self) -> bool {
        self.birth.is_none_or(hook::counts::died)
    }

    #[cfg(not(feature = "model"))]
    fn goes(&self) -> bool {
        true
    }
}

impl<T> Drop for Track<T> {
    fn drop(&mut self) {
        if self.goes() {
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
