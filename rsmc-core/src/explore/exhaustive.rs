//! Every interleaving of the visible operations and of the moments at which stores leave their buffers, without any
//! reduction: the oracle of all other explorers.
//!
//! Algorithm. Depth first: repeat the last run up to the deepest step at which another step was possible and has
//! not been taken, take it, and run on. No state is remembered but the path.
//!
//! Guarantees. Complete and, with one run per interleaving, as slow as it gets. Steps that are no visible operation
//! (starting a thread, receiving its end, passing a fence, accesses of tracked cells) commute with everything and are
//! not interleaved.

use crate::explore::Divisible;
use crate::step::{Choice, Explorer, Forced, Plan, Run, Step};

/// The explorer; see the module.
#[derive(Debug, Default)]
pub struct Exhaustive {
    path: Vec<Node>,
    started: bool,
}

#[derive(Debug)]
struct Node {
    taken: Step,
    left: Vec<Step>,
}

impl Exhaustive {
    /// An exploration that has not started.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Explorer for Exhaustive {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        if self.started {
            while self.path.last().is_some_and(|node| node.left.is_empty()) {
                self.path.pop();
            }
            let Some(node) = self.path.last_mut() else { return false };
            node.taken = node.left.pop().expect("a node without alternatives was removed");
        }
        self.started = true;
        plan.record_choices = true;
        plan.forced.clear();
        plan.forced.extend(self.path.iter().map(|node| Forced { step: node.taken, expect: None }));
        true
    }

    fn observe(&mut self, run: &Run) {
        // Behind a repeated iteration there is nothing new.
        let end = run.repeated.map_or(run.choices.len(), |steps| run.choices.len().min(steps as usize));
        for Choice { taken, possible, .. } in &run.choices[self.path.len().min(end)..end] {
            let left = possible.iter().copied().filter(|step| step != taken).collect();
            self.path.push(Node { taken: *taken, left });
        }
    }
}

impl Divisible for Exhaustive {}
