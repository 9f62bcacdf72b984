//! Blocking primitives as state machines: the effect of an operation on an object, and the waiters that it wakes. None
//! knows threads, coroutines or memory; the shim calls them under a modelled lock of the object, so that the order of
//! operations is that of the lock, and lets threads wait for tokens.

mod channel;
mod notifications;
mod read_write;

pub use channel::Channel;
pub use notifications::{Notifications, Waiter};
pub use read_write::{Claim, Mode, ReadWrite};
