//! The methods of the machine that an executor calls.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashSet;

use crate::base::{EventId, IdVec, LocId, ThreadId};
use crate::machine::accesses::Accesses;
use crate::machine::ahead::Trust;
use crate::machine::dice::Dice;
use crate::machine::endless::{Endless, Turns};
use crate::machine::given_up::GivenUp;
use crate::machine::graphs::Graphs;
use crate::machine::idle::Idle;
use crate::machine::loops::Loops;
use crate::machine::names::Names;
use crate::machine::orders::Orders;
use crate::machine::retries::Retries;
use crate::machine::rules::{Rules, Sees};
use crate::machine::{Machine, Outcome, Status, Then, Thread};
use crate::model::{Memory, MemoryModel};
use crate::step::{End, Knowledge, Panicked, Plan, Run, Watcher};
use crate::trace::{Done, Event, Explore, Histories, LocInfo, Note, NoteKind, Op, Site, Source, ThreadInfo, Weakened};

impl Thread {
    /// Forgets the last execution, but for what [`forget_changes`](Self::forget_changes) does.
    #[inline]
    fn begin(&mut self) {
        self.status = Status::Absent;
        self.spin = None;
        self.spawned = 0;
        self.joined = false;
        self.awaited = 0;
        self.recent.clear();
        self.unseen = 0;
        self.visits.clear();
        self.forced = 0;
        self.spun_at = None;
        self.held_back.clear();
        self.turns = Turns::default();
    }

    /// Forgets what the thread has changed or altered, and the rounds in which it took that back.
    fn forget_changes(&mut self) {
        self.visits.changed.clear();
        self.altered.clear();
        self.repeats.clear();
    }
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
            changes: 0,
            left_out: FxHashSet::default(),
            runs_alone: false,
            may_take_back: false,
            begun: Vec::new(),
            looks_from: 0,
            most_events: 0,
            needs_begun: false,
            endless: Endless::new(rules.max_steps),
            idle: Idle::default(),
            waiting: rules.waiting,
            dice: Dice::default(),
            enabled: Vec::new(),
            silence: None,
            has_patience: false,
            tried: Vec::new(),
            over: false,
            given_up: GivenUp::No,
            in_vain: 0,
            taken: None,
            graphs: Graphs::default(),
            histories: Histories::default(),
            names: Names::default(),
            loops: Loops::default(),
            places: Vec::new(),
            trust: Trust::default(),
            retries: Retries::default(),
            again: false,
            watcher: None,
            orders: Orders::default(),
            suspensions: Vec::new(),
            as_written: true,
            accesses: Accesses::default(),
            held: None,
        }
    }

    /// The parts of a thread's state that count.
    pub fn sees(&self) -> Sees {
        self.rules.sees
    }

    /// Makes executions from the next one on follow another memory model.
    pub fn follow(&mut self, memory: MemoryModel) {
        self.rules.memory = memory;
        self.memory = Memory::new(memory);
    }

    /// The knowledge that the machine keeps from run to run, which does not include what the program observes.
    pub fn knowledge(&self) -> Knowledge {
        Knowledge { threads: self.names.known(), loops: self.loops.known.clone(), ..Knowledge::default() }
    }

    /// Replaces the knowledge of the machine.
    pub fn know(&mut self, knowledge: &Knowledge) {
        self.names.know(&knowledge.threads);
        self.loops = Loops::of(&knowledge.loops);
    }

    /// Shows the run so far to `watcher` whenever something happens; `None` ends that.
    pub fn watch(&mut self, watcher: Option<Watcher>) {
        self.watcher = watcher;
    }

    /// Makes the operations at these places have at least these orderings, and no others.
    pub fn strengthen(&mut self, changes: &[(Site, Ordering)]) {
        self.orders.strengthen(changes);
    }

    /// Makes the operations at these places have at most these orderings, and no others.
    pub fn weaken(&mut self, changes: &[Weakened]) {
        self.orders.weaken(changes);
    }

    /// The orderings of [`Machine::weaken`] that no operation had so far.
    pub fn unused(&self) -> Vec<Weakened> {
        self.orders.unused()
    }

    #[inline]
    fn show(&self) {
        if let Some(watcher) = &self.watcher
            && !self.is_unrecorded()
        {
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
        self.threads.values_mut().for_each(Thread::begin);
        if std::mem::take(&mut self.may_take_back) {
            self.threads.values_mut().for_each(Thread::forget_changes);
        }
        self.last = ThreadId::MAIN;
        self.spinning = 0;
        self.steps = 0;
        self.idle = Idle::default();
        self.most_events = plan.most_events.min(self.rules.max_steps as usize);
        self.changes = 0;
        self.left_out.clear();
        self.runs_alone = false;
        self.begun.clear();
        self.looks_from = self.rules.spin_bound;
        self.needs_begun = false;
        self.waiting = self.rules.waiting;
        if self.endless.begin() {
            self.plan = Plan::default();
            self.waiting = false;
        }
        self.silence = None;
        if std::mem::take(&mut self.has_patience) {
            self.threads.values_mut().for_each(|thread| thread.patience.clear());
        }
        self.over = false;
        self.taken = None;
        self.held = None;
        self.suspend_nobody();
        self.forget_graph();
        self.histories.clear();
        self.run.model = self.rules.memory;
        self.dice.reset(plan.policy);
        self.run.spurious = self.rules.spurious;
        if self.loops.known.any || self.run.loops.any {
            self.run.loops.clone_from(&self.loops.known);
        }
        self.trust.begin();
        if let Some(plan) = self.retries.begin() {
            self.plan.clone_from(plan);
            self.has_patience = true;
        }
        self.run.hiding.extend(self.trust.hiding());
        self.admit(ThreadId::MAIN, Status::Running, ThreadInfo { present: true, ..ThreadInfo::default() });
    }

    /// Hands the finished run out, taking the memory of `run` for the next one.
    pub fn take_run(&mut self, run: &mut Run) {
        if self.accesses.are_some {
            self.leave_accesses_open();
        }
        if let GivenUp::MayGoOn(kept) | GivenUp::GoesOn(kept) = std::mem::take(&mut self.given_up) {
            self.run = *kept;
        }
        std::mem::swap(&mut self.run, run);
    }

    /// The record of the run so far, for its calls and renewed objects.
    pub fn trace_mut(&mut self) -> &mut crate::trace::Trace {
        &mut self.run.trace
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

    /// The acts of a thread so far. Its fences are counted if there are some.
    pub fn done(&self, thread: ThreadId, has_fences: bool) -> Done {
        let is_fence = |note: &&Note| note.thread == thread && matches!(note.kind, NoteKind::Fence(_));
        let fences = if has_fences { self.run.trace.notes.iter().filter(is_fence).count() as u32 } else { 0 };
        Done { events: self.run.trace.count(thread), spawns: self.threads[thread].spawned, fences }
    }

    /// A thread starts another, which becomes due.
    pub fn spawn(&mut self, parent: ThreadId, name: Option<String>, site: Site) -> ThreadId {
        self.breaks_silence(parent);
        let nth = self.threads[parent].spawned;
        self.threads[parent].spawned += 1;
        let child = self.names.child(parent, nth);
        self.admit(child, Status::Due, ThreadInfo { name, parent, nth, site, present: !self.over });
        self.due.push_back(child);
        self.note(parent, NoteKind::Spawn(child), site);
        child
    }

    /// A thread waits for another's end; true if it need not wait. It must be drained.
    pub fn join(&mut self, thread: ThreadId, target: ThreadId, site: Site) -> bool {
        if self.breaks_silence(thread) && !self.may_go_on() {
            return false;
        }
        if self.threads[target].status == Status::Ended {
            self.joined(thread, target, site);
            return true;
        }
        self.stand(thread, Status::Joining(target, site));
        self.threads[target].awaited += 1;
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

    /// Notes that a drained thread has changed a count of references, which is an update that no explorer orders.
    pub fn counted(&mut self, thread: ThreadId, site: Site) {
        self.note(thread, NoteKind::Counted, site);
    }

    /// A thread comes to a fence; true if it need not wait there.
    pub fn fence(&mut self, thread: ThreadId, order: Ordering, site: Site) -> bool {
        let order = self.orders.of_fence(order, site);
        if order == Ordering::Relaxed {
            return true;
        }
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
        let is_plain = self.as_written && !self.has_patience;
        if is_plain && self.threads[thread].held_back.is_empty() {
            self.stand(thread, Status::Standing(op));
        } else if let Some(op) = self.instead_of(thread, op) {
            self.stand(thread, Status::Standing(op));
        }
    }

    /// The operation before which a thread stands that comes to this one.
    #[inline(never)]
    fn instead_of(&mut self, thread: ThreadId, op: Op) -> Option<Op> {
        let op = self.orders.of(op);
        if let Some(never) = self.suspended_before(thread) {
            return Some(never);
        }
        let mut held_back = self.threads[thread].held_back.iter_mut();
        let held = held_back.find_map(|held| held.op.map(|before| (before, &mut held.comes_to)));
        let op = held.map_or(op, |(before, comes_to)| {
            *comes_to = Some(op);
            before
        });
        if self.has_patience { self.with_patience(thread, op) } else { Some(op) }
    }

    #[inline]
    pub(super) fn stand(&mut self, thread: ThreadId, status: Status) {
        debug_assert!(matches!(self.threads[thread].status, Status::Running), "only a running thread arrives");
        if matches!(status, Status::Joining(..)) {
            self.stop_spinning(thread);
        }
        self.threads[thread].status = status;
    }

    /// A thread ends, as soon as its stores are visible to all.
    pub fn end(&mut self, thread: ThreadId) {
        let is_tested = self.breaks_silence(thread) && !self.may_go_on();
        if is_tested || !self.drain_then(thread, Then::End) {
            return;
        }
        self.note(thread, NoteKind::End, Site::Unknown);
        self.stop_spinning(thread);
        self.threads[thread].status = Status::Ended;
        let mut awaited = std::mem::take(&mut self.threads[thread].awaited);
        for waiting in self.threads.ids() {
            if awaited == 0 {
                return;
            }
            if let Status::Joining(target, site) = self.threads[waiting].status
                && target == thread
            {
                awaited -= 1;
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
        self.changes += 1;
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

    /// A thread panics; a note of it stays in the trace.
    pub fn panicked(&mut self, thread: ThreadId, message: String, site: Site) {
        if self.breaks_silence(thread) || (self.over && !self.may_go_on()) {
            return;
        }
        let number = self.run.panics.len() as u32;
        self.run.panics.push(Panicked { thread, message, site, received: false });
        self.note(thread, NoteKind::Panic(number), site);
    }

    /// Marks the panics of a thread as received by another through `join`, unless all panics are failures. Returns
    /// whether there was one that no thread had received.
    pub fn receive_panic(&mut self, thread: ThreadId) -> bool {
        let (mut found, pardons) = (false, self.rules.pardons);
        for panic in self.run.panics.iter_mut().filter(|panic| panic.thread == thread && !panic.received) {
            (panic.received, found) = (pardons, true);
        }
        found
    }

    /// A thread is no longer waited for: the execution may end while it waits.
    pub fn detach(&mut self, thread: ThreadId) {
        self.run.detached.push(thread);
    }

    /// Records something that is no step.
    #[inline(always)]
    pub fn note(&mut self, thread: ThreadId, kind: NoteKind, site: Site) {
        if self.is_tested(thread) {
            return;
        }
        let at = self.run.trace.events.len() as u32;
        self.run.trace.notes.push(Note { at, thread, kind, site });
        match kind {
            NoteKind::Hint | NoteKind::Fence(_) | NoteKind::Flush(_) | NoteKind::Pending => {}
            _ if kind.is_of_cell() => self.note_access(thread),
            _ => self.threads[thread].visits.clear(),
        }
        self.show();
    }

    /// Notes that a thread asks for what follows to be explored or not.
    pub fn explore(&mut self, thread: ThreadId, explore: Explore, site: Site) {
        self.run.trace.pauses |= explore != Explore::On;
        self.note(thread, NoteKind::Explore(explore), site);
    }

    /// Performs the operation that a thread stands before.
    #[inline]
    pub fn perform(&mut self, thread: ThreadId) -> Outcome {
        if self.has_patience
            && let Some(outcome) = self.performs_in_silence(thread)
        {
            return outcome;
        }
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
        let (at, event) = self.happen(thread, op);
        let Event { id, read, written, .. } = event;
        self.show();
        self.note_effect(&event);
        let state = &mut self.threads[thread];
        state.turns.takes(self.steps);
        if self.steps <= self.plan.forced.len() {
            state.forced = id.index + 1;
        }
        if id.index < self.looks_from || !self.waiting {
            state.unseen += 1; // No iteration can have repeated often enough to matter.
        } else if !self.is_of_patience(&event) {
            self.look(thread, at);
        }
        Outcome { read, written }
    }

    /// Lets the operation of a thread happen. Returns the position of its event, and the event.
    #[inline]
    pub(super) fn happen(&mut self, thread: ThreadId, op: &Op) -> (usize, Event) {
        let cell = match self.taken.take() {
            Some(source) => {
                self.takes(thread, op, source);
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
        (at as usize, event)
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

    #[inline]
    pub(super) fn stop_spinning(&mut self, thread: ThreadId) {
        if self.spinning > 0 {
            self.spinning -= u32::from(self.threads[thread].spin.take().is_some());
        }
    }

    /// Ends the execution.
    pub fn finish(&mut self, mut end: End) {
        if !std::mem::replace(&mut self.over, true) && !self.is_unrecorded() {
            if self.loops.known.any && self.learns_of_tries() {
                end = End::Learned;
            }
            if self.retries.who_is_asked().is_some() && !self.again {
                // It is none of the executions of the plan.
                self.retries.is_answered(None);
                (end, self.again) = (End::Learned, true);
            }
            self.again = self.endless.ends(&end, self.run.trace.events.len(), self.again);
            if !self.again {
                self.retries.end();
            }
            self.run.end = end;
            if self.is_no_result() {
                self.keep_run();
            }
        }
    }

    /// Notes the locks at which threads look without waiting for them. Returns whether one was not known.
    fn learns_of_tries(&mut self) -> bool {
        let op = |thread: &Thread| if let Status::Standing(op) = thread.status { Some(op) } else { None };
        self.loops.note_tried(&self.run.trace, self.threads.values().filter_map(op))
    }

    /// Whether a thread has ended.
    pub fn has_ended(&self, thread: ThreadId) -> bool {
        self.threads.get(thread).is_none_or(|t| matches!(t.status, Status::Ended | Status::Absent))
    }
}
