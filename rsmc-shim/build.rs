//! Tells the crate how new the compiler is: `since_1_80` is set by Rust 1.80 and newer.

use std::env;
use std::process::Command;

/// The versions of Rust in which items of std came that the crate mirrors.
const VERSIONS: [u32; 7] = [66, 70, 80, 81, 83, 88, 95];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let minor = minor().unwrap_or(0);
    for version in VERSIONS {
        // Older ones do not know it.
        if minor >= 80 {
            println!("cargo:rustc-check-cfg=cfg(since_1_{})", version);
        }
        if minor >= version {
            println!("cargo:rustc-cfg=since_1_{}", version);
        }
    }
}

/// The second part of the compiler's version.
fn minor() -> Option<u32> {
    let output = Command::new(env::var_os("RUSTC")?).arg("--version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    version.strip_prefix("rustc 1.")?.split('.').next()?.parse().ok()
}
