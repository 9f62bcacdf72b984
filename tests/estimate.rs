//! The estimates of the number of runs, against the number in the end.
//!
//! The constants of the estimate are fitted to the *fitting set* (`the_fitting_set`, and random programs), and to no
//! other. The three families of checks are not in it: counters, messages and locks, retries and meshes. Never fit to
//! these. If a range does not hold there often enough, find other programs of which that is so, and add them to the
//! fitting set. Let a new family take the place of the one that was looked at.
//!
//! `cargo test --release --test all estimate:: -- --nocapture` shows the figures of every check, and has larger ones.

use std::time::Duration;

use rsmc::sync::atomic::{AtomicU32, Ordering, Ordering::*};
use rsmc::sync::mpsc::{channel, sync_channel};
use rsmc::sync::{Condvar, Mutex, RwLock};
use rsmc::{Config, MemoryModel, Verdict, thread};
use rsmc_core::session::{Progress, check_body};

/// The bodies of the fitting set, with stores that are `SeqCst`.
#[allow(dead_code, reason = "the fitting set has no body that adds to one counter")]
mod programs {
    use rsmc::hint::spin_loop;
    use rsmc::sync::Arc;
    use rsmc::sync::atomic::{AtomicU32, Ordering, Ordering::SeqCst};
    use rsmc::thread::{JoinHandle, spawn};

    const ORDER: Ordering = SeqCst;
    include!("programs/bodies.rs");
}

/// The bodies of the fitting set, with stores that are `Relaxed`.
#[allow(dead_code, reason = "the fitting set has no body that adds to one counter")]
mod relaxed {
    use rsmc::hint::spin_loop;
    use rsmc::sync::Arc;
    use rsmc::sync::atomic::{AtomicU32, Ordering, Ordering::SeqCst};
    use rsmc::thread::{JoinHandle, spawn};

    const ORDER: Ordering = Ordering::Relaxed;
    include!("programs/bodies.rs");
}

/// A check with fewer runs is over before anybody asks.
const FEWEST: u64 = 200;

/// The largest factor between the ends of a range.
const WIDEST: u64 = 30;

/// The part of the checks' time in which a family's ranges are right.
const NINE_OF_TEN: f64 = 0.9;

/// The estimates of some checks.
#[derive(Default)]
struct Family {
    checks: u32,
    /// The sum, over the checks, of the part of the moments with a range in which the range holds.
    held: f64,
    /// The sum of the part of the moments in which there is a range.
    shown: f64,
}

impl Family {
    /// Asks for the estimate before each run of a check.
    #[allow(clippy::print_stdout, reason = "the figures, for who asks with --nocapture")]
    fn check(&mut self, name: &str, config: Config, body: &(dyn Fn() + Sync)) {
        let mut said = Vec::new();
        let mut pulse = |progress: &Progress| {
            said.push(progress.estimate.expect("reads-from has decisions"));
            true
        };
        let config = config.keep_going(true);
        let check = |body: &mut rsmc_core::session::Body<'_>| body.check().pulse(Duration::ZERO, &mut pulse).run();
        let report = check_body(&config, body, check).unwrap();
        assert!(matches!(report.verdict, Verdict::Verified), "{name}: {:?}", report.verdict);
        let runs = report.runs;
        assert!(runs >= FEWEST, "{name}: {runs} runs");
        let beyond = said.iter().find(|estimate| estimate.at_least > runs);
        assert!(beyond.is_none(), "{name} has {runs} runs: {beyond:?}");
        let ranges: Vec<(u64, u64)> = said.iter().filter_map(|estimate| estimate.range).collect();
        let wide = ranges.iter().find(|(low, high)| high / low > WIDEST);
        assert!(wide.is_none(), "{name}: {wide:?}");
        let good = ranges.iter().filter(|(low, high)| (*low..=*high).contains(&runs)).count();
        let (held, shown) = (good as f64 / ranges.len().max(1) as f64, ranges.len() as f64 / said.len() as f64);
        println!("{name}: {runs} runs, a range in {:.0} %, holds in {:.0} % of these", 100.0 * shown, 100.0 * held);
        self.checks += 1;
        self.held += held;
        self.shown += shown;
    }

    /// Asserts that the ranges hold. A check with more runs is not worth more.
    #[allow(clippy::print_stdout, reason = "the figures, for who asks with --nocapture")]
    fn assert_held(&self, least: f64) {
        let checks = f64::from(self.checks);
        let (held, shown) = (self.held / checks, self.shown / checks);
        println!("{checks} checks: a range in {:.1} %, holds in {:.1} % of these", 100.0 * shown, 100.0 * held);
        assert!(self.checks >= 10, "{checks} checks");
        assert!(shown >= 0.4, "shown {shown:.3} of the time");
        assert!(held >= least, "held {held:.3} of the time");
    }
}

fn under(memory: MemoryModel) -> Config {
    Config::default().memory(memory)
}

/// The checks that take seconds are for release builds.
fn is_release() -> bool {
    !cfg!(debug_assertions)
}

/// Threads that add to a counter so many times each, and threads that look at it once.
fn count(adds: &[u32], lookers: u32, order: Ordering) {
    let counter = AtomicU32::new(0);
    thread::scope(|scope| {
        for &times in adds {
            let counter = &counter;
            scope.spawn(move || (0..times).for_each(|_| _ = counter.fetch_add(1, order)));
        }
        (0..lookers).for_each(|_| drop(scope.spawn(|| counter.load(order))));
    });
}

#[test]
fn ranges_hold_for_counters() {
    let mut family = Family::default();
    let adds: [&[u32]; 13] = [
        &[5, 5],
        &[7, 6],
        &[3, 3, 3],
        &[4, 3, 3],
        &[6, 2, 2],
        &[1, 2, 3, 2],
        &[2, 2, 2, 2],
        &[2, 2, 2, 1, 1],
        &[3, 1, 1, 1, 2],
        &[1, 1, 1, 1, 1, 1],
        &[1, 1, 1, 1, 1, 1, 1],
        &[2, 2, 2, 2, 2],
        &[3, 3, 3, 3],
    ];
    let small = if is_release() { adds.len() } else { adds.len() - 2 };
    for adds in &adds[..small] {
        family.check(&format!("{adds:?}"), under(MemoryModel::Sc), &|| count(adds, 0, SeqCst));
    }
    let looked_at: [(&[u32], u32); 4] = [(&[3, 3], 2), (&[2, 2, 2], 1), (&[2, 1, 1], 3), (&[1, 1, 1, 1], 2)];
    for (adds, lookers) in looked_at {
        let name = format!("{adds:?} and {lookers} that look");
        family.check(&name, under(MemoryModel::C11), &|| count(adds, lookers, Relaxed));
    }
    family.assert_held(NINE_OF_TEN);
}

/// Producers that send some messages each through a channel with so many places, or with any number.
fn send(producers: u32, messages: u32, places: Option<usize>) {
    enum Sending {
        Any(rsmc::sync::mpsc::Sender<u32>),
        Bounded(rsmc::sync::mpsc::SyncSender<u32>),
    }
    let (sending, receiver) = match places {
        None => {
            let (sender, receiver) = channel();
            (Sending::Any(sender), receiver)
        }
        Some(places) => {
            let (sender, receiver) = sync_channel(places);
            (Sending::Bounded(sender), receiver)
        }
    };
    thread::scope(|scope| {
        for _ in 0..producers {
            match &sending {
                Sending::Any(sender) => {
                    let sender = sender.clone();
                    scope.spawn(move || (0..messages).for_each(|message| sender.send(message).unwrap()));
                }
                Sending::Bounded(sender) => {
                    let sender = sender.clone();
                    scope.spawn(move || (0..messages).for_each(|message| sender.send(message).unwrap()));
                }
            }
        }
        drop(sending);
        assert_eq!(receiver.iter().count() as u32, producers * messages);
    });
}

/// Producers and consumers of a queue under a lock; a consumer takes what is there.
fn queue(producers: u32, messages: u32, consumers: u32) {
    let queue = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let push = || (0..messages).for_each(|message| queue.lock().unwrap().push(message));
        let pop = || (0..messages).for_each(|_| _ = queue.lock().unwrap().pop());
        (0..producers).for_each(|_| drop(scope.spawn(push)));
        (0..consumers).for_each(|_| drop(scope.spawn(pop)));
    });
}

/// Producers, and a consumer that waits for every message.
fn wait(producers: u32, messages: u32) {
    let (queue, filled) = (Mutex::new(Vec::new()), Condvar::new());
    thread::scope(|scope| {
        let push = |message| {
            queue.lock().unwrap().push(message);
            filled.notify_one();
        };
        (0..producers).for_each(|_| drop(scope.spawn(move || (0..messages).for_each(push))));
        for _ in 0..producers * messages {
            filled.wait_while(queue.lock().unwrap(), |queue| queue.is_empty()).unwrap().pop();
        }
    });
}

/// Writers and readers of a number, so many times each.
fn read_and_write(writers: u32, readers: u32, times: u32) {
    let number = RwLock::new(0);
    thread::scope(|scope| {
        let write = || (0..times).for_each(|_| *number.write().unwrap() += 1);
        let read = || (0..times).for_each(|_| drop(number.read().unwrap()));
        (0..writers).for_each(|_| drop(scope.spawn(write)));
        (0..readers).for_each(|_| drop(scope.spawn(read)));
    });
}

#[test]
fn ranges_hold_for_messages_and_locks() {
    let mut family = Family::default();
    let (sc, c11) = (under(MemoryModel::Sc), under(MemoryModel::C11));
    for (producers, messages) in [(2, 2), (3, 1)].into_iter().chain(is_release().then_some((3, 2))) {
        family.check(&format!("channel, {producers} x {messages}"), sc.clone(), &|| send(producers, messages, None));
    }
    for (producers, messages, places) in [(2, 2, 1), (2, 2, 2), (3, 1, 1), (3, 1, 0)] {
        let name = format!("channel of {places}, {producers} x {messages}");
        family.check(&name, sc.clone(), &|| send(producers, messages, Some(places)));
    }
    for (producers, messages, consumers) in [(2, 2, 2), (2, 3, 1), (3, 2, 1), (4, 1, 3)] {
        let name = format!("queue, {producers} x {messages} to {consumers}");
        family.check(&name, sc.clone(), &|| queue(producers, messages, consumers));
    }
    for (producers, messages) in [(2, 2), (3, 1)] {
        family.check(&format!("waiting, {producers} x {messages}"), c11.clone(), &|| wait(producers, messages));
    }
    family.check("lock, 3 writers, 2 readers", c11, &|| read_and_write(3, 2, 1));
    family.assert_held(NINE_OF_TEN);
}

/// Threads that add to a counter by compare-exchange, again and again until it succeeds.
fn retry(threads: u32, times: u32) {
    let counter = AtomicU32::new(0);
    let add = || {
        let mut known = counter.load(Relaxed);
        while let Err(seen) = counter.compare_exchange(known, known + 1, Relaxed, Relaxed) {
            known = seen;
        }
    };
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(|| (0..times).for_each(|_| add())))));
}

/// Threads that store to one location and load the next one, again and again, and go on by one each time.
fn mesh(threads: usize, locations: usize, times: usize) {
    let locations: Vec<_> = (0..locations).map(|_| AtomicU32::new(0)).collect();
    thread::scope(|scope| {
        for thread in 0..threads {
            let locations = &locations;
            let step = move |time: usize| {
                locations[(thread + time) % locations.len()].store((1 + thread * times + time) as u32, Relaxed);
                locations[(thread + time + 1) % locations.len()].load(Relaxed);
            };
            scope.spawn(move || (0..times).for_each(step));
        }
    });
}

#[test]
fn ranges_hold_for_retries_and_meshes() {
    let mut family = Family::default();
    for memory in [MemoryModel::C11, MemoryModel::Tso] {
        for (threads, times) in [(2, 3), (2, 4), (4, 1)].into_iter().chain(is_release().then_some((3, 2))) {
            family.check(&format!("retry, {threads} x {times}, {memory}"), under(memory), &|| retry(threads, times));
        }
        let small = [(3, 2, 2), (3, 3, 2), (5, 2, 1), (6, 3, 1), (2, 2, 5)];
        for (threads, locations, times) in small.into_iter().chain(is_release().then_some((4, 2, 2))) {
            let name = format!("mesh of {locations}, {threads} x {times}, {memory}");
            family.check(&name, under(memory), &|| mesh(threads, locations, times));
        }
    }
    family.assert_held(NINE_OF_TEN);
}

macro_rules! fitting_set {
    ($family:ident: $($name:ident $($n:literal)+;)+) => { $($(
        let name = |how: &str| format!("{} {}, {how}", stringify!($name), $n);
        $family.check(&name("sc"), under(MemoryModel::Sc), &|| programs::$name($n));
        $family.check(&name("c11"), under(MemoryModel::C11), &|| relaxed::$name($n));
        $family.check(&name("pso"), under(MemoryModel::Pso), &|| relaxed::$name($n));
        for bytes in [500, 4000, 20_000] {
            let config = under(MemoryModel::Sc).sets(bytes);
            $family.check(&name(&format!("sets of {bytes} bytes")), config, &|| programs::$name($n));
        }
    )+)+ };
}

/// The constants are such that ranges hold in more cases here than they have to elsewhere.
#[test]
fn the_fitting_set() {
    let mut family = Family::default();
    fitting_set! {
        family:
        readinc 5; msv 5 6; sb 8; fkp2013 4; readers 8; casrot 7; casw 4; lastzero 8 10; fib_bench 3; eratosthenes 8;
        redundant_co 10;
    }
    if is_release() {
        fitting_set! {
            family:
            readinc 6; msv 8; sb 10; fkp2013 5; readers 12; casrot 8; casw 5; lastzero 12; fib_bench 4; dekker 2;
            peterson 2; redundant_co 20; treiber 3;
        }
    }
    family.assert_held(0.95);
}
