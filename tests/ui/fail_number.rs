//! Values of the arguments that are numbers.

#[rsmc::test(max_executions = 0, max_steps = 0, spin_bound = 0, stack_size = 0)]
fn zero() {}

#[rsmc::test(max_steps = 4_294_967_296)]
fn too_large() {}

#[rsmc::test(seed = -1)]
fn negative() {}

#[rsmc::test(max_executions = 1e6)]
fn floating() {}

#[rsmc::test(max_executions = "1000")]
fn text() {}

#[rsmc::test(spin_bound = 2u8)]
fn suffix() {}

#[rsmc::test(preemption_bound = -1)]
fn negative_bound() {}

#[rsmc::test(preemption_bound = "two")]
fn bound_as_text() {}

fn main() {}
