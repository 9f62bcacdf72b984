//! Tokens for which threads park, and the objects that threads wait for by a token.

use std::panic::Location;
use std::sync::atomic::Ordering;

use crate::base::{LocId, ThreadId};
use crate::runtime::execution::Core;
use crate::runtime::holders::Place;
use crate::runtime::hook::enter::{enter, here};
use crate::runtime::hook::objects::{access, access_at};
use crate::runtime::identity::Object;
use crate::runtime::locations::Tag;
use crate::trace::{Action, Rmw, RmwKind};

/// Waits for the token of the calling thread, which is `tag`, and takes it.
#[track_caller]
pub fn park(tag: &Tag) {
    access(Object { tag, kind: "park token", created: None }, || 0, Action::Park, Ordering::Acquire, Ordering::Acquire);
}

/// As [`park`], by a thread that waits for an object that others have, which is `object` and was used before.
#[track_caller]
pub fn park_for(tag: &Tag, object: &Tag) {
    let site = here();
    enter(|execution| {
        let token = execution.locate(Object { tag, kind: "park token", created: None }, || 0, site);
        let core = &mut *execution.core.borrow_mut();
        let object = core.locations.find(object).expect("the object was used before");
        core.holders.waits(token, object);
    });
    park(tag);
}

/// Takes the token of the calling thread, which is `tag`, if it is available. Returns whether it was.
#[track_caller]
pub fn try_park(tag: &Tag) -> bool {
    let take = Action::Rmw(Rmw { kind: RmwKind::Swap, operand: 0, bits: 1 });
    let token = Object { tag, kind: "park token", created: None };
    access(token, || 0, take, Ordering::Acquire, Ordering::Acquire).is_some_and(|outcome| outcome.read == 1)
}

/// Makes the token `tag` available.
#[track_caller]
pub fn unpark(tag: &Tag) {
    unpark_at(Location::caller(), tag);
}

/// As [`unpark`], at a place that is not the caller's.
pub fn unpark_at(place: &'static Location<'static>, tag: &Tag) {
    let order = Ordering::Release;
    access_at(place, Object { tag, kind: "park token", created: None }, || 0, Action::Unpark, order, order);
}

/// Notes that the running thread makes a claim to the object `tag`, in a turn that it has there: it gets the object, or
/// waits for it.
pub fn claims(tag: &Tag) {
    on_object(tag, |core, thread, object| core.machine.claims(thread, object));
}

/// Notes that the running thread gives up a claim to the object `tag`, in a turn that it has there.
pub fn gives_up_claim(tag: &Tag) {
    on_object(tag, |core, thread, object| core.machine.gives_up_claim(thread, object));
}

/// Notes that the running thread has just got the object `tag`, for which others may wait by [`park_for`]. Returns the
/// argument of [`gives_back`]; `None` where the execution is over.
pub fn takes(tag: &Tag) -> Option<Place> {
    on_object(tag, |core, thread, object| {
        let since = core.machine.run().trace.events.len().saturating_sub(1);
        core.holders.takes(object, thread, since)
    })
}

/// Notes that the running thread gives back the object `tag`.
pub fn gives_back(tag: &Tag, place: Place) {
    on_object(tag, |core, thread, _| core.holders.gives_back(thread, place));
}

/// Does this for the running thread and an object that was used before, unless the execution is over.
fn on_object<R>(tag: &Tag, note: impl FnOnce(&mut Core, ThreadId, LocId) -> R) -> Option<R> {
    enter(|execution| {
        let core = &mut *execution.core.borrow_mut();
        let object = core.locations.find(tag).filter(|_| !execution.unwinding.get())?;
        Some(note(core, execution.running.get(), object))
    })
    .flatten()
}
