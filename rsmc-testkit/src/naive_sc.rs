//! The naive verifier: every interleaving, until one is a witness. The oracle of [`rsmc_core::consistency::Verifier`].

use rsmc_core::consistency::{Instance, Move, check_witness};
use rsmc_core::model::MemoryModel;

/// A witness of the instance, found by trying all orders that respect program order. Exponential.
pub fn naive_sc(instance: &Instance) -> Option<Vec<usize>> {
    let mut order = Vec::new();
    extend(instance, &mut order).then_some(order)
}

fn extend(instance: &Instance, order: &mut Vec<usize>) -> bool {
    if order.len() == instance.len() {
        let witness: Vec<Move> = order.iter().copied().map(Move::Perform).collect();
        return check_witness(instance, MemoryModel::Sc, &witness).is_ok();
    }
    for event in 0..instance.len() {
        let ready = |&(a, b): &(u32, u32)| b as usize != event || order.contains(&(a as usize));
        if order.contains(&event) || !instance.edges().iter().all(ready) {
            continue;
        }
        order.push(event);
        if extend(instance, order) {
            return true;
        }
        order.pop();
    }
    false
}
