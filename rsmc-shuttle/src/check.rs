//! The functions that check a body: a [`Runner`] with a scheduler and the default configuration.

use std::path::Path;

use crate::scheduler::{
    DfsScheduler, PctScheduler, RandomScheduler, ReplayScheduler, Scheduler, UncontrolledNondeterminismCheckScheduler,
};
use crate::{Config, Runner};

/// Runs `f` in so many random executions.
///
/// # Panics
/// With a report, if an execution fails; also if a variable of the environment has a value that cannot be read.
///
/// ```
/// use rsmc_shuttle as shuttle;
/// use shuttle::sync::{Arc, atomic::{AtomicUsize, Ordering::SeqCst}};
///
/// shuttle::check_random(
///     || {
///         let count = Arc::new(AtomicUsize::new(0));
///         let other = Arc::clone(&count);
///         let thread = shuttle::thread::spawn(move || other.fetch_add(1, SeqCst));
///         count.fetch_add(1, SeqCst);
///         thread.join().unwrap();
///         assert_eq!(count.load(SeqCst), 2);
///     },
///     20,
/// );
/// ```
#[track_caller]
pub fn check_random<F>(f: F, iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    run(RandomScheduler::new(iterations), f);
}

/// As [`check_random`], with the seed of the samples, which `SHUTTLE_RANDOM_SEED` overrides.
///
/// # Panics
/// As [`check_random`].
#[track_caller]
pub fn check_random_with_seed<F>(f: F, seed: u64, iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    run(RandomScheduler::new_from_seed(seed, iterations), f);
}

/// Runs `f` in so many executions with random priorities (PCT), which change at `depth - 1` points.
///
/// # Panics
/// As [`check_random`]; also if `depth` is 0 or above 1,000.
#[track_caller]
pub fn check_pct<F>(f: F, iterations: usize, depth: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    run(PctScheduler::new(depth, iterations), f);
}

/// Runs `f` once per reads-from class of its executions, or until so many classes were run.
///
/// All executions of a class have the same outcome, so this has every outcome that shuttle's search of all schedules
/// has, in fewer executions. `RSMC_EXPLORER=exhaustive` runs all schedules.
///
/// # Panics
/// As [`check_random`]; also if the check is not complete within 10 minutes, or within
/// [`max_time`](Config::max_time) of a `Runner`. If `f` asks for a random value.
///
/// ```
/// use rsmc_shuttle as shuttle;
/// use shuttle::sync::{Arc, Mutex};
///
/// shuttle::check_dfs(
///     || {
///         let list = Arc::new(Mutex::new(Vec::new()));
///         let other = Arc::clone(&list);
///         let thread = shuttle::thread::spawn(move || other.lock().unwrap().push(1));
///         list.lock().unwrap().push(2);
///         thread.join().unwrap();
///         assert_eq!(list.lock().unwrap().len(), 2);
///     },
///     None,
/// );
/// ```
#[track_caller]
pub fn check_dfs<F>(f: F, max_iterations: Option<usize>)
where
    F: Fn() + Send + Sync + 'static,
{
    run(DfsScheduler::new(max_iterations, false), f);
}

/// Runs `f` in so many random executions, twice each, and fails if it does something else in the same schedule.
///
/// # Panics
/// As [`check_random`].
///
/// ```should_panic
/// use rsmc_shuttle as shuttle;
/// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
/// use shuttle::sync::Mutex;
///
/// static FLIPS: AtomicBool = AtomicBool::new(false); // of std: no execution begins with its initial value
///
/// shuttle::check_uncontrolled_nondeterminism(
///     || {
///         let (first, second) = (Mutex::new(1), Mutex::new(2));
///         let _held = if FLIPS.fetch_not(Relaxed) { first.lock() } else { second.lock() };
///     },
///     1,
/// );
/// ```
#[track_caller]
pub fn check_uncontrolled_nondeterminism<F>(f: F, max_iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    run(UncontrolledNondeterminismCheckScheduler::new(RandomScheduler::new(max_iterations)), f);
}

/// Runs `f` once. Each thread goes on until it waits; in shuttle threads take turns.
///
/// # Panics
/// As [`check_random`].
#[doc(hidden)]
#[track_caller]
pub fn check<F>(f: F)
where
    F: Fn() + Send + Sync + 'static,
{
    run(DfsScheduler::new(Some(1), true), f);
}

/// Runs `f` in the execution of a seed, which a report prints. A schedule that shuttle printed is none.
///
/// # Panics
/// With a report, if the execution fails or the seed does not fit `f`. If the text is no seed.
///
/// ```should_panic
/// use rsmc_shuttle as shuttle;
///
/// shuttle::replay(|| (), "910102ccdedf9592aba2afd70104"); // a schedule of shuttle's
/// ```
#[track_caller]
pub fn replay<F>(f: F, encoded_schedule: &str)
where
    F: Fn() + Send + Sync + 'static,
{
    run(ReplayScheduler::new_from_encoded(encoded_schedule), f);
}

/// As [`replay`], with the seed in a file: see [`FailurePersistence::File`](crate::FailurePersistence::File).
///
/// # Panics
/// As [`replay`]; also if the file cannot be read.
#[track_caller]
pub fn replay_from_file<F, P>(f: F, path: P)
where
    F: Fn() + Send + Sync + 'static,
    P: AsRef<Path>,
{
    let path = path.as_ref();
    match ReplayScheduler::new_from_file(path) {
        Ok(scheduler) => run(scheduler, f),
        Err(error) => panic!("cannot read the seed in {}: {error}", path.display()),
    }
}

#[track_caller]
fn run<S: Scheduler>(scheduler: S, f: impl Fn() + Send + Sync + 'static) {
    Runner::new(scheduler, Config::new()).run(f);
}
