//! More than one attribute that makes a test.

#[rsmc::test]
#[test]
fn ordinary() {}

#[rsmc::test]
#[rsmc::test(memory = "sc")]
fn ours() {}

fn main() {}
