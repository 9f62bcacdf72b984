//! `Condvar`.

use std::fmt;
use std::panic::Location;
use std::sync::Arc as StdArc;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use rsmc_core::runtime::hook::calls::{self, InCall};
use rsmc_core::runtime::object::{Notifications, Waiter};
use rsmc_core::runtime::{Object, Tag, hook};
use rsmc_core::trace::{Action, CONDVAR, CallResult};

use crate::model::monitor::Monitor;
use crate::model::mutex::MutexGuard;

/// Mirrors [`std::sync::Condvar`].
///
/// In a check a notification wakes any one of the threads that wait, and every choice is explored. A
/// [`wait`](Self::wait) also ends without one, as often in one execution as `Config::spurious` says. A wait with a
/// timeout ends at once or when other threads have gone on, notified or not, and both are explored; if it was not
/// notified, time passes for the thread, see [`time`](crate::time). What comes before a notification is ordered before
/// what comes after the wait only by the mutex, as in std: without it, accesses of a cell are a data race.
pub struct Condvar {
    outside: std::sync::Condvar,
    monitor: Monitor<State>,
}

impl Condvar {
    pub(crate) fn object(&self) -> Object<'_> {
        self.monitor.object()
    }
}

/// Whether a wait ended because its time was over; mirrors [`std::sync::WaitTimeoutResult`]. A check explores both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the time was over.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// The threads that wait, and the tokens of those that wait for nothing else.
#[derive(Default)]
struct State {
    notifications: Notifications,
    tokens: Vec<(Waiter, StdArc<Tag>)>,
}

impl State {
    fn begin_with_token(&mut self) -> (Waiter, StdArc<Tag>) {
        let (waiter, token) = (self.notifications.begin(), StdArc::new(Tag::new()));
        self.tokens.push((waiter, StdArc::clone(&token)));
        (waiter, token)
    }

    /// Ends a wait if it is over.
    fn end(&mut self, waiter: Waiter, gives_up: bool) -> bool {
        let notified = if gives_up { self.notifications.give_up(waiter) } else { self.notifications.take(waiter) };
        if notified || gives_up {
            self.tokens.retain(|(other, _)| *other != waiter);
        }
        notified
    }

    /// The tokens of the threads that wait.
    fn tokens(&self) -> impl Iterator<Item = &Tag> {
        let waits = |waiter| self.notifications.waiting().contains(waiter);
        self.tokens.iter().filter(move |(waiter, _)| waits(waiter)).map(|(_, token)| &**token)
    }
}

impl Condvar {
    /// A condition variable that no thread waits for.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        Self { outside: std::sync::Condvar::new(), monitor: Monitor::new(CONDVAR) }
    }

    /// Gives the lock back and waits for a notification; takes the lock again.
    ///
    /// # Errors
    /// If the mutex is poisoned; the error holds the guard.
    #[track_caller]
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let call = self.monitor.call(Location::caller(), "wait");
        if hook::choices::choose(2, true) == Some(1) {
            return self.wait_in_vain(call, guard, "wakes without cause").0;
        }
        self.wait_for_notification(call, guard)
    }

    /// Waits, and wakes only when it is notified.
    #[track_caller]
    fn wait_for_notification<'a, T: ?Sized>(
        &self,
        call: InCall,
        guard: MutexGuard<'a, T>,
    ) -> LockResult<MutexGuard<'a, T>> {
        if !self.monitor.is_modelled() {
            return guard
                .wait_outside(|raw| match self.outside.wait(raw) {
                    Ok(raw) => (raw, false, ()),
                    Err(error) => (error.into_inner(), true, ()),
                })
                .0;
        }
        let (place, lock) = (Location::caller(), guard.mutex());
        let (waiter, token) = self.begins_to_wait(call, guard, State::begin_with_token);
        loop {
            let call = self.monitor.call(place, "wait");
            self.access(place, &token, Action::Park);
            let is_over = self.monitor.act(|state| {
                let notified = state.end(waiter, false);
                if notified {
                    calls::decide(CallResult::Notified);
                }
                notified
            });
            drop(call);
            if is_over {
                return lock.lock();
            }
        }
    }

    /// Begins a wait and gives the lock back; that is a call.
    #[track_caller]
    fn begins_to_wait<T: ?Sized, R>(
        &self,
        _call: InCall,
        guard: MutexGuard<'_, T>,
        begin: impl FnOnce(&mut State) -> R,
    ) -> R {
        let begun = self.monitor.act(|state| {
            calls::gives_back(guard.mutex().object());
            begin(state)
        });
        drop(guard);
        begun
    }

    /// In a check: waits, and ends the wait even if there is no notification when others have gone on. The second part
    /// of the result says whether there was one; `otherwise` is what a report says if not.
    #[track_caller]
    fn wait_in_vain<'a, T: ?Sized>(
        &self,
        call: InCall,
        guard: MutexGuard<'a, T>,
        otherwise: &'static str,
    ) -> (LockResult<MutexGuard<'a, T>>, bool) {
        let lock = guard.mutex();
        let waiter = self.begins_to_wait(call, guard, |state| state.notifications.begin());
        hook::loops::hint();
        let call = self.monitor.call(Location::caller(), "wait");
        let notified = self.monitor.act(|state| {
            let notified = state.end(waiter, true);
            calls::decide(if notified { CallResult::Notified } else { CallResult::Remark(otherwise) });
            notified
        });
        drop(call);
        (lock.lock(), notified)
    }

    /// Waits as long as `condition` says so. To wake without a notification makes no difference here, so a check does
    /// not explore that.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_while<'a, T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut *guard) {
            guard = self.wait_for_notification(self.monitor.call(Location::caller(), "wait"), guard)?;
        }
        Ok(guard)
    }

    /// As [`wait`](Self::wait), for some time.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, timed_out) = if self.monitor.is_modelled() {
            let call = self.monitor.call(Location::caller(), "wait");
            let (guard, notified) = self.wait_in_vain(call, guard, "timed out");
            if !notified {
                hook::time::pass_time(time);
            }
            (guard, !notified)
        } else {
            guard.wait_outside(|raw| match self.outside.wait_timeout(raw, time) {
                Ok((raw, result)) => (raw, false, result.timed_out()),
                Err(error) => {
                    let (raw, result) = error.into_inner();
                    (raw, true, result.timed_out())
                }
            })
        };
        let result = WaitTimeoutResult(timed_out);
        match guard {
            Ok(guard) => Ok((guard, result)),
            Err(error) => Err(PoisonError::new((error.into_inner(), result))),
        }
    }

    /// As [`wait_timeout`](Self::wait_timeout), for some milliseconds; false if the time was over.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    #[track_caller]
    #[deprecated(note = "use `wait_timeout` instead")]
    pub fn wait_timeout_ms<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        milliseconds: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        match self.wait_timeout(guard, Duration::from_millis(milliseconds.into())) {
            Ok((guard, result)) => Ok((guard, !result.timed_out())),
            Err(error) => {
                let (guard, result) = error.into_inner();
                Err(PoisonError::new((guard, !result.timed_out())))
            }
        }
    }

    /// As [`wait_while`](Self::wait_while), for some time.
    ///
    /// In a check, the time is over when a wait was not notified, and time passes in that case only.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout_while<'a, T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let start = std::time::Instant::now();
        let mut left = Some(time);
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let Some(now_left) = left else { return Ok((guard, WaitTimeoutResult(true))) };
            let result;
            (guard, result) = self.wait_timeout(guard, now_left)?;
            left = match hook::executions::in_run() {
                true => Some(time).filter(|_| !result.timed_out()),
                false => time.checked_sub(start.elapsed()),
            };
        }
    }

    /// An operation on the token of a thread that waits.
    fn access(&self, place: &'static Location<'static>, token: &Tag, action: Action) {
        let order = if action == Action::Park { Acquire } else { Release };
        hook::objects::access_at(place, self.monitor.token(token), || 0, action, order, order);
    }

    #[track_caller]
    fn notify(&self, verb: &'static str, notify: fn(&mut Notifications) -> usize) {
        let place = Location::caller();
        let _call = self.monitor.call(place, verb);
        self.monitor.act(|state| {
            let notified = notify(&mut state.notifications);
            calls::decide(CallResult::Notifies(notified));
            if notified > 0 {
                state.tokens().for_each(|token| self.access(place, token, Action::Unpark));
            }
        });
    }

    /// Wakes one of the threads that wait.
    #[track_caller]
    pub fn notify_one(&self) {
        if self.monitor.is_modelled() {
            self.notify("notify_one", Notifications::notify_one);
        } else {
            self.outside.notify_one();
        }
    }

    /// Wakes all threads that wait.
    #[track_caller]
    pub fn notify_all(&self) {
        if self.monitor.is_modelled() {
            self.notify("notify_all", Notifications::notify_all);
        } else {
            self.outside.notify_all();
        }
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
