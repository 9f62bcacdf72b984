//! Values that an execution creates and that have to be gone at its end: the values behind `Arc`s, and tracked values.
//!
//! In the run that is reported, each reference to such a value is on record, with the call that made it.

use crate::base::{LocId, ThreadId};
use crate::step::{Held, Leak, Leaked};
use crate::trace::Site;

/// Names something that was created in an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Birth {
    /// The execution.
    pub execution: u64,
    /// Whether references to it are put on record.
    pub has_record: bool,
    number: u32,
}

/// Names a reference on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The execution in which it was made.
    pub execution: u64,
    number: u32,
}

/// The values that were created, in order; `None` where one is gone.
#[derive(Debug, Default)]
pub(super) struct Births {
    values: Vec<Option<(&'static str, Site)>>,
    /// The references on record: the number of the value, and `None` where one was dropped.
    references: Vec<(u32, Option<Held>)>,
    /// The number of acts that made one.
    made: u32,
    /// The drops of references to values behind `Arc`s by threads that were not alone.
    pub(super) drops: Vec<Dropped>,
    /// A fence may acquire some of them: one of the program, or that of a last drop.
    pub(super) has_fence: bool,
}

/// The drop of a reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dropped {
    pub(super) value: LocId,
    pub(super) type_name: &'static str,
    /// Whether no other reference is left.
    pub(super) last: bool,
}

/// The call that turns a reference into a pointer.
const INTO_RAW: &str = "into_raw";

impl Births {
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.references.clear();
        self.made = 0;
        self.drops.clear();
        self.has_fence = false;
    }

    pub(super) fn born(&mut self, execution: u64, kind: &'static str, created: Site, has_record: bool) -> Birth {
        let number = u32::try_from(self.values.len()).expect("an execution creates fewer than 2^32 values");
        self.values.push(Some((kind, created)));
        Birth { execution, has_record, number }
    }

    /// Whether a value is still there.
    pub(super) fn is_alive(&self, birth: Birth) -> bool {
        matches!(self.values.get(birth.number as usize), Some(Some(_)))
    }

    /// Removes a value; false if it was gone already.
    pub(super) fn died(&mut self, birth: Birth) -> bool {
        self.values.get_mut(birth.number as usize).and_then(Option::take).is_some()
    }

    /// Puts a reference to a value on record, made by the call `verb`.
    pub(super) fn referenced(&mut self, birth: Birth, verb: &'static str, thread: ThreadId, site: Site) -> Reference {
        let held = self.make(verb, thread, site);
        self.references.push((birth.number, Some(held)));
        Reference { execution: birth.execution, number: self.references.len() as u32 - 1 }
    }

    fn make(&mut self, verb: &'static str, thread: ThreadId, site: Site) -> Held {
        self.made += 1;
        Held { thread, verb, site, number: self.made }
    }

    /// The number of acts that made references on record.
    pub(super) fn made(&self) -> u32 {
        self.made
    }

    /// The places where values were created, and references to them made.
    pub(super) fn places(&self) -> impl Iterator<Item = Site> {
        let created = self.values.iter().flatten().map(|&(_, created)| created);
        created.chain(self.references.iter().filter_map(|(_, held)| held.map(|held| held.site)))
    }

    /// A reference is dropped.
    pub(super) fn dropped(&mut self, reference: Reference) {
        self.set(reference, None);
    }

    /// A reference becomes a pointer.
    pub(super) fn given_out(&mut self, reference: Reference, thread: ThreadId, site: Site) {
        let held = self.make(INTO_RAW, thread, site);
        self.set(reference, Some(held));
    }

    fn set(&mut self, reference: Reference, held: Option<Held>) {
        if let Some((_, own)) = self.references.get_mut(reference.number as usize) {
            *own = held;
        }
    }

    /// A pointer becomes a reference again: the one that was given out last.
    pub(super) fn taken_back(&mut self, birth: Birth, thread: ThreadId, site: Site) -> Option<Reference> {
        let is_pointer =
            |(of, held): &(u32, Option<Held>)| *of == birth.number && held.is_some_and(|held| held.verb == INTO_RAW);
        let number = self.references.iter().rposition(is_pointer)? as u32;
        let reference = Reference { execution: birth.execution, number };
        let held = self.make("from_raw", thread, site);
        self.set(reference, Some(held));
        Some(reference)
    }

    /// Adds the values that are still there.
    #[inline]
    pub(super) fn add_left(&self, leaks: &mut Vec<Leak>) {
        if self.values.iter().any(Option::is_some) {
            self.add_some(leaks);
        }
    }

    #[cold]
    fn add_some(&self, leaks: &mut Vec<Leak>) {
        let left = self.values.iter().zip(0..).filter_map(|(value, number)| Some(((*value)?, number)));
        let leak = |((kind, created), number)| Leak { kind, created, what: Leaked::Value, held: self.held(number) };
        leaks.extend(left.map(leak));
    }

    fn held(&self, value: u32) -> Vec<Held> {
        self.references.iter().filter(|(of, _)| *of == value).filter_map(|(_, held)| *held).collect()
    }
}
