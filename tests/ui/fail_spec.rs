//! Modules that are no specification.
#![allow(unused_variables)]

#[rsmc::spec(calls = 1, threads)]
mod without_value {
    fn new() -> u32 {
        0
    }

    #[op]
    fn get(model: &mut u32) -> u32 {
        *model
    }
}

#[rsmc::spec(calls = 0, budgte = "1s", replay = "rsmc3-", criterion = "linear", calls = 2)]
mod settings {
    fn new() {}

    #[op]
    fn get(model: &mut u32) -> u32 {
        *model
    }
}

#[rsmc::spec(key in [1])]
mod no_such_parameter {
    fn new() -> u32 {
        0
    }

    #[op]
    fn get(model: &mut u32) -> u32 {
        *model
    }
}

#[rsmc::spec]
mod operations {
    fn new() -> u32 {
        0
    }

    #[op]
    struct NoFunction;

    #[op]
    fn without_model() {}

    #[op]
    fn of_self(&mut self) {}

    #[op]
    fn not_mutable(model: &u32) {}

    #[op]
    async fn later<T>(model: &mut u32) {}

    #[op]
    fn changes_its_argument(model: &mut u32, by: &mut u32) {}

    #[op_where]
    fn without_result(model: &mut u32) -> bool {
        true
    }

    #[op(to in [1], by = [1], cal = f, on_one_thread = owner, by in [1], by in [2])]
    fn add(model: &mut u32, by: u32) {}

    #[op(lock_free = true, lock_free, lock_free, call)]
    fn flags(model: &mut u32) {}

    #[blocking(lock_free)]
    fn waits(model: &mut u32) -> Option<()> {
        None
    }

    #[op]
    #[blocking]
    pub fn two(model: &mut u32) {}
}

#[rsmc::spec]
mod without_operations {}

#[rsmc::spec]
fn no_module() {}

fn main() {
    // Nothing is missing because of the errors above.
    operations::two(&mut 0);
}
