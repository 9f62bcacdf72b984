//! Small bodies with all that seeds and checkpoints speak of.

use rsmc::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use rsmc::sync::{Arc, Condvar, Mutex, mpsc};
use rsmc::{choose, hint, thread};

pub struct Body {
    pub name: &'static str,
    pub run: fn(),
    /// Whether some execution fails, under some model.
    pub fails: bool,
}

pub const BODIES: &[Body] = &[
    Body { name: "buffers", run: buffers, fails: false },
    Body { name: "lost update", run: lost_update, fails: true },
    Body { name: "two locks", run: two_locks, fails: true },
    Body { name: "condition", run: condition, fails: false },
    Body { name: "choices", run: choices, fails: true },
    Body { name: "counts", run: counts, fails: false },
    Body { name: "waits", run: waits, fails: false },
    Body { name: "waits for ever", run: waits_for_ever, fails: true },
    Body { name: "messages", run: messages, fails: false },
    Body { name: "threads of threads", run: threads_of_threads, fails: false },
];

/// Old values, and stores in buffers.
fn buffers() {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            x.store(1, Relaxed);
            x.store(2, Release);
            y.load(Relaxed)
        });
        scope.spawn(|| {
            y.store(1, Relaxed);
            y.store(2, SeqCst);
            x.load(Acquire)
        });
    });
}

fn lost_update() {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| x.store(x.load(SeqCst) + 1, SeqCst));
        }
    });
    assert!(x.load(SeqCst) == 3, "an update is lost");
}

/// A deadlock.
fn two_locks() {
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let both = |one: &Mutex<u32>, other: &Mutex<u32>| {
        let (_one, _other) = (one.lock().unwrap(), other.lock().unwrap());
    };
    thread::scope(|scope| {
        scope.spawn(|| both(&a, &b));
        scope.spawn(|| both(&b, &a));
    });
}

fn condition() {
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *ready.lock().unwrap() = true;
            changed.notify_one();
        });
        let mut is_ready = ready.lock().unwrap();
        while !*is_ready {
            is_ready = changed.wait(is_ready).unwrap();
        }
    });
}

/// Operations with alternatives.
fn choices() {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| x.compare_exchange_weak(0, 1 + choose(300) as u32, AcqRel, Relaxed).is_ok());
        x.compare_exchange_weak(0, 7, Release, Relaxed).is_ok()
    });
    assert_ne!(x.load(Relaxed), 200);
}

/// What is observed of counts is in seeds.
fn counts() {
    let shared = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || {
        other.store(1, Relaxed);
        Arc::strong_count(&other)
    });
    shared.load(Relaxed);
    drop(Arc::try_unwrap(shared).map(AtomicU32::into_inner));
    thread.join().unwrap();
}

fn waits() {
    let (flag, x) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            x.store(1, Relaxed);
            flag.store(true, Release);
        });
        scope.spawn(|| x.fetch_add(2, Relaxed));
        while !flag.load(Acquire) {
            hint::spin_loop();
        }
        x.load(Relaxed)
    });
}

/// Under C11 a seed says which writes are the newest.
fn waits_for_ever() {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| x.store(1, Relaxed));
        scope.spawn(|| x.store(2, Relaxed));
        while x.load(Relaxed) != 1 {
            hint::spin_loop();
        }
    });
}

fn messages() {
    let (send, receive) = mpsc::channel();
    let other = send.clone();
    let threads = [(send, 1), (other, 2)].map(|(send, value)| thread::spawn(move || send.send(value).unwrap()));
    assert_eq!(receive.iter().sum::<u32>(), 3);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn threads_of_threads() {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| thread::scope(|scope| drop(scope.spawn(|| x.fetch_add(1, Relaxed)))));
        }
        x.load(Relaxed)
    });
}
