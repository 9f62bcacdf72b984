//! The stronger orderings that mend a failure.
//!
//! Problem. A failure depends on memory orderings. Which of them, made stronger, make the test pass?
//!
//! Method. First all atomic operations of the failing execution are made `SeqCst`: if something fails even then, no
//! ordering mends it. Otherwise single places in the source are tried, then pairs of a place that writes and one that
//! reads the same location: first with the ordering that synchronises (`Acquire`, `Release`, `AcqRel`), then with
//! `SeqCst`. The first change with which the whole exploration passes is the answer, so nothing is guessed. Of `AcqRel`
//! for an update that was `Relaxed`, half is the answer if that passes, too. A place stands for all operations that are
//! performed there.
//!
//! Cost. One exploration of at most [`super::probe::MOST_RUNS`] runs for each change; at most [`MOST_TRIES`] changes,
//! the same on every machine. [`LONGEST`] is a safety net; if it is reached, there is no answer.
//!
//! Limits. Fences are neither added nor made stronger, and no more than two places are changed.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::base::LocId;
use crate::session::probe::{Answer, Probe};
use crate::session::{Config, MemoryModel, Remedy};
use crate::step::Executor;
use crate::trace::{Action, Site, Trace};

/// The number of changes that are tried.
const MOST_TRIES: usize = 64;

/// The time that all explorations may take together.
const LONGEST: Duration = Duration::from_secs(3);

/// Looks for a remedy for a failure with this trace; also returns the number of runs.
pub(super) fn find_remedy(
    trace: &Trace,
    memory: MemoryModel,
    config: &Config,
    executor: &mut dyn Executor,
) -> (Option<Remedy>, u64) {
    let places = places(trace);
    let all: Vec<_> = places.iter().map(|place| (place.site, Ordering::SeqCst)).collect();
    if all.is_empty() || !executor.strengthen(&all) {
        return (None, 0);
    }
    let knowledge = executor.knowledge();
    let mut probe = Probe { config, same: None, executor, runs: 0, until: Instant::now() + LONGEST };
    let mut mends = |changes: &[(Site, Ordering)]| {
        probe.executor.strengthen(changes);
        probe.executor.know(&knowledge);
        !probe.executor.is_broken() && matches!(probe.explore(memory), Answer::Holds)
    };
    let found = if mends(&all) { ways(&places).into_iter().take(MOST_TRIES).find(|way| mends(way)) } else { None };
    let found = found.map(|changes| with_half(changes, &places, mends));
    let runs = probe.runs;
    executor.strengthen(&[]);
    executor.know(&knowledge);
    (found.map(|changes| Remedy { changes }), runs)
}

/// The changes with half of each `AcqRel`, where that mends, too.
fn with_half(
    mut changes: Vec<(Site, Ordering)>,
    places: &[Place],
    mut mends: impl FnMut(&[(Site, Ordering)]) -> bool,
) -> Vec<(Site, Ordering)> {
    for at in 0..changes.len() {
        let (site, order) = changes[at];
        let was_relaxed = places.iter().any(|place| place.site == site && place.is_relaxed);
        if order == Ordering::AcqRel && was_relaxed {
            let half = [Ordering::Release, Ordering::Acquire].into_iter().find(|&half| {
                changes[at].1 = half;
                mends(&changes)
            });
            changes[at].1 = half.unwrap_or(order);
        }
    }
    changes
}

/// A place in the source at which atomic operations are performed.
struct Place {
    site: Site,
    /// The ordering that synchronises, for the operation at this place.
    natural: Ordering,
    /// True if the operation already has at least the natural ordering; so too `is_strongest`, with `SeqCst`.
    is_natural: bool,
    is_strongest: bool,
    is_relaxed: bool,
    loc: LocId,
}

impl Place {
    fn writes(&self) -> bool {
        self.natural != Ordering::Acquire
    }

    fn reads(&self) -> bool {
        self.natural != Ordering::Release
    }
}

/// The places of the atomic operations of an execution, in the order in which they come first.
fn places(trace: &Trace) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for event in &trace.events {
        let natural = match event.op.action {
            Action::Load => Ordering::Acquire,
            Action::Store(_) => Ordering::Release,
            Action::Rmw(_) | Action::Cas { .. } | Action::Fail { .. } => Ordering::AcqRel,
            _ => continue,
        };
        let site = event.op.site;
        if site != Site::Unknown && !places.iter().any(|place| place.site == site) {
            let is_at_least = |order| event.op.with_at_least(order) == event.op;
            let (is_natural, is_strongest) = (is_at_least(natural), is_at_least(Ordering::SeqCst));
            let is_relaxed = event.op.order == Ordering::Relaxed;
            places.push(Place { site, natural, is_natural, is_strongest, is_relaxed, loc: event.op.loc });
        }
    }
    places
}

/// The changes that are tried, in this order.
fn ways(places: &[Place]) -> Vec<Vec<(Site, Ordering)>> {
    let mut ways = Vec::new();
    for is_strongest in [false, true] {
        let order = |place: &Place| if is_strongest { Ordering::SeqCst } else { place.natural };
        let is_open = |place: &&Place| !if is_strongest { place.is_strongest } else { place.is_natural };
        let change = |place: &Place| (place.site, order(place));
        let open: Vec<&Place> = places.iter().filter(is_open).collect();
        ways.extend(open.iter().map(|place| vec![change(place)]));
        for (i, &one) in open.iter().enumerate() {
            for &other in &open[i + 1..] {
                let same = one.loc == other.loc;
                let passes_on = (one.writes() && other.reads()) || (one.reads() && other.writes());
                if (same && passes_on) || is_strongest {
                    ways.push(vec![change(one), change(other)]);
                }
            }
        }
    }
    ways
}
