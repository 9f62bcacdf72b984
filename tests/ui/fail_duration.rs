//! Values of `max_duration`.

#[rsmc::test(max_duration = 30)]
fn number() {}

#[rsmc::test(max_duration = "30")]
fn no_unit() {}

#[rsmc::test(max_duration = "30s1m")]
fn wrong_order() {}

#[rsmc::test(max_duration = "0s")]
fn zero() {}

fn main() {}
