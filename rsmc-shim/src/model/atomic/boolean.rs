//! `AtomicBool`.

use std::fmt;
use std::sync::atomic::Ordering;

use rsmc_core::runtime::hook::atomics::{Done, Kind};
use rsmc_core::runtime::hook::cells::CellAccess;
use rsmc_core::runtime::{Identity, hook};
use rsmc_core::trace::{Action, Rmw, RmwKind};

use crate::model::atomic::order;

/// Mirrors [`std::sync::atomic::AtomicBool`]; every operation is a step of a check.
pub struct AtomicBool {
    inline: std::sync::atomic::AtomicBool,
    identity: Identity,
}

atomic_common!([] AtomicBool, bool, 1);

impl AtomicBool {
    #[inline(always)]
    fn encode(value: bool) -> u64 {
        u64::from(value)
    }

    #[inline(always)]
    fn decode(bits: u64) -> bool {
        bits != 0
    }

    atomic_rmw! { bool:
        /// Logical and.
        fetch_and = And;
        /// Logical not-and.
        fetch_nand = Nand;
        /// Logical or.
        fetch_or = Or;
        /// Logical exclusive or.
        fetch_xor = Xor;
    }

    /// Logical not.
    ///
    /// Returns the old value.
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> Self {
        Self::new(false)
    }
}
