//! The check byte of an operation in a seed. Its upper half is the kind of the operation. Its lower half is a hash of
//! the orderings, the type of the location, and the kind of update. A check misses a change of these once in 16 times.

use std::sync::atomic::Ordering;

use crate::base::mix;
use crate::trace::{Action, Event, RmwKind, Trace};

/// The kinds of operations, by the upper half of a byte; the first stands for an unknown one.
const NAMES: [&str; 11] = [
    "another operation",
    "a load",
    "a store",
    "an update",
    "a compare-exchange",
    "a lock",
    "a lock attempt",
    "an unlock",
    "a park",
    "an unpark",
    "a choice",
];

/// The byte of an event.
pub(super) fn of(event: &Event, trace: &Trace) -> u8 {
    let (what, which) = match event.op.action {
        Action::Load => (1, 0),
        Action::Store(_) => (2, 0),
        Action::Rmw(rmw) => (3, rmw_number(rmw.kind)),
        Action::AddUnless(_) => (3, 11),
        // The step has the alternative.
        Action::Cas { .. } | Action::Fail { .. } => (4, 0),
        Action::Acquire => (5, 0),
        Action::TryAcquire => (6, 0),
        Action::Release { .. } => (7, 0),
        Action::Park => (8, 0),
        Action::Unpark => (9, 0),
        Action::Choose { .. } => (10, 0),
    };
    let order = |order: Ordering| match order {
        Ordering::Relaxed => 0,
        Ordering::Acquire => 1,
        Ordering::Release => 2,
        Ordering::AcqRel => 3,
        _ => 4,
    };
    let orders = order(event.op.order) * 8 + order(event.op.failure);
    let kind = trace.locs[event.op.loc].kind.bytes().fold(0, |hash, byte| mix(hash, u64::from(byte)));
    what << 4 | (mix(mix(which, orders), kind) & 15) as u8
}

/// The kind of the operation of a byte.
pub(super) fn name(check: u8) -> &'static str {
    NAMES.get(usize::from(check >> 4)).unwrap_or(&NAMES[0])
}

/// Whether the operation of a byte is a store, which may wait in a buffer.
pub(super) fn stores(check: u8) -> bool {
    check >> 4 == 2
}

/// Whether the operation of a byte may write.
pub(super) fn writes(check: u8) -> bool {
    !matches!(check >> 4, 1 | 10)
}

fn rmw_number(kind: RmwKind) -> u64 {
    match kind {
        RmwKind::Swap => 0,
        RmwKind::Add => 1,
        RmwKind::Sub => 2,
        RmwKind::And => 3,
        RmwKind::Nand => 4,
        RmwKind::Or => 5,
        RmwKind::Xor => 6,
        RmwKind::MaxUnsigned => 7,
        RmwKind::MinUnsigned => 8,
        RmwKind::MaxSigned => 9,
        RmwKind::MinSigned => 10,
    }
}
