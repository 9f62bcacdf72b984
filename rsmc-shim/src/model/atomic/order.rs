//! Orderings that an operation must not have. std panics with these words, and so does a check.

use std::sync::atomic::Ordering;

#[inline(always)]
#[track_caller]
pub(super) fn check_load(order: Ordering) {
    match order {
        Ordering::Release => panic!("there is no such thing as a release load"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release load"),
        _ => {}
    }
}

#[inline(always)]
#[track_caller]
pub(super) fn check_store(order: Ordering) {
    match order {
        Ordering::Acquire => panic!("there is no such thing as an acquire store"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release store"),
        _ => {}
    }
}

#[inline(always)]
#[track_caller]
pub(super) fn check_failure(order: Ordering) {
    match order {
        Ordering::AcqRel => {
            panic!("there is no such thing as an acquire-release failure ordering")
        }
        Ordering::Release => panic!("there is no such thing as a release failure ordering"),
        _ => {}
    }
}

#[inline(always)]
#[track_caller]
pub(super) fn check_fence(order: Ordering) {
    if order == Ordering::Relaxed {
        panic!("there is no such thing as a relaxed fence");
    }
}

/// The strongest failure ordering that goes with a success ordering.
pub(super) fn strongest_failure(order: Ordering) -> Ordering {
    match order {
        Ordering::Release => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Acquire,
        same => same,
    }
}
