//! Running a future to its end, and a place for the waker of one. Std has neither.

mod atomic_waker;
mod block_on;

pub use atomic_waker::AtomicWaker;
pub use block_on::{block_on, block_on_at};
