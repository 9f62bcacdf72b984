//! Chase and Lev's deque: its owner pushes and takes at the bottom, thieves steal at the top. Only for the last element
//! do they have to compete.
//!
//! Source. D. Chase, Y. Lev, *Dynamic Circular Work-Stealing Deque*, SPAA 2005, with the orderings of N. M. Lê,
//! A. Pop, A. Cohen, F. Zappa Nardelli, *Correct and Efficient Work-Stealing for Weak Memory Models*, PPoPP 2013,
//! figure 1, and two corrections of `push` (the last two mistakes below). A buffer that has become too small is kept
//! until the deque is dropped.
//!
//! Orderings. The owner that takes moves the bottom and then looks at the top; a thief looks at the top and then at the
//! bottom, and moves the top. Where one element is left, one of them has to see the other: each has a `SeqCst` fence
//! between its two accesses. An element is published by the store of the bottom, behind a `Release` fence. A buffer is
//! published by a `Release` of its own: a thief that has seen an *earlier* bottom may still find the new buffer.
//!
//! The mistakes, and the models that show them. All accesses are atomic, so there is no data race:
//!
//! - [`take_unfenced`](Deque::take_unfenced) has no fence between its store and its load. Right under SC only, for
//!   which the algorithm of 2005 was written: where the store of the bottom is late, a thief and the owner get the same
//!   element, also on x86.
//! - [`steal_unfenced`](Deque::steal_unfenced) has none between its two loads. The bottom that it sees may then be an
//!   old one, though the owner has moved it and found no thief at the top: what the owner takes without a
//!   compare-and-swap is stolen, too. No load is early under SC, TSO and PSO; wrong under C11 alone.
//! - [`push_unfenced`](Deque::push_unfenced) does not release the element. Right under SC and TSO; under PSO and C11 a
//!   thief may find the place empty.
//! - [`push_growing_relaxed`](Deque::push_growing_relaxed) does not release a new buffer. A data race; so in the paper.
//!   The benchmarks of the model checker CDSChecker (B. Norris, B. Demsky, OOPSLA 2013), which found errors in it,
//!   release it.
//! - [`push_into_old`](Deque::push_into_old) makes a new buffer and puts the element into the old one, as does the
//!   paper's figure. Wrong under every model.

use std::ops::Range;
use std::ptr;

use rsmc_shim::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use rsmc_shim::sync::atomic::{AtomicIsize, AtomicPtr, AtomicU32, fence};
use rsmc_shim::thread;

/// In a place of a buffer that was not written.
const NOTHING: u32 = 0;

/// A deque of numbers. One thread owns it; the others steal.
pub struct Deque {
    /// How many elements were stolen, or taken in competition with thieves.
    top: AtomicIsize,
    /// The top and how many elements there are; changed by the owner only.
    bottom: AtomicIsize,
    buffer: AtomicPtr<Buffer>,
}

struct Buffer {
    places: Box<[AtomicU32]>,
    /// The buffer that this one replaces, or null.
    before: *mut Buffer,
}

/// What a thief comes back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stolen {
    /// The deque was empty.
    Empty,
    /// Another was faster.
    Lost,
    /// An element.
    Element(u32),
}

impl Stolen {
    /// The element, if there is one.
    pub fn element(self) -> Option<u32> {
        match self {
            Self::Element(element) => Some(element),
            Self::Empty | Self::Lost => None,
        }
    }
}

// SAFETY: buffers are shared, and freed with the deque only.
unsafe impl Send for Deque {}
// SAFETY: as above. That there is one owner is up to the caller.
unsafe impl Sync for Deque {}

impl Deque {
    /// An empty deque with room for so many elements at first.
    pub fn new(room: usize) -> Self {
        let buffer = AtomicPtr::new(Buffer::boxed(room, ptr::null_mut()));
        Self { top: AtomicIsize::new(0), bottom: AtomicIsize::new(0), buffer }
    }

    /// Puts an element at the bottom. For the owner only.
    pub fn push(&self, element: u32) {
        self.put(element, |old, elements| self.grow(old, elements, Release), || fence(Release));
    }

    /// As [`push`](Self::push), but broken: the bottom may be visible before the element is.
    pub fn push_unfenced(&self, element: u32) {
        self.put(element, |old, elements| self.grow(old, elements, Release), || ());
    }

    /// As [`push`](Self::push), but broken: a new buffer may be visible before its elements are.
    pub fn push_growing_relaxed(&self, element: u32) {
        self.put(element, |old, elements| self.grow(old, elements, Relaxed), || fence(Release));
    }

    /// As [`push`](Self::push), but broken: the element that makes the deque grow is not in the new buffer.
    pub fn push_into_old(&self, element: u32) {
        let grow_in_vain = |old, elements| {
            self.grow(old, elements, Release);
            old
        };
        self.put(element, grow_in_vain, || fence(Release));
    }

    /// Takes the element at the bottom. For the owner only.
    pub fn take(&self) -> Option<u32> {
        self.take_from_bottom(|| fence(SeqCst))
    }

    /// As [`take`](Self::take), but broken: thieves may not see yet that the bottom has moved.
    pub fn take_unfenced(&self) -> Option<u32> {
        self.take_from_bottom(|| ())
    }

    /// Takes the element at the top. For any thread.
    pub fn steal(&self) -> Stolen {
        self.steal_from_top(|| fence(SeqCst))
    }

    /// As [`steal`](Self::steal), but broken: the bottom may be older than the top.
    pub fn steal_unfenced(&self) -> Stolen {
        self.steal_from_top(|| ())
    }

    fn put<'a>(&'a self, element: u32, grow: impl Fn(&'a Buffer, Range<isize>) -> &'a Buffer, publish: fn()) {
        let bottom = self.bottom.load(Relaxed);
        let top = self.top.load(Acquire);
        let mut buffer = self.buffer(Relaxed);
        if bottom - top == buffer.places.len() as isize {
            buffer = grow(buffer, top..bottom);
        }
        buffer.place(bottom).store(element, Relaxed);
        publish();
        self.bottom.store(bottom + 1, Relaxed);
    }

    fn grow(&self, old: &Buffer, elements: Range<isize>, publish: Ordering) -> &Buffer {
        let new = Buffer::boxed(2 * old.places.len(), ptr::from_ref(old).cast_mut());
        for at in elements {
            let element = old.place(at).load(Relaxed);
            // SAFETY: buffers are freed with the deque only.
            unsafe { &*new }.place(at).store(element, Relaxed);
        }
        self.buffer.store(new, publish);
        self.buffer(Relaxed)
    }

    fn take_from_bottom(&self, look_after_moving: fn()) -> Option<u32> {
        let bottom = self.bottom.load(Relaxed) - 1;
        let buffer = self.buffer(Relaxed);
        self.bottom.store(bottom, Relaxed);
        look_after_moving();
        let top = self.top.load(Relaxed);
        if top < bottom {
            return Some(buffer.place(bottom).load(Relaxed));
        }
        // At most one element is left: thieves decide by the top, and so does the owner.
        let mine = top == bottom && self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
        self.bottom.store(bottom + 1, Relaxed);
        mine.then(|| buffer.place(bottom).load(Relaxed))
    }

    fn steal_from_top(&self, look_again: fn()) -> Stolen {
        let top = self.top.load(Acquire);
        look_again();
        let bottom = self.bottom.load(Acquire);
        if top >= bottom {
            return Stolen::Empty;
        }
        // Before the compare-and-swap: then the place may be used again.
        let element = self.buffer(Acquire).place(top).load(Relaxed);
        match self.top.compare_exchange(top, top + 1, SeqCst, Relaxed) {
            Ok(_) => Stolen::Element(element),
            Err(_) => Stolen::Lost,
        }
    }

    fn buffer(&self, order: Ordering) -> &Buffer {
        // SAFETY: it is never null, and buffers are freed with the deque only.
        unsafe { &*self.buffer.load(order) }
    }
}

impl Buffer {
    fn boxed(room: usize, before: *mut Self) -> *mut Self {
        let places = (0..room).map(|_| AtomicU32::new(NOTHING)).collect();
        Box::into_raw(Box::new(Self { places, before }))
    }

    fn place(&self, at: isize) -> &AtomicU32 {
        &self.places[at as usize % self.places.len()]
    }
}

impl Drop for Deque {
    fn drop(&mut self) {
        let mut buffer = *self.buffer.get_mut();
        while !buffer.is_null() {
            // SAFETY: nobody else uses the deque any more, and a buffer has one successor.
            buffer = unsafe { Box::from_raw(buffer) }.before;
        }
    }
}

/// Two elements, of which a thief tries to get both and the owner takes what is left: each is got once.
pub fn correct() {
    each_is_got_once(2, &[2], Deque::push, Deque::take, Deque::steal);
}

/// Two elements, the owner, and two thieves.
pub fn correct_two_thieves() {
    each_is_got_once(2, &[1, 1], Deque::push, Deque::take, Deque::steal);
}

/// Three elements for two places: the deque grows while a thief is at work.
pub fn correct_growing() {
    each_is_got_once(3, &[2], Deque::push, Deque::take, Deque::steal);
}

/// Two elements, with a `take` without its fence. Right under SC.
pub fn broken_take_unfenced() {
    each_is_got_once(2, &[2], Deque::push, Deque::take_unfenced, Deque::steal);
}

/// Two elements, with a `steal` without its fence. Right under SC, TSO and PSO.
pub fn broken_steal_unfenced() {
    each_is_got_once(2, &[2], Deque::push, Deque::take, Deque::steal_unfenced);
}

/// Two elements, with a `push` without its fence. Right under SC and TSO.
pub fn broken_push_unfenced() {
    each_is_got_once(2, &[2], Deque::push_unfenced, Deque::take, Deque::steal);
}

/// Three elements for two places, with a new buffer that is not released. Right under SC and TSO.
pub fn broken_growing_relaxed() {
    each_is_got_once(3, &[2], Deque::push_growing_relaxed, Deque::take, Deque::steal);
}

/// Three elements for two places, and a `push` that goes on with the old buffer.
pub fn broken_into_old() {
    each_is_got_once(3, &[2], Deque::push_into_old, Deque::take, Deque::steal);
}

/// `attempts` are those of each thief.
fn each_is_got_once(
    elements: u32,
    attempts: &[usize],
    push: fn(&Deque, u32),
    take: fn(&Deque) -> Option<u32>,
    steal: fn(&Deque) -> Stolen,
) {
    let deque = Deque::new(2);
    let mut got = Vec::new();
    thread::scope(|scope| {
        let steal_often = |attempts| (0..attempts).map(|_| steal(&deque)).collect::<Vec<Stolen>>();
        let thieves: Vec<_> = attempts.iter().map(|&attempts| scope.spawn(move || steal_often(attempts))).collect();
        (1..=elements).for_each(|element| push(&deque, element));
        got.extend(std::iter::from_fn(|| take(&deque)));
        for thief in thieves {
            let stolen = thief.join().expect("the thief does not panic");
            got.extend(stolen.into_iter().filter_map(Stolen::element));
        }
    });
    got.sort_unstable();
    let all: Vec<u32> = (1..=elements).collect();
    assert_eq!(got, all, "each element is got once");
}
