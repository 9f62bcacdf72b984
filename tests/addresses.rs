//! Addresses: the same in every execution of a check, whichever thread allocates first and whatever outlives.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::ptr::null_mut;
use std::sync::Mutex as StdMutex;
use std::time::Duration;

use crate::support::{child, pairs};
use rsmc::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
use rsmc::{Config, Explorer, Report, Verdict, thread};

/// The addresses of objects: by thread and number. It has room for all, since growing would be an allocation of the
/// thread's.
struct Places(StdMutex<Vec<(usize, usize, usize)>>);

/// The part of an address that does not say in which piece of memory it is.
const PLACE: usize = (1 << 30) - 1;

impl Places {
    fn new() -> Self {
        Self(StdMutex::new(Vec::with_capacity(1 << 20)))
    }

    fn note<T>(&self, thread: usize, number: usize, value: &T) {
        self.0.lock().unwrap().push((thread, number, std::ptr::from_ref(value).addr() & PLACE));
    }

    fn by_number(self) -> BTreeMap<(usize, usize), BTreeSet<usize>> {
        let mut places = BTreeMap::<_, BTreeSet<_>>::new();
        for (thread, number, place) in self.0.into_inner().unwrap() {
            places.entry((thread, number)).or_default().insert(place);
        }
        places
    }
}

/// Three threads that allocate between operations, and drop some of it.
fn allocating(places: &Places, and: impl Fn() + Sync) {
    let x = AtomicUsize::new(0);
    thread::scope(|scope| {
        for me in 1..4 {
            let (x, and) = (&x, &and);
            scope.spawn(move || {
                for number in 0..2 {
                    let (block, on_stack) = (Box::new([me; 40]), [me; 10]);
                    x.fetch_add(on_stack[0], SeqCst);
                    places.note(me, 2 * number, &*block);
                    places.note(me, 2 * number + 1, &on_stack);
                    and();
                }
            });
        }
    });
}

fn explore(explorer: Explorer, body: impl Fn() + Sync) -> Report {
    let report = rsmc::explore(&Config::default().explorer(explorer).max_executions(1000), body);
    assert!(!matches!(report.verdict, Verdict::Failed(_)), "{explorer:?}: {report:?}");
    report
}

#[test]
fn what_a_thread_has_is_in_the_same_place_whoever_goes_first() {
    for explorer in [Explorer::Exhaustive, Explorer::Random] {
        let places = Places::new();
        let report = explore(explorer, || allocating(&places, || ()));
        assert!(report.executions > 50, "{report:?}");
        let places = places.by_number();
        assert_eq!(places.len(), 12);
        assert!(places.values().all(|places| places.len() == 1), "{places:?}");
    }
}

/// A collection that the body captures gets several blocks in every execution: the next begins elsewhere, in the same
/// places.
#[test]
fn what_outlives_an_execution_moves_nothing() {
    let (places, kept) = (Places::new(), StdMutex::new(Vec::with_capacity(1 << 20)));
    let report = explore(Explorer::Random, || {
        allocating(&places, || kept.lock().unwrap().push(Box::new([7_u8; 30])));
    });
    let (places, kept) = (places.by_number(), kept.into_inner().unwrap());
    assert_eq!(kept.len() as u64, 6 * report.executions);
    assert!(kept.iter().all(|one| **one == [7; 30]), "what is in it is as it was");
    assert!(places.len() == 12 && places.values().all(|places| places.len() == 1), "{places:?}");
}

struct Node {
    next: *mut Node,
    value: usize,
}

/// A stack of nodes that are never freed before the end: its pointers are what classes of values are made of.
#[allow(clippy::vec_box, reason = "each push makes a block")]
fn push_and_pop(kept: &StdMutex<Vec<Box<usize>>>) -> Vec<usize> {
    let top = AtomicPtr::<Node>::new(null_mut());
    let push = |value| {
        kept.lock().unwrap().push(Box::new(value));
        let node = Box::into_raw(Box::new(Node { next: null_mut(), value }));
        loop {
            let next = top.load(Acquire);
            // SAFETY: nobody else has it yet.
            unsafe { (*node).next = next };
            if top.compare_exchange(next, node, AcqRel, Relaxed).is_ok() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for value in 1..4 {
            let push = &push;
            scope.spawn(move || push(value));
        }
    });
    let (mut values, mut node) = (Vec::new(), top.load(Acquire));
    while !node.is_null() {
        // SAFETY: all threads are done, and each node is in the stack once.
        let taken = unsafe { Box::from_raw(node) };
        values.push(taken.value);
        node = taken.next;
    }
    values
}

/// Values that are addresses are the same in all executions, so nothing is explored twice and nothing is not
/// deterministic.
#[test]
fn pointers_are_values_like_others() {
    let mut numbers = BTreeMap::new();
    for explorer in [Explorer::ReadsFrom, Explorer::ReadsValueFrom, Explorer::View, Explorer::Exhaustive] {
        for keeps in [false, true] {
            let kept = StdMutex::new(Vec::with_capacity(1 << 20));
            let seen = StdMutex::new(BTreeSet::new());
            let memory = rsmc::MemoryModel::Sc;
            let report = rsmc::explore(&Config::default().explorer(explorer).memory(memory), || {
                let values = push_and_pop(&kept);
                seen.lock().unwrap().insert(values);
                if !keeps {
                    kept.lock().unwrap().clear();
                }
            });
            assert!(matches!(report.verdict, Verdict::Verified), "{explorer:?}: {:?}", report.verdict);
            assert_eq!(seen.into_inner().unwrap().len(), 6, "{explorer:?}: all orders");
            let before = numbers.entry(format!("{explorer:?}")).or_insert(report.executions);
            assert_eq!(*before, report.executions, "{explorer:?}: what is kept makes no class");
        }
    }
    assert_eq!(numbers["ReadsValueFrom"], numbers["ReadsFrom"], "each value is written once: {numbers:?}");
}

/// An address with tags in it, and differences of addresses, are what they are outside checks.
#[test]
fn arithmetic_with_addresses_is_exact() {
    let kept = StdMutex::new(Vec::new());
    let report = explore(Explorer::ReadsFrom, || {
        let (one, other) = (Box::new(1_u64), Box::new(2_u64));
        let at = |value: &u64| std::ptr::from_ref(value).addr();
        let (a, b) = (at(&one), at(&other));
        let x = AtomicUsize::new(a);
        thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(x.fetch_or(1 << 63 | 3, Relaxed), a);
                assert_eq!(x.fetch_and(!(1 << 63 | 3), Relaxed), a | 1 << 63 | 3);
                assert_eq!(x.fetch_add(b.wrapping_sub(a), Relaxed), a);
                assert_eq!(x.fetch_xor(a, Relaxed), b);
                assert_eq!(x.fetch_xor(a, Relaxed), a ^ b);
                assert_eq!(x.fetch_max(a, Relaxed), b);
                assert_eq!(x.fetch_sub(a, Relaxed), a.max(b));
                assert_eq!(x.swap(0x6e << 40 | 5, Relaxed), a.max(b) - a, "the difference");
                assert_eq!(x.load(Relaxed), 0x6e << 40 | 5, "a number that looks like the name of an address");
            });
            x.load(Relaxed);
        });
        // So the next execution has another piece.
        kept.lock().unwrap().push(one);
    });
    assert!(report.executions > 2);
}

/// The seed names an address by who wrote it, so another process finds the same execution with its own addresses.
#[test]
fn a_seed_with_addresses_is_one_of_another_process() {
    const TEST: &str = "addresses::a_seed_with_addresses_is_one_of_another_process";
    let outside = Box::new(1_u32);
    let body = || {
        let (last, number) = (AtomicPtr::new(null_mut()), AtomicUsize::new(0));
        let (inside, outside) = (Box::new(2_u32), std::ptr::from_ref(&*outside).addr());
        thread::scope(|scope| {
            for address in [outside, std::ptr::from_ref(&*inside).addr()] {
                let (last, number) = (&last, &number);
                scope.spawn(move || {
                    last.store(std::ptr::without_provenance_mut::<u32>(address), SeqCst);
                    number.store(address, SeqCst);
                });
            }
            let (last, number) = (last.load(SeqCst), number.load(SeqCst));
            assert!(number != outside || last.is_null() || last.addr() == number);
        });
    };
    let failure = |config: &Config| match rsmc::explore(config, body).verdict {
        Verdict::Failed(failure) => failure,
        other => panic!("{config:?}: {other:?}"),
    };
    match child::case().as_deref() {
        Some(seeds) => {
            // The heap is another one.
            let moved: Vec<_> = (1..1000).map(|size| vec![0_u8; size]).collect();
            for (seed, config) in seeds.split(' ').zip(pairs()) {
                let again = failure(&config.replay(seed.parse().unwrap()));
                assert_eq!(again.seed.to_string(), seed, "{} blocks", moved.len());
            }
        }
        None => {
            let seeds: Vec<_> = pairs().map(|config| failure(&config).seed.to_string()).collect();
            let ended = child::run(TEST, &seeds.join(" "), &[], Duration::from_secs(60)).unwrap();
            assert!(ended.status.success(), "{ended:?}");
        }
    }
}
