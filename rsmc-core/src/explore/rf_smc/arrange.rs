//! Under C11: from the events of a new sequence to an execution graph, and to a witness.
//!
//! Problem. Say in which order the events can be run, each read with its source, and find a modification order.
//!
//! Method. Any order of program order and reads-from runs the graph. Each thread does its rows of the run (events, and
//! the notes between them) as far as they are wanted; of the threads that can go on, the one that came first in the run.
//! What a read takes is part of its step, so only the modification order is a question, for VerifyC11.

use crate::base::{EventId, IdVec, LocId, ThreadId};
use crate::consistency::VerifyC11;
use crate::explore::rf_smc::mutate::Actor;
use crate::explore::rf_smc::schedule::{Member, Witness};
use crate::model::c11::{Graph, Node};
use crate::step::Run;
use crate::trace::{Note, NoteKind, Row, Source};

/// Something that a thread does, and when it did it in the run.
#[derive(Clone, Copy, Debug)]
struct Item {
    row: usize,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// This member; `None` where the thread is not wanted any more.
    Event(Option<usize>),
    Note(usize),
}

/// A read at the end of everything: a location, and the write it must find there.
pub(super) type Look = (LocId, Option<usize>);

/// The members of a new sequence.
#[derive(Clone, Copy)]
pub(super) struct Sequence<'a> {
    pub(super) run: &'a Run,
    pub(super) members: &'a [Member],
    /// By event of the run: its number among the members, or `u32::MAX`.
    pub(super) numbers: &'a [u32],
}

/// Arranges members; keeps its memory from one question to the next.
#[derive(Debug, Default)]
pub(super) struct Arranger {
    graph: Graph,
    verifier: VerifyC11,
    /// By thread: what it does, and how much of that has been done.
    items: IdVec<ThreadId, Vec<Item>>,
    done: IdVec<ThreadId, usize>,
    started: IdVec<ThreadId, bool>,
    /// By member: its node.
    nodes: Vec<Option<u32>>,
    /// The members in the order of their nodes, fences left out; and by node.
    order: Vec<usize>,
    member_of: Vec<Option<usize>>,
    modification: Vec<usize>,
}

impl Arranger {
    /// A witness of a sequence after which the looks find what they must.
    pub(super) fn witness(&mut self, sequence: Sequence, looks: &[Look]) -> Option<Witness> {
        let Sequence { run, members, numbers } = sequence;
        self.list(sequence);
        self.build(sequence, looks.len());
        if self.order.len() < members.len() {
            return None; // Reads-from and program order contradict each other.
        }
        self.add_looks(looks, numbers);
        let rank = |node: usize| match self.member_of.get(node).copied().flatten().map(|member| members[member].who) {
            Some(Actor::Event(at)) => at as u32,
            _ => u32::MAX,
        };
        self.modification.clear();
        if !self.verifier.verify(&self.graph, rank, &mut self.modification) {
            return None;
        }
        let id = |node: usize| self.member_of[node].map(|member| members[member].id);
        Some(Witness {
            steps: self.order.iter().map(|&member| members[member].taking(run)).collect(),
            modification: self.modification.iter().filter_map(|&node| id(node)).collect::<Vec<EventId>>(),
        })
    }

    /// Finds what each thread does.
    fn list(&mut self, Sequence { run, members, numbers }: Sequence) {
        let last = ThreadId(run.trace.thread_bound() as u32);
        self.items.clear();
        self.items.grow_to(last, Vec::new);
        let mut note = 0;
        for (row, what) in run.trace.rows().enumerate() {
            let (thread, what) = match what {
                Row::Event(at, event) => {
                    let member = Some(numbers[at] as usize).filter(|_| numbers[at] != u32::MAX);
                    (event.id.thread, What::Event(member))
                }
                Row::Note(other) => {
                    note += 1;
                    (other.thread, What::Note(note - 1))
                }
            };
            self.items[thread].push(Item { row, what });
        }
        for (number, member) in members.iter().enumerate() {
            if matches!(member.who, Actor::Waiting(_)) {
                self.items[member.id.thread].push(Item { row: usize::MAX, what: What::Event(Some(number)) });
            }
        }
    }

    /// Lets threads do what they do, as long as one of them can.
    fn build(&mut self, sequence: Sequence, looks: usize) {
        let Sequence { run, members, .. } = sequence;
        let is_fence = |note: &&Note| matches!(note.kind, NoteKind::Fence(_));
        self.graph.clear(members.len() + run.trace.notes.iter().filter(is_fence).count() + looks);
        self.nodes.clear();
        self.nodes.resize(members.len(), None);
        self.order.clear();
        self.member_of.clear();
        self.done.clear();
        self.done.grow_to(ThreadId(self.items.len() as u32), || 0);
        self.started.clear();
        self.started.grow_to(ThreadId(self.items.len() as u32), || false);
        self.started[ThreadId::MAIN] = true;
        while let Some(thread) = self.next(sequence, false).or_else(|| self.next(sequence, true)) {
            let item = self.items[thread][self.done[thread]];
            self.done[thread] += 1;
            match item.what {
                What::Event(member) => self.add(sequence, member.expect("only members are ready")),
                What::Note(note) => self.pass(&run.trace.notes[note]),
            }
        }
    }

    /// The thread that goes on. An impatient one that became the last owner of a shared value does not wait for owners
    /// that are not wanted any more.
    fn next(&self, sequence: Sequence, impatient: bool) -> Option<ThreadId> {
        let item = |thread: ThreadId| self.items[thread].get(self.done[thread]).copied();
        let ready = |&thread: &ThreadId| {
            self.started[thread] && item(thread).is_some_and(|item| self.is_ready(sequence, item, impatient))
        };
        let threads = self.items.ids().filter(ready);
        threads.min_by_key(|&thread| item(thread).map_or(usize::MAX, |item| item.row))
    }

    fn is_ready(&self, sequence: Sequence, item: Item, impatient: bool) -> bool {
        let Sequence { run, members, .. } = sequence;
        match item.what {
            What::Event(member) => member.is_some_and(|member| {
                let source = members[member].source;
                source.is_none_or(|source| self.node_of(sequence, source).is_some())
            }),
            What::Note(note) => match run.trace.notes[note].kind {
                NoteKind::Join(child) => self.done[child] == self.items[child].len(),
                NoteKind::ArcAcquire(loc) if !impatient => {
                    let dropped = |thread: ThreadId| {
                        self.items[thread][self.done[thread]..].iter().any(|left| {
                            let is_drop = |note: usize| run.trace.notes[note].kind == NoteKind::ArcRelease(loc);
                            left.row < item.row && matches!(left.what, What::Note(note) if is_drop(note))
                        })
                    };
                    !self.items.ids().any(dropped)
                }
                _ => true,
            },
        }
    }

    /// The node of a member, if it has come.
    fn node_of(&self, Sequence { members, numbers, .. }: Sequence, who: Actor) -> Option<u32> {
        let number = match who {
            Actor::Event(at) => numbers[at] as usize,
            Actor::Waiting(_) => members.iter().position(|member| member.who == who)?,
        };
        *self.nodes.get(number)?
    }

    fn add(&mut self, sequence: Sequence, number: usize) {
        let member = &sequence.members[number];
        let source = match member.source {
            _ if !member.op.action.reads() => Source::None,
            None => Source::Init,
            Some(source) => Source::At(self.node_of(sequence, source).expect("a source comes first")),
        };
        let order = if member.writes { member.op.order } else { member.op.failure };
        let node = Node { loc: Some(member.op.loc), source, writes: member.writes, order };
        let node = self.graph.access(member.id.thread, node);
        self.nodes[number] = Some(node as u32);
        self.order.push(number);
        self.member_of.resize(node, None);
        self.member_of.push(Some(number));
    }

    fn pass(&mut self, note: &Note) {
        if let NoteKind::Spawn(child) = note.kind {
            self.started[child] = true;
        }
        self.graph.pass_note(note);
    }

    /// A thread that is none of the program's reads what the locations hold when everything is over.
    fn add_looks(&mut self, looks: &[Look], numbers: &[u32]) {
        let nobody = ThreadId(self.items.len() as u32);
        let last = if looks.is_empty() { 0 } else { self.graph.nodes().len() };
        (0..last).for_each(|node| self.graph.follow(node, nobody));
        for &(loc, write) in looks {
            let node = |write: usize| self.nodes[numbers[write] as usize].expect("all events are there");
            let source = write.map_or(Source::Init, |write| Source::At(node(write)));
            let order = std::sync::atomic::Ordering::Relaxed;
            self.graph.access(nobody, Node { loc: Some(loc), source, writes: false, order });
        }
    }
}
