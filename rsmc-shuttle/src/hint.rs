//! Mirrors [`std::hint`].

pub use rsmc_shim::hint::{assert_unchecked, black_box, select_unpredictable, spin_loop, unreachable_unchecked};
