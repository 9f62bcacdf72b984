//! Values that an execution creates and that have to be gone at its end: the values behind `Arc`s, and tracked values.

use crate::step::{Leak, Leaked};
use crate::trace::Site;

/// Names something that was created in an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Birth {
    /// The execution.
    pub execution: u64,
    number: u32,
}

/// The values that were created, in order; `None` where one is gone.
#[derive(Debug, Default)]
pub(super) struct Births(Vec<Option<Leak>>);

impl Births {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn born(&mut self, execution: u64, kind: &'static str, created: Site) -> Birth {
        let number = u32::try_from(self.0.len()).expect("an execution creates fewer than 2^32 values");
        self.0.push(Some(Leak { kind, created, what: Leaked::Value }));
        Birth { execution, number }
    }

    /// Whether a value is still there.
    pub(super) fn is_alive(&self, birth: Birth) -> bool {
        matches!(self.0.get(birth.number as usize), Some(Some(_)))
    }

    /// Removes a value; false if it was gone already.
    pub(super) fn died(&mut self, birth: Birth) -> bool {
        self.0.get_mut(birth.number as usize).and_then(Option::take).is_some()
    }

    /// The values that are still there.
    pub(super) fn left(&self) -> impl Iterator<Item = Leak> {
        self.0.iter().flatten().copied()
    }
}
