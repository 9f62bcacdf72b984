//! The differences between memory models, as data.
//!
//! Each model's file has its [`Description`]. No other code names a model (`tests/layers.rs` lists the few files that
//! do): it asks for a property, so that a new model is described in one place.

use crate::model::MemoryModel;

/// The store buffers of a memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreBuffers {
    /// None: a store is in memory at once.
    None,
    /// One queue for each thread.
    PerThread,
    /// One queue for each thread and location. Store-store fences order the stores of different queues.
    PerThreadAndLocation,
}

/// A memory model, as [`MemoryModel::description`] returns it.
#[derive(Debug)]
pub struct Description {
    /// Its name in configurations, in the environment and in reports: `tso`.
    pub name: &'static str,
    /// Its name in sentences: `TSO`.
    pub title: &'static str,
    /// Its store buffers.
    pub buffers: StoreBuffers,
    /// Its executions are graphs that satisfy axioms: there is no memory, and a read takes any write that they allow. A
    /// step names the write that its read takes, and writes are ordered apart from when they happen.
    pub is_graph: bool,
    /// The stronger models: each execution of these is one of this model.
    pub stronger: &'static [MemoryModel],
    /// The sentence about a failure of this model that none of the stronger ones has; without one it is made of the
    /// names.
    pub needs: Option<&'static str>,
    /// The steps of its executions that SC does not have, in the plural.
    pub weak_steps: &'static str,
}
