//! Mirrors [`std::hint`].

pub use rsmc_shim::hint::{spin_loop, unreachable_unchecked};
