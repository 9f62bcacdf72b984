//! The state of an execution, and what the executor calls.

use rustc_hash::FxHashSet;

use crate::base::{EventId, IdVec, LocId, ThreadId};
use crate::machine::names::Names;
use crate::machine::settle::LetGo;
use crate::machine::tail::Dice;
use crate::model::sc::Memory;
use crate::step::{End, Panicked, Plan, Run, Tail, Wait};
use crate::trace::spin::{Iteration, PATIENCE, Recent};
use crate::trace::{Event, LocInfo, Note, NoteKind, Op, Site, Source, ThreadInfo};

/// Bounds of one execution.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest number of visible operations.
    pub max_steps: u32,
    /// How often a loop without a hint repeats an iteration before it waits, once it is known to only wait.
    pub spin_bound: u32,
}

/// Who goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This thread starts, or has received the end of the thread it joined.
    Continue(ThreadId),
    /// This thread performs the operation it stands before.
    Step(ThreadId),
    /// Nobody: the execution is over, and the run says how it ended.
    Over,
}

/// What a performed operation returns to its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The value it read.
    pub read: u64,
    /// The value it wrote, if it wrote.
    pub written: Option<u64>,
}

/// What a thread is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Status {
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
    /// It ended.
    Ended,
}

/// A wait in a spin loop.
#[derive(Clone, Debug)]
pub(super) struct SpinWait {
    pub(super) watched: Vec<(LocId, u64)>,
    pub(super) hinted: bool,
    pub(super) site: Site,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) status: Status,
    pub(super) spin: Option<SpinWait>,
    pub(super) recent: Recent,
    spawned: u32,
}

/// The state of an execution; see the module.
pub struct Machine {
    pub(super) limits: Limits,
    pub(super) memory: Memory,
    pub(super) threads: IdVec<ThreadId, Thread>,
    pub(super) plan: Plan,
    pub(super) run: Run,
    /// Threads that go on before the next step, oldest first.
    pub(super) due: std::collections::VecDeque<ThreadId>,
    pub(super) last: ThreadId,
    pub(super) spinning: u32,
    pub(super) dice: Dice,
    pub(super) enabled: Vec<ThreadId>,
    pub(super) let_go: Option<LetGo>,
    pub(super) tried: Vec<ThreadId>,
    pub(super) over: bool,
    names: Names,
    waiting_loops: FxHashSet<u64>,
}

impl Machine {
    /// A machine that has run nothing.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            memory: Memory::default(),
            threads: IdVec::new(),
            plan: Plan::default(),
            run: Run::default(),
            due: std::collections::VecDeque::new(),
            last: ThreadId::MAIN,
            spinning: 0,
            dice: Dice::default(),
            enabled: Vec::new(),
            let_go: None,
            tried: Vec::new(),
            over: false,
            names: Names::new(),
            waiting_loops: FxHashSet::default(),
        }
    }

    /// Starts an execution: the test body runs, and nothing has happened.
    pub fn begin(&mut self, plan: &Plan) {
        self.plan.clone_from(plan);
        self.run.clear();
        self.memory.clear();
        self.due.clear();
        self.tried.clear();
        for thread in self.threads.values_mut() {
            thread.status = Status::Absent;
            thread.spin = None;
            thread.spawned = 0;
            thread.recent.clear();
        }
        self.last = ThreadId::MAIN;
        self.spinning = 0;
        self.let_go = None;
        self.over = false;
        self.dice.reset(plan.tail);
        self.run.spin_bound = self.limits.spin_bound;
        self.run.waiting_loops.extend(&self.waiting_loops);
        self.admit(ThreadId::MAIN, Status::Running, ThreadInfo { present: true, ..ThreadInfo::default() });
    }

    /// Hands the finished run out, taking the memory of `run` for the next one.
    pub fn take_run(&mut self, run: &mut Run) {
        std::mem::swap(&mut self.run, run);
    }

    /// The run so far.
    pub fn run(&self) -> &Run {
        &self.run
    }

    fn admit(&mut self, thread: ThreadId, status: Status, info: ThreadInfo) {
        self.threads.grow_to(thread, Thread::default);
        self.run.trace.threads.grow_to(thread, ThreadInfo::default);
        self.threads[thread].status = status;
        self.run.trace.threads[thread] = info;
    }

    /// Adds a location.
    pub fn add_location(&mut self, info: LocInfo) -> LocId {
        let loc = self.memory.add(info.init);
        let same = self.run.trace.locs.push(info);
        debug_assert_eq!(loc, same, "memory and trace number locations alike");
        loc
    }

    /// A thread starts another, which becomes due.
    pub fn spawn(&mut self, parent: ThreadId, name: Option<String>, site: Site) -> ThreadId {
        let nth = self.threads[parent].spawned;
        self.threads[parent].spawned += 1;
        let child = self.names.child(parent, nth);
        self.admit(child, Status::Due, ThreadInfo { name, parent, nth, site, present: true });
        self.due.push_back(child);
        self.note(parent, NoteKind::Spawn(child), site);
        child
    }

    /// A thread waits for another's end; true if it need not wait.
    pub fn join(&mut self, thread: ThreadId, target: ThreadId, site: Site) -> bool {
        if self.threads[target].status == Status::Ended {
            self.note(thread, NoteKind::Join(target), site);
            return true;
        }
        self.stand(thread, Status::Joining(target, site));
        false
    }

    /// A thread stands before an operation.
    pub fn arrive(&mut self, thread: ThreadId, op: Op) {
        self.stand(thread, Status::Standing(op));
    }

    fn stand(&mut self, thread: ThreadId, status: Status) {
        debug_assert!(matches!(self.threads[thread].status, Status::Running), "only a running thread arrives");
        if matches!(status, Status::Joining(..)) {
            self.stop_spinning(thread);
        }
        self.threads[thread].status = status;
    }

    /// A thread ends.
    pub fn end(&mut self, thread: ThreadId) {
        self.note(thread, NoteKind::End, Site::Unknown);
        self.stop_spinning(thread);
        self.threads[thread].status = Status::Ended;
        for waiting in self.threads.ids() {
            if let Status::Joining(target, site) = self.threads[waiting].status
                && target == thread
            {
                self.note(waiting, NoteKind::Join(thread), site);
                self.threads[waiting].status = Status::Due;
                self.due.push_back(waiting);
            }
        }
    }

    /// A thread panics; a note of it stays in the trace.
    pub fn panicked(&mut self, thread: ThreadId, message: String, site: Site) {
        let number = self.run.panics.len() as u32;
        self.run.panics.push(Panicked { thread, message, site, received: false });
        self.note(thread, NoteKind::Panic(number), site);
    }

    /// A thread received the panic of another through `join`.
    pub fn panic_received(&mut self, thread: ThreadId) {
        for panic in self.run.panics.iter_mut().filter(|panic| panic.thread == thread) {
            panic.received = true;
        }
    }

    /// Records something that is no step.
    pub fn note(&mut self, thread: ThreadId, kind: NoteKind, site: Site) {
        let at = self.run.trace.events.len() as u32;
        self.run.trace.notes.push(Note { at, thread, kind, site });
    }

    /// A thread says that it is about to repeat a loop.
    pub fn hint(&mut self, thread: ThreadId, site: Site) {
        self.note(thread, NoteKind::Hint, site);
        if let Some(iteration) = self.threads[thread].recent.hint(site) {
            self.iterated(thread, iteration);
        }
    }

    /// Performs the operation that a thread stands before. Under SC it happens now, for all to see.
    pub fn perform(&mut self, thread: ThreadId) -> Outcome {
        let Status::Standing(op) = std::mem::replace(&mut self.threads[thread].status, Status::Running) else {
            unreachable!("this is a bug in rsmc: {thread:?} performs an operation it does not stand before");
        };
        self.stop_spinning(thread);
        self.last = thread;
        let event = self.happen(thread, op);
        if let Some(iteration) = self.threads[thread].recent.event(&event) {
            self.iterated(thread, iteration);
        } else if self.let_go.is_some() {
            self.progressed(thread, &event);
        }
        Outcome { read: event.read, written: event.written }
    }

    fn happen(&mut self, thread: ThreadId, op: Op) -> Event {
        let cell = self.memory.get(op.loc);
        let effect = op.action.effect(cell.value);
        let (source, read) = if op.action.reads() { (cell.writer, cell.value) } else { (Source::None, 0) };
        let id = EventId { thread, index: self.run.trace.count(thread) };
        let event = Event { id, op, source, read, written: effect.written() };
        let at = self.run.trace.push(event);
        if let Some(value) = event.written {
            self.memory.write(op.loc, value, at);
        }
        event
    }

    /// Performs an operation at once, outside the schedule; `None` if it cannot happen. Used while the threads of a
    /// finished run are unwound.
    pub fn perform_aside(&mut self, op: Op) -> Option<Outcome> {
        let cell = self.memory.get(op.loc);
        match op.action.effect(cell.value) {
            crate::trace::Effect::Blocked => None,
            effect => {
                if let Some(value) = effect.written() {
                    self.memory.write(op.loc, value, 0);
                }
                Some(Outcome { read: cell.value, written: effect.written() })
            }
        }
    }

    /// A thread has finished an iteration that may be one of a spin loop.
    fn iterated(&mut self, thread: ThreadId, iteration: Iteration) {
        if self.let_go.is_some() && self.still_repeats(thread, &iteration) {
            return;
        }
        if !self.waiting_loops.contains(&iteration.key) {
            if iteration.repeats >= PATIENCE {
                self.waiting_loops.insert(iteration.key);
                self.finish(End::Learned);
            }
            return;
        }
        let bound = if iteration.hinted { 0 } else { self.limits.spin_bound };
        if iteration.repeats > bound {
            let events = self.run.trace.events.len() as u32;
            self.run.repeated.get_or_insert(events);
            if self.plan.tail == Tail::RunOn {
                // What others do now may still be of interest, but not what this thread does.
                self.plan.frozen.push(thread);
            }
        }
        if iteration.hinted || iteration.repeats >= bound {
            let watched = self.threads[thread].recent.watched(&iteration);
            self.wait_in_loop(thread, watched, &iteration);
        }
    }

    pub(super) fn wait_in_loop(&mut self, thread: ThreadId, watched: Vec<(LocId, u64)>, iteration: &Iteration) {
        let next = EventId { thread, index: self.run.trace.count(thread) };
        self.run.waits.push(Wait { next, watched: watched.clone() });
        self.spinning += u32::from(self.threads[thread].spin.is_none());
        self.threads[thread].spin = Some(SpinWait { watched, hinted: iteration.hinted, site: iteration.site });
    }

    pub(super) fn stop_spinning(&mut self, thread: ThreadId) {
        self.spinning -= u32::from(self.threads[thread].spin.take().is_some());
    }

    /// Ends the execution.
    pub fn finish(&mut self, end: End) {
        if !self.over {
            self.over = true;
            self.run.end = end;
        }
    }

    /// Whether a thread has ended.
    pub fn has_ended(&self, thread: ThreadId) -> bool {
        self.threads.get(thread).is_none_or(|t| matches!(t.status, Status::Ended | Status::Absent))
    }
}
