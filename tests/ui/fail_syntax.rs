//! How arguments are written.

#[rsmc::test(keep_going)]
fn no_value() {}

#[rsmc::test(seed =)]
fn nothing_after_the_equals_sign() {}

#[rsmc::test(memory("sc"))]
fn parentheses() {}

#[rsmc::test(seed = 1 keep_going = true)]
fn no_comma() {}

#[rsmc::test(seed = 1,, keep_going = true)]
fn two_commas() {}

#[rsmc::test("sc")]
fn no_name() {}

fn main() {}
