//! Methods that few programs use, in a check and outside. `.ci/memcheck` runs what is marked `unsafe` behind them.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use rsmc::alloc::Track;
use rsmc::cell::Cell;
use rsmc::sync::atomic::AtomicU32;
use rsmc::sync::{Arc, Condvar, Mutex, OnceLock, Weak, mpsc};
use rsmc::{Config, Verdict, thread};

/// What holds in a check and outside.
fn everywhere(body: fn()) {
    body();
    let report = rsmc::explore(&Config::default().allow_trivial(true), body);
    assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
}

#[test]
fn of_cells_and_tracked_values() {
    everywhere(|| {
        let (a, b) = (Cell::new(1), Cell::new(2));
        a.swap(&b);
        assert_eq!((a.get(), b.get()), (2, 1));
        drop(Track::new(vec![1]));
        assert_eq!(Track::new(vec![2]).into_inner(), [2]);
        // SAFETY: no other thread stores to it.
        assert_eq!(unsafe { AtomicU32::new(3).unsync_load() }, 3);
    });
}

#[test]
fn of_references() {
    everywhere(|| {
        let pinned = Arc::pin(4);
        assert_eq!(*pinned, 4);
        let shared = Arc::new(5);
        let raw = Weak::into_raw(Arc::downgrade(&shared));
        // SAFETY: it was a weak reference, and is one again once.
        let weak = unsafe { Weak::from_raw(raw) };
        assert_eq!(weak.upgrade().as_deref(), Some(&5));
    });
}

#[test]
fn of_channels_locks_and_cells_that_are_written_once() {
    everywhere(|| {
        let (sender, receiver) = mpsc::channel();
        sender.send(6_u32).unwrap();
        assert_eq!(receiver.recv(), Ok(6));
        let mut once = OnceLock::new();
        once.set(7).unwrap();
        assert_eq!((once.take(), once.get()), (Some(7), None));
        let (lock, condvar) = (Mutex::new(8), Condvar::new());
        let (guard, timeout) = condvar.wait_timeout(lock.lock().unwrap(), Duration::from_millis(1)).unwrap();
        assert!(*guard == 8 && timeout.timed_out());
    });
}

#[test]
fn of_threads_that_borrow() {
    everywhere(|| {
        let number = AtomicU32::new(0);
        // SAFETY: it is joined before the number is gone.
        let thread = unsafe { thread::Builder::new().spawn_unchecked(|| number.fetch_add(1, Relaxed)) }.unwrap();
        assert_eq!(thread.join().unwrap(), 0);
        assert_eq!(thread::scope(|scope| scope.spawn(|| number.fetch_add(1, Relaxed)).join().unwrap()), 1);
    });
}
