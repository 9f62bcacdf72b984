//! The machine: everything of an execution that does not depend on where the operations come from.
//!
//! An executor (coroutines, litmus interpreter) tells the machine which operation each thread stands before
//! ([`Machine::arrive`]), asks which thread goes on ([`Machine::who_next`]) and lets it act ([`Machine::perform`]). The
//! machine keeps memory, decides what is enabled, follows the plan, recognises spin loops and records the trace.
//!
//! Invariants.
//! - Every thread stands before a visible operation, waits in a join or for its stores to become visible, or has
//!   ended, whenever a step is chosen: starts, finished joins and passed fences are continued first, since they
//!   commute with everything.
//! - A forced step is taken as it is or the run ends as [`crate::step::End::Diverged`]; it is never replaced.
//! - `perform` records exactly one event.

mod accesses;
mod ahead;
mod altered;
mod choose;
mod core;
mod counted;
mod dice;
mod end;
mod endless;
mod freed;
mod given_up;
mod glimpse;
mod graphs;
mod idle;
mod loops;
mod names;
mod orders;
mod patience;
mod pure;
mod retries;
mod rounds;
mod rules;
mod sources;
mod suspend;
mod visits;

use std::sync::atomic::Ordering;

use rustc_hash::FxHashSet;

use crate::base::{Digest, IdVec, ThreadId};
use crate::machine::accesses::Accesses;
use crate::machine::ahead::Trust;
use crate::machine::altered::Altered;
use crate::machine::counted::Repeats;
use crate::machine::dice::Dice;
use crate::machine::endless::{Endless, Turns};
use crate::machine::given_up::GivenUp;
use crate::machine::graphs::Graphs;
use crate::machine::idle::Idle;
use crate::machine::loops::Loops;
use crate::machine::names::Names;
use crate::machine::orders::Orders;
use crate::machine::patience::{Patience, Silence};
use crate::machine::retries::Retries;
use crate::machine::rounds::Round;
use crate::machine::suspend::Suspension;
use crate::machine::visits::Visits;
use crate::model::Memory;
use crate::step::{Plan, Run, Step, Watcher};
use crate::trace::spin::{Recent, Watched};
use crate::trace::{Histories, Op, Site, Source};

pub use self::accesses::Begun;
pub use self::ahead::{Doubts, Place};
pub use self::dice::Stream;
pub use self::freed::{Suspect, may_have_suspects, suspects};
pub use self::glimpse::{Glance, Glimpse, Preserved};
pub use self::rules::{Rules, Sees, rounds};
pub use self::visits::State;

/// The decision which thread goes on, or that the execution is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This thread starts, or has received the end of the thread it joined.
    Continue(ThreadId),
    /// This thread performs the operation it stands before.
    Step(ThreadId),
    /// No thread: the execution is over, and the run says how it ended.
    Over,
}

/// The result of a performed operation, which its thread receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The value it read.
    pub read: u64,
    /// The value it wrote, if it wrote.
    pub written: Option<u64>,
}

/// The status of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Status {
    /// It is not part of this execution.
    #[default]
    Absent,
    /// It was spawned and has not begun, or its join has just finished: it goes on before the next step.
    Due,
    /// It runs code of the user.
    Running,
    /// It stands before an operation.
    Standing(Op),
    /// It waits for the end of a thread.
    Joining(ThreadId, Site),
    /// It waits until its stores are visible to all.
    Draining(Then),
    /// It ended.
    Ended,
}

/// The next act of a thread, once its stores are visible to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// It passes a fence.
    Fence(Ordering, Site),
    /// It starts a thread, or begins to wait for one.
    GoOn,
    /// It ends.
    End,
}

/// A wait in a spin loop.
#[derive(Clone, Debug)]
struct SpinWait {
    watched: Vec<Watched>,
    /// Where the thread stands behind its rounds: one of these must have changed as well.
    behind: Vec<Watched>,
    /// The thread is in the state in which it was before the iteration, so it would do the same again.
    exact: bool,
    hinted: bool,
    site: Site,
}

impl SpinWait {
    /// A wait behind an iteration that the thread would repeat exactly.
    fn new(watched: Vec<Watched>, hinted: bool, site: Site) -> Self {
        Self { watched, behind: Vec::new(), exact: true, hinted, site }
    }
}

/// A thread is held back in an iteration that changes nothing: the others do not see what it has begun.
#[derive(Clone, Debug)]
struct HeldBack {
    /// The operation before which it waits for ever, whichever it comes to. `None` if it has done the whole iteration:
    /// it waits where it stands when the plan ends.
    op: Option<Op>,
    /// The index of the event with which it began the iteration, and that behind the last one.
    since: u32,
    until: u32,
    /// The operations of the iteration that are not in the execution, with their outcomes.
    rest: Vec<(Op, Outcome)>,
    /// The operation to which it has come meanwhile.
    comes_to: Option<Op>,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    status: Status,
    spin: Option<SpinWait>,
    recent: Recent,
    /// The number of its last events that were not added to `recent`.
    unseen: u32,
    visits: Visits,
    altered: Altered,
    patience: Patience,
    repeats: Repeats,
    turns: Turns,
    /// The number of its events that the plan forced.
    forced: u32,
    /// The iterations in which it is held back.
    held_back: Vec<HeldBack>,
    /// The value of `changes` when it last began to wait in a loop.
    spun_at: Option<u32>,
    spawned: u32,
    /// Another thread has received its end.
    joined: bool,
    /// The number of threads that wait for its end.
    awaited: u32,
}

/// The state of an execution; see the module.
pub struct Machine {
    rules: Rules,
    memory: Memory,
    threads: IdVec<ThreadId, Thread>,
    plan: Plan,
    run: Run,
    /// Threads that go on before the next step, oldest first.
    due: std::collections::VecDeque<ThreadId>,
    last: ThreadId,
    spinning: u32,
    /// The number of steps that were taken.
    steps: usize,
    /// The number of events after which the execution ends.
    most_events: usize,
    /// The number of changes of memory.
    changes: u32,
    /// The digests of the execution whenever an iteration was left out, and whether each thread runs alone from now on.
    left_out: FxHashSet<Digest>,
    runs_alone: bool,
    /// A thread has changed or altered something that it may take back (`rounds`).
    may_take_back: bool,
    /// The rounds that threads begin if they go on.
    begun: Vec<Round>,
    /// From this event of a thread on, its events are looked at: no iteration can have repeated often enough before.
    looks_from: u32,
    /// Other threads need the beginning of an iteration that the plan forced.
    needs_begun: bool,
    endless: Endless,
    idle: Idle,
    /// Whether iterations that change nothing are left out.
    waiting: bool,
    dice: Dice,
    enabled: Vec<Step>,
    /// The thread that goes on in silence, and whether a thread is or was in a loop that counts.
    silence: Option<Silence>,
    has_patience: bool,
    /// The threads that were tested: they wait for ever.
    tried: Vec<ThreadId>,
    over: bool,
    given_up: GivenUp,
    /// The number of executions that were given up, went on, and did not end.
    in_vain: u32,
    /// The source of the next operation, if the plan or the policy names one.
    taken: Option<Source>,
    graphs: Graphs,
    histories: Histories,
    accesses: Accesses,
    /// The thread that is held before the access of a cell.
    held: Option<ThreadId>,
    names: Names,
    loops: Loops,
    /// The places at which threads were seen twice without a change in between.
    places: Vec<(u64, Site)>,
    trust: Trust,
    retries: Retries,
    again: bool,
    watcher: Option<Watcher>,
    orders: Orders,
    suspensions: Vec<Suspension>,
    /// Whether operations are those that the program has: their orderings are as written, and no thread is suspended.
    as_written: bool,
}
