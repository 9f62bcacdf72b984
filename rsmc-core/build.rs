//! Tells the crate whether it is compiled without optimisation: `unoptimized`.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(unoptimized)");
    if env::var_os("OPT_LEVEL").is_some_and(|level| level == "0") {
        println!("cargo:rustc-cfg=unoptimized");
    }
}
