//! The real types that a door is made of. A test makes one of modelled types instead, and checks it.

pub(crate) use std::sync::atomic::AtomicUsize;
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

/// A number for the calling OS thread that no other living one has, and that is not 0.
pub(crate) fn os_thread() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}
