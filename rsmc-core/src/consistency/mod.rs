//! Consistency: is there an execution in which every read takes one of the writes that are good for it?
//!
//! One file per algorithm, under the paper's name. A positive answer is a witness, and [`check_witness`] accepts or
//! rejects witnesses without sharing code with those who make them.

mod check_witness;
mod closure;
mod instance;
mod naive_sc;
mod verify_sc;

pub use check_witness::{Flaw, check_witness};
pub use closure::close;
pub use instance::Instance;
pub use naive_sc::naive_sc;
pub use verify_sc::Verifier;
