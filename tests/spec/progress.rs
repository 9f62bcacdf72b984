//! Progress: structures of which it is known whether suspended threads can keep the others from completing.

use super::*;

use rsmc::MemoryModel::{C11, Pso, Sc, Tso};
use rsmc::hint;
use rsmc::sync::atomic::Ordering::{AcqRel, Acquire};
use rsmc::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};

/// The structure is verified, and threads were suspended.
#[track_caller]
fn lock_free<T: Sync, M: Clone + PartialEq>(spec: Spec<T, M>, calls: usize) {
    let report = verified(spec, calls);
    assert!(report.suspended > 0, "{report}");
}

/// The failure in which a suspended thread keeps another one from completing: kind, scenario and message. The seed
/// shows it again.
#[track_caller]
fn blocks<T: Sync, M: Clone + PartialEq>(spec: &Spec<T, M>) -> (FailureKind, String, String) {
    let report = spec.explore();
    let Verdict::Failed(failure) = &report.report.verdict else { panic!("{report}") };
    let scenario = report.scenario.clone().unwrap();
    let again = rsmc::explore(&Config::default().memory(report.report.memory).replay(failure.seed.clone()), || {
        spec.execute(&scenario);
    });
    let Verdict::Failed(of_replay) = &again.verdict else { panic!("{again}") };
    assert_eq!((of_replay.kind, of_replay.trace.events.len()), (failure.kind, failure.trace.events.len()));
    (failure.kind, scenario, failure.message.clone())
}

/// Only the kind and the scenario.
#[track_caller]
fn blocks_in<T: Sync, M: Clone + PartialEq>(spec: Spec<T, M>) -> (FailureKind, String) {
    let (kind, scenario, message) = blocks(&spec.budget(NEVER_OVER));
    assert!(message.starts_with("not lock-free: "), "{message}");
    (kind, scenario)
}

/// A number with an operation that adds one, and another that returns the number.
fn number<T: Sync + 'static>(new: fn() -> T, inc: fn(&T), get: fn(&T) -> u32) -> Spec<T, u32> {
    Spec::new(new, || 0).op0("inc", inc, |n| *n += 1).op0("get", get, |n| *n).lock_free(["inc", "get"])
}

#[derive(Default)]
struct Number(AtomicU32);

impl Number {
    fn add(&self) {
        self.0.fetch_add(1, SeqCst);
    }

    fn add_by_exchange(&self) {
        let mut old = self.0.load(SeqCst);
        while let Err(now) = self.0.compare_exchange(old, old + 1, SeqCst, SeqCst) {
            old = now;
        }
    }

    fn get(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

#[test]
fn numbers_without_locks() {
    lock_free(number(Number::default, Number::add, Number::get), 3);
    lock_free(number(Number::default, Number::add_by_exchange, Number::get), 3);
}

/// A number behind a lock that is held by one thread at a time.
#[derive(Default)]
struct Locked {
    is_held: AtomicBool,
    next: AtomicU32,
    serves: AtomicU32,
    number: AtomicU32,
}

impl Locked {
    fn add_under_flag(&self) {
        while self.is_held.swap(true, AcqRel) {
            hint::spin_loop();
        }
        self.number.store(self.number.load(Relaxed) + 1, Relaxed);
        self.is_held.store(false, Release);
    }

    fn add_in_turn(&self) {
        let ticket = self.next.fetch_add(1, Relaxed);
        while self.serves.load(Acquire) != ticket {
            hint::spin_loop();
        }
        self.number.store(self.number.load(Relaxed) + 1, Relaxed);
        self.serves.store(ticket + 1, Release);
    }
}

#[test]
fn numbers_behind_locks() {
    let of = |inc: fn(&Locked)| Spec::new(Locked::default, || ()).op0("inc", inc, |()| ()).lock_free(["inc"]);
    assert_eq!(blocks_in(of(Locked::add_under_flag)), (FailureKind::Livelock, "inc() @1 | inc()".to_owned()));
    assert_eq!(blocks_in(of(Locked::add_in_turn)), (FailureKind::Livelock, "inc() @1 | inc()".to_owned()));
    let spec = Spec::new(|| Mutex::new(0), || 0).op0("inc", |n| *n.lock().unwrap() += 1, |n| *n += 1);
    let (kind, scenario, message) = blocks(&spec.lock_free(["inc"]));
    assert_eq!((kind, &*scenario), (FailureKind::Deadlock, "inc() @1 | inc()"));
    assert_eq!(message, "not lock-free: inc() of thread 2 cannot complete while thread 1 is suspended in inc()");
}

#[test]
fn set_behind_a_lock_for_readers() {
    let of = |names: &[&'static str]| set(Set::insert, [1]).lock_free(names.iter().copied());
    let (kind, scenario) = blocks_in(of(&["insert"]));
    assert!(kind == FailureKind::Deadlock && scenario.contains("insert(1) @"), "{scenario}");
    // A reader that is suspended keeps writers out.
    let (kind, scenario) = blocks_in(of(&["contains"]));
    assert!(kind == FailureKind::Deadlock && scenario.contains("contains(1) @"), "{scenario}");
}

#[test]
fn lazy_list() {
    lock_free(super::lazy_list(true).lock_free(["contains"]), 2);
    assert_eq!(blocks_in(super::lazy_list(true).lock_free(["insert"])).0, FailureKind::Deadlock);
}

#[test]
fn stacks_and_queues() {
    lock_free(stack(|stack, value| stack.push(value)).lock_free(["push", "pop"]).threads(2), 3);
    lock_free(queue(|queue, value| queue.enqueue(value)).lock_free(["enqueue", "dequeue"]).threads(2), 3);
    lock_free(deque(Deque::take, Deque::steal).lock_free(["push", "take", "steal"]), 3);
}

/// The links of Michael and Scott's queue, between nodes with numbers. The tail is the last node or the one before it.
#[derive(Default)]
struct Links {
    next: [AtomicU8; 8],
    tail: AtomicU8,
    nodes: AtomicU8,
}

impl Links {
    fn append(&self, helps: bool) {
        let node = self.nodes.fetch_add(1, SeqCst) + 1;
        loop {
            let tail = self.tail.load(SeqCst);
            match self.next[tail as usize].compare_exchange(0, node, SeqCst, SeqCst) {
                Ok(_) => return self.move_tail(tail, node),
                Err(next) if helps => self.move_tail(tail, next),
                Err(_) => hint::spin_loop(),
            }
        }
    }

    fn move_tail(&self, from: u8, to: u8) {
        self.tail.compare_exchange(from, to, SeqCst, SeqCst).ok();
    }
}

#[test]
fn queue_whose_tail_lags() {
    let of = |helps| {
        Spec::new(Links::default, || ())
            .op0("append", move |links: &Links| links.append(helps), |()| ())
            .lock_free(["append"])
    };
    lock_free(of(true).threads(2), 3);
    // The node has its number, and is linked.
    assert_eq!(blocks_in(of(false)), (FailureKind::Livelock, "append() @3 | append()".to_owned()));
}

#[test]
fn rings() {
    lock_free(spsc_ring(2, SeqCst).lock_free(["push", "pop"]), 4);
    lock_free(mpmc_ring(Release, 0, false).lock_free(["push", "pop"]).threads(2), 3);
    let enqueue_only = herlihy_wing(Queue::enqueue, Queue::dequeue).lock_free(["enqueue"]);
    lock_free(enqueue_only, 3);
}

/// Elements are put where a counter says, so one that is not there yet is in the way of those behind it.
#[derive(Default)]
struct Log {
    slots: [AtomicU8; 8],
    put: AtomicU32,
    taken: AtomicU32,
}

impl Log {
    fn push(&self, value: u8) {
        let at = self.put.fetch_add(1, SeqCst);
        self.slots[at as usize].store(value, SeqCst);
    }

    /// Waits for an element whose place is taken.
    fn pop(&self) -> Option<u8> {
        loop {
            let at = self.taken.load(SeqCst);
            if at == self.put.load(SeqCst) {
                return None;
            }
            let value = self.slots[at as usize].load(SeqCst);
            if value != 0 && self.taken.compare_exchange(at, at + 1, SeqCst, SeqCst).is_ok() {
                return Some(value);
            }
            hint::spin_loop();
        }
    }
}

#[test]
fn log_with_gaps() {
    let of = |names: &[&'static str]| {
        Spec::new(Log::default, VecDeque::new)
            .op("push", opaque(1..5), |log: &Log, &value| log.push(value), |model, &value| model.push_back(value))
            .op0("pop", Log::pop, |model| model.pop_front())
            .lock_free(names.iter().copied())
    };
    lock_free(of(&["pop"]), 3);
    assert_eq!(blocks_in(of(&["push", "pop"])), (FailureKind::Livelock, "push(1) @1 | pop()".to_owned()));
}

/// Two numbers that are always equal. A writer counts before and after, and a reader looks until the count is even and
/// did not change.
#[derive(Default)]
struct Pair {
    version: AtomicU32,
    numbers: [AtomicU32; 2],
}

impl Pair {
    fn write(&self) {
        self.version.fetch_add(1, SeqCst);
        for number in &self.numbers {
            number.fetch_add(1, SeqCst);
        }
        self.version.fetch_add(1, SeqCst);
    }

    fn read(&self) -> (u32, u32) {
        loop {
            let before = self.version.load(SeqCst);
            let numbers = (self.numbers[0].load(SeqCst), self.numbers[1].load(SeqCst));
            if before.is_multiple_of(2) && self.version.load(SeqCst) == before {
                return numbers;
            }
            hint::spin_loop();
        }
    }
}

#[test]
fn readers_that_look_again() {
    let of = |name| {
        Spec::new(Pair::default, || 0)
            .op0("write", Pair::write, |n| *n += 1)
            .op0("read", Pair::read, |n| (*n, *n))
            .on_one_thread(["write"])
            .lock_free([name])
    };
    lock_free(of("read"), 3);
    assert_eq!(blocks_in(of("write")), (FailureKind::Livelock, "write() @1 | read()".to_owned()));
}

/// A number that is raised in two steps. Whoever finds the first one taken takes the second one.
#[derive(Default)]
struct Helped(AtomicU32);

impl Helped {
    fn add(&self) {
        loop {
            let now = self.0.load(SeqCst);
            if now % 2 == 1 {
                self.0.compare_exchange(now, now + 1, SeqCst, SeqCst).ok();
            } else if self.0.compare_exchange(now, now + 1, SeqCst, SeqCst).is_ok() {
                self.0.compare_exchange(now + 1, now + 2, SeqCst, SeqCst).ok();
                return;
            }
        }
    }

    /// Broken: whoever has begun is to complete.
    fn add_alone(&self) {
        loop {
            let now = self.0.load(SeqCst);
            if now.is_multiple_of(2) && self.0.compare_exchange(now, now + 1, SeqCst, SeqCst).is_ok() {
                self.0.store(now + 2, SeqCst);
                return;
            }
            hint::spin_loop();
        }
    }

    fn get(&self) -> u32 {
        self.0.load(SeqCst).div_ceil(2)
    }
}

#[test]
fn number_in_two_steps() {
    lock_free(number(Helped::default, Helped::add, Helped::get).threads(2), 3);
    let alone = number(Helped::default, Helped::add_alone, Helped::get);
    assert_eq!(blocks_in(alone), (FailureKind::Livelock, "inc() @2 | inc()".to_owned()));
}

/// A number that as many threads may add to at once as there are permits.
struct Permits {
    taken: AtomicU32,
    number: AtomicU32,
}

impl Permits {
    fn add(&self, permits: u32) {
        loop {
            let taken = self.taken.load(SeqCst);
            if taken < permits && self.taken.compare_exchange(taken, taken + 1, SeqCst, SeqCst).is_ok() {
                break;
            }
            hint::spin_loop();
        }
        self.number.fetch_add(1, SeqCst);
        self.taken.fetch_sub(1, SeqCst);
    }
}

fn with_permits(permits: u32) -> Spec<Permits, u32> {
    let new = || Permits { taken: AtomicU32::new(0), number: AtomicU32::new(0) };
    Spec::new(new, || 0).op0("inc", move |it: &Permits| it.add(permits), |n| *n += 1).lock_free(["inc"])
}

/// One suspended thread holds one permit. With two permits it takes two of them to keep the third thread out.
#[test]
fn two_threads_hold_what_one_cannot() {
    assert_eq!(blocks_in(with_permits(1)), (FailureKind::Livelock, "inc() @2 | inc()".to_owned()));
    let (kind, scenario, message) = blocks(&with_permits(2).budget(NEVER_OVER));
    assert_eq!((kind, &*scenario), (FailureKind::Livelock, "inc() @2 | inc() @2 | inc()"));
    let expected = "not lock-free: inc() of thread 3 cannot complete while thread 1 is suspended in inc(), and thread 2 in \
                    inc()";
    assert_eq!(message, expected);
    let report = with_permits(3).calls(3).budget(NEVER_OVER).explore();
    assert!(report.is_complete() && report.scenario.is_none() && report.suspended > 0, "{report}");
}

/// A thread that is suspended has stored, and whoever waits for that goes on: its store leaves the buffer, and under
/// C11 it is not hidden for ever.
#[test]
fn stores_of_a_suspended_thread_become_visible() {
    let wait = |flag: &AtomicBool| {
        while !flag.load(Relaxed) {
            hint::spin_loop();
        }
    };
    let set = |flag: &AtomicBool| {
        flag.store(true, Relaxed);
        flag.load(Relaxed);
    };
    for memory in [Sc, Tso, Pso, C11] {
        let spec = Spec::new(|| AtomicBool::new(false), || ()).op0("set", set, |()| ());
        let body_of = |text: &str| {
            let spec = Spec::new(|| AtomicBool::new(false), || ()).op0("set", set, |()| ()).op0("wait", wait, |()| ());
            let text = text.to_owned();
            rsmc::explore(&Config::default().memory(memory), move || spec.execute(&text))
        };
        assert!(matches!(body_of("set() @1 | wait()").verdict, Verdict::Verified), "{memory:?}");
        assert!(matches!(body_of("set() @0 | wait()").verdict, Verdict::Failed(_)), "{memory:?}");
        lock_free(spec.config(Config::default().memory(memory)).lock_free(["set"]), 3);
    }
}

/// What cannot be asked for.
#[test]
fn names_of_other_operations_are_refused() {
    let message = |ask: fn()| *std::panic::catch_unwind(ask).unwrap_err().downcast::<String>().unwrap();
    let unknown = message(|| drop(permits(Semaphore::release).lock_free(["take"])));
    assert_eq!(unknown, "there is no operation `take`; known are acquire, release");
    let waits = message(|| drop(permits(Semaphore::release).lock_free(["acquire"])));
    assert_eq!(waits, "`acquire` may wait for other calls, so it is not lock-free");
}
