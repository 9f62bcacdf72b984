//! The tree as data: what several explorers have left of an exploration that was stopped.
//!
//! Problem. What workers have left is no path but a tree: many decisions on many paths.
//!
//! Method. What is kept is what the tree is: every decision of which, or below which, something is left, with what was
//! seen there. So whoever goes on tries nothing again. Decisions of one path share its events; each path is kept once.
//!
//! Cost. One pass over the tree, and as much as it has.
//!
//! Limits. Nothing may be away: who stops takes back what was not answered.
//!
//! Thread ids must mean the same on both sides ([`crate::step::Knowledge::threads`]).

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::base::{Digest, EventId};
use crate::explore::rf_smc::NamedEntry;
use crate::explore::rf_smc::subtree::{Own, Place};
use crate::explore::rf_smc::tree::{Answer, Node, Tree};
use crate::step::Route;

/// A tree of which nothing is away; see the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedTree {
    pub(in crate::explore::rf_smc) paths: Vec<Vec<NamedEntry>>,
    /// A decision comes after the one above it.
    pub(in crate::explore::rf_smc) nodes: Vec<SavedNode>,
    pub(in crate::explore::rf_smc) livelocks: Vec<Route>,
    known: Vec<Digest>,
    looks: Vec<(u64, u32)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::explore::rf_smc) struct SavedNode {
    /// The decision above, and who stands there on the path to this one, or is frozen there.
    pub(in crate::explore::rf_smc) parent: Option<(usize, EventId, bool)>,
    pub(in crate::explore::rf_smc) path: usize,
    pub(in crate::explore::rf_smc) own: Own,
}

impl Tree {
    /// What is left, as data. Whatever was given away must be back.
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
            let parent = node.parent.map(|(above, Answer { id, frozen })| (places[&above], id, frozen));
            let &Node { at, id, question, stays, contested, full, .. } = node;
            let seen = node.seen.iter().copied().collect();
            let place = Place { at, id, question, frozen: false, stays, contested, full };
            SavedNode { parent, path, own: Own { place, seen, pending: node.pending.clone() } }
        };
        let nodes = numbers.iter().map(|&number| save(node(number))).collect();
        let known = self.known.iter().copied().collect();
        SavedTree { paths, nodes, livelocks: self.livelocks.clone(), known, looks: self.looks.all() }
    }

    /// The tree that was saved.
    pub fn restore(saved: SavedTree) -> Self {
        let paths: Vec<Arc<[NamedEntry]>> = saved.paths.into_iter().map(Arc::from).collect();
        let (livelocks, known) = (saved.livelocks, saved.known.into_iter().collect());
        let mut tree = Tree { livelocks, known, ..Tree::default() };
        tree.looks.add(&saved.looks);
        for SavedNode { parent, path, own: Own { place, seen, pending } } in saved.nodes {
            let parent = parent.map(|(above, id, frozen)| (above, Answer { id, frozen }));
            let depth = parent.map_or(0, |(above, _)| tree.node(above).depth + 1);
            if let Some((above, _)) = parent {
                tree.node(above).live += 1;
            }
            let Place { at, id, question, stays, contested, full, .. } = place;
            let (tau, seen) = (Arc::clone(&paths[path]), seen.into_iter().collect());
            tree.nodes.push(Some(Node {
                parent,
                depth,
                tau,
                at,
                question,
                id,
                stays,
                contested,
                full,
                seen,
                pending,
                live: 0,
            }));
        }
        (0..tree.nodes.len()).for_each(|number| tree.update(number));
        tree
    }
}
