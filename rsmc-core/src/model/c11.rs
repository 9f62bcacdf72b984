//! C11 as execution graphs: events and fences with program order, sources and happens-before.
//!
//! Problem. C++20's memory model, which Rust promises, is no machine: an execution is a graph, and axioms say which
//! graphs there are. [`Graph`] holds what does not depend on the modification order; `consistency::verify_c11` has the
//! axioms.
//!
//! Method. Nodes are added in an order of program order and reads-from. Both orders hold whole beginnings of threads,
//! so what is before a node is a clock: how many nodes of each thread. Each thread keeps the clock of its next node. A
//! write carries a *message*: what its thread knew if it is a release, what the thread knew at its last release fence
//! if not. An update adds its message to that of its source (the release sequence of C++20: a write, then the updates
//! that read from it in a chain). A read that acquires learns the message of its source; another keeps it for the next
//! acquire fence of its thread.
//!
//! Cost. A few words for each node, and a clock where a thread learns or says something: O(nodes × threads) at most.
//!
//! Source. Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing sequential consistency in C/C++11", PLDI 2017, with the
//! release sequences of C++20 (P0982).
//!
//! Deviations. A thread's start and end are program order: the first event of a thread comes after its spawn, and what
//! follows a join after the last event. Releases of references (`Arc`) are kept as one message for each location.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use crate::base::{ClockId, ClockTable, Id, IdVec, LocId, ThreadId};
use crate::model::{Description, MemoryModel, StoreBuffers};
use crate::trace::{Event, Note, NoteKind, Row, Source, Trace};

/// The model.
pub(super) const DESCRIPTION: Description = Description {
    name: "c11",
    title: "C11",
    buffers: StoreBuffers::None,
    is_graph: true,
    stronger: &[MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso],
    needs: None,
    weak_steps: "reads of old values",
};

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
    /// The source of its read; positions are numbers of nodes.
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

/// The place of a node in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The thread.
    pub thread: ThreadId,
    /// The number of nodes of the thread that come before it.
    pub index: u32,
}

/// The nodes before a node: the first ones of each thread.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    clock: &'a [u32],
    own: Place,
}

impl<'a> Past<'a> {
    /// The number of nodes of a thread among them.
    pub fn count(&self, thread: ThreadId) -> u32 {
        if thread == self.own.thread { self.own.index } else { self.clock.get(thread.index()).copied().unwrap_or(0) }
    }

    /// Whether a node is among them.
    pub fn includes(&self, place: Place) -> bool {
        place.index < self.count(place.thread)
    }

    /// The threads with a node among them, each with the number of its nodes, the own thread last.
    pub fn counts(self) -> impl Iterator<Item = (ThreadId, u32)> + 'a {
        let all = self.clock.iter().enumerate().map(|(thread, &count)| (ThreadId::from_index(thread), count));
        let others = all.filter(move |&(thread, _)| thread != self.own.thread);
        others.chain([(self.own.thread, self.own.index)]).filter(|&(_, count)| count > 0)
    }
}

/// The past of a node, whatever it reads. The entry of its own thread is not kept in clocks.
#[derive(Clone, Copy, Debug)]
struct Stand {
    place: Place,
    program: ClockId,
    happened: ClockId,
    /// The nodes that had happened at the last release fence.
    fenced: ClockId,
}

/// The knowledge of a node.
#[derive(Clone, Copy, Debug)]
struct Known {
    stand: Stand,
    /// The nodes that happen before it, with those that it acquires.
    happened: ClockId,
    /// The message to nodes that acquire from it.
    message: ClockId,
}

/// The past of the next node of a thread.
#[derive(Clone, Debug, Default)]
struct Knowledge {
    /// The number of the thread's nodes.
    count: u32,
    program: ClockId,
    happened: ClockId,
    fenced: ClockId,
    /// Messages of relaxed reads: known at the next acquire fence.
    unacquired: ClockId,
}

impl Knowledge {
    fn stand(&self, thread: ThreadId) -> Stand {
        let place = Place { thread, index: self.count };
        Stand { place, program: self.program, happened: self.happened, fenced: self.fenced }
    }
}

/// An execution graph without a modification order; see the module.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    known: Vec<Known>,
    clocks: ClockTable,
    threads: IdVec<ThreadId, Knowledge>,
    references: FxHashMap<LocId, ClockId>,
}

/// The size of a graph at one time.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    nodes: usize,
    clocks: usize,
}

impl Graph {
    /// Forgets all nodes and keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.known.clear();
        self.clocks.clear();
        self.references.clear();
        self.threads.values_mut().for_each(|know| *know = Knowledge::default());
    }

    /// The graph of an execution; writes the node of each event to `numbers`.
    pub fn read(&mut self, trace: &Trace, numbers: &mut Vec<u32>) {
        self.clear();
        numbers.clear();
        trace.rows().for_each(|row| self.pass_row(row, numbers));
    }

    /// Adds what happened next in an execution; `numbers` has the nodes of the events so far.
    pub fn pass_row(&mut self, row: Row<'_>, numbers: &mut Vec<u32>) {
        match row {
            Row::Event(_, event) => {
                let number = self.access(event.id.thread, Node::of(event, numbers));
                numbers.push(number as u32);
            }
            Row::Note(note) => self.pass_note(note),
        }
    }

    /// Applies a note to the order of its thread.
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

    /// The place of a node in its thread.
    pub fn place(&self, node: usize) -> Place {
        self.known[node].stand.place
    }

    fn past(&self, clock: ClockId, own: Place) -> Past<'_> {
        Past { clock: self.clocks.row(clock), own }
    }

    /// The nodes before a node in program order.
    pub fn program_before(&self, node: usize) -> Past<'_> {
        let Stand { place, program, .. } = self.known[node].stand;
        self.past(program, place)
    }

    /// The nodes that happen before a node.
    pub fn happened_before(&self, node: usize) -> Past<'_> {
        self.past(self.known[node].happened, self.place(node))
    }

    /// The nodes that happen before a node whatever it reads.
    pub fn known_before(&self, node: usize) -> Past<'_> {
        let Stand { place, happened, .. } = self.known[node].stand;
        self.past(happened, place)
    }

    /// The nodes that happen before the next node of a thread whatever that reads.
    pub fn known_next(&self, thread: ThreadId) -> Past<'_> {
        let Stand { place, happened, .. } = self.stand(thread);
        self.past(happened, place)
    }

    /// Whether one node happens before another.
    pub fn happens_before(&self, first: usize, second: usize) -> bool {
        self.happened_before(second).includes(self.place(first))
    }

    fn stand(&self, thread: ThreadId) -> Stand {
        self.threads.get(thread).map_or_else(|| Knowledge::default().stand(thread), |know| know.stand(thread))
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Knowledge {
        self.threads.grow_to(thread, Knowledge::default);
        &mut self.threads[thread]
    }

    /// A thread starts another, or receives its end: what `from` did is before what `to` does next.
    pub fn pass(&mut self, from: ThreadId, to: ThreadId) {
        let Stand { place, program, happened, .. } = self.stand(from);
        self.follow_clocks(to, program, happened, place);
    }

    /// Puts this node before the next one of a thread in program order.
    pub fn follow(&mut self, node: usize, thread: ThreadId) {
        let Known { stand: Stand { place, program, .. }, happened, .. } = self.known[node];
        if place.thread != thread {
            self.follow_clocks(thread, program, happened, Place { index: place.index + 1, ..place });
        }
    }

    fn follow_clocks(&mut self, to: ThreadId, program: ClockId, happened: ClockId, end: Place) {
        let are_same = happened == program;
        let program = self.clocks.with(program, end.thread, end.index);
        let happened = if are_same { program } else { self.clocks.with(happened, end.thread, end.index) };
        self.thread(to);
        let to = &mut self.threads[to];
        let are_same = are_same && to.happened == to.program;
        to.program = self.clocks.join(to.program, program);
        to.happened = if are_same { to.program } else { self.clocks.join(to.happened, happened) };
    }

    /// A thread drops a reference to a shared value: an update of its count that releases.
    fn release_reference(&mut self, thread: ThreadId, loc: LocId) {
        let Stand { place, happened, .. } = self.stand(thread);
        let now = self.clocks.with(happened, thread, place.index);
        let dropped = self.references.entry(loc).or_insert(ClockTable::NOTHING);
        self.threads.grow_to(thread, Knowledge::default);
        let know = &mut self.threads[thread];
        know.unacquired = self.clocks.join(know.unacquired, *dropped);
        *dropped = self.clocks.join(*dropped, now);
    }

    /// A thread became the last owner of a shared value, and passes a fence that acquires.
    fn acquire_reference(&mut self, thread: ThreadId, loc: LocId) {
        self.acquire(thread);
        if let Some(&dropped) = self.references.get(&loc) {
            let know = &mut self.threads[thread];
            know.happened = self.clocks.join(know.happened, dropped);
        }
    }

    /// A thread takes the messages of its relaxed reads.
    fn acquire(&mut self, thread: ThreadId) {
        self.thread(thread);
        let know = &mut self.threads[thread];
        know.happened = self.clocks.join(know.happened, know.unacquired);
    }

    /// A thread passes a fence.
    pub fn fence(&mut self, thread: ThreadId, order: Ordering) -> usize {
        if acquires(order) {
            self.acquire(thread);
        }
        let number = self.add(thread, Node { loc: None, source: Source::None, writes: false, order });
        if releases(order) {
            let know = &mut self.threads[thread];
            know.fenced = self.clocks.with(know.happened, thread, know.count);
        }
        number
    }

    /// A thread performs an access.
    pub fn access(&mut self, thread: ThreadId, node: Node) -> usize {
        let number = self.add(thread, node);
        let received = self.received(&node);
        let know = &mut self.threads[thread];
        know.happened = self.known[number].happened;
        if !acquires(node.order) {
            know.unacquired = self.clocks.join(know.unacquired, received);
        }
        number
    }

    /// Adds the next node of a thread.
    fn add(&mut self, thread: ThreadId, node: Node) -> usize {
        let number = self.suppose_next(thread, node);
        self.thread(thread).count += 1;
        number
    }

    /// Adds a node as if it were the next one of a thread, which does not know of it.
    pub fn suppose_next(&mut self, thread: ThreadId, node: Node) -> usize {
        self.suppose(self.stand(thread), node)
    }

    /// Adds a node as if it stood in the place of another one. Its thread does not know of it.
    pub fn suppose_instead(&mut self, of: usize, node: Node) -> usize {
        self.suppose(self.known[of].stand, node)
    }

    /// Adds a node that comes after all others.
    pub fn suppose_last(&mut self, node: Node) -> usize {
        let nobody = ThreadId::from_index(self.threads.len());
        let mut all = ClockTable::NOTHING;
        for thread in self.threads.ids() {
            all = self.clocks.with(all, thread, self.threads[thread].count);
        }
        self.suppose(Stand { program: all, happened: all, ..self.stand(nobody) }, node)
    }

    fn suppose(&mut self, stand: Stand, node: Node) -> usize {
        let received = self.received(&node);
        let clocks = &mut self.clocks;
        let happened = if acquires(node.order) { clocks.join(stand.happened, received) } else { stand.happened };
        let mut message = ClockTable::NOTHING;
        if node.writes {
            let Place { thread, index } = stand.place;
            let own = if releases(node.order) { clocks.with(happened, thread, index + 1) } else { stand.fenced };
            message = clocks.join(own, received);
        }
        self.nodes.push(node);
        self.known.push(Known { stand, happened, message });
        self.nodes.len() - 1
    }

    /// The message of what a node reads.
    fn received(&self, node: &Node) -> ClockId {
        match node.source {
            Source::At(write) => self.known[write as usize].message,
            Source::Init | Source::None => ClockTable::NOTHING,
        }
    }

    /// The size of the graph now.
    pub fn mark(&self) -> Mark {
        Mark { nodes: self.nodes.len(), clocks: self.clocks.len() }
    }

    /// Forgets the nodes that were supposed since then.
    pub fn forget_since(&mut self, mark: Mark) {
        self.nodes.truncate(mark.nodes);
        self.known.truncate(mark.nodes);
        self.clocks.truncate(mark.clocks);
    }
}
