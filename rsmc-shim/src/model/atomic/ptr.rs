//! `AtomicPtr`.

use std::fmt;
use std::ptr;
use std::sync::atomic::Ordering;

use rsmc_core::runtime::hook::atomics::{Done, Kind};
use rsmc_core::runtime::hook::cells::CellAccess;
use rsmc_core::runtime::{Identity, hook};
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

    /// Changes the address by one read-modify-write.
    #[inline(always)]
    #[track_caller]
    fn change(&self, kind: RmwKind, operand: usize, order: Ordering) -> *mut T {
        let old = self.rmw(kind, ptr::without_provenance_mut(operand), order);
        old.unwrap_or_else(|| {
            let change = Rmw { kind, operand: operand as u64, bits: usize::BITS as u8 };
            let new = |old: *mut T| Some(old.map_addr(|address| change.apply(address as u64) as usize));
            self.inline.fetch_update(order, order::strongest_failure(order), new).expect("it always changes")
        })
    }

    /// Adds `count` values of type `T` to the address, wrapping around. Returns the old pointer.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_ptr_add(&self, count: usize, order: Ordering) -> *mut T {
        self.change(RmwKind::Add, count.wrapping_mul(size_of::<T>()), order)
    }

    /// Subtracts `count` values of type `T` from the address, wrapping around. Returns the old pointer.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_ptr_sub(&self, count: usize, order: Ordering) -> *mut T {
        self.change(RmwKind::Sub, count.wrapping_mul(size_of::<T>()), order)
    }

    /// Adds so many bytes to the address, wrapping around. Returns the old pointer.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_byte_add(&self, count: usize, order: Ordering) -> *mut T {
        self.change(RmwKind::Add, count, order)
    }

    /// Subtracts so many bytes from the address, wrapping around. Returns the old pointer.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_byte_sub(&self, count: usize, order: Ordering) -> *mut T {
        self.change(RmwKind::Sub, count, order)
    }

    /// Bitwise or with the address, as for a tag in its low bits. Returns the old pointer.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_or(&self, bits: usize, order: Ordering) -> *mut T {
        self.change(RmwKind::Or, bits, order)
    }

    /// Bitwise and with the address. Returns the old pointer.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_and(&self, bits: usize, order: Ordering) -> *mut T {
        self.change(RmwKind::And, bits, order)
    }

    /// Bitwise exclusive or with the address. Returns the old pointer.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_xor(&self, bits: usize, order: Ordering) -> *mut T {
        self.change(RmwKind::Xor, bits, order)
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
