//! Actions of visible operations, and their effects on the value of a location.

/// An atomic lock is free when its value has no [`HELD`] bit.
pub const FREE: u64 = 0;
/// The lock is held.
pub const HELD: u64 = 1;
/// A thread panicked while it held the lock.
pub const POISONED: u64 = 2;

/// The type of the location of [`Action::Choose`], of which each thread has one.
pub const CHOICE: &str = "choice";

/// The type of the location of an [`Action::Choose`] that says whether a loop that counts waits (0) or gives up (1).
/// Each thread that has such a loop has one.
pub const PATIENCE: &str = "patience";

/// The kind of a location of a tracked value, which has no events, only notes.
pub const TRACKED: &str = "Track";

/// The type of the locations of a condition variable: its lock, and the tokens of the threads that wait.
pub const CONDVAR: &str = "Condvar";

/// The type of the location of the token for which a suspended thread waits.
pub const SUSPENSION: &str = "suspension";

/// The function that a read-modify-write applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RmwKind {
    /// The operand replaces the value.
    Swap,
    /// Wrapping addition.
    Add,
    /// Wrapping subtraction.
    Sub,
    /// Bitwise and.
    And,
    /// Bitwise not-and.
    Nand,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The larger of the two, as unsigned numbers.
    MaxUnsigned,
    /// The smaller of the two, as unsigned numbers.
    MinUnsigned,
    /// The larger of the two, as signed numbers.
    MaxSigned,
    /// The smaller of the two, as signed numbers.
    MinSigned,
}

/// A read-modify-write: a function, its operand, and the width of the location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rmw {
    /// The function.
    pub kind: RmwKind,
    /// Its operand, zero-extended.
    pub operand: u64,
    /// Width of the location in bits: 1 (a `bool`), 8, 16, 32 or 64.
    pub bits: u8,
}

impl Rmw {
    /// The value after the operation, zero-extended.
    pub fn apply(self, old: u64) -> u64 {
        let (new, operand) = (self.signed(old), self.signed(self.operand));
        let result = match self.kind {
            RmwKind::Swap => self.operand,
            RmwKind::Add => old.wrapping_add(self.operand),
            RmwKind::Sub => old.wrapping_sub(self.operand),
            RmwKind::And => old & self.operand,
            RmwKind::Nand => !(old & self.operand),
            RmwKind::Or => old | self.operand,
            RmwKind::Xor => old ^ self.operand,
            RmwKind::MaxUnsigned => old.max(self.operand),
            RmwKind::MinUnsigned => old.min(self.operand),
            RmwKind::MaxSigned => new.max(operand).cast_unsigned(),
            RmwKind::MinSigned => new.min(operand).cast_unsigned(),
        };
        result & self.mask()
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - u32::from(self.bits))
    }

    fn signed(self, value: u64) -> i64 {
        let unused = 64 - u32::from(self.bits);
        (value << unused).cast_signed() >> unused
    }
}

/// A visible operation on one location, without its place and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// An atomic load.
    Load,
    /// An atomic store of a value.
    Store(u64),
    /// An atomic read-modify-write that always writes.
    Rmw(Rmw),
    /// An atomic compare-exchange; one that fails is a read.
    Cas {
        /// The value it looks for.
        expected: u64,
        /// The value it writes where it finds that.
        new: u64,
        /// Whether it may also fail where it finds that: an alternative of it is [`Action::Fail`].
        weak: bool,
    },
    /// A weak compare-exchange that fails although it finds what it looks for; it cannot happen elsewhere.
    Fail {
        /// The value it looks for.
        expected: u64,
        /// The value it would have written.
        new: u64,
    },
    /// Adds 1 to a count of 64 bits, unless it finds this value; then it is a read.
    AddUnless(u64),
    /// Takes a value that is given by nothing else; the others below `of` are alternatives of it. Its location is its
    /// own.
    Choose {
        /// The number of values.
        of: u64,
        /// The value.
        value: u64,
        /// Whether a value other than 0 is a spurious outcome, of which an execution has a few only.
        spurious: bool,
    },
    /// A lock acquire: waits until the lock is free.
    Acquire,
    /// A lock attempt: takes the lock if it is free, and is a read otherwise.
    TryAcquire,
    /// A lock release.
    Release {
        /// Whether the lock is left poisoned.
        poisoned: bool,
    },
    /// Waits for this thread's token and takes it.
    Park,
    /// Makes a thread's token available.
    Unpark,
}

/// The effect of an action on a location that holds some value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It cannot happen now.
    Blocked,
    /// It reads and changes nothing.
    Read,
    /// It writes without reading.
    Write(u64),
    /// It reads and writes in one step.
    Update(u64),
}

impl Effect {
    /// The value written, if any.
    #[inline]
    pub fn written(self) -> Option<u64> {
        match self {
            Effect::Blocked | Effect::Read => None,
            Effect::Write(value) | Effect::Update(value) => Some(value),
        }
    }
}

impl Action {
    /// Whether it waits until the stores of its thread are in memory, if it does not enter a store buffer itself. A
    /// choice does not: it is no access to memory.
    #[inline]
    pub fn drains(self) -> bool {
        !matches!(self, Action::Load | Action::Choose { .. })
    }

    /// The effect of this action on a location that holds `current`.
    #[inline]
    pub fn effect(self, current: u64) -> Effect {
        let free = current & HELD == FREE;
        match self {
            Action::Load => Effect::Read,
            Action::Store(value) => Effect::Write(value),
            Action::Rmw(rmw) => Effect::Update(rmw.apply(current)),
            Action::Cas { expected, new, .. } if current == expected => Effect::Update(new),
            Action::AddUnless(value) if current != value => Effect::Update(current.wrapping_add(1)),
            Action::Fail { expected, .. } if current != expected => Effect::Blocked,
            Action::Acquire | Action::TryAcquire if free => Effect::Update(current | HELD),
            Action::Cas { .. } | Action::AddUnless(_) | Action::Fail { .. } => Effect::Read,
            Action::TryAcquire | Action::Choose { .. } => Effect::Read,
            Action::Release { poisoned } => Effect::Write(if poisoned { POISONED } else { FREE }),
            Action::Park if current == 1 => Effect::Update(0),
            Action::Acquire | Action::Park => Effect::Blocked,
            Action::Unpark => Effect::Update(1),
        }
    }

    /// Whether this action cannot happen at a location that holds `current`. Most actions always can.
    #[inline]
    pub fn is_blocked(self, current: u64) -> bool {
        matches!(self, Action::Acquire | Action::Park | Action::Fail { .. }) && self.effect(current) == Effect::Blocked
    }

    /// The number of alternatives to this action, itself included.
    #[inline]
    pub fn alternatives(self) -> u64 {
        match self {
            Action::Choose { of, .. } => of,
            Action::Cas { weak: true, .. } | Action::Fail { .. } => 2,
            _ => 1,
        }
    }

    /// Its number among its alternatives. A thread stands before number 0.
    #[inline]
    pub fn alternative(self) -> u64 {
        match self {
            Action::Choose { value, .. } => value,
            Action::Fail { .. } => 1,
            _ => 0,
        }
    }

    /// This alternative of it; the number is below [`alternatives`](Self::alternatives).
    pub fn with_alternative(self, which: u64) -> Self {
        match self {
            Action::Choose { of, spurious, .. } => Action::Choose { of, value: which, spurious },
            Action::Cas { expected, new, .. } if which == 1 => Action::Fail { expected, new },
            Action::Fail { expected, new } if which == 0 => Action::Cas { expected, new, weak: true },
            same => same,
        }
    }

    /// Whether it is a spurious outcome.
    #[inline]
    pub fn is_spurious(self) -> bool {
        match self {
            Action::Fail { .. } => true,
            Action::Choose { value, spurious, .. } => spurious && value > 0,
            _ => false,
        }
    }

    /// The value that it returns where its location holds this value.
    #[inline]
    pub fn returns(self, current: u64) -> u64 {
        match self {
            Action::Choose { value, .. } => value,
            _ => current,
        }
    }

    /// Whether the action takes a value from its location.
    #[inline]
    pub fn reads(self) -> bool {
        !matches!(self, Action::Store(_) | Action::Release { .. })
    }

    /// Whether a success of this action makes its thread the holder of a lock.
    #[inline]
    pub fn locks(self) -> bool {
        matches!(self, Action::Acquire | Action::TryAcquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rmw(kind: RmwKind, operand: u64, bits: u8) -> Rmw {
        Rmw { kind, operand, bits }
    }

    #[test]
    fn arithmetic_wraps_in_the_width_of_the_location() {
        assert_eq!(rmw(RmwKind::Add, 2, 8).apply(255), 1);
        assert_eq!(rmw(RmwKind::Sub, 1, 64).apply(0), u64::MAX);
        assert_eq!(rmw(RmwKind::Nand, 0b11, 8).apply(0b10), 0b1111_1101);
        assert_eq!(rmw(RmwKind::Nand, 1, 1).apply(1), 0);
        assert_eq!(rmw(RmwKind::MaxSigned, 1, 8).apply(0xff), 1);
        assert_eq!(rmw(RmwKind::MinSigned, 1, 8).apply(0xff), 0xff);
        assert_eq!(rmw(RmwKind::MaxUnsigned, 1, 8).apply(0xff), 0xff);
    }

    #[test]
    fn alternatives_are_numbered() {
        let weak = Action::Cas { expected: 1, new: 2, weak: true };
        for action in [weak, Action::Choose { of: 3, value: 0, spurious: false }] {
            for which in 0..action.alternatives() {
                let other = action.with_alternative(which);
                assert_eq!((other.alternative(), other.alternatives()), (which, action.alternatives()));
                assert_eq!(other.with_alternative(0), action);
            }
        }
        let fails = weak.with_alternative(1);
        assert_eq!((fails.effect(1), fails.effect(0)), (Effect::Read, Effect::Blocked));
        assert!(fails.is_spurious() && !weak.is_spurious());
        assert_eq!(Action::Cas { expected: 1, new: 2, weak: false }.alternatives(), 1);
    }

    #[test]
    fn a_count_is_left_alone_at_one_value() {
        assert_eq!(Action::AddUnless(0).effect(0), Effect::Read);
        assert_eq!(Action::AddUnless(0).effect(1), Effect::Update(2));
        assert_eq!(Action::AddUnless(u64::MAX).effect(0), Effect::Update(1));
    }

    #[test]
    fn locks_block_and_keep_poison() {
        assert_eq!(Action::Acquire.effect(HELD), Effect::Blocked);
        assert_eq!(Action::TryAcquire.effect(HELD | POISONED), Effect::Read);
        assert_eq!(Action::Acquire.effect(POISONED), Effect::Update(HELD | POISONED));
        assert_eq!(Action::Release { poisoned: true }.effect(HELD).written(), Some(POISONED));
        assert_eq!(Action::Park.effect(0), Effect::Blocked);
        assert_eq!(Action::Park.effect(1), Effect::Update(0));
    }
}
