//! Methods that std has only since releases after the oldest one that is supported: in a check, and outside.

mod support;

use std::collections::BTreeSet;

use rsmc::sync::Arc;
use rsmc::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::*};
use rsmc::thread;
use support::{results, verified};

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
