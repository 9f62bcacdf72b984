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
//! | [`sync`] | [`Arc`](sync::Arc), [`Mutex`](sync::Mutex), [`RwLock`](sync::RwLock), [`Condvar`](sync::Condvar), [`Barrier`](sync::Barrier), [`OnceLock`](sync::OnceLock), [`LazyLock`](sync::LazyLock), [`sync::atomic`], [`sync::mpsc`] |
//! | [`thread`], [`thread_local!`] | [`spawn`](thread::spawn), [`scope`](thread::scope), [`park`](thread::park), … |
//! | [`time`] | [`Duration`](time::Duration), and [`Instant`](time::Instant), which in a check knows a time of its own |
//! | [`cell`] | [`UnsafeCell`](cell::UnsafeCell) and [`Cell`](cell::Cell), whose accesses are checked for data races |
//! | [`hint`] | [`spin_loop`](hint::spin_loop) |
//! | [`future`] | [`block_on`](future::block_on), [`AtomicWaker`](future::AtomicWaker), which std does not have |
//! | [`alloc`] | [`Track`](alloc::Track): a value that must be dropped, once |
//! | [`choose`], [`nondet`] | what a check goes through in every possible way, besides schedules |
//!
//! # What a check cannot see
//!
//! - Memory reached through raw pointers ([`UnsafeCell::get`](cell::UnsafeCell::get), `as_ptr` of an atomic): use
//!   [`UnsafeCell::with`](cell::UnsafeCell::with).
//! - Synchronisation by types that are not from this crate.
//! - Statics: an atomic has its initial value again in every execution, and so have the types that are set once and a
//!   [`thread_local!`] of this crate. But the data behind a static mutex or cell stays what the last execution left, and
//!   is shared by checks that run at once. Put shared data into the body.
//!
//! # Trait objects
//!
//! The modelled `Arc` cannot turn itself into an `Arc<dyn Trait>`: stable Rust keeps that for std. Write
//! [`coerce_arc!`] or [`sync::arc_from_std`], which work in both kinds of build. Methods with `self: Arc<Self>` are
//! out of reach.

pub mod alloc;
mod choice;
#[cfg(feature = "model")]
mod model;
mod real_future;
#[cfg(not(feature = "model"))]
mod std_only;

pub use choice::{Nondet, choose, nondet};
#[cfg(feature = "model")]
pub use model::{cell, future, hint, sync, thread, time};
#[cfg(not(feature = "model"))]
pub use std_only::{cell, future, hint, sync, thread, time};

/// Declares values that belong to each thread; mirrors [`std::thread_local!`], also with `const { … }`.
///
/// In a check each modelled thread has its own value in each execution. It is made at the thread's first use and dropped at
/// its end, before a `join` of the thread returns.
///
/// ```
/// use std::cell::Cell;
///
/// rsmc_shim::thread_local! {
///     static COUNT: Cell<u32> = const { Cell::new(0) };
/// }
/// COUNT.set(COUNT.get() + 1);
/// assert_eq!(rsmc_shim::thread::spawn(|| COUNT.get()).join().unwrap(), 0);
/// ```
#[macro_export]
#[cfg(feature = "model")]
macro_rules! thread_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = const $init:block $(; $($rest:tt)*)?) => {
        $crate::thread_local! { $(#[$attr])* $vis static $name: $t = $init }
        $($crate::thread_local! { $($rest)* })?
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$attr])*
        $vis static $name: $crate::thread::LocalKey<$t> = {
            fn init() -> $t {
                $init
            }
            ::std::thread_local!(static OUTSIDE: $t = init());
            $crate::thread::LocalKey::new(&OUTSIDE, init)
        };
        $($crate::thread_local! { $($rest)* })?
    };
}

/// Declares values that belong to each thread: [`std::thread_local!`].
#[macro_export]
#[cfg(not(feature = "model"))]
macro_rules! thread_local {
    ($($all:tt)*) => {
        ::std::thread_local! { $($all)* }
    };
}

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
