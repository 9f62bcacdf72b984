//! Outcomes under SC, exactly: none that is impossible, none missed. Several of these go wrong in loom.

use std::collections::BTreeSet;
use std::sync::Mutex;

use rsmc::sync::atomic::{AtomicU32, Ordering::*};
use rsmc::{Config, Explorer, Verdict, thread};

/// All outcomes of a body, which must be the same for the oracle.
#[track_caller]
fn outcomes<T: Ord + Send>(body: impl Fn() -> T + Sync) -> BTreeSet<T> {
    let explore = |explorer| {
        let seen = Mutex::new(BTreeSet::new());
        let report = rsmc::explore(&Config::default().explorer(explorer), || {
            let outcome = body();
            seen.lock().unwrap().insert(outcome);
        });
        assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
        seen.into_inner().unwrap()
    };
    let found = explore(Explorer::ReadsFrom);
    assert!(found == explore(Explorer::Exhaustive), "reads-from and brute force differ");
    found
}

/// Runs two closures in threads of their own and returns what both return.
fn both<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    thread::scope(|scope| {
        let (a, b) = (scope.spawn(a), scope.spawn(b));
        (a.join().unwrap(), b.join().unwrap())
    })
}

#[test]
fn store_buffering_with_seqcst_never_shows_two_zeros() {
    let found = outcomes(|| {
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        let first = || {
            x.store(1, SeqCst);
            y.load(SeqCst)
        };
        let second = || {
            y.store(1, SeqCst);
            x.load(SeqCst)
        };
        both(first, second)
    });
    assert_eq!(found, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
}

#[test]
fn a_store_is_never_lost_in_a_swap() {
    let found = outcomes(|| {
        let x = AtomicU32::new(0);
        let ((), swapped) = both(|| x.store(1, SeqCst), || x.swap(0, SeqCst));
        (swapped, x.load(SeqCst))
    });
    // The swap comes first and the store stays, or it takes the store away: never (0, 0).
    assert_eq!(found, BTreeSet::from([(0, 1), (1, 0)]));
}

#[test]
fn a_fetch_add_loses_no_store_either() {
    let found = outcomes(|| {
        let x = AtomicU32::new(0);
        let ((), before) = both(|| x.store(5, SeqCst), || x.fetch_add(1, SeqCst));
        (before, x.load(SeqCst))
    });
    assert_eq!(found, BTreeSet::from([(0, 5), (5, 6)]));
}

#[test]
fn a_load_before_each_store_shows_every_outcome() {
    let found = outcomes(|| {
        let x = AtomicU32::new(0);
        let first = || {
            let seen = x.load(SeqCst);
            x.store(1, SeqCst);
            seen
        };
        let second = || {
            let seen = x.load(SeqCst);
            x.store(2, SeqCst);
            seen
        };
        let seen = both(first, second);
        (seen, x.load(SeqCst))
    });
    let expected = [((0, 0), 1), ((0, 0), 2), ((0, 1), 2), ((2, 0), 1)];
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn load_buffering_needs_a_cycle_that_sc_has_not() {
    let found = outcomes(|| {
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        let first = || {
            let seen = x.load(Relaxed);
            y.store(1, Relaxed);
            seen
        };
        let second = || {
            let seen = y.load(Relaxed);
            x.store(1, Relaxed);
            seen
        };
        both(first, second)
    });
    assert_eq!(found, BTreeSet::from([(0, 0), (0, 1), (1, 0)]));
}

#[test]
fn a_failed_compare_exchange_may_succeed_elsewhere() {
    let found = outcomes(|| {
        let x = AtomicU32::new(0);
        let cas = |from, to| x.compare_exchange(from, to, AcqRel, Acquire).is_ok();
        let both = both(|| cas(0, 1), || cas(1, 2));
        (both, x.load(Relaxed))
    });
    assert_eq!(found, BTreeSet::from([((true, true), 2), ((true, false), 1)]));
}
