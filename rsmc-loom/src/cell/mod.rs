//! Cells whose accesses are checked for data races.

mod unsafe_cell;

pub use rsmc_shim::cell::Cell;
pub use unsafe_cell::{ConstPtr, MutPtr, UnsafeCell};
