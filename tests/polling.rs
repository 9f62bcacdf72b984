//! What a loop means that polls a lock, a future or a choice, under every explorer that proves and every memory model
//! it knows.

use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::support::everywhere::{Livelock, Panic, Verified, everywhere, in_each, soon, with, writes_x};
use crate::support::pairs;
use rsmc::MemoryModel::C11;
use rsmc::future::block_on;
use rsmc::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use rsmc::sync::{Arc, Condvar, Mutex};
use rsmc::{Config, Explorer, choose, hint, thread};

/// A future that is polled again at once, while another thread is busy.
#[test]
fn a_future_that_wakes_itself() {
    let body = || {
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                for value in 1..3 {
                    y.store(value, SeqCst);
                }
                x.store(1, SeqCst);
            });
            block_on(poll_fn(|context| {
                if x.load(SeqCst) != 0 {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                hint::spin_loop();
                Poll::Pending
            }));
            assert_eq!(y.load(SeqCst), 2);
        });
    };
    soon(body);
    // Brute force has too many interleavings of what wakes a future, where each read takes each write.
    let few = pairs().filter(|config| config.explorer != Explorer::Exhaustive || config.memory != Some(C11));
    in_each(few, Verified, body);
}

/// The loop in which a future is polled again is at the call of `block_on`.
#[test]
fn a_loop_of_polls_is_named_by_the_users_line() {
    let report = rsmc::explore(&Config::default(), || {
        let (x, lock) = (AtomicU32::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| x.store(1, SeqCst));
            block_on(poll_fn(|context| {
                lock.swap(true, SeqCst);
                let is_there = x.load(SeqCst) == 1;
                lock.store(false, SeqCst);
                if is_there {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                Poll::Pending
            }));
        });
    });
    let notes = report.notes.join("\n");
    assert!(matches!(report.verdict, rsmc::Verdict::Verified), "{report}");
    assert!(notes.contains("the loop at tests/polling.rs:") && !notes.contains("block_on.rs"), "{notes}");
}

/// A place for a waker, as executors have it: who finds that another thread is about to wake wakes itself, and is
/// polled again until that thread is done.
#[derive(Default)]
struct Place {
    state: AtomicU32,
    waker: Mutex<Option<Waker>>,
}

impl Place {
    const REGISTERING: u32 = 1;
    const WAKING: u32 = 2;

    fn register(&self, waker: &Waker) {
        match self.state.compare_exchange(0, Self::REGISTERING, SeqCst, SeqCst) {
            Ok(_) => {
                *self.waker.lock().unwrap() = Some(waker.clone());
                if self.state.compare_exchange(Self::REGISTERING, 0, SeqCst, SeqCst).is_err() {
                    let own = self.waker.lock().unwrap().take();
                    self.state.store(0, SeqCst);
                    own.unwrap().wake();
                }
            }
            Err(state) => {
                assert_eq!(state, Self::WAKING);
                waker.wake_by_ref();
            }
        }
    }

    fn wake(&self) {
        if self.state.fetch_or(Self::WAKING, SeqCst) == 0 {
            let waker = self.waker.lock().unwrap().take();
            self.state.fetch_and(!Self::WAKING, SeqCst);
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

/// Every fair schedule ends: no hint says so.
#[test]
fn a_future_that_wakes_itself_while_it_is_woken() {
    let body = |wakes: u32| {
        let (place, flag) = (Arc::new(Place::default()), Arc::new(AtomicU32::new(0)));
        let (there, set) = (Arc::clone(&place), Arc::clone(&flag));
        let waker = thread::spawn(move || {
            for wake in 1..=wakes {
                set.store(wake, SeqCst);
                there.wake();
            }
        });
        block_on(poll_fn(|context| {
            place.register(context.waker());
            if flag.load(SeqCst) == wakes { Poll::Ready(()) } else { Poll::Pending }
        }));
        waker.join().unwrap();
    };
    soon(|| body(2));
    let few = pairs().filter(|config| config.explorer != Explorer::Exhaustive);
    in_each(few, Verified, || body(2));
}

#[test]
fn polling_under_a_lock() {
    let body = |value: u32| {
        let done = Mutex::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *done.lock().unwrap() = value);
            while *done.lock().unwrap() == 0 {
                hint::spin_loop();
            }
        });
    };
    everywhere(Verified, || body(1));
    everywhere(Livelock, || body(0));
}

/// The body itself waits, and reads nothing but zeros; the answers of `choose` say when it stops.
#[test]
fn a_wait_that_may_stop() {
    everywhere(Verified, || {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let writer = thread::spawn(move || other.store(1, SeqCst));
        while x.load(SeqCst) == 0 {
            if choose(2) == 1 {
                break;
            }
        }
        writer.join().unwrap();
    });
    everywhere(Panic("it stopped"), || {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let writer = thread::spawn(move || other.store(1, SeqCst));
        while x.load(SeqCst) == 0 {
            assert!(choose(2) == 0, "it stopped");
        }
        writer.join().unwrap();
    });
}

/// From some time on `choose` may answer 0 for ever, but nothing else.
#[test]
fn a_loop_by_choice() {
    everywhere(Verified, || while choose(2) == 1 {});
    everywhere(Verified, || while choose(3) != 0 {});
    everywhere(Livelock, || while choose(2) == 0 {});
    everywhere(Livelock, || while choose(3) != 1 {});
    let waits_for_one =
        |x: &AtomicU32, y: &AtomicU32| while choose(2) == 1 || (x.load(SeqCst) == 0 && y.load(SeqCst) == 0) {};
    everywhere(Verified, || with(&[&waits_for_one, &writes_x]));
    everywhere(Livelock, || with(&[&waits_for_one]));
}

/// One failure without cause is followed by another look, and is nothing to wait for.
#[test]
fn a_weak_compare_exchange_is_repeated() {
    let increments = |x: &AtomicU32, _: &AtomicU32| {
        let mut value = x.load(SeqCst);
        while let Err(now) = x.compare_exchange_weak(value, value + 1, SeqCst, SeqCst) {
            value = now;
        }
    };
    everywhere(Verified, || with(&[&increments, &increments]));
    let expects_one = |x: &AtomicU32, _: &AtomicU32| while x.compare_exchange_weak(1, 2, SeqCst, SeqCst).is_err() {};
    everywhere(Verified, || with(&[&expects_one, &writes_x]));
    everywhere(Livelock, || with(&[&expects_one]));
    let gives_up = |x: &AtomicU32, _: &AtomicU32| {
        assert!((0..2).any(|_| x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok()), "twice without cause");
    };
    everywhere(Verified, || with(&[&gives_up, &|x, _| _ = x.load(SeqCst)]));
}

/// A thread that polls under a lock is seen with it, and again without.
#[test]
fn a_lock_that_is_polled_is_held_now_and_then() {
    let polled = |attempts: usize, held: &'static [bool], words: &'static str| {
        move || {
            let (done, mut found) = (Mutex::new(false), Vec::new());
            thread::scope(|scope| {
                scope.spawn(|| while !*done.lock().unwrap() {});
                found.extend((0..attempts).map(|_| done.try_lock().is_err()));
                *done.lock().unwrap() = true;
            });
            assert!(found.is_empty() || found != held, "{words}");
        }
    };
    everywhere(Verified, polled(0, &[], ""));
    everywhere(Panic("it was free"), polled(1, &[false], "it was free"));
    everywhere(Panic("it was held"), polled(1, &[true], "it was held"));
    everywhere(Panic("held, then free"), polled(2, &[true, false], "held, then free"));
    everywhere(Panic("free, then held"), polled(2, &[false, true], "free, then held"));
}

/// A wait with a timeout in a loop waits for what its condition says.
#[test]
fn a_wait_with_a_timeout_in_a_loop() {
    let waits = |ready: &Mutex<bool>, changed: &Condvar| {
        let mut guard = ready.lock().unwrap();
        while !*guard {
            guard = changed.wait_timeout(guard, Duration::from_millis(5)).unwrap().0;
        }
    };
    everywhere(Verified, || {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                *ready.lock().unwrap() = true;
                changed.notify_one();
            });
            waits(&ready, &changed);
        });
    });
    everywhere(Livelock, || waits(&Mutex::new(false), &Condvar::new()));
}
