//! The macros of the shim in a crate that has no `std` by that name.

#![no_std]

extern crate std as named_otherwise;

use core::cell::Cell;

rsmc_shim::thread_local! {
    static OWN: Cell<u32> = const { Cell::new(1) };
    static OTHER: Cell<u32> = Cell::new(2);
}

fn main() {
    assert_eq!((OWN.get(), OTHER.get()), (1, 2));
}
