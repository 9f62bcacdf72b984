//! C11 as execution graphs: events and fences with program order, sources and happens-before.
//!
//! Problem. C++20's memory model, which Rust promises, is no machine: an execution is a graph, and axioms say which
//! graphs there are. [`Graph`] holds what does not depend on the modification order; `consistency::verify_c11` has the
//! axioms.
//!
//! Method. Nodes are added in an order of program order and reads-from. Each thread keeps the set of nodes that happen
//! before its next one. A write carries a *message*: what its thread knew if it is a release, what the thread knew at its
//! last release fence if not. An update adds its message to that of its source (the release sequence of C++20: a write,
//! then the updates that read from it in a chain). A read that acquires learns the message of its source; another keeps
//! it for the next acquire fence of its thread.
//!
//! Cost. O(n²) bits, and words for each node added.
//!
//! Source. Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing sequential consistency in C/C++11", PLDI 2017, with the
//! release sequences of C++20 (P0982).
//!
//! Deviations. A thread's start and end are program order: the first event of a thread comes after its spawn, and what
//! follows a join after the last event. Releases of references (`Arc`) are kept as one message for each location.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use crate::base::{BitMatrix, BitSet, IdVec, LocId, ThreadId, unite};
use crate::trace::{Event, Note, NoteKind, Row, Source, Trace};

/// Whether an ordering acquires.
pub fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

/// Whether an ordering releases.
pub fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// An event or a fence.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Its location; `None` for a fence.
    pub loc: Option<LocId>,
    /// What it reads; positions are numbers of nodes.
    pub source: Source,
    /// Whether it writes.
    pub writes: bool,
    /// Its ordering.
    pub order: Ordering,
}

impl Node {
    /// The node of an event; `numbers` has the nodes of the events before it.
    pub fn of(event: &Event, numbers: &[u32]) -> Self {
        let source = match event.source {
            Source::At(write) => Source::At(numbers[write as usize]),
            other => other,
        };
        Self { loc: Some(event.op.loc), source, writes: event.written.is_some(), order: event.order() }
    }

    /// Whether it is an access or fence that is sequentially consistent.
    pub fn is_seq_cst(&self) -> bool {
        self.order == Ordering::SeqCst
    }
}

/// What is before the next node of a thread.
#[derive(Clone, Debug, Default)]
struct Knowledge {
    program: BitSet,
    happened: BitSet,
    /// What had happened at the last release fence.
    fenced: BitSet,
    /// Messages of relaxed reads: known at the next acquire fence.
    unacquired: BitSet,
}

/// An execution graph without a modification order; see the module.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    capacity: usize,
    /// Row of a node: what is before it.
    program: BitMatrix,
    happens: BitMatrix,
    messages: BitMatrix,
    threads: IdVec<ThreadId, Knowledge>,
    references: FxHashMap<LocId, BitSet>,
}

impl Graph {
    /// Forgets all nodes; there will be at most `capacity`.
    pub fn clear(&mut self, capacity: usize) {
        self.nodes.clear();
        self.capacity = capacity;
        self.program.reset(capacity);
        self.happens.reset(capacity);
        self.messages.reset(capacity);
        self.threads.clear();
        self.references.clear();
    }

    /// The graph of an execution, with room for `more` nodes; writes the node of each event to `numbers`.
    pub fn read(&mut self, trace: &Trace, more: usize, numbers: &mut Vec<u32>) {
        self.clear(trace.events.len() + trace.notes.len() + more);
        numbers.clear();
        for row in trace.rows() {
            match row {
                Row::Event(_, event) => {
                    let number = self.access(event.id.thread, Node::of(event, numbers));
                    numbers.push(number as u32);
                }
                Row::Note(note) => self.pass_note(note),
            }
        }
    }

    /// What a note means for the order of its thread.
    pub fn pass_note(&mut self, note: &Note) {
        match note.kind {
            NoteKind::Spawn(child) => self.pass(note.thread, child),
            NoteKind::Join(child) => self.pass(child, note.thread),
            NoteKind::Fence(order) => {
                self.fence(note.thread, order);
            }
            NoteKind::ArcRelease(loc) => self.release_reference(note.thread, loc),
            NoteKind::ArcAcquire(loc) => self.acquire_reference(note.thread, loc),
            _ => {}
        }
    }

    /// The nodes, in the order in which they were added.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// What is before a node in program order, as words.
    pub fn program_before(&self, node: usize) -> &[u64] {
        self.program.row(node)
    }

    /// What happens before a node, as words.
    pub fn happens_before(&self, node: usize) -> &[u64] {
        self.happens.row(node)
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Knowledge {
        let capacity = self.capacity;
        self.threads.grow_to(thread, || {
            let empty = BitSet::new(capacity);
            Knowledge { program: empty.clone(), happened: empty.clone(), fenced: empty.clone(), unacquired: empty }
        });
        &mut self.threads[thread]
    }

    /// A thread starts another, or receives its end: what `from` did is before what `to` does next.
    pub fn pass(&mut self, from: ThreadId, to: ThreadId) {
        let Knowledge { program, happened, .. } = self.thread(from).clone();
        let to = self.thread(to);
        to.program.union(program.words());
        to.happened.union(happened.words());
    }

    /// What a thread does next comes after this node in program order.
    pub fn follow(&mut self, node: usize, thread: ThreadId) {
        let (program, happened) = (self.program.row(node).to_vec(), self.happens.row(node).to_vec());
        let thread = self.thread(thread);
        thread.program.union(&program);
        thread.program.insert(node);
        thread.happened.union(&happened);
        thread.happened.insert(node);
    }

    /// A thread drops a reference to a shared value.
    pub fn release_reference(&mut self, thread: ThreadId, loc: LocId) {
        let empty = BitSet::new(self.capacity);
        let happened = self.thread(thread).happened.clone();
        self.references.entry(loc).or_insert(empty).union(happened.words());
    }

    /// A thread became the last owner of a shared value.
    pub fn acquire_reference(&mut self, thread: ThreadId, loc: LocId) {
        if let Some(dropped) = self.references.get(&loc).cloned() {
            self.thread(thread).happened.union(dropped.words());
        }
    }

    /// A thread passes a fence.
    pub fn fence(&mut self, thread: ThreadId, order: Ordering) -> usize {
        let number = self.nodes.len();
        let know = self.thread(thread);
        if acquires(order) {
            let unacquired = std::mem::take(&mut know.unacquired);
            know.happened.union(unacquired.words());
            know.unacquired = unacquired;
        }
        self.add(thread, Node { loc: None, source: Source::None, writes: false, order });
        let know = self.thread(thread);
        if releases(order) {
            know.fenced = know.happened.clone();
        }
        number
    }

    /// A thread performs an access.
    pub fn access(&mut self, thread: ThreadId, node: Node) -> usize {
        let number = self.nodes.len();
        let message = match node.source {
            Source::At(write) => self.messages.row(write as usize).to_vec(),
            Source::Init | Source::None => Vec::new(),
        };
        let know = self.thread(thread);
        if acquires(node.order) {
            know.happened.union(&message);
        } else {
            know.unacquired.union(&message);
        }
        self.add(thread, node);
        if node.writes {
            let know = &self.threads[thread];
            let own = if releases(node.order) { &know.happened } else { &know.fenced };
            let row = self.messages.row_mut(number);
            unite(row, own.words());
            unite(row, &message);
        }
        number
    }

    fn add(&mut self, thread: ThreadId, node: Node) {
        let number = self.nodes.len();
        let know = &mut self.threads[thread];
        unite(self.program.row_mut(number), know.program.words());
        unite(self.happens.row_mut(number), know.happened.words());
        know.program.insert(number);
        know.happened.insert(number);
        self.nodes.push(node);
    }
}
