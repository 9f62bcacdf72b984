//! The integer types.

use std::fmt;
use std::sync::atomic::Ordering;

use rsmc_core::runtime::hook::atomics::{Done, Kind};
use rsmc_core::runtime::hook::cells::CellAccess;
use rsmc_core::runtime::{Identity, hook};
use rsmc_core::trace::{Action, Rmw, RmwKind};

use crate::model::atomic::order;

macro_rules! atomic_int {
    ($width:literal: $name:ident, $int:ident, $unsigned:ident, $max:ident, $min:ident) => {
        #[doc = concat!("Mirrors [`std::sync::atomic::", stringify!($name), "`]; every operation is a step of a check.")]
        #[cfg(target_has_atomic = $width)]
        pub struct $name {
            inline: std::sync::atomic::$name,
            identity: Identity,
        }

        #[cfg(target_has_atomic = $width)]
        atomic_common!([] $name, $int, <$int>::BITS as u8);

        #[cfg(target_has_atomic = $width)]
        impl $name {
            #[inline(always)]
            fn encode(value: $int) -> u64 {
                value as $unsigned as u64
            }


            #[inline(always)]
            fn decode(bits: u64) -> $int {
                bits as $int
            }

            atomic_rmw! { $int:
                /// Adds, wrapping around.
                fetch_add = Add;
                /// Subtracts, wrapping around.
                fetch_sub = Sub;
                /// Bitwise and.
                fetch_and = And;
                /// Bitwise not-and.
                fetch_nand = Nand;
                /// Bitwise or.
                fetch_or = Or;
                /// Bitwise exclusive or.
                fetch_xor = Xor;
                /// The larger of the two.
                fetch_max = $max;
                /// The smaller of the two.
                fetch_min = $min;
            }
        }

        #[cfg(target_has_atomic = $width)]
        impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                Self::new(0)
            }
        }
    };
}

atomic_int!("8": AtomicI8, i8, u8, MaxSigned, MinSigned);
atomic_int!("8": AtomicU8, u8, u8, MaxUnsigned, MinUnsigned);
atomic_int!("16": AtomicI16, i16, u16, MaxSigned, MinSigned);
atomic_int!("16": AtomicU16, u16, u16, MaxUnsigned, MinUnsigned);
atomic_int!("32": AtomicI32, i32, u32, MaxSigned, MinSigned);
atomic_int!("32": AtomicU32, u32, u32, MaxUnsigned, MinUnsigned);
atomic_int!("64": AtomicI64, i64, u64, MaxSigned, MinSigned);
atomic_int!("64": AtomicU64, u64, u64, MaxUnsigned, MinUnsigned);
atomic_int!("ptr": AtomicIsize, isize, usize, MaxSigned, MinSigned);
atomic_int!("ptr": AtomicUsize, usize, usize, MaxUnsigned, MinUnsigned);
