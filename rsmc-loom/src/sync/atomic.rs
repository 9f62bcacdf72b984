//! Mirrors [`std::sync::atomic`], with [`unsync_load`](AtomicUsize::unsync_load) and
//! [`with_mut`](AtomicUsize::with_mut).

use rsmc_shim::sync::atomic as shim;

#[allow(deprecated, reason = "loom has it too")]
pub use shim::spin_loop_hint;
pub use shim::{Ordering, fence};

/// The methods that all atomics have.
macro_rules! atomic {
    ([$($param:ident)?] $name:ident, $value:ty) => {
        #[doc = concat!("[`", stringify!($name), "`](std::sync::atomic::", stringify!($name), ") with loom's methods.")]
        pub struct $name$(<$param>)?(shim::$name$(<$param>)?);

        impl$(<$param>)? $name$(<$param>)? {
            /// An atomic that holds `value`.
            #[inline]
            #[must_use]
            #[track_caller]
            pub const fn new(value: $value) -> Self {
                Self(shim::$name::new(value))
            }

            /// Loads the value without synchronisation: a data race with every store that happens-before does not
            /// order.
            ///
            /// # Safety
            /// No other thread may store meanwhile. A check reports a data race otherwise.
            #[inline]
            #[track_caller]
            pub unsafe fn unsync_load(&self) -> $value {
                self.0.unsync_load()
            }

            /// Shows the value, for writing, to `f`. In a check a data race with every access that happens-before does
            /// not order.
            #[inline]
            #[track_caller]
            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
                self.0.with_mut(f)
            }

            /// Unwraps the value.
            #[inline]
            #[track_caller]
            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            /// Loads the value; see [`std::sync::atomic`].
            #[inline(always)]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                self.0.load(order)
            }

            /// Stores a value.
            #[inline(always)]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, order);
            }

            /// Stores `new` if the value is `current`; returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                #[allow(deprecated, reason = "loom has it too")]
                self.0.compare_and_swap(current, new, order)
            }

            /// Stores `new` if the value is `current`; returns the old value in both cases.
            ///
            /// # Errors
            /// The old value, if it is not `current`.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(current, new, success, failure)
            }

            /// As [`compare_exchange`](Self::compare_exchange), but may fail without cause.
            ///
            /// # Errors
            /// The old value, if it is not `current` or the exchange failed without cause.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange_weak(current, new, success, failure)
            }

            /// Replaces the value by a function of it.
            ///
            /// # Errors
            /// The value for which `update` returned `None`.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                update: F,
            ) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                self.0.fetch_update(set_order, fetch_order, update)
            }

            /// As [`fetch_update`](Self::fetch_update): std's newer name of it.
            ///
            /// # Errors
            /// The value for which `update` returned `None`.
            #[inline(always)]
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.0.try_update(set_order, fetch_order, update)
            }

            /// Replaces the value by a function of it, and returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                update: impl FnMut($value) -> $value,
            ) -> $value {
                self.0.update(set_order, fetch_order, update)
            }
        }

        impl$(<$param>)? Default for $name$(<$param>)? {
            #[track_caller]
            fn default() -> Self {
                Self(shim::$name::default())
            }
        }

        impl$(<$param>)? From<$value> for $name$(<$param>)? {
            #[track_caller]
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        impl$(<$param>)? std::fmt::Debug for $name$(<$param>)? {
            #[track_caller]
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

/// Read-modify-writes, each of which returns the old value.
macro_rules! rmw {
    ([$($param:ident)?] $name:ident, $value:ty: $($method:ident = $what:literal),+) => {
        impl$(<$param>)? $name$(<$param>)? {
            $(
                #[doc = concat!($what, ". Returns the old value.")]
                #[inline(always)]
                #[track_caller]
                pub fn $method(&self, value: $value, order: Ordering) -> $value {
                    self.0.$method(value, order)
                }
            )+
        }
    };
}

macro_rules! int {
    ($($name:ident: $value:ident;)+) => {
        $(
            atomic!([] $name, $value);
            rmw! {
                [] $name, $value:
                swap = "Stores a value",
                fetch_add = "Adds, wrapping around",
                fetch_sub = "Subtracts, wrapping around",
                fetch_and = "Bitwise and",
                fetch_nand = "Bitwise not-and",
                fetch_or = "Bitwise or",
                fetch_xor = "Bitwise exclusive or",
                fetch_max = "Stores the larger of the two",
                fetch_min = "Stores the smaller of the two"
            }
        )+
    };
}

int! {
    AtomicI8: i8;
    AtomicU8: u8;
    AtomicI16: i16;
    AtomicU16: u16;
    AtomicI32: i32;
    AtomicU32: u32;
    AtomicI64: i64;
    AtomicU64: u64;
    AtomicIsize: isize;
    AtomicUsize: usize;
}

atomic!([] AtomicBool, bool);
rmw! {
    [] AtomicBool, bool:
    swap = "Stores a value",
    fetch_and = "Logical and",
    fetch_nand = "Logical not-and",
    fetch_or = "Logical or",
    fetch_xor = "Logical exclusive or"
}

atomic!([T] AtomicPtr, *mut T);
rmw!([T] AtomicPtr, *mut T: swap = "Stores a pointer");
