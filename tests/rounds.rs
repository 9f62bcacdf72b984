//! Loops that change something and take it back in every round: they end, with what they hide, and the report names
//! them.

use std::time::{Duration, Instant};

use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::{AtomicU32, Ordering};
use rsmc::sync::mpsc::sync_channel;
use rsmc::sync::{Arc, Mutex, RwLock};
use rsmc::{Config, Explorer, FailureKind, Limit, Report, Verdict, hint, render, thread};
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

fn on_one_line(report: &Report) -> String {
    render(report, None).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Brute force tries too many orders.
fn quick() -> impl Iterator<Item = Config> {
    pairs().filter(|config| config.explorer != Explorer::Exhaustive)
}

/// A writer that clears its own bit leaves the readers alone that look at the moment.
#[test]
fn readers_that_take_themselves_back() {
    in_each(quick(), Verified, || reads_and_writes(leave));
    let report = report_of(Config::default(), || reads_and_writes(leave));
    let text = on_one_line(&report);
    assert!(matches!(report.verdict, Verdict::Verified), "{text}");
    assert!(text.contains("note: the loop at tests/rounds.rs:"), "{text}");
    assert!(text.contains("changes nothing that lasts: after 4 equal rounds it waits for a change"), "{text}");
}

/// One that clears the whole word forgets a reader, which then subtracts itself from nothing.
#[test]
fn a_writer_that_forgets_a_reader() {
    in_each(quick(), Panic("too many readers"), || reads_and_writes(clear));
}

/// Where rounds are not bounded, since they are counted, a failure is still shown soon: the schedules that are tried in
/// place of the one that was found are not much longer.
#[test]
fn a_failure_beside_a_loop_without_an_end_is_shown_soon() {
    let started = Instant::now();
    let config = Config::default().max_duration(Duration::from_secs(60));
    let body = || {
        let (state, seen) = (AtomicU32::new(0), AtomicU32::new(0));
        let mut rounds = 0_u64;
        thread::scope(|scope| {
            scope.spawn(|| {
                state.fetch_add(WRITER, SeqCst);
                seen.store(1, SeqCst);
                state.swap(0, SeqCst);
            });
            while state.fetch_add(READER, SeqCst) & WRITER != 0 {
                rounds += 1;
                assert!(state.fetch_sub(READER, SeqCst) >= READER, "subtracts from nothing");
            }
            std::hint::black_box(rounds);
        });
    };
    let report = check_body(&config, &body, |body| body.check().run()).unwrap();
    let Verdict::Failed(failure) = &report.verdict else { panic!("{}", first_line(&report)) };
    assert!(failure.message.contains("subtracts from nothing"), "{}", failure.message);
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
}

/// Works under a spin lock of the user's own.
fn under<R>(lock: &AtomicU32, work: impl FnOnce() -> R) -> R {
    while lock.swap(1, SeqCst) == 1 {
        hint::spin_loop();
    }
    let result = work();
    lock.store(0, SeqCst);
    result
}

/// A thread that polls under a lock of the user's own: it waits as under a `Mutex`.
#[test]
fn polling_under_a_lock_of_ones_own() {
    let polls = |sets: bool| {
        let (lock, ready) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                if sets {
                    under(&lock, || ready.store(1, SeqCst));
                }
            });
            while under(&lock, || ready.load(SeqCst)) == 0 {
                hint::spin_loop();
            }
        });
    };
    in_each(quick(), Verified, || polls(true));
    everywhere(Livelock, || polls(false));
}

/// Polls under a lock of one's own, does something in each round, and counts the rounds. Another thread takes the lock
/// once, and may set what the first looks for.
fn polls_and(sets: bool, most: u64, work: impl Fn() + Sync) -> bool {
    let (lock, ready) = (AtomicU32::new(0), AtomicU32::new(0));
    let set = || {
        if sets {
            ready.store(1, SeqCst);
        }
    };
    let look = || {
        work();
        ready.load(SeqCst)
    };
    thread::scope(|scope| {
        scope.spawn(|| under(&lock, set));
        (0..most).any(|_| under(&lock, look) == 1)
    })
}

/// A thread that counts its rounds is never where it was, nor is one that allocates in each or clones an `Arc`: it
/// waits after as many equal rounds as the bound of loops that count says, or gives up.
#[test]
fn rounds_that_are_never_alike() {
    let each = || quick().map(|config| config.spin_bound(4));
    let bounded = |body: &(dyn Fn() + Sync)| {
        in_each(each(), Verified, body);
        let text = on_one_line(&report_of(Config::default().spin_bound(4), body));
        assert!(text.contains("after 4 equal iterations it either waits for a change or gives up"), "{text}");
    };
    bounded(&|| assert!(polls_and(true, u64::MAX, || ())));
    bounded(&|| assert!(polls_and(true, u64::MAX, || drop(std::hint::black_box(Box::new(1))))));
    bounded(&|| {
        let (lock, shared) = (RwLock::new(0), Arc::new(0));
        assert!(polls_and(true, u64::MAX, || drop((lock.read().unwrap(), shared.clone()))));
    });
    in_each(each(), Livelock, || assert!(polls_and(false, u64::MAX, || ())));
    in_each(each(), Panic("gave up"), || assert!(polls_and(true, 40, || ()), "gave up"));
    in_each(each(), Verified, || assert!(!polls_and(false, 40, || ())));
}

/// Others can see that a lock for readers is held, so a round under it stays in the execution. A thread never waits
/// while it has the lock.
#[test]
fn polling_under_a_lock_for_readers() {
    let polls = |sets: bool, most: u64| {
        let ready = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *ready.write().unwrap() = u32::from(sets));
            (0..most).any(|_| *ready.read().unwrap() == 1)
        })
    };
    let waits = |sets: bool| {
        let ready = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *ready.write().unwrap() = u32::from(sets));
            while ready.try_read().is_ok_and(|ready| *ready == 0) {
                hint::spin_loop();
            }
            while *ready.read().unwrap() == 0 {}
        });
    };
    let each = || quick().map(|config| config.spin_bound(4));
    in_each(each(), Verified, || waits(true));
    in_each(each(), Livelock, || waits(false));
    in_each(each(), Verified, || assert!(polls(true, u64::MAX)));
    in_each(each(), Livelock, || assert!(polls(false, u64::MAX)));
    in_each(each(), Panic("gave up"), || assert!(polls(true, 40), "gave up"));
    in_each(each(), Verified, || assert!(!polls(false, 40)));
}

/// What a thread did with a lock or a channel in a round, another one may have found.
#[test]
fn rounds_in_which_objects_are_altered_are_seen() {
    let under_a_lock = |shows: bool| {
        let (lock, done) = (RwLock::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                let is_held = lock.try_write().is_err();
                assert!(!is_held || !shows, "held");
                done.store(1, SeqCst);
            });
            while {
                drop(lock.read());
                done.load(SeqCst) == 0
            } {}
        });
    };
    let by_a_channel = |shows: bool| {
        let (sender, receiver) = sync_channel(1);
        let done = AtomicU32::new(0);
        thread::scope(|scope| {
            let other = sender.clone();
            let done = &done;
            scope.spawn(move || {
                let is_full = other.try_send(2).is_err();
                assert!(!is_full || !shows, "full");
                done.store(1, SeqCst);
            });
            while {
                // Fails if the other thread's message is there.
                let _ = sender.try_send(1);
                let _ = receiver.try_recv();
                done.load(SeqCst) == 0
            } {}
        });
    };
    in_each(quick(), Verified, || under_a_lock(false));
    in_each(quick(), Panic("held"), || under_a_lock(true));
    in_each(quick(), Verified, || by_a_channel(false));
    in_each(quick(), Panic("full"), || by_a_channel(true));
}

/// Where nothing bounds a loop, an execution without an end is a failure. In a run for which an explorer keeps another
/// thread back it is none, as a fair scheduler ends it, but nothing is proven then.
#[test]
fn a_loop_that_nothing_bounds_is_no_proof() {
    for config in quick() {
        let config = config.max_steps(2_000).max_duration(Duration::from_secs(1));
        // An atomic that a round makes is never the same.
        let report = report_of(config, || assert!(polls_and(true, u64::MAX, || AtomicU32::new(0).store(1, SeqCst))));
        let is_right = match &report.verdict {
            Verdict::Failed(failure) => failure.kind == FailureKind::StepLimit,
            Verdict::Incomplete(Limit::Steps(2_000)) => render(&report, None).contains("came to max_steps = 2000"),
            verdict => report.explorer != Explorer::ReadsFrom && matches!(verdict, Verdict::Incomplete(_)),
        };
        assert!(is_right, "{}", render(&report, None));
    }
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

/// What a round reads in plain memory is watched by the locks that guard it: who had one last counts, since it always
/// holds the same.
#[test]
fn rounds_that_look_at_plain_memory() {
    let under_a_mutex = |sets: bool| {
        let (looking, ready) = (AtomicU32::new(0), Mutex::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                if sets {
                    *ready.lock().unwrap() = true;
                }
            });
            loop {
                looking.fetch_add(1, SeqCst);
                if *ready.lock().unwrap() {
                    break;
                }
                looking.fetch_sub(1, SeqCst);
                hint::spin_loop();
            }
        });
    };
    in_each(quick(), Verified, || under_a_mutex(true));
    everywhere(Livelock, || under_a_mutex(false));
    in_each(quick(), Verified, || looks_under_its_own(true, Plain::default()));
    everywhere(Livelock, || looks_under_its_own(false, Plain::default()));
}

/// As in plain memory, and in a cell that is tracked: the accesses stay in the execution.
#[test]
fn rounds_that_look_at_a_cell() {
    in_each(quick(), Verified, || looks_under_its_own(true, Tracked::default()));
    everywhere(Livelock, || looks_under_its_own(false, Tracked::default()));
    let text = on_one_line(&report_of(Config::default(), || looks_under_its_own(true, Tracked::default())));
    assert!(text.contains("changes nothing that lasts: after 4 equal rounds it waits for a change"), "{text}");
}

/// One thread may set what the other looks for, under a lock that they made.
fn looks_under_its_own(sets: bool, ready: impl Flag) {
    let lock = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| sets.then(|| under(&lock, || (ready.get(), ready.set()))));
        while !under(&lock, || ready.get()) {
            hint::spin_loop();
        }
    });
}

/// A thread that goes rounds may have done something before: its rounds hand that over, though they leave no other
/// value behind.
#[test]
fn rounds_of_two_threads_that_wait_for_each_other() {
    let hand_over = |takes: bool| {
        let (lock, full) = (AtomicU32::new(0), Tracked::default());
        let replace = |now: bool| under(&lock, || (full.get(), full.put(now)).0);
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..2 {
                    while replace(true) {
                        hint::spin_loop();
                    }
                }
            });
            while takes && !replace(false) {
                hint::spin_loop();
            }
        });
    };
    let each = || quick().map(|config| config.spin_bound(8));
    in_each(each(), Verified, || hand_over(true));
    in_each(each(), Livelock, || hand_over(false));
    in_each(each(), Verified, || {
        let (lock, state) = (AtomicU32::new(0), AtomicU32::new(0));
        let get = || under(&lock, || state.load(Relaxed));
        let set = |value| under(&lock, || state.store(value, Relaxed));
        thread::scope(|scope| {
            scope.spawn(|| {
                set(1);
                while get() == 1 {}
            });
            while get() == 0 {}
            set(0);
        });
    });
}

/// Something that a lock guards.
trait Flag: Sync {
    fn get(&self) -> bool;
    fn set(&self);
}

/// A cell that is tracked.
#[derive(Default)]
struct Tracked(UnsafeCell<bool>);

// SAFETY: the lock guards it.
unsafe impl Sync for Tracked {}

impl Flag for Tracked {
    fn get(&self) -> bool {
        // SAFETY: its caller has the lock.
        self.0.with(|flag| unsafe { *flag })
    }

    fn set(&self) {
        self.put(true);
    }
}

impl Tracked {
    fn put(&self, now: bool) {
        // SAFETY: its caller has the lock.
        self.0.with_mut(|flag| unsafe { *flag = now });
    }
}

/// Memory that no check sees.
#[derive(Default)]
struct Plain(std::cell::Cell<bool>);

impl Flag for Plain {
    fn get(&self) -> bool {
        self.0.get()
    }

    fn set(&self) {
        self.0.set(true);
    }
}

// SAFETY: the lock guards it.
unsafe impl Sync for Plain {}
