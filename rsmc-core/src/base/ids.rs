//! Ids are types, and a table keyed by an id accepts no other.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

/// Something that names an entry of an [`IdVec`].
pub trait Id: Copy + Eq {
    /// The place of this id in a table.
    fn index(self) -> usize;
    /// The id of a place in a table.
    fn from_index(index: usize) -> Self;
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl Id for $name {
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
            #[inline]
            fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 ids"))
            }
        }
    };
}

id! {
    /// A modelled thread, named by its spawn path (its parent, and which of the parent's spawns it was).
    ///
    /// The name survives a reordering: it means the same thread in every execution of one exploration. 0 is the
    /// test body.
    ThreadId
}
id! {
    /// A location (an atomic, a lock, a park token, a tracked cell), numbered within one execution by first access.
    ///
    /// Nothing outside that execution may rely on it.
    LocId
}

impl ThreadId {
    /// The thread that runs the test body.
    pub const MAIN: ThreadId = ThreadId(0);
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

impl fmt::Debug for LocId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "l{}", self.0)
    }
}

/// The `index`-th visible event of a thread: the same event in every execution that contains it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId {
    /// The thread that performs the event.
    pub thread: ThreadId,
    /// The number of visible events of the thread that come before it.
    pub index: u32,
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}.{}", self.thread, self.index)
    }
}

/// A table with one entry per id.
#[derive(PartialEq, Eq)]
pub struct IdVec<I, T> {
    entries: Vec<T>,
    ids: PhantomData<fn(I)>,
}

impl<I: Id, T> IdVec<I, T> {
    /// An empty table.
    pub const fn new() -> Self {
        Self { entries: Vec::new(), ids: PhantomData }
    }

    /// Adds an entry and returns its id.
    pub fn push(&mut self, entry: T) -> I {
        self.entries.push(entry);
        I::from_index(self.entries.len() - 1)
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry of an id, if there is one.
    pub fn get(&self, id: I) -> Option<&T> {
        self.entries.get(id.index())
    }

    /// As [`get`](Self::get), to change.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.entries.get_mut(id.index())
    }

    /// Removes every entry and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The entries in order of their ids.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.entries.iter()
    }

    /// The entries in order of their ids, to change.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> + ExactSizeIterator {
        self.entries.iter_mut()
    }

    /// All pairs of an id and its entry.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.entries.iter().enumerate().map(|(i, entry)| (I::from_index(i), entry))
    }

    /// All ids of the table.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.entries.len()).map(I::from_index)
    }

    /// The entries of two ids, which are not the same.
    #[inline]
    pub fn pair_mut(&mut self, one: I, other: I) -> [&mut T; 2] {
        self.entries.get_disjoint_mut([one.index(), other.index()]).expect("two ids that have entries")
    }

    /// Makes sure that `id` has an entry, filling the gap with `fill`.
    pub fn grow_to(&mut self, id: I, fill: impl FnMut() -> T) {
        if self.entries.len() <= id.index() {
            self.entries.resize_with(id.index() + 1, fill);
        }
    }
}

impl<I, T: Clone> Clone for IdVec<I, T> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), ids: PhantomData }
    }

    /// Keeps the memory, also that of the entries.
    fn clone_from(&mut self, other: &Self) {
        self.entries.clone_from(&other.entries);
    }
}

impl<I: Id, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id + fmt::Debug, T: fmt::Debug> fmt::Debug for IdVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.entries[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.index()]
    }
}

impl<I: Id, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(entries: It) -> Self {
        Self { entries: entries.into_iter().collect(), ids: PhantomData }
    }
}
