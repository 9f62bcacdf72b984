//! Tokens for which threads park, and the objects that threads wait for by a token.

use std::panic::Location;
use std::sync::atomic::Ordering;

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

/// Notes that the running thread has just got the object `tag`, for which others may wait by [`park_for`]. Returns the
/// argument of [`gives_back`].
pub fn takes(tag: &Tag) -> usize {
    enter(|execution| {
        let core = &mut *execution.core.borrow_mut();
        let since = core.machine.run().trace.events.len().saturating_sub(1);
        if let Some(object) = core.locations.find(tag).filter(|_| !execution.unwinding.get()) {
            core.holders.takes(object, execution.running.get(), since);
        }
        since
    })
    .expect("called in an execution")
}

/// Notes that the running thread gives back the object `tag`.
pub fn gives_back(tag: &Tag, since: usize) {
    enter(|execution| {
        let core = &mut *execution.core.borrow_mut();
        if let Some(object) = core.locations.find(tag).filter(|_| !execution.unwinding.get()) {
            core.holders.gives_back(object, execution.running.get(), since);
        }
    });
}
