//! Methods that std has only since releases after the oldest one that is supported: in a check, and outside.

use std::collections::BTreeSet;

use crate::support::{explore, results, verified};
use rsmc::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::*};
use rsmc::sync::{Arc, LazyLock, RwLock, RwLockWriteGuard};
use rsmc::{FailureKind, Verdict, thread};

#[test]
fn updates_are_not_lost() {
    let found = results(1, || {
        let (sum, even) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| sum.update(Relaxed, Relaxed, |n| n + 1));
            let old = sum.update(Relaxed, Relaxed, |n| n + 1);
            assert_eq!(even.try_update(AcqRel, Acquire, |n| (n == 1).then_some(2)), Err(0));
            assert_eq!(even.try_update(AcqRel, Acquire, |n| (n == 0).then_some(2)), Ok(0));
            old
        })
    });
    assert_eq!(found, BTreeSet::from([0, 1]));
    verified(|| assert!(!AtomicBool::new(false).update(SeqCst, SeqCst, |up| !up)));
}

fn pointers() {
    let values = [1_u32, 2, 3];
    let start = values.as_ptr().cast_mut();
    let pointer = AtomicPtr::new(start);
    assert_eq!(pointer.fetch_ptr_add(2, Relaxed), start);
    assert_eq!(pointer.fetch_ptr_sub(1, Relaxed), start.wrapping_add(2));
    // SAFETY: it points to the second of three values.
    assert_eq!(unsafe { *pointer.load(Relaxed) }, 2);
    assert_eq!(pointer.fetch_byte_sub(3, AcqRel), start.wrapping_add(1));
    assert_eq!(pointer.fetch_byte_add(3, AcqRel), start.wrapping_byte_add(1));
    assert_eq!(pointer.fetch_or(1, SeqCst), start.wrapping_add(1));
    assert_eq!(pointer.fetch_xor(3, SeqCst), start.wrapping_add(1).map_addr(|address| address | 1));
    assert_eq!(pointer.fetch_and(!3, SeqCst), start.wrapping_add(1).map_addr(|address| (address | 1) ^ 3));
    assert_eq!(pointer.into_inner(), start.wrapping_add(1));
}

fn zeros() {
    // SAFETY: zeros are numbers.
    assert_eq!(unsafe { *Arc::<u32>::new_zeroed().assume_init() }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { Arc::<[u32]>::new_zeroed_slice(2).assume_init() }[..], [0, 0]);
}

#[test]
fn pointers_are_changed_by_one_step() {
    pointers();
    let report = verified(pointers);
    assert_eq!((report.executions, report.events), (1, 9));
}

#[test]
fn values_of_zeros() {
    zeros();
    verified(zeros);
}

/// A writer that goes on to read sees what it wrote, and one that takes the lock anew may see what others wrote.
fn what_the_writer_reads(downgrades: bool) -> (u32, u32) {
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *lock.write().unwrap() += 10);
        scope.spawn(|| *lock.read().unwrap());
        let mut writes = lock.write().unwrap();
        *writes += 1;
        let wrote = *writes;
        let reads = if downgrades {
            RwLockWriteGuard::downgrade(writes)
        } else {
            drop(writes);
            lock.read().unwrap()
        };
        (wrote, *reads)
    })
}

#[test]
fn nobody_writes_while_a_writer_becomes_a_reader() {
    assert_eq!(results(0, || what_the_writer_reads(true)), BTreeSet::from([(1, 1), (11, 11)]));
    assert_eq!(results(0, || what_the_writer_reads(false)), BTreeSet::from([(1, 1), (1, 11), (11, 11)]));
}

#[test]
fn readers_get_a_lock_that_is_only_read_any_more() {
    // The other thread reads although the lock is not given back before it has ended.
    let found = results(0, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            let mut writes = lock.write().unwrap();
            let other = scope.spawn(|| *lock.read().unwrap());
            *writes = 1;
            let reads = RwLockWriteGuard::downgrade(writes);
            assert!(lock.try_write().is_err());
            (*reads, other.join().unwrap(), lock.try_read().is_ok())
        })
    });
    assert_eq!(found, BTreeSet::from([(1, 1, true)]));
}

#[test]
fn writers_wait_for_who_reads_on() {
    let report = explore(|| {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            let writes = lock.write().unwrap();
            let other = scope.spawn(|| *lock.write().unwrap() = 1);
            let _reads = RwLockWriteGuard::downgrade(writes);
            other.join().unwrap();
        });
    });
    let Verdict::Failed(failure) = &report.verdict else { panic!("{report:?}") };
    assert_eq!(failure.kind, FailureKind::Deadlock);
    assert!(rsmc::render(&report, None).contains("waits for lock, held by main since #"));
}

/// A panic while a lock is only read any more does not poison it.
fn panic_while_it_is_read() {
    let lock = RwLock::new(1);
    let panics = || {
        let _reads = RwLockWriteGuard::downgrade(lock.write().unwrap());
        panic!("while it reads");
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
    assert_eq!(*lock.write().unwrap(), 1);
}

/// A destructor that writes and goes on to read, while its thread panics.
fn downgrade_in_a_panic() {
    struct Writes<'a>(&'a RwLock<u32>);
    impl Drop for Writes<'_> {
        fn drop(&mut self) {
            let reads = RwLockWriteGuard::downgrade(self.0.write().unwrap());
            assert_eq!(*reads, 1);
        }
    }
    let lock = RwLock::new(1);
    let panics = || {
        let _writes = Writes(&lock);
        panic!("before");
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
    assert!(!lock.is_poisoned());
}

#[test]
fn who_reads_only_does_not_poison() {
    panic_while_it_is_read();
    verified(panic_while_it_is_read);
    downgrade_in_a_panic();
    verified(downgrade_in_a_panic);
}

/// Real threads: nobody writes in between, and attempts find a lock that is free.
#[test]
fn downgrade_outside_of_a_check() {
    let lock = RwLock::new(0_u64);
    let rounds = 2_000;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..rounds {
                    let mut writes = match round % 2 {
                        0 => lock.write().unwrap(),
                        _ => loop {
                            if let Ok(writes) = lock.try_write() {
                                break writes;
                            }
                            std::thread::yield_now();
                        },
                    };
                    *writes += 1;
                    let wrote = *writes;
                    let reads = RwLockWriteGuard::downgrade(writes);
                    assert_eq!(*reads, wrote);
                    assert!(lock.try_write().is_err());
                }
            });
        }
    });
    assert_eq!(*lock.try_write().unwrap(), 4 * rounds);
    let reads = RwLockWriteGuard::downgrade(lock.write().unwrap());
    assert_eq!(*reads, *lock.read().unwrap());
}

fn lazy() {
    let mut value: LazyLock<u32> = LazyLock::new(|| 1);
    assert_eq!(LazyLock::get(&value), None);
    assert_eq!(LazyLock::get_mut(&mut value), None);
    *LazyLock::force_mut(&mut value) += 1;
    assert_eq!(LazyLock::get(&value), Some(&2));
    assert_eq!(LazyLock::get_mut(&mut value), Some(&mut 2));
    *LazyLock::get_mut(&mut value).unwrap() += 1;
    assert_eq!((*value, *LazyLock::force_mut(&mut value)), (3, 3));
    let mut fails: LazyLock<u32> = LazyLock::new(|| panic!("no value"));
    let force = std::panic::AssertUnwindSafe(|| *LazyLock::force_mut(&mut fails));
    assert!(std::panic::catch_unwind(force).is_err());
    assert_eq!(LazyLock::get(&fails), None);
    assert_eq!(LazyLock::get_mut(&mut fails), None);
}

#[test]
fn lazy_values_are_looked_at_and_changed() {
    lazy();
    verified(lazy);
    let found = results(0, || {
        let value: LazyLock<u32> = LazyLock::new(|| 1);
        thread::scope(|scope| {
            scope.spawn(|| *value);
            LazyLock::get(&value).copied()
        })
    });
    assert_eq!(found, BTreeSet::from([None, Some(1)]));
}
