//! Runs allocate nothing per event: bodies with more operations cost no more allocations per run. And an exploration
//! keeps nothing of the executions that it has run.
//!
//! The tests of this binary take turns, since they count the allocations of the whole process. They are here, since a
//! program has one global allocator, and `rsmc` brings its own.
#![allow(clippy::incompatible_msrv, reason = "tests are built by the compiler of the workspace")]
#![cfg(feature = "model")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, AtomicU64, Ordering::Relaxed};

use rsmc_core::base::Spill;
use rsmc_core::session::{Config, ExplorerKind as Explorer, check_body};
use rsmc_shim::sync::atomic::{AtomicU32, Ordering::SeqCst};
use rsmc_shim::{hint, thread};

struct Counting;

static TURN: Mutex<()> = Mutex::new(());
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
/// Bytes that are allocated and not freed.
static LIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: hands everything to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        LIVE.fetch_add(layout.size() as isize, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        LIVE.fetch_add(size as isize - layout.size() as isize, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations per run in steady state, of two threads that do `operations` each.
fn per_run(operations: usize) -> f64 {
    let body = || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..operations).for_each(|_| assert!(x.fetch_add(1, SeqCst) < 1_000)));
            }
        });
    };
    let allocations = |runs| {
        let before = ALLOCATIONS.load(Relaxed);
        let config = Config::default().explorer(Explorer::Random).max_executions(runs);
        check_body(&config, &body, |body| body.check().run()).unwrap();
        ALLOCATIONS.load(Relaxed) - before
    };
    // The difference leaves out what the check as a whole allocates.
    (allocations(3_000) - allocations(1_000)) as f64 / 2_000.0
}

#[test]
fn a_run_allocates_nothing_per_event() {
    let _turn = TURN.lock();
    let (few, many) = (per_run(2), per_run(20));
    assert!(many - few < 0.5, "{few} allocations a run with 4 events, {many} with 40");
    assert!(few < 40.0, "{few} allocations a run for two scoped threads");
}

/// The most bytes that were live after an execution of this body, of the first ones and of ten times as many.
fn most_live(body: &(dyn Fn() + Sync), first: u64) -> [isize; 2] {
    most_live_of(&Config::default(), body, first)
}

/// As [`most_live`], with a configuration.
fn most_live_of(config: &Config, body: &(dyn Fn() + Sync), first: u64) -> [isize; 2] {
    let (mut executions, mut most, before) = (0, [0; 2], LIVE.load(Relaxed));
    let mut observe = |_: &_, counts| {
        executions += u64::from(counts);
        let live = LIVE.load(Relaxed) - before;
        most[1] = most[1].max(live);
        if executions <= first {
            most[0] = most[1];
        }
    };
    let config = config.clone().max_executions(10 * first);
    let report = check_body(&config, body, |body| body.check().observe(&mut observe).run()).unwrap();
    // What came before the exploration started over counts in `executions` only.
    assert_eq!(report.executions, 10 * first, "there are enough classes");
    most
}

/// One thread writes and one reads.
fn writer_and_reader() {
    const OPERATIONS: u32 = 10;
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| (0..OPERATIONS).for_each(|i| x.store(i, SeqCst)));
        scope.spawn(|| (0..OPERATIONS).for_each(|_| assert!(x.load(SeqCst) < OPERATIONS)));
    });
}

/// Two threads add what each other has written, and the body, whose turn is first, looks at it.
fn adders_and_reader() {
    let x = [AtomicU32::new(1), AtomicU32::new(1)];
    let add = |own: usize| (0..5).for_each(|_| x[own].store(x[own].load(SeqCst) + x[1 - own].load(SeqCst), SeqCst));
    thread::scope(|scope| {
        scope.spawn(|| add(0));
        scope.spawn(|| add(1));
        assert!(x[0].load(SeqCst) + x[1].load(SeqCst) > 1);
    });
}

#[test]
fn an_exploration_keeps_nothing_of_its_executions() {
    let _turn = TURN.lock();
    let first = if cfg!(debug_assertions) { 2_000 } else { 10_000 };
    let [few, many] = most_live(&writer_and_reader, first);
    assert!(many * 5 <= few * 6, "at most {few} bytes after {first} executions, {many} after ten times as many");
}

#[test]
fn reads_that_come_first_in_a_run_do_not_make_schedules_wait() {
    let _turn = TURN.lock();
    let first = if cfg!(debug_assertions) { 2_000 } else { 10_000 };
    let [few, many] = most_live(&adders_and_reader, first);
    assert!(many < 128 << 10, "at most {few} bytes after {first} executions, {many} after ten times as many");
}

/// Eight threads add to what they have read, so every read may see any of the later writes, after any of their pasts.
fn adders() {
    let x = AtomicU32::new(0);
    let add = || x.store(x.load(SeqCst) + 1, SeqCst);
    thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(add))));
}

/// Every order of nine updates: the first one has an answer for each set of those before it.
fn updates() {
    let x = AtomicU32::new(0);
    thread::scope(|scope| (0..9).for_each(|_| drop(scope.spawn(|| x.fetch_add(1, SeqCst)))));
}

#[test]
fn the_sets_of_decisions_are_bounded() {
    let _turn = TURN.lock();
    let first = if cfg!(debug_assertions) { 2_000 } else { 20_000 };
    for body in [adders, updates] {
        let [few, many] = most_live(&body, first);
        assert!(many < 192 << 10, "at most {few} bytes after {first} executions, {many} after ten times as many");
    }
}

/// Three threads with a ticket lock, and a word that they look at.
fn tickets() {
    let [next, serving, word] = [const { AtomicU32::new(0) }; 3];
    let work = || {
        for _ in 0..2 {
            let ticket = next.fetch_add(1, SeqCst);
            while serving.load(SeqCst) != ticket {
                hint::spin_loop();
            }
            serving.store(ticket + 1, SeqCst);
            word.fetch_add(1, SeqCst);
        }
    };
    thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(work))));
}

/// The cuts that `view` has visited are known to the end.
#[test]
fn what_has_to_be_known_to_the_end_goes_to_files() {
    let _turn = TURN.lock();
    let mut config = Config::default().explorer(Explorer::View);
    let [_, without] = most_live_of(&config, &tickets, 1_000);
    config.spill = Some(Spill { full: 500, ..Spill::to(&std::env::temp_dir(), u64::MAX) });
    let [_, with] = most_live_of(&config, &tickets, 1_000);
    assert!(with * 2 < without, "{without} bytes without files, {with} with files");
}
