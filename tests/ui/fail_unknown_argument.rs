//! Names of arguments.

#[rsmc::test(memroy = "sc")]
fn misspelt() {}

#[rsmc::test(threads = 2)]
fn unknown() {}

#[rsmc::test(seed = 1, seed = 2)]
fn twice() {}

fn main() {
    // Nothing is missing because of the errors above.
    misspelt();
}
