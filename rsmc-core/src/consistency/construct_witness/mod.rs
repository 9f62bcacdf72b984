//! ConstructWitness: is there an execution of these events in which every read returns the value it must, and which?
//!
//! Problem. Given the events of a beginning of a run, with one new read, and for every read the writes of the value
//! that it must return: find an order in which they can happen, or find that there is none.
//!
//! Algorithm. Cheap steps first. URF: the orderings that every witness must have, which often contradict each other.
//! INCR: the order of the run from which the events come, with the new read put in where it fits. Complete: a search.
//!
//! Cost. URF is polynomial, INCR linear; the complete step is exponential in threads and locations only.
//!
//! Source. Stamos, "Optimal Exploration of Sequentially Consistent Executions of Concurrent Programs under View
//! Equivalence" (thesis, NTUA 2025), chapter 5, algorithms 4 to 6.
//!
//! Deviations. (1) INCR comes before URF: it costs less than URF and settles most questions whose answer is yes. The
//! complete step goes on from the order that URF has found. (2) INCR reuses the *sequence* of the earlier run instead
//! of its relations, and a second one does not have to be sorted out of relations. (3) The complete step is a search
//! by values instead of a call of a solver. (4) Updates, locks, fences and store buffers.

mod complete;
mod incr;
mod urf;

pub use incr::incr;
pub use urf::urf;

use crate::consistency::construct_witness::complete::Complete;
use crate::consistency::construct_witness::incr::Incr;
use crate::consistency::{Instance, Move};
use crate::model::MemoryModel;

/// The number of times that each step decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// INCR found a witness.
    pub incr: u64,
    /// URF found that there is none.
    pub urf: u64,
    /// The complete step found a witness.
    pub found: u64,
    /// The complete step found that there is none.
    pub refuted: u64,
}

/// Answers questions under a memory model: instances in which every buffered store has a fence before the first direct
/// write or update that its thread does later, and nothing comes after the last event. Keeps its memory from one to
/// the next.
#[derive(Clone, Debug, Default)]
pub struct ConstructWitness {
    incr: Incr,
    complete: Complete,
    decided: Decided,
}

impl ConstructWitness {
    /// For a model.
    ///
    /// # Panics
    /// If executions of the model are graphs.
    pub fn new(model: MemoryModel) -> Self {
        Self { complete: Complete::new(model), ..Self::default() }
    }

    /// The number of times that each step decided.
    pub fn decided(&self) -> Decided {
        self.decided
    }

    /// A witness of the instance, appended to `witness`; false if there is none.
    ///
    /// `guide` is an execution of all events but the last, in which the reads may return wrong values.
    pub fn construct(&mut self, instance: &Instance, guide: &[Move], witness: &mut Vec<Move>) -> bool {
        if self.incr.find(instance, guide, witness) {
            self.decided.incr += 1;
            return true;
        }
        if !self.complete.close(instance) {
            self.decided.urf += 1;
            return false;
        }
        let found = self.complete.search_closed(instance, witness);
        self.count(found)
    }

    /// A witness of the instance by the complete step alone, appended to `witness`; false if there is none.
    pub fn search(&mut self, instance: &Instance, witness: &mut Vec<Move>) -> bool {
        let found = self.complete.search(instance, witness);
        self.count(found)
    }

    fn count(&mut self, found: bool) -> bool {
        *(if found { &mut self.decided.found } else { &mut self.decided.refuted }) += 1;
        found
    }
}
