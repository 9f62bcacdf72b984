//! The schedulers that a [`Runner`](crate::Runner) takes: which executions of a body are run.
//!
//! They are rsmc's explorers by shuttle's names. A scheduler of one's own is not possible: [`Scheduler`] is implemented
//! here only, so that a suite with one does not compile.

use std::fmt::Debug;
use std::io;
use std::path::Path;

use rsmc::{Explorer, Seed};

use crate::rand::Draws;

pub use crate::current::TaskId;

/// Something that says which executions are run. It is implemented for the types of this module only.
pub trait Scheduler: Explores {}

impl Scheduler for RandomScheduler {}
impl Scheduler for PctScheduler {}
impl Scheduler for DfsScheduler {}
impl Scheduler for ReplayScheduler {}
impl<S: Scheduler> Scheduler for UncontrolledNondeterminismCheckScheduler<S> {}
impl Scheduler for Box<dyn Scheduler + Send> {}

pub(crate) mod sealed {
    use super::{Draws, Explorer, Seed};

    /// The explorer that a scheduler asks for, with its settings.
    #[derive(Clone, Debug)]
    pub struct Exploration {
        pub(crate) explorer: Explorer,
        /// The largest number of executions.
        pub(crate) executions: Option<usize>,
        /// The seed of the samples.
        pub(crate) seed: u64,
        /// The depth of PCT.
        pub(crate) depth: Option<u32>,
        /// Whether each execution is run twice.
        pub(crate) twice: bool,
        /// The one execution to run.
        pub(crate) replay: Option<Seed>,
        /// The source of random values.
        pub(crate) draws: Draws,
    }

    /// A scheduler of this crate.
    pub trait Explores {
        #[doc(hidden)]
        fn exploration(&self) -> Exploration;
    }
}

use sealed::{Exploration, Explores};

/// The seed that the environment asks for, or this one.
#[track_caller]
fn seed_or(seed: u64) -> u64 {
    const NAME: &str = "SHUTTLE_RANDOM_SEED";
    let Some(value) = std::env::var_os(NAME) else { return seed };
    let value = value.to_string_lossy();
    value.trim().parse().unwrap_or_else(|error| panic!("invalid value `{value}` for `{NAME}`: {error}"))
}

/// Draws so many executions at random, each thread being as likely as the others at each step.
#[derive(Clone, Debug)]
pub struct RandomScheduler {
    executions: usize,
    seed: u64,
}

impl RandomScheduler {
    /// The samples of the seed 0, or of `SHUTTLE_RANDOM_SEED`: the same ones each time.
    ///
    /// # Panics
    /// If the variable has no number.
    #[must_use]
    #[track_caller]
    pub fn new(max_iterations: usize) -> Self {
        Self::new_from_seed(0, max_iterations)
    }

    /// The samples of a seed, which `SHUTTLE_RANDOM_SEED` overrides.
    ///
    /// # Panics
    /// If the variable has no number.
    #[must_use]
    #[track_caller]
    pub fn new_from_seed(seed: u64, max_iterations: usize) -> Self {
        Self { executions: max_iterations, seed: seed_or(seed) }
    }
}

impl Explores for RandomScheduler {
    fn exploration(&self) -> Exploration {
        Exploration {
            explorer: Explorer::Random,
            executions: Some(self.executions),
            seed: self.seed,
            depth: None,
            twice: false,
            replay: None,
            draws: Draws::Chosen,
        }
    }
}

/// Draws so many executions with random priorities of threads (PCT): the priority of a thread falls at `depth - 1`
/// random points.
#[derive(Clone, Debug)]
pub struct PctScheduler {
    random: RandomScheduler,
    depth: u32,
}

impl PctScheduler {
    /// The samples of the seed 0, or of `SHUTTLE_RANDOM_SEED`: the same ones each time.
    ///
    /// # Panics
    /// If `max_depth` is 0, or the variable has no number.
    #[must_use]
    #[track_caller]
    pub fn new(max_depth: usize, max_iterations: usize) -> Self {
        Self::new_from_seed(0, max_depth, max_iterations)
    }

    /// The samples of a seed, which `SHUTTLE_RANDOM_SEED` overrides.
    ///
    /// # Panics
    /// If `max_depth` is 0, or the variable has no number.
    #[must_use]
    #[track_caller]
    pub fn new_from_seed(seed: u64, max_depth: usize, max_iterations: usize) -> Self {
        assert!(max_depth > 0, "the depth must be at least 1");
        let depth = u32::try_from(max_depth).unwrap_or(u32::MAX);
        Self { random: RandomScheduler::new_from_seed(seed, max_iterations), depth }
    }
}

impl Explores for PctScheduler {
    fn exploration(&self) -> Exploration {
        Exploration { explorer: Explorer::Pct, depth: Some(self.depth), ..self.random.exploration() }
    }
}

/// Runs one execution per reads-from class, until there is no other or so many were run.
#[derive(Clone, Debug)]
pub struct DfsScheduler {
    executions: Option<usize>,
    draws: Draws,
}

impl DfsScheduler {
    /// All classes, or so many. If random data is allowed, each thread gets the same values in all executions, so other
    /// values are not explored; if it is not, asking for some fails.
    #[must_use]
    pub fn new(max_iterations: Option<usize>, allow_random_data: bool) -> Self {
        let draws = if allow_random_data { Draws::Fixed } else { Draws::Refused };
        Self { executions: max_iterations, draws }
    }
}

impl Explores for DfsScheduler {
    fn exploration(&self) -> Exploration {
        Exploration {
            explorer: Explorer::ReadsFrom,
            executions: self.executions,
            seed: 0,
            depth: None,
            twice: false,
            replay: None,
            draws: self.draws,
        }
    }
}

/// Runs each execution of another scheduler twice, and fails if the body does something else in the same schedule, as
/// far as operations of threads show it: if it depends on a clock, on random values that are not of
/// [`rand`](crate::rand), on the order of a `HashMap`, …. That the second run does more at its end is not noticed.
///
/// [`DfsScheduler`] notices this anyway, since its executions repeat parts of earlier ones.
#[derive(Clone, Debug)]
pub struct UncontrolledNondeterminismCheckScheduler<S>(S);

impl<S: Scheduler> UncontrolledNondeterminismCheckScheduler<S> {
    /// The executions of this scheduler, twice each.
    pub fn new(scheduler: S) -> Self {
        Self(scheduler)
    }
}

impl<S: Scheduler> Explores for UncontrolledNondeterminismCheckScheduler<S> {
    fn exploration(&self) -> Exploration {
        let once = self.0.exploration();
        let twice = once.explorer != Explorer::ReadsFrom && once.replay.is_none();
        let executions =
            once.executions.map(|executions| if twice { executions.saturating_mul(2) } else { executions });
        Exploration { executions, twice, ..once }
    }
}

/// Runs the execution of a seed.
#[derive(Clone, Debug)]
pub struct ReplayScheduler(Seed);

impl ReplayScheduler {
    /// The execution of a seed, as a report prints it.
    ///
    /// # Panics
    /// If the text is no seed.
    #[must_use]
    #[track_caller]
    pub fn new_from_encoded(encoded_schedule: &str) -> Self {
        Self(rsmc::__private::parse_seed(encoded_schedule.trim()))
    }

    /// The execution of the seed in a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    ///
    /// # Panics
    /// If it holds no seed.
    #[track_caller]
    pub fn new_from_file<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        Ok(Self::new_from_encoded(&std::fs::read_to_string(path)?))
    }
}

impl Explores for ReplayScheduler {
    fn exploration(&self) -> Exploration {
        Exploration { replay: Some(self.0.clone()), ..RandomScheduler { executions: 1, seed: 0 }.exploration() }
    }
}

impl Explores for Box<dyn Scheduler + Send> {
    fn exploration(&self) -> Exploration {
        self.as_ref().exploration()
    }
}

impl Debug for dyn Scheduler + Send {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.exploration().fmt(f)
    }
}
