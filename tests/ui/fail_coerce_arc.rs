//! `coerce_arc!` without a type.

use rsmc_shim::sync::Arc;

fn main() {
    let one = Arc::new(1);
    rsmc_shim::coerce_arc!(one);
}
