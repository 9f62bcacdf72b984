//! A stack whose nodes have numbers, and are used again, the longest free one first.

use std::collections::VecDeque;

use rsmc::sync::Mutex;
use rsmc::sync::atomic::{
    AtomicU8, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

const NODES: usize = 2;
const NONE: u32 = 0xff;

pub struct IndexStack {
    /// The number of the first node, and above it how often the head was changed, if that is counted.
    head: AtomicU32,
    /// What is added to the head by each change.
    tag: u32,
    next: [AtomicU32; NODES],
    values: [AtomicU8; NODES],
    free: Mutex<VecDeque<u32>>,
}

impl IndexStack {
    pub fn new() -> Self {
        Self::with_tag(1 << 8)
    }

    /// Broken: a node may have been taken and pushed again since a `pop` looked at it, with another one behind it.
    pub fn untagged() -> Self {
        Self::with_tag(0)
    }

    fn with_tag(tag: u32) -> Self {
        Self {
            head: AtomicU32::new(NONE),
            tag,
            next: Default::default(),
            values: Default::default(),
            free: Mutex::new((0..NODES as u32).collect()),
        }
    }

    /// False if no node is free. That of an element that is taken just now is not.
    pub fn push(&self, value: u8) -> bool {
        let Some(node) = self.free.lock().unwrap().pop_front() else { return false };
        self.values[node as usize].store(value, Relaxed);
        let mut head = self.head.load(Relaxed);
        loop {
            self.next[node as usize].store(head & NONE, Relaxed);
            match self.head.compare_exchange(head, self.changed(head, node), Release, Relaxed) {
                Ok(_) => return true,
                Err(other) => head = other,
            }
        }
    }

    pub fn pop(&self) -> Option<u8> {
        let mut head = self.head.load(Acquire);
        loop {
            let node = head & NONE;
            if node == NONE {
                return None;
            }
            let next = self.next[node as usize].load(Relaxed);
            match self.head.compare_exchange(head, self.changed(head, next), Acquire, Acquire) {
                Ok(_) => {
                    let value = self.values[node as usize].load(Relaxed);
                    self.free.lock().unwrap().push_back(node);
                    return Some(value);
                }
                Err(other) => head = other,
            }
        }
    }

    fn changed(&self, head: u32, node: u32) -> u32 {
        (head & !NONE).wrapping_add(self.tag) | node
    }
}
