//! The knowledge of a thread when it performs an event, as a number: equal numbers mean equal local states.
//!
//! A thread's behaviour follows from what it read. A value does not show what is hidden behind a lock, an address or a
//! tracked cell: there, the knowledge of the writer belongs to it. A join adds the knowledge of the joined thread, and
//! a spawn that of the parent. Cells may be met later in one execution than in another, so there are two numbers: one
//! for executions without cells, and one in which the knowledge of the writer always counts.
//!
//! Nor does a value show what a thread read from plain memory, say under a lock of the program's own. The places of its
//! operations show it, as far as the thread goes another way then.

use crate::base::{EventId, IdVec, ThreadId, mix};
use crate::trace::{Event, NoteKind, Row, Source, Trace};

/// The knowledge of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Known {
    by_value: u64,
    by_source: u64,
}

impl Known {
    /// The knowledge of the first thread at the beginning. Not the default, in which a zero that it reads would leave
    /// no trace.
    const AT_FIRST: Self = Self { by_value: 1, by_source: 1 };

    fn with(self, other: Known) -> Self {
        Self { by_value: mix(self.by_value, other.by_value), by_source: mix(self.by_source, other.by_source) }
    }

    fn with_number(self, number: u64) -> Self {
        self.with(Known { by_value: number, by_source: number })
    }
}

/// By event: the knowledge of its thread before it, and after it.
#[derive(Clone, Debug, Default)]
pub struct Histories {
    before: Vec<Known>,
    after: Vec<Known>,
    /// The number of notes that are in it.
    notes: usize,
    now: IdVec<ThreadId, Known>,
    has_cells: bool,
}

impl Histories {
    /// Computes the histories of an execution.
    pub fn compute(&mut self, trace: &Trace) {
        self.clear();
        self.extend(trace, trace.events.len() + 1);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.before.clear();
        self.after.clear();
        self.now.clear();
        (self.notes, self.has_cells) = (0, false);
    }

    /// Forgets the execution, unless only its first so many events and notes are known.
    pub fn keep(&mut self, events: usize, notes: usize) {
        if self.after.len() > events || self.notes > notes {
            self.clear();
        }
    }

    /// Adds what has come to an execution that began like this, up to this event.
    fn extend(&mut self, trace: &Trace, end: usize) {
        if let Some(last) = trace.thread_bound().checked_sub(1) {
            self.now.grow_to(ThreadId(last as u32), || Known::AT_FIRST);
        }
        for row in trace.rows_since(self.after.len(), self.notes) {
            match row {
                Row::Event(at, _) if at >= end => break,
                Row::Note(note) if note.at as usize >= end => break,
                Row::Note(_) => self.notes += 1,
                Row::Event(..) => {}
            }
            match row {
                Row::Event(_, event) => {
                    let before = self.now[event.id.thread];
                    let after = self.after(before, event);
                    self.before.push(before);
                    self.after.push(after);
                    self.now[event.id.thread] = after;
                }
                Row::Note(note) => match note.kind {
                    NoteKind::Spawn(child) => {
                        self.now[child] = self.now[note.thread].with_number(u64::from(child.0) << 2 | 3);
                    }
                    NoteKind::Join(child) => self.now[note.thread] = self.now[note.thread].with(self.now[child]),
                    NoteKind::CellRead(_) | NoteKind::CellWrite(_) => self.has_cells = true,
                    kind if kind.ends().is_some() => self.has_cells = true,
                    _ => {}
                },
            }
        }
    }

    /// The knowledge of a thread that has performed this event, in the execution or in place of one of its events.
    pub fn look(&self, trace: &Trace, event: &Event) -> u64 {
        let known = self.known(trace, event);
        if self.has_cells { known.by_source } else { known.by_value }
    }

    /// All numbers that [`look`](Self::look) may return for it in executions that begin alike.
    pub fn looks(&self, trace: &Trace, event: &Event) -> impl Iterator<Item = u64> {
        let Known { by_value, by_source } = self.known(trace, event);
        [by_source].into_iter().chain((!self.has_cells).then_some(by_value))
    }

    /// As [`looks`](Self::looks), of an execution that grows: the next call is about one that begins with the events
    /// before `stays`, or [`keep`](Self::keep) is called.
    pub fn looks_now(&mut self, trace: &Trace, event: &Event, stays: usize) -> impl Iterator<Item = u64> + use<> {
        self.extend(trace, stays);
        let (events, notes, has_cells, now) = (self.after.len(), self.notes, self.has_cells, self.now.clone());
        self.extend(trace, trace.events.len() + 1);
        let looks: Vec<u64> = self.looks(trace, event).collect();
        debug_assert!(
            trace.events.len() > 1_000 || {
                let mut anew = Self::default();
                anew.compute(trace);
                anew.looks(trace, event).eq(looks.iter().copied())
            }
        );
        self.before.truncate(events);
        self.after.truncate(events);
        (self.notes, self.has_cells, self.now) = (notes, has_cells, now);
        looks.into_iter()
    }

    fn known(&self, trace: &Trace, event: &Event) -> Known {
        let EventId { thread, .. } = event.id;
        let before = trace.position(event.id).map_or(self.now[thread], |at| self.before[at]);
        self.after(before, event)
    }

    fn after(&self, before: Known, event: &Event) -> Known {
        let writer = match event.source {
            Source::At(writer) => self.after[writer as usize],
            Source::Init | Source::None => Known::default(),
        };
        let is_address = (1 << 32..1 << 48).contains(&event.read);
        let by_value = if is_address || event.op.action.locks() { writer.by_value } else { 0 };
        let seen = mix(event.read, event.op.action.alternative() << 1 | u64::from(event.written.is_some()));
        let (line, column) = event.op.site.line_and_column();
        before
            .with_number(mix(seen, u64::from(line) << 32 | u64::from(column)))
            .with(Known { by_value, by_source: writer.by_source })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::base::LocId;
    use crate::trace::{Action, Op, Site, ThreadInfo};

    /// A thread knows something new whenever it reads, also the first thread, and if it reads nothing but zeros.
    #[test]
    fn zeros_are_remembered() {
        let order = Ordering::SeqCst;
        let op = Op { action: Action::Load, loc: LocId(0), order, failure: order, site: Site::Unknown };
        for thread in [ThreadId(0), ThreadId(1)] {
            let (mut trace, mut histories) = (Trace::default(), Histories::default());
            trace.threads.grow_to(thread, ThreadInfo::default);
            let mut look = |index| {
                let id = EventId { thread, index };
                let event = Event { id, op, source: Source::Init, read: 0, written: None, buffered: false };
                trace.push(event);
                histories.compute(&trace);
                histories.look(&trace, &event)
            };
            let [first, second, third] = [look(0), look(1), look(2)];
            assert!(first != second && second != third && first != third, "{first} {second} {third}");
        }
    }

    /// Of an execution that grows, and sometimes loses its end, the histories are those of a new computation.
    #[test]
    fn a_growing_execution_is_read_once() {
        let order = Ordering::SeqCst;
        let op = |action| Op { action, loc: LocId(0), order, failure: order, site: Site::Unknown };
        let (mut trace, mut histories) = (Trace::default(), Histories::default());
        trace.threads.grow_to(ThreadId(1), ThreadInfo::default);
        for round in 0..40_u32 {
            let write = EventId { thread: ThreadId(0), index: trace.count(ThreadId(0)) };
            let (read, written) = (0, Some(u64::from(round)));
            trace.push(Event {
                id: write,
                op: op(Action::Store(u64::from(round))),
                source: Source::None,
                read,
                written,
                buffered: false,
            });
            let id = EventId { thread: ThreadId(1), index: trace.count(ThreadId(1)) };
            let source = Source::At(trace.events.len() as u32 - 1);
            let read =
                Event { id, op: op(Action::Load), source, read: u64::from(round), written: None, buffered: false };
            trace.push(read);
            let stays = trace.events.len() - 1;
            let looks: Vec<u64> = histories.looks_now(&trace, &read, stays).collect();
            let mut anew = Histories::default();
            anew.compute(&trace);
            assert_eq!(looks, anew.looks(&trace, &read).collect::<Vec<_>>());
            assert_eq!(histories.after.len(), stays);
            if round % 3 == 0 {
                trace.truncate(stays, 0);
                histories.keep(stays, 0);
                assert_eq!(histories.after.len(), stays);
            }
        }
        histories.keep(3, 0);
        assert!(histories.after.is_empty());
    }
}
