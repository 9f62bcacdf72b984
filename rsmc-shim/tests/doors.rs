//! The door of static locks, made of modelled types: every interleaving of checks and code outside under C11.
//!
//! A modelled thread stands for an OS thread. The data is a cell, so that a pass at the wrong time is a data race, and
//! a lost wake-up is a deadlock.
#![allow(clippy::incompatible_msrv, reason = "tests are built by the compiler of the workspace")]
#![cfg(feature = "model")]

use std::sync::atomic::Ordering::Relaxed;

use rsmc_core::model::MemoryModel;
use rsmc_core::session::{Config, Verdict, check_body};
use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::sync::atomic::AtomicU32;
use rsmc_shim::thread;

use door::Door;

#[path = "../src/model/door.rs"]
#[allow(dead_code, reason = "the shim uses the rest")]
mod door;

/// The types that this door is made of.
mod real {
    use std::time::Duration;

    use rsmc_core::base::Id;
    use rsmc_core::runtime::hook;
    use rsmc_shim::sync::{self, LockResult};

    pub(crate) use rsmc_shim::sync::atomic::AtomicUsize;
    pub(crate) use rsmc_shim::sync::{Mutex, MutexGuard};

    /// A condition variable whose time is never over.
    pub(crate) struct Condvar(sync::Condvar);

    impl Condvar {
        pub(crate) const fn new() -> Self {
            Self(sync::Condvar::new())
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }

        pub(crate) fn wait_while<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            condition: impl FnMut(&mut T) -> bool,
        ) -> LockResult<MutexGuard<'a, T>> {
            self.0.wait_while(guard, condition)
        }

        pub(crate) fn wait_timeout_while<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            _: Duration,
            condition: impl FnMut(&mut T) -> bool,
        ) -> LockResult<(MutexGuard<'a, T>, ())> {
            Ok((self.0.wait_while(guard, condition).unwrap(), ()))
        }
    }

    /// The number of the modelled thread, from 1 on.
    pub(crate) fn os_thread() -> usize {
        let thread = hook::threads::current().expect("it is a modelled thread");
        1 + thread.index()
    }
}

/// A door with the data behind it.
struct Guarded {
    door: Door,
    data: UnsafeCell<u32>,
}

// SAFETY: the check finds data races.
unsafe impl Sync for Guarded {}

impl Guarded {
    fn new() -> Self {
        Self { door: Door::new(), data: UnsafeCell::new(0) }
    }

    fn add(&self) {
        // SAFETY: the check finds data races.
        self.data.with_mut(|data| unsafe { *data += 1 });
    }

    fn read(&self) -> u32 {
        // SAFETY: see above.
        self.data.with(|data| unsafe { *data })
    }
}

/// Explores every interleaving; none may fail.
#[track_caller]
fn verified(body: impl Fn() + Sync) {
    let config = Config::default().memory(MemoryModel::C11);
    let report = check_body(&config, &body, |body| body.check().run()).unwrap();
    assert!(matches!(report.verdict, Verdict::Verified), "{report:?}");
    assert!(report.executions > 1, "{report:?}");
}

#[test]
fn a_check_and_code_outside_exclude_each_other() {
    verified(|| {
        let guarded = Guarded::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                let _visit = guarded.door.wait();
                guarded.add();
            });
            // The passes of one check do not exclude each other.
            let first = guarded.door.pass_in_run();
            guarded.add();
            let second = guarded.door.pass_in_run();
            drop(first);
            guarded.add();
            drop(second);
        });
        let _visit = guarded.door.try_visit().expect("all are back");
        assert_eq!(guarded.read(), 3);
    });
}

#[test]
fn two_checks_exclude_each_other_and_code_outside() {
    verified(|| {
        let guarded = Guarded::new();
        let check = || {
            let _pass = guarded.door.pass_in_run();
            guarded.add();
        };
        thread::scope(|scope| {
            scope.spawn(check);
            scope.spawn(|| {
                let _visit = guarded.door.wait();
                guarded.add();
            });
            check();
        });
        let _visit = guarded.door.try_visit().expect("all are back");
        assert_eq!(guarded.read(), 3);
    });
}

#[test]
fn readers_outside_are_there_at_once_and_the_last_of_them_wakes_a_check() {
    verified(|| {
        let guarded = Guarded::new();
        let read = || {
            let _visit = guarded.door.wait();
            assert!([0, 1].contains(&guarded.read()));
        };
        thread::scope(|scope| {
            scope.spawn(read);
            scope.spawn(read);
            let _pass = guarded.door.pass_in_run();
            guarded.add();
        });
    });
}

#[test]
fn who_only_tries_gets_in_or_does_not_wait() {
    let got_in = [const { std::sync::atomic::AtomicBool::new(false) }; 2];
    verified(|| {
        let (guarded, visits) = (Guarded::new(), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                let visit = guarded.door.try_visit();
                got_in[usize::from(visit.is_some())].store(true, Relaxed);
                if visit.is_some() {
                    guarded.add();
                    visits.fetch_add(1, Relaxed);
                }
            });
            let _pass = guarded.door.pass_in_run();
            guarded.add();
        });
        assert!(guarded.door.try_visit().is_some());
        assert_eq!(guarded.read(), 1 + visits.load(Relaxed));
    });
    assert!(got_in.iter().all(|got_in| got_in.load(Relaxed)));
}

#[test]
fn passes_that_were_taken_back_let_code_outside_in() {
    verified(|| {
        let guarded = Guarded::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                let _visit = guarded.door.wait();
                guarded.add();
            });
            let left = guarded.door.pass_in_run();
            guarded.add();
            guarded.door.take_back();
            // It counts no more.
            drop(left);
        });
        assert!(guarded.door.try_visit().is_some());
    });
}
