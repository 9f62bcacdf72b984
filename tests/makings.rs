//! Objects that a thread makes and others find: whoever uses one has to know that it was made.
//!
//! The oracle: to make a cell is a race exactly if a write of it right behind its making would be one. Random programs
//! publish nodes through pointers, with all orderings and with fences, and are checked with such a write and without.

use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr as StdAtomicPtr;

use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use rsmc::sync::atomic::{AtomicPtr, AtomicU32, fence};
use rsmc::sync::{Arc, Mutex};
use rsmc::{Config, FailureKind, Report, Verdict, render, thread};

use crate::support::dice::Dice;
use crate::support::pairs;

/// A node that threads pass on.
struct Node {
    cell: UnsafeCell<u32>,
    count: AtomicU32,
    lock: Mutex<u32>,
}

impl Node {
    fn new() -> Box<Self> {
        Box::new(Self { cell: UnsafeCell::new(7), count: AtomicU32::new(7), lock: Mutex::new(7) })
    }

    /// A write that a check sees.
    fn write(&self) {
        // SAFETY: a race is reported, and all modelled threads are on one OS thread.
        self.cell.with_mut(|cell| unsafe { *cell = 7 });
    }
}

/// Uses a part of a node.
type Use = fn(&Node) -> u32;

const USES: [Use; 4] = [
    // SAFETY: as above.
    |node| node.cell.with(|cell| unsafe { *cell }),
    |node| node.count.load(Relaxed),
    |node| node.count.fetch_add(0, AcqRel),
    |node| *node.lock.lock().unwrap(),
];

/// A thread publishes a node, and another one uses it.
fn publishes(store: Ordering, load: Ordering, uses: Use) {
    let place = AtomicPtr::<Node>::new(null_mut());
    thread::scope(|scope| {
        scope.spawn(|| place.store(Box::into_raw(Node::new()), store));
        // SAFETY: nodes live to the end.
        if let Some(node) = unsafe { place.load(load).as_ref() } {
            assert_eq!(uses(node), 7);
        }
    });
    // SAFETY: nobody else uses it any more.
    drop(unsafe { Box::from_raw(place.load(Relaxed)) });
}

fn is_race(report: &Report) -> bool {
    match &report.verdict {
        Verdict::Verified => false,
        Verdict::Failed(failure) if failure.kind == FailureKind::DataRace => true,
        _ => panic!("{}", render(report, None)),
    }
}

#[test]
fn what_is_found_without_an_order_is_a_race() {
    for uses in USES {
        for config in pairs() {
            let races = |store, load| is_race(&rsmc::explore(&config, || publishes(store, load, uses)));
            assert!(!races(Release, Acquire) && races(Relaxed, Acquire) && races(Release, Relaxed), "{config:?}");
        }
    }
    let report = rsmc::explore(&Config::default(), || publishes(Relaxed, Acquire, USES[1]));
    let text = render(&report, None);
    assert!(text.starts_with("data race: t1 makes and main loads count, and nothing orders the two"), "{text}");
    assert!(text.contains("#4 does see the write of #2, but #2 is no `Release`"), "{text}");
}

/// Threads that are started later, or joined, know of it.
#[test]
fn threads_pass_on_what_they_make() {
    let report = rsmc::explore(&Config::default(), || {
        let early = thread::spawn(Node::new);
        let shared = Arc::new((AtomicU32::new(0), StdAtomicPtr::new(null_mut::<Node>())));
        let theirs = Arc::clone(&shared);
        let made = thread::spawn(move || {
            theirs.1.store(Box::into_raw(Node::new()), SeqCst);
            theirs.0.store(1, Release);
        });
        let node = early.join().unwrap();
        let other = thread::spawn(move || USES.map(|uses| uses(&node)));
        if shared.0.load(Acquire) == 1 {
            // SAFETY: the node lives to the end.
            assert_eq!(USES.map(|uses| uses(unsafe { &*shared.1.load(SeqCst) })), [7; 4]);
        }
        assert_eq!(other.join().unwrap(), [7; 4]);
        made.join().unwrap();
        // SAFETY: nobody else uses it any more.
        drop(unsafe { Box::from_raw(shared.1.load(SeqCst)) });
    });
    assert!(!is_race(&report), "{}", render(&report, None));
}

/// A step of a thread.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Makes a node and puts it into a place.
    Publish(usize, Ordering),
    /// Takes a node from a place, uses its cell, and puts it into another place.
    PassOn(usize, Ordering, usize, Ordering),
    Fence(Ordering),
    /// Starts a thread with the rest.
    Spawn,
}

const PLACES: usize = 2;

#[derive(Debug)]
struct Program(Vec<Vec<Act>>);

impl Program {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut act = || {
            let load = [Relaxed, Acquire, Acquire][dice.below(3)];
            let store = [Relaxed, Release, Release][dice.below(3)];
            let (from, to) = (dice.below(PLACES), dice.below(PLACES));
            match dice.below(10) {
                0..4 => Act::Publish(to, store),
                4..8 => Act::PassOn(from, load, to, store),
                8 => Act::Fence([Acquire, Release, AcqRel][dice.below(3)]),
                _ => Act::Spawn,
            }
        };
        Self((0..2).map(|_| (0..3).map(|_| act()).collect()).collect())
    }

    fn run(&self, writes: bool) {
        let shared = Shared::default();
        thread::scope(|scope| {
            for acts in &self.0 {
                scope.spawn(|| shared.run(acts, writes));
            }
        });
    }
}

/// The places, and all nodes.
#[derive(Default)]
struct Shared {
    places: [AtomicPtr<Node>; PLACES],
    nodes: std::sync::Mutex<Vec<StdAtomicPtr<Node>>>,
}

impl Shared {
    fn make(&self, writes: bool) -> *mut Node {
        let node = Node::new();
        if writes {
            node.write();
        }
        let node = Box::into_raw(node);
        self.nodes.lock().unwrap().push(StdAtomicPtr::new(node));
        node
    }

    fn run(&self, acts: &[Act], writes: bool) {
        for (at, &act) in acts.iter().enumerate() {
            match act {
                Act::Publish(place, store) => self.places[place].store(self.make(writes), store),
                Act::PassOn(from, load, to, store) => {
                    let node = self.places[from].load(load);
                    // SAFETY: nodes live to the end.
                    if let Some(found) = unsafe { node.as_ref() } {
                        USES[0](found);
                        self.places[to].store(node, store);
                    }
                }
                Act::Fence(order) => fence(order),
                Act::Spawn => {
                    return thread::scope(|scope| drop(scope.spawn(|| self.run(&acts[at + 1..], writes))));
                }
            }
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for node in self.nodes.get_mut().unwrap() {
            // SAFETY: nobody else uses it any more.
            drop(unsafe { Box::from_raw(*node.get_mut()) });
        }
    }
}

#[test]
fn making_a_cell_is_a_write_of_it() {
    let number = |name, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (programs, first): (u64, u64) = (number("RSMC_ORACLE_PROGRAMS", 150), number("RSMC_ORACLE_SEED", 0));
    let mut races = 0;
    for seed in first..first + programs {
        let program = Program::new(seed);
        let is_race =
            |writes| is_race(&rsmc::explore(&Config::default().shrink(0).allow_trivial(true), || program.run(writes)));
        let (with, without) = (is_race(true), is_race(false));
        assert_eq!(with, without, "seed {seed}: {program:?}");
        races += u64::from(with);
    }
    assert!(races * 5 > programs && races * 5 < 4 * programs, "{races} of {programs} programs have races");
}
