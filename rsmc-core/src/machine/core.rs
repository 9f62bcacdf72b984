//! The state of an execution, and what the executor calls.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashSet;

use crate::base::{EventId, IdVec, LocId, ThreadId};
use crate::machine::graphs::Graphs;
use crate::machine::names::Names;
use crate::machine::settle::LetGo;
use crate::machine::tail::Dice;
use crate::model::{Memory, MemoryModel};
use crate::step::{End, Knowledge, Panicked, Plan, Run, Step, Tail, Wait, Watcher};
use crate::trace::spin::{Iteration, PATIENCE, Recent};
use crate::trace::{Event, LocInfo, Note, NoteKind, Op, Site, Source, ThreadInfo};

/// What an execution follows: its memory model and its bounds.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The memory model.
    pub memory: MemoryModel,
    /// The largest number of visible operations.
    pub max_steps: u32,
    /// How often a loop without a hint repeats an iteration before it waits, once it is known to only wait.
    pub spin_bound: u32,
    /// How many outcomes without cause an execution may have.
    pub spurious: u32,
}

impl Rules {
    /// The default rules under a memory model, with this number of visible operations.
    pub fn new(memory: MemoryModel, max_steps: u32) -> Self {
        Self { memory, max_steps, spin_bound: 2, spurious: 1 }
    }
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
    /// It waits until its stores are visible to all.
    Draining(Then),
    /// It ended.
    Ended,
}

/// What a thread does when its stores are visible to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// It passes a fence.
    Fence(Ordering, Site),
    /// It starts a thread, or begins to wait for one.
    GoOn,
    /// It ends.
    End,
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
    /// How many of its last events `recent` has not taken in.
    unseen: u32,
    spawned: u32,
    /// Another thread has received its end.
    joined: bool,
    /// Somebody may wait for its end.
    awaited: bool,
}

/// The state of an execution; see the module.
pub struct Machine {
    pub(super) rules: Rules,
    pub(super) memory: Memory,
    pub(super) threads: IdVec<ThreadId, Thread>,
    pub(super) plan: Plan,
    pub(super) run: Run,
    /// Threads that go on before the next step, oldest first.
    pub(super) due: std::collections::VecDeque<ThreadId>,
    pub(super) last: ThreadId,
    pub(super) spinning: u32,
    /// How many steps were taken.
    pub(super) steps: usize,
    pub(super) dice: Dice,
    pub(super) enabled: Vec<Step>,
    pub(super) let_go: Option<LetGo>,
    pub(super) tried: Vec<ThreadId>,
    pub(super) over: bool,
    /// What the next operation takes, if the plan or the policy says so.
    pub(super) taken: Option<Source>,
    pub(super) graphs: Graphs,
    names: Names,
    waiting_loops: FxHashSet<u64>,
    watcher: Option<Watcher>,
    /// What operations at these places have as ordering at least.
    pub(super) strengthened: Vec<(Site, Ordering)>,
}

impl Machine {
    /// A machine that has run nothing.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            memory: Memory::new(rules.memory),
            threads: IdVec::new(),
            plan: Plan::default(),
            run: Run::default(),
            due: std::collections::VecDeque::new(),
            last: ThreadId::MAIN,
            spinning: 0,
            steps: 0,
            dice: Dice::default(),
            enabled: Vec::new(),
            let_go: None,
            tried: Vec::new(),
            over: false,
            taken: None,
            graphs: Graphs::default(),
            names: Names::default(),
            waiting_loops: FxHashSet::default(),
            watcher: None,
            strengthened: Vec::new(),
        }
    }

    /// Makes executions from the next one on follow another memory model.
    pub fn follow(&mut self, memory: MemoryModel) {
        self.rules.memory = memory;
        self.memory = Memory::new(memory);
    }

    /// What it keeps from run to run; what is observed is not its business.
    pub fn knowledge(&self) -> Knowledge {
        let mut loops: Vec<u64> = self.waiting_loops.iter().copied().collect();
        loops.sort_unstable();
        Knowledge { threads: self.names.known(), loops, ..Knowledge::default() }
    }

    /// Makes it know this, and nothing else.
    pub fn know(&mut self, knowledge: &Knowledge) {
        self.names.know(&knowledge.threads);
        self.waiting_loops.clear();
        self.waiting_loops.extend(&knowledge.loops);
    }

    /// Shows the run so far to `watcher` whenever something happens; or to nobody.
    pub fn watch(&mut self, watcher: Option<Watcher>) {
        self.watcher = watcher;
    }

    /// Makes the operations at these places have at least these orderings, and no others.
    pub fn strengthen(&mut self, changes: &[(Site, Ordering)]) {
        self.strengthened.clear();
        self.strengthened.extend_from_slice(changes);
    }

    #[inline]
    fn show(&self) {
        if let Some(watcher) = &self.watcher {
            watcher(&self.run);
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
            thread.joined = false;
            thread.awaited = false;
            thread.recent.clear();
            thread.unseen = 0;
        }
        self.last = ThreadId::MAIN;
        self.spinning = 0;
        self.steps = 0;
        self.let_go = None;
        self.over = false;
        self.taken = None;
        self.forget_graph();
        self.run.model = self.rules.memory;
        self.dice.reset(plan.tail);
        self.run.spin_bound = self.rules.spin_bound;
        self.run.spurious = self.rules.spurious;
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

    /// Gives a location a name for reports.
    pub fn label(&mut self, loc: LocId, name: &str) {
        self.run.trace.labels.push((loc, name.to_owned()));
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

    /// A thread waits for another's end; true if it need not wait. It must be drained.
    pub fn join(&mut self, thread: ThreadId, target: ThreadId, site: Site) -> bool {
        if self.threads[target].status == Status::Ended {
            self.joined(thread, target, site);
            return true;
        }
        self.stand(thread, Status::Joining(target, site));
        self.threads[target].awaited = true;
        false
    }

    fn joined(&mut self, thread: ThreadId, target: ThreadId, site: Site) {
        self.note(thread, NoteKind::Join(target), site);
        self.threads[target].joined = true;
    }

    /// A thread waits until its stores are visible to all, as before a spawn and a join; true if it need not wait.
    pub fn drain(&mut self, thread: ThreadId) -> bool {
        self.drain_then(thread, Then::GoOn)
    }

    /// Whether stores may wait in buffers.
    pub fn has_buffers(&self) -> bool {
        self.rules.memory.has_buffers()
    }

    /// A drained thread has changed a count of references, which is an update that no explorer orders.
    pub fn counted(&mut self, thread: ThreadId, site: Site) {
        self.note(thread, NoteKind::Counted, site);
    }

    /// A thread comes to a fence; true if it need not wait there.
    pub fn fence(&mut self, thread: ThreadId, order: Ordering, site: Site) -> bool {
        if order == Ordering::SeqCst && !self.drain_then(thread, Then::Fence(order, site)) {
            return false;
        }
        self.memory.order_stores(thread, order);
        self.note(thread, NoteKind::Fence(order), site);
        true
    }

    fn drain_then(&mut self, thread: ThreadId, then: Then) -> bool {
        let drained = self.memory.waiting_of(thread).is_empty();
        if !drained {
            self.stand(thread, Status::Draining(then));
        }
        drained
    }

    /// A thread stands before an operation.
    #[inline]
    pub fn arrive(&mut self, thread: ThreadId, op: Op) {
        let op = match self.strengthened.iter().find(|(site, _)| *site == op.site) {
            Some(&(_, order)) => op.with_at_least(order),
            None => op,
        };
        self.stand(thread, Status::Standing(op));
    }

    #[inline]
    fn stand(&mut self, thread: ThreadId, status: Status) {
        debug_assert!(matches!(self.threads[thread].status, Status::Running), "only a running thread arrives");
        if matches!(status, Status::Joining(..)) {
            self.stop_spinning(thread);
        }
        self.threads[thread].status = status;
    }

    /// A thread ends, as soon as its stores are visible to all.
    pub fn end(&mut self, thread: ThreadId) {
        if !self.drain_then(thread, Then::End) {
            return;
        }
        self.note(thread, NoteKind::End, Site::Unknown);
        self.stop_spinning(thread);
        self.threads[thread].status = Status::Ended;
        if !self.threads[thread].awaited {
            return;
        }
        for waiting in self.threads.ids() {
            if let Status::Joining(target, site) = self.threads[waiting].status
                && target == thread
            {
                self.joined(waiting, thread, site);
                self.threads[waiting].status = Status::Due;
                self.due.push_back(waiting);
            }
        }
    }

    /// A store leaves the buffer of its thread; false if it cannot.
    pub(super) fn flush(&mut self, store: EventId) -> bool {
        let thread = store.thread;
        let Some(at) = self.run.trace.position(store).map(|at| at as u32) else { return false };
        if !self.memory.flush(thread, at) {
            return false;
        }
        self.steps += 1;
        self.note(thread, NoteKind::Flush(at), self.run.trace.events[at as usize].op.site);
        if self.memory.waiting_of(thread).is_empty()
            && let Status::Draining(then) = self.threads[thread].status
        {
            self.drained(thread, then);
        }
        true
    }

    fn drained(&mut self, thread: ThreadId, then: Then) {
        match then {
            Then::End => return self.end(thread),
            Then::Fence(order, site) => {
                self.note(thread, NoteKind::Fence(order), site);
            }
            Then::GoOn => {}
        }
        self.threads[thread].status = Status::Due;
        self.due.push_back(thread);
    }

    /// Whether no other thread can do anything any more, and all that others did happened before now: they have ended and
    /// were joined.
    pub fn is_alone(&self, me: ThreadId) -> bool {
        self.threads.iter().all(|(thread, state)| match state.status {
            Status::Absent => true,
            Status::Ended => state.joined,
            _ => thread == me,
        })
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
    #[inline]
    pub fn note(&mut self, thread: ThreadId, kind: NoteKind, site: Site) {
        let at = self.run.trace.events.len() as u32;
        self.run.trace.notes.push(Note { at, thread, kind, site });
        self.show();
    }

    /// A thread says that it is about to repeat a loop.
    pub fn hint(&mut self, thread: ThreadId, site: Site) {
        self.note(thread, NoteKind::Hint, site);
        self.recall(thread, self.run.trace.count(thread));
        if let Some(iteration) = self.threads[thread].recent.hint(site) {
            self.iterated(thread, iteration);
        }
    }

    /// Performs the operation that a thread stands before.
    pub fn perform(&mut self, thread: ThreadId) -> Outcome {
        let Status::Standing(op) = std::mem::replace(&mut self.threads[thread].status, Status::Running) else {
            unreachable!("this is a bug in rsmc: {thread:?} performs an operation it does not stand before");
        };
        self.does(thread, &op)
    }

    /// A running thread performs an operation.
    #[inline]
    pub(super) fn does(&mut self, thread: ThreadId, op: &Op) -> Outcome {
        self.stop_spinning(thread);
        self.last = thread;
        self.steps += 1;
        let at = self.happen(thread, op);
        self.show();
        let Event { id, read, written, .. } = self.run.trace.events[at];
        if self.waiting_loops.is_empty() && id.index < PATIENCE {
            self.threads[thread].unseen += 1; // No iteration can have repeated often enough to matter.
        } else {
            self.look(thread, at);
        }
        Outcome { read, written }
    }

    /// Looks for a loop in what a thread has just done.
    #[inline(never)]
    fn look(&mut self, thread: ThreadId, at: usize) {
        let event = self.run.trace.events[at];
        self.recall(thread, event.id.index);
        if let Some(iteration) = self.threads[thread].recent.event(&event) {
            self.iterated(thread, iteration);
        } else if self.let_go.is_some() {
            self.progressed(thread, &event);
        }
    }

    /// Takes in what a thread did, up to its `count`-th event, while that did not matter.
    fn recall(&mut self, thread: ThreadId, count: u32) {
        let Thread { recent, unseen, .. } = &mut self.threads[thread];
        let since = count - std::mem::take(unseen);
        for &at in &self.run.trace.of_thread(thread)[since as usize..count as usize] {
            recent.event(&self.run.trace.events[at as usize]);
        }
    }

    /// The operation of a thread happens; the position of its event.
    #[inline]
    fn happen(&mut self, thread: ThreadId, op: &Op) -> usize {
        let cell = match self.taken.take() {
            Some(source) => {
                self.takes(op.loc, source);
                self.cell_of(op.loc, source)
            }
            None => self.memory.view(thread, op.loc),
        };
        let written = op.action.effect(cell.value).written();
        let (source, read) =
            if op.action.reads() { (cell.writer, op.action.returns(cell.value)) } else { (Source::None, 0) };
        let id = EventId { thread, index: self.run.trace.count(thread) };
        let buffered = written.is_some() && self.rules.memory.buffers(op);
        let event = Event { id, op: *op, source, read, written, buffered };
        let at = self.run.trace.push(event);
        if let Some(value) = written {
            self.memory.store(thread, op, value, at);
        }
        at as usize
    }

    /// Performs an operation at once, outside the schedule; `None` if it cannot happen. Used while the threads of a
    /// finished run are unwound.
    pub fn perform_aside(&mut self, op: Op) -> Option<Outcome> {
        self.memory.flush_all();
        let cell = self.memory.shared(op.loc);
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
        let bound = if iteration.hinted { 0 } else { self.rules.spin_bound };
        if iteration.repeats > bound {
            self.run.repeated.get_or_insert(self.steps as u32);
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

    #[inline]
    pub(super) fn stop_spinning(&mut self, thread: ThreadId) {
        if self.spinning > 0 {
            self.spinning -= u32::from(self.threads[thread].spin.take().is_some());
        }
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
