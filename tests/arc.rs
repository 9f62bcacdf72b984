//! `Arc` in a check: sharing costs nothing, and what a program observes of counts is explored.

use std::collections::BTreeSet;

use crate::support::{OnDrop, failure, results, verified_alone};
use rsmc::sync::atomic::{AtomicU32, Ordering::*};
use rsmc::sync::{Arc, Mutex, Weak};
use rsmc::{Config, FailureKind, Verdict, thread};

#[test]
fn sharing_adds_no_execution() {
    for threads in 1..6 {
        let report = verified_alone(|| {
            let shared = Arc::new(7);
            let threads: Vec<_> = (0..threads)
                .map(|_| {
                    let own = Arc::clone(&shared);
                    thread::spawn(move || drop((Arc::clone(&own), Arc::downgrade(&own))))
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            // Nobody else is left: this tells nothing that was not known.
            assert_eq!(Arc::strong_count(&shared), 1);
            assert_eq!(Arc::into_inner(shared), Some(7));
        });
        assert_eq!((report.executions, report.runs, report.events), (1, 1, 0));
    }
}

#[test]
fn a_destructor_without_steps_adds_none_either() {
    let report = verified_alone(|| {
        let shared = Arc::new((Mutex::new(1), vec![Box::new(2)]));
        let other = Arc::clone(&shared);
        thread::spawn(move || drop(other));
        drop(shared);
    });
    assert_eq!((report.executions, report.runs), (1, 1));
}

#[test]
fn every_count_is_seen() {
    let found = results(1, || {
        let shared = Arc::new(());
        let (one, two) = (Arc::clone(&shared), Arc::clone(&shared));
        thread::scope(|scope| {
            scope.spawn(|| drop(one));
            scope.spawn(|| drop(two));
            Arc::strong_count(&shared)
        })
    });
    assert_eq!(found, BTreeSet::from([1, 2, 3]));
    let found = results(1, || {
        let shared = Arc::new(());
        let weak = Arc::downgrade(&shared);
        thread::scope(|scope| {
            scope.spawn(|| drop(weak));
            Arc::weak_count(&shared)
        })
    });
    assert_eq!(found, BTreeSet::from([0, 1]));
}

/// As std says of `into_inner`: of all that drop a reference so, exactly one gets the value.
#[test]
fn one_of_several_gets_the_value() {
    let race = |take: fn(Arc<u32>) -> Option<u32>| {
        results(1, move || {
            let first = Arc::new(7);
            let second = Arc::clone(&first);
            thread::scope(|scope| {
                let other = scope.spawn(move || take(second).is_some());
                (take(first).is_some(), other.join().unwrap())
            })
        })
    };
    assert_eq!(race(Arc::into_inner), BTreeSet::from([(false, true), (true, false)]));
    let with_try_unwrap = race(|arc| Arc::try_unwrap(arc).ok());
    assert_eq!(with_try_unwrap, BTreeSet::from([(false, false), (false, true), (true, false)]));
}

#[test]
fn a_weak_reference_finds_the_value_or_does_not() {
    let found = results(1, || {
        let shared = Arc::new(3);
        let weak = Arc::downgrade(&shared);
        thread::scope(|scope| {
            scope.spawn(|| drop(shared));
            weak.upgrade().map(|value| *value)
        })
    });
    assert_eq!(found, BTreeSet::from([None, Some(3)]));
}

#[test]
fn exclusive_access_is_given_or_not() {
    let found = results(1, || {
        let mut shared = Arc::new(0);
        let other = Arc::clone(&shared);
        thread::scope(|scope| {
            scope.spawn(|| drop(other));
            let first = Arc::get_mut(&mut shared).is_some();
            *Arc::make_mut(&mut shared) += 1;
            (first, *shared, Arc::get_mut(&mut shared).is_some())
        })
    });
    assert_eq!(found, BTreeSet::from([(false, 1, true), (true, 1, true)]));
    let found = results(1, || {
        let mut shared = Arc::new(0);
        let weak = Arc::downgrade(&shared);
        thread::scope(|scope| {
            let other = scope.spawn(move || weak.upgrade().is_some());
            *Arc::make_mut(&mut shared) += 1;
            other.join().unwrap()
        })
    });
    assert_eq!(found, BTreeSet::from([false, true]));
}

#[test]
fn who_drops_the_value_is_explored() {
    let found = results(1, || {
        let by = Arc::new(AtomicU32::new(0));
        let said = Arc::clone(&by);
        let me = thread::current().id();
        let shared = Arc::new(OnDrop(move || said.store(1 + u32::from(thread::current().id() == me), Relaxed)));
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || drop(other));
        drop(shared);
        other.join().unwrap();
        by.load(Relaxed)
    });
    assert_eq!(found, BTreeSet::from([1, 2]));
}

/// The classic mistake: to look whether there is another reference, and then to act as if there were none.
#[test]
fn a_count_may_change_after_it_was_read() {
    let body = || {
        let shared = Arc::new(AtomicU32::new(0));
        let weak: Weak<AtomicU32> = Arc::downgrade(&shared);
        let other = thread::spawn(move || weak.upgrade().map(|shared| shared.fetch_add(1, Relaxed)));
        if Arc::strong_count(&shared) == 1 {
            assert_eq!(shared.load(Relaxed), 0, "somebody else was here");
        }
        other.join().unwrap();
    };
    let found = failure(body);
    assert_eq!(found.kind, FailureKind::Panic);
    assert!(found.message.contains("somebody else was here"), "{}", found.message);
    // A replay starts with what the exploration has learned.
    let report = rsmc::explore(&Config::default().replay(found.seed.to_string().parse().unwrap()), body);
    let Verdict::Failed(again) = report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!((again.message, report.runs), (found.message, 1));
}

#[test]
fn a_replay_knows_that_ends_are_observed() {
    let body = || {
        let done = Arc::new(AtomicU32::new(0));
        let own = Arc::clone(&done);
        let other = thread::spawn(move || own.store(1, Relaxed));
        let before = done.load(Relaxed);
        assert!(before == 0 || !other.is_finished(), "it has ended");
        other.join().unwrap();
    };
    let found = failure(body);
    let report = rsmc::explore(&Config::default().replay(found.seed), body);
    let Verdict::Failed(again) = report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!((again.message, report.runs), (found.message, 1));
}

#[test]
fn raw_references_count() {
    let found = results(1, || {
        let shared = Arc::new(5);
        let pointer = Arc::into_raw(Arc::clone(&shared));
        // SAFETY: the pointer is one of a reference, and both references are dropped below.
        unsafe { Arc::increment_strong_count(pointer) };
        let pointer = pointer.expose_provenance();
        thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..2 {
                    // SAFETY: there are two references that exist as pointers only.
                    unsafe { Arc::decrement_strong_count(std::ptr::with_exposed_provenance::<i32>(pointer)) };
                }
            });
            Arc::strong_count(&shared)
        })
    });
    assert_eq!(found, BTreeSet::from([1, 2, 3]));
}
