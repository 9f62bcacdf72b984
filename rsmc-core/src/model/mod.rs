//! Memory models: the description of each, and their operational rules, which say what memory and buffers hold and how
//! a step changes them.
//!
//! [`Memory`] is the state, the same for all models. The differences are in one file for each model: its
//! [`Description`], which stores wait in a buffer, and in what order a buffer may be emptied.

pub mod c11;
mod description;
mod memory;
mod pso;
mod sc;
mod tso;

pub use description::{Description, StoreBuffers};
pub use memory::{Buffered, Cell, Memory};

use std::fmt;
use std::sync::atomic::Ordering;

use crate::trace::Op;

/// The memory model that executions follow.
///
/// The effect of Rust's orderings in the models:
///
/// | operation | `Sc` | `Tso` | `Pso` |
/// | --- | --- | --- | --- |
/// | load, any ordering | memory | own buffer, else memory | own buffer, else memory |
/// | `Relaxed` store | memory | one FIFO buffer per thread | one FIFO buffer per thread and location |
/// | `Release` store | memory | as `Relaxed` | after all earlier stores of the thread, else as `Relaxed` |
/// | `SeqCst` store | memory | waits for an empty buffer, then memory | the same, for all buffers of the thread |
/// | read-modify-write, also a failed compare-exchange | memory | as a `SeqCst` store | the same |
/// | `fence(Release)`, `fence(AcqRel)` | – | – | later stores reach memory after earlier ones |
/// | `fence(Acquire)`, `compiler_fence` | – | – | – |
/// | `fence(SeqCst)` | – | waits for an empty buffer | waits for empty buffers |
/// | locks, park, unpark, spawn, join, end of a thread | memory | as a `SeqCst` store | the same |
///
/// None of these reorders loads: a missing `Acquire` shows in no value, only as a data race on a tracked cell. Under
/// `C11` there is no memory: a load takes any write that the axioms allow.
///
/// The numbers are part of seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MemoryModel {
    /// Sequential consistency: one interleaving of all operations, every write seen by all at once.
    #[default]
    Sc = 0,
    /// Total store order (x86): the stores of a thread wait in one buffer and become visible in order.
    Tso = 1,
    /// Partial store order (SPARC): the stores of a thread to different locations become visible in any order.
    Pso = 2,
    /// C++20's memory model, which Rust promises: see [`c11`].
    C11 = 3,
}

/// A property of a model. It is a constant for each, so a question in every step costs no look into memory.
macro_rules! property {
    ($model:ident.$property:ident) => {
        match $model {
            MemoryModel::Sc => sc::DESCRIPTION.$property,
            MemoryModel::Tso => tso::DESCRIPTION.$property,
            MemoryModel::Pso => pso::DESCRIPTION.$property,
            MemoryModel::C11 => c11::DESCRIPTION.$property,
        }
    };
}

impl MemoryModel {
    /// All models by their numbers, each behind those that are stronger.
    pub const ALL: [MemoryModel; 4] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso, MemoryModel::C11];

    /// Their names in configurations.
    pub const NAMES: [&str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut at = 0;
        while at < names.len() {
            names[at] = Self::ALL[at].description().name;
            at += 1;
        }
        names
    };

    /// The description of the model.
    pub const fn description(self) -> &'static Description {
        match self {
            MemoryModel::Sc => &sc::DESCRIPTION,
            MemoryModel::Tso => &tso::DESCRIPTION,
            MemoryModel::Pso => &pso::DESCRIPTION,
            MemoryModel::C11 => &c11::DESCRIPTION,
        }
    }

    /// The model of this name in configurations.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.description().name == name)
    }

    /// Its number in seeds.
    pub fn number(self) -> u64 {
        self as u64
    }

    /// Its store buffers.
    #[inline]
    pub fn store_buffers(self) -> StoreBuffers {
        property!(self.buffers)
    }

    /// Whether stores may wait in a buffer at all.
    #[inline]
    pub fn has_buffers(self) -> bool {
        self.store_buffers() != StoreBuffers::None
    }

    /// Whether executions are graphs; see [`Description::is_graph`].
    #[inline]
    pub fn is_graph(self) -> bool {
        property!(self.is_graph)
    }

    /// Whether it is sequential consistency: memory without buffers.
    #[inline]
    pub fn is_sequential(self) -> bool {
        !self.has_buffers() && !self.is_graph()
    }

    /// Whether each execution of another model is one of this model, and not the other way round.
    pub fn is_weaker_than(self, other: Self) -> bool {
        self.description().stronger.contains(&other)
    }

    /// Whether an operation only puts its value into the buffer of its thread.
    #[inline]
    pub fn buffers(self, op: &Op) -> bool {
        match self.store_buffers() {
            StoreBuffers::None => sc::buffers(op),
            StoreBuffers::PerThread => tso::buffers(op),
            StoreBuffers::PerThreadAndLocation => pso::buffers(op),
        }
    }

    /// Whether an operation waits until all earlier stores of its thread are in memory.
    #[inline]
    pub fn drains(self, op: &Op) -> bool {
        self.has_buffers() && op.action.drains() && !self.buffers(op)
    }

    /// Whether an ordering, of a store or a fence, keeps later stores of the thread behind earlier ones.
    pub fn orders_stores(self, order: Ordering) -> bool {
        self.store_buffers() == StoreBuffers::PerThreadAndLocation && pso::orders_stores(order)
    }

    /// Whether the store at place `at` of its thread's buffer may become visible now.
    fn may_flush(self, buffer: &[Buffered], at: usize) -> bool {
        match self.store_buffers() {
            StoreBuffers::None => unreachable!("this is a bug in rsmc: {} has no buffers", self.description().title),
            StoreBuffers::PerThread => tso::may_flush(buffer, at),
            StoreBuffers::PerThreadAndLocation => pso::may_flush(buffer, at),
        }
    }
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_and_names_are_found() {
        for (number, model) in MemoryModel::ALL.into_iter().enumerate() {
            assert_eq!(model.number(), number as u64);
            assert_eq!(MemoryModel::named(MemoryModel::NAMES[number]), Some(model));
            assert_eq!(model.to_string(), MemoryModel::NAMES[number]);
        }
        assert_eq!(MemoryModel::named("rc11"), None);
    }

    #[test]
    fn stronger_models_come_first_and_their_stronger_models_are_stronger_too() {
        for model in MemoryModel::ALL {
            for &stronger in model.description().stronger {
                assert!(stronger.number() < model.number(), "{stronger} and {model}");
                let even_stronger = stronger.description().stronger;
                assert!(even_stronger.iter().all(|&other| model.is_weaker_than(other)), "{stronger} and {model}");
            }
            let is_least = model.description().stronger.is_empty();
            assert_eq!(model.is_sequential(), is_least, "every model but SC is weaker than SC");
        }
    }

    #[test]
    fn a_graph_has_no_buffers() {
        assert!(MemoryModel::ALL.into_iter().all(|model| !(model.is_graph() && model.has_buffers())));
    }
}
