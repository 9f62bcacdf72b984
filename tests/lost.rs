//! Memory that is lost: nodes that nobody frees, and to which nothing leads any more. Where something does, nothing is
//! reported.
#![cfg(target_os = "linux")]

use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::AtomicPtr as StdAtomicPtr;
use std::sync::atomic::Ordering::*;
use std::time::Duration;

use crate::support::{child, pairs};
use rsmc::cell::{Cell, UnsafeCell};
use rsmc::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32};
use rsmc::{FailureKind, Report, Verdict, thread};

#[track_caller]
fn message(report: &Report) -> Option<String> {
    match &report.verdict {
        Verdict::Failed(failure) => {
            assert_eq!(failure.kind, FailureKind::Leak, "{}", failure.message);
            Some(failure.message.clone())
        }
        Verdict::Verified => None,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn loses(what: &str, body: impl Fn() + Sync) {
    for config in pairs() {
        let found = message(&rsmc::explore(&config, &body)).expect("something is lost");
        assert!(found.contains(what), "{found}");
        let passes = rsmc::explore(&config.check_leaks(false), &body);
        assert_eq!(message(&passes), None);
    }
}

#[track_caller]
fn keeps(body: impl Fn() + Sync) {
    for config in pairs() {
        assert_eq!(message(&rsmc::explore(&config, &body)), None);
    }
}

/// Runs a test in a process of its own: a word of another test that looks like a pointer to lost memory makes it known.
fn alone(test: &str, run: fn()) {
    child::alone(&format!("lost::{test}"), Duration::from_secs(60), run);
}

struct Node {
    value: AtomicU32,
    next: AtomicPtr<Node>,
}

fn node(next: *mut Node) -> *mut Node {
    Box::into_raw(Box::new(Node { value: AtomicU32::new(1), next: AtomicPtr::new(next) }))
}

/// Frees a node and those behind it.
fn free(first: *mut Node) {
    let mut at = first;
    while !at.is_null() {
        // SAFETY: it is a box, and nobody else has it.
        let node = unsafe { Box::from_raw(at) };
        at = node.next.load(Relaxed);
    }
}

/// Two threads use a list of two nodes, then what is left of it goes to `end`.
fn with_list(end: impl FnOnce(*mut Node)) {
    let head = AtomicPtr::new(node(node(null_mut())));
    thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: nothing is freed yet.
            unsafe { (*head.load(Acquire)).value.fetch_add(1, Relaxed) };
        });
        head.load(Acquire);
    });
    end(head.into_inner());
}

#[test]
fn nodes_that_nobody_frees_are_lost() {
    alone("nodes_that_nobody_frees_are_lost", || {
        loses("the memory of the AtomicU32 created at tests/lost.rs", || with_list(drop));
        keeps(|| with_list(free));
    });
}

/// Only one of the two threads takes the node, and forgets it.
#[test]
fn a_node_that_is_taken_out_is_lost_in_some_executions_only() {
    alone("a_node_that_is_taken_out_is_lost_in_some_executions_only", || {
        let body = |forgets: bool| {
            let head = AtomicPtr::new(node(null_mut()));
            thread::scope(|scope| {
                scope.spawn(|| free(head.swap(null_mut(), AcqRel)));
                let taken = head.swap(null_mut(), AcqRel);
                if !forgets {
                    free(taken);
                }
            });
        };
        loses("memory to which the AtomicPtr created at tests/lost.rs", || body(true));
        keeps(|| body(false));
    });
}

/// What pointed to it was freed itself, and its last value is of no use to anybody.
#[test]
fn what_only_freed_memory_knew_is_lost() {
    alone("what_only_freed_memory_knew_is_lost", || {
        loses("memory to which the AtomicPtr", || {
            with_list(|first| {
                // SAFETY: it is a box, and nobody else has it.
                let first = unsafe { Box::from_raw(first) };
                first.next.load(Relaxed);
            });
        });
    });
}

/// There is no object of the shim in it.
#[test]
fn a_number_is_lost() {
    alone("a_number_is_lost", || {
        loses("memory to which the AtomicPtr created at tests/lost.rs", || {
            let head = AtomicPtr::new(null_mut());
            thread::scope(|scope| {
                scope.spawn(|| head.store(Box::into_raw(Box::new(7)), Release));
                head.load(Acquire);
            });
        });
    });
}

/// A place for a box, behind a lock.
struct Slot {
    is_taken: AtomicBool,
    value: UnsafeCell<*mut u32>,
}

// SAFETY: the flag is a lock.
unsafe impl Sync for Slot {}

impl Slot {
    fn new() -> Self {
        Self { is_taken: AtomicBool::new(false), value: UnsafeCell::new(null_mut()) }
    }

    /// Puts a box there if there is none.
    fn put(&self, value: u32) {
        while self.is_taken.swap(true, Acquire) {
            rsmc::hint::spin_loop();
        }
        // SAFETY: this thread has the lock.
        self.value.with_mut(|place| unsafe {
            if (*place).is_null() {
                *place = Box::into_raw(Box::new(value));
            }
        });
        self.is_taken.store(false, Release);
    }
}

/// `end` gets what two threads leave in a slot.
fn with_slot(end: impl FnOnce(Slot)) {
    let slot = Slot::new();
    thread::scope(|scope| {
        scope.spawn(|| slot.put(1));
        slot.put(2);
    });
    end(slot);
}

/// No atomic has ever pointed to it.
#[test]
fn what_a_cell_has_pointed_to_is_lost() {
    alone("what_a_cell_has_pointed_to_is_lost", || {
        loses("memory to which the UnsafeCell created at tests/lost.rs", || with_slot(drop));
        // SAFETY: it is a box, and nobody else has it.
        keeps(|| with_slot(|slot| drop(unsafe { Box::from_raw(slot.value.into_inner()) })));
    });
}

/// `Cell` as well: the pointer is seen when it is set.
#[test]
fn what_a_plain_cell_has_pointed_to_is_lost() {
    alone("what_a_plain_cell_has_pointed_to_is_lost", || {
        let body = |frees: bool| {
            let place = Cell::new(null_mut());
            place.set(Box::into_raw(Box::new(7)));
            let other = Cell::new(null_mut());
            other.swap(&place);
            if frees {
                // SAFETY: it is a box, and nobody else has it.
                drop(unsafe { Box::from_raw(other.replace(null_mut())) });
            }
        };
        loses("memory to which the Cell created at tests/lost.rs", || body(false));
        keeps(|| body(true));
    });
}

/// What a captured cell, or one of the system's heap, still points to is not lost.
#[test]
fn what_a_cell_elsewhere_points_to_is_not_lost() {
    let kept = Box::new(Slot::new());
    keeps(|| kept.put(1));
}

/// What a static of std, a captured variable or a static of the shim knows is not lost, and neither is what that leads
/// to.
#[test]
fn what_is_known_elsewhere_is_not_lost() {
    static KNOWN: StdAtomicPtr<Node> = StdAtomicPtr::new(null_mut());
    keeps(|| with_list(|first| KNOWN.store(first, Relaxed)));
    // Otherwise the optimiser sees that nobody does.
    assert!(!KNOWN.load(Relaxed).is_null());
    let captured = Mutex::new(Vec::new());
    keeps(|| with_list(|first| captured.lock().unwrap().push(first.expose_provenance())));
    static OURS: AtomicPtr<Node> = AtomicPtr::new(null_mut());
    keeps(|| with_list(|first| OURS.store(first, Relaxed)));
    assert!(captured.lock().unwrap().len() > 5);
}

/// What is changed behind what is known: the first node leads to another one for a while.
#[test]
fn the_last_values_of_atomics_count() {
    alone("the_last_values_of_atomics_count", || {
        static KNOWN: StdAtomicPtr<Node> = StdAtomicPtr::new(null_mut());
        let behind = |forgets: bool| {
            with_list(|list| {
                let first = node(null_mut());
                // SAFETY: it is alive.
                let next = unsafe { &(*first).next };
                next.store(list, Relaxed);
                if forgets {
                    next.store(null_mut(), Relaxed);
                }
                KNOWN.store(first, Relaxed);
            });
        };
        keeps(|| behind(false));
        assert!(!KNOWN.load(Relaxed).is_null());
        loses("the memory of the AtomicU32", || behind(true));
    });
}

/// What a test makes static on purpose is not looked for.
#[test]
fn a_static_that_was_made_is_no_loss() {
    keeps(|| {
        let flag: &'static AtomicU32 = Box::leak(Box::new(AtomicU32::new(0)));
        let other = thread::spawn(|| flag.store(1, Release));
        flag.load(Acquire);
        other.join().unwrap();
    });
}
