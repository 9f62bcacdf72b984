//! The location that an object of the shim is in the current execution.
//!
//! An object carries a [`Tag`]: the execution that used it last, and its location there. A moved object keeps its
//! tag and so its location; a new object at an old address has an empty tag and so a new one. An object that
//! outlives an execution (a static) is found with the tag of another; it is then looked up by its address, which
//! is stable for as long as it is shared, so that two checks at once do not disturb each other.

use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use crate::base::LocId;

/// Part of every object of the shim: where the current execution keeps it. Starts empty.
#[derive(Debug, Default)]
pub struct Tag(AtomicU64);

/// Bits of a tag that name the location; the others name the execution.
const LOC_BITS: u32 = 24;

/// The memory of the object was freed.
const FREED: u64 = 1 << 63;
/// The object has got a value without an operation since: it gets another location.
const RENEWED: u64 = 1 << 62;

/// The number in place of that of an execution. None is so large.
const UNNUMBERED: u64 = 0x6a << 48;

/// The execution that a tag names; no number of one if a bit says what became of the object.
#[inline]
fn execution_of(tag: u64) -> u64 {
    tag >> LOC_BITS
}

/// Whether a tag names this location.
pub(super) fn names(tag: u64, loc: LocId) -> bool {
    tag & FREED == 0 && loc_of(tag) == loc
}

/// The location that a tag names.
#[inline]
fn loc_of(tag: u64) -> LocId {
    LocId((tag & ((1 << LOC_BITS) - 1)) as u32)
}

/// The tag of an object whose memory is freed.
pub(super) fn mark_freed(tag: u64) -> u64 {
    tag | FREED
}

static EXECUTIONS: AtomicU64 = AtomicU64::new(1);

impl Tag {
    /// The tag of an object that no execution has used.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The execution that used the object last; 0 if none did.
    pub(super) fn execution(&self) -> u64 {
        execution_of(self.0.load(Ordering::Relaxed) & !(FREED | RENEWED))
    }

    /// Gives the object another location, where an execution has used it.
    pub fn renew(&mut self) {
        let known = self.0.get_mut();
        if *known != 0 {
            *known |= RENEWED;
        }
    }
}

/// The objects of one execution.
#[derive(Debug, Default)]
pub(super) struct Locations {
    execution: u64,
    outliving: FxHashMap<usize, LocId>,
}

impl Locations {
    /// Starts a new execution.
    pub(super) fn begin(&mut self) {
        self.execution = EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        self.outliving.clear();
    }

    /// The number of the execution, which no other has in this process.
    pub(super) fn execution(&self) -> u64 {
        self.execution
    }

    /// A word of memory, without the number of the execution if it is a tag.
    #[inline]
    pub(super) fn without_number(&self, word: u64) -> u64 {
        if execution_of(word) == self.execution { word & ((1 << LOC_BITS) - 1) | UNNUMBERED } else { word }
    }

    /// Whether the object at a location is one of an earlier execution, too.
    pub(super) fn outlives(&self, loc: LocId) -> bool {
        self.outliving.values().any(|&other| other == loc)
    }

    /// The location of an object, if the execution has met it.
    #[inline]
    pub(super) fn find(&self, tag: &Tag) -> Option<LocId> {
        let known = tag.0.load(Ordering::Relaxed);
        if execution_of(known) == self.execution {
            return Some(loc_of(known));
        }
        if known == 0 || known & RENEWED != 0 { None } else { self.find_outliving(tag) }
    }

    #[inline(never)]
    fn find_outliving(&self, tag: &Tag) -> Option<LocId> {
        self.outliving.get(&std::ptr::from_ref(tag).addr()).copied()
    }

    /// The location of an object whose memory was freed after the execution had met it.
    pub(super) fn find_freed(&self, tag: &Tag) -> Option<LocId> {
        let known = tag.0.load(Ordering::Relaxed);
        let is_freed = known & FREED != 0 && tag.execution() == self.execution;
        is_freed.then(|| loc_of(known))
    }

    /// The location that a renewed object had before.
    pub(super) fn find_renewed(&self, tag: &Tag) -> Option<LocId> {
        let known = tag.0.load(Ordering::Relaxed);
        let is_renewed = known & RENEWED != 0 && tag.execution() == self.execution;
        is_renewed.then(|| loc_of(known))
    }

    /// The location of an object; `create` adds it to the execution if it is new.
    pub(super) fn resolve(&mut self, tag: &Tag, create: impl FnOnce() -> LocId) -> LocId {
        if let Some(loc) = self.find(tag) {
            return loc;
        }
        let (known, address) = (tag.0.load(Ordering::Relaxed), std::ptr::from_ref(tag).addr());
        let loc = create();
        assert!(loc.0 >> LOC_BITS == 0, "an execution has fewer than 2^{LOC_BITS} locations");
        let mine = self.execution << LOC_BITS | u64::from(loc.0);
        let is_free = known == 0 || known & RENEWED != 0;
        let claimed = is_free && tag.0.compare_exchange(known, mine, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if !claimed {
            self.outliving.insert(address, loc);
        }
        loc
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_executions_at_once_keep_apart() {
        let tag = Tag::new();
        let (mut a, mut b) = (Locations::default(), Locations::default());
        a.begin();
        b.begin();
        assert_eq!(a.resolve(&tag, || LocId(3)), LocId(3));
        assert_eq!(b.resolve(&tag, || LocId(5)), LocId(5));
        assert_eq!(a.resolve(&tag, || unreachable!()), LocId(3));
        assert_eq!(b.resolve(&tag, || unreachable!()), LocId(5));
        a.begin();
        assert_eq!(a.resolve(&tag, || LocId(0)), LocId(0));
        assert_eq!(a.resolve(&tag, || unreachable!()), LocId(0));
    }

    #[test]
    fn a_moved_object_keeps_its_location_and_a_new_one_at_its_place_does_not() {
        let mut locations = Locations::default();
        locations.begin();
        let mut place = Box::new(Tag::new());
        assert_eq!(locations.resolve(&place, || LocId(0)), LocId(0));
        let moved = std::mem::replace(&mut *place, Tag::new());
        assert_eq!(locations.resolve(&moved, || unreachable!()), LocId(0));
        assert_eq!(locations.resolve(&place, || LocId(1)), LocId(1));
    }
}
