//! Total store order: the stores of a thread wait in one queue.
//!
//! Source. S. Owens, S. Sarkar, P. Sewell, "A better x86 memory model: x86-TSO", TPHOLs 2009.

use std::sync::atomic::Ordering;

use crate::model::{Buffered, Description, MemoryModel, StoreBuffers};
use crate::trace::{Action, Op};

/// The model.
pub(super) const DESCRIPTION: Description = Description {
    name: "tso",
    title: "TSO",
    buffers: StoreBuffers::PerThread,
    is_graph: false,
    stronger: &[MemoryModel::Sc],
    needs: Some("needs TSO store buffering"),
    weak_steps: "delayed stores",
};

/// Stores wait, except for those that are followed by a full fence: a `SeqCst` store enters memory at the moment at
/// which it would leave the buffer, since its thread does nothing in between.
pub(super) fn buffers(op: &Op) -> bool {
    matches!(op.action, Action::Store(_)) && op.order != Ordering::SeqCst
}

/// The oldest store goes first.
pub(super) fn may_flush(_buffer: &[Buffered], at: usize) -> bool {
    at == 0
}
