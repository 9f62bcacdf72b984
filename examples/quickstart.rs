//! What rsmc does, on a lock-free stack that loses elements. Run it:
//!
//! ```text
//! cargo run --release --example quickstart
//! ```
#![allow(clippy::print_stdout, reason = "it talks to the reader")]

use rsmc::{Config, Verdict};

// A Treiber stack, written against `rsmc_shim` instead of std. At the end of the file: what we check.
#[path = "algorithms/treiber_stack.rs"]
mod treiber_stack;

fn main() {
    println!("1. A stack whose `push` forgets to try again. Two threads push, a third pops:\n");
    let report = rsmc::explore(&Config::default(), treiber_stack::broken);
    println!("{}", rsmc::render(&report, None));
    let Verdict::Failed(failure) = report.verdict else { panic!("the broken stack should fail") };

    println!("\n2. The seed is that one execution: it fails again, whenever and wherever it is run.\n");
    let again = rsmc::explore(&Config::default().replay(failure.seed.clone()), treiber_stack::broken);
    let Verdict::Failed(same) = again.verdict else { panic!("the seed should fail again") };
    assert_eq!((failure.kind, &failure.message), (same.kind, &same.message));
    println!("{} run: {}", again.runs, same.message);

    println!("\n3. The stack with the loop in its `push`, in every execution there is:\n");
    let report = rsmc::explore(&Config::default(), treiber_stack::correct);
    println!("{}", rsmc::render(&report, None));
    assert!(matches!(report.verdict, Verdict::Verified));

    println!("\nIn your own tests: `#[rsmc::test]` instead of `#[test]`, and `cargo test`.");
}
