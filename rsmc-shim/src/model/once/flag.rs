//! The common part of `Once`, `OnceLock` and `LazyLock` in a check: a state, and a lock for the thread that changes it.

use std::panic::Location;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

use rsmc_core::runtime::hook::calls::{self, InCall};
use rsmc_core::runtime::{Tag, hook};
use rsmc_core::trace::{Action, CallResult, FREE};

use crate::model::surely::surely;
use rsmc_core::runtime::Identity;

/// The progress of an initialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Empty = 0,
    Done = 1,
    /// The initialisation panicked.
    Poisoned = 2,
}

impl State {
    fn of(value: u64) -> Self {
        match value {
            1 => State::Done,
            2 => State::Poisoned,
            _ => State::Empty,
        }
    }
}

/// The method of a report that has a value and runs no closure.
pub(super) const SET: &str = "set";

pub(super) struct Flag {
    kind: &'static str,
    state: Identity,
    lock: Identity,
}

/// The right to change a state. Dropping it gives the right back.
pub(super) struct Changing<'a> {
    flag: &'a Flag,
    /// The method that changes it.
    verb: &'static str,
    place: &'static Location<'static>,
    /// The state that it leaves, unless that is `Empty`; at first the state after a panic.
    then: State,
}

impl Flag {
    #[track_caller]
    pub(super) const fn new(kind: &'static str) -> Self {
        Self { kind, state: Identity::new(), lock: Identity::new() }
    }

    /// The tag that names the object in an execution.
    pub(super) fn tag(&self) -> &Tag {
        self.state.tag()
    }

    /// Whether the object is used in a check.
    #[track_caller]
    pub(super) fn is_modelled(&self) -> bool {
        hook::objects::meets(self.state.object(self.kind))
    }

    /// Begins a call of a method, which a report shows as one row. `outside` is the state outside.
    #[track_caller]
    pub(super) fn call(&self, outside: State, verb: &'static str) -> InCall {
        calls::begin(Some(Location::caller()), self.state.object(self.kind), || outside as u64, self.kind, verb)
    }

    fn access(
        &self,
        place: &'static Location<'static>,
        outside: State,
        action: Action,
        order: Ordering,
    ) -> Option<State> {
        let object = self.state.object(self.kind);
        let outcome = hook::objects::access_at(place, object, || outside as u64, action, order, order)?;
        Some(State::of(outcome.read))
    }

    /// The state; `None` outside a check. `outside` is the state there, which is the first in an execution.
    #[track_caller]
    pub(super) fn load(&self, outside: State) -> Option<State> {
        self.access(Location::caller(), outside, Action::Load, Acquire)
    }

    /// Waits for a state with this property, and returns it; `None` outside a check.
    #[track_caller]
    pub(super) fn wait(&self, outside: State, is_awaited: impl Fn(State) -> bool) -> Option<State> {
        let since = hook::loops::begins_to_wait();
        loop {
            hook::loops::waits(since);
            let state = self.load(outside)?;
            if is_awaited(state) {
                return Some(state);
            }
        }
    }

    /// Sets the state, for a caller that has the object alone.
    #[track_caller]
    pub(super) fn set(&self, outside: State, state: State) {
        self.access(Location::caller(), outside, Action::Store(state as u64), Relaxed);
    }

    /// In a check: waits for the right to change the state, and returns the state at that time with it.
    #[track_caller]
    pub(super) fn change(&self, verb: &'static str, outside: State, failed: State) -> (State, Changing<'_>) {
        let place = Location::caller();
        self.access_lock(place, Action::Acquire, Acquire);
        let changing = Changing { flag: self, verb, place, then: failed };
        let state = self.access(place, outside, Action::Load, Relaxed).expect("in a check");
        (state, changing)
    }

    fn access_lock(&self, place: &'static Location<'static>, action: Action, order: Ordering) {
        hook::objects::access_at(place, self.lock.object(self.kind), || FREE, action, order, order);
    }
}

impl Changing<'_> {
    /// Sets the state and lets others go on.
    pub(super) fn finish(mut self, state: State) {
        self.then = state;
    }

    /// Lets others go on with the state as it is.
    pub(super) fn leave(self) {
        self.finish(State::Empty);
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let Self { flag, verb, place, then } = *self;
        surely(|| {
            let object = flag.state.object(flag.kind);
            let _call = calls::begin(Some(place), object, || State::Empty as u64, flag.kind, verb);
            if then != State::Empty {
                flag.access(place, State::Empty, Action::Store(then as u64), Release);
                calls::decide(match then {
                    State::Done if verb == SET => CallResult::Nothing,
                    State::Done => CallResult::Remark("is done"),
                    State::Empty | State::Poisoned => CallResult::Remark("panicked"),
                });
            }
            flag.access_lock(place, Action::Release { poisoned: false }, Release);
        });
    }
}
