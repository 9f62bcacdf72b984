//! A sorted list as a set, with a lock in each node, that looks for a place without locks and then validates it.
//!
//! Source. S. Heller, M. Herlihy, V. Luchangco, M. Moir, W. N. Scherer, N. Shavit, *A Lazy Concurrent List-Based Set
//! Algorithm*, OPODIS 2005. Nodes are not freed before the list.

use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize as Count;

use rsmc::sync::Mutex;
use rsmc::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use rsmc::sync::atomic::{AtomicBool, AtomicUsize};

/// The number of a node in the list.
type At = usize;

const HEAD: At = 0;
const TAIL: At = 1;

#[derive(Default)]
struct Node {
    key: OnceLock<u8>,
    next: AtomicUsize,
    is_removed: AtomicBool,
    lock: Mutex<()>,
}

pub struct LazyList {
    nodes: [Node; 6],
    used: Count,
    /// Whether a place is looked at again when its nodes are locked.
    validates: bool,
}

impl LazyList {
    pub fn new(validates: bool) -> Self {
        let list = Self { nodes: Default::default(), used: Count::new(0), validates };
        assert_eq!([list.node(0), list.node(u8::MAX)], [HEAD, TAIL]);
        list.nodes[HEAD].next.store(TAIL, Relaxed);
        list
    }

    pub fn insert(&self, key: u8) -> bool {
        loop {
            let (before, after) = self.place_of(key);
            let _locked = (self.nodes[before].lock.lock(), self.nodes[after].lock.lock());
            if !self.is_valid(before, after) {
                continue;
            }
            if self.key(after) == key {
                return false;
            }
            let new = self.node(key);
            self.nodes[new].next.store(after, Relaxed);
            self.nodes[before].next.store(new, Release);
            return true;
        }
    }

    pub fn remove(&self, key: u8) -> bool {
        loop {
            let (before, after) = self.place_of(key);
            let _locked = (self.nodes[before].lock.lock(), self.nodes[after].lock.lock());
            if !self.is_valid(before, after) {
                continue;
            }
            if self.key(after) != key {
                return false;
            }
            self.nodes[after].is_removed.store(true, Release);
            self.nodes[before].next.store(self.nodes[after].next.load(Relaxed), Release);
            return true;
        }
    }

    pub fn contains(&self, key: u8) -> bool {
        let (_, after) = self.place_of(key);
        self.key(after) == key && !self.nodes[after].is_removed.load(Acquire)
    }

    /// The last node before the key, and the one behind that.
    fn place_of(&self, key: u8) -> (At, At) {
        let (mut before, mut after) = (HEAD, self.nodes[HEAD].next.load(Acquire));
        while self.key(after) < key {
            (before, after) = (after, self.nodes[after].next.load(Acquire));
        }
        (before, after)
    }

    fn is_valid(&self, before: At, after: At) -> bool {
        let is_removed = |node: At| self.nodes[node].is_removed.load(Relaxed);
        !self.validates || (!is_removed(before) && !is_removed(after) && self.nodes[before].next.load(Relaxed) == after)
    }

    fn key(&self, node: At) -> u8 {
        *self.nodes[node].key.get().expect("a node of the list has a key")
    }

    fn node(&self, key: u8) -> At {
        let new = self.used.fetch_add(1, Relaxed);
        self.nodes[new].key.set(key).expect("the node is new");
        new
    }
}
