//! Names that a test gives to objects, in reports.

use rsmc::cell::{Cell, UnsafeCell};
use rsmc::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::Relaxed};
use rsmc::sync::{Condvar, Mutex, RwLock};
use rsmc::{Config, Verdict, label, thread};

#[track_caller]
fn report(body: impl Fn() + Sync) -> String {
    let report = rsmc::explore(&Config::default(), body);
    assert!(matches!(report.verdict, Verdict::Failed(_)), "{report:?}");
    rsmc::render(&report, None)
}

struct Ring {
    head: AtomicU32,
    slots: [AtomicU32; 2],
}

impl Ring {
    fn new() -> Self {
        let ring = Self { head: AtomicU32::new(0), slots: Default::default() };
        label(&ring.head, "head");
        ring.slots.iter().enumerate().for_each(|(i, slot)| label(slot, &format!("slots[{i}]")));
        ring
    }
}

/// The name goes where the object goes.
#[test]
fn fields_and_elements_have_names() {
    let text = report(|| {
        let ring = Box::new(Ring::new());
        ring.slots[1].store(7, Relaxed);
        ring.head.fetch_add(1, Relaxed);
        panic!("{}", ring.slots[0].load(Relaxed));
    });
    for row in ["store slots[1] = 7", "add head 0→1", "load slots[0] → 0", "head       AtomicU32"] {
        assert!(text.contains(row), "{row}:\n{text}");
    }
}

#[test]
fn everything_that_is_shared_can_have_a_name() {
    let text = report(|| {
        let (flag, link) = (AtomicBool::new(false), AtomicPtr::<u8>::default());
        let (lock, table, ready) = (Mutex::new(()), RwLock::new(()), Condvar::new());
        let (cell, plain) = (UnsafeCell::new(0), Cell::new(0));
        label(&flag, "the flag");
        label(&link, "the link");
        label(&lock, "the lock");
        label(&table, "the table");
        label(&ready, "ready");
        label(&cell, "the data");
        label(&plain, "the count");
        flag.store(true, Relaxed);
        assert!(link.load(Relaxed).is_null());
        drop(lock.lock());
        drop(table.read());
        cell.with(|_| ());
        plain.set(1);
        ready.notify_all();
        panic!("all of them");
    });
    for name in ["the flag", "the link", "the lock", "the table", "the data", "the count"] {
        assert!(text.lines().filter(|line| line.contains(name)).count() >= 2, "{name}:\n{text}");
    }
}

/// Two with one name are told apart, the last name counts, and what a terminal could stumble over is spelt.
#[test]
fn names_are_made_fit_to_be_shown() {
    let text = report(|| {
        let all: [AtomicU32; 5] = Default::default();
        all.iter().take(3).for_each(|slot| label(slot, "slot"));
        label(&all[2], "last");
        label(&all[3], "\u{1b}[31mred");
        label(&all[4], &"long".repeat(20));
        all.iter().for_each(|slot| slot.store(1, Relaxed));
        panic!("to see it");
    });
    for row in ["store slot = 1", "store slot_2 = 1", "store last = 1", r"store \u{1b}[31mred = 1", "store longlonglon"]
    {
        assert!(text.contains(row), "{row}:\n{text}");
    }
    let is_path = |line: &str| line.contains("array/mod.rs");
    assert!(text.lines().all(|line| line.chars().count() <= 80 || is_path(line)), "{text}");
}

/// A name changes nothing but reports.
#[test]
fn names_change_no_class() {
    let body = |named: bool| {
        let x = AtomicU32::new(0);
        if named {
            label(&x, "x");
        }
        thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(|| x.store(x.load(Relaxed) + 1, Relaxed)))));
    };
    let count = |named| rsmc::explore(&Config::default(), || body(named)).executions;
    assert_eq!(count(true), count(false));
    label(&AtomicU32::new(0), "outside a check"); // Nothing happens.
}
