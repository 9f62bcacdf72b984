//! The tree as data: the rest of an exploration that several explorers shared, when it is stopped.
//!
//! Problem. The rest of the work of several explorers is no path but a tree: many decisions on many paths.
//!
//! Method. Every decision is kept that has a pending schedule or stands above one that has, with the names that were
//! seen there, so no schedule is tried again. Decisions of one path share its events; each path is kept once.
//!
//! Cost. One pass over the tree, and its size.
//!
//! Limits. No ticket may be out: the caller takes back those that were not answered.
//!
//! Thread ids must mean the same on both sides ([`crate::step::Knowledge::threads`]).

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::base::{Digest, EventId, Spilled};
use crate::explore::looks::{Looks, SavedLooks};
use crate::explore::rf_smc::decision::SavedDecision;
use crate::explore::rf_smc::steps::Steps;
use crate::explore::rf_smc::tau::NamedEntry;
use crate::explore::rf_smc::tree::{Answer, Node, Tree};
use crate::step::Route;

/// A tree no ticket of which is out; see the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedTree {
    pub(in crate::explore::rf_smc) paths: Vec<Vec<NamedEntry>>,
    /// Each after the one above it.
    pub(in crate::explore::rf_smc) nodes: Vec<SavedNode>,
    pub(in crate::explore::rf_smc) livelocks: Vec<Route>,
    known: Vec<Digest>,
    looks: SavedLooks,
}

/// A node as data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::explore::rf_smc) struct SavedNode {
    parent: Option<(usize, Answer)>,
    pub(in crate::explore::rf_smc) path: usize,
    pub(in crate::explore::rf_smc) decision: SavedDecision,
}

impl SavedNode {
    /// The number of the decision above, and the event of its answer.
    pub(in crate::explore::rf_smc) fn parent(&self) -> Option<(usize, EventId)> {
        self.parent.map(|(above, answer)| (above, answer.id))
    }
}

impl Tree {
    /// The tree as data. No ticket may be out.
    pub fn save(&self) -> SavedTree {
        let mut numbers: Vec<usize> = (0..self.nodes.len()).filter(|&number| self.nodes[number].is_some()).collect();
        let node = |number: usize| self.nodes[number].as_ref().expect("it was just looked at");
        numbers.sort_by_key(|&number| node(number).depth);
        let places: FxHashMap<usize, usize> =
            numbers.iter().enumerate().map(|(place, &number)| (number, place)).collect();
        let (mut paths, mut known_paths) = (Vec::new(), FxHashMap::default());
        let mut save = |node: &Node| {
            let path = *known_paths.entry(node.tau.as_ptr()).or_insert_with(|| {
                paths.push(node.tau.to_vec());
                paths.len() - 1
            });
            let parent = node.parent.map(|(above, answer)| (places[&above], answer));
            SavedNode { parent, path, decision: node.decision.save(&Steps::default()) }
        };
        let nodes = numbers.iter().map(|&number| save(node(number))).collect();
        let known = self.known.names();
        SavedTree { paths, nodes, livelocks: self.livelocks.clone(), known, looks: self.looks.save() }
    }

    /// The tree that was saved.
    pub fn restore(saved: SavedTree) -> Self {
        let paths: Vec<Arc<[NamedEntry]>> = saved.paths.into_iter().map(Arc::from).collect();
        let (livelocks, known) = (saved.livelocks, Spilled::of(saved.known));
        let mut tree = Tree { livelocks, known, ..Tree::default() };
        tree.looks = Looks::restore(&saved.looks);
        for SavedNode { parent, path, decision } in saved.nodes {
            tree.insert(parent, Arc::clone(&paths[path]), decision);
        }
        (0..tree.nodes.len()).for_each(|number| tree.update(number));
        tree
    }
}
