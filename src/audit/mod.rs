//! An audit of the orderings of a body: which are needed, and which are stronger than its check can tell.
//!
//! Method. Each ordering that some execution uses is made weaker alone: if the check still verifies, it is stronger
//! than needed; if not, the failing execution shows what it is needed for. Then all of them are made weaker together,
//! one after the other, as far as the check verifies. What verifies with an ordering verifies with every stronger one,
//! so one pass finds a combination in which no ordering can be made weaker.
//!
//! Cost. One check for each weaker ordering that is tried, at most six for a place. `walk` says which; `search` runs
//! them here or in worker processes, and `record` keeps the answers for an audit that goes on later.
//!
//! Limits. It says what this check can tell, and no more: another test may need an ordering that this one does not, and
//! no check sees a race on memory that is in no cell of the shim. Unsafe code may end the process where an ordering is
//! weaker that it needs; the last words then have the weaker orderings and the seed.

mod answers;
mod asserted;
mod comment;
mod cost;
mod html;
mod json;
mod merged;
mod pairs;
mod places;
mod record;
mod search;
mod subject;
mod text;
mod walk;

use std::fmt;
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rsmc_core::report::Sources;
use rsmc_core::seed::Seed;
use rsmc_core::session::{Config, ConfigError, FailureKind};
use rsmc_core::trace::Weakened;

pub use crate::audit::asserted::Assertion;
use crate::audit::merged::Tests;
pub(crate) use crate::audit::merged::add;
pub(crate) use crate::audit::search::{Order, answer_if_asked, audit as carry_out};
pub(crate) use crate::audit::subject::{Body, Part, Parts, See, Subject};
use crate::ends;
use crate::files::SOURCES;
use crate::jobs::Which;
use crate::long::file::Refused;
use crate::said;

/// The orderings of a body and what its check says of them.
///
/// [`Display`](fmt::Display) has it as text, [`json`](Audit::json) and [`html`](Audit::html) in other forms.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Audit {
    /// The orderings stronger than `Relaxed`, in the order of the source.
    pub orderings: Vec<AuditedOrdering>,
    /// A combination of weaker orderings with which the check verifies, and no ordering of which can be made weaker.
    pub together: Vec<Weakened>,
    /// The number of checks that were run.
    pub checks: u64,
    /// Whether the time was enough for all of them.
    pub is_complete: bool,
    /// The reason why nothing was audited: the check itself does not verify.
    pub failure: Option<String>,
    /// Remarks: how much of a specification was audited, where the audit went on, and how to go on if it is not
    /// complete.
    pub notes: Vec<String>,
    /// The name of the test, for commands.
    test: Option<String>,
}

/// An ordering in the source.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuditedOrdering {
    /// Its place in the source: file, line and column.
    pub place: String,
    /// `load`, `store`, `update`, `compare_exchange` or `fence`.
    pub operation: &'static str,
    /// Whether it is the ordering of a compare-exchange that fails.
    pub is_failure: bool,
    /// The ordering that is written there. If it differs between executions, the strongest.
    pub written: Ordering,
    /// Whether some execution uses it for an atomic that two threads use. If not, it is not tried.
    pub is_exercised: bool,
    /// The weakest ordering with which the check verifies, if all others are as written. A fence with `Relaxed` is no
    /// fence.
    pub alone: Ordering,
    /// Its ordering in [`Audit::together`].
    pub together: Ordering,
    /// The places with which it synchronises in some execution: those that acquire what it releases, and those that
    /// release what it acquires. In the order of the source.
    pub pairs: Vec<String>,
    /// The failing execution with a weaker ordering: the strongest one that fails with all others as written; if there
    /// is none, one that fails with those of [`Audit::together`].
    pub needed: Option<Needed>,
}

/// The verdict of a check on an ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Needed,
    TooStrong,
    NotExercised,
    NotTried,
}

impl Standing {
    /// In words.
    fn name(self) -> &'static str {
        match self {
            Standing::Needed => "needed",
            Standing::TooStrong => "too strong",
            Standing::NotExercised => "not exercised",
            Standing::NotTried => "not tried",
        }
    }
}

/// A failing execution with a weaker ordering.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Needed {
    /// The orderings with which the check fails. The last one is that of this place.
    pub weakened: Vec<Weakened>,
    /// The kind of the failure.
    pub kind: FailureKind,
    /// A description in one line.
    pub message: String,
    /// The seed of the failing execution, for a check with these orderings ([`Config::weaken`]).
    pub seed: Seed,
    /// The scenario of the execution, if the check is of a specification.
    pub scenario: Option<String>,
    /// The name of the test, for a command.
    test: Option<String>,
}

impl AuditedOrdering {
    /// The verdict of the check.
    fn standing(&self) -> Standing {
        match () {
            () if !self.is_exercised => Standing::NotExercised,
            () if self.alone != self.written => Standing::TooStrong,
            () if self.needed.is_none() => Standing::NotTried,
            () => Standing::Needed,
        }
    }

    /// Whether the check needs it as written, or no time was left to try it.
    fn is_minimal(&self) -> bool {
        matches!(self.standing(), Standing::Needed | Standing::NotTried)
    }
}

/// The file, the line and the column of a place.
fn position(place: &str) -> (&str, u32, u32) {
    let mut parts = place.rsplitn(3, ':');
    let mut number = || parts.next().and_then(|number| number.parse().ok()).unwrap_or(0);
    let (column, line) = (number(), number());
    (parts.next().unwrap_or_default(), line, column)
}

/// Brings places into the order of the source, each once.
fn sort(places: &mut Vec<String>) {
    places.sort_by(|one, other| position(one).cmp(&position(other)));
    places.dedup();
}

/// The time that an audit may take.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);

/// Asks for every ordering that `body` uses whether its check can tell it from a weaker one, for at most a minute.
///
/// An ordering that is too strong for this check may be needed for another one, and where data is in no cell of the
/// shim: a race on plain memory is not seen.
///
/// Each question is a check with [`Config::weaken`]. With [`Config::jobs`] several are asked at once, in worker
/// processes. Only Rust's own memory model, the default, knows orderings. An audit does not look at the environment;
/// `RSMC_AUDIT=1` audits every `#[rsmc::test]`, and [`#[rsmc::audit]`](macro@crate::audit) is a test that asserts what
/// an audit finds.
///
/// Unsafe code may crash in executions that its orderings rule out. The process then ends, and says with which
/// orderings and seed. A worker process says it to this one, which goes on: the ordering is needed.
///
/// # Panics
/// If the configuration cannot be carried out, if it has another memory model, or if called inside another check.
///
/// ```
/// use rsmc::{Config, sync::atomic::{AtomicBool, AtomicU32, Ordering::{Acquire, Relaxed, Release, SeqCst}}};
///
/// let audit = rsmc::audit(&Config::default(), || {
///     let (flag, data) = (AtomicBool::new(false), AtomicU32::new(0));
///     rsmc::thread::scope(|scope| {
///         scope.spawn(|| {
///             data.store(1, Relaxed);
///             flag.store(true, SeqCst); // stronger than needed
///         });
///         if flag.load(Acquire) {
///             assert_eq!(data.load(Relaxed), 1);
///         }
///     });
/// });
/// let [store, load] = &audit.orderings[..] else { panic!("{audit}") };
/// assert_eq!((store.written, store.alone), (SeqCst, Release));
/// assert_eq!((load.written, load.alone), (Acquire, Acquire));
/// assert_eq!(load.needed.as_ref().unwrap().weakened[0].most, Relaxed);
/// ```
#[track_caller]
pub fn audit(config: &Config, body: impl Fn() + Sync) -> Audit {
    let which = Which::next(None, Location::caller());
    said::say_in_vain("rsmc::audit", config, &said::who(which.test(), Location::caller()));
    assert!(config.effective_memory().is_graph(), "rsmc: orderings make a difference under `c11` only");
    ends::prepare();
    let subject = Body(&body);
    answer_if_asked(&which, config, &subject);
    let order = Order { which: &which, config, longest: LONGEST, parts: Vec::new(), resumes: None, subject: &subject };
    match carry_out(order) {
        Ok(audit) => audit,
        Err(error) => panic!("rsmc: {error}"),
    }
}

/// The reason why a check has no audit.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotAudited {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// An audit in all its forms.
#[derive(Debug)]
pub(crate) struct Forms {
    pub(crate) text: String,
    pub(crate) json: String,
    pub(crate) html: String,
}

impl Forms {
    /// The forms of an audit. `tests` is there for one of several tests.
    pub(crate) fn new(audit: &Audit, tests: Option<Tests>, sources: Sources<'_>) -> Self {
        let first = tests.map(|tests| format!("{tests}\n")).unwrap_or_default();
        Self {
            text: format!("{first}{audit}"),
            json: json::json(audit, tests),
            html: html::html(audit, tests, sources),
        }
    }
}

impl Audit {
    /// The audit as JSON, in one line. `docs/audit-json.md` describes the form, which has a version.
    pub fn json(&self) -> String {
        json::json(self, None)
    }

    /// The audit as a page for a browser, complete in itself. It has the source lines in it, as far as the files are
    /// found from the current directory or one above it.
    pub fn html(&self) -> String {
        html::html(self, None, SOURCES)
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write(self, f)
    }
}
