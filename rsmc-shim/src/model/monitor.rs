//! A modelled object whose operations are the steps of a state machine, one at a time.

use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::Ordering::{Acquire, Release};

use rsmc_core::runtime::hook;
use rsmc_core::trace::{Action, FREE};

use crate::model::identity::Identity;
use crate::model::slot;
use crate::model::surely::surely;

/// The object. Each operation takes a modelled lock, so that explorers know their order, and finds the state that the last
/// one left in this execution.
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

    /// Performs an operation, in a check. It must not use the same object.
    #[track_caller]
    pub(crate) fn act<R>(&self, operation: impl FnOnce(&mut S) -> R) -> R {
        let place = Location::caller();
        self.access(place, Action::Acquire);
        let leave = Leave(self, place);
        let tag = self.lock.tag();
        if slot::get::<S>(tag).is_none() {
            slot::fill(tag, S::default());
        }
        let mut state = slot::get::<S>(tag).expect("it was filled");
        // SAFETY: it was filled with an `S`, and who has the lock is alone with it.
        let result = operation(unsafe { state.as_mut() });
        drop(leave);
        result
    }

    fn access(&self, place: &'static Location<'static>, action: Action) {
        let order = if action.locks() { Acquire } else { Release };
        hook::access_at(place, self.lock.object(self.kind), || FREE, action, order, order);
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
        // SAFETY: it was filled with an `S`, and the object is gone.
        drop(unsafe { slot::take::<S>(self.lock.tag()) });
    }
}
