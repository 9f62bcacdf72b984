//! The observations of the program, which count from the execution on that follows the one in which they are made.

use std::ops::{Deref, DerefMut};

use crate::step::Observed;

/// The observations of the program.
#[derive(Default)]
pub(super) struct Observing {
    /// Those that count in this execution.
    known: Observed,
    /// Those that were made in it. They count from the next one on.
    pub(super) learned: Observed,
}

impl Observing {
    /// The execution is over.
    pub(super) fn learn(&mut self) {
        self.known.join(&std::mem::take(&mut self.learned));
    }
}

impl Deref for Observing {
    type Target = Observed;

    #[inline]
    fn deref(&self) -> &Observed {
        &self.known
    }
}

impl DerefMut for Observing {
    fn deref_mut(&mut self) -> &mut Observed {
        &mut self.known
    }
}
