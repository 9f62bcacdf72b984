//! Schedules that wait to be run, in little memory.
//!
//! Along one path many schedules are left to try, each with the steps of a whole execution. What is known of a step but for
//! the value that it reads is the same in nearly all of them, so it is kept once; a step of a schedule is a number and
//! that value.

use rustc_hash::FxHashMap;

use crate::base::EventId;
use crate::explore::rf_smc::schedule::Witness;
use crate::step::{Expect, Forced, Plan, Route, Step};

/// A forced step: the number of what is known of it, and the value that it reads, if it reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    number: u32,
    /// In two halves, so that a step takes 12 bytes.
    read: [u32; 2],
}

/// As [`Witness`].
#[derive(Debug, Default)]
pub(super) struct PackedWitness {
    pub(super) steps: Vec<Packed>,
    pub(super) modification: Vec<EventId>,
}

/// What is known of steps but for what they read.
#[derive(Debug, Default)]
pub(super) struct Steps {
    known: Vec<Forced>,
    numbers: FxHashMap<Forced, u32>,
}

impl Steps {
    pub(super) fn pack(&mut self, forced: &Forced) -> Packed {
        let read = forced.expect.and_then(|expect| expect.read).unwrap_or(0);
        let expect = forced.expect.map(|expect| Expect { read: None, ..expect });
        let unread = Forced { step: forced.step, expect };
        let number = *self.numbers.entry(unread).or_insert_with(|| {
            self.known.push(unread);
            self.known.len() as u32 - 1
        });
        Packed { number, read: [read as u32, (read >> 32) as u32] }
    }

    /// By event the step that it was made by, if that says nothing but what the event was.
    pub(super) fn of_events<'a>(&'a self, steps: &'a [Packed]) -> impl Iterator<Item = Option<Packed>> + 'a {
        steps.iter().filter_map(|packed| match self.known[packed.number as usize].step {
            Step::Flush(_) => None,
            Step::Run(_) | Step::Choose { takes: None, .. } => Some(Some(*packed)),
            Step::Take(..) | Step::Choose { .. } => Some(None),
        })
    }

    fn unpack(&self, packed: &Packed) -> Forced {
        let known = self.known[packed.number as usize];
        let [low, high] = packed.read.map(u64::from);
        let value = |expect: Expect| expect.action.reads().then_some(low | high << 32);
        Forced { expect: known.expect.map(|expect| Expect { read: value(expect), ..expect }), ..known }
    }

    pub(super) fn pack_all(&mut self, witness: Witness) -> PackedWitness {
        let steps = witness.steps.iter().map(|forced| self.pack(forced)).collect();
        PackedWitness { steps, modification: witness.modification }
    }

    /// Makes a plan force an execution.
    pub(super) fn force(&self, witness: &PackedWitness, plan: &mut Plan) {
        plan.forced.extend(witness.steps.iter().map(|packed| self.unpack(packed)));
        plan.modification.extend_from_slice(&witness.modification);
    }

    pub(super) fn route(&self, witness: &PackedWitness) -> Route {
        let steps: Vec<Forced> = witness.steps.iter().map(|packed| self.unpack(packed)).collect();
        Route::new(&steps, &witness.modification)
    }
}
