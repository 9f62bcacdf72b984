//! The configuration of a check.

use std::str::FromStr;
use std::time::Duration;

use crate::base::Spill;
use crate::explore::{DEEPEST, Divisible, OnePlan, Settings};
use crate::machine::Sees;
pub use crate::model::MemoryModel;
use crate::seed::Seed;
use crate::session::explorers::{NAMES, explorer};
use crate::session::{ConfigError, ExplorerKind, PreemptionBound};
use crate::trace::Weakened;

impl FromStr for ExplorerKind {
    type Err = ConfigError;
    fn from_str(name: &str) -> Result<Self, ConfigError> {
        let unknown = || ConfigError::UnknownName { what: "explorer", name: name.to_owned(), known: &NAMES };
        ExplorerKind::named(name).ok_or_else(unknown)
    }
}

impl FromStr for MemoryModel {
    type Err = ConfigError;
    fn from_str(name: &str) -> Result<Self, ConfigError> {
        let unknown =
            || ConfigError::UnknownName { what: "memory model", name: name.to_owned(), known: &MemoryModel::NAMES };
        MemoryModel::named(name).ok_or_else(unknown)
    }
}

/// The configuration of a check. Every setter takes and returns the configuration.
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
    /// Stop when the processes of the check have this many bytes in use. Default, on Linux: three quarters of the
    /// memory of the machine, or of the control group in which the test runs.
    pub max_memory: Option<u64>,
    /// The time that a modelled thread may go without an operation of the shim. Default: 5 seconds; zero: no limit.
    pub stuck_after: Duration,
    /// The name of the test.
    #[doc(hidden)]
    pub test: Option<String>,
    /// End an execution after this many visible operations. Default: 100,000.
    pub max_steps: u32,
    /// The number of equal iterations after which a loop whose state never repeats waits. Default: 32.
    pub spin_bound: u32,
    /// The number of spurious outcomes that an execution may have: failing compare-exchanges and wake-ups without a
    /// cause. Default: 1.
    pub spurious: u32,
    /// Stack of each modelled thread, in bytes. Default: 256 KiB.
    pub stack_size: usize,
    /// Go on after the first failure, and report the first, with the number of failing executions for each cause.
    /// Default: false.
    pub keep_going: bool,
    /// Report data races on tracked cells. Default: true.
    pub check_races: bool,
    /// Report values behind `Arc`s, tracked values, and memory that an execution does not free by its end. Default:
    /// true.
    pub check_leaks: bool,
    /// Whether memory to which nothing leads counts as a leak. Default: true.
    #[doc(hidden)]
    pub check_lost: bool,
    /// Report threads that no thread joined. Default: false.
    pub check_joins: bool,
    /// Whether a panic that another thread received by `join` is no failure. Default: true.
    #[doc(hidden)]
    pub pardons: bool,
    /// Let a check pass whose threads share nothing. Default: false.
    pub allow_trivial: bool,
    /// Let a thread allocate memory that it has freed. Default: false.
    pub reuse: bool,
    /// The number of runs that may look for a smaller schedule of a failure. Default: 2,000.
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
    /// The bug depth of the explorer pct. Default: 1, 2 and 3 in turn.
    pub pct_depth: Option<u32>,
    /// Whether a random explorer runs each sample twice.
    #[doc(hidden)]
    pub twice: bool,
    /// The bound of preemptions. Default: none.
    pub preemption_bound: Option<PreemptionBound>,
    /// The bound of delays. Default: none.
    pub delay_bound: Option<u32>,
    /// Orderings that the check takes for weaker than written. Default: none.
    pub weakened: Vec<Weakened>,
    /// Whether a failure is explained: the models under which it happens, and orderings that mend it.
    #[doc(hidden)]
    pub explains: bool,
    /// The number of processes that explore. Default: 1.
    pub jobs: usize,
    /// The time that one process explores before workers start.
    #[doc(hidden)]
    pub divide_after: Duration,
    /// The memory budget of `reads-from`, in bytes; `None`: its own.
    #[doc(hidden)]
    pub sets: Option<usize>,
    /// The place of what is too much for memory; `None`: it stays in memory.
    #[doc(hidden)]
    pub spill: Option<Spill>,
    /// Whether threads wait in loops, if the explorer draws samples.
    #[doc(hidden)]
    pub waiting: bool,
    /// The parts of a thread's state that count.
    #[doc(hidden)]
    pub sees: Sees,
    /// Whether the check has an OS thread of its own. Default: true.
    #[doc(hidden)]
    pub own_thread: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            memory: None,
            explorer: ExplorerKind::ReadsFrom,
            max_executions: None,
            max_duration: Duration::from_secs(600),
            max_duration_chosen: false,
            max_memory: None,
            stuck_after: Duration::from_secs(5),
            test: None,
            max_steps: 100_000,
            spin_bound: 32,
            spurious: 1,
            stack_size: 256 * 1024,
            keep_going: false,
            check_races: true,
            check_leaks: true,
            check_lost: true,
            check_joins: false,
            pardons: true,
            allow_trivial: false,
            reuse: false,
            shrink: 2_000,
            shrink_improves: true,
            replay: None,
            pinned: Vec::new(),
            seed: 0,
            pct_depth: None,
            twice: false,
            preemption_bound: None,
            delay_bound: None,
            weakened: Vec::new(),
            explains: true,
            jobs: 1,
            divide_after: Duration::from_millis(200),
            sets: None,
            spill: None,
            waiting: true,
            sees: Sees::All,
            own_thread: true,
        }
    }
}

/// The number of executions after which a random explorer stops, unless another one is set.
const RANDOM_EXECUTIONS: u64 = 10_000;

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

    /// Stops after this long. The check looks at the time between executions, so it finishes a long one first; and now
    /// and then while `view` or `reads-value-from` looks for the next one.
    ///
    /// `#[rsmc::test]`, `rsmc::check` and `rsmc::check_with` then leave a checkpoint. `RSMC_RESUME=1` resumes it, for
    /// as long again. `rsmc::explore` leaves none.
    pub fn max_duration(mut self, duration: Duration) -> Self {
        self.max_duration = duration;
        self.max_duration_chosen = true;
        self
    }

    /// Stops when the processes of the check have so many bytes in use (resident), this process and those of
    /// [`jobs`](Self::jobs). Other tests that run in this process count, too. The check looks once a second,
    /// between executions and while an explorer analyses. On Linux; elsewhere the memory is not known, and there is no
    /// limit.
    ///
    /// As after [`max_duration`](Self::max_duration), a checkpoint keeps the rest.
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.max_memory = Some(bytes);
        self
    }

    /// Sets how long a modelled thread may go without an operation of the shim; [`Duration::ZERO`]: no limit. Only time
    /// in the body counts.
    ///
    /// All threads of a check run on one OS thread. A thread that waits there for a lock, a condition variable or a
    /// channel of std waits for ever if only another modelled thread can wake it. It cannot be stopped. So after this
    /// time the process says on stderr which thread waits, where, and what the seed is, and ends by SIGABRT; a worker
    /// process ([`Config::jobs`]) is reported as a crash. A process under a debugger, or blocked on its output, is not
    /// ended.
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

    /// Sets the name of the test, for last words.
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

    /// Sets the number of equal iterations in a row after which a loop whose state never repeats, such as one that
    /// counts, either waits for another thread or gives up. The check explores both. It does not explore how often the
    /// loop looks beyond the bound: a loop that sees a change sees it in the next look, and a loop that gives up had
    /// equal looks since the bound. The report names such loops. At least 1.
    ///
    /// A loop that changes something in every round and takes it back waits after an eighth of so many equal rounds,
    /// but at least one, since other threads can see each of them.
    pub fn spin_bound(mut self, repeats: u32) -> Self {
        self.spin_bound = repeats;
        self
    }

    /// Sets the number of spurious outcomes that an execution may have: a `compare_exchange_weak` that fails, or a
    /// `Condvar` or `park` that wakes, without cause. The check explores where they happen. 0 rules them out.
    pub fn spurious(mut self, times: u32) -> Self {
        self.spurious = times;
        self
    }

    /// Sets the stack of each modelled thread, in bytes. At least 16 KiB.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = bytes;
        self
    }

    /// Takes an ordering for weaker than written: does the check tell the difference? A place at which no operation has
    /// a stronger ordering is named in a note of the report, if the check has one process. `rsmc::audit` asks this for
    /// every ordering.
    ///
    /// ```
    /// let config = rsmc_core::session::Config::default().weaken("src/queue.rs:41:20=Relaxed".parse().unwrap());
    /// assert_eq!(config.weakened[0].line, 41);
    /// ```
    pub fn weaken(mut self, weakened: Weakened) -> Self {
        self.weakened.push(weakened);
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

    /// Reports the value behind an `Arc` and the `alloc::Track` that were created in an execution and not dropped by
    /// its end, or does not. With it also memory to which an atomic or a cell has pointed, if it was not freed and is
    /// no longer reachable.
    pub fn check_leaks(mut self, on: bool) -> Self {
        self.check_leaks = on;
        self
    }

    /// Sets whether memory to which nothing leads counts as a leak. For `rsmc-loom`: loom does not look for it.
    #[doc(hidden)]
    pub fn check_lost(mut self, on: bool) -> Self {
        self.check_lost = on;
        self
    }

    /// Reports threads that may still run when the body ends, since no thread joined them, or does not. std does not
    /// require a join; but a thread without one may outlive the test.
    pub fn check_joins(mut self, on: bool) -> Self {
        self.check_joins = on;
        self
    }

    /// Sets whether a panic that another thread received by `join` is no failure. For `rsmc-shuttle`: in shuttle every
    /// panic is one.
    #[doc(hidden)]
    pub fn pardons(mut self, on: bool) -> Self {
        self.pardons = on;
        self
    }

    /// Lets an allocation return the memory of the same size that its thread freed last in the same execution, or does
    /// not. By default each allocation of an execution has an address of its own, so no compare-exchange takes a new
    /// node for an old one (the ABA problem). With reuse that can happen, and the check explores it.
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
    /// [`crate::session::FailureKind::NothingShared`] if no two of them use one atomic, lock or cell of the shim in any
    /// execution, and a check that starts no thread says so on stderr. A value that a thread returns to its `join` is
    /// not shared.
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

    /// Sets the number of runs that may look for a smaller schedule of the reported failure. Above 0, the check also
    /// looks for the memory models that allow it.
    ///
    /// The smallest schedule has the fewest context switches, or one more where that saves delayed stores and reads of
    /// old values, and then the fewest steps. The search ends earlier if it proves a schedule the smallest. If the
    /// check is not under SC, it also looks for the same failure under stronger models, in at most 10,000 executions
    /// each and 2 seconds in all.
    ///
    /// One more run captures the call paths of the report. Each of these runs calls the body;
    /// [`crate::session::Report::extra_runs`] counts them. 0 reports the first failing execution as it was found, and
    /// runs nothing after it. A replay is never shrunk.
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

    /// Runs the execution of this seed before exploring, so that a mended failure is seen at once if it comes back. May
    /// be used several times. A note says so if a seed does not fit the code any more, or is of another memory model.
    pub fn pin(mut self, seed: Seed) -> Self {
        self.pinned.push(seed);
        self
    }

    /// Seeds the random explorers.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Makes the explorer pct aim at bugs of this depth: the number of constraints on the order of steps that a bug
    /// needs. A schedule then changes the priorities of threads at `depth - 1` points. At least 1, and at most 1,000.
    /// The other explorers do not look at it.
    ///
    /// ```
    /// use rsmc_core::session::{Config, ExplorerKind};
    ///
    /// let config = Config::default().explorer(ExplorerKind::Pct).pct_depth(5);
    /// assert_eq!(config.pct_depth, Some(5));
    /// ```
    pub fn pct_depth(mut self, depth: u32) -> Self {
        self.pct_depth = Some(depth);
        self
    }

    /// Makes a random explorer run each sample twice, and so notice a program that does something else in the same
    /// schedule; the second run counts as an execution, too. For `rsmc-shuttle`.
    #[doc(hidden)]
    pub fn twice(mut self, on: bool) -> Self {
        self.twice = on;
        self
    }

    /// Covers all executions with at most so many preemptions, and not those that need more. Only `reads-from` can do
    /// this.
    ///
    /// A preemption is a switch from a thread that could go on. A switch is none where the thread waits for a lock, for
    /// a token of `park`, for the end of another thread, or in a loop; where it has a `spin_loop` or `yield_now`; or
    /// where it ends. A spurious outcome counts like a preemption. Classes count by the execution with the fewest.
    /// Stores that leave their buffers under TSO and PSO are no preemptions, and neither are reads of old values, which
    /// have a bound of their own ([`delay_bound`](Self::delay_bound)). See `docs/limits.md`.
    ///
    /// ```
    /// use rsmc_core::session::{Config, PreemptionBound};
    ///
    /// assert_eq!(Config::default().preemption_bound, None);
    /// assert_eq!(Config::default().preemption_bound(2).preemption_bound, Some(PreemptionBound::AtMost(2)));
    /// ```
    pub fn preemption_bound(mut self, most: u32) -> Self {
        self.preemption_bound = Some(PreemptionBound::AtMost(most));
        self
    }

    /// Covers all executions with at most so many delays, and not those that need more. Only `reads-from` can do this.
    ///
    /// A delay is a read of an old value: it takes another write than the one that happened last. Under SC there are
    /// none. With a bound of 0, a check under a weaker model covers the executions that there are under SC; races are
    /// judged by the weaker model. With a bound of preemptions as well, an execution is within both.
    ///
    /// ```
    /// use rsmc_core::session::Config;
    ///
    /// assert_eq!(Config::default().delay_bound, None);
    /// assert_eq!(Config::default().delay_bound(1).delay_bound, Some(1));
    /// ```
    pub fn delay_bound(mut self, most: u32) -> Self {
        self.delay_bound = Some(most);
        self
    }

    /// Covers all executions without a preemption, then those with one, with two, and so on, each class once, until all
    /// are covered or a limit is reached. The report of a limit says how far the check has come. Only `reads-from` can
    /// do this, in one process, and without a checkpoint. It keeps in memory what is left for larger bounds.
    pub fn rising_preemption_bound(mut self) -> Self {
        self.preemption_bound = Some(PreemptionBound::Rising);
        self
    }

    /// Sets the number of worker processes of the same test executable that explore. At least 1.
    ///
    /// The check starts in its own process. Only if it takes longer than 0.2 s, it starts workers: the executable runs
    /// again, with the arguments that select this test, and comes to this check once more. Then the workers explore,
    /// and this process only coordinates. It divides `random`, and `reads-from`, whose executions, counts and verdict
    /// are the same for every number of workers. The other explorers use one process.
    ///
    /// With workers, `reads-from` remembers all schedules it has tried, some bytes for each execution; one process does
    /// not.
    ///
    /// Which failure is shown first may depend on timing, and so may the counts up to it. `runs` may too, if the
    /// exploration starts over with new knowledge, or loops wait. A fault that ends the process of a worker (a
    /// segmentation fault, an abort) is reported as [`crate::session::FailureKind::Crash`], with its schedule. In the
    /// first 0.2 s, and with 1 job, it ends the process of the test, which prints the seed before.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs;
        self
    }

    /// Sets the time that one process explores before workers start; if zero, it waits for them after its first run.
    #[doc(hidden)]
    pub fn divide_after(mut self, time: Duration) -> Self {
        self.divide_after = time;
        self
    }

    /// Sets the memory budget of `reads-from`, in bytes. The executions are the same, in another order.
    #[doc(hidden)]
    pub fn sets(mut self, bytes: usize) -> Self {
        self.sets = Some(bytes);
        self
    }

    /// Lets threads wait in loops, or runs loops as they are: for tests of the waiting. Only `random` and `pct` can
    /// explore without waiting, and then need a limit of steps; the other explorers ignore this setting.
    #[doc(hidden)]
    pub fn waiting(mut self, on: bool) -> Self {
        self.waiting = on;
        self
    }

    /// Sets the parts of a thread's state that count: for tests that must notice a missing part.
    #[doc(hidden)]
    pub fn sees(mut self, sees: Sees) -> Self {
        self.sees = sees;
        self
    }

    /// The memory model that the check uses; a replay whose configuration names none uses that of its seed.
    pub fn effective_memory(&self) -> MemoryModel {
        let of_seed = self.replay.as_ref().map(Seed::model);
        self.memory.or(of_seed).unwrap_or_else(|| self.explorer.weakest())
    }

    /// The settings that explorers need. If several processes explore, the sets of RF-SMC are not bounded.
    pub(super) fn for_explorers(&self) -> Settings {
        let sets = if self.jobs > 1 { Some(usize::MAX) } else { self.sets };
        let (memory, spill) = (self.effective_memory(), self.spill.clone());
        let &Self { seed, pct_depth, twice, preemption_bound, delay_bound, .. } = self;
        Settings { memory, seed, pct_depth, twice, sets, spill, preemption_bound, delay_bound }
    }

    /// Whether several processes can share the exploration.
    pub(super) fn is_divided(&self) -> bool {
        self.explorer.is_divided() && !self.twice && self.preemption_bound != Some(PreemptionBound::Rising)
    }

    /// The explorer of a check that several processes cannot share, in words.
    pub(super) fn undivided(&self) -> String {
        let how = match self.explorer.is_divided() {
            true if self.twice => " with each sample twice",
            true => " with a rising bound",
            false => "",
        };
        format!("`{}`{how}", self.explorer)
    }

    /// The number of executions that are enough.
    pub(super) fn enough_executions(&self) -> Option<u64> {
        self.max_executions.or(self.explorer.is_random().then_some(RANDOM_EXECUTIONS))
    }

    /// The explorer of a check that begins.
    pub(super) fn new_explorer(&self) -> Box<dyn Divisible> {
        match &self.replay {
            Some(seed) => Box::new(OnePlan::new(seed.plan())),
            None => explorer(self.explorer, &self.for_explorers()),
        }
    }

    /// Reports an error if this configuration cannot be carried out.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let least = |name, value: u64, least| {
            if value < least { Err(ConfigError::TooSmall { name, least }) } else { Ok(()) }
        };
        least("max_executions", self.max_executions.unwrap_or(1), 1)?;
        least("max_memory", self.max_memory.unwrap_or(1), 1)?;
        least("max_steps", u64::from(self.max_steps), 1)?;
        least("pct_depth", self.pct_depth.unwrap_or(1).into(), 1)?;
        if self.pct_depth.is_some_and(|depth| depth > DEEPEST) {
            return Err(ConfigError::TooLarge { name: "pct_depth", most: DEEPEST.into() });
        }
        least("spin_bound", u64::from(self.spin_bound), 1)?;
        least("jobs", self.jobs as u64, 1)?;
        least("stack_size", self.stack_size as u64, 16 * 1024)?;
        let (explorer, memory) = (self.explorer, self.effective_memory());
        if !explorer.is_implemented_for(memory) {
            return Err(ConfigError::NotImplemented { explorer, memory });
        }
        let bounds =
            [("preemption_bound", self.preemption_bound.is_some()), ("delay_bound", self.delay_bound.is_some())];
        if let Some((name, _)) = bounds.into_iter().find(|&(_, is_set)| is_set)
            && self.replay.is_none()
            && explorer != ExplorerKind::ReadsFrom
        {
            return Err(ConfigError::NoBound { name, explorer });
        }
        match &self.replay {
            Some(seed) if seed.model() != memory => Err(ConfigError::SeedOfAnotherModel { seed: seed.model(), memory }),
            _ => Ok(()),
        }
    }
}
