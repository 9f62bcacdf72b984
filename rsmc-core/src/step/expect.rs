//! The properties that a replayed event must have, and the rule for when two events count as the same.
//!
//! Addresses differ from run to run, so values that are pointers are compared only by whether they are null.

use std::fmt;
use std::sync::atomic::Ordering;

use crate::trace::{Action, Event, LocInfo, Op, Rmw, Site};

/// The properties that a forced event must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expect {
    /// Its action.
    pub action: Action,
    /// Its ordering.
    pub order: Ordering,
    /// The type of its location.
    pub kind: &'static str,
    /// Its place in the source.
    pub site: Site,
    /// The value it reads, if it reads.
    pub read: Option<u64>,
}

/// The difference between an event and its expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Another operation stands there.
    Operation {
        /// The operation of the earlier run.
        expected: String,
        /// The operation of this run.
        found: String,
    },
    /// An operation that is as expected reads another value.
    Value {
        /// The value in the earlier run.
        expected: u64,
        /// The value in this run.
        found: u64,
    },
    /// The thread cannot take the step.
    NotRunnable {
        /// The reason.
        reason: &'static str,
    },
}

impl Difference {
    /// A thread that waits for the end of another.
    pub const JOINS: Self = Self::NotRunnable { reason: "it waits for the end of another thread" };
    /// A thread that has ended.
    pub const ENDED: Self = Self::NotRunnable { reason: "it has ended" };
    /// A thread that does not exist.
    pub const ABSENT: Self = Self::NotRunnable { reason: "it was never started" };

    /// Whether the thread itself did something else than before: no operation of another thread explains it.
    pub fn is_of_thread(&self) -> bool {
        matches!(self, Self::Operation { .. }) || [Self::JOINS, Self::ENDED, Self::ABSENT].contains(self)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Operation { expected, found } => write!(f, "expected {expected}, found {found}"),
            Difference::Value { expected, found } => write!(f, "expected to read {expected}, read {found}"),
            Difference::NotRunnable { reason } => write!(f, "the thread cannot run here: {reason}"),
        }
    }
}

impl Expect {
    /// The properties of this event that a later run must repeat.
    pub fn of(event: &Event, loc: &LocInfo) -> Self {
        let read = event.op.action.reads().then_some(event.read);
        Self { read, ..Self::of_op(&event.op, loc) }
    }

    /// The properties that a later run must repeat of an operation that has not happened yet.
    pub fn of_op(op: &Op, loc: &LocInfo) -> Self {
        Self { action: op.action, order: op.order, kind: loc.kind, site: op.site, read: None }
    }

    /// The value it reads, unless that may be an address.
    pub(super) fn value(&self) -> Option<u64> {
        self.read.filter(|_| holds_addresses(self.kind) == Addresses::Never)
    }

    /// The difference of the operation about to happen, if it differs.
    #[inline]
    pub fn differs(&self, op: &Op, loc: &LocInfo, current: u64) -> Option<Difference> {
        if self.is_met(op, loc, current) { None } else { self.difference(op, loc, current) }
    }

    /// Whether the operation about to happen is the same bit by bit, which is quick to tell: then it does not differ.
    #[inline(always)]
    pub fn is_met(&self, op: &Op, loc: &LocInfo, current: u64) -> bool {
        std::ptr::eq(self.kind, loc.kind)
            && self.order == op.order
            && self.action == op.action
            && self.site == op.site
            && self.read.is_none_or(|read| read == op.action.returns(current))
    }

    /// The slow form of [`Expect::differs`], for values that may be addresses, and equal names at different addresses.
    #[cold]
    fn difference(&self, op: &Op, loc: &LocInfo, current: u64) -> Option<Difference> {
        let pointer = holds_addresses(loc.kind);
        let same_operation = self.kind == loc.kind
            && self.order == op.order
            && same_action(self.action, op.action, pointer)
            && self.site == op.site;
        if !same_operation {
            let found = Self::of_op(op, loc);
            return Some(Difference::Operation { expected: self.to_string(), found: found.to_string() });
        }
        let expected = self.read?;
        let same = same_value(expected, op.action.returns(current), pointer);
        (!same).then_some(Difference::Value { expected, found: current })
    }
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {} ({:?}) at {}", self.action, self.kind, self.order, self.site)
    }
}

/// Whether values of this type may be addresses, and how sure that is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Addresses {
    Never,
    Maybe,
    Always,
}

fn holds_addresses(kind: &str) -> Addresses {
    match kind {
        "AtomicPtr" => Addresses::Always,
        "AtomicUsize" | "AtomicIsize" | "AtomicU64" | "AtomicI64" => Addresses::Maybe,
        _ => Addresses::Never,
    }
}

fn same_value(a: u64, b: u64, pointer: Addresses) -> bool {
    let looks_like_address = |value: u64| (1 << 32..1 << 48).contains(&value);
    a == b
        || match pointer {
            Addresses::Never => false,
            Addresses::Maybe => looks_like_address(a) && looks_like_address(b),
            Addresses::Always => a != 0 && b != 0,
        }
}

fn same_action(a: Action, b: Action, pointer: Addresses) -> bool {
    let same = |a, b| same_value(a, b, pointer);
    match (a, b) {
        (Action::Store(a), Action::Store(b)) => same(a, b),
        (Action::Rmw(Rmw { kind, operand, bits }), Action::Rmw(b)) => {
            kind == b.kind && bits == b.bits && same(operand, b.operand)
        }
        (Action::Cas { expected, new, weak }, Action::Cas { expected: e, new: n, weak: w }) => {
            same(expected, e) && same(new, n) && weak == w
        }
        (Action::Fail { expected, new }, Action::Fail { expected: e, new: n }) => same(expected, e) && same(new, n),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_differ_but_numbers_may_not() {
        let (a, b) = (0x5555_1234_0000, 0x7f00_1234_5678);
        assert!(same_value(a, b, Addresses::Always));
        assert!(!same_value(a, 0, Addresses::Always));
        assert!(same_value(a, b, Addresses::Maybe));
        assert!(!same_value(3, 4, Addresses::Maybe));
        assert!(!same_value(a, b, Addresses::Never));
    }
}
