//! Values of `memory`.

#[rsmc::test(memory = "SC")]
fn upper_case() {}

#[rsmc::test(memory = "power")]
fn unknown() {}

#[rsmc::test(memory = Sc)]
fn not_a_literal() {}

#[rsmc::test(memory = [])]
fn empty() {}

#[rsmc::test(memory = ["sc", "tsoo", "sc", 1])]
fn list() {}

fn main() {}
