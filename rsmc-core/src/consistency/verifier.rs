//! The verifiers of all memory models that have a memory, behind one type, and the table of models and verifiers.

use crate::consistency::search::{Prefix, Search, Strategy};
use crate::consistency::verify_pso::VerifyPso;
use crate::consistency::verify_sc::VerifySc;
use crate::consistency::verify_tso::VerifyTso;
use crate::consistency::{Instance, Move};
use crate::model::MemoryModel;

/// An algorithm that answers instances.
#[derive(Clone, Copy, Debug, Default)]
enum Algorithm {
    /// [`VerifySc`].
    #[default]
    Sc,
    /// [`VerifyTso`].
    Tso,
    /// [`VerifyPso`].
    Pso,
}

impl Algorithm {
    /// The table: by memory model, the algorithm that answers its instances.
    fn of(model: MemoryModel) -> Option<Self> {
        match model {
            MemoryModel::Sc => Some(Algorithm::Sc),
            MemoryModel::Tso => Some(Algorithm::Tso),
            MemoryModel::Pso => Some(Algorithm::Pso),
            MemoryModel::C11 => None, // `VerifyC11` answers its graphs.
        }
    }
}

/// Answers instances under a memory model that has a memory; keeps its own memory from one to the next. By default SC.
#[derive(Clone, Debug, Default)]
pub struct Verifier {
    model: MemoryModel,
    algorithm: Algorithm,
    without_closure: bool,
    sc: VerifySc,
    prefix: Prefix,
    search: Search,
}

impl Verifier {
    /// A verifier for a model.
    ///
    /// # Panics
    /// If executions of the model are graphs: an instance does not say enough, and [`super::VerifyC11`] answers.
    pub fn new(model: MemoryModel) -> Self {
        Self::of(model).unwrap_or_else(|| panic!("{}", refusal(model)))
    }

    /// A verifier for a model; `None` if its executions are graphs.
    pub fn of(model: MemoryModel) -> Option<Self> {
        Algorithm::of(model).map(|algorithm| Self { model, algorithm, ..Self::default() })
    }

    /// A verifier for SC, which is also that of any other model where all events are sequentially consistent.
    pub fn sequential() -> Self {
        Self::default()
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
        match self.algorithm {
            Algorithm::Sc => self.sc.verify(instance, &rank, witness),
            Algorithm::Tso => self.search(instance, &rank, &VerifyTso, witness),
            Algorithm::Pso => self.search(instance, &rank, &VerifyPso, witness),
        }
    }

    /// A search under a model with buffers.
    fn search(
        &mut self,
        instance: &Instance,
        rank: &dyn Fn(usize) -> u32,
        strategy: &impl Strategy,
        witness: &mut Vec<Move>,
    ) -> bool {
        let Self { model, prefix, search, .. } = self;
        let possible = prefix.start(instance, *model, !self.without_closure, rank).is_ok();
        let found = possible && search.run(instance, prefix, strategy);
        if found {
            witness.extend(prefix.moves());
        }
        found
    }
}

/// The message of the panic where a verifier of instances is asked about a model of graphs.
pub(super) fn refusal(model: MemoryModel) -> String {
    format!("this is a bug in rsmc: an instance was to be answered under {model:?}, whose executions are graphs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consistency::{ConstructWitness, check_witness};

    #[test]
    fn a_verifier_is_that_of_its_model() {
        for model in MemoryModel::ALL {
            let expected = (!model.is_graph()).then_some(model);
            assert_eq!(Verifier::of(model).map(|verifier| verifier.model()), expected);
        }
        assert_eq!(Verifier::sequential().model(), MemoryModel::Sc);
    }

    #[test]
    #[should_panic(expected = "this is a bug in rsmc: an instance was to be answered under C11")]
    fn a_verifier_of_instances_refuses_a_model_of_graphs() {
        Verifier::new(MemoryModel::C11);
    }

    #[test]
    #[should_panic(expected = "this is a bug in rsmc: an instance was to be answered under C11")]
    fn construct_witness_refuses_a_model_of_graphs() {
        ConstructWitness::new(MemoryModel::C11);
    }

    #[test]
    #[should_panic(expected = "this is a bug in rsmc: an instance was to be answered under C11")]
    fn a_witness_is_played_on_a_memory_only() {
        let _ = check_witness(&Instance::default(), MemoryModel::C11, &[]);
    }
}
