//! RF-SMC's tree of decisions where several explorers share it.
//!
//! Problem. Every class is to be run once, though each explorer sees a part of the tree only.
//!
//! Method. A node is a decision on one path: the schedules seen there, the pending ones, and the `τ` before it. Pending
//! schedules of a node are handed out as a [`Subtree`], for a [`Ticket`]: those of the node with the fewest decisions
//! above it first, since its part is likely to be the largest. What a worker returns ([`Found`]) is added at once: a
//! schedule that was discovered for a decision above counts only if it is new in the node's set, so the first explorer
//! that discovers it has it kept; the decisions inside the part that still have pending schedules become nodes below
//! the one that it came from. A node is dropped when it has no pending schedule, no node below it and no ticket out.
//!
//! Why each class is still run once. The order in which RF-SMC takes pending schedules does not matter: the schedules
//! that a run discovers depend on the run, on `τ` and on the decisions of its own path, and whether one counts depends
//! on the set of its decision, which is kept here. Two explorers may ask the verifier one question; they get one
//! answer, and one of the two schedules is dropped. At a decision whose set takes no more names (`full`, where one
//! process explored before) a schedule comes from its canonical parent, whichever worker runs that. A ticket that is
//! never answered is handed out again.
//!
//! Cost. A subtree carries the names that were seen at the decisions above it.
//!
//! `saved` is the tree as data, for an exploration that is stopped.

mod saved;

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::base::{Digest, EventId, Spilled};
use crate::explore::looks::{Looks, SavedLooks};
use crate::explore::rf_smc::RfSmc;
use crate::explore::rf_smc::budget::MemoryBudget;
use crate::explore::rf_smc::decision::{Decision, SavedDecision};
use crate::explore::rf_smc::lineage::Lineage;
use crate::explore::rf_smc::schedule::Branch;
use crate::explore::rf_smc::subtree::{Discovered, Found, Subtree};
use crate::explore::rf_smc::suspended::SuspendedPath;
use crate::explore::rf_smc::tau::NamedEntry;
use crate::step::Route;

pub use saved::SavedTree;

/// The answer of a decision on a path that leads on: the event that stands there, or would if it were not frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    id: EventId,
    frozen: bool,
}

/// A decision of the tree; see the module.
#[derive(Debug)]
struct Node {
    /// The decision above, and its answer on the path to this one.
    parent: Option<(usize, Answer)>,
    depth: usize,
    /// A path through this decision; the events before its place count.
    tau: Arc<[NamedEntry]>,
    /// Its schedules are `received`.
    decision: Decision,
    /// The number of decisions right below, and of tickets that are out.
    live: usize,
}

/// Schedules of a node that are handed out.
#[derive(Clone, Debug)]
pub struct Ticket {
    node: usize,
    /// The last one is run first.
    branches: Vec<Branch>,
}

/// The tree; see the module.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Option<Node>>,
    free: Vec<usize>,
    /// The nodes with pending schedules, by depth.
    open: BTreeSet<(usize, usize)>,
    /// Livelocks to run, and the classes of the runs that showed them.
    livelocks: Vec<Route>,
    known: Spilled<Digest>,
    /// The reads that are known to complete an iteration that changes nothing.
    looks: Looks,
}

impl Tree {
    /// Takes over from an explorer that has observed at least one run.
    pub fn new(explorer: &RfSmc) -> Self {
        let (known, looks) = (explorer.waits.known.clone(), explorer.waits.looks.clone());
        let mut tree = Tree { known, looks, ..Tree::default() };
        let livelocks = explorer.waits.livelocks.iter();
        tree.livelocks = livelocks.map(|(_, witness)| witness.route()).collect();
        let steps = &explorer.finder.steps.table;
        let own = |decisions: &[Decision]| decisions.iter().map(|decision| decision.save(steps)).collect();
        let (mut path, mut tau) = (tree.add_path(None, &explorer.tau, own(&explorer.decisions)), explorer.tau.clone());
        let mut added = path.clone();
        for children in explorer.suspended.last_first() {
            if let Some(SuspendedPath { above, decisions, tau: rest }) = children.current() {
                path.truncate(*above);
                let (number, last) = (path[above - 1], tree.node(path[above - 1]));
                tau.truncate(last.decision.at);
                tau.extend_from_slice(rest);
                let parent = (number, Answer { id: last.decision.id, frozen: false });
                path.extend(tree.add_path(Some(parent), &tau, own(decisions)));
                added.extend_from_slice(&path[*above..]);
            }
            children
                .branches(steps)
                .for_each(|(number, branch)| tree.node(path[number]).decision.received.push(branch));
        }
        tree.note_pending(added);
        tree
    }

    /// Notes the pending schedules of new decisions, each of which comes after the one above it.
    fn note_pending(&mut self, added: Vec<usize>) {
        added.into_iter().rev().for_each(|number| self.update(number));
    }

    /// The reads with which the exploration, which has made so many runs in all, has to start over now, if one of them
    /// became known too late.
    pub fn starts_over(&self, runs: u64, is_over: bool) -> Option<SavedLooks> {
        self.looks.start_over(runs, is_over).then(|| self.looks.to_start_over(runs))
    }

    /// Whether no schedule is pending. Tickets that are out may bring some.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty() && self.livelocks.is_empty()
    }

    /// The number of pending schedules and livelocks. Each will be a run.
    pub fn pending(&self) -> u64 {
        let nodes = self.nodes.iter().flatten().map(|node| node.decision.pending());
        (nodes.sum::<usize>() + self.livelocks.len()) as u64
    }

    /// The next livelock to run.
    pub fn next_livelock(&mut self) -> Option<Route> {
        self.livelocks.pop()
    }

    /// Takes a livelock back that was not run.
    pub fn return_livelock(&mut self, route: Route) {
        self.livelocks.push(route);
    }

    /// Hands out a part. With this many workers it is one that is likely to be large. Without workers the caller
    /// explores it at once, and it is a small part, so that no more schedules are pending than on one path.
    pub fn next_ticket(&mut self, workers: usize) -> Option<Ticket> {
        let &(_, number) = if workers == 0 { self.open.last() } else { self.open.first() }?;
        let node = self.nodes[number].as_mut().expect("an open node is there");
        let pending = &mut node.decision.received;
        let kept = if workers == 0 { 0 } else { pending.len() - pending.len().div_ceil(2 * workers) };
        let ticket = Ticket { node: number, branches: pending.split_off(kept) };
        node.live += 1;
        self.update(number);
        Some(ticket)
    }

    /// Takes a part back, or the rest of it, that was not explored.
    pub fn give_back(&mut self, ticket: Ticket) {
        let node = self.nodes[ticket.node].as_mut().expect("a node is kept while a part of it is away");
        node.live -= 1;
        node.decision.received.extend(ticket.branches);
        self.update(ticket.node);
    }

    /// Adds the results of exploring a part.
    pub fn take_in(&mut self, mut ticket: Ticket, found: Found) {
        self.looks.adopt(&found.looks);
        let path = self.path(ticket.node);
        debug_assert_eq!(path.len(), found.discovered.len());
        for (&number, discovered) in path.iter().zip(found.discovered) {
            self.add(number, discovered);
        }
        for (class, route) in found.livelocks {
            if self.known.insert(class, ()) {
                self.livelocks.push(route);
            }
        }
        if let Some(last) = ticket.branches.get(found.not_begun) {
            let answer = self.answer(ticket.node, last);
            let path = self.add_path(Some((ticket.node, answer)), &found.tau, found.own);
            self.note_pending(path);
        }
        ticket.branches.truncate(found.not_begun);
        self.give_back(ticket);
    }

    fn node(&mut self, number: usize) -> &mut Node {
        self.nodes[number].as_mut().expect("the node is there")
    }

    /// The decisions from the first to this one.
    fn path(&self, number: usize) -> Vec<usize> {
        let parent = |&number: &usize| self.nodes[number].as_ref().and_then(|node| node.parent).map(|(at, _)| at);
        let mut path: Vec<usize> = std::iter::successors(Some(number), parent).collect();
        path.reverse();
        path
    }

    /// The answer of a decision while a schedule of it is explored.
    fn answer(&self, number: usize, branch: &Branch) -> Answer {
        let decision = &self.nodes[number].as_ref().expect("the node is there").decision;
        match branch.suffix.first() {
            Some(first) => Answer { id: first.id, frozen: false },
            None => Answer { id: decision.stays.unwrap_or(decision.id), frozen: true },
        }
    }

    /// The part that a ticket stands for.
    pub fn subtree(&self, ticket: &Ticket) -> Subtree {
        let path = self.path(ticket.node);
        let node = |number: usize| self.nodes[number].as_ref().expect("a path is kept while a ticket for it is out");
        let below = path.iter().skip(1).map(|&number| node(number).parent.expect("it has one").1);
        // The answer of the last one is that of each schedule in turn.
        let first = ticket.branches.last().expect("a part has a schedule");
        let answers = below.chain([self.answer(ticket.node, first)]);
        let mut path: Vec<SavedDecision> = path
            .iter()
            .zip(answers)
            .map(|(&number, Answer { id, frozen })| {
                // What other workers see of it is not known here, so it may be contested.
                let decision = node(number).decision.save_without_pending();
                SavedDecision { id, frozen, contested: true, lineage: Lineage::default(), ..decision }
            })
            .collect();
        path.last_mut().expect("the node is on its path").pending.clone_from(&ticket.branches);
        let last = node(ticket.node);
        Subtree { tau: last.tau[..last.decision.at].to_vec(), path, looks: self.looks.save() }
    }

    /// Adds the names and schedules that were discovered for a decision above a part; only new ones count.
    fn add(&mut self, number: usize, discovered: Discovered) {
        let looks = self.looks.count();
        let decision = &mut self.node(number).decision;
        let mut new: FxHashSet<Digest> = discovered.seen.into_iter().filter(|key| decision.seen.insert(*key)).collect();
        if let Some(stays) = discovered.stays.filter(|_| !decision.plans_to_stay()) {
            (decision.stays, decision.asked) = (Some(stays), looks);
            new.insert(Digest::EMPTY);
        }
        // A schedule with a canonical parent has no name in the sets.
        let mut is_new = |key: &Digest| new.remove(key) || decision.full && !decision.seen.contains(*key);
        let pending = discovered.pending.into_iter().filter(|branch| is_new(&branch.key)).collect::<Vec<_>>();
        decision.received.extend(pending);
        self.update(number);
    }

    /// Adds the decisions of a path, each below the one before it. Returns their numbers, for [`Tree::note_pending`].
    fn add_path(
        &mut self,
        mut parent: Option<(usize, Answer)>,
        tau: &[NamedEntry],
        path: Vec<SavedDecision>,
    ) -> Vec<usize> {
        let tau: Arc<[NamedEntry]> = tau.into();
        let mut added = Vec::with_capacity(path.len());
        for saved in path {
            let answer = Answer { id: saved.id, frozen: saved.frozen };
            let number = self.insert(parent, Arc::clone(&tau), saved);
            added.push(number);
            parent = Some((number, answer));
        }
        added
    }

    /// Adds a decision below another one.
    fn insert(&mut self, parent: Option<(usize, Answer)>, tau: Arc<[NamedEntry]>, saved: SavedDecision) -> usize {
        let mut depth = 0;
        if let Some((above, _)) = parent {
            let above = self.node(above);
            above.live += 1;
            depth = above.depth + 1;
        }
        // Each node below says which of the decision's answers is explored.
        let decision = SavedDecision { frozen: false, ..saved }.restore(&mut MemoryBudget::unbounded());
        let number = self.free.pop().unwrap_or_else(|| {
            self.nodes.push(None);
            self.nodes.len() - 1
        });
        self.nodes[number] = Some(Node { parent, depth, tau, decision, live: 0 });
        number
    }

    /// Notes whether a node has pending schedules. If it needs no more, drops it, and then those above it.
    fn update(&mut self, number: usize) {
        let Some(node) = &self.nodes[number] else { return };
        let key = (node.depth, number);
        if node.decision.has_more() {
            self.open.insert(key);
            return;
        }
        self.open.remove(&key);
        if node.live > 0 {
            return;
        }
        let parent = node.parent;
        self.nodes[number] = None;
        self.free.push(number);
        if let Some((above, _)) = parent {
            self.node(above).live -= 1;
            self.update(above);
        }
    }
}
