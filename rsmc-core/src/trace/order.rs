//! Program order over events: order within a thread, spawn before the first event, last event before the join, and
//! the buffered stores that must be visible to all before an event happens.

use std::sync::atomic::Ordering;

use crate::base::{Id, IdVec, ThreadId};
use crate::trace::{Event, Note, NoteKind, Op, Trace};

/// The direct predecessors of every event in program order, and of the event each thread would do next.
#[derive(Clone, Debug, Default)]
pub struct ProgramOrder {
    rows: Vec<Line>,
    preds: Vec<u32>,
    fenced: Vec<u32>,
    ends: IdVec<ThreadId, End>,
}

/// The entry of an event; its lists begin where those of the event before it end.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    preds_end: u32,
    fenced_end: u32,
    epoch: u32,
}

/// The state of a thread behind its last event.
#[derive(Clone, Debug, Default)]
struct End {
    /// The direct predecessors of its next event.
    preds: Vec<u32>,
    /// The stores that must be visible to all before its next event.
    fenced: Vec<u32>,
    /// Its buffered stores since its last full fence.
    unfenced: Vec<u32>,
    /// The number of store-store fences it has passed.
    epoch: u32,
}

impl End {
    fn clear(&mut self) {
        self.preds.clear();
        self.fenced.clear();
        self.unfenced.clear();
        self.epoch = 0;
    }

    #[inline]
    fn full_fence(&mut self) {
        move_all(&mut self.unfenced, &mut self.fenced);
    }

    fn fence(&mut self, order: Ordering) {
        self.epoch += u32::from(matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst));
        if order == Ordering::SeqCst {
            self.full_fence();
        }
    }
}

/// Moves all items; mostly there is one or none.
#[inline]
fn move_all(from: &mut Vec<u32>, to: &mut Vec<u32>) {
    if !from.is_empty() {
        from.iter().for_each(|&at| to.push(at));
        from.clear();
    }
}

/// Adds the items that are not there.
fn add_missing(to: &mut Vec<u32>, from: &[u32]) {
    for &at in from {
        if to.iter().all(|&other| other != at) {
            to.push(at);
        }
    }
}

impl ProgramOrder {
    /// Computes the order of a recorded execution into this value, reusing its memory.
    pub fn compute(&mut self, trace: &Trace) {
        self.rows.clear();
        self.preds.clear();
        self.fenced.clear();
        self.ends.values_mut().for_each(End::clear);
        if let Some(last) = trace.thread_bound().checked_sub(1) {
            self.ends.grow_to(ThreadId::from_index(last), End::default);
        }
        for note in &trace.notes {
            if note.at as usize > self.rows.len() {
                self.events(trace, note.at as usize);
            }
            self.note(note);
        }
        self.events(trace, trace.events.len());
    }

    /// The events up to a position.
    fn events(&mut self, trace: &Trace, end: usize) {
        for at in self.rows.len()..end {
            self.event(at as u32, &trace.events[at]);
        }
    }

    #[inline]
    fn note(&mut self, note: &Note) {
        match note.kind {
            NoteKind::Spawn(child) => self.pass(note.thread, child),
            NoteKind::Join(child) => {
                self.ends[note.thread].full_fence();
                self.pass(child, note.thread);
            }
            NoteKind::Counted => self.ends[note.thread].full_fence(),
            NoteKind::Fence(order) => self.ends[note.thread].fence(order),
            _ => {}
        }
    }

    #[inline]
    fn event(&mut self, at: u32, event: &Event) {
        let end = &mut self.ends[event.id.thread];
        if event.buffered {
            end.fence(event.op.order);
        } else if event.op.action.drains() {
            end.full_fence();
        }
        move_all(&mut end.preds, &mut self.preds);
        move_all(&mut end.fenced, &mut self.fenced);
        let (preds_end, fenced_end) = (self.preds.len() as u32, self.fenced.len() as u32);
        self.rows.push(Line { preds_end, fenced_end, epoch: end.epoch });
        end.preds.push(at);
        if event.buffered {
            end.unfenced.push(at);
        }
    }

    /// A thread starts another, or another receives its end: what `from` did is before what `to` does next, and
    /// visible.
    fn pass(&mut self, from: ThreadId, to: ThreadId) {
        let [source, target] = self.ends.pair_mut(from, to);
        source.full_fence();
        add_missing(&mut target.preds, &source.preds);
        add_missing(&mut target.fenced, &source.fenced);
    }

    /// The line before an event's; the lists of the event begin where these end.
    #[inline]
    fn before(&self, at: usize) -> Line {
        at.checked_sub(1).map_or(Line::default(), |before| self.rows[before])
    }

    /// The positions of the direct predecessors of the event at a position.
    #[inline]
    pub fn preds(&self, at: usize) -> &[u32] {
        &self.preds[self.before(at).preds_end as usize..self.rows[at].preds_end as usize]
    }

    /// The positions of the direct predecessors of the event that `thread` would do next.
    pub fn next_preds(&self, thread: ThreadId) -> &[u32] {
        self.ends.get(thread).map_or(&[], |end| &end.preds)
    }

    /// The positions of the stores that a full fence keeps before the event at a position, as far as they are not
    /// before its predecessors too.
    pub fn fenced(&self, at: usize) -> &[u32] {
        &self.fenced[self.before(at).fenced_end as usize..self.rows[at].fenced_end as usize]
    }

    /// The positions of the stores that a full fence keeps before an operation, not a buffered store, that `thread`
    /// would do next.
    pub fn next_fenced(&self, thread: ThreadId, op: &Op) -> impl Iterator<Item = u32> + use<'_> {
        let end = self.ends.get(thread);
        let own = end.filter(|_| op.action.drains()).map_or(&[][..], |end| &end.unfenced);
        end.map_or(&[][..], |end| &end.fenced).iter().chain(own).copied()
    }

    /// The number of store-store fences that the thread of an event had passed when it happened.
    pub fn epoch(&self, at: usize) -> u32 {
        self.rows[at].epoch
    }
}
