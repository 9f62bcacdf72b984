//! The executions of programs that wait, beside those that GenMC 0.11 explores of them (complete and blocked).

#[allow(dead_code, reason = "each user needs a part of it")]
mod programs {
    use rsmc::hint::spin_loop;
    use rsmc::sync::Arc;
    use rsmc::sync::atomic::{AtomicU32, Ordering, Ordering::SeqCst};
    use rsmc::thread::{JoinHandle, spawn};

    const ORDER: Ordering = SeqCst;
    include!("programs/bodies.rs");
    include!("programs/waiting.rs");
}

use std::collections::BTreeSet;
use std::time::Instant;

use rsmc::hint::spin_loop;
use rsmc::sync::Arc;
use rsmc::sync::atomic::{AtomicU32, Ordering::*};
use rsmc::thread::spawn;
use rsmc::{Config, MemoryModel, Verdict};

/// A program, what GenMC explores of it, and how much of that is allowed here. Four times as much is the aim.
struct Row(&'static str, fn(usize), usize, u64, u64);

const ROWS: [Row; 16] = [
    Row("ticketlock", programs::ticketlock, 3, 6, 4),
    Row("ticketlock", programs::ticketlock, 4, 24, 4),
    Row("ticketlock", programs::ticketlock, 5, 120, 4),
    Row("barrier", programs::barrier, 2, 6, 4),
    Row("barrier", programs::barrier, 3, 24, 4),
    Row("barrier", programs::barrier, 4, 120, 4),
    Row("mcs", programs::mcs, 3, 66, 4),
    Row("mcs", programs::mcs, 4, 1080, 4),
    Row("rwlock", programs::rwlock, 1, 4, 4),
    Row("ttas", programs::ttas, 3, 94, 4),
    Row("seqlock", programs::seqlock, 1, 15, 4),
    Row("seqlock", programs::seqlock, 2, 225, 4),
    Row("treiber", programs::treiber, 2, 46, 4),
    Row("treiber", programs::treiber, 3, 8268, 4),
    // GenMC also leaves out an attempt that is taken back, even if another thread has seen it.
    Row("rwlock", programs::rwlock, 2, 34, 24),
    // 222 are the classes with every failed attempt in them.
    Row("msqueue", programs::msqueue, 2, 222, 1),
];

/// For release builds: without optimisation old values are kept, and there is more to explore.
#[test]
#[allow(clippy::print_stdout, reason = "the figures, for who asks with --nocapture")]
fn little_more_is_explored_than_by_genmc() {
    for Row(name, body, n, genmc, allowed) in ROWS {
        if cfg!(debug_assertions) && genmc > 100 {
            continue;
        }
        let started = Instant::now();
        let config = Config::default().memory(MemoryModel::Sc);
        let report = rsmc::explore(&config, || body(n));
        assert!(matches!(report.verdict, Verdict::Verified), "{name}({n}): {:?}", report.verdict);
        let (executions, blocked) = (report.executions, report.blocked);
        println!("{name}({n}): {executions} + {blocked} in {:?}, GenMC {genmc}", started.elapsed());
        if !cfg!(debug_assertions) {
            assert!(executions + blocked <= allowed * genmc, "{name}({n}): {executions} + {blocked}, GenMC {genmc}");
        }
    }
}

/// The shortest of several times, since others use the machine as well.
#[test]
#[cfg(not(debug_assertions))]
fn a_ticket_lock_of_five_threads_takes_less_than_a_tenth_of_a_second() {
    let config = Config::default().memory(MemoryModel::Sc);
    let time = |_| {
        let started = Instant::now();
        let report = rsmc::explore(&config, || programs::ticketlock(5));
        assert!(matches!(report.verdict, Verdict::Verified), "{:?}", report.verdict);
        started.elapsed()
    };
    let shortest = (0..5).map(time).min().expect("there are some");
    assert!(shortest.as_millis() < 100, "{shortest:?}");
}

/// Threads that take a lock by a compare-exchange that may fail without cause.
fn by_weak_exchange(lock: &AtomicU32) {
    while lock.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
        spin_loop();
    }
    lock.store(0, Release);
}

/// Takes the lock with a look before each attempt.
fn by_looks(lock: &AtomicU32) {
    while lock.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
        while lock.load(Relaxed) == 1 {
            spin_loop();
        }
    }
    lock.store(0, Release);
}

/// Threads that add without a lock.
fn by_reload(sum: &AtomicU32) {
    loop {
        let value = sum.load(Relaxed);
        if sum.compare_exchange_weak(value, value + 1, AcqRel, Relaxed).is_ok() {
            break;
        }
    }
}

/// Goes on with what a failed attempt returns.
fn by_retry(sum: &AtomicU32) {
    let mut value = sum.load(Relaxed);
    while let Err(other) = sum.compare_exchange_weak(value, value + 1, AcqRel, Relaxed) {
        value = other;
    }
}

/// As `by_reload`.
fn by_update(sum: &AtomicU32) {
    sum.fetch_update(AcqRel, Relaxed, |value| Some(value + 1)).unwrap();
}

/// The classes are the orders in which the threads succeed: failures without cause add none, and attempts that came too
/// late neither.
#[test]
#[allow(clippy::print_stdout, reason = "the figures, for who asks with --nocapture")]
fn failures_without_cause_are_no_classes() {
    for (name, body, given_up) in [
        ("lock", by_weak_exchange as fn(&AtomicU32), 22),
        ("lock after looks", by_looks, 55),
        ("sum", by_reload, 54),
        ("retry", by_retry, 41),
        ("update", by_update, 32),
    ] {
        for memory in [MemoryModel::Sc, MemoryModel::C11] {
            let report = rsmc::explore(&Config::default().memory(memory), move || {
                let x = Arc::new(AtomicU32::new(0));
                let run = |_| {
                    spawn({
                        let x = Arc::clone(&x);
                        move || body(&x)
                    })
                };
                let threads: Vec<_> = (0..3).map(run).collect();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
            });
            println!("{name} under {memory}: {} + {}", report.executions, report.blocked);
            assert!(matches!(report.verdict, Verdict::Verified), "{name}: {:?}", report.verdict);
            if !cfg!(debug_assertions) {
                assert_eq!((report.executions, report.blocked <= given_up), (6, true), "{name}: {}", report.blocked);
            }
        }
    }
}

/// An event of `rwlock`: its thread, its number there, its place in the loop, and the event that it reads from.
type Access = (usize, usize, usize, Option<(usize, usize)>);

/// Every interleaving of a writer (thread 0) and readers of [`programs::rwlock`], without looks that change nothing.
#[derive(Clone)]
struct Interleaving {
    /// By thread, the next of: 0 tries, 1 takes it back, 2 looks, 3 uses the data, 4 gives the lock back; 5 is the end.
    places: Vec<usize>,
    accesses: Vec<Access>,
    value: i64,
    /// The last update of the lock, and the last write of the data.
    last: [Option<(usize, usize)>; 2],
}

impl Interleaving {
    fn go_on(&self, classes: &mut BTreeSet<BTreeSet<Access>>) {
        const BIAS: i64 = 0x10_0000;
        for thread in (0..self.places.len()).filter(|&thread| self.places[thread] < 5) {
            let is_free = if thread == 0 { self.value == BIAS } else { self.value > 0 };
            let amount = if thread == 0 { BIAS } else { 1 };
            let place = self.places[thread];
            let (next, added) = match place {
                0 => (if is_free { 3 } else { 1 }, -amount),
                1 => (2, amount),
                2 if !is_free => continue,
                2 => (0, 0),
                3 => (4, 0),
                _ => (5, amount),
            };
            let name = (thread, self.accesses.iter().filter(|access| access.0 == thread).count());
            let mut after = self.clone();
            let at = usize::from(place == 3);
            let source = self.last[at].filter(|_| name.0 != 0 || place != 3);
            after.accesses.push((name.0, name.1, place, source));
            if added != 0 || (place == 3 && thread == 0) {
                after.last[at] = Some(name);
            }
            (after.places[thread], after.value) = (next, self.value + added);
            after.go_on(classes);
        }
        if self.places.iter().all(|&place| place == 5) {
            classes.insert(self.accesses.iter().copied().collect());
        }
    }
}

/// Whether a thread takes an attempt back of which no other has seen anything.
fn has_unseen_attempt(class: &BTreeSet<Access>) -> bool {
    let is_unseen = |&(thread, number, place, source): &Access| {
        let attempt = Some((thread, number.wrapping_sub(1)));
        place == 1 && source == attempt && class.iter().filter(|access| access.3 == attempt).count() == 1
    };
    class.iter().any(is_unseen)
}

/// GenMC leaves attempts out that others have seen. Leaving out those that nobody has seen would not be enough to
/// explore as little.
#[test]
fn rwlock_has_as_many_classes_as_there_are() {
    for (readers, all, without_unseen) in [(1, 6, 4), (2, 662, 346)] {
        let mut classes = BTreeSet::new();
        let (places, accesses) = (vec![0; readers + 1], Vec::new());
        Interleaving { places, accesses, value: 0x10_0000, last: [None; 2] }.go_on(&mut classes);
        let seen = classes.iter().filter(|class| !has_unseen_attempt(class)).count();
        assert_eq!((classes.len(), seen), (all, without_unseen));
        let report = rsmc::explore(&Config::default().memory(MemoryModel::Sc), || programs::rwlock(readers));
        if !cfg!(debug_assertions) {
            assert_eq!(report.executions, all as u64);
        }
    }
}
