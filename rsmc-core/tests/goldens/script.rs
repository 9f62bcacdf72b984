//! Executions written by hand, in the order in which they happen.

use std::sync::atomic::Ordering;

use rsmc_core::base::{EventId, LocId, ThreadId};
use rsmc_core::machine::{Machine, Next, Rules};
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{Pending, Plan, Run, Why};
use rsmc_core::trace::{Action, LocInfo, NoteKind, Op, Rmw, RmwKind, Site};

/// The thread of the test body.
pub const MAIN: ThreadId = ThreadId::MAIN;

/// Drives a machine by hand; every line given is one of the current file.
pub struct Script {
    machine: Machine,
    file: &'static str,
    waits: bool,
}

impl Script {
    pub fn new(file: &'static str) -> Self {
        let mut machine = Machine::new(Rules { memory: MemoryModel::Sc, max_steps: 1000, spin_bound: 2 });
        machine.begin(&Plan::default());
        Self { machine, file, waits: false }
    }

    /// From now on, lines are of this file.
    pub fn file(&mut self, file: &'static str) {
        self.file = file;
    }

    fn site(&self, line: u32) -> Site {
        Site::Place { file: self.file, line }
    }

    pub fn location(&mut self, kind: &'static str, line: u32, init: u64) -> LocId {
        self.machine.add_location(LocInfo { kind, created: self.site(line), init })
    }

    pub fn spawn(&mut self, parent: ThreadId, name: Option<&str>, line: u32) -> ThreadId {
        let child = self.machine.spawn(parent, name.map(str::to_owned), self.site(line));
        assert_eq!(self.machine.who_next(), Next::Continue(child));
        child
    }

    /// The thread performs an operation.
    pub fn step(&mut self, thread: ThreadId, action: Action, loc: LocId, order: Ordering, line: u32) {
        self.stand(thread, action, loc, order, line);
        self.waits = false;
        self.machine.perform(thread);
    }

    /// The thread comes to an operation, and never performs it.
    pub fn stand(&mut self, thread: ThreadId, action: Action, loc: LocId, order: Ordering, line: u32) {
        let failure = if order == Ordering::AcqRel { Ordering::Acquire } else { order };
        self.machine.arrive(thread, Op { action, loc, order, failure, site: self.site(line) });
        self.waits = true;
    }

    /// A thread that spins before an operation, for the list of those that wait.
    pub fn spins(&self, thread: ThreadId, (action, loc, line): (Action, LocId, u32), why: Why) -> Pending {
        let (order, site) = (Ordering::Acquire, self.site(line));
        let id = EventId { thread, index: self.machine.run().trace.count(thread) };
        Pending { id, op: Some(Op { action, loc, order, failure: order, site }), why, site }
    }

    /// The thread receives the end of another that has ended.
    pub fn join(&mut self, thread: ThreadId, target: ThreadId, line: u32) {
        assert!(self.machine.join(thread, target, self.site(line)));
    }

    /// The thread waits for the end of another.
    pub fn join_later(&mut self, thread: ThreadId, target: ThreadId, line: u32) {
        assert!(!self.machine.join(thread, target, self.site(line)));
        self.waits = true;
    }

    pub fn end(&mut self, thread: ThreadId) {
        self.machine.end(thread);
    }

    pub fn panic(&mut self, thread: ThreadId, message: &str, line: u32) {
        self.machine.panicked(thread, message.to_owned(), self.site(line));
    }

    /// Records a note, and says which it is.
    pub fn note(&mut self, thread: ThreadId, kind: NoteKind, line: u32) -> usize {
        self.machine.note(thread, kind, self.site(line));
        self.machine.run().trace.notes.len() - 1
    }

    /// The execution so far; if its last step made a thread wait, all threads must wait.
    pub fn finish(mut self) -> Run {
        if self.waits {
            assert_eq!(self.machine.who_next(), Next::Over);
        }
        let mut run = Run::default();
        self.machine.take_run(&mut run);
        run
    }
}

/// A compare-exchange.
pub fn cas(expected: u64, new: u64) -> Action {
    Action::Cas { expected, new }
}

/// An addition in 64 bits.
pub fn add(operand: u64) -> Action {
    Action::Rmw(Rmw { kind: RmwKind::Add, operand, bits: 64 })
}
