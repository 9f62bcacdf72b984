//! Memory that threads get again: ABA is found with `reuse`, and without it cannot happen.
#![cfg(unix)]

use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::*;

use crate::support::pairs;
use rsmc::sync::atomic::{AtomicPtr, AtomicU32};
use rsmc::{Config, MemoryModel, Report, Verdict, thread};

fn is_verified(report: &Report) -> bool {
    matches!(report.verdict, Verdict::Verified)
}

/// A node whose fields no check sees.
struct Node {
    value: u32,
    next: UnsafeCell<*mut Node>,
}

/// A stack that frees what is taken at once: a compare-exchange may take another node for the one that it has looked
/// at.
struct Stack(AtomicPtr<Node>);

impl Stack {
    fn push(&self, value: u32) {
        let node = Box::into_raw(Box::new(Node { value, next: UnsafeCell::new(null_mut()) }));
        loop {
            let head = self.0.load(SeqCst);
            // SAFETY: nobody else knows the node.
            unsafe { *(*node).next.get() = head };
            if self.0.compare_exchange(head, node, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    fn take(&self) -> *mut Node {
        loop {
            let head = self.0.load(SeqCst);
            if head.is_null() {
                return head;
            }
            // SAFETY: none if it was freed; memory of the check keeps its bytes.
            let next = unsafe { *(*head).next.get() };
            if self.0.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                return head;
            }
        }
    }

    fn pop(&self) -> Option<u32> {
        let node = self.take();
        // SAFETY: whoever has taken a node has it alone, if no other was taken for it.
        (!node.is_null()).then(|| unsafe { Box::from_raw(node) }.value)
    }
}

/// One thread takes a node while the other takes two, frees the first, and pushes a third before it frees the second.
fn aba() {
    let stack = Stack(AtomicPtr::new(null_mut()));
    stack.push(2);
    stack.push(1);
    let mut popped = Vec::with_capacity(8);
    thread::scope(|scope| {
        let other = scope.spawn(|| stack.pop());
        popped.extend(stack.pop());
        let kept = stack.take();
        stack.push(3);
        if !kept.is_null() {
            // SAFETY: it was taken.
            popped.push(unsafe { Box::from_raw(kept) }.value);
        }
        popped.extend(other.join().unwrap());
    });
    while let Some(value) = stack.pop() {
        popped.push(value);
    }
    popped.sort_unstable();
    assert_eq!(popped, [1, 2, 3]);
}

#[test]
fn a_new_node_is_taken_for_an_old_one_only_where_memory_is_reused() {
    for config in pairs() {
        let without = rsmc::explore(&config, aba);
        assert!(is_verified(&without), "{without:?}");
        let config = config.reuse(true);
        let with = rsmc::explore(&config, aba);
        let Verdict::Failed(failure) = &with.verdict else { panic!("{:?}: {with:?}", config.explorer) };
        let again = rsmc::explore(&config.replay(failure.seed.clone()), aba);
        let Verdict::Failed(again) = &again.verdict else { panic!("{again:?}") };
        assert_eq!(again.message, failure.message);
    }
}

/// What a thread gets depends on what it has done itself, whatever the others do.
#[test]
fn addresses_are_the_same_in_all_executions() {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let config = Config::default().reuse(true).memory(MemoryModel::Sc);
    let report = rsmc::explore(&config, || {
        let x = AtomicU32::new(0);
        let allocate = |times: usize| {
            let mut places = Vec::with_capacity(times);
            for _ in 0..times {
                let first = Box::new([1_u64; 5]);
                let second = Box::new([1_u64; 5]);
                x.fetch_add(1, SeqCst);
                places.extend([&raw const *first, &raw const *second].map(<*const _>::addr));
                drop(first);
                drop(second);
            }
            places
        };
        let places = thread::scope(|scope| {
            let other = scope.spawn(|| allocate(3));
            [allocate(3), other.join().unwrap()]
        });
        for places in &places {
            // The last that was freed comes first.
            assert_eq!((places[2], places[3]), (places[1], places[0]));
            assert_eq!(places[4..], places[..2]);
        }
        // What outlives an execution moves the next one, but not within its piece of memory.
        let places = places.map(|places| places.iter().map(|place| place % (1 << 30)).collect::<Vec<_>>());
        seen.lock().unwrap().insert(places);
    });
    assert!(is_verified(&report) && report.executions == 20, "{report:?}");
    assert_eq!(seen.into_inner().unwrap().len(), 1);
}
