//! A modelled object whose operations are the steps of a state machine, one at a time.

use std::cell::{RefCell, RefMut};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::Ordering::{Acquire, Release};

use rsmc_core::runtime::hook::calls::{self, InCall};
use rsmc_core::runtime::{Object, Tag, hook};
use rsmc_core::trace::{Action, FREE};

use crate::model::slot;
use crate::model::surely::surely;
use rsmc_core::runtime::Identity;

/// The object. Each operation takes a modelled lock, so that explorers know their order, and finds the state that the
/// last one left in this execution.
pub(crate) struct Monitor<S> {
    kind: &'static str,
    lock: Identity,
    state: PhantomData<fn() -> S>,
}

impl<S: Default> Monitor<S> {
    #[track_caller]
    pub(crate) const fn new(kind: &'static str) -> Self {
        Self { kind, lock: Identity::new(), state: PhantomData }
    }

    /// Begins a call of a method, which a report shows as one row.
    pub(crate) fn call(&self, place: &'static Location<'static>, verb: &'static str) -> InCall {
        calls::begin(Some(place), self.object(), || FREE, self.kind, verb)
    }

    /// Performs an operation, in a check. It must not use the same object.
    #[track_caller]
    pub(crate) fn act<R>(&self, operation: impl FnOnce(&mut S) -> R) -> R {
        self.act_at(Location::caller(), operation)
    }

    /// As [`act`](Self::act), at a place that is not the caller's: a destructor has no line of its own.
    pub(crate) fn act_at<R>(&self, place: &'static Location<'static>, operation: impl FnOnce(&mut S) -> R) -> R {
        if let Some(mut state) = self.aside(place) {
            return operation(&mut state);
        }
        self.access(place, Action::Acquire);
        let leave = Leave(self, place);
        if self.state().is_none() {
            slot::fill(self.lock.tag(), RefCell::new(S::default()));
        }
        let result = operation(&mut self.state().expect("it was filled").borrow_mut());
        drop(leave);
        result
    }

    /// The state when the execution is over, unless a thread ended in the middle of an operation. A thread that ended
    /// at an end of its operation may still have the lock.
    fn aside(&self, place: &'static Location<'static>) -> Option<RefMut<'_, S>> {
        if !hook::executions::is_unwinding() {
            return None;
        }
        // Counts as an operation: how many destructors may perform is limited.
        self.access(place, Action::Load);
        self.state()?.try_borrow_mut().ok()
    }

    /// The state, if there was an operation in this execution.
    fn state(&self) -> Option<&RefCell<S>> {
        // SAFETY: it was filled with this type, and stays as long as the object is there and the execution goes on.
        slot::get::<RefCell<S>>(self.lock.tag()).map(|state| unsafe { state.as_ref() })
    }

    /// Whether the object is used in a check, where its operations are [`act`](Self::act)s.
    #[track_caller]
    pub(crate) fn is_modelled(&self) -> bool {
        hook::objects::meets(self.object())
    }

    pub(crate) fn object(&self) -> Object<'_> {
        self.lock.object(self.kind)
    }

    /// The token of a thread that waits for the object.
    pub(crate) fn token<'a>(&self, tag: &'a Tag) -> Object<'a> {
        Object { tag, ..self.object() }
    }

    /// The tag that names the object in an execution.
    pub(crate) fn tag(&self) -> &Tag {
        self.lock.tag()
    }

    fn access(&self, place: &'static Location<'static>, action: Action) {
        let order = if action.reads() { Acquire } else { Release };
        hook::objects::access_at(place, self.object(), || FREE, action, order, order);
    }
}

/// Gives the lock back, also if the execution ends within the operation.
struct Leave<'a, S: Default>(&'a Monitor<S>, &'static Location<'static>);

impl<S: Default> Drop for Leave<'_, S> {
    fn drop(&mut self) {
        surely(|| self.0.access(self.1, Action::Release { poisoned: false }));
    }
}

impl<S> Drop for Monitor<S> {
    fn drop(&mut self) {
        // SAFETY: it was filled with this type, and the object is gone.
        drop(unsafe { slot::take::<RefCell<S>>(self.lock.tag()) });
    }
}
