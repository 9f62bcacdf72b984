//! A seqlock: a value of several words with one writer, whose readers write nothing and notice when they were
//! disturbed.
//!
//! Source. H.-J. Boehm, *Can Seqlocks Get Along With Programming Language Memory Models?*, MSPC 2012.
//!
//! A sequence number is odd while the words are being written. A reader looks at it before and after it reads them; if
//! it is odd or has changed, what was read may be torn and is thrown away. The words are relaxed atomics, since they
//! are read while they are written.
//!
//! Orderings. The writer stores the odd number, and behind a *release fence* the words; then the even number with
//! *`Release`*. The reader loads the number with *`Acquire`*, then the words, and behind an *acquire fence* the number
//! again. A `Release` store stays behind what comes before it, but what comes after may overtake it: that is why the
//! odd number needs a fence. The reader's second look is the mirror image.
//!
//! The mistakes, and the models that show them:
//!
//! - [`write_never_odd`](SeqLock::write_never_odd) counts only when it is done, and
//!   [`read_without_recheck`](SeqLock::read_without_recheck) looks at the number only once. Torn under every model.
//! - [`write_released_start`](SeqLock::write_released_start) has a `Release` store in the place of store and fence, and
//!   [`write_relaxed_end`](SeqLock::write_relaxed_end) stores the even number with `Relaxed`. Right under SC and TSO,
//!   where stores stay in order; torn under PSO.
//!
//! - [`read_unfenced`](SeqLock::read_unfenced) has no fence before the second look. None of SC, TSO and PSO reorders
//!   loads, so it is right there. Under C11 the second look may read an old number after new words: torn.

use rsmc_shim::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use rsmc_shim::sync::atomic::{AtomicU32, AtomicUsize, fence};
use rsmc_shim::thread;

/// A pair of numbers that are read together. One thread at a time may write.
pub struct SeqLock {
    /// How often a write was begun or ended.
    sequence: AtomicUsize,
    words: [AtomicU32; 2],
}

impl SeqLock {
    /// A pair.
    pub fn new(pair: [u32; 2]) -> Self {
        Self { sequence: AtomicUsize::new(0), words: [AtomicU32::new(pair[0]), AtomicU32::new(pair[1])] }
    }

    /// Replaces the pair.
    pub fn write(&self, pair: [u32; 2]) {
        let sequence = self.sequence.load(Relaxed);
        self.sequence.store(sequence + 1, Relaxed);
        fence(Release);
        self.store_words(pair);
        self.sequence.store(sequence + 2, Release);
    }

    /// As [`write`](Self::write), but broken: a reader that comes meanwhile is not warned.
    pub fn write_never_odd(&self, pair: [u32; 2]) {
        let sequence = self.sequence.load(Relaxed);
        self.store_words(pair);
        self.sequence.store(sequence + 2, Release);
    }

    /// As [`write`](Self::write), but broken: the words may be visible before the number is odd.
    pub fn write_released_start(&self, pair: [u32; 2]) {
        let sequence = self.sequence.load(Relaxed);
        self.sequence.store(sequence + 1, Release);
        self.store_words(pair);
        self.sequence.store(sequence + 2, Release);
    }

    /// As [`write`](Self::write), but broken: the number may be even before the words are visible.
    pub fn write_relaxed_end(&self, pair: [u32; 2]) {
        let sequence = self.sequence.load(Relaxed);
        self.sequence.store(sequence + 1, Relaxed);
        fence(Release);
        self.store_words(pair);
        self.sequence.store(sequence + 2, Relaxed);
    }

    /// The pair, or nothing if a write came in between. Callers try again, or do without.
    pub fn read(&self) -> Option<[u32; 2]> {
        let before = self.sequence.load(Acquire);
        if before % 2 == 1 {
            return None;
        }
        let pair = self.load_words();
        fence(Acquire);
        (self.sequence.load(Relaxed) == before).then_some(pair)
    }

    /// As [`read`](Self::read), but broken: a write that begins after the first look is not noticed.
    pub fn read_without_recheck(&self) -> Option<[u32; 2]> {
        let before = self.sequence.load(Acquire);
        if before % 2 == 1 {
            return None;
        }
        Some(self.load_words())
    }

    /// As [`read`](Self::read), but broken: the second look may come before the words are read.
    pub fn read_unfenced(&self) -> Option<[u32; 2]> {
        let before = self.sequence.load(Acquire);
        if before % 2 == 1 {
            return None;
        }
        let pair = self.load_words();
        (self.sequence.load(Relaxed) == before).then_some(pair)
    }

    fn store_words(&self, pair: [u32; 2]) {
        self.words[0].store(pair[0], Relaxed);
        self.words[1].store(pair[1], Relaxed);
    }

    fn load_words(&self) -> [u32; 2] {
        [self.words[0].load(Relaxed), self.words[1].load(Relaxed)]
    }
}

/// Two writes, and a reader that tries twice: it gets whole pairs, and no older one after a newer one.
pub fn correct() {
    is_never_torn(SeqLock::write, SeqLock::read);
}

/// The same with a writer that does not announce itself.
pub fn broken_never_odd() {
    is_never_torn(SeqLock::write_never_odd, SeqLock::read);
}

/// The same with a reader that does not look again.
pub fn broken_no_recheck() {
    is_never_torn(SeqLock::write, SeqLock::read_without_recheck);
}

/// The same with a writer whose `Release` is in the wrong place. Right under SC and TSO.
pub fn broken_released_start() {
    is_never_torn(SeqLock::write_released_start, SeqLock::read);
}

/// The same with a writer that does not release the words. Right under SC and TSO.
pub fn broken_relaxed_end() {
    is_never_torn(SeqLock::write_relaxed_end, SeqLock::read);
}

/// The same with a reader that has no fence. Right under SC, TSO and PSO.
pub fn broken_unfenced_read() {
    is_never_torn(SeqLock::write, SeqLock::read_unfenced);
}

fn is_never_torn(write: fn(&SeqLock, [u32; 2]), read: fn(&SeqLock) -> Option<[u32; 2]>) {
    let lock = SeqLock::new([0, 0]);
    thread::scope(|scope| {
        scope.spawn(|| {
            write(&lock, [1, 10]);
            write(&lock, [2, 20]);
        });
        let pairs: Vec<_> = (0..2).filter_map(|_| read(&lock)).collect();
        assert!(pairs.iter().all(|[one, ten]| 10 * one == *ten), "a torn pair: {pairs:?}");
        assert!(pairs.is_sorted(), "an old pair after a new one: {pairs:?}");
    });
    assert_eq!(lock.read(), Some([2, 20]), "nobody writes any more");
}
