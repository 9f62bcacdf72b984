//! `AtomicPtr`.

use std::fmt;
use std::ptr;
use std::sync::atomic::Ordering;

use rsmc_core::runtime::Identity;
use rsmc_core::runtime::hook::{self, Done, Kind};
use rsmc_core::trace::{Action, Rmw, RmwKind};

use crate::model::atomic::order;

/// Mirrors [`std::sync::atomic::AtomicPtr`]; every operation is a step of a check.
///
/// A check keeps the address, with its provenance exposed.
pub struct AtomicPtr<T> {
    inline: std::sync::atomic::AtomicPtr<T>,
    identity: Identity,
}

atomic_common!([T] AtomicPtr, *mut T, usize::BITS as u8);

impl<T> AtomicPtr<T> {
    #[inline(always)]
    fn encode(value: *mut T) -> u64 {
        value.expose_provenance() as u64
    }

    #[inline(always)]
    fn decode(bits: u64) -> *mut T {
        ptr::with_exposed_provenance_mut(bits as usize)
    }
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(ptr::null_mut())
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.load(Ordering::Relaxed), f)
    }
}
