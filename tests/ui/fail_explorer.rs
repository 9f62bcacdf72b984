//! Values of `explorer`.

#[rsmc::test(explorer = "read-from")]
fn misspelt() {}

#[rsmc::test(explorer = "dpor")]
fn unknown() {}

#[rsmc::test(explorer = "value-centric")]
fn planned() {}

#[rsmc::test(explorer = ["view", "random"])]
fn list() {}

fn main() {}
