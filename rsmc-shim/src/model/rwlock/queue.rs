//! The holders of a reader-writer lock: in a check a state machine decides about them, outside a real lock.

use std::cell::{Cell, UnsafeCell};
use std::panic::Location;
use std::sync::Arc as StdArc;
use std::sync::{LockResult, Mutex, MutexGuard, PoisonError, TryLockError, TryLockResult};
use std::sync::{RwLock as RawLock, RwLockReadGuard as RawRead, RwLockWriteGuard};

use rsmc_core::base::ThreadId;
use rsmc_core::runtime::hook::calls;
use rsmc_core::runtime::object::{Claim, Mode, ReadWrite};
use rsmc_core::runtime::{Object, Place, Tag, hook};
use rsmc_core::trace::CallResult;

use crate::model::door::{Door, Pass, Visit};
use crate::model::monitor::Monitor;
use crate::model::statics::Home;
use crate::model::surely::surely;

/// The lock outside checks, which a writer can go on to hold as a reader. Std's can since 1.92; so writers take the
/// gate first, and keep it meanwhile, and no other writer gets in between.
pub(super) struct Raw {
    lock: RawLock<()>,
    gate: Mutex<()>,
}

/// The right to write outside checks.
pub(super) struct RawWrite<'a> {
    /// Given back first: a thread that sees the lock free finds the gate open, too.
    gate: MutexGuard<'a, ()>,
    guard: RwLockWriteGuard<'a, ()>,
    lock: &'a RawLock<()>,
}

impl Raw {
    pub(super) fn read(&self) -> LockResult<RawRead<'_, ()>> {
        self.lock.read()
    }

    pub(super) fn try_read(&self) -> TryLockResult<RawRead<'_, ()>> {
        self.lock.try_read()
    }

    pub(super) fn write(&self) -> LockResult<RawWrite<'_>> {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let with = |guard| RawWrite { gate, guard, lock: &self.lock };
        match self.lock.write() {
            Ok(guard) => Ok(with(guard)),
            Err(error) => Err(PoisonError::new(with(error.into_inner()))),
        }
    }

    pub(super) fn try_write(&self) -> TryLockResult<RawWrite<'_>> {
        let gate = match self.gate.try_lock() {
            Ok(gate) => gate,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
        };
        let with = |guard| RawWrite { gate, guard, lock: &self.lock };
        let tried = self.lock.try_write();
        match tried {
            Ok(guard) => Ok(with(guard)),
            Err(TryLockError::Poisoned(error)) => Err(PoisonError::new(with(error.into_inner())).into()),
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        }
    }
}

impl<'a> RawWrite<'a> {
    fn downgrade(self) -> RawRead<'a, ()> {
        let Self { gate, guard, lock } = self;
        let was_poisoned = lock.is_poisoned();
        drop(guard);
        // A destructor that does this while its thread panics has not written less than it wanted.
        if !was_poisoned && std::thread::panicking() {
            lock.clear_poison();
        }
        let reads = lock.read().unwrap_or_else(PoisonError::into_inner);
        drop(gate);
        reads
    }
}

pub(super) struct Queue {
    /// The lock outside checks, and the poison outside and before checks.
    raw: Raw,
    door: Door,
    home: Home,
    monitor: Monitor<State>,
}

/// The lock in an execution.
#[derive(Default)]
struct State {
    lock: ReadWrite,
    /// The claim of each thread that waits, and the token that it waits for.
    tokens: Vec<(Claim, StdArc<Token>)>,
    /// `None` as long as the poison is that of outside.
    poisoned: Option<bool>,
}

/// The token that a thread gets with the lock.
#[derive(Default)]
struct Token {
    tag: Tag,
    /// Whether the lock is poisoned.
    poisoned: Cell<bool>,
}

/// The lock, as long as a guard has it; `R` is the guard of the real one.
pub(super) enum Held<'a, R> {
    Outside { raw: R, visit: Visit<'a> },
    InRun { turn: Turn<'a> },
}

/// A claim in a check. Dropping it gives the lock back, or leaves the queue if the execution ends before the lock is
/// there.
pub(super) struct Turn<'a> {
    queue: &'a Queue,
    mode: Mode,
    place: &'static Location<'static>,
    taken_by: Option<ThreadId>,
    claim: Option<Claim>,
    /// The place of the lock among the objects that the thread has; `None` while it waits.
    has: Option<Place>,
    was_panicking: bool,
    /// `None` at first, and where the data has no bytes to protect.
    pass: Option<Pass<'a>>,
}

impl Queue {
    #[track_caller]
    pub(super) const fn new() -> Self {
        let raw = Raw { lock: RawLock::new(()), gate: Mutex::new(()) };
        Self { raw, door: Door::new(), home: Home::new(), monitor: Monitor::new("RwLock") }
    }

    pub(super) fn object(&self) -> Object<'_> {
        self.monitor.object()
    }

    /// Waits for the lock and takes it, outside by `take`. Also returns whether it is poisoned.
    #[track_caller]
    pub(super) fn take<'a, T: ?Sized, R>(
        &'a self,
        mode: Mode,
        data: &UnsafeCell<T>,
        take: fn(&'a Raw) -> LockResult<R>,
    ) -> (bool, Held<'a, R>) {
        if !self.monitor.is_modelled() {
            let raw = take(&self.raw);
            let poisoned = raw.is_err();
            let raw = raw.unwrap_or_else(PoisonError::into_inner);
            return (poisoned, self.held_outside(raw, self.door.wait(), data));
        }
        let place = Location::caller();
        let mut turn = self.turn(mode, place);
        let call = self.monitor.call(place, verb(mode));
        let (poisoned, token) = self.monitor.act(|state| {
            let claim = *turn.claim.insert(state.lock.come(mode));
            hook::tokens::claims(self.monitor.tag());
            let poisoned = self.poison(state);
            if state.lock.has(claim) {
                calls::decide(taken(poisoned));
                turn.begin();
                return (poisoned, None);
            }
            calls::waits_for(self.object());
            (poisoned, Some(state.token(claim)))
        });
        drop(call);
        let Some(token) = token else { return (poisoned, turn.held(data)) };
        let call = self.monitor.call(place, verb(mode));
        hook::tokens::park_for(&token.tag, self.monitor.tag());
        calls::decide(if token.poisoned.get() { taken(true) } else { CallResult::Remark("has it now") });
        drop(call);
        turn.begin();
        (token.poisoned.get(), turn.held(data))
    }

    /// As [`take`](Self::take), if that is possible at once.
    #[track_caller]
    pub(super) fn try_take<'a, T: ?Sized, R>(
        &'a self,
        mode: Mode,
        data: &UnsafeCell<T>,
        take: fn(&'a Raw) -> TryLockResult<R>,
    ) -> Option<(bool, Held<'a, R>)> {
        if !self.monitor.is_modelled() {
            let (poisoned, raw) = match take(&self.raw) {
                Ok(raw) => (false, raw),
                Err(TryLockError::Poisoned(error)) => (true, error.into_inner()),
                Err(TryLockError::WouldBlock) => return None,
            };
            return Some((poisoned, self.held_outside(raw, self.door.try_visit()?, data)));
        }
        let place = Location::caller();
        let mut turn = self.turn(mode, place);
        let _call = self.monitor.call(place, if mode == Mode::Read { "try_read" } else { "try_write" });
        let poisoned = self.monitor.act(|state| {
            let poisoned = self.poison(state);
            turn.claim = state.lock.try_come(mode);
            if turn.claim.is_some() {
                hook::tokens::claims(self.monitor.tag());
                calls::decide(if poisoned { taken(true) } else { CallResult::Remark("ok") });
                turn.begin();
            } else {
                calls::decide(CallResult::Remark("fails"));
            }
            poisoned
        });
        turn.claim.is_some().then(|| (poisoned, turn.held(data)))
    }

    #[track_caller]
    pub(super) fn is_poisoned(&self) -> bool {
        if self.monitor.is_modelled() {
            let _call = self.monitor.call(Location::caller(), "is_poisoned");
            self.monitor.act(|state| {
                let poisoned = self.poison(state);
                calls::decide(CallResult::Is(if poisoned { "true" } else { "false" }));
                poisoned
            })
        } else {
            self.raw.lock.is_poisoned()
        }
    }

    #[track_caller]
    pub(super) fn clear_poison(&self) {
        if self.monitor.is_modelled() {
            let _call = self.monitor.call(Location::caller(), "clear_poison");
            self.monitor.act(|state| {
                state.poisoned = Some(false);
                hook::objects::alters();
                calls::decide(CallResult::Nothing);
            });
        } else {
            self.raw.lock.clear_poison();
        }
    }

    #[inline]
    fn held_outside<'a, T: ?Sized, R>(&self, raw: R, visit: Visit<'a>, data: &UnsafeCell<T>) -> Held<'a, R> {
        self.touch(data);
        Held::Outside { raw, visit }
    }

    /// Notes that the data is about to be accessed, by a caller that has the lock.
    #[inline]
    pub(super) fn touch<T: ?Sized>(&self, data: &UnsafeCell<T>) {
        self.home.touch(data.get(), Some(&self.door));
    }

    fn poison(&self, state: &mut State) -> bool {
        *state.poisoned.get_or_insert_with(|| self.raw.lock.is_poisoned())
    }

    fn turn(&self, mode: Mode, place: &'static Location<'static>) -> Turn<'_> {
        let (taken_by, was_panicking) = (hook::threads::current(), hook::threads::panicking());
        Turn { queue: self, mode, place, taken_by, claim: None, has: None, was_panicking, pass: None }
    }
}

impl<'a> Held<'a, RawWrite<'a>> {
    /// Goes on to hold the lock to read, in one step.
    pub(super) fn downgrade(self, place: &'static Location<'static>) -> Held<'a, RawRead<'a, ()>> {
        match self {
            Held::Outside { raw, visit } => Held::Outside { raw: raw.downgrade(), visit },
            Held::InRun { mut turn } => {
                turn.downgrade(place);
                Held::InRun { turn }
            }
        }
    }
}

fn verb(mode: Mode) -> &'static str {
    if mode == Mode::Read { "read" } else { "write" }
}

/// The result of a call that has the lock.
fn taken(poisoned: bool) -> CallResult {
    if poisoned { CallResult::Remark("poisoned") } else { CallResult::Nothing }
}

impl State {
    fn token(&mut self, claim: Claim) -> StdArc<Token> {
        let token = StdArc::default();
        self.tokens.push((claim, StdArc::clone(&token)));
        token
    }

    /// Gives the lock back, or leaves the queue. Returns the tokens of the threads that have got the lock thereby.
    fn leave(&mut self, claim: Claim) -> Vec<StdArc<Token>> {
        let granted = self.lock.leave(claim);
        self.woken(&granted)
    }

    /// The tokens of the threads that have got the lock.
    fn woken(&mut self, granted: &[Claim]) -> Vec<StdArc<Token>> {
        let woken = self.tokens.extract_if(.., |(waits, _)| granted.contains(waits));
        let woken: Vec<StdArc<Token>> = woken.map(|(_, token)| token).collect();
        woken.iter().for_each(|token| token.poisoned.set(self.poisoned == Some(true)));
        woken
    }
}

impl<'a> Turn<'a> {
    /// Notes that the lock was granted.
    fn begin(&mut self) {
        self.has = hook::tokens::takes(self.queue.monitor.tag());
    }

    /// Goes on to read; other threads that wait to read do so, too. The drop of the lock is shown at `place`.
    fn downgrade(&mut self, place: &'static Location<'static>) {
        self.mode = Mode::Read;
        let Some(claim) = self.claim.filter(|_| hook::executions::in_run()) else { return };
        let _call = self.queue.monitor.call(place, "downgrade");
        let woken = self.queue.monitor.act_at(place, |state| {
            calls::decide(CallResult::Nothing);
            let (claim, granted) = state.lock.downgrade(claim);
            self.claim = Some(claim);
            hook::objects::alters();
            state.woken(&granted)
        });
        self.place = place;
        woken.iter().for_each(|token| hook::tokens::unpark_at(place, &token.tag));
    }

    fn held<T: ?Sized, R>(mut self, data: &UnsafeCell<T>) -> Held<'a, R> {
        if size_of_val(data) > 0 {
            self.queue.touch(data);
            self.pass = Some(self.queue.door.pass_in_run());
        }
        Held::InRun { turn: self }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // The data is not accessed any more. So checks go on for which the rest comes late, or never.
        self.pass = None;
        let Some(claim) = self.claim.filter(|_| hook::executions::in_run()) else { return };
        if let Some(holder) = self.taken_by {
            hook::objects::gives_back_of(self.queue.monitor.object(), holder, self.place);
        }
        let writes = self.mode == Mode::Write && self.has.is_some();
        // Destructors of others may still use the lock when the execution is over.
        let poisons = writes && !self.was_panicking && hook::threads::panicking() && !hook::executions::is_unwinding();
        surely(|| {
            let _call = self.queue.monitor.call(self.place, "release");
            let woken = self.queue.monitor.act_at(self.place, |state| {
                calls::decide(if poisons { CallResult::Remark("poisons it") } else { CallResult::Nothing });
                if poisons {
                    state.poisoned = Some(true);
                }
                if let Some(place) = self.has {
                    hook::tokens::gives_back(self.queue.monitor.tag(), place);
                }
                hook::tokens::gives_up_claim(self.queue.monitor.tag());
                state.leave(claim)
            });
            woken.iter().for_each(|token| hook::tokens::unpark_at(self.place, &token.tag));
        });
    }
}
