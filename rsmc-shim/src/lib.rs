//! std's synchronisation types, ready to be checked by rsmc.
//!
//! Write `use rsmc_shim::sync::Mutex` where you would write `use std::sync::Mutex`. In an ordinary build every item
//! here *is* the one of std, and this crate has no dependency at all. The crate `rsmc`, a dev-dependency, turns on the
//! feature `model`; then the same paths name modelled types. Outside a check they do what std does, with real
//! atomics, real locks and real threads, so ordinary tests of the same crate keep working; inside one, every
//! operation is a step that the explorer orders.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`sync`] | [`Arc`](sync::Arc), [`Mutex`](sync::Mutex), [`sync::atomic`] |
//! | [`thread`] | [`spawn`](thread::spawn), [`scope`](thread::scope), [`park`](thread::park), … |
//! | [`cell`] | [`UnsafeCell`](cell::UnsafeCell), whose accesses are checked for data races |
//! | [`hint`] | [`spin_loop`](hint::spin_loop) |
//!
//! # What a check cannot see
//!
//! - Memory reached through raw pointers ([`UnsafeCell::get`](cell::UnsafeCell::get), `as_ptr` of an atomic): use
//!   [`UnsafeCell::with`](cell::UnsafeCell::with).
//! - Synchronisation by types that are not from this crate.
//! - Statics: an atomic has its initial value again in every execution, but the data behind a static mutex or cell
//!   stays what the last execution left, and is shared by checks that run at once. Put shared data into the body.
//!
//! # Trait objects
//!
//! The modelled `Arc` cannot turn itself into an `Arc<dyn Trait>`: stable Rust keeps that for std. Write
//! [`coerce_arc!`] or [`sync::arc_from_std`], which work in both kinds of build. Methods with `self: Arc<Self>` are
//! out of reach.

#[cfg(feature = "model")]
mod model;
#[cfg(not(feature = "model"))]
mod std_only;

#[cfg(feature = "model")]
pub use model::{cell, hint, sync, thread};
#[cfg(not(feature = "model"))]
pub use std_only::{cell, hint, sync, thread};

/// Coerces an [`Arc`](sync::Arc) to one of an unsized type, in ordinary and in modelled builds.
///
/// ```
/// use std::fmt::Debug;
/// use rsmc_shim::sync::Arc;
///
/// let number = Arc::new(7);
/// let shown: Arc<dyn Debug> = rsmc_shim::coerce_arc!(number => dyn Debug);
/// assert_eq!(format!("{shown:?}"), "7");
/// ```
#[macro_export]
macro_rules! coerce_arc {
    ($arc:expr => $to:ty) => {
        $crate::sync::coerce_arc_with($arc, |arc| -> ::std::sync::Arc<$to> { arc })
    };
}
