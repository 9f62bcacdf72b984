//! The programs whose reports `docs/reading-a-report.md` explains.

use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering, Ordering::*};
use rsmc::sync::{Mutex, MutexGuard};
use rsmc::thread;

/// Counts, if the other thread is not just doing so.
fn try_count(mine: &AtomicBool, other: &AtomicBool, count: &AtomicU32, order: Ordering) -> u32 {
    mine.store(true, order);
    if other.load(if order == SeqCst { SeqCst } else { Acquire }) {
        return 0;
    }
    count.store(count.load(Relaxed) + 1, Relaxed);
    1
}

fn two_flags_with(order: Ordering) {
    let (a, b, count) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU32::new(0));
    let counted = thread::scope(|scope| {
        let other = scope.spawn(|| try_count(&b, &a, &count, order));
        try_count(&a, &b, &count, order) + other.join().unwrap()
    });
    assert_eq!(count.load(Relaxed), counted, "a count is lost");
}

/// Two flags as a lock. `Release` and `Acquire` are too little for that: both threads may find the other flag down.
pub fn two_flags() {
    two_flags_with(Release);
}

/// The same as it should be.
pub fn two_flags_seq_cst() {
    two_flags_with(SeqCst);
}

struct Shared {
    value: UnsafeCell<u32>,
    ready: AtomicBool,
}

// SAFETY: who reads the value has seen the flag.
unsafe impl Sync for Shared {}

/// A data race: the flag is raised without `Release`.
pub fn race() {
    let shared = &Shared { value: UnsafeCell::new(0), ready: AtomicBool::new(false) };
    thread::scope(|scope| {
        scope.spawn(move || {
            // SAFETY: nobody reads before the flag is up.
            shared.value.with_mut(|value| unsafe { *value = 7 });
            shared.ready.store(true, Relaxed);
        });
        if shared.ready.load(Acquire) {
            // SAFETY: the flag is up, so nobody writes any more.
            shared.value.with(|value| assert_eq!(unsafe { *value }, 7));
        }
    });
}

/// A deadlock: two locks, taken in two orders.
pub fn two_locks() {
    let (a, b) = (Mutex::new(1), Mutex::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let a = a.lock().unwrap();
            *b.lock().unwrap() += *a;
        });
        scope.spawn(|| {
            let b = b.lock().unwrap();
            *a.lock().unwrap() += *b;
        });
    });
}

/// So many threads that a column for each would be too wide; one more of their updates gets lost.
pub fn many() {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| x.store(x.load(SeqCst) + 1, SeqCst));
        }
    });
    assert_ne!(x.load(SeqCst), 3, "an update is lost");
}

/// A long execution, of which the report leaves out the middle. It is shown as it is where the seed is kept in a file.
pub fn long() {
    let (x, stop) = (AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| stop.store(true, Relaxed));
        for _ in 0..70 {
            x.fetch_add(1, Relaxed);
        }
        assert!(!stop.load(Relaxed), "stopped too early");
    });
}

/// A use after free: what one thread takes away and frees, the other one has just found.
pub fn freed() {
    let shared = AtomicPtr::new(Box::into_raw(Box::new(AtomicU32::new(1))));
    thread::scope(|scope| {
        // SAFETY: nobody else frees it.
        scope.spawn(|| drop(unsafe { Box::from_raw(shared.swap(std::ptr::null_mut(), AcqRel)) }));
        let found = shared.load(Acquire);
        if !found.is_null() {
            // SAFETY: none; this is the mistake.
            unsafe { (*found).load(Relaxed) };
        }
    });
}

struct Account {
    balance: Mutex<u32>,
}

impl Account {
    fn open(&self) -> MutexGuard<'_, u32> {
        self.balance.lock().unwrap()
    }
}

fn transfer(from: &Account, to: &Account, amount: u32) {
    let mut taken = from.open();
    let mut given = to.open();
    *taken -= amount;
    *given += amount;
}

/// A deadlock of two locks that are taken in one line.
pub fn transfers() {
    let [a, b] = [5, 5].map(|balance| Account { balance: Mutex::new(balance) });
    thread::scope(|scope| {
        scope.spawn(|| transfer(&a, &b, 1));
        transfer(&b, &a, 2);
    });
}

/// Two mistakes: the locks are taken in two orders, and a balance is read before the other thread has paid.
pub fn two_mistakes() {
    let [a, b] = [5, 5].map(|balance| Account { balance: Mutex::new(balance) });
    thread::scope(|scope| {
        scope.spawn(|| transfer(&a, &b, 1));
        transfer(&b, &a, 2);
        assert_eq!(*a.open(), 6, "read too early");
    });
}
