//! Executions written by hand, in the order in which they happen.

use std::sync::atomic::Ordering;

use rsmc_core::base::{EventId, LocId, ThreadId};
use rsmc_core::machine::{Machine, Next, Rules};
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{Forced, Pending, Plan, Run, Step, Why};
use rsmc_core::trace::{Action, LocInfo, NoteKind, Op, Rmw, RmwKind, Site};

/// The thread of the test body.
pub const MAIN: ThreadId = ThreadId::MAIN;

/// Drives a machine by hand; every line given is one of the current file.
pub struct Script {
    machine: Machine,
    file: &'static str,
    waits: bool,
    /// The steps so far.
    steps: Vec<Step>,
    /// Whether the machine takes its steps from a plan, and flushes on the way.
    planned: bool,
}

/// An execution with store buffers. It is told twice, since a machine flushes only what its plan says: under `Sc`, to
/// learn the steps, and then under the model, by a plan of these steps.
pub fn buffered(memory: MemoryModel, file: &'static str, tell: impl Fn(&mut Script)) -> Run {
    let mut first = Script::new(file);
    tell(&mut first);
    // A last step that is impossible ends the execution where the story ends.
    let end = Step::Flush(EventId { thread: MAIN, index: u32::MAX });
    let forced = first.steps.into_iter().chain([end]).map(|step| Forced { step, expect: None }).collect();
    let plan = Plan { forced, ..Plan::default() };
    let mut second = Script { planned: true, ..Script::planned(file, Rules::new(memory, 1000), &plan) };
    tell(&mut second);
    assert_eq!(second.machine.who_next(), Next::Over, "the last flushes");
    let run = second.finish();
    let flushes = run.trace.notes.iter().filter(|note| matches!(note.kind, NoteKind::Flush(_))).count();
    assert_eq!(run.trace.events.len() + flushes + 1, plan.forced.len(), "it follows the plan: {:?}", run.end);
    run
}

impl Script {
    pub fn new(file: &'static str) -> Self {
        Self::planned(file, Rules::new(MemoryModel::Sc, 1000), &Plan::default())
    }

    fn planned(file: &'static str, rules: Rules, plan: &Plan) -> Self {
        let mut machine = Machine::new(rules);
        machine.begin(plan);
        Self { machine, file, waits: false, steps: Vec::new(), planned: false }
    }

    /// From now on, lines are of this file.
    pub fn file(&mut self, file: &'static str) {
        self.file = file;
    }

    fn site(&self, line: u32) -> Site {
        Site::Place { file: self.file, line }
    }

    pub fn location(&mut self, kind: &'static str, line: u32, init: u64) -> LocId {
        self.machine.add_location(LocInfo { kind, created: self.site(line), init, address: 0 })
    }

    pub fn spawn(&mut self, parent: ThreadId, name: Option<&str>, line: u32) -> ThreadId {
        let child = self.machine.spawn(parent, name.map(str::to_owned), self.site(line));
        assert_eq!(self.machine.who_next(), Next::Continue(child));
        child
    }

    /// The thread performs an operation; returns its event.
    pub fn step(&mut self, thread: ThreadId, action: Action, loc: LocId, order: Ordering, line: u32) -> EventId {
        let event = EventId { thread, index: self.machine.run().trace.count(thread) };
        self.stand(thread, action, loc, order, line);
        self.waits = false;
        self.steps.push(Step::Run(thread));
        if self.planned {
            assert_eq!(self.machine.who_next(), Next::Step(thread), "{:?}", self.machine.run().end);
        }
        self.machine.perform(thread);
        event
    }

    /// A store becomes visible to all, before whatever waits for it or is the next step.
    pub fn flush(&mut self, store: EventId) {
        self.steps.push(Step::Flush(store));
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
        if !self.machine.join(thread, target, self.site(line)) {
            assert!(self.planned, "it has ended");
            assert_eq!(self.machine.who_next(), Next::Continue(thread), "it ends when its stores are visible");
        }
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
        if self.waits && !self.planned {
            assert_eq!(self.machine.who_next(), Next::Over);
        }
        let mut run = Run::default();
        self.machine.take_run(&mut run);
        run
    }
}

/// A compare-exchange.
pub fn cas(expected: u64, new: u64) -> Action {
    Action::Cas { expected, new, weak: false }
}

/// An addition in 64 bits.
pub fn add(operand: u64) -> Action {
    Action::Rmw(Rmw { kind: RmwKind::Add, operand, bits: 64 })
}
