//! RF-SMC's tree of decisions where several explorers share it.
//!
//! Problem. Every class is to be run once, though each explorer sees a part of the tree only.
//!
//! Method. A node is a decision on one path: what was seen there, what is left, and the `τ` before it. What is left is
//! given away, some schedules of a node at a time, as a [`Subtree`]: the one with the fewest decisions above it first, since its part is
//! likely to be the largest. What comes back ([`Found`]) is taken in at once: what was seen at a decision above counts
//! only if it is new in the node's set, so the first explorer to propose something has its schedule kept; what is left
//! inside the part becomes nodes below the one it came from. A node is forgotten when nothing is left of it, and nothing
//! below it and of what was given away.
//!
//! Why each class is still run once. The order in which RF-SMC takes what is left does not matter: what a run proposes
//! depends on the run, on `τ` and on the decisions of its own path, and whether it counts depends on the set of its
//! decision, which is kept here. Two explorers may ask the verifier the same question; they get the same answer, and one
//! of the two is dropped. At a decision whose set takes no more (`full`, where one process explored before) a schedule comes from
//! one run, whoever makes it. A part that is never answered is given away again, as if it had not been given away before.
//!
//! Cost. A subtree carries what was seen at the decisions above it.
//!
//! `saved` is the tree as data, for an exploration that is stopped.

mod saved;

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::base::{Digest, EventId};
use crate::explore::looks::Looks;
use crate::explore::rf_smc::revisit::Question;
use crate::explore::rf_smc::subtree::{Above, Branch, Found, Own, Place, Proposed, Subtree};
use crate::explore::rf_smc::suspended::SuspendedPath;
use crate::explore::rf_smc::{Decision, NamedEntry, RfSmc};
use crate::step::Route;

pub use saved::SavedTree;

/// Where a decision stands on a path that leads on: who stands there now, or does not.
#[derive(Clone, Copy, Debug)]
struct Answer {
    id: EventId,
    frozen: bool,
}

impl Place {
    fn answer(&self) -> Answer {
        Answer { id: self.id, frozen: self.frozen }
    }
}

/// A decision; see the module.
#[derive(Debug)]
struct Node {
    /// The decision above, and its answer on the path to this one.
    parent: Option<(usize, Answer)>,
    depth: usize,
    /// A path through this decision; the events before `at` count.
    tau: Arc<[NamedEntry]>,
    at: usize,
    question: Question,
    id: EventId,
    stays: Option<EventId>,
    contested: bool,
    full: bool,
    seen: FxHashSet<Digest>,
    pending: Vec<Branch>,
    /// Decisions right below, and schedules that were given away.
    live: usize,
}

/// Schedules of a node that were given away.
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
    /// Nodes of which something is left, by depth.
    open: BTreeSet<(usize, usize)>,
    /// Livelocks to run, and the classes of the runs that showed them.
    livelocks: Vec<Route>,
    known: FxHashSet<Digest>,
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
        let steps = &explorer.builder.steps;
        let own = |decisions: &[Decision]| decisions.iter().map(|decision| decision.own(steps)).collect();
        let (mut path, mut tau) = (tree.add_path(None, &explorer.tau, own(&explorer.decisions)), explorer.tau.clone());
        let mut added = path.clone();
        for detour in explorer.suspended.last_first() {
            if let Some(SuspendedPath { above, decisions, tau: rest }) = detour.current() {
                path.truncate(*above);
                let (number, last) = (path[above - 1], tree.node(path[above - 1]));
                tau.truncate(last.at);
                tau.extend_from_slice(rest);
                let parent = (number, Answer { id: last.id, frozen: false });
                path.extend(tree.add_path(Some(parent), &tau, own(decisions)));
                added.extend_from_slice(&path[*above..]);
            }
            detour.branches(steps).for_each(|(number, branch)| tree.node(path[number]).pending.push(branch));
        }
        tree.note_left(added);
        tree
    }

    /// Notes what is left of new decisions, each of which comes after the one above it.
    fn note_left(&mut self, added: Vec<usize>) {
        added.into_iter().rev().for_each(|number| self.update(number));
    }

    /// Whether nothing is left to give away. Something may still come back.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty() && self.livelocks.is_empty()
    }

    /// How many schedules are left, livelocks with them. Each will be a run.
    pub fn pending(&self) -> u64 {
        let nodes = self.nodes.iter().flatten().map(|node| node.pending.len());
        (nodes.sum::<usize>() + self.livelocks.len()) as u64
    }

    /// The next livelock to run.
    pub fn next_livelock(&mut self) -> Option<Route> {
        self.livelocks.pop()
    }

    /// A livelock was not run.
    pub fn return_livelock(&mut self, route: Route) {
        self.livelocks.push(route);
    }

    /// Gives a part away: one that is likely to be large. There are so many to give parts to; 0 if there is nobody, and
    /// who asks explores it at once. Then it is a small part, so that as little is left as on one path.
    pub fn next_ticket(&mut self, workers: usize) -> Option<Ticket> {
        let &(_, number) = if workers == 0 { self.open.last() } else { self.open.first() }?;
        let node = self.nodes[number].as_mut().expect("an open node is there");
        let kept = if workers == 0 { 0 } else { node.pending.len() - node.pending.len().div_ceil(2 * workers) };
        let ticket = Ticket { node: number, branches: node.pending.split_off(kept) };
        node.live += 1;
        self.update(number);
        Some(ticket)
    }

    /// A part, or what is left of it, was not explored.
    pub fn give_back(&mut self, ticket: Ticket) {
        let node = self.nodes[ticket.node].as_mut().expect("a node is kept while a part of it is away");
        node.live -= 1;
        node.pending.extend(ticket.branches);
        self.update(ticket.node);
    }

    /// Takes in what exploring a part has led to.
    pub fn take_in(&mut self, mut ticket: Ticket, found: Found) {
        self.looks.add(&found.looks);
        let path = self.path(ticket.node);
        debug_assert_eq!(path.len(), found.proposed.len());
        for (&number, proposed) in path.iter().zip(found.proposed) {
            self.discover(number, proposed);
        }
        for (class, route) in found.livelocks {
            if self.known.insert(class) {
                self.livelocks.push(route);
            }
        }
        if let Some(last) = ticket.branches.get(found.not_begun) {
            let answer = self.answer(ticket.node, last);
            let path = self.add_path(Some((ticket.node, answer)), &found.tau, found.own);
            self.note_left(path);
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
        let node = self.nodes[number].as_ref().expect("the node is there");
        match branch.suffix.first() {
            Some(first) => Answer { id: first.id, frozen: false },
            None => Answer { id: node.stays.unwrap_or(node.id), frozen: true },
        }
    }

    /// The part that was given away.
    pub fn subtree(&self, ticket: &Ticket) -> Subtree {
        let path = self.path(ticket.node);
        let node = |number: usize| self.nodes[number].as_ref().expect("a path is kept while a part of it is away");
        let below = path.iter().skip(1).map(|&number| node(number).parent.expect("it has one").1);
        // The answer of the last one is that of each schedule in turn.
        let first = ticket.branches.last().expect("a part has a schedule");
        let answers = below.chain([self.answer(ticket.node, first)]);
        let above = path.iter().zip(answers).map(|(&number, Answer { id, frozen })| {
            let &Node { at, question, stays, full, ref seen, .. } = node(number);
            // What other workers see of it is not known here.
            let contested = true;
            Above {
                place: Place { at, id, question, frozen, stays, contested, full },
                seen: seen.iter().copied().collect(),
            }
        });
        let last = node(ticket.node);
        let tau = last.tau[..last.at].to_vec();
        let above = above.collect();
        Subtree { tau, above, branches: ticket.branches.clone(), looks: self.looks.all() }
    }

    /// What was found for a decision above a part: what is new of it counts.
    fn discover(&mut self, number: usize, proposed: Proposed) {
        let node = self.node(number);
        let mut new: FxHashSet<Digest> = proposed.seen.into_iter().filter(|key| node.seen.insert(*key)).collect();
        if node.stays.is_none() && proposed.stays.is_some() {
            node.stays = proposed.stays;
            new.insert(Digest::EMPTY);
        }
        // What one run alone proposes has no name in the sets.
        let mut is_new = |key: &Digest| new.remove(key) || node.full && !node.seen.contains(key);
        node.pending.extend(proposed.pending.into_iter().filter(|branch| is_new(&branch.key)));
        self.update(number);
    }

    /// Adds the decisions of a path, each below the one before it; their numbers, for [`Tree::note_left`].
    fn add_path(&mut self, mut parent: Option<(usize, Answer)>, tau: &[NamedEntry], path: Vec<Own>) -> Vec<usize> {
        let tau: Arc<[NamedEntry]> = tau.into();
        let mut added = Vec::with_capacity(path.len());
        for Own { place, seen, pending } in path {
            let depth = parent.map_or(0, |(above, _)| self.node(above).depth + 1);
            let answer = place.answer();
            let Place { at, id, question, stays, contested, full, .. } = place;
            let (tau, seen) = (Arc::clone(&tau), seen.into_iter().collect());
            let node = Node { parent, depth, tau, at, question, id, stays, contested, full, seen, pending, live: 0 };
            let number = self.free.pop().unwrap_or_else(|| {
                self.nodes.push(None);
                self.nodes.len() - 1
            });
            self.nodes[number] = Some(node);
            if let Some((above, _)) = parent {
                self.node(above).live += 1;
            }
            added.push(number);
            parent = Some((number, answer));
        }
        added
    }

    /// Notes whether something is left of a node, and forgets it, and what is above, if nothing is.
    fn update(&mut self, number: usize) {
        let Some(node) = &self.nodes[number] else { return };
        let key = (node.depth, number);
        if !node.pending.is_empty() {
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
