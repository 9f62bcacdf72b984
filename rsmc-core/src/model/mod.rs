//! Memory models as operational rules: what memory and buffers hold, and what a step does to them.
//!
//! [`Memory`] is the state, the same for all models. What tells the models apart is one file each: which stores wait
//! in a buffer, and in what order a buffer may be emptied.

pub mod c11;
mod memory;
mod pso;
mod sc;
mod tso;

pub use memory::{Buffered, Cell, Memory};

use std::sync::atomic::Ordering;

use crate::trace::Op;

/// The memory model that executions follow.
///
/// What the models do with Rust's orderings:
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

impl MemoryModel {
    /// Whether stores may wait in a buffer at all.
    #[inline]
    pub fn has_buffers(self) -> bool {
        matches!(self, MemoryModel::Tso | MemoryModel::Pso)
    }

    /// Whether an operation only puts its value into the buffer of its thread.
    #[inline]
    pub fn buffers(self, op: &Op) -> bool {
        match self {
            MemoryModel::Sc | MemoryModel::C11 => sc::buffers(op),
            MemoryModel::Tso => tso::buffers(op),
            MemoryModel::Pso => pso::buffers(op),
        }
    }

    /// Whether an operation waits until all earlier stores of its thread are in memory.
    #[inline]
    pub fn drains(self, op: &Op) -> bool {
        self.has_buffers() && op.action.drains() && !self.buffers(op)
    }

    /// Whether an ordering, of a store or a fence, keeps later stores of the thread behind earlier ones.
    pub fn orders_stores(self, order: Ordering) -> bool {
        self == MemoryModel::Pso && pso::orders_stores(order)
    }

    /// Whether the store at place `at` of its thread's buffer may become visible now.
    fn may_flush(self, buffer: &[Buffered], at: usize) -> bool {
        match self {
            MemoryModel::Sc | MemoryModel::C11 => unreachable!("this is a bug in rsmc: SC has no buffers"),
            MemoryModel::Tso => tso::may_flush(buffer, at),
            MemoryModel::Pso => pso::may_flush(buffer, at),
        }
    }
}
