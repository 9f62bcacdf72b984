//! What is seen of a thread at a glance: enough to tell that it is not where it was.

use crate::base::mix;

/// The registers that a call preserves: so many as the platform has.
pub type Preserved = [u64; if cfg!(target_arch = "aarch64") { 19 } else { 6 }];

/// The part of a thread's state that is seen at a glance.
#[derive(Clone, Copy, Debug)]
pub struct Glimpse {
    /// Its place, and the calls by which it came there.
    pub calls: u64,
    /// Its registers.
    pub registers: Preserved,
}

impl Glimpse {
    /// Whether it is the same as another one, as far as the registers are needed that have a bit.
    #[inline]
    pub(super) fn is_same(&self, other: &Self, needed: u32) -> bool {
        let mut pairs = self.registers.iter().zip(&other.registers).enumerate();
        self.calls == other.calls && pairs.all(|(bit, (own, others))| own == others || needed >> bit & 1 == 0)
    }

    /// A number for the calls and the registers that are needed.
    pub(super) fn number(&self, needed: u32) -> u64 {
        let registers = self.registers.iter().enumerate();
        registers.fold(self.calls, |number, (bit, register)| mix(number, register * u64::from(needed >> bit & 1)))
    }
}

/// The task of an executor where a thread comes to an operation or a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glance {
    /// The thread was not here before in this state.
    New,
    /// It was here before: the executor reports what it sees without much cost, by [`Machine::glance_closer`].
    ///
    /// [`Machine::glance_closer`]: crate::machine::Machine::glance_closer
    Closer,
    /// It may have been here in this state: the executor reports the state, by [`Machine::visit`].
    ///
    /// [`Machine::visit`]: crate::machine::Machine::visit
    Ask,
}
