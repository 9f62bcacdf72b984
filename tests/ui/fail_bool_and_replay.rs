//! Values of `keep_going`, `check_races` and `replay`.

#[rsmc::test(keep_going = "yes", check_races = 1)]
fn not_bool() {}

#[rsmc::test(replay = "")]
fn empty_seed() {}

#[rsmc::test(replay = 42)]
fn seed_as_number() {}

fn main() {}
