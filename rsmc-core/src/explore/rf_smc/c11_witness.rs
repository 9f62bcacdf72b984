//! Under C11: from the events of a new sequence to an execution graph, and to a witness.
//!
//! Problem. Say in which order the events can be run, each read with its source, and find a modification order.
//!
//! Method. Any order of program order and reads-from runs the graph: that of the run, and what is changed at the end,
//! since nothing wanted comes after it. All others know what they knew in the run, so their nodes are those of its
//! graph; only what is changed is added. What a read takes is part of its step, so the modification order is the only
//! question, for VerifyC11.

use std::sync::atomic::Ordering;

use crate::base::{BitSet, EventId, Id, LocId, ThreadId};
use crate::consistency::VerifyC11;
use crate::explore::rf_smc::entry::RevisedEntry;
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::revisit::{OpRef, reader};
use crate::explore::rf_smc::witness::Witness;
use crate::model::c11::{self, Node};
use crate::step::Run;
use crate::trace::{Row, Source};

/// A read after all other events: a location, and the write it must find there.
pub(super) type Look = (LocId, Option<usize>);

/// Arranges entries; keeps its memory from one question to the next.
#[derive(Debug, Default)]
pub(super) struct C11Witness {
    verifier: VerifyC11,
    /// The events that are entries and read and write what they did in the run.
    kept: BitSet,
    /// The entries in the order in which they are run, the kept ones first; `kept_len` is the number of these.
    order: Vec<RevisedEntry>,
    kept_len: usize,
    nodes: Vec<u32>,
    /// By thread: whether the last event was kept.
    open: Vec<bool>,
    modification: Vec<usize>,
    ending: Ending,
}

/// The graph of an execution that ends, and the node of each entry.
#[derive(Debug, Default)]
struct Ending {
    graph: c11::Graph,
    numbers: Vec<u32>,
    /// The threads of which an event was left out: all later events of these threads are left out, too.
    over: Vec<ThreadId>,
}

impl C11Witness {
    /// A witness of a sequence.
    pub(super) fn witness(&mut self, run: &Run, graph: &mut Graph, members: &[RevisedEntry]) -> Option<Witness> {
        self.sort(run, members);
        if !self.is_closed(run, graph) {
            return None; // Reads-from and program order contradict each other.
        }
        self.list(graph);
        let mark = graph.c11.graph.mark();
        self.add_changed(graph);
        self.modification.clear();
        let possible = self.verifier.verify(&graph.c11.graph, &self.nodes, |node| node as u32, &mut self.modification);
        graph.c11.graph.forget_since(mark);
        possible.then(|| Witness {
            steps: self.order.iter().map(|member| member.taking(run)).collect(),
            modification: self.modification.iter().map(|&node| self.id_of(run, graph, node)).collect(),
        })
    }

    /// A witness of events of a run, in their order, after which each look finds the write it must find. The graph is
    /// built anew: the reader of an update that is left out may know less than in the run.
    pub(super) fn end(&mut self, run: &Run, members: &[RevisedEntry], looks: &[Look]) -> Option<Witness> {
        let Self { verifier, ending: Ending { graph, numbers, over }, nodes, modification, .. } = self;
        graph.clear();
        numbers.clear();
        over.clear();
        for row in run.trace.rows() {
            match row {
                Row::Note(note) if !over.contains(&note.thread) => graph.pass_note(note),
                Row::Note(_) => {}
                Row::Event(at, event) => match members.get(numbers.len()) {
                    Some(member) if member.who == OpRef::Event(at) => {
                        let source = member.source.map(|source| numbers[place(members, source)]);
                        numbers.push(graph.access(member.id.thread, member.node(source)) as u32);
                    }
                    _ => over.push(event.id.thread),
                },
            }
        }
        for &(loc, write) in looks {
            let source = write.map_or(Source::Init, |write| Source::At(numbers[place(members, OpRef::Event(write))]));
            graph.suppose_last(Node { loc: Some(loc), source, writes: false, order: Ordering::Relaxed });
        }
        nodes.clear();
        nodes.extend(0..graph.nodes().len() as u32);
        modification.clear();
        let possible = verifier.verify(graph, nodes, |node| node as u32, modification);
        let member = |&node: &usize| numbers.binary_search(&(node as u32)).expect("a member writes");
        possible.then(|| Witness {
            steps: members.iter().map(|member| member.taking(run)).collect(),
            modification: modification.iter().map(|node| members[member(node)].id).collect(),
        })
    }

    /// Finds the revised entries, and an order of all entries.
    fn sort(&mut self, run: &Run, members: &[RevisedEntry]) {
        self.kept.reset(run.trace.events.len());
        for member in members {
            if let OpRef::Event(at) = member.who
                && member.is_as_in(&run.trace.events[at])
            {
                self.kept.insert(at);
            }
        }
        let kept = &self.kept;
        let is_kept = |member: &RevisedEntry| matches!(member.who, OpRef::Event(at) if kept.contains(at));
        self.order.clear();
        self.order.extend_from_slice(members);
        let position = |member: &RevisedEntry| match member.who {
            OpRef::Event(at) if kept.contains(at) => at,
            _ => usize::MAX,
        };
        self.order.sort_by_key(position);
        self.kept_len = self.order.partition_point(is_kept);
        // Of two revised entries one reads from the other.
        if let [first, second] = &mut self.order[self.kept_len..]
            && first.source == Some(second.who)
        {
            std::mem::swap(first, second);
        }
    }

    /// Whether every predecessor of an entry in program order or reads-from is an entry and comes before it.
    fn is_closed(&self, run: &Run, graph: &Graph) -> bool {
        self.order.iter().enumerate().all(|(number, member)| {
            let is_kept = |who: OpRef| matches!(who, OpRef::Event(at) if self.kept.contains(at));
            let changed = self.kept_len.min(number)..number;
            let is_there =
                |source: OpRef| is_kept(source) || self.order[changed].iter().any(|other| other.who == source);
            let preds = reader(run, graph, member.who).preds;
            preds.iter().all(|&pred| self.kept.contains(pred as usize)) && member.source.is_none_or(is_there)
        })
    }

    /// Lists the nodes of the run that are kept: events, and fences that come right after one.
    fn list(&mut self, graph: &Graph) {
        self.nodes.clear();
        self.open.clear();
        let mut event = 0;
        for (number, node) in graph.c11.graph.nodes().iter().enumerate() {
            let thread = graph.c11.graph.place(number).thread.index();
            self.open.resize(self.open.len().max(thread + 1), true);
            if node.loc.is_some() {
                self.open[thread] = self.kept.contains(event);
                event += 1;
            }
            if self.open[thread] {
                self.nodes.push(number as u32);
            }
        }
    }

    /// Adds the nodes of the revised entries.
    fn add_changed(&mut self, graph: &mut Graph) {
        let first = graph.c11.graph.nodes().len();
        for number in self.kept_len..self.order.len() {
            let member = self.order[number];
            let number_of = |source: OpRef| match source {
                OpRef::Event(at) if self.kept.contains(at) => graph.c11.numbers[at],
                changed => {
                    let place = self.order[self.kept_len..].iter().position(|other| other.who == changed);
                    (first + place.expect("a source is a member")) as u32
                }
            };
            let node = member.node(member.source.map(number_of));
            let node = match member.who {
                OpRef::Event(at) => graph.c11.graph.suppose_instead(graph.c11.numbers[at] as usize, node),
                OpRef::Waiting(_) => graph.c11.graph.suppose_next(member.id.thread, node),
            };
            self.nodes.push(node as u32);
        }
    }

    /// The event of a node.
    fn id_of(&self, run: &Run, graph: &Graph, node: usize) -> EventId {
        match graph.c11.numbers.binary_search(&(node as u32)) {
            Ok(at) => run.trace.events[at].id,
            Err(_) => self.order[self.kept_len + node - graph.c11.graph.nodes().len()].id,
        }
    }
}

/// The place of a source among entries that are in the order of their positions.
fn place(members: &[RevisedEntry], source: OpRef) -> usize {
    members.binary_search_by_key(&source.event(), |member| member.who.event()).expect("a source stays")
}
