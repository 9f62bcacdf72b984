//! Stores that wait in the buffer of their thread: those that a report shows, and the reads that missed them.
//!
//! A store that became visible to all before another thread did anything might as well never have waited. A report
//! shows it as an ordinary store, without its flush: a failure that has nothing to do with buffers looks as under `sc`.
//!
//! Under C11 there are no buffers; but a read may take an old write, unless a newer one happens before the read.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use crate::base::ThreadId;
use crate::model::c11::Graph;
use crate::trace::{Event, Note, NoteKind, Row, Site, Source, Trace};

/// The buffers in an execution. All numbers are positions of events.
#[derive(Default)]
pub(super) struct Buffers {
    waits: Vec<bool>,
    missed: BTreeMap<usize, usize>,
    overtaking: Vec<(usize, usize)>,
    /// Under C11: whether all stores that were missed are `SeqCst`, and the loads weaker.
    pub(super) seq_cst_missed: bool,
}

impl Buffers {
    /// Reads an execution.
    pub(super) fn new(trace: &Trace) -> Self {
        let mut buffers = Self::default();
        let mut waiting: Vec<usize> = Vec::new();
        let mut turns = Turns::default();
        for row in trace.rows() {
            let turn = turns.of(&row);
            match row {
                Row::Event(at, event) => {
                    buffers.waits.push(event.buffered);
                    turns.began.push(turn);
                    let missed = newest_missed(trace, event, &waiting);
                    buffers.missed.extend(missed.map(|store| (at, store)));
                    if event.buffered {
                        waiting.push(at);
                    }
                }
                Row::Note(note) => {
                    let NoteKind::Flush(store) = note.kind else { continue };
                    let store = store as usize;
                    waiting.retain(|other| *other != store);
                    let own = |at: &&usize| trace.events[**at].id.thread == note.thread && **at < store;
                    buffers.overtaking.extend(waiting.iter().find(own).map(|earlier| (store, *earlier)));
                    buffers.waits[store] = turns.began[store] != turn;
                }
            }
        }
        if !trace.events.iter().any(|event| event.buffered) {
            buffers.missed = stale(trace);
            let is_seq_cst = |at: usize| trace.events[at].order() == Ordering::SeqCst;
            buffers.seq_cst_missed = buffers.missed.iter().all(|(&at, &store)| is_seq_cst(store) && !is_seq_cst(at));
        }
        buffers
    }

    /// Whether a report shows that this store waited.
    pub(super) fn waits(&self, at: usize) -> bool {
        self.waits[at]
    }

    /// The newest store that a read would have seen if it had not waited in the buffer of another thread.
    pub(super) fn missed(&self, at: usize) -> Option<usize> {
        self.missed.get(&at).copied()
    }

    /// A store that became visible before an earlier one of its thread, which a read then missed.
    pub(super) fn overtaking(&self) -> Option<(usize, usize)> {
        let was_missed = |earlier| self.missed.values().any(|missed| *missed == earlier);
        self.overtaking.iter().copied().find(|(_, earlier)| was_missed(*earlier))
    }
}

/// Counts the changes of thread.
#[derive(Default)]
struct Turns {
    last: Option<ThreadId>,
    number: usize,
    /// By event: the turn in which it happened.
    began: Vec<usize>,
}

impl Turns {
    fn of(&mut self, row: &Row<'_>) -> usize {
        let (thread, counts) = match row {
            Row::Event(_, event) => (event.id.thread, true),
            Row::Note(note) => (note.thread, has_row(note)),
        };
        if counts && self.last.replace(thread) != Some(thread) {
            self.number += 1;
        }
        self.number
    }
}

fn newest_missed(trace: &Trace, read: &Event, waiting: &[usize]) -> Option<usize> {
    let from = match read.source {
        Source::None => return None,
        Source::Init => None,
        Source::At(at) => Some(at as usize),
    };
    if from.is_some_and(|from| waiting.contains(&from)) {
        return None; // its own: it would not see another store in any case
    }
    let newer = |&&at: &&usize| {
        let store = &trace.events[at];
        store.op.loc == read.op.loc && store.id.thread != read.id.thread && Some(at) > from
    };
    waiting.iter().rev().find(newer).copied()
}

/// The reads that did not take the newest write of their location, with that write, if it does not happen before them.
fn stale(trace: &Trace) -> BTreeMap<usize, usize> {
    let (mut last, mut stale) = (BTreeMap::new(), BTreeMap::new());
    for (at, event) in trace.events.iter().enumerate() {
        if let Some(&newest) = last.get(&event.op.loc)
            && !matches!(event.source, Source::None)
            && event.source != Source::At(newest as u32)
        {
            stale.insert(at, newest);
        }
        if event.written.is_some() {
            last.insert(event.op.loc, at);
        }
    }
    if !stale.is_empty() {
        let (mut graph, mut nodes) = (Graph::default(), Vec::new());
        graph.read(trace, &mut nodes);
        let is_ordered = |at: usize, newest: usize| graph.happens_before(nodes[newest] as usize, nodes[at] as usize);
        stale.retain(|&at, &mut newest| !is_ordered(at, newest));
    }
    stale
}

/// Whether a note has a row. The row of a flush is left out if its store need not have waited.
pub(super) fn has_row(note: &Note) -> bool {
    match note.kind {
        NoteKind::Counted | NoteKind::Hint => false,
        NoteKind::ArcRelease(_) | NoteKind::ArcAcquire(_) | NoteKind::ArcGone(_) => false,
        // One of the shim's own is part of a call.
        NoteKind::Fence(_) => note.site != Site::Unknown,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::base::{EventId, LocId};
    use crate::trace::{Action, Note, Op, Site};

    /// Appends a store that waits, or a load, of the only location.
    fn add(trace: &mut Trace, thread: u32, action: Action, source: Source) -> u32 {
        let (order, thread) = (Ordering::Relaxed, ThreadId(thread));
        let op = Op { action, loc: LocId(0), order, failure: order, site: Site::Unknown };
        let id = EventId { thread, index: trace.count(thread) };
        let buffered = action != Action::Load;
        trace.push(Event { id, op, source, read: 0, written: buffered.then_some(1), buffered })
    }

    fn store(trace: &mut Trace, thread: u32) -> u32 {
        add(trace, thread, Action::Store(1), Source::None)
    }

    fn load(trace: &mut Trace, thread: u32, source: Source) -> usize {
        add(trace, thread, Action::Load, source) as usize
    }

    fn flush(trace: &mut Trace, thread: u32, store: u32) {
        let at = trace.events.len() as u32;
        let kind = NoteKind::Flush(store);
        trace.notes.push(Note { at, thread: ThreadId(thread), kind, site: Site::Unknown });
    }

    #[test]
    fn a_read_misses_only_what_it_would_have_seen() {
        let mut trace = Trace::default();
        let first = store(&mut trace, 1);
        let second = store(&mut trace, 2);
        let own = load(&mut trace, 1, Source::At(first));
        let old = load(&mut trace, 3, Source::Init);
        flush(&mut trace, 2, second);
        let new = load(&mut trace, 3, Source::At(second));
        let buffers = Buffers::new(&trace);
        assert_eq!([own, old, new].map(|read| buffers.missed(read)), [None, Some(second as usize), None]);
    }

    #[test]
    fn a_read_of_an_old_write_misses_the_newest_unless_that_is_ordered_before_it() {
        let mut trace = Trace::default();
        let write = |trace: &mut Trace, thread| {
            let at = store(trace, thread);
            trace.events[at as usize].buffered = false;
            at
        };
        let first = write(&mut trace, 1);
        let second = write(&mut trace, 2);
        let old = load(&mut trace, 3, Source::At(first));
        let own = load(&mut trace, 2, Source::At(first));
        let new = load(&mut trace, 3, Source::At(second));
        let buffers = Buffers::new(&trace);
        assert_eq!([old, own, new].map(|read| buffers.missed(read)), [Some(second as usize), None, None]);
    }

    #[test]
    fn a_store_waits_if_another_thread_acts_before_its_flush() {
        let mut trace = Trace::default();
        let at_once = store(&mut trace, 1);
        flush(&mut trace, 1, at_once);
        let alone = store(&mut trace, 1);
        load(&mut trace, 1, Source::At(alone));
        flush(&mut trace, 1, alone);
        let long = store(&mut trace, 1);
        load(&mut trace, 2, Source::At(alone));
        flush(&mut trace, 1, long);
        let never = store(&mut trace, 1);
        let buffers = Buffers::new(&trace);
        let waits = [at_once, alone, long, never].map(|store| buffers.waits(store as usize));
        assert_eq!(waits, [false, false, true, true]);
    }
}
