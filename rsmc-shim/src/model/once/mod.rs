//! `Once`, `OnceLock` and `LazyLock`.

mod cell;
mod flag;
mod lazy;
mod on_one_thread;

use std::fmt;

use rsmc_core::runtime::hook::calls;
use rsmc_core::trace::CallResult;

use crate::model::once::flag::{Flag, State};

pub use cell::OnceLock;
pub use lazy::LazyLock;
pub use on_one_thread::OnOneThread;

/// Mirrors [`std::sync::Once`]. In a check a static starts anew in every execution, unless it was completed outside.
pub struct Once {
    outside: std::sync::Once,
    flag: Flag,
}

/// The state that [`Once::call_once_force`] passes to its closure; mirrors [`std::sync::OnceState`]. In a check it is
/// that of the execution.
#[derive(Debug)]
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// Whether an earlier call panicked.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

impl Once {
    /// A `Once` that was not called.
    #[must_use]
    #[track_caller]
    #[allow(clippy::new_without_default, reason = "as std")]
    pub const fn new() -> Self {
        Self { outside: std::sync::Once::new(), flag: Flag::new("Once") }
    }

    fn state_outside(&self) -> State {
        if self.outside.is_completed() { State::Done } else { State::Empty }
    }

    /// Calls `act` unless it was called before; waits for another thread that does so.
    ///
    /// # Panics
    /// If `act` panics, or an earlier one has.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, act: F) {
        if !self.flag.is_modelled() {
            return self.outside.call_once(act);
        }
        self.call("call_once", |state| {
            assert!(!state.is_poisoned(), "Once instance has previously been poisoned");
            act();
        });
    }

    /// As [`call_once`](Self::call_once), also after an earlier call panicked.
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, act: F) {
        if !self.flag.is_modelled() {
            return self.outside.call_once_force(|state| act(&OnceState { poisoned: state.is_poisoned() }));
        }
        self.call("call_once_force", act);
    }

    #[track_caller]
    fn call<F: FnOnce(&OnceState)>(&self, verb: &'static str, act: F) {
        let call = self.flag.call(self.state_outside(), verb);
        if self.flag.load(self.state_outside()) == Some(State::Done) {
            calls::decide(CallResult::Remark("was called before"));
            return;
        }
        let (state, changing) = self.flag.change(verb, self.state_outside(), State::Poisoned);
        calls::decide(CallResult::Remark(match state {
            State::Done => "was called before",
            State::Poisoned | State::Empty => "runs the closure",
        }));
        drop(call);
        match state {
            State::Done => changing.leave(),
            state => {
                act(&OnceState { poisoned: state == State::Poisoned });
                changing.finish(State::Done);
            }
        }
    }

    /// Whether a call has completed.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        let _call = self.flag.call(self.state_outside(), "is_completed");
        let Some(state) = self.flag.load(self.state_outside()) else { return self.outside.is_completed() };
        let is_completed = state == State::Done;
        calls::decide(CallResult::Is(if is_completed { "true" } else { "false" }));
        is_completed
    }

    /// Waits until a call has completed. (Stable in std since 1.86.)
    ///
    /// # Panics
    /// If a call panicked.
    #[track_caller]
    pub fn wait(&self) {
        self.wait_for(false);
    }

    /// As [`wait`](Self::wait), through panics.
    #[track_caller]
    pub fn wait_force(&self) {
        self.wait_for(true);
    }

    #[track_caller]
    fn wait_for(&self, force: bool) {
        let _call = self.flag.call(self.state_outside(), "wait");
        let is_awaited = |state| state == State::Done || (state == State::Poisoned && !force);
        match self.flag.wait(self.state_outside(), is_awaited) {
            None if force => self.outside.wait_force(),
            None => self.outside.wait(),
            Some(State::Poisoned) => panic!("Once instance has previously been poisoned"),
            Some(_) => {}
        }
    }
}

/// A [`Once`] that was not called.
#[allow(clippy::declare_interior_mutable_const, reason = "as std")]
#[deprecated(note = "use `Once::new` instead")]
pub const ONCE_INIT: Once = Once::new();

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}
