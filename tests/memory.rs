//! Memory that is used after it was freed, or freed twice: what is found, what is not, and what the report says.
#![cfg(unix)]

use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::*;

use crate::support::pairs;
use rsmc::alloc::Track;
use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, fence};
use rsmc::sync::{Arc, Mutex};
use rsmc::{FailureKind, Report, Verdict, thread};

fn kind_of(report: &Report) -> Option<FailureKind> {
    match &report.verdict {
        Verdict::Failed(failure) => Some(failure.kind),
        Verdict::Verified => None,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn fails(kind: FailureKind, body: fn()) {
    for config in pairs() {
        let report = rsmc::explore(&config, body);
        assert_eq!(kind_of(&report), Some(kind), "{:?} under {:?}", config.explorer, config.memory);
        let Verdict::Failed(failure) = &report.verdict else { unreachable!() };
        let again = rsmc::explore(&config.clone().replay(failure.seed.clone()), body);
        assert_eq!(kind_of(&again), Some(kind), "a replay, {:?} under {:?}", config.explorer, config.memory);
        let Verdict::Failed(again) = &again.verdict else { unreachable!() };
        assert_eq!(again.message, failure.message);
    }
}

#[track_caller]
fn passes(body: fn()) {
    for config in pairs() {
        let report = rsmc::explore(&config, body);
        assert_eq!(kind_of(&report), None, "{:?} under {:?}", config.explorer, config.memory);
    }
}

struct Node {
    value: AtomicU32,
    cell: UnsafeCell<u32>,
    next: AtomicPtr<Node>,
}

// SAFETY: whether threads use a node in order is what is tested, and a check runs one thread at a time.
unsafe impl Sync for Node {}

impl Node {
    fn new(value: u32) -> Self {
        Self { value: AtomicU32::new(value), cell: UnsafeCell::new(value), next: AtomicPtr::new(null_mut()) }
    }
}

/// Runs two threads on a place with a node in it, and frees the place in the end.
fn with_head(one: impl FnOnce(&AtomicPtr<Node>) + Send, other: impl FnOnce(&AtomicPtr<Node>) + Send) {
    let head = AtomicPtr::new(Box::into_raw(Box::new(Node::new(1))));
    thread::scope(|scope| {
        let head = &head;
        scope.spawn(move || one(head));
        other(head);
    });
    let left = head.load(Relaxed);
    if !left.is_null() {
        // SAFETY: it is a box, and nobody else has it.
        drop(unsafe { Box::from_raw(left) });
    }
}

fn take_and_free(head: &AtomicPtr<Node>) {
    let node = head.swap(null_mut(), AcqRel);
    if !node.is_null() {
        // SAFETY: not if somebody else still has it.
        drop(unsafe { Box::from_raw(node) });
    }
}

/// A reader has the node when it is freed: it uses an atomic in it.
#[test]
fn an_atomic_is_used_after_it_was_freed() {
    fails(FailureKind::UseAfterFree, || {
        with_head(take_and_free, |head| {
            let node = head.load(Acquire);
            if !node.is_null() {
                // SAFETY: none; this is the mistake.
                unsafe { (*node).value.load(Relaxed) };
            }
        });
    });
}

/// A tracked value in a box, used by one thread and dropped by another: neither is a step.
#[test]
fn a_tracked_value_is_used_after_it_was_dropped() {
    fails(FailureKind::UseAfterFree, || {
        let place = AtomicPtr::new(Box::into_raw(Box::new(Track::new(1))));
        thread::scope(|scope| {
            // SAFETY: it is a box; that somebody else still has it is the mistake.
            scope.spawn(|| drop(unsafe { Box::from_raw(place.load(Acquire)) }));
            // SAFETY: none; this is the mistake.
            unsafe { (*place.load(Acquire)).get_ref() };
        });
    });
}

/// As above, where the value stays in its place and a message makes the drop wait, or does not.
#[test]
fn a_tracked_value_is_dropped_in_its_place() {
    fn body(waits: bool) {
        let mut value = ManuallyDrop::new(Track::new(1));
        let (place, used) = (AtomicPtr::new(&raw mut value), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: that somebody drops it meanwhile is the mistake, unless the other thread waits.
                unsafe { (*place.load(Relaxed)).get_ref() };
                used.store(1, Release);
            });
            while waits && used.load(Acquire) == 0 {
                rsmc::hint::spin_loop();
            }
            // SAFETY: as above.
            unsafe { ManuallyDrop::drop(&mut *place.load(Relaxed)) };
        });
    }
    fails(FailureKind::UseAfterFree, || body(false));
    passes(|| body(true));
}

/// What a check does not see orders the two: the counts of std's `Arc`.
#[test]
fn a_tracked_value_behind_an_arc_of_std_is_no_mistake() {
    passes(|| {
        let (value, turns) = (std::sync::Arc::new(Track::new(1)), AtomicU32::new(0));
        let other = std::sync::Arc::clone(&value);
        thread::scope(|scope| {
            scope.spawn(|| {
                let other = other;
                turns.fetch_add(1, Relaxed);
                other.get_ref();
            });
            turns.fetch_add(1, Relaxed);
            value.get_ref();
            drop(value);
        });
    });
}

/// A use after free of a cell, between whose access and the load of the pointer there is no step.
#[test]
fn a_cell_is_used_after_it_was_freed() {
    fails(FailureKind::UseAfterFree, || {
        with_head(take_and_free, |head| {
            let node = head.load(Acquire);
            if !node.is_null() {
                // SAFETY: none; this is the mistake.
                unsafe { (*node).cell.with(|value| *value) };
            }
        });
    });
}

/// No thread had used the object before its memory was freed.
#[test]
fn an_object_is_met_when_it_is_freed_already() {
    fails(FailureKind::UseAfterFree, || {
        let go = AtomicU32::new(0);
        with_head(
            |head| {
                let node = head.load(Acquire);
                go.store(1, Release);
                while go.load(Acquire) == 1 {
                    rsmc::hint::spin_loop();
                }
                // SAFETY: none; this is the mistake.
                unsafe { (*node).next.load(Relaxed) };
            },
            |head| {
                while go.load(Acquire) == 0 {
                    rsmc::hint::spin_loop();
                }
                take_and_free(head);
                go.store(2, Release);
            },
        );
    });
}

/// One thread alone.
#[test]
fn one_thread_uses_what_it_freed() {
    fails(FailureKind::UseAfterFree, || {
        with_head(
            |head| {
                let node = head.load(Acquire);
                if !node.is_null() {
                    take_and_free(head);
                    // SAFETY: none; this is the mistake.
                    unsafe { (*node).value.store(2, Relaxed) };
                }
            },
            |_| (),
        );
    });
}

#[test]
fn a_lock_is_used_after_it_was_freed() {
    fails(FailureKind::UseAfterFree, || {
        let lock = Box::into_raw(Box::new(Mutex::new(1)));
        let shared = AtomicPtr::new(lock);
        thread::scope(|scope| {
            scope.spawn(|| {
                let lock = shared.load(Acquire);
                if !lock.is_null() {
                    // SAFETY: none; this is the mistake.
                    *unsafe { &*lock }.lock().unwrap() += 1;
                }
            });
            shared.store(null_mut(), Release);
            // SAFETY: it is a box; but somebody else may have it.
            drop(unsafe { Box::from_raw(lock) });
        });
    });
}

/// A number in plain memory is read after the other thread has freed it and said so.
#[test]
fn what_was_freed_is_not_read_as_it_was() {
    fails(FailureKind::Panic, || number_of_a_box(true));
    passes(|| number_of_a_box(false));
}

fn number_of_a_box(is_freed: bool) {
    let (shared, done) = (AtomicPtr::new(Box::into_raw(Box::new(7_u64))), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let number = shared.load(Acquire);
            done.load(Acquire);
            // SAFETY: none if it is freed; this is the mistake.
            assert_eq!(unsafe { number.read_volatile() }, 7, "the number is another one");
        });
        if is_freed {
            // SAFETY: it is a box; but somebody else may have it.
            drop(unsafe { Box::from_raw(shared.load(Relaxed)) });
        }
        done.store(1, Release);
    });
    if !is_freed {
        // SAFETY: it is a box, and nobody else has it.
        drop(unsafe { Box::from_raw(shared.load(Relaxed)) });
    }
}

/// Two threads believe that the node is theirs.
#[test]
fn memory_is_freed_twice() {
    fails(FailureKind::DoubleFree, || {
        let free = |head: &AtomicPtr<Node>| {
            let node = head.load(Acquire);
            if !node.is_null() {
                head.store(null_mut(), Release);
                // SAFETY: not if both have seen it.
                drop(unsafe { Box::from_raw(node) });
            }
        };
        with_head(free, free);
    });
}

/// A count of references without which no thread frees, and with the orderings that it needs.
#[test]
fn counted_references_are_no_mistake() {
    passes(|| {
        struct Counted {
            references: AtomicUsize,
            value: AtomicU32,
        }
        #[derive(Clone, Copy)]
        struct Reference(*mut Counted);
        // SAFETY: what is behind it is atomic.
        unsafe impl Send for Reference {}
        impl Reference {
            fn release(self) {
                // SAFETY: this reference was counted.
                let counted = unsafe { &*self.0 };
                counted.value.fetch_add(1, Relaxed);
                if counted.references.fetch_sub(1, Release) == 1 {
                    fence(Acquire);
                    // SAFETY: it was the last one.
                    drop(unsafe { Box::from_raw(self.0) });
                }
            }
        }
        let counted = Counted { references: AtomicUsize::new(2), value: AtomicU32::new(0) };
        let reference = Reference(Box::into_raw(Box::new(counted)));
        let other = thread::spawn(move || reference.release());
        reference.release();
        other.join().unwrap();
    });
}

/// A hazard pointer: the thread that frees looks whether another uses the node.
#[test]
fn a_hazard_pointer_protects() {
    passes(|| {
        let hazard = AtomicPtr::new(null_mut());
        let kept = AtomicPtr::new(null_mut());
        with_head(
            |head| {
                let node = head.load(SeqCst);
                hazard.store(node, SeqCst);
                if !node.is_null() && head.load(SeqCst) == node {
                    // SAFETY: it was protected before it was looked at again.
                    unsafe { (*node).value.load(Relaxed) };
                    // SAFETY: as above.
                    unsafe { (*node).cell.with(|value| *value) };
                }
                hazard.store(null_mut(), SeqCst);
            },
            |head| {
                let node = head.swap(null_mut(), SeqCst);
                if hazard.load(SeqCst) == node {
                    kept.store(node, Relaxed);
                } else {
                    // SAFETY: nobody has it, and nobody finds it.
                    drop(unsafe { Box::from_raw(node) });
                }
            },
        );
        let kept = kept.load(Relaxed);
        if !kept.is_null() {
            // SAFETY: all have ended.
            drop(unsafe { Box::from_raw(kept) });
        }
    });
}

/// A hazard pointer, and the thread that frees does not look.
#[test]
fn a_hazard_pointer_that_nobody_reads_does_not() {
    fails(FailureKind::UseAfterFree, || {
        with_head(take_and_free, |head| {
            let node = head.load(SeqCst);
            if !node.is_null() && head.load(SeqCst) == node {
                // SAFETY: none; this is the mistake.
                unsafe { (*node).value.load(Relaxed) };
            }
        });
    });
}

/// The counts of std's `Arc` are not seen, and what they order is not taken for a mistake: neither what is in it, nor
/// what it owns.
#[test]
fn an_arc_of_std_is_no_mistake() {
    passes(|| {
        let shared = std::sync::Arc::new((AtomicU32::new(0), vec![AtomicU32::new(0), AtomicU32::new(0)]));
        let other = shared.clone();
        thread::spawn(move || {
            other.0.store(1, Relaxed);
            other.1[0].fetch_add(1, Relaxed);
        });
        shared.1[1].fetch_add(1, Relaxed);
        shared.1[0].fetch_add(1, Relaxed);
    });
}

/// Ours, and what lies in it.
#[test]
fn an_arc_is_no_mistake() {
    passes(|| {
        let shared = Arc::new((AtomicU32::new(0), vec![AtomicU32::new(0)], Mutex::new(Box::new(AtomicU32::new(1)))));
        let other = shared.clone();
        thread::spawn(move || {
            other.0.store(1, Relaxed);
            other.1[0].fetch_add(1, Relaxed);
            let before = std::mem::replace(&mut *other.2.lock().unwrap(), Box::new(AtomicU32::new(2)));
            before.load(Relaxed);
        });
        shared.1[0].fetch_add(1, Relaxed);
        shared.2.lock().unwrap().load(Relaxed);
    });
}

/// Two threads with a reference each, a child and the one that has started it, which goes first. The value frees the
/// node, if it is told to.
fn with_reference(frees: bool, child: fn(Arc<Frees>, &Node), parent: fn(Arc<Frees>, &Node)) {
    let node = Box::into_raw(Box::new(Node::new(1)));
    let shared = Arc::new(Frees { node: if frees { node } else { null_mut() }, begun: AtomicU32::new(0) });
    // SAFETY: the node is there at the beginning; whether a thread may use it later is what is tested.
    let node = unsafe { &*node };
    thread::scope(|scope| {
        let theirs = Arc::clone(&shared);
        scope.spawn(move || {
            theirs.begun.load(SeqCst);
            child(theirs, node);
        });
        parent(shared, node);
    });
}

struct Frees {
    node: *mut Node,
    begun: AtomicU32,
}

// SAFETY: whoever drops the last reference frees the node, and nobody else does.
unsafe impl Send for Frees {}
// SAFETY: see above.
unsafe impl Sync for Frees {}

impl Drop for Frees {
    fn drop(&mut self) {
        if !self.node.is_null() {
            // SAFETY: see above.
            drop(unsafe { Box::from_raw(self.node) });
        }
    }
}

/// Where one thread drops the last reference, another one could have.
#[test]
fn the_last_reference_orders_only_the_destructor() {
    fails(FailureKind::UseAfterFree, || {
        with_reference(
            false,
            |shared, node| {
                drop(shared);
                // SAFETY: the other thread may use it: that is the mistake.
                drop(unsafe { Box::from_raw(std::ptr::from_ref(node).cast_mut()) });
            },
            |shared, node| {
                node.value.load(SeqCst);
                drop(shared);
            },
        );
    });
    fails(FailureKind::UseAfterFree, || {
        with_reference(
            true,
            |shared, _| drop(shared),
            |shared, node| {
                drop(shared);
                node.value.load(SeqCst);
            },
        );
    });
    passes(|| {
        with_reference(
            true,
            |shared, node| {
                node.value.load(SeqCst);
                drop(shared);
            },
            |shared, node| {
                node.value.load(SeqCst);
                drop(shared);
            },
        );
    });
}

/// An object that moves is not where it was, and what was there may be freed.
#[test]
fn an_object_that_moves_may_leave_its_memory() {
    passes(|| {
        with_head(
            |head| {
                let node = head.swap(null_mut(), AcqRel);
                if !node.is_null() {
                    // SAFETY: it is a box, and nobody else has it.
                    let boxed = unsafe { Box::from_raw(node) };
                    boxed.value.store(3, Relaxed);
                    let moved = *boxed;
                    moved.value.store(4, Relaxed);
                    let again = Box::new(moved);
                    again.value.store(5, Relaxed);
                    again.cell.with_mut(|_| ());
                }
            },
            |head| {
                head.load(Relaxed);
            },
        );
        // They move whenever there is no room for one more.
        let mut all = Vec::with_capacity(1);
        for _ in 0..20 {
            all.push(AtomicU32::new(1));
            all.iter().for_each(|value| value.store(2, SeqCst));
        }
    });
}
