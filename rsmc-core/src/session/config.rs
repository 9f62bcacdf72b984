//! What a check is asked to do.

use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::machine::Sees;
pub use crate::model::MemoryModel;
use crate::seed::Seed;
use crate::session::ExplorerKind;
use crate::session::explorers::implemented;
use crate::session::nearest::then_known;

impl FromStr for MemoryModel {
    type Err = ConfigError;
    fn from_str(name: &str) -> Result<Self, ConfigError> {
        let unknown =
            || ConfigError::UnknownName { what: "memory model", name: name.to_owned(), known: &MemoryModel::NAMES };
        MemoryModel::named(name).ok_or_else(unknown)
    }
}

/// A configuration that cannot be carried out.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A name that stands for nothing.
    #[error("there is no {what} `{name}`{} {}", then_known(name, known), known.join(", "))]
    UnknownName {
        /// What kind of name.
        what: &'static str,
        /// The name.
        name: String,
        /// The names there are.
        known: &'static [&'static str],
    },
    /// A pair of explorer and memory model that is not implemented.
    #[error(
        "the explorer `{explorer}` is not implemented for the memory model `{memory}`; implemented are {}",
        implemented()
    )]
    NotImplemented {
        /// The explorer.
        explorer: ExplorerKind,
        /// The memory model.
        memory: MemoryModel,
    },
    /// A seed that was made under another memory model.
    #[error(
        "the seed was made under the memory model `{seed}`, and this test runs under `{memory}`: run the test with \
         the model of the seed, for instance with RSMC_MEMORY={seed}"
    )]
    SeedOfAnotherModel {
        /// The model of the seed.
        seed: MemoryModel,
        /// The model of the test.
        memory: MemoryModel,
    },
    /// A number that means nothing.
    #[error("`{name}` must be at least {least}")]
    TooSmall {
        /// Which setting.
        name: &'static str,
        /// The smallest value allowed.
        least: u64,
    },
}

/// What a check is asked to do. Every setter takes and returns the configuration.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The memory model; `None` is the weakest that the explorer implements: C11, but PSO for view and SC for
    /// reads-value-from.
    pub memory: Option<MemoryModel>,
    /// The explorer. Default: reads-from.
    pub explorer: ExplorerKind,
    /// Stop after this many maximal executions. Default: no limit, except for the random explorers, which stop
    /// after 10,000.
    pub max_executions: Option<u64>,
    /// Stop after this long. Default: 10 minutes.
    pub max_duration: Duration,
    /// Whether the user chose `max_duration`.
    pub max_duration_chosen: bool,
    /// How long a modelled thread may do nothing that rsmc sees. Default: 5 seconds; no time at all: as long as it likes.
    pub stuck_after: Duration,
    /// What the test is called.
    #[doc(hidden)]
    pub test: Option<String>,
    /// End an execution after this many visible operations. Default: 100,000.
    pub max_steps: u32,
    /// How often a loop whose state never repeats may do the same before it waits. Default: 32.
    pub spin_bound: u32,
    /// How many compare-exchanges may fail, and waits end, without cause in an execution. Default: 1.
    pub spurious: u32,
    /// Stack of each modelled thread, in bytes. Default: 256 KiB.
    pub stack_size: usize,
    /// Go on after the first failure, and report the first. Default: false.
    pub keep_going: bool,
    /// Report data races on tracked cells. Default: true.
    pub check_races: bool,
    /// Report values behind `Arc`s, tracked ones, and memory, that are left at the end of an execution. Default: true.
    pub check_leaks: bool,
    /// Report threads that nobody joined. Default: false.
    pub check_joins: bool,
    /// Let a check pass whose threads share nothing. Default: false.
    pub allow_trivial: bool,
    /// Let threads get memory again that they have freed. Default: false.
    pub reuse: bool,
    /// How many runs may look for a smaller schedule of a failure. Default: 2,000.
    pub shrink: u32,
    /// Whether shrinking improves the schedule first, or only searches.
    #[doc(hidden)]
    pub shrink_improves: bool,
    /// Run just the execution of this seed.
    pub replay: Option<Seed>,
    /// Run the executions of these seeds before exploring. Default: none.
    pub pinned: Vec<Seed>,
    /// Seed of the random explorers. Default: 0.
    pub seed: u64,
    /// How many processes explore. Default: 1.
    pub jobs: usize,
    /// How long one process explores before there are more.
    #[doc(hidden)]
    pub divide_after: Duration,
    /// How large the sets of `reads-from` may become, in bytes, if that is not left to it.
    #[doc(hidden)]
    pub sets: Option<usize>,
    /// Whether threads wait in loops, where the explorer draws samples.
    #[doc(hidden)]
    pub waiting: bool,
    /// What of a thread's state counts.
    #[doc(hidden)]
    pub sees: Sees,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            memory: None,
            explorer: ExplorerKind::ReadsFrom,
            max_executions: None,
            max_duration: Duration::from_secs(600),
            max_duration_chosen: false,
            stuck_after: Duration::from_secs(5),
            test: None,
            max_steps: 100_000,
            spin_bound: 32,
            spurious: 1,
            stack_size: 256 * 1024,
            keep_going: false,
            check_races: true,
            check_leaks: true,
            check_joins: false,
            allow_trivial: false,
            reuse: false,
            shrink: 2_000,
            shrink_improves: true,
            replay: None,
            pinned: Vec::new(),
            seed: 0,
            jobs: 1,
            divide_after: Duration::from_millis(200),
            sets: None,
            waiting: true,
            sees: Sees::All,
        }
    }
}

impl Config {
    /// Sets the memory model.
    pub fn memory(mut self, memory: MemoryModel) -> Self {
        self.memory = Some(memory);
        self
    }

    /// Sets the explorer.
    pub fn explorer(mut self, explorer: ExplorerKind) -> Self {
        self.explorer = explorer;
        self
    }

    /// Stops after this many maximal executions. At least 1.
    pub fn max_executions(mut self, executions: u64) -> Self {
        self.max_executions = Some(executions);
        self
    }

    /// Stops after this long. The time is looked at between executions, so a long one is finished first; and now and then while
    /// `view` or `reads-value-from` looks for the next one.
    ///
    /// `#[rsmc::test]`, `rsmc::check` and `rsmc::check_with` then leave a checkpoint, from which `RSMC_RESUME=1` goes on, for
    /// as long again. `rsmc::explore` does not.
    pub fn max_duration(mut self, duration: Duration) -> Self {
        self.max_duration = duration;
        self.max_duration_chosen = true;
        self
    }

    /// Sets how long a modelled thread may go without an operation of the shim; no time at all ([`Duration::ZERO`]): as long as it
    /// likes. Only time in the body counts.
    ///
    /// All threads of a check run on one OS thread. One that waits there for a lock, a condition variable or a channel of std waits
    /// for ever, if another modelled thread is to let it go on. It cannot be stopped, so after this time the process says on stderr
    /// which thread it is, where it is and what its seed is, and ends by SIGABRT; a worker process ([`Config::jobs`]) is reported as
    /// a crash. A debugger, and output that nobody reads, are waited for.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// // Each execution computes for up to a minute.
    /// let config = rsmc_core::session::Config::default().stuck_after(Duration::from_secs(60));
    /// assert_eq!(config.stuck_after.as_secs(), 60);
    /// ```
    pub fn stuck_after(mut self, time: Duration) -> Self {
        self.stuck_after = time;
        self
    }

    /// Says what the test is called, for last words.
    #[doc(hidden)]
    pub fn test(mut self, name: Option<&str>) -> Self {
        self.test = name.map(str::to_owned);
        self
    }

    /// Ends an execution after this many visible operations. At least 1.
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.max_steps = steps;
        self
    }

    /// Sets how often in a row a loop whose state never repeats, as one that counts, may do the same before it either waits
    /// for another thread or gives up. Both are explored. Not explored is how often it looks beyond the bound: if it sees a
    /// change, it sees it in the next look, and if it gives up, all its looks since the bound were alike. The report names
    /// such loops. At least 1.
    pub fn spin_bound(mut self, repeats: u32) -> Self {
        self.spin_bound = repeats;
        self
    }

    /// Sets how often in an execution a `compare_exchange_weak` may fail, or a `Condvar` or `park` wake, without cause. Where
    /// that happens is explored. 0 rules it out.
    pub fn spurious(mut self, times: u32) -> Self {
        self.spurious = times;
        self
    }

    /// Sets the stack of each modelled thread, in bytes. At least 16 KiB.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = bytes;
        self
    }

    /// Goes on after the first failure.
    pub fn keep_going(mut self, on: bool) -> Self {
        self.keep_going = on;
        self
    }

    /// Reports data races on tracked cells, or does not.
    pub fn check_races(mut self, on: bool) -> Self {
        self.check_races = on;
        self
    }

    /// Reports the value behind an `Arc` and the `alloc::Track` that were created in an execution and not dropped by its end, and
    /// memory to which an atomic has pointed, that was not freed, and to which nothing leads any more; or does not.
    pub fn check_leaks(mut self, on: bool) -> Self {
        self.check_leaks = on;
        self
    }

    /// Reports threads that may still run when the body ends, since nobody joined them, or does not. As std says, a thread
    /// need not be joined; but then it may outlive the test.
    pub fn check_joins(mut self, on: bool) -> Self {
        self.check_joins = on;
        self
    }

    /// Lets a thread that allocates get memory which it has freed in the same execution, or does not: the last that it freed of the
    /// same size. By default each allocation of an execution has an address of its own, so that a compare-exchange which takes a
    /// new node for an old one (the ABA problem) cannot happen; with this it can, and what comes of it is explored.
    ///
    /// It needs the check's allocator (the feature `allocator`, which is on by default).
    ///
    /// ```
    /// use rsmc_core::session::Config;
    ///
    /// assert!(!Config::default().reuse);
    /// assert!(Config::default().reuse(true).reuse);
    /// ```
    pub fn reuse(mut self, on: bool) -> Self {
        self.reuse = on;
        self
    }

    /// Lets a check pass whose threads share nothing, or does not. Without it, a check of two threads or more fails as
    /// [`crate::session::FailureKind::NothingShared`] if no two of them use one atomic, lock or cell of the shim in any execution, and
    /// a check that starts no thread says so on stderr. A value that a thread returns to its `join` is nothing that is shared.
    ///
    /// ```
    /// use rsmc_core::session::Config;
    ///
    /// assert!(!Config::default().allow_trivial);
    /// assert!(Config::default().allow_trivial(true).allow_trivial);
    /// ```
    pub fn allow_trivial(mut self, on: bool) -> Self {
        self.allow_trivial = on;
        self
    }

    /// Lets so many runs look for a smaller schedule of the failure that is reported, and asks which memory model allows it.
    ///
    /// The smallest schedule has the fewest context switches, or one more where that saves delayed stores and reads of old
    /// values, and then the fewest steps. The search ends earlier where it is proven. Where a check is not under SC, the same
    /// failure is also looked for under stronger models, in at most 10,000 executions each and 2 seconds in all.
    ///
    /// The body is run again and again for that; [`crate::session::Report::extra_runs`] counts it. 0 reports the first failing
    /// execution as it was found, and runs nothing after it. A replay is never shrunk.
    pub fn shrink(mut self, runs: u32) -> Self {
        self.shrink = runs;
        self
    }

    /// Lets shrinking improve the schedule first, or only search: for tests of the search.
    #[doc(hidden)]
    pub fn shrink_improves(mut self, on: bool) -> Self {
        self.shrink_improves = on;
        self
    }

    /// Runs just the execution of a seed.
    pub fn replay(mut self, seed: Seed) -> Self {
        self.replay = Some(seed);
        self
    }

    /// Runs the execution of this seed before exploring: a failure that was mended once, and is to be seen at once if it comes
    /// back. It may be used several times. These runs count as runs, not as executions. A seed that does not fit the code
    /// any more, or is of another memory model than the check, is passed over, and a note of the report says why.
    pub fn pin(mut self, seed: Seed) -> Self {
        self.pinned.push(seed);
        self
    }

    /// Seeds the random explorers.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Lets so many worker processes of the same test executable explore. At least 1.
    ///
    /// The check starts in its own process; only if that takes longer than 0.2 s, workers are started: the executable runs
    /// again, with the arguments that select this test, and comes to this check once more. Then they explore, and this
    /// process only coordinates. It divides `reads-from`, whose executions, counts and verdict are the same however many
    /// workers there are, and `random`. The other explorers use one process.
    ///
    /// Of `reads-from`, what was tried is all remembered then, which one process does not do: some bytes for each execution.
    ///
    /// Which failure is shown first may depend on timing, and with it what was counted until then; `runs` may, too, if the
    /// exploration starts over because something was learned, or there are loops that wait. What ends the process of a
    /// worker (a segmentation fault, an abort) is reported as [`crate::session::FailureKind::Crash`], with its schedule;
    /// in the first 0.2 s, and with 1 job, it ends the process of the test, as everywhere, which says the seed before.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs;
        self
    }

    /// How long one process explores before there are more; if no time at all, it waits for them after its first run.
    #[doc(hidden)]
    pub fn divide_after(mut self, time: Duration) -> Self {
        self.divide_after = time;
        self
    }

    /// How large the sets of `reads-from` may become, in bytes. The executions are the same, in another order.
    #[doc(hidden)]
    pub fn sets(mut self, bytes: usize) -> Self {
        self.sets = Some(bytes);
        self
    }

    /// Lets threads wait in loops, or runs loops as they are: for tests of the waiting. Only `random` and `pct` can do
    /// without, which then need a limit of steps; the other explorers ignore this.
    #[doc(hidden)]
    pub fn waiting(mut self, on: bool) -> Self {
        self.waiting = on;
        self
    }

    /// Makes less of a thread's state count: for tests that have to notice it.
    #[doc(hidden)]
    pub fn sees(mut self, sees: Sees) -> Self {
        self.sees = sees;
        self
    }

    /// The memory model that the check will use: a replay that names none uses that of its seed.
    pub fn effective_memory(&self) -> MemoryModel {
        let of_seed = self.replay.as_ref().map(Seed::model);
        self.memory.or(of_seed).unwrap_or_else(|| self.explorer.weakest())
    }

    /// Whether this configuration can be carried out.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let least = |name, value: u64, least| {
            if value < least { Err(ConfigError::TooSmall { name, least }) } else { Ok(()) }
        };
        least("max_executions", self.max_executions.unwrap_or(1), 1)?;
        least("max_steps", u64::from(self.max_steps), 1)?;
        least("spin_bound", u64::from(self.spin_bound), 1)?;
        least("jobs", self.jobs as u64, 1)?;
        least("stack_size", self.stack_size as u64, 16 * 1024)?;
        let (explorer, memory) = (self.explorer, self.effective_memory());
        if !explorer.is_implemented_for(memory) {
            return Err(ConfigError::NotImplemented { explorer, memory });
        }
        match &self.replay {
            Some(seed) if seed.model() != memory => Err(ConfigError::SeedOfAnotherModel { seed: seed.model(), memory }),
            _ => Ok(()),
        }
    }
}
