//! Locks, conditions and channels, used as they should not be.

use std::time::Duration;

use rsmc::FailureKind::{Deadlock, Panic, WrongThread};
use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
use rsmc::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, mpsc};
use rsmc::thread;

use super::{Case, dies, fails, passes};

/// Sends anything.
struct Sent<T>(T);

// SAFETY: the cases want to see what happens to what must not be sent.
unsafe impl<T> Send for Sent<T> {}

pub const CASES: &[Case] = &[
    passes("a hundred locks are held", || {
        let locks: Vec<_> = (0..100).map(Mutex::new).collect();
        let guards: Vec<_> = locks.iter().map(|lock| lock.lock().unwrap()).collect();
        assert_eq!(guards.iter().map(|guard| **guard).sum::<i32>(), 4950);
    }),
    fails("a lock is taken twice", Deadlock, "", || {
        let lock = Mutex::new(0);
        let _guard = lock.lock();
        let _again = lock.lock();
    }),
    passes("try_lock of one's own lock", || {
        let lock = Mutex::new(0);
        let _guard = lock.lock();
        assert!(lock.try_lock().is_err());
    }),
    fails("a reader reads again while a writer waits", Deadlock, "", || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| drop(lock.write()));
            let first = lock.read().unwrap();
            let second = lock.read().unwrap();
            drop((first, second));
        });
    }),
    fails("a reader becomes a writer", Deadlock, "", || {
        let lock = RwLock::new(0);
        let _read = lock.read();
        let _write = lock.write();
    }),
    fails("five philosophers", Deadlock, "", || {
        let forks: Vec<_> = (0..5).map(|_| Mutex::new(())).collect();
        thread::scope(|scope| {
            for seat in 0..5 {
                let forks = &forks;
                scope.spawn(move || {
                    let left = forks[seat].lock().unwrap();
                    let right = forks[(seat + 1) % 5].lock().unwrap();
                    drop((left, right));
                });
            }
        });
    })
    .with(|config| super::usual(config).shrink(50)),
    fails("a guard is dropped by another thread", WrongThread, "", || {
        let lock = Mutex::new(0);
        let guard = Sent(lock.lock().unwrap());
        thread::scope(|scope| {
            scope.spawn(move || drop({ guard }.0));
        });
    }),
    fails("a Once is poisoned", Panic, "", || {
        let once = Once::new();
        drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| once.call_once(|| panic!("poisons")))));
        once.call_once(|| ());
    }),
    passes("a poisoned Once is forced", || {
        let once = Once::new();
        drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| once.call_once(|| panic!("poisons")))));
        once.call_once_force(|state| assert!(state.is_poisoned()));
        assert!(once.is_completed());
    }),
    fails("a Once calls itself", Deadlock, "", || {
        let once = Once::new();
        once.call_once(|| once.call_once(|| ()));
    }),
    fails("a LazyLock panics", Panic, "", || {
        let lazy = LazyLock::new(|| -> u32 { panic!("lazy") });
        drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| *lazy)));
        let _ = *lazy;
    }),
    fails("a LazyLock needs itself", Deadlock, "", || {
        static LAZY: LazyLock<u32> = LazyLock::new(|| *LAZY + 1);
        let _ = *LAZY;
    }),
    fails("two OnceLocks need each other", Deadlock, "", || {
        let (a, b) = (OnceLock::new(), OnceLock::new());
        thread::scope(|scope| {
            scope.spawn(|| a.get_or_init(|| *b.get_or_init(|| 1) + 1));
            scope.spawn(|| b.get_or_init(|| *a.get_or_init(|| 1) + 1));
        });
    }),
    passes("a Barrier of nobody and of one", || {
        assert!(Barrier::new(0).wait().is_leader());
        assert!(Barrier::new(1).wait().is_leader());
    }),
    fails("a Barrier of one more than there are", Deadlock, "", || {
        let barrier = Barrier::new(3);
        thread::scope(|scope| {
            scope.spawn(|| barrier.wait());
            barrier.wait();
        });
    }),
    passes("notify without anybody who waits", || {
        let condvar = Condvar::new();
        condvar.notify_one();
        condvar.notify_all();
    }),
    fails("a Condvar that nobody notifies", Deadlock, "", || {
        let (lock, condvar) = (Mutex::new(false), Condvar::new());
        let mut guard = lock.lock().unwrap();
        while !*guard {
            guard = condvar.wait(guard).unwrap();
        }
    }),
    fails("a Condvar with two locks, which nobody notifies", Deadlock, "", || {
        let (a, b, condvar) = (Mutex::new(()), Mutex::new(()), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| drop(condvar.wait(a.lock().unwrap())));
            scope.spawn(|| drop(condvar.wait(b.lock().unwrap())));
        });
    }),
    passes("wait_timeout for ever", || {
        let (lock, condvar) = (Mutex::new(()), Condvar::new());
        drop(condvar.wait_timeout(lock.lock().unwrap(), Duration::MAX).unwrap());
    }),
    passes("a channel without room", || {
        let (sender, receiver) = mpsc::sync_channel(0);
        thread::scope(|scope| {
            scope.spawn(move || sender.send(1).unwrap());
            assert_eq!(receiver.recv(), Ok(1));
        });
    }),
    fails("a send without room and without a receiver that listens", Deadlock, "", || {
        let (sender, _receiver) = mpsc::sync_channel(0);
        let _ = sender.send(1);
    }),
    passes("sends to a receiver that is gone", || {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        drop(receiver);
        assert!(sender.send(1).is_err() && other.send(2).is_err());
    }),
    fails("a receiver waits for its own sender", Deadlock, "", || {
        let (_sender, receiver) = mpsc::channel::<u32>();
        let _ = receiver.recv();
    }),
    passes("a channel is sent through itself", || {
        struct Letter(#[allow(dead_code, reason = "it is sent")] Option<mpsc::Sender<Letter>>);
        let (sender, receiver) = mpsc::channel();
        sender.send(Letter(Some(sender.clone()))).ok().unwrap();
        drop(receiver.recv().ok().unwrap());
    }),
    dies("a lock of std is held across a step", "waits for a lock", || {
        let shared = (std::sync::Mutex::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let _guard = shared.0.lock();
                    shared.1.load(SeqCst);
                    shared.1.store(1, SeqCst);
                });
            }
        });
    }),
    dies("a lock of std is taken twice", "stuck in", || {
        let lock = std::sync::Mutex::new(0);
        let _guard = lock.lock();
        AtomicU32::new(0).load(SeqCst);
        // std promises no more than that it does not return.
        drop(lock.lock());
    }),
    dies("recv of a channel of std", "thread t1", || {
        let (sender, receiver) = std::sync::mpsc::channel();
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let thread = thread::spawn(move || {
            let seen = other.load(SeqCst);
            let _ = receiver.recv();
            seen
        });
        x.store(1, SeqCst);
        thread.join().unwrap();
        sender.send(()).unwrap();
    }),
    dies("a Condvar of std", "stuck in", || {
        let (lock, condvar) = (std::sync::Mutex::new(()), std::sync::Condvar::new());
        drop(condvar.wait(lock.lock().unwrap()));
    }),
    dies("a barrier of std", "stuck in", || {
        let barrier = std::sync::Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| barrier.wait());
            barrier.wait();
        });
    }),
];
