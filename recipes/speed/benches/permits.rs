//! The time that taking and giving back a permit takes.
//!
//! ```sh
//! cargo bench -p rsmc-recipes-speed
//! ```

use std::hint::black_box;
use std::time::Instant;

use rsmc_recipes::Permits;

const _: () = assert!(!rsmc_shim::MODELLED, "the shim is modelled here: build this package alone");

fn main() {
    let (permits, rounds) = (Permits::new(1), 1_000_000);
    let start = Instant::now();
    for _ in 0..rounds {
        assert!(black_box(&permits).take());
        black_box(&permits).give();
    }
    println!("{} ns a round", start.elapsed().as_nanos() / rounds);
}
