//! A stack behind a lock, in which a `push` that finds the lock taken offers its value to a `pop`.

use rsmc::sync::Mutex;
use rsmc::sync::atomic::{
    AtomicU8,
    Ordering::{Acquire, Relaxed, Release},
};

const NOTHING: u8 = 0;
const TAKEN: u8 = 255;

#[derive(Default)]
pub struct EliminationStack {
    stack: Mutex<Vec<u8>>,
    /// The value on offer.
    offer: AtomicU8,
}

impl EliminationStack {
    pub fn push(&self, value: u8) {
        self.push_unless(value, |stack| {
            let was_taken = stack.offer.compare_exchange(value, NOTHING, Relaxed, Relaxed).is_err();
            if was_taken {
                stack.offer.store(NOTHING, Relaxed);
            }
            was_taken
        });
    }

    /// Broken: the value may have been taken, and is pushed nevertheless.
    pub fn push_unasked(&self, value: u8) {
        self.push_unless(value, |stack| {
            stack.offer.store(NOTHING, Relaxed);
            false
        });
    }

    /// Pushes a value, unless it was offered and `withdraw` says that a `pop` has taken it.
    fn push_unless(&self, value: u8, withdraw: impl Fn(&Self) -> bool) {
        if let Ok(mut stack) = self.stack.try_lock() {
            return stack.push(value);
        }
        let is_offered = self.offer.compare_exchange(NOTHING, value, Release, Relaxed).is_ok();
        if !is_offered || !withdraw(self) {
            self.stack.lock().unwrap().push(value);
        }
    }

    pub fn pop(&self) -> Option<u8> {
        let offered = self.offer.load(Relaxed);
        if ![NOTHING, TAKEN].contains(&offered) && self.offer.compare_exchange(offered, TAKEN, Acquire, Relaxed).is_ok()
        {
            return Some(offered);
        }
        self.stack.lock().unwrap().pop()
    }
}
