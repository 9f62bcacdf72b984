//! A mailbox for one letter: the letter is stored, then a flag says that it is there. The smallest of all protocols,
//! and part of most others.
//!
//! Orderings. The flag has to be stored with `Release`, or behind a release fence, and loaded with `Acquire`: then
//! whoever sees the flag sees the letter. TSO keeps the stores of a thread in order by itself, which is why a missing
//! `Release` can go unnoticed on x86 for years. PSO does not, nor do Arm, or the compiler on any machine.
//!
//! The mistakes, and the models that show them:
//!
//! - [`raise_relaxed`](Flag::raise_relaxed) raises the flag without `Release`. A [`Mailbox`] is right under SC and TSO
//!   then; under PSO the flag overtakes the letter, and the receiver gets what was there before. In a [`CellMailbox`]
//!   it is a data race under every model.
//! - [`is_raised_relaxed`](Flag::is_raised_relaxed) looks without `Acquire`. None of SC, TSO and PSO reorders loads, so
//!   a [`Mailbox`] is right under all three. Under C11 the receiver sees the flag and then the old letter. In a
//!   [`CellMailbox`] it is a data race under every model.
//!
//! C11 shows the first mistake in values, too: it allows all that PSO allows.

use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use rsmc_shim::sync::atomic::{AtomicBool, AtomicU32, fence};
use rsmc_shim::thread;

/// Says that something is there. It is raised once.
pub struct Flag(AtomicBool);

impl Flag {
    fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Raises the flag: whoever sees it sees everything that this thread has stored before.
    pub fn raise(&self) {
        self.0.store(true, Release);
    }

    /// As [`raise`](Self::raise), by a fence. Worth it where one fence serves several flags.
    pub fn raise_fenced(&self) {
        fence(Release);
        self.0.store(true, Relaxed);
    }

    /// As [`raise`](Self::raise), but broken: the store orders nothing.
    pub fn raise_relaxed(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether the flag is raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Acquire)
    }

    /// As [`is_raised`](Self::is_raised), by a fence. Worth it where the flag is mostly down.
    pub fn is_raised_fenced(&self) -> bool {
        let raised = self.0.load(Relaxed);
        if raised {
            fence(Acquire);
        }
        raised
    }

    /// As [`is_raised`](Self::is_raised), but broken: the load orders nothing.
    pub fn is_raised_relaxed(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// Room for a number, which is atomic itself: no access is a data race, but the number may be an old one.
pub struct Mailbox {
    letter: AtomicU32,
    posted: Flag,
}

impl Mailbox {
    /// An empty mailbox.
    pub fn new() -> Self {
        Self { letter: AtomicU32::new(0), posted: Flag::new() }
    }

    /// Puts the letter in, and raises the flag in the given way.
    pub fn post(&self, letter: u32, raise: fn(&Flag)) {
        self.letter.store(letter, Relaxed);
        raise(&self.posted);
    }

    /// The letter, if it is there, having looked at the flag in the given way.
    pub fn letter(&self, is_raised: fn(&Flag) -> bool) -> Option<u32> {
        is_raised(&self.posted).then(|| self.letter.load(Relaxed))
    }
}

/// Room for anything: the flag alone keeps the two threads apart.
pub struct CellMailbox<T> {
    letter: UnsafeCell<Option<T>>,
    posted: Flag,
}

// SAFETY: there is one `Sender` and one `Receiver`, and the flag tells whose the letter is.
unsafe impl<T: Send> Sync for CellMailbox<T> {}

/// Where the letter is posted.
pub struct Sender<'a, T>(&'a CellMailbox<T>);

/// Where it is received.
pub struct Receiver<'a, T>(&'a CellMailbox<T>);

impl<T> CellMailbox<T> {
    /// An empty mailbox.
    pub fn new() -> Self {
        Self { letter: UnsafeCell::new(None), posted: Flag::new() }
    }

    /// The two ends. Empties the mailbox: each sender has it to itself until it raises the flag.
    pub fn split(&mut self) -> (Sender<'_, T>, Receiver<'_, T>) {
        *self = Self::new();
        (Sender(self), Receiver(self))
    }
}

impl<T> Sender<'_, T> {
    /// Puts the letter in, and raises the flag in the given way.
    pub fn post(self, letter: T, raise: fn(&Flag)) {
        // SAFETY: the cell is the sender's until the flag is raised.
        self.0.letter.with_mut(|cell| unsafe { *cell = Some(letter) });
        raise(&self.0.posted);
    }
}

impl<T> Receiver<'_, T> {
    /// Takes the letter, if it is there, having looked at the flag in the given way.
    pub fn take(&mut self, is_raised: fn(&Flag) -> bool) -> Option<T> {
        if !is_raised(&self.0.posted) {
            return None;
        }
        // SAFETY: the flag is raised, so the cell is the receiver's. (If the flag is broken, the checker still runs one
        // thread at a time.)
        self.0.letter.with_mut(|cell| unsafe { (*cell).take() })
    }
}

/// Whoever sees the flag gets the letter.
pub fn correct() {
    is_never_stale(Flag::raise, Flag::is_raised);
}

/// The same with fences.
pub fn correct_fenced() {
    is_never_stale(Flag::raise_fenced, Flag::is_raised_fenced);
}

/// The same with a flag that is raised without releasing. Right under SC and TSO.
pub fn broken_relaxed() {
    is_never_stale(Flag::raise_relaxed, Flag::is_raised);
}

/// The same with a receiver that does not acquire. Right under SC, TSO and PSO.
pub fn broken_no_acquire() {
    is_never_stale(Flag::raise, Flag::is_raised_relaxed);
}

/// The letter is not touched by both threads at once.
pub fn correct_cell() {
    does_not_race(Flag::raise, Flag::is_raised);
}

/// The same with fences.
pub fn correct_cell_fenced() {
    does_not_race(Flag::raise_fenced, Flag::is_raised_fenced);
}

/// The same with a flag that is raised without releasing.
pub fn broken_cell_relaxed() {
    does_not_race(Flag::raise_relaxed, Flag::is_raised);
}

/// The same with a receiver that does not acquire.
pub fn broken_cell_no_acquire() {
    does_not_race(Flag::raise, Flag::is_raised_relaxed);
}

fn is_never_stale(raise: fn(&Flag), is_raised: fn(&Flag) -> bool) {
    let mailbox = Mailbox::new();
    thread::scope(|scope| {
        scope.spawn(|| mailbox.post(7, raise));
        assert!(matches!(mailbox.letter(is_raised), None | Some(7)), "the flag came before the letter");
    });
    assert_eq!(mailbox.letter(is_raised), Some(7));
}

fn does_not_race(raise: fn(&Flag), is_raised: fn(&Flag) -> bool) {
    let mut mailbox = CellMailbox::new();
    let (sender, mut receiver) = mailbox.split();
    let early = thread::scope(|scope| {
        scope.spawn(move || sender.post(7, raise));
        receiver.take(is_raised)
    });
    assert_eq!(early.or_else(|| receiver.take(is_raised)), Some(7));
}
