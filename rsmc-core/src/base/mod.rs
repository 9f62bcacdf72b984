//! Names and containers that everything else is built from: ids as types, tables keyed by an id, bit sets, orders.
//!
//! Nothing here knows what a thread does or what a memory model is.

mod bits;
mod clock;
mod digest;
mod ids;
mod poset;
mod spilled;

pub use bits::{BitMatrix, BitSet, ones, unite};
pub use clock::{ClockId, ClockTable, VectorClock};
pub use digest::{Digest, mix};
pub use ids::{EventId, Id, IdVec, LocId, ThreadId};
pub use poset::{Cycle, Poset};
pub use spilled::Spill;
pub(crate) use spilled::{Record, Spilled};
