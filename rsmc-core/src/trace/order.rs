//! Program order over events: order within a thread, spawn before the first event, last event before the join, and
//! the buffered stores that must be visible to all before an event happens.

use std::sync::atomic::Ordering;

use crate::base::{Id, IdVec, ThreadId};
use crate::trace::{Action, Event, NoteKind, Op, Row, Trace};

/// The direct predecessors of every event in program order, and of the event each thread would do next.
#[derive(Clone, Debug, Default)]
pub struct ProgramOrder {
    preds: Lists,
    fenced: Lists,
    epochs: Vec<u32>,
    ends: IdVec<ThreadId, End>,
}

/// One list per event, one after the other.
#[derive(Clone, Debug, Default)]
struct Lists {
    items: Vec<u32>,
    ends: Vec<u32>,
}

impl Lists {
    fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
    }

    fn take(&mut self, list: &mut Vec<u32>) {
        self.items.append(list);
        self.ends.push(self.items.len() as u32);
    }

    fn get(&self, at: usize) -> &[u32] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.items[start..self.ends[at] as usize]
    }
}

/// Where a thread stands.
#[derive(Clone, Debug, Default)]
struct End {
    /// What is before its next event.
    preds: Vec<u32>,
    /// The stores that must be visible to all before its next event.
    fenced: Vec<u32>,
    /// Its buffered stores since its last full fence.
    unfenced: Vec<u32>,
    /// How many store-store fences it has passed.
    epoch: u32,
}

impl End {
    fn full_fence(&mut self) {
        self.fenced.append(&mut self.unfenced);
    }

    fn fence(&mut self, order: Ordering) {
        self.epoch += u32::from(matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst));
        if order == Ordering::SeqCst {
            self.full_fence();
        }
    }
}

impl ProgramOrder {
    /// Computes the order of a recorded execution into this value, reusing its memory.
    pub fn compute(&mut self, trace: &Trace) {
        self.preds.clear();
        self.fenced.clear();
        self.epochs.clear();
        for end in self.ends.values_mut() {
            end.preds.clear();
            end.fenced.clear();
            end.unfenced.clear();
            end.epoch = 0;
        }
        if let Some(last) = trace.thread_bound().checked_sub(1) {
            self.ends.grow_to(ThreadId::from_index(last), End::default);
        }
        for row in trace.rows() {
            match row {
                Row::Event(at, event) => self.event(at as u32, event),
                Row::Note(note) => match note.kind {
                    NoteKind::Spawn(child) => self.pass(note.thread, child),
                    NoteKind::Join(child) => {
                        self.ends[note.thread].full_fence();
                        self.pass(child, note.thread);
                    }
                    NoteKind::Counted => self.ends[note.thread].full_fence(),
                    NoteKind::Fence(order) => self.ends[note.thread].fence(order),
                    _ => {}
                },
            }
        }
    }

    fn event(&mut self, at: u32, event: &Event) {
        let end = &mut self.ends[event.id.thread];
        if event.buffered {
            end.fence(event.op.order);
        } else if drains(&event.op) {
            end.full_fence();
        }
        self.epochs.push(end.epoch);
        self.preds.take(&mut end.preds);
        self.fenced.take(&mut end.fenced);
        end.preds.push(at);
        if event.buffered {
            end.unfenced.push(at);
        }
    }

    /// A thread starts another, or another receives its end: what it did is before what the other does next, and
    /// visible.
    fn pass(&mut self, from: ThreadId, to: ThreadId) {
        let mut target = std::mem::take(&mut self.ends[to]);
        let source = &mut self.ends[from];
        source.full_fence();
        for (mine, theirs) in [(&mut target.preds, &source.preds), (&mut target.fenced, &source.fenced)] {
            for &at in theirs {
                if !mine.contains(&at) {
                    mine.push(at);
                }
            }
        }
        self.ends[to] = target;
    }

    /// The positions of the direct predecessors of the event at a position.
    pub fn preds(&self, at: usize) -> &[u32] {
        self.preds.get(at)
    }

    /// The positions of the direct predecessors of the event that `thread` would do next.
    pub fn next_preds(&self, thread: ThreadId) -> &[u32] {
        self.ends.get(thread).map_or(&[], |end| &end.preds)
    }

    /// The positions of the stores that a full fence keeps before the event at a position, as far as they are not
    /// before its predecessors too.
    pub fn fenced(&self, at: usize) -> &[u32] {
        self.fenced.get(at)
    }

    /// The same for an operation, not a buffered store, that `thread` would do next.
    pub fn next_fenced(&self, thread: ThreadId, op: &Op) -> impl Iterator<Item = u32> + use<'_> {
        let end = self.ends.get(thread);
        let own = end.filter(|_| drains(op)).map_or(&[][..], |end| &end.unfenced);
        end.map_or(&[][..], |end| &end.fenced).iter().chain(own).copied()
    }

    /// How many store-store fences the thread of an event had passed when it happened.
    pub fn epoch(&self, at: usize) -> u32 {
        self.epochs[at]
    }
}

/// Whether an operation that enters no buffer waits for the stores of its thread.
fn drains(op: &Op) -> bool {
    op.action != Action::Load
}
