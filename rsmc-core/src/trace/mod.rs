//! A recorded execution: events, the notes between them, and the relations that follow from both.
//!
//! An *event* is an operation other threads can see, and the unit that explorers order. A *note* is anything else
//! worth recording (a spawn, a fence, an access to a tracked cell): it has a place but is no event of a class.

mod action;
mod call;
mod call_path;
mod class;
mod event;
mod history;
mod known;
mod order;
mod record;
mod rounds;
pub mod spin;
mod weakened;

pub use action::{Action, CHOICE, CONDVAR, Effect, FREE, HELD, PATIENCE, POISONED, Rmw, RmwKind, SUSPENSION, TRACKED};
pub use call::{Call, CallResult, Calls, Message, ScenarioCall, ScenarioCalls};
pub use call_path::{Act, CallPath, CallPaths, Caller};
pub use class::{outcome_digest, reads_from_class};
pub use event::{
    Done, Event, Explore, LocInfo, Making, Note, NoteKind, Op, Site, Source, ThreadInfo, strongest, weakest,
};
pub use history::Histories;
pub use known::Known;
pub use order::ProgramOrder;
pub use record::{Row, Trace};
pub use rounds::Rounds;
pub use weakened::{Weakened, WeakenedError};
