//! Partial store order: the stores of a thread wait in one queue per location.
//!
//! Source. The SPARC Architecture Manual, version 8, appendix K. A `Release` store, or a fence that releases, is a
//! store-store fence (`STBAR`): stores after it stay behind those before it. Without that, every correct mailbox
//! would be flagged.

use std::sync::atomic::Ordering;

use crate::model::{Buffered, Description, MemoryModel, StoreBuffers, tso};
use crate::trace::Op;

/// The model.
pub(super) const DESCRIPTION: Description = Description {
    name: "pso",
    title: "PSO",
    buffers: StoreBuffers::PerThreadAndLocation,
    is_graph: false,
    stronger: &[MemoryModel::Sc, MemoryModel::Tso],
    needs: Some("needs PSO: stores that overtake each other"),
    weak_steps: "delayed stores",
};

/// Stores wait as under TSO.
pub(super) fn buffers(op: &Op) -> bool {
    tso::buffers(op)
}

/// Releasing orderings are store-store fences.
pub(super) fn orders_stores(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// The oldest store to its location goes first, and no store overtakes one that stands before a store-store fence.
pub(super) fn may_flush(buffer: &[Buffered], at: usize) -> bool {
    let own = &buffer[at];
    buffer[..at].iter().all(|earlier| earlier.loc != own.loc && earlier.epoch == own.epoch)
}
