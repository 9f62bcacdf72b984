//! Consistency: is there an execution in which every read takes one of the writes that are good for it?
//!
//! One file per algorithm, under the paper's name. A positive answer is a witness, and [`check_witness`] accepts or
//! rejects witnesses without sharing code with the algorithms that make them.

mod check_witness;
mod closure;
mod closure_buffers;
mod construct_witness;
mod instance;
pub mod near_sc;
mod preemptions;
mod search;
mod verifier;
mod verify_c11;
mod verify_pso;
mod verify_sc;
mod verify_tso;

pub use check_witness::{Flaw, check_witness};
pub use closure::close;
pub use closure_buffers::close_buffers;
pub use construct_witness::{ConstructWitness, Decided, incr, urf};
pub use instance::{Instance, Move, Shape};
pub use preemptions::{Member, Preemptions, Takes};
pub use verifier::Verifier;
pub use verify_c11::VerifyC11;
