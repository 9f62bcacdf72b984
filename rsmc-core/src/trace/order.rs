//! Program order over events: order within a thread, spawn before the first event, last event before the join.

use crate::base::{Id, IdVec, ThreadId};
use crate::trace::{NoteKind, Row, Trace};

/// The direct predecessors of every event in program order, and of the event each thread would do next.
#[derive(Clone, Debug, Default)]
pub struct ProgramOrder {
    preds: Vec<u32>,
    ends: Vec<u32>,
    frontier: IdVec<ThreadId, Vec<u32>>,
}

impl ProgramOrder {
    /// Computes the order of a recorded execution into this value, reusing its memory.
    pub fn compute(&mut self, trace: &Trace) {
        self.preds.clear();
        self.ends.clear();
        self.frontier.values_mut().for_each(Vec::clear);
        if let Some(last) = trace.thread_bound().checked_sub(1) {
            self.frontier.grow_to(ThreadId::from_index(last), Vec::new);
        }
        for row in trace.rows() {
            match row {
                Row::Event(at, event) => {
                    let frontier = &mut self.frontier[event.id.thread];
                    self.preds.append(frontier);
                    self.ends.push(self.preds.len() as u32);
                    frontier.push(at as u32);
                }
                Row::Note(note) => match note.kind {
                    NoteKind::Spawn(child) => self.extend(child, note.thread),
                    NoteKind::Join(child) => self.extend(note.thread, child),
                    _ => {}
                },
            }
        }
    }

    fn extend(&mut self, to: ThreadId, from: ThreadId) {
        let mut target = std::mem::take(&mut self.frontier[to]);
        for &at in &self.frontier[from] {
            if !target.contains(&at) {
                target.push(at);
            }
        }
        self.frontier[to] = target;
    }

    /// The positions of the direct predecessors of the event at a position.
    pub fn preds(&self, at: usize) -> &[u32] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.preds[start..self.ends[at] as usize]
    }

    /// The positions of the direct predecessors of the event that `thread` would do next.
    pub fn next_preds(&self, thread: ThreadId) -> &[u32] {
        self.frontier.get(thread).map_or(&[], Vec::as_slice)
    }
}
