//! The counts of an `Arc` in a check: what a program is told of them follows from the steps of the execution, as std's
//! code has them, for every explorer that proves and every model. The results were worked out by hand from that code.

use crate::support::shared::Shared;
use crate::support::{explore, failure, pairs, verified};
use rsmc::sync::atomic::{AtomicU32, Ordering::*};
use rsmc::sync::{Arc, Weak};
use rsmc::{FailureKind, MemoryModel, outcomes, thread};

/// A body has exactly these results, and under C11 those of the second list as well.
#[track_caller]
fn has_results<T: Ord + Send + Clone + std::fmt::Debug>(body: impl Fn() -> T + Sync, results: &[T], c11_too: &[T]) {
    for config in pairs() {
        let too = if config.memory == Some(MemoryModel::C11) { c11_too } else { &[] };
        let expected: Vec<T> = results.iter().chain(too).cloned().collect();
        let found = outcomes(&config, &body);
        found.always("a result", |_| true);
        assert_eq!(found, expected, "{:?} {:?}", config.explorer, config.memory);
    }
}

/// A reference is replaced by a weak one, which then goes, too: there is no moment at which `get_mut` could miss both.
#[test]
fn get_mut_does_not_miss_a_weak_reference_that_comes_while_it_looks() {
    let body = |keep: bool| {
        let (mut shared, done) = (Arc::new(0), AtomicU32::new(0));
        let other = Arc::clone(&shared);
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let weak = Arc::downgrade(&other);
                drop(other);
                done.store(1, Relaxed);
                if keep { Some(weak) } else { None }
            });
            let alone = Arc::get_mut(&mut shared).is_some();
            let done = done.load(Relaxed);
            drop(other.join().unwrap());
            (alone, done)
        })
    };
    has_results(|| body(false), &[(false, 0), (false, 1), (true, 1)], &[]);
    has_results(|| body(true), &[(false, 0), (false, 1)], &[]);
}

/// A thread that is alone knows all that the threads with weak references did.
#[test]
fn get_mut_knows_what_was_done_before_the_last_weak_reference_went() {
    verified(|| {
        let (mut shared, cell) = (Arc::new(0), Shared::new(0));
        let other = Arc::clone(&shared);
        thread::scope(|scope| {
            scope.spawn(|| {
                let weak = Arc::downgrade(&other);
                drop(other);
                cell.write(1);
                drop(weak);
            });
            if Arc::get_mut(&mut shared).is_some() {
                assert_eq!(cell.read(), 1);
            }
        });
    });
}

/// The weak count is locked while `get_mut` looks: that is no count.
#[test]
fn a_locked_weak_count_is_none() {
    let body = || {
        let mut shared = Arc::new(0);
        let other = Arc::clone(&shared);
        thread::scope(|scope| {
            let count = scope.spawn(|| (Arc::weak_count(&other), Arc::strong_count(&other)));
            assert!(Arc::get_mut(&mut shared).is_none());
            count.join().unwrap()
        })
    };
    has_results(body, &[(0, 2)], &[]);
}

#[test]
fn a_report_has_the_calls_and_not_the_counts() {
    let report = explore(|| {
        let mut shared = Arc::new(0);
        let other = Arc::clone(&shared);
        thread::scope(|scope| {
            scope.spawn(|| Arc::strong_count(&other));
            assert!(Arc::get_mut(&mut shared).is_some());
        });
    });
    let text = rsmc::render(&report, None);
    assert!(text.contains("get_mut shared → None") && text.contains("strong_count shared → 2"), "{text}");
    assert!(!text.contains("weak1") && !text.contains("cas "), "{text}");
}

/// That there is nothing left is read by a relaxed load, so who finds out knows nothing else.
#[test]
fn an_upgrade_in_vain_orders_nothing() {
    let body = || {
        let (shared, said) = (Arc::new(0), AtomicU32::new(0));
        let weak = Arc::downgrade(&shared);
        thread::scope(|scope| {
            scope.spawn(|| {
                said.store(1, Relaxed);
                drop(shared);
            });
            (weak.upgrade().is_some(), said.load(Relaxed))
        })
    };
    has_results(body, &[(true, 0), (true, 1), (false, 1)], &[(false, 0)]);
    let found = failure(|| {
        let (shared, cell) = (Arc::new(0), Shared::new(0));
        let weak = Arc::downgrade(&shared);
        thread::scope(|scope| {
            scope.spawn(|| {
                cell.write(1);
                drop(shared);
            });
            if weak.upgrade().is_none() {
                cell.read();
            }
        });
    });
    assert_eq!(found.kind, FailureKind::DataRace, "{}", found.message);
}

/// Two that find nothing do not change the count, so that neither comes before the other.
#[test]
fn an_upgrade_in_vain_is_a_read() {
    let report = verified(|| {
        let weak: [Weak<u32>; 2] = {
            let shared = Arc::new(0);
            [Arc::downgrade(&shared), Arc::downgrade(&shared)]
        };
        thread::scope(|scope| {
            for weak in &weak {
                scope.spawn(|| assert!(weak.upgrade().is_none()));
            }
        });
    });
    assert_eq!(report.executions, 1);
}

/// A value that holds a weak reference to itself has one.
#[test]
fn a_cycle_counts_its_weak_references() {
    struct Node {
        this: Weak<Node>,
    }
    let body = || {
        let node = Arc::new_cyclic(|this| Node { this: this.clone() });
        let other = Arc::clone(&node);
        thread::scope(|scope| {
            let up = scope.spawn(move || other.this.upgrade().is_some());
            (Arc::weak_count(&node), node.this.weak_count(), up.join().unwrap())
        })
    };
    has_results(body, &[(1, 1, true)], &[]);
    let body = || {
        thread::scope(|scope| {
            let mut up = None;
            let node = Arc::new_cyclic(|this: &Weak<u32>| {
                let this = this.clone();
                up = Some(scope.spawn(move || this.upgrade().map(|value| *value)));
                3
            });
            let found = up.unwrap().join().unwrap();
            (*node, found)
        })
    };
    has_results(body, &[(3, None), (3, Some(3))], &[]);
}

/// Whether `make_mut` leaves the old place behind depends on the weak count that it reads, which under C11 may be an
/// old one.
#[test]
fn make_mut_moves_the_value_from_the_weak_references_that_it_sees() {
    let body = || {
        let (mut shared, gone) = (Arc::new(0), AtomicU32::new(0));
        let weak = Arc::downgrade(&shared);
        thread::scope(|scope| {
            scope.spawn(|| {
                drop(weak);
                gone.store(1, Relaxed);
            });
            let (gone, before) = (gone.load(Relaxed), Arc::as_ptr(&shared));
            *Arc::make_mut(&mut shared) += 1;
            (gone, before != Arc::as_ptr(&shared))
        })
    };
    has_results(body, &[(0, false), (0, true), (1, false)], &[(1, true)]);
}

/// Of a value's two owners, one of which has a weak reference as well, at most one gets it.
#[test]
fn who_gets_the_value_is_known_by_the_count() {
    let body = |take: fn(Arc<u32>) -> Option<u32>| {
        let first = Arc::new(7);
        let (second, weak) = (Arc::clone(&first), Arc::downgrade(&first));
        thread::scope(|scope| {
            let other = scope.spawn(move || take(second).is_some());
            let up = scope.spawn(move || weak.upgrade().is_some());
            (take(first).is_some(), other.join().unwrap(), up.join().unwrap())
        })
    };
    // Where the weak reference has become one, its drop may be the last.
    let into_inner =
        [(false, false, true), (false, true, false), (false, true, true), (true, false, false), (true, false, true)];
    has_results(|| body(Arc::into_inner), &into_inner, &[]);
    // `try_unwrap` in vain drops its reference.
    let try_unwrap = [&into_inner[..], &[(false, false, false)]].concat();
    has_results(|| body(|arc| Arc::try_unwrap(arc).ok()), &try_unwrap, &[]);
}

/// The counts that another thread can read while references come and go.
#[test]
fn counts_are_those_between_two_steps() {
    let body = || {
        let shared = Arc::new(0);
        let weak = Arc::downgrade(&shared);
        thread::scope(|scope| {
            scope.spawn(|| {
                let other = weak.upgrade();
                drop(weak);
                drop(other);
            });
            (Arc::weak_count(&shared), Arc::strong_count(&shared))
        })
    };
    has_results(body, &[(1, 1), (1, 2), (0, 1), (0, 2)], &[]);
}
