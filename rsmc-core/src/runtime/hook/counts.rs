//! Counts of references, and values that have to be gone at the end of an execution.

use crate::base::ThreadId;
use crate::runtime::arena;
use crate::runtime::births::{Birth, Births, Reference};
use crate::runtime::current::in_current;
use crate::runtime::execution::Execution;
use crate::runtime::hook::enter::{enter, here};
use crate::runtime::identity::Object;
use crate::runtime::references::Dropping;
use crate::trace::{Act, Site};

/// Notes that a count of references is about to change: an update, so the stores of the thread become visible first. No
/// scheduling point.
#[track_caller]
pub fn counting() {
    if in_current(Execution::has_buffers) == Some(true) {
        drain(here());
    }
}

/// Apart, so that whoever has no buffers saves no registers for it.
#[cold]
fn drain(site: Site) {
    enter(|execution| execution.count(site));
}

/// As [`counting`], unless [`counts_are_steps`]; returns whether they are. `None` outside executions.
#[inline]
#[track_caller]
pub fn counting_is_a_step(type_name: &'static str) -> Option<bool> {
    let counts_for_nothing = in_current(|execution| {
        if execution.unwinding.get() {
            return true;
        }
        let core = execution.core.borrow();
        !core.observed.has_counts() && !core.machine.has_buffers()
    })?;
    Some(!counts_for_nothing && ask_whether_a_step(type_name, here()))
}

/// Looks closer at a count that may be observed, or wait for buffers. Apart, as [`drain`].
#[cold]
fn ask_whether_a_step(type_name: &'static str, site: Site) -> bool {
    let is_step = counts_are_steps(type_name);
    if !is_step && in_current(Execution::has_buffers) == Some(true) {
        drain(site);
    }
    is_step
}

/// Whether the counting of references of an `Arc` of this type consists of steps, since the program was seen to observe
/// it.
#[inline]
pub fn counts_are_steps(type_name: &'static str) -> bool {
    let are_steps =
        |execution: &Execution| !execution.unwinding.get() && execution.core.borrow().observed.has_counts_of(type_name);
    in_current(are_steps) == Some(true)
}

/// Notes that the program observes how many references there are of an `Arc` of this type. If another thread could
/// change that now, the exploration starts again with their counting as steps.
pub fn counts_observed(type_name: &'static str) {
    enter(|execution| {
        if !execution.unwinding.get() {
            execution.core.borrow_mut().see_counts(execution.running.get(), type_name);
        }
    });
}

/// Drops a value since the last reference of an `Arc` of this type is dropped. If that performs visible operations, the
/// program observes which thread drops it.
pub fn dropping(object: Object<'_>, type_name: &'static str, drop: impl FnOnce()) {
    struct Until(Dropping);
    impl Drop for Until {
        fn drop(&mut self) {
            enter(|execution| execution.has_dropped(self.0));
        }
    }
    let dropping = in_current(|execution| execution.begins_to_drop(object, type_name));
    let _until = dropping.map(Until);
    drop();
}

/// A reference to a shared value of this type is dropped; `last` says that no other is left. Gives happens-before edges
/// only.
#[track_caller]
pub fn reference_dropped(object: Object<'_>, type_name: &'static str, last: bool) {
    let site = here();
    enter(|execution| execution.drops_reference(object, type_name, last, site));
}

/// Notes that something was created that has to be gone at the end of the execution; `None` outside executions, and
/// where one is over.
#[track_caller]
pub fn born(kind: &'static str) -> Option<Birth> {
    let site = here();
    enter(|execution| {
        let core = &mut *execution.core.borrow_mut();
        let number = core.locations.execution();
        (!execution.unwinding.get()).then(|| core.births.born(number, kind, site, core.captures.is_some()))
    })
    .flatten()
}

/// Notes that it is gone; false if it was gone before.
pub fn died(birth: Birth) -> bool {
    in_current(|execution| {
        let core = &mut *execution.core.borrow_mut();
        core.locations.execution() != birth.execution || core.births.died(birth)
    })
    .unwrap_or(true)
}

/// Puts a reference to a value on record, made by the call `verb`; `None` if the execution is over.
#[track_caller]
pub fn referenced(birth: Birth, verb: &'static str) -> Option<Reference> {
    let site = here();
    of_births(birth.execution, |births, thread| births.referenced(birth, verb, thread, site))
}

/// Notes that a reference on record is dropped.
pub fn reference_ends(reference: Reference) {
    of_births(reference.execution, |births, _| births.dropped(reference));
}

/// Notes that a reference on record becomes a pointer.
#[track_caller]
pub fn reference_given_out(reference: Reference) {
    let site = here();
    of_births(reference.execution, |births, thread| births.given_out(reference, thread, site));
}

/// Notes that a pointer becomes a reference to a value again.
#[track_caller]
pub fn reference_taken_back(birth: Birth) -> Option<Reference> {
    let site = here();
    of_births(birth.execution, |births, thread| births.taken_back(birth, thread, site)).flatten()
}

/// Acts on the record of values, if this is the execution of that number. A reference may be dropped where the machine
/// broke down in the middle of a step; then nothing is noted.
fn of_births<R>(number: u64, act: impl FnOnce(&mut Births, ThreadId) -> R) -> Option<R> {
    let in_it = |execution: &Execution| {
        let core = &mut *execution.core.try_borrow_mut().ok()?;
        if core.locations.execution() != number {
            return None;
        }
        let before = core.births.made();
        let result = act(&mut core.births, execution.running.get());
        if core.births.made() > before && core.captures.is_some() {
            execution.capture(core, Act::Reference(core.births.made()));
        }
        Some(result)
    };
    enter(in_it).flatten()
}

/// Makes something of rsmc's own, whose memory is not the user's.
pub fn aside<R>(make: impl FnOnce() -> R) -> R {
    let _ours = arena::outside();
    make()
}
