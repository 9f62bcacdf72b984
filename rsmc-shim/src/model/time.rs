//! Mirrors [`std::time`].
//!
//! In a check no real time passes; a sleep of an hour takes no longer than another operation. Each modelled thread has
//! a clock of its own, which only the thread itself moves:
//!
//! - [`sleep`](crate::thread::sleep) takes the time that it is given;
//! - so does a wait that ends since its time is over: [`park_timeout`](crate::thread::park_timeout),
//!   [`Condvar::wait_timeout`](crate::sync::Condvar::wait_timeout),
//!   [`Receiver::recv_timeout`](crate::sync::mpsc::Receiver::recv_timeout);
//! - [`Instant::now`] and [`Instant::elapsed`] take 1 ms, the first eight times in a thread. From then on each takes
//!   twice as long as the one before, up to a little more than an hour. So a loop that asks for the time until a
//!   deadline comes to its end after few iterations, and if that is within an hour, its giving up is explored.
//!
//! No other operation takes time. A thread starts with the time of the one that spawned it, and a join takes until the
//! other thread's end, if that is later. All executions start at the same time, and a thread that does the same, and
//! sees the same, finds the same times.
//!
//! There is no clock for all threads: it would be communication between them of which no class of executions knows. So
//! nothing follows from the times of two threads, which may be hours apart: an instant that another thread sent may lie
//! in the future. A thread that sleeps longer than another does not run after it; every order is explored. Nor can a
//! thread tell from its clock how long it has waited for a lock, or for a notification that came.
//!
//! `SystemTime` and `UNIX_EPOCH` are left out: a check must not depend on when it runs. A body that uses those of std
//! is not deterministic.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Instant as StdInstant;

use rsmc_core::runtime::{ORIGIN, hook};

pub use std::time::{Duration, TryFromFloatSecsError};

/// Mirrors [`std::time::Instant`]. In a check it is a time on the clock of a thread; see [`time`](self).
///
/// # Panics
/// All functions that take two instants panic if one is of a check, and the other was taken outside.
#[derive(Clone, Copy)]
pub struct Instant(Kind);

/// An instant, by the place where it was taken.
#[derive(Clone, Copy)]
enum Kind {
    Outside(StdInstant),
    InRun(Duration),
}

use Kind::{InRun, Outside};

impl Instant {
    /// The present time. In a check, time passes by this.
    #[must_use]
    pub fn now() -> Self {
        Self(hook::time::now().map_or_else(|| Outside(StdInstant::now()), InRun))
    }

    /// The time from `earlier` to this instant; zero if `earlier` is later.
    #[must_use]
    #[track_caller]
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.checked_duration_since(earlier).unwrap_or_default()
    }

    /// The time from `earlier` to this instant; `None` if `earlier` is later.
    #[must_use]
    #[track_caller]
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        match (self.0, earlier.0) {
            (Outside(this), Outside(earlier)) => this.checked_duration_since(earlier),
            (InRun(this), InRun(earlier)) => this.checked_sub(earlier),
            _ => mixed(),
        }
    }

    /// The time from `earlier` to this instant; zero if `earlier` is later.
    #[must_use]
    #[track_caller]
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }

    /// The time from this instant until now. In a check, time passes by this, too.
    #[must_use]
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        Self::now().duration_since(*self)
    }

    /// The instant that much later, if there is one.
    #[must_use]
    pub fn checked_add(&self, time: Duration) -> Option<Self> {
        let kind = match self.0 {
            Outside(this) => Outside(this.checked_add(time)?),
            InRun(this) => InRun(this.checked_add(time)?),
        };
        Some(Self(kind))
    }

    /// The instant that much earlier, if there is one.
    #[must_use]
    pub fn checked_sub(&self, time: Duration) -> Option<Self> {
        let kind = match self.0 {
            Outside(this) => Outside(this.checked_sub(time)?),
            InRun(this) => InRun(this.checked_sub(time)?),
        };
        Some(Self(kind))
    }
}

#[cold]
#[track_caller]
fn mixed() -> ! {
    panic!("an `Instant` of a check meets one that was taken outside of it: take both in the body")
}

impl Add<Duration> for Instant {
    type Output = Self;

    /// # Panics
    /// If there is no such instant.
    #[track_caller]
    fn add(self, time: Duration) -> Self {
        self.checked_add(time).expect("no instant is so late")
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    /// # Panics
    /// If there is no such instant.
    #[track_caller]
    fn sub(self, time: Duration) -> Self {
        self.checked_sub(time).expect("no instant is so early")
    }
}

impl AddAssign<Duration> for Instant {
    #[track_caller]
    fn add_assign(&mut self, time: Duration) {
        *self = *self + time;
    }
}

impl SubAssign<Duration> for Instant {
    #[track_caller]
    fn sub_assign(&mut self, time: Duration) {
        *self = *self - time;
    }
}

impl Sub for Instant {
    type Output = Duration;

    #[track_caller]
    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}

impl PartialEq for Instant {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }

    #[expect(clippy::partialeq_ne_impl, reason = "it tells the line of its caller")]
    #[track_caller]
    fn ne(&self, other: &Self) -> bool {
        self.cmp(other).is_ne()
    }
}

impl Eq for Instant {}

impl PartialOrd for Instant {
    #[track_caller]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }

    // By themselves these would not know the line of their caller.

    #[track_caller]
    fn lt(&self, other: &Self) -> bool {
        self.cmp(other).is_lt()
    }

    #[track_caller]
    fn le(&self, other: &Self) -> bool {
        self.cmp(other).is_le()
    }

    #[track_caller]
    fn gt(&self, other: &Self) -> bool {
        self.cmp(other).is_gt()
    }

    #[track_caller]
    fn ge(&self, other: &Self) -> bool {
        self.cmp(other).is_ge()
    }
}

impl Ord for Instant {
    #[track_caller]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self.0, other.0) {
            (Outside(this), Outside(other)) => this.cmp(&other),
            (InRun(this), InRun(other)) => this.cmp(&other),
            _ => mixed(),
        }
    }
}

impl Hash for Instant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0 {
            Outside(this) => this.hash(state),
            InRun(this) => this.hash(state),
        }
    }
}

/// In a check, shows the time since the start of the execution.
impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Outside(this) => this.fmt(f),
            InRun(this) if this < ORIGIN => write!(f, "Instant(-{:?})", ORIGIN - this),
            InRun(this) => write!(f, "Instant({:?})", this - ORIGIN),
        }
    }
}
