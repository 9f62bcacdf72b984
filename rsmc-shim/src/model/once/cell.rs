//! `OnceLock`.

use std::fmt;
use std::sync::OnceLock as StdOnceLock;

use rsmc_core::runtime::hook::calls;
use rsmc_core::trace::CallResult;

use crate::model::once::flag::{Flag, SET, State};
use crate::model::slot;

/// Mirrors [`std::sync::OnceLock`].
///
/// In a check, asking whether there is a value is an acquiring load, and setting it takes a lock: threads that come
/// while another makes the value wait for it. A value that is set in a check is seen in that execution only. So a
/// static starts empty in each, or with what it was set to outside; its value is dropped when the execution is over,
/// and references to it must not be kept longer. One that is no static, or where that is not known (elsewhere than on
/// Linux), leaks the value of the first execution that leaves one in it.
pub struct OnceLock<T> {
    outside: StdOnceLock<T>,
    flag: Flag,
    /// It starts empty in an execution, whatever it is outside.
    anew: bool,
}

impl<T> OnceLock<T> {
    /// An empty cell.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        Self { outside: StdOnceLock::new(), flag: Flag::new("OnceLock"), anew: false }
    }

    /// An empty cell, which starts empty in every execution.
    #[track_caller]
    pub(super) const fn of_lazy() -> Self {
        Self { outside: StdOnceLock::new(), flag: Flag::new("LazyLock"), anew: true }
    }

    fn state_outside(&self) -> State {
        if !self.anew && self.outside.get().is_some() { State::Done } else { State::Empty }
    }

    /// The value that was set in this execution, or outside.
    fn value(&self) -> Option<&T> {
        match slot::get(self.flag.tag()) {
            // SAFETY: it was filled with a `T`, and no code has it mutably meanwhile.
            Some(value) => Some(unsafe { value.as_ref() }),
            None => self.outside.get(),
        }
    }

    /// The value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        let _call = self.flag.call(self.state_outside(), "get");
        let state = self.flag.load(self.state_outside());
        calls::decide(CallResult::Is(if state == Some(State::Done) { "a value" } else { "none" }));
        match state {
            Some(State::Done) | None => self.value(),
            Some(_) => None,
        }
    }

    /// The value, for writing, if there is one.
    #[track_caller]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if self.flag.load(self.state_outside()).is_some_and(|state| state != State::Done) {
            return None;
        }
        match slot::get(self.flag.tag()) {
            // SAFETY: as in `value`, and no other code has the object.
            Some(mut value) => Some(unsafe { value.as_mut() }),
            None => self.outside.get_mut(),
        }
    }

    /// Waits until there is a value. (Stable in std since 1.86.)
    #[track_caller]
    pub fn wait(&self) -> &T {
        let _call = self.flag.call(self.state_outside(), "wait");
        match self.flag.wait(self.state_outside(), |state| state == State::Done) {
            Some(_) => self.value().expect("it was set"),
            None => self.outside.wait(),
        }
    }

    /// Sets the value.
    ///
    /// # Errors
    /// The value, if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_poison(SET, State::Empty, || value.take().expect("it is made once"));
        value.map_or(Ok(()), Err)
    }

    /// The value, made by `make` if there is none.
    ///
    /// A `make` that uses the cell itself is reported as a deadlock in a check.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, make: F) -> &T {
        self.get_or_poison("get_or_init", State::Empty, make)
    }

    /// As [`get_or_init`](Self::get_or_init); `failed` is the state after a panic of `make`, and `verb` the
    /// method for reports.
    #[track_caller]
    pub(super) fn get_or_poison<F: FnOnce() -> T>(&self, verb: &'static str, failed: State, make: F) -> &T {
        let call = self.flag.call(self.state_outside(), verb);
        match self.flag.load(self.state_outside()) {
            None => return self.outside.get_or_init(make),
            Some(State::Done) => {
                calls::decide(CallResult::Remark("has a value"));
                return self.value().expect("it was set");
            }
            Some(_) => {}
        }
        let (state, changing) = self.flag.change(verb, self.state_outside(), failed);
        match state {
            State::Done => calls::decide(CallResult::Remark("has a value")),
            State::Poisoned => calls::decide(CallResult::Remark("is poisoned")),
            // The value is there already, and the row is where the cell gets it.
            State::Empty if verb == SET => {}
            State::Empty => calls::decide(CallResult::Remark("runs the closure")),
        }
        drop(call);
        match state {
            State::Done => changing.leave(),
            State::Poisoned => {
                changing.leave();
                panic!("LazyLock instance has previously been poisoned");
            }
            State::Empty => {
                slot::fill(self.flag.tag(), make());
                changing.finish(State::Done);
            }
        }
        self.value().expect("it was set")
    }

    /// Takes the value out and leaves the cell empty.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        let state = self.flag.load(self.state_outside());
        if state.is_some_and(|state| state != State::Done) {
            return None;
        }
        if state.is_some() {
            self.flag.set(State::Done, State::Empty);
        }
        // SAFETY: the slot was filled with a `T`, and only the caller has the object.
        unsafe { slot::take(self.flag.tag()) }.or_else(|| self.outside.take())
    }

    /// Unwraps the value.
    #[track_caller]
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        // SAFETY: the slot was filled with a `T`, and the object is gone.
        drop(unsafe { slot::take::<T>(self.flag.tag()) });
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        let cell = Self::new();
        let set = cell.outside.set(value);
        debug_assert!(set.is_ok(), "a new cell is empty");
        cell
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.get().map_or_else(Self::new, |value| Self::from(value.clone()))
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => shown.field(value),
            None => shown.field(&format_args!("<uninit>")),
        };
        shown.finish()
    }
}
