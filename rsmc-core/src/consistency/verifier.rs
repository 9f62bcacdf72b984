//! The verifiers of all memory models behind one door.

use crate::consistency::search::{Prefix, Search};
use crate::consistency::verify_pso::VerifyPso;
use crate::consistency::verify_sc::VerifySc;
use crate::consistency::verify_tso::VerifyTso;
use crate::consistency::{Instance, Move};
use crate::model::MemoryModel;

/// Answers instances under a memory model; keeps its memory from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Verifier {
    model: MemoryModel,
    without_closure: bool,
    sc: VerifySc,
    prefix: Prefix,
    search: Search,
}

impl Verifier {
    /// A verifier for a model.
    pub fn new(model: MemoryModel) -> Self {
        Self { model, ..Self::default() }
    }

    /// Searches without the closure, to measure what it is worth.
    pub fn without_closure(self) -> Self {
        Self { without_closure: true, sc: self.sc.without_closure(), ..self }
    }

    /// The model.
    pub fn model(&self) -> MemoryModel {
        self.model
    }

    /// A witness of the instance, appended to `witness`; false if there is none.
    ///
    /// `rank` gives the place of each event in an auxiliary trace that is close to a witness.
    ///
    /// # Panics
    /// Under TSO and PSO if some read has not exactly one good write.
    pub fn verify(&mut self, instance: &Instance, rank: impl Fn(usize) -> u32, witness: &mut Vec<Move>) -> bool {
        if !self.model.has_buffers() {
            return self.sc.verify(instance, rank, witness);
        }
        let Self { model, prefix, search, .. } = self;
        let possible = prefix.start(instance, *model, !self.without_closure, rank).is_ok();
        let found = possible
            && match model {
                MemoryModel::Tso => search.run(instance, prefix, &VerifyTso),
                _ => search.run(instance, prefix, &VerifyPso),
            };
        if found {
            witness.extend(prefix.moves());
        }
        found
    }
}
