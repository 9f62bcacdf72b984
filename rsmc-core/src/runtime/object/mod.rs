//! Blocking primitives as state machines: what an operation does to an object, and whom it wakes. None knows threads,
//! coroutines or memory; the shim calls them under a modelled lock of the object, so that the order of operations is that
//! of the lock, and lets threads wait for tokens.

mod notifications;

pub use notifications::{Notifications, Waiter};
