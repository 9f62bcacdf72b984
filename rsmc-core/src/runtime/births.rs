//! Values that an execution creates and that have to be gone at its end: the values behind `Arc`s, and tracked values.
//!
//! In the run that is reported, each reference to such a value is on record, with the call that made it.

use crate::base::ThreadId;
use crate::step::{Held, Leak, Leaked};
use crate::trace::Site;

/// Names something that was created in an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Birth {
    /// The execution.
    pub execution: u64,
    number: u32,
}

/// Names a reference on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    birth: Birth,
    number: u32,
}

impl Reference {
    /// The execution in which it was made.
    pub(super) fn execution(self) -> u64 {
        self.birth.execution
    }
}

/// A value that was created.
#[derive(Debug)]
struct Value {
    kind: &'static str,
    created: Site,
    is_gone: bool,
    /// The references on record; `None` where one was dropped.
    references: Vec<Option<Held>>,
}

/// The values that were created, in order, and the number of references that were put on record.
#[derive(Debug, Default)]
pub(super) struct Births {
    values: Vec<Value>,
    recorded: u32,
}

/// The call that turns a reference into a pointer.
const INTO_RAW: &str = "into_raw";

impl Births {
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.recorded = 0;
    }

    pub(super) fn born(&mut self, execution: u64, kind: &'static str, created: Site) -> Birth {
        let number = u32::try_from(self.values.len()).expect("an execution creates fewer than 2^32 values");
        self.values.push(Value { kind, created, is_gone: false, references: Vec::new() });
        Birth { execution, number }
    }

    /// Whether a value is still there.
    pub(super) fn is_alive(&self, birth: Birth) -> bool {
        self.values.get(birth.number as usize).is_some_and(|value| !value.is_gone)
    }

    /// Removes a value; false if it was gone already.
    pub(super) fn died(&mut self, birth: Birth) -> bool {
        let value = self.values.get_mut(birth.number as usize).filter(|value| !value.is_gone);
        value.map(|value| value.is_gone = true).is_some()
    }

    /// Puts a reference to a value on record, made by the call `verb`.
    pub(super) fn referenced(&mut self, birth: Birth, verb: &'static str, thread: ThreadId, site: Site) -> Reference {
        let held = self.next(verb, thread, site);
        let references = &mut self.values[birth.number as usize].references;
        references.push(Some(held));
        Reference { birth, number: references.len() as u32 - 1 }
    }

    fn next(&mut self, verb: &'static str, thread: ThreadId, site: Site) -> Held {
        self.recorded += 1;
        Held { thread, verb, site, number: self.recorded }
    }

    /// The number of references that were put on record.
    pub(super) fn recorded(&self) -> u32 {
        self.recorded
    }

    /// The places where values were created, and references to them.
    pub(super) fn places(&self) -> impl Iterator<Item = Site> {
        let of = |value: &Value| {
            let held: Vec<Site> = value.references.iter().flatten().map(|held| held.site).collect();
            held.into_iter().chain([value.created])
        };
        self.values.iter().flat_map(of)
    }

    fn reference(&mut self, Reference { birth, number }: Reference) -> Option<&mut Option<Held>> {
        self.values.get_mut(birth.number as usize)?.references.get_mut(number as usize)
    }

    /// A reference is dropped.
    pub(super) fn dropped(&mut self, reference: Reference) {
        self.reference(reference).map(Option::take);
    }

    /// A reference becomes a pointer.
    pub(super) fn given_out(&mut self, reference: Reference, thread: ThreadId, site: Site) {
        let now = self.next(INTO_RAW, thread, site);
        if let Some(held) = self.reference(reference) {
            *held = Some(now);
        }
    }

    /// A pointer becomes a reference again: the one that was given out last.
    pub(super) fn taken_back(&mut self, birth: Birth, thread: ThreadId, site: Site) -> Option<Reference> {
        let now = self.next("from_raw", thread, site);
        let references = &mut self.values.get_mut(birth.number as usize)?.references;
        let number = references.iter().rposition(|held| held.is_some_and(|held| held.verb == INTO_RAW))?;
        references[number] = Some(now);
        Some(Reference { birth, number: number as u32 })
    }

    /// The values that are still there.
    pub(super) fn left(&self) -> impl Iterator<Item = Leak> {
        let left = self.values.iter().filter(|value| !value.is_gone);
        left.map(|&Value { kind, created, ref references, .. }| Leak {
            kind,
            created,
            what: Leaked::Value,
            held: references.iter().flatten().copied().collect(),
        })
    }
}
