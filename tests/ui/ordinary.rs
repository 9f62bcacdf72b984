//! The tests of `pass_*.rs` in an ordinary program: nothing is left of them, so nothing there is unused or unknown.

mod pass_arguments;
mod pass_forms;
mod pass_models;
mod pass_spec;

fn main() {}
