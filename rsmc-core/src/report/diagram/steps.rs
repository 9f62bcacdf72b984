//! The steps of a diagram: the rows of the text report, each with its changes.
//!
//! The text report does not show a flush if no other thread did anything since the store. The diagram gives such a
//! flush to the last step before it.

use crate::base::LocId;
use crate::report::call_words;
use crate::report::diagram::memory::{Memory, States};
use crate::report::diagram::{Caller, Change, Coherence, Names, Step, Waiting, place};
use crate::report::fold::{Shown, fold};
use crate::report::functions::Function;
use crate::report::rows::{Buffering, Line, Origin, Scene, is_without_row, verb};
use crate::session::MemoryModel;
use crate::step::Why;
use crate::trace::{Action, Event, Note, NoteKind, Row, Source};

/// The steps, and the order of the writes.
pub(super) struct Recorded {
    pub(super) steps: Vec<Step>,
    pub(super) coherence: Vec<Coherence>,
}

/// Records the steps of an execution.
pub(super) fn record(scene: &Scene<'_>, names: &Names<'_>, model: MemoryModel) -> Recorded {
    let memory = Memory::new(scene.finding.trace, model);
    let mut recorder = Recorder { scene, names, states: States::new(scene), memory, steps: Vec::new() };
    let mut notes = 0;
    for row in scene.finding.trace.rows() {
        match row {
            Row::Event(at, event) => recorder.event(at, event),
            Row::Note(note) => {
                recorder.note(notes, note);
                notes += 1;
            }
        }
    }
    recorder.finish()
}

struct Recorder<'a> {
    scene: &'a Scene<'a>,
    names: &'a Names<'a>,
    states: States<'a>,
    memory: Memory<'a>,
    steps: Vec<Step>,
}

impl Recorder<'_> {
    /// The next step, with the contents of its row.
    fn step(&self, operation: &'static str, location: Option<LocId>) -> Step {
        let line = &self.scene.lines[self.steps.len()];
        Step {
            number: self.steps.len() + 1,
            thread: self.names.thread(line.thread),
            operation,
            text: line.what.clone(),
            inner: line.inner.clone(),
            callers: callers(line),
            ordering: None,
            place: place(line.site),
            location: location.and_then(|loc| self.names.location(loc)),
            other: None,
            read: None,
            written: None,
            reads_from: reads_from(line),
            from_buffer: false,
            misses: misses(line),
            buffered: false,
            flushes: Vec::new(),
            memory: Vec::new(),
            failing: line.marked,
            folded: false,
        }
    }

    fn event(&mut self, at: usize, event: &Event) {
        match self.scene.calls.decided_by(at) {
            Some((_, call)) => self.steps.push(self.step(call_words::operation(call), Some(call.object))),
            None if self.scene.calls.has(at) || is_without_row(event) => {}
            None => self.single(at, event),
        }
        match event.written {
            Some(_) if event.buffered => self.memory.wait(at),
            Some(_) => self.reach(at),
            None => {}
        }
    }

    /// Adds the step of an event that belongs to no call.
    fn single(&mut self, at: usize, event: &Event) {
        let (loc, action) = (event.op.loc, event.op.action);
        let info = &self.scene.finding.trace.locs[loc];
        let mut step = self.step(verb(action), Some(loc));
        let has_ordering = !self.scene.lines[at_row(self.scene, at)].order.is_empty();
        step.ordering = has_ordering.then(|| format!("{:?}", event.order()));
        step.read = match action {
            Action::Choose { value, .. } => Some(value.to_string()),
            Action::Load | Action::Rmw(_) | Action::Cas { .. } | Action::AddUnless(_) | Action::Fail { .. } => {
                Some(self.scene.values.show(info.kind, event.read))
            }
            _ => None,
        };
        step.from_buffer = matches!(event.source, Source::At(from) if self.memory.waits(from as usize));
        step.buffered = event.buffered;
        let by = Some(event.id.thread);
        step.written = event.written.filter(|_| !info.is_internal()).map(|value| self.states.show(loc, value, by));
        self.steps.push(step);
    }

    fn note(&mut self, which: usize, note: &Note) {
        let has_row = self.scene.row_of_note(which) == Some(self.steps.len() + 1);
        if has_row {
            let mut step = self.step(operation(note.kind), location(note.kind));
            if let NoteKind::Fence(order) = note.kind {
                step.ordering = Some(format!("{order:?}"));
            }
            if let NoteKind::Spawn(child) | NoteKind::Join(child) = note.kind {
                step.other = Some(self.names.thread(child));
            }
            self.steps.push(step);
        }
        if let NoteKind::Flush(store) = note.kind {
            self.flush(store as usize);
        }
    }

    /// Notes that a buffered store leaves its buffer in the last step.
    fn flush(&mut self, store: usize) {
        let number = at_row(self.scene, store) + 1;
        let Some(last) = self.steps.last_mut() else { return };
        if last.number == number {
            last.buffered = false;
        } else {
            last.flushes.push(number);
        }
        self.reach(store);
    }

    /// Notes that a write reaches memory in the last step.
    fn reach(&mut self, at: usize) {
        let event = &self.scene.finding.trace.events[at];
        let changes = self.memory.reach(at);
        let location = self.names.location(event.op.loc);
        let (Some(location), Some(value), Some(last)) = (location, event.written, self.steps.last_mut()) else {
            return;
        };
        if changes && self.states.has_value(event.op.loc) {
            let value = self.states.show(event.op.loc, value, Some(event.id.thread));
            last.memory.retain(|earlier| earlier.location != location);
            last.memory.push(Change { location, value });
        }
    }

    fn finish(mut self) -> Recorded {
        let shown = fold(self.scene);
        let kept = shown.iter().filter_map(|shown| match shown {
            Shown::Line(line) => line.number,
            Shown::Folded(_) => None,
        });
        self.steps.iter_mut().for_each(|step| step.folded = true);
        kept.for_each(|number| self.steps[number - 1].folded = false);
        let number = |at: usize| at_row(self.scene, at) + 1;
        let coherence = self.memory.coherence().into_iter().filter_map(|(loc, writes)| {
            let mut steps: Vec<usize> = writes.into_iter().map(number).collect();
            steps.dedup();
            Some(Coherence { location: self.names.location(loc)?, steps })
        });
        Recorded { coherence: coherence.collect(), steps: self.steps }
    }
}

/// The functions on the way to a row, without the one in which its place is.
fn callers(line: &Line) -> Vec<Caller> {
    let caller = |function: &Function| Some(Caller { function: function.name.clone(), place: place(function.site())? });
    line.path.iter().skip(1).filter_map(caller).collect()
}

/// The place of an event among the lines.
fn at_row(scene: &Scene<'_>, at: usize) -> usize {
    scene.row_of_event(at).expect("every event has a row") - 1
}

fn reads_from(line: &Line) -> Option<usize> {
    match line.from {
        Origin::Nowhere => None,
        Origin::Init => Some(0),
        Origin::Row(number) => Some(number),
    }
}

fn misses(line: &Line) -> Option<usize> {
    match line.buffering {
        Buffering::Misses(number) => Some(number),
        _ => None,
    }
}

fn location(kind: NoteKind) -> Option<LocId> {
    match kind {
        NoteKind::CellRead(cell) | NoteKind::CellWrite(cell) => Some(cell),
        kind => kind.ends(),
    }
}

fn operation(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::Spawn(_) => "spawn",
        NoteKind::Join(_) => "join",
        NoteKind::End => "end",
        NoteKind::Fence(_) => "fence",
        NoteKind::Pending => "poll",
        NoteKind::Flush(_) => "flush",
        NoteKind::CellRead(_) => "read",
        NoteKind::CellWrite(_) => "write",
        NoteKind::CellEnd { .. } => "access end",
        NoteKind::Freed(_) | NoteKind::FreedAny => "free",
        NoteKind::Dropped(_) => "drop",
        NoteKind::Panic(_) => "panic",
        NoteKind::Explore(_) => "explore",
        NoteKind::Called(_) => "call",
        NoteKind::Returned(_) => "return",
        NoteKind::Counted | NoteKind::Hint => "note",
        NoteKind::ArcRelease(_) | NoteKind::ArcAcquire(_) | NoteKind::ArcGone(_) => "note",
    }
}

/// The threads that wait at the end: the lines without numbers.
pub(super) fn waiting(scene: &Scene<'_>, names: &Names<'_>) -> Vec<Waiting> {
    let lines = scene.lines.iter().filter(|line| line.number.is_none());
    let pairs = lines.zip(scene.finding.waiting);
    let waiting = pairs.map(|(line, pending)| Waiting {
        thread: names.thread(line.thread),
        text: line.what.clone(),
        place: place(line.site),
        callers: callers(line),
        waits_for: match pending.why {
            Why::Lock { holder: Some(other), .. } | Why::Join(other) => Some(names.thread(other)),
            _ => None,
        },
        held_since: match pending.why {
            Why::Lock { since: Some(at), .. } => scene.row_of_event(at),
            _ => None,
        },
        failing: line.marked,
    });
    waiting.collect()
}
