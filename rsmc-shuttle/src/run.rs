//! Running a body: a scheduler and the settings as a check of rsmc.

use std::cell::Cell;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use rsmc::__private::{Model, run_model};
use rsmc::{Explorer, MemoryModel, Report, Seed, Verdict};

use crate::config::{Config, FailurePersistence};
use crate::rand::Draws;
use crate::scheduler::Scheduler;
use crate::scheduler::sealed::Exploration;

/// Checks a body in the executions that a scheduler asks for.
///
/// ```
/// use rsmc_shuttle as shuttle;
/// use shuttle::{Config, Runner, scheduler::DfsScheduler};
/// use shuttle::sync::{Arc, Mutex};
///
/// let runner = Runner::new(DfsScheduler::new(None, false), Config::new());
/// let executions = runner.run(|| {
///     let lock = Arc::new(Mutex::new(0));
///     let other = Arc::clone(&lock);
///     let thread = shuttle::thread::spawn(move || *other.lock().unwrap() += 1);
///     *lock.lock().unwrap() += 1;
///     thread.join().unwrap();
/// });
/// assert_eq!(executions, 2); // which of them is first
/// ```
#[derive(Debug)]
pub struct Runner<S: Scheduler> {
    scheduler: S,
    config: Config,
}

impl<S: Scheduler> Runner<S> {
    /// A check with a scheduler and settings.
    pub fn new(scheduler: S, config: Config) -> Self {
        Self { scheduler, config }
    }

    /// Checks `f`, and returns the number of executions.
    ///
    /// # Panics
    /// With a report, if an execution fails, or the check is not complete in time.
    #[track_caller]
    pub fn run<F>(self, f: F) -> usize
    where
        F: Fn() + Send + Sync + 'static,
    {
        run(&self.scheduler.exploration(), &self.config, &f)
    }
}

/// The properties of a check that its body asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    /// The source of random values.
    pub(crate) draws: Draws,
    /// Whether one execution stands for others, whose operations come in another order.
    pub(crate) explores_classes: bool,
}

std::thread_local! {
    /// The check whose body runs on this OS thread.
    static RUNNING: Cell<Option<Running>> = const { Cell::new(None) };
}

/// The check whose body runs; `None` in a check that did not begin here.
pub(crate) fn running() -> Option<Running> {
    RUNNING.get()
}

/// Checks `body`, and returns the number of executions.
#[track_caller]
pub(crate) fn run(exploration: &Exploration, config: &Config, body: &(dyn Fn() + Sync)) -> usize {
    if exploration.executions == Some(0) {
        return 0;
    }
    let executions = Cell::new(0);
    let see = |report: &Report, say: &dyn Fn(&str)| {
        executions.set(usize::try_from(report.executions).unwrap_or(usize::MAX));
        if let (Verdict::Failed(failure), FailurePersistence::File(folder)) =
            (&report.verdict, &config.failure_persistence)
            && failure.kind.is_replayed()
        {
            say(&match keep(&failure.seed, folder.as_deref()) {
                Ok(file) => format!("the seed is in {}, for `shuttle::replay_from_file`", file.display()),
                Err(error) => format!("the seed is in no file: {error}"),
            });
        }
        if report.threads > 1 && !report.shares && !matches!(report.verdict, Verdict::Failed(_)) {
            say("no two threads share anything of `shuttle`; is a type of `std` used instead?");
        }
    };
    let explores = exploration.replay.is_none() && exploration.executions != Some(1);
    let explores_classes = explores && exploration.explorer == Explorer::ReadsFrom;
    let running = Running { draws: exploration.draws, explores_classes };
    let config = of_rsmc(exploration, config);
    run_model(Model { config, is_traced: false, quotes: true, see: &see }, || {
        RUNNING.set(Some(running));
        body();
    });
    executions.get()
}

/// rsmc's configuration: every atomic is sequentially consistent, as in shuttle.
fn of_rsmc(exploration: &Exploration, config: &Config) -> rsmc::Config {
    let &Exploration { explorer, executions, seed, depth, twice, ref replay, .. } = exploration;
    let mut config = config.of_rsmc().explorer(explorer).seed(seed).twice(twice);
    config.max_executions = executions.map(|executions| executions as u64);
    config.pct_depth = depth;
    match replay {
        // The model is that of the seed.
        Some(seed) => config.replay(seed.clone()),
        None => config.memory(MemoryModel::Sc),
    }
}

/// Writes a seed to a new file of a folder.
fn keep(seed: &Seed, folder: Option<&Path>) -> std::io::Result<PathBuf> {
    let folder = folder.unwrap_or(Path::new("."));
    for number in 0.. {
        let path = folder.join(format!("schedule{number:03}.txt"));
        match File::create_new(&path) {
            Ok(mut file) => {
                writeln!(file, "{seed}")?;
                return path.canonicalize();
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("some number is free")
}
