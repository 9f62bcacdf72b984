//! Loops that change something and take it back in every round: they end, with what they hide, and the report names
//! them.

use std::time::{Duration, Instant};

use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::{AtomicU32, Ordering};
use rsmc::{Config, Report, Verdict, hint, render, thread};
use rsmc_core::session::check_body;

use crate::support::everywhere::{Livelock, Panic, Verified, everywhere, first_line, in_each};
use crate::support::pairs;
use Ordering::{Acquire, Relaxed, Release, SeqCst};

const WRITER: u32 = 1;
const READER: u32 = 2;

/// A lock for one writer or many readers. A reader adds itself before it knows whether there is a writer.
#[derive(Default)]
struct Lock {
    state: AtomicU32,
    data: UnsafeCell<u32>,
}

// SAFETY: the lock guards the data.
unsafe impl Sync for Lock {}

impl Lock {
    fn read(&self) -> u32 {
        loop {
            let state = self.state.fetch_add(READER, Acquire);
            assert!(state < u32::MAX - READER, "too many readers");
            if state & WRITER == 0 {
                break;
            }
            self.state.fetch_sub(READER, Release);
            hint::spin_loop();
        }
        // SAFETY: no writer has the lock.
        let data = self.data.with(|data| unsafe { *data });
        self.state.fetch_sub(READER, Release);
        data
    }

    fn write(&self, unlock: impl Fn(&AtomicU32)) {
        while self.state.compare_exchange(0, WRITER, Acquire, Relaxed).is_err() {
            hint::spin_loop();
        }
        // SAFETY: nobody else has the lock.
        self.data.with_mut(|data| unsafe { *data += 1 });
        unlock(&self.state);
    }
}

fn reads_and_writes(unlock: impl Fn(&AtomicU32) + Sync) {
    let lock = Lock::default();
    thread::scope(|scope| {
        scope.spawn(|| lock.write(&unlock));
        assert!(lock.read() <= 1);
    });
    assert_eq!(lock.read(), 1);
}

/// Clears the bit of the writer.
fn leave(state: &AtomicU32) {
    state.fetch_and(!WRITER, Release);
}

/// Clears the whole word.
fn clear(state: &AtomicU32) {
    state.swap(0, Release);
}

fn report_of(config: Config, body: impl Fn() + Sync) -> Report {
    check_body(&config.shrink(0), &body, |body| body.check().run()).unwrap()
}

/// Brute force tries too many orders.
fn quick() -> impl Iterator<Item = Config> {
    pairs().filter(|config| config.explorer != rsmc::Explorer::Exhaustive)
}

/// A writer that clears its own bit leaves the readers alone that look at the moment.
#[test]
fn readers_that_take_themselves_back() {
    in_each(quick(), Verified, || reads_and_writes(leave));
    let report = report_of(Config::default(), || reads_and_writes(leave));
    let text = render(&report, None);
    assert!(matches!(report.verdict, Verdict::Verified), "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("note: the loop at tests/rounds.rs:"), "{text}");
    assert!(text.contains("takes it back: after 4 equal rounds it waits for a change"), "{text}");
}

/// One that clears the whole word forgets a reader, which then subtracts itself from nothing.
#[test]
fn a_writer_that_forgets_a_reader() {
    in_each(quick(), Panic("too many readers"), || reads_and_writes(clear));
}

/// Where a round is not bounded, since a cell is read in it, a failure is still shown soon: the schedules that are
/// tried in place of the one that was found are not much longer.
#[test]
fn a_failure_beside_a_loop_without_an_end_is_shown_soon() {
    let started = Instant::now();
    let config = Config::default().max_duration(Duration::from_secs(60));
    let body = || {
        let (state, seen, words) = (AtomicU32::new(0), AtomicU32::new(0), UnsafeCell::new(7));
        let words = Shared(words);
        thread::scope(|scope| {
            scope.spawn(|| {
                state.fetch_add(WRITER, SeqCst);
                seen.store(1, SeqCst);
                state.swap(0, SeqCst);
            });
            while state.fetch_add(READER, SeqCst) & WRITER != 0 {
                // SAFETY: nobody writes.
                words.0.with(|word| assert_eq!(unsafe { *word }, 7));
                assert!(state.fetch_sub(READER, SeqCst) >= READER, "subtracts from nothing");
            }
        });
    };
    let report = check_body(&config, &body, |body| body.check().run()).unwrap();
    let Verdict::Failed(failure) = &report.verdict else { panic!("{}", first_line(&report)) };
    assert!(failure.message.contains("subtracts from nothing"), "{}", failure.message);
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
}

/// A cell that threads share.
struct Shared(UnsafeCell<u32>);

// SAFETY: it is only read.
unsafe impl Sync for Shared {}

/// A thread that polls under a lock of the user's own: it waits as under a `Mutex`.
#[test]
fn polling_under_a_lock_of_ones_own() {
    let polls = |sets: bool| {
        let (lock, ready) = (AtomicU32::new(0), AtomicU32::new(0));
        let locked = |work: &dyn Fn() -> u32| {
            while lock.swap(1, SeqCst) == 1 {
                hint::spin_loop();
            }
            let result = work();
            lock.store(0, SeqCst);
            result
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                if sets {
                    locked(&|| {
                        ready.store(1, SeqCst);
                        0
                    });
                }
            });
            while locked(&|| ready.load(SeqCst)) == 0 {
                hint::spin_loop();
            }
        });
    };
    in_each(quick(), Verified, || polls(true));
    everywhere(Livelock, || polls(false));
}

/// A loop that has an end is ordinary code, however alike its rounds are.
#[test]
fn a_loop_that_ends_is_not_bounded() {
    let mut executions = Vec::new();
    for spin_bound in [8, 32] {
        let config = Config::default().spin_bound(spin_bound);
        let report = report_of(config, || {
            let x = AtomicU32::new(0);
            thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..6 {
                        x.fetch_add(1, SeqCst);
                        x.fetch_sub(1, SeqCst);
                    }
                });
                x.load(SeqCst);
            });
        });
        assert!(matches!(report.verdict, Verdict::Verified) && report.notes.is_empty(), "{}", first_line(&report));
        executions.push(report.executions);
    }
    assert_eq!(executions, [13, 13]);
}
