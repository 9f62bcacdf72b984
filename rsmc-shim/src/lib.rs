//! std's synchronisation types, ready to be checked by rsmc.
//!
//! Write `use rsmc_shim::sync::Mutex` where you would write `use std::sync::Mutex`. In an ordinary build every item
//! here *is* the one of std, and this crate has no dependency at all. The crate `rsmc`, a dev-dependency, turns on the
//! feature `model`; then the same paths name modelled types. Outside a check they do what std does, with real
//! atomics, real locks and real threads, so ordinary tests of the same crate keep working; inside one, every
//! operation is a step that the explorer orders.
//!
//! | module | contents |
//! | --- | --- |
//! | [`sync`] | [`Arc`](sync::Arc), [`Weak`](sync::Weak), [`Mutex`](sync::Mutex), [`RwLock`](sync::RwLock), [`Condvar`](sync::Condvar), [`Barrier`](sync::Barrier), [`Once`](sync::Once), [`OnceLock`](sync::OnceLock), [`LazyLock`](sync::LazyLock), [`Notify`](sync::Notify), [`sync::atomic`], [`sync::mpsc`] |
//! | [`thread`], [`thread_local!`] | [`spawn`](thread::spawn), [`scope`](thread::scope), [`park`](thread::park), … |
//! | [`time`] | [`Duration`](time::Duration), and [`Instant`](time::Instant), which in a check knows a time of its own |
//! | [`cell`] | [`UnsafeCell`](cell::UnsafeCell) and [`Cell`](cell::Cell), whose accesses are checked for data races |
//! | [`hint`] | [`spin_loop`](hint::spin_loop); [`Backoff`](hint::Backoff), which std does not have |
//! | [`future`] | [`block_on`](future::block_on), [`AtomicWaker`](future::AtomicWaker), which std does not have |
//! | [`alloc`] | [`Track`](alloc::Track): a value that must be dropped, once |
//! | [`choose`], [`nondet`] | choices that a check makes in every possible way, besides schedules |
//!
//! # Features and versions of Rust
//!
//! `std` (on by default): without it the crate is `#![no_std]` and has what `core` and `alloc` offer: [`sync::atomic`],
//! [`Arc`](sync::Arc) and [`Weak`](sync::Weak), [`cell`], [`hint`], [`Duration`](time::Duration), [`choose`],
//! [`nondet`] and [`alloc`]. `model` needs `std`, and turns it on.
//!
//! Without `model` the crate builds with Rust 1.63. Items of std that are newer are there where the compiler has them,
//! as [`OnceLock`](sync::OnceLock) since 1.70 and [`LazyLock`](sync::LazyLock) since 1.80. `model` needs Rust 1.88.
//!
//! # What a check cannot see
//!
//! - Memory reached through raw pointers ([`UnsafeCell::get`](cell::UnsafeCell::get), `as_ptr` of an atomic): use
//!   [`UnsafeCell::with`](cell::UnsafeCell::with).
//! - Synchronisation by types that are not from this crate.
//! - Statics that are not of types of this crate: they stay what the last execution left.
//!
//! # Statics
//!
//! An atomic has its initial value again in every execution, and so have the types that are set once and a
//! [`thread_local!`] of this crate. The data of a static [`Mutex`](sync::Mutex), [`RwLock`](sync::RwLock) or
//! [`UnsafeCell`](cell::UnsafeCell) is put back when an execution is over, as it was when the execution touched it
//! first, and the value that is there then is dropped. References to it must not be kept longer. The data stays what
//! the execution left
//!
//! - if it refers to memory that can be written: heap that code outside checks has allocated, other statics, itself;
//! - if it has something to drop and was used outside a check before;
//! - if it is not where the program was loaded with it: in a static of another type that made it later, as std's
//!   `LazyLock`, or in a library that is loaded on its own;
//! - elsewhere than on Linux.
//!
//! From its first touch of such a static until the end of the execution a check keeps others out: other checks that use
//! any such static, and code outside that uses this one, except for cells, which have no lock. A check that waits for
//! ten seconds panics.
//!
//! # Trait objects
//!
//! The modelled `Arc` cannot turn itself into an `Arc<dyn Trait>`: stable Rust keeps that for std. Write
//! [`coerce_arc!`] or [`sync::arc_from_std`], which work in both kinds of build. Methods with `self: Arc<Self>` are
//! out of reach.

#![cfg_attr(not(feature = "std"), no_std)]
#![warn(unsafe_op_in_unsafe_fn)]
// With `model` the crate needs Rust 1.88, as rsmc-core does.
#![cfg_attr(feature = "model", allow(clippy::incompatible_msrv))]

#[cfg(not(feature = "model"))]
extern crate alloc as allocated;

pub mod alloc;
mod backoff;
mod choice;
#[cfg(feature = "model")]
mod model;
#[cfg(feature = "std")]
mod notify;
#[cfg(feature = "std")]
mod real_future;
#[cfg(not(feature = "model"))]
mod std_only;

pub use choice::{Nondet, choose, nondet};
#[cfg(feature = "model")]
pub use model::{Label, cell, future, hint, label, sync, thread, time};
#[cfg(not(feature = "model"))]
pub use std_only::{cell, hint, label, sync, time};
#[cfg(all(feature = "std", not(feature = "model")))]
pub use std_only::{future, thread};

/// Whether the types are modelled (the feature `model`, which the crate `rsmc` turns on).
///
/// For code that is a matter of speed in ordinary builds; [`if_model!`] is for code that one of the two cannot compile.
pub const MODELLED: bool = cfg!(feature = "model");

#[doc(hidden)]
pub mod __private {
    /// For macros in crates without it.
    #[cfg(feature = "std")]
    pub use std;

    #[cfg(all(not(feature = "model"), target_has_atomic = "ptr"))]
    pub use allocated::sync::Arc;
    #[cfg(feature = "model")]
    pub use std::sync::Arc;

    #[cfg(feature = "model")]
    pub use crate::model::OnOneThread;

    /// A static of `lazy_static!`.
    #[cfg(feature = "model")]
    pub trait LazyStatic {
        #[doc(hidden)]
        fn initialize(lazy: &Self);
    }
}

/// Declares values that belong to each thread; mirrors [`std::thread_local!`], also with `const { … }`.
///
/// In a check each modelled thread has its own value in each execution. It is made at the thread's first use and
/// dropped at its end, before a `join` of the thread returns.
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
            $crate::__private::std::thread_local!(static OUTSIDE: $t = init());
            $crate::thread::LocalKey::new(&OUTSIDE, init)
        };
        $($crate::thread_local! { $($rest)* })?
    };
}

/// The macro `lazy_static!` of the crates that have the API of loom or shuttle.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "model")]
macro_rules! __lazy_static {
    () => {};
    ($(#[$attr:meta])* $vis:vis static ref $name:ident: $ty:ty = $make:expr; $($rest:tt)*) => {
        #[allow(non_camel_case_types, missing_copy_implementations, dead_code)]
        $(#[$attr])*
        $vis struct $name {
            __private: (),
        }
        $(#[$attr])*
        $vis static $name: $name = $name { __private: () };
        impl ::core::ops::Deref for $name {
            type Target = $ty;
            fn deref(&self) -> &$ty {
                // loom takes types that are not `Sync`.
                static VALUE: $crate::sync::LazyLock<$crate::__private::OnOneThread<$ty>> =
                    $crate::sync::LazyLock::new(|| $crate::__private::OnOneThread::new($make));
                &**$crate::sync::LazyLock::force(&VALUE)
            }
        }
        impl $crate::__private::LazyStatic for $name {
            fn initialize(lazy: &Self) {
                let _ = &**lazy;
            }
        }
        $crate::__lazy_static! { $($rest)* }
    };
}

/// Declares values that belong to each thread: [`std::thread_local!`].
#[macro_export]
#[cfg(all(feature = "std", not(feature = "model")))]
macro_rules! thread_local {
    ($($all:tt)*) => {
        $crate::__private::std::thread_local! { $($all)* }
    };
}

/// Compiles its first part in builds for checks, and its second part in ordinary ones.
///
/// A check sees only what goes through this crate. A barrier of inline assembly, a system call that orders memory and
/// an intrinsic are nothing to it, and so it reports failures that cannot happen. Where code has such a thing for
/// speed, this says what it stands for. The parts can be an expression, statements or items.
///
/// ```
/// use rsmc_shim::sync::atomic::{Ordering, fence};
///
/// /// A full barrier.
/// fn barrier() {
///     rsmc_shim::if_model! {
///         { fence(Ordering::SeqCst) } else { std::sync::atomic::fence(Ordering::SeqCst) /* or assembly */ }
///     }
/// }
/// barrier();
/// ```
#[macro_export]
#[cfg(feature = "model")]
macro_rules! if_model {
    ({ $($modelled:tt)* } else { $($ordinary:tt)* }) => { $($modelled)* };
}

/// Compiles its first part in builds for checks, and its second part in ordinary ones.
///
/// A check sees only what goes through this crate. A barrier of inline assembly, a system call that orders memory and
/// an intrinsic are nothing to it, and so it reports failures that cannot happen. Where code has such a thing for
/// speed, this says what it stands for. The parts can be an expression, statements or items.
#[macro_export]
#[cfg(not(feature = "model"))]
macro_rules! if_model {
    ({ $($modelled:tt)* } else { $($ordinary:tt)* }) => { $($ordinary)* };
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
        $crate::sync::coerce_arc_with($arc, |arc| -> $crate::__private::Arc<$to> { arc })
    };
    ($arc:expr) => {
        ::core::compile_error!("the type behind the new `Arc` is missing: `coerce_arc!(arc => dyn Trait)`")
    };
}
