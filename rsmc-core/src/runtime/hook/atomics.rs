//! Atomics and fences. Operations on atomics come with arguments and results in registers.

use std::panic::Location;
use std::sync::atomic::Ordering;

use crate::machine::Outcome;
use crate::runtime::frame::{Frame, Pair, framed};
use crate::runtime::hook::cells::{CellAccess, Contents, record};
use crate::runtime::hook::enter::{enter, here, meet};
use crate::runtime::identity::Identity;
use crate::trace::{Action, Op, Rmw, RmwKind, Site};

/// The properties that an atomic type gives to its objects.
#[derive(Debug)]
pub struct Kind {
    /// Its name, as the user wrote it.
    pub name: &'static str,
    /// The value that the object of this identity has outside executions.
    pub init: fn(&Identity) -> u64,
}

/// The result of an atomic operation.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// The value before it.
    pub read: u64,
    /// Whether it wrote.
    pub wrote: bool,
}

/// An operation on an atomic: a scheduling point. `None` outside executions.
#[inline(always)]
#[track_caller]
pub fn atomic(
    identity: &Identity,
    kind: &'static Kind,
    action: Action,
    order: Ordering,
    failure: Ordering,
) -> Option<Done> {
    let (how, a, b) = packed(action, order, failure);
    let Pair { low, high } = framed_atomic(identity, a, b, how, kind, Location::caller());
    if high == 0 { None } else { Some(Done { read: low, wrote: high == 2 }) }
}

framed! {
    fn framed_atomic(
        identity: &Identity,
        a: u64,
        b: u64,
        how: u64,
        kind: &'static Kind,
        place: &'static Location<'static>
    ) -> Pair = atomic_from;
}

extern "C-unwind" fn atomic_from(
    identity: &Identity,
    a: u64,
    b: u64,
    how: u64,
    kind: &'static Kind,
    place: &'static Location<'static>,
    frame: Option<&Frame>,
) -> Pair {
    let object = identity.object(kind.name);
    let done = meet(place, object, |execution| {
        let site = Site::Code(place);
        // The machine knows an address by its name, and a null pointer as it is.
        let addresses = execution.heap.addresses.get();
        let (action, order, failure) = unpacked(how, addresses.exchange(a), addresses.exchange(b));
        execution.visit(frame, site, matches!(action, Action::Store(_)));
        let loc = execution.locate(object, || (kind.init)(identity), site);
        let Outcome { read, written } = execution.operate(Op { action, loc, order, failure, site });
        Pair { low: addresses.exchange(read), high: 1 + u64::from(written.is_some()) }
    });
    done.unwrap_or(Pair { low: 0, high: 0 })
}

/// An access to the value of an atomic that is no atomic operation: no scheduling point, and a data race with the
/// atomic operations that happens-before does not order.
#[track_caller]
pub fn unsynchronised(identity: &Identity, kind: &'static Kind, access: CellAccess) {
    record(identity.object(kind.name), || (kind.init)(identity), access, Contents::NONE);
}

/// A fence: what it does depends on the memory model, and it counts for data races. True if in an execution.
#[track_caller]
pub fn fence(order: Ordering) -> bool {
    let site = here();
    enter(|execution| execution.fence(order, site)).is_some()
}

/// As [`fence`], by the shim itself: a report does not show it.
pub fn fence_within(order: Ordering) {
    enter(|execution| execution.fence(order, Site::Unknown));
}

const RMWS: [RmwKind; 11] = [
    RmwKind::Swap,
    RmwKind::Add,
    RmwKind::Sub,
    RmwKind::And,
    RmwKind::Nand,
    RmwKind::Or,
    RmwKind::Xor,
    RmwKind::MaxUnsigned,
    RmwKind::MinUnsigned,
    RmwKind::MaxSigned,
    RmwKind::MinSigned,
];

/// An operation on an atomic in three numbers, which go in registers.
#[inline(always)]
fn packed(action: Action, order: Ordering, failure: Ordering) -> (u64, u64, u64) {
    let number = |order: Ordering| match order {
        Ordering::Relaxed => 0,
        Ordering::Release => 1,
        Ordering::Acquire => 2,
        Ordering::AcqRel => 3,
        _ => 4,
    };
    let orders = number(order) | number(failure) << 8;
    match action {
        Action::Load => (orders, 0, 0),
        Action::Store(value) => (orders | 1 << 16, value, 0),
        Action::Rmw(Rmw { kind, operand, bits }) => {
            (orders | 2 << 16 | (kind as u64) << 24 | u64::from(bits) << 32, operand, 0)
        }
        Action::Cas { expected, new, weak } => (orders | (3 + u64::from(weak)) << 16, expected, new),
        _ => unreachable!("this is a bug in rsmc: no operation of an atomic"),
    }
}

fn unpacked(how: u64, a: u64, b: u64) -> (Action, Ordering, Ordering) {
    let part = |shift: u32| (how >> shift & 0xff) as usize;
    let action = match part(16) {
        0 => Action::Load,
        1 => Action::Store(a),
        2 => Action::Rmw(Rmw { kind: RMWS[part(24)], operand: a, bits: part(32) as u8 }),
        weak => Action::Cas { expected: a, new: b, weak: weak == 4 },
    };
    let order = |number: usize| match number {
        0 => Ordering::Relaxed,
        1 => Ordering::Release,
        2 => Ordering::Acquire,
        3 => Ordering::AcqRel,
        _ => Ordering::SeqCst,
    };
    (action, order(part(0)), order(part(8)))
}
