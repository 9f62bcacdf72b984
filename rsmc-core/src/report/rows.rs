//! The execution as rows, in order of happening, each with the contents of its columns.

use std::sync::atomic::Ordering;

use crate::analysis::race::Position;
use crate::base::ThreadId;
use crate::report::Finding;
use crate::report::buffers::{Buffers, has_row};
use crate::report::call_words;
use crate::report::calls::CallRows;
use crate::report::functions::{Function, functions};
use crate::report::names::{Locations, Threads};
use crate::report::places::Places;
use crate::report::source::SourceText;
use crate::report::values::Values;
use crate::session::FailureKind;
use crate::step::{BadMemory, Panicked, Pending, Touch, Why};
use crate::trace::{
    Action, Call, Caller, Event, Explore, LocInfo, Note, NoteKind, Op, PATIENCE, POISONED, Row, ScenarioCall, Site,
    Source, TRACKED,
};

/// The source of the value in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The row has no source.
    Nowhere,
    /// The initial value.
    Init,
    /// The write in the row of this number.
    Row(usize),
}

/// The remark of a row on store buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Buffering {
    /// No remark.
    Nothing,
    /// The store of the row waits in the buffer of its thread.
    Waits,
    /// The store in the row of this number becomes visible to all.
    Flush(usize),
    /// The row reads an older value than that of the store in the row of this number, which waits.
    Misses(usize),
}

/// One row of the schedule.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Whether the failure is here.
    pub(super) marked: bool,
    /// Its number, from 1; `None` for an operation that never happens.
    pub(super) number: Option<usize>,
    /// The thread of the row.
    pub(super) thread: ThreadId,
    /// A description in a few words.
    pub(super) what: String,
    /// The ordering, abbreviated.
    pub(super) order: &'static str,
    /// The source of its value.
    pub(super) from: Origin,
    /// Its remark on buffers.
    pub(super) buffering: Buffering,
    /// Its place in the source.
    pub(super) site: Site,
    /// The steps of which it consists, if it is a call of more than one.
    pub(super) inner: Vec<String>,
    /// The functions on the way to it, from the one in which its place is outwards; empty if they are not known.
    pub(super) path: Vec<Function>,
}

impl Line {
    /// Whether it reads the same as another row, and has no mark and no remark on buffers.
    pub(super) fn repeats(&self, other: &Line) -> bool {
        let same = |line: &Line| (line.thread, line.from, line.site, line.order);
        same(self) == same(other)
            && self.what == other.what
            && !self.marked
            && [self.buffering, other.buffering] == [Buffering::Nothing; 2]
    }
}

/// A failing execution with everything in it named.
pub(super) struct Scene<'a> {
    pub(super) finding: &'a Finding<'a>,
    pub(super) threads: Threads,
    pub(super) locations: Locations,
    pub(super) places: Places<'static>,
    pub(super) values: Values,
    pub(super) buffers: Buffers,
    pub(super) calls: CallRows<'a>,
    pub(super) source: SourceText,
    /// All rows, before any folding.
    pub(super) lines: Vec<Line>,
    event_rows: Vec<usize>,
    note_rows: Vec<usize>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(finding: &'a Finding<'a>) -> Self {
        Self::with_source(finding, SourceText::default())
    }

    /// As [`new`](Self::new), with the source files that were read before.
    pub(super) fn with_source(finding: &'a Finding<'a>, mut source: SourceText) -> Self {
        let threads = Threads::new(finding.trace);
        let calls = CallRows::new(finding.trace);
        source.read(all_sites(finding), finding.form.sources);
        let locations = Locations::new(finding, &threads, &calls, &source);
        let mut scene = Self {
            finding,
            threads,
            places: Places::new(sites(finding, &locations, &calls).into_iter()),
            locations,
            values: Values::new(finding.trace),
            buffers: Buffers::new(finding.trace),
            calls,
            source,
            lines: Vec::new(),
            event_rows: Vec::new(),
            note_rows: Vec::new(),
        };
        scene.add_rows();
        scene.add_waiting();
        scene
    }

    /// The number of the row of an event, given by its position in the trace. An event in a call has the row of the
    /// call; if that has none, the row before.
    pub(super) fn row_of_event(&self, at: usize) -> Option<usize> {
        self.event_rows.get(at).copied()
    }

    /// The number of the row of a note, given by its place in the trace; notes without a row have the number of the
    /// row before.
    pub(super) fn row_of_note(&self, at: usize) -> Option<usize> {
        self.note_rows.get(at).copied()
    }

    /// The numbers of the rows in which the locks were taken that a thread waits for.
    pub(super) fn held_since(&self) -> impl Iterator<Item = usize> {
        self.finding.waiting.iter().filter_map(|pending| match pending.why {
            Why::Lock { since: Some(at), .. } => self.row_of_event(at),
            _ => None,
        })
    }

    fn add_rows(&mut self) {
        let trace = self.finding.trace;
        for row in trace.rows() {
            match row {
                Row::Event(at, event) => {
                    let line = match self.calls.decided_by(at) {
                        Some((number, call)) => Some(self.call_line(at, number, call)),
                        None if self.calls.has(at) || is_without_row(event) => None,
                        None => Some(self.event_line(at, event)),
                    };
                    self.lines.extend(line);
                    self.event_rows.push(self.lines.len().max(1));
                }
                Row::Note(note) => {
                    let line = self.note_line(note);
                    self.lines.extend(line);
                    self.note_rows.push(self.lines.len());
                }
            }
        }
        for at in 0..self.event_rows.len() {
            if let Some(of_call) = self.calls.row_event(at) {
                self.event_rows[at] = self.event_rows[of_call];
            }
        }
        if let Some(row) = self.finding.repeats.and_then(|since| self.row_of_event(since as usize)) {
            self.lines[row - 1..].iter_mut().for_each(|line| line.marked = true);
        }
        if self.finding.kind == FailureKind::StepLimit
            && let Some(last) = self.lines.iter_mut().rfind(|line| !matches!(line.buffering, Buffering::Flush(_)))
        {
            last.marked = true;
        }
    }

    fn add_waiting(&mut self) {
        for pending in self.finding.waiting {
            let what = match pending.is_suspended() {
                true => "suspended".to_owned(),
                false => format!("waits: {}", self.wanted(pending)),
            };
            let (thread, site) = (pending.id.thread, pending.site);
            let fails = matches!(self.finding.kind, FailureKind::Deadlock | FailureKind::Livelock);
            let marked = fails && !pending.is_suspended() && !pending.joins_suspended(self.finding.waiting);
            let (from, buffering) = (Origin::Nowhere, Buffering::Nothing);
            self.lines.push(Line {
                marked,
                number: None,
                thread,
                what,
                order: "",
                from,
                buffering,
                site,
                inner: Vec::new(),
                path: self.functions(self.finding.trace.paths.at_end(thread), site),
            });
        }
    }

    /// The next operation of a waiting thread, in words.
    fn wanted(&self, pending: &Pending) -> String {
        if let Some(call) = self.finding.trace.calls.open(pending.id.thread) {
            return call_words::attempt(call, &self.locations);
        }
        match (&pending.op, &pending.why) {
            (Some(op), _) if self.is_waker(op) => "a wake-up".to_owned(),
            (Some(op), Why::Lock { loc, .. }) if op.action == Action::Park => self.locations.name(*loc).to_owned(),
            (Some(op), _) => self.attempt(op),
            (None, Why::Join(target)) => format!("join {}", self.threads.name(*target)),
            (None, _) => "goes on".to_owned(),
        }
    }

    fn attempt(&self, op: &Op) -> String {
        match op.action {
            Action::Park if self.is_waker(op) => "polls again".to_owned(),
            Action::Unpark if self.is_waker(op) => format!("wake {}", self.locations.name(op.loc)),
            Action::Rmw(_) if self.is_waker(op) => "polls again, woken by itself".to_owned(),
            Action::Load if self.is_end(op) => format!("is_finished{}", self.owner(op)),
            Action::Store(_) if self.is_end(op) => "finishes".to_owned(),
            Action::Park => "park".to_owned(),
            Action::Unpark => format!("unpark{}", self.owner(op)),
            Action::Choose { spurious: true, .. } => "park: wakes without cause".to_owned(),
            Action::Choose { value, .. } if self.is_patience(op) => {
                if value == 0 { "goes on looking" } else { "gives up looking" }.to_owned()
            }
            Action::Choose { of, .. } => format!("choose below {of}"),
            action => format!("{} {}", verb(action), self.locations.name(op.loc)),
        }
    }

    /// Whether the operation is one on the token of a thread that runs a future.
    fn is_waker(&self, op: &Op) -> bool {
        self.finding.trace.locs[op.loc].kind == "Waker"
    }

    /// Whether the operation decides that a loop that counts waits or gives up.
    fn is_patience(&self, op: &Op) -> bool {
        self.finding.trace.locs[op.loc].kind == PATIENCE
    }

    /// Whether the operation is one on the flag that says that a thread has ended.
    fn is_end(&self, op: &Op) -> bool {
        self.finding.trace.locs[op.loc].kind == "thread end"
    }

    /// The thread to which a token or a flag belongs, after a space: ` t1` of `token(t1)`; nothing if it is not known.
    fn owner(&self, op: &Op) -> String {
        let name = self.locations.name(op.loc);
        let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        inner.map(|thread| format!(" {thread}")).unwrap_or_default()
    }

    fn event_line(&self, at: usize, event: &Event) -> Line {
        let (loc, action) = (&self.finding.trace.locs[event.op.loc], event.op.action);
        let is_atomic = matches!(
            action,
            Action::Load
                | Action::Store(_)
                | Action::Rmw(_)
                | Action::Cas { .. }
                | Action::AddUnless(_)
                | Action::Fail { .. }
        );
        Line {
            marked: self.is_marked_event(at),
            number: Some(self.lines.len() + 1),
            thread: event.id.thread,
            what: format!("{}{}{}", self.attempt(&event.op), self.result(event, loc), self.waited(event)),
            order: if is_atomic { abbreviate(event.order()) } else { "" },
            from: match event.source {
                Source::At(at) if event.op.action != Action::Unpark => {
                    self.row_of_event(at as usize).map_or(Origin::Nowhere, Origin::Row)
                }
                Source::Init if is_atomic => Origin::Init,
                _ => Origin::Nowhere,
            },
            buffering: self.buffering(at),
            site: event.op.site,
            inner: Vec::new(),
            path: self.functions(self.finding.trace.paths.of_event(event), event.op.site),
        }
    }

    /// The row of a call, which is where the event is that decides it.
    fn call_line(&self, at: usize, number: usize, call: &Call) -> Line {
        let from = self.calls.sent_by(number).and_then(|sent| self.row_of_event(sent));
        Line {
            marked: self.is_marked_event(at),
            number: Some(self.lines.len() + 1),
            thread: call.thread,
            what: {
                let (call, woken) = self.calls.with_woken(number);
                call_words::words(call, woken, &self.threads, &self.locations)
            },
            order: "",
            from: from.map_or(Origin::Nowhere, Origin::Row),
            buffering: Buffering::Nothing,
            site: call.site,
            path: self.functions(self.finding.trace.paths.of_event(&self.finding.trace.events[at]), call.site),
            inner: self.calls.events_of(number).map(|at| self.inner(at)).collect(),
        }
    }

    /// An event within a call: `lock of a Mutex`.
    fn inner(&self, at: usize) -> String {
        let event = &self.finding.trace.events[at];
        let loc = &self.finding.trace.locs[event.op.loc];
        let words = match event.op.action {
            Action::Choose { .. } => "choice".to_owned(),
            action => format!("{}{}", verb(action), self.result(event, loc)),
        };
        format!("{words} ({})", loc.kind)
    }

    /// Whether the failure is at an event.
    fn is_marked_event(&self, at: usize) -> bool {
        let id = self.finding.trace.events[at].id;
        let is_use = |bad: &BadMemory| match bad {
            BadMemory::UsedAfterFree { access: Touch::Event(used), .. } => *used == id,
            _ => false,
        };
        self.finding.bad_memory.is_some_and(is_use) || self.is_in_race(Position::Event(at))
    }

    fn buffering(&self, at: usize) -> Buffering {
        let missed = self.buffers.missed(at).and_then(|store| self.row_of_event(store));
        match missed {
            Some(store) => Buffering::Misses(store),
            None if self.buffers.waits(at) => Buffering::Waits,
            None => Buffering::Nothing,
        }
    }

    /// The result: `→` before a value read, `=` before a value written, both sides of an update.
    fn result(&self, event: &Event, loc: &LocInfo) -> String {
        let show = |value| self.values.show(loc.kind, value);
        match (event.op.action, event.written) {
            (Action::Load, _) | (Action::AddUnless(_), None) => format!(" → {}", show(event.read)),
            (Action::Store(_), _) if loc.kind == "thread end" => String::new(),
            (Action::Store(value), _) => format!(" = {}", show(value)),
            (Action::Fail { .. }, _) => format!(" → {}, fails without cause", show(event.read)),
            (Action::Choose { spurious: false, value, .. }, _) if !self.is_patience(&event.op) => format!(" → {value}"),
            (Action::Cas { expected, .. }, None) => format!(" → {}, not {}", show(event.read), show(expected)),
            (Action::Rmw(_) | Action::Cas { .. } | Action::AddUnless(_), Some(new)) => {
                format!(" {}→{}", show(event.read), show(new))
            }
            (Action::TryAcquire, None) => " fails".to_owned(),
            (Action::TryAcquire, Some(_)) if event.read & POISONED == 0 => " ok".to_owned(),
            (Action::Acquire | Action::TryAcquire, Some(_)) if event.read & POISONED != 0 => " (poisoned)".to_owned(),
            (Action::Release { poisoned: true }, _) => " (poisons)".to_owned(),
            _ => String::new(),
        }
    }

    /// `: waited for t2`, if another thread had the lock when the thread had done all that it does before.
    fn waited(&self, event: &Event) -> String {
        let trace = self.finding.trace;
        let (Action::Acquire, Source::At(released)) = (event.op.action, event.source) else { return String::new() };
        let holder = trace.events[released as usize].id.thread;
        let before = trace.of_thread(event.id.thread)[..event.id.index as usize].last();
        let of_holder = trace.of_thread(holder).iter().filter(|&&at| at < released);
        let took = of_holder.rev().find(|&&at| {
            let earlier = &trace.events[at as usize];
            earlier.op.loc == event.op.loc && earlier.locked()
        });
        let has_come = took.zip(before).is_some_and(|(took, before)| took < before && *before < released);
        if has_come && holder != event.id.thread {
            format!(": waited for {}", self.threads.name(holder))
        } else {
            String::new()
        }
    }

    fn note_line(&self, note: &Note) -> Option<Line> {
        if !has_row(note) {
            return None;
        }
        let (mut order, mut buffering, mut site) = ("", Buffering::Nothing, note.site);
        let what = match note.kind {
            NoteKind::Spawn(child) => format!("spawn {}", self.threads.name(child)),
            NoteKind::Join(child) => format!("join {}", self.threads.name(child)),
            NoteKind::End => "end".to_owned(),
            NoteKind::Pending => "poll → Pending".to_owned(),
            NoteKind::Fence(ordering) => {
                order = abbreviate(ordering);
                "fence".to_owned()
            }
            NoteKind::CellRead(cell) if self.finding.trace.locs[cell].kind == TRACKED => {
                format!("use {}", self.locations.name(cell))
            }
            NoteKind::CellRead(cell) => format!("read {}", self.locations.name(cell)),
            NoteKind::CellWrite(cell) => format!("write {}", self.locations.name(cell)),
            NoteKind::CellEnd { access, .. } => match self.finding.trace.access(note.thread, access)?.1.kind {
                NoteKind::CellRead(cell) => format!("end of read {}", self.locations.name(cell)),
                NoteKind::CellWrite(cell) => format!("end of write {}", self.locations.name(cell)),
                _ => return None,
            },
            kind if kind.frees() => self.freed(note.kind)?,
            NoteKind::Called(number) => format!("┌ {}", self.scenario_call(number)?.begun),
            NoteKind::Returned(number) => format!("└ {}", self.scenario_call(number)?.returned),
            NoteKind::Panic(_) => "panic".to_owned(),
            NoteKind::Explore(Explore::On) => "explore".to_owned(),
            NoteKind::Explore(_) => "stop exploring".to_owned(),
            NoteKind::Flush(store) if self.buffers.waits(store as usize) => {
                let row = self.row_of_event(store as usize)?;
                buffering = Buffering::Flush(row);
                site = Site::Unknown; // the thread has gone on since
                format!("#{row} visible to all")
            }
            _ => return None,
        };
        let (marked, from) = (self.is_marked(note), Origin::Nowhere);
        let (number, thread) = (Some(self.lines.len() + 1), note.thread);
        let (inner, path) = (Vec::new(), self.path_of_note(note));
        Some(Line { marked, number, thread, what, order, from, buffering, site, inner, path })
    }

    /// A call of the scenario, if this is an execution of one.
    fn scenario_call(&self, number: u32) -> Option<&ScenarioCall> {
        self.finding.trace.scenario.calls.get(number as usize)
    }

    fn functions(&self, path: &[Caller], site: Site) -> Vec<Function> {
        functions(path, site, &self.source)
    }

    fn path_of_note(&self, note: &Note) -> Vec<Function> {
        let paths = &self.finding.trace.paths;
        match note.kind {
            NoteKind::End | NoteKind::Flush(_) => Vec::new(),
            NoteKind::Panic(_) => self.functions(paths.of_panic(note.thread), note.site),
            _ => self.functions(paths.of_note(note.thread, self.note_rows.len()), note.site),
        }
    }

    /// The words of a row that frees memory, if the report is about that memory.
    fn freed(&self, kind: NoteKind) -> Option<String> {
        if !kind.frees() {
            return None;
        }
        let freed = kind.ends();
        match *self.finding.bad_memory? {
            BadMemory::UsedAfterFree { loc, .. } if freed.is_none_or(|freed| freed == loc) => {
                let verb = if kind.drops() { "drop" } else { "free" };
                Some(format!("{verb} {}", self.locations.name(loc)))
            }
            BadMemory::FreedTwice { block, .. } if freed.is_none() => Some(format!("free {}", self.freed_twice(block))),
            _ => None,
        }
    }

    /// The name of the memory that is freed twice.
    pub(super) fn freed_twice(&self, block: u64) -> String {
        self.values.known(block).unwrap_or_else(|| "memory".to_owned())
    }

    fn is_in_race(&self, position: Position) -> bool {
        self.finding.race.is_some_and(|race| race.first.position == position || race.second.position == position)
    }

    fn is_marked(&self, note: &Note) -> bool {
        let at = self.note_rows.len();
        let in_race = self.is_in_race(Position::Note(at));
        let uncaught = match note.kind {
            NoteKind::Panic(number) => {
                let panics = self.finding.panics;
                Panicked::cause(panics) == Some(number as usize)
                    || panics.get(number as usize).is_none_or(|p| !p.received)
            }
            _ => false,
        };
        let of_memory = self.finding.bad_memory.is_some_and(|bad| match *bad {
            BadMemory::UsedAfterFree { access: Touch::Cell(thread, number), .. } if thread == note.thread => {
                self.finding.trace.access(thread, number).is_some_and(|(place, _)| place == at)
                    || self.freed(note.kind).is_some()
            }
            _ => self.freed(note.kind).is_some(),
        });
        in_race || uncaught || of_memory
    }
}

/// Whether an event outside of calls has no row: the user does not see that a thread does not wake without cause.
pub(super) fn is_without_row(event: &Event) -> bool {
    matches!(event.op.action, Action::Choose { spurious: true, value: 0, .. })
}

/// ` (#12)`, or nothing.
pub(super) fn row(number: Option<usize>) -> String {
    number.map(|number| format!(" (#{number})")).unwrap_or_default()
}

/// Every place of the execution.
fn all_sites(finding: &Finding<'_>) -> impl Iterator<Item = Site> {
    let trace = finding.trace;
    let done = trace.events.iter().map(|event| event.op.site).chain(trace.notes.iter().map(|note| note.site));
    let calls = trace.calls.iter().map(|call| call.site).chain(trace.paths.sites());
    done.chain(calls).chain(trace.locs.values().map(|loc| loc.created)).chain(finding.waiting.iter().map(|p| p.site))
}

/// Every place that the report mentions.
fn sites(finding: &Finding<'_>, locations: &Locations, calls: &CallRows<'_>) -> Vec<Site> {
    let trace = finding.trace;
    let alone = trace.events.iter().enumerate().filter(|(at, event)| !calls.has(*at) && !is_without_row(event));
    let mut sites: Vec<Site> = alone.map(|(_, event)| event.op.site).collect();
    sites.extend(trace.calls.iter().map(|call| call.site));
    sites.extend(trace.notes.iter().filter(|note| has_row(note)).map(|note| note.site));
    sites.extend(locations.iter().map(|(loc, ..)| trace.locs[loc].created));
    sites.extend(finding.waiting.iter().map(|pending| pending.site));
    sites
}

/// The verb for an operation in a row.
pub(super) fn verb(action: Action) -> &'static str {
    use crate::trace::RmwKind;
    match action {
        Action::Load => "load",
        Action::Store(_) => "store",
        Action::Cas { .. } | Action::Fail { .. } => "cas",
        Action::AddUnless(0) => "upgrade",
        Action::AddUnless(_) => "add",
        Action::Choose { .. } => "choose",
        Action::Acquire => "lock",
        Action::TryAcquire => "try_lock",
        Action::Release { .. } => "unlock",
        Action::Park => "park",
        Action::Unpark => "unpark",
        Action::Rmw(rmw) => match rmw.kind {
            RmwKind::Swap => "swap",
            RmwKind::Add => "add",
            RmwKind::Sub => "sub",
            RmwKind::And => "and",
            RmwKind::Nand => "nand",
            RmwKind::Or => "or",
            RmwKind::Xor => "xor",
            RmwKind::MaxUnsigned | RmwKind::MaxSigned => "max",
            RmwKind::MinUnsigned | RmwKind::MinSigned => "min",
        },
    }
}

fn abbreviate(order: Ordering) -> &'static str {
    match order {
        Ordering::Relaxed => "rlx",
        Ordering::Acquire => "acq",
        Ordering::Release => "rel",
        Ordering::AcqRel => "a/r",
        Ordering::SeqCst => "sc",
        _ => "?",
    }
}
