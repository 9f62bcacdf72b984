//! The results that a body can have: all of them, each with its number of classes and a seed.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display};
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use rsmc_core::report::{self, RenderOptions, visible};
use rsmc_core::seed::Seed;
use rsmc_core::session::{Config, Limit, Report, Seen, Verdict, check_body};
use rsmc_core::step::Run;

use crate::files::SOURCES;
use crate::said;

/// One of the results of [`outcomes`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of executions that give it: classes of the explorer, for `random` and `pct` samples.
    pub classes: u64,
    /// Replays one of these executions ([`Config::replay`]): the first that was found.
    pub seed: Seed,
}

/// The distinct results of a body, in their order, as [`outcomes`] returns them.
///
/// It equals a list of values if these are its results, in any order. As text it is a table.
#[derive(Clone)]
pub struct Outcomes<T> {
    found: BTreeMap<T, Outcome>,
    report: Report,
}

/// Explores `body` and returns every distinct result that it can have, with the number of classes of executions that
/// give it and the seed of one of them.
///
/// Two classes may give the same result: their executions differ in what they read on the way. Like
/// [`explore`](crate::explore), it does not look at the environment. The exploration has one process, whatever
/// [`Config::jobs`] says. An execution that does not return (it panics, or ends in a deadlock) has no result, and fails
/// the check as usual: [`Outcomes::report`] says so. With [`Config::keep_going`] the others are explored nevertheless.
///
/// A result outlives its execution, so it must not hold anything of the shim, such as an `Arc`.
///
/// # Panics
/// If the configuration cannot be carried out, or if called inside another check.
///
/// ```
/// use rsmc::{Config, MemoryModel, sync::atomic::{AtomicU32, Ordering::Relaxed}};
///
/// let store_buffering = || {
///     let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
///     rsmc::thread::scope(|scope| {
///         let a = scope.spawn(|| { x.store(1, Relaxed); y.load(Relaxed) });
///         let b = scope.spawn(|| { y.store(1, Relaxed); x.load(Relaxed) });
///         (a.join().unwrap(), b.join().unwrap())
///     })
/// };
/// let under = |memory| rsmc::outcomes(&Config::default().memory(memory), store_buffering);
/// assert_eq!(under(MemoryModel::Sc), [(0, 1), (1, 0), (1, 1)]);
/// assert_eq!(under(MemoryModel::Tso), [(0, 0), (0, 1), (1, 0), (1, 1)]);
/// ```
#[track_caller]
pub fn outcomes<T: Ord + Send>(config: &Config, body: impl Fn() -> T + Sync) -> Outcomes<T> {
    let thread = std::thread::current();
    let test = thread.name().filter(|name| *name != "main");
    said::say_in_vain("rsmc::outcomes", config, &said::who(test, Location::caller()));
    let last = Mutex::new(None);
    let returned = || last.lock().unwrap_or_else(PoisonError::into_inner);
    let body = || {
        let result = body();
        *returned() = Some(result);
    };
    let mut found = BTreeMap::new();
    let mut watch = |seen: Seen<'_>| match (seen, returned().take()) {
        (Seen::Run(run, true), Some(result)) => add(&mut found, result, run),
        (Seen::Run(..), _) => {}
        (Seen::StartOver, _) => found.clear(),
    };
    match check_body(config, &body, |body| body.check().watch(&mut watch).run()) {
        Ok(report) => Outcomes { found, report },
        Err(error) => panic!("rsmc: {error}"),
    }
}

fn add<T: Ord>(found: &mut BTreeMap<T, Outcome>, result: T, run: &Run) {
    let new = || Outcome { classes: 0, seed: Seed::of_run(run, run.model) };
    found.entry(result).or_insert_with(new).classes += 1;
}

impl<T: Ord> Outcomes<T> {
    /// The results, in their order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &T> {
        self.found.keys()
    }

    /// The results, in their order, each with its number of classes and its seed.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&T, &Outcome)> {
        self.found.iter()
    }

    /// The number of classes and the seed of a result; `None` if no execution that was explored has it.
    pub fn get(&self, result: &T) -> Option<&Outcome> {
        self.found.get(result)
    }

    /// The check: whether it was complete, and what failed.
    pub fn report(&self) -> &Report {
        &self.report
    }
}

/// Expectations: each returns the same outcomes, so that several can be written in a row.
///
/// ```
/// use rsmc::{Config, sync::atomic::{AtomicU32, Ordering::Relaxed}};
///
/// rsmc::outcomes(&Config::default(), || {
///     let x = AtomicU32::new(0);
///     rsmc::thread::scope(|scope| {
///         scope.spawn(|| x.store(x.load(Relaxed) + 1, Relaxed));
///         scope.spawn(|| x.store(x.load(Relaxed) + 1, Relaxed));
///     });
///     x.load(Relaxed)
/// })
/// .always("at least one increment counts", |&sum| sum > 0)
/// .sometimes("an increment is lost", |&sum| sum == 1)
/// .never("there are more than two", |&sum| sum > 2);
/// ```
impl<T: Ord + Debug> Outcomes<T> {
    /// Every execution has a result, and one of which this is true.
    ///
    /// # Panics
    /// With the results and the seed of one of which this is not true. Also if the check failed, or was not complete:
    /// an execution that was not explored may have another result.
    #[track_caller]
    pub fn always(&self, what: &str, is_so: impl Fn(&T) -> bool) -> &Self {
        self.holds_of_all("always", what, is_so)
    }

    /// No execution has a result of which this is true.
    ///
    /// # Panics
    /// As [`Self::always`].
    #[track_caller]
    pub fn never(&self, what: &str, is_so: impl Fn(&T) -> bool) -> &Self {
        self.holds_of_all("never", what, |result| !is_so(result))
    }

    /// Some execution has a result of which this is true. It holds also if the check failed or was not complete.
    ///
    /// # Panics
    /// With the results, if none of those that were found is such.
    #[track_caller]
    pub fn sometimes(&self, what: &str, is_so: impl Fn(&T) -> bool) -> &Self {
        let what = visible(what);
        assert!(self.values().any(is_so), "expected sometimes: {what}; there is no such result\n\n{self}");
        self
    }

    #[track_caller]
    fn holds_of_all(&self, how_often: &str, what: &str, is_so: impl Fn(&T) -> bool) -> &Self {
        let what = visible(what);
        if let Some((result, Outcome { seed, .. })) = self.iter().find(|(result, _)| !is_so(result)) {
            let result = visible(&format!("{result:?}"));
            panic!(
                "expected {how_often}: {what}; not so for {result}\n\n{self}\n\nreplay it by `Config::replay`: {seed}"
            );
        }
        match &self.report.verdict {
            Verdict::Verified => self,
            // A replay asks for one execution, that of its seed.
            Verdict::Incomplete(Limit::Replay) => self,
            _ => panic!(
                "expected {how_often}: {what}; so far it is so, but not every execution has a result\n\n{self}\n\n{}",
                report::text(&self.report, &RenderOptions::default(), SOURCES)
            ),
        }
    }
}

impl<T: Debug> Debug for Outcomes<T> {
    /// The results, each with its number of classes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.found.iter().map(|(result, outcome)| (result, outcome.classes))).finish()
    }
}

impl<T: Debug> Display for Outcomes<T> {
    /// A table: each result with its number of classes and a seed. It has no end of line at its end. Control characters
    /// of a result are spelt as in reports.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.found.iter().map(|(result, Outcome { classes, seed })| {
            [visible(&format!("{result:?}")), classes.to_string(), seed.to_string()]
        });
        let rows: Vec<[String; 3]> =
            std::iter::once(["result", "classes", "seed"].map(String::from)).chain(rows).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let (results, classes) = (width(0), width(1));
        let line = |[result, count, seed]: &[String; 3]| format!("{result:<results$}  {count:>classes$}  {seed}");
        f.write_str(&rows.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

impl<T: Ord> PartialEq<[T]> for Outcomes<T> {
    fn eq(&self, values: &[T]) -> bool {
        values.iter().all(|value| self.found.contains_key(value)) && self.values().all(|value| values.contains(value))
    }
}

impl<T: Ord, const N: usize> PartialEq<[T; N]> for Outcomes<T> {
    fn eq(&self, values: &[T; N]) -> bool {
        *self == values[..]
    }
}

impl<T: Ord> PartialEq<Vec<T>> for Outcomes<T> {
    fn eq(&self, values: &Vec<T>) -> bool {
        *self == values[..]
    }
}
