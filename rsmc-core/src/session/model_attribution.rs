//! The memory models that allow a failure.
//!
//! Problem. A check found a failure under a weak model. Does a stronger model have it too?
//!
//! Method. RF-SMC looks for the same failure ([`FailureSignature`]) under each stronger model, the strongest first,
//! until one has it. If the smallest schedule delays no store and takes no old value, that schedule is first tried
//! under SC. The report says that a model does not allow the failure only if the exploration under it was complete. A
//! data race is judged by Rust's rules and happens under each model, so for a race the question is another: without
//! looking at races, does anything fail under one of the three models of machines?
//!
//! Cost. At most [`super::probe::MOST_RUNS`] runs for each model: the same on every machine. [`LONGEST`] is a safety
//! net; if it ends an exploration, its model is left open.

use std::fmt;
use std::time::{Duration, Instant};

use crate::session::failure_signature::FailureSignature;
use crate::session::nearest::list;
use crate::session::probe::{Answer, Probe};
use crate::session::{Config, FailureKind, MemoryModel};
use crate::step::{Executor, Step};

/// The time that all explorations may take together.
const LONGEST: Duration = Duration::from_secs(2);

/// The models of machines, the strongest first.
fn machines() -> impl Iterator<Item = MemoryModel> {
    MemoryModel::ALL.into_iter().filter(|model| !model.is_graph())
}

/// The memory models that allow a failure that was found under a model weaker than SC.
///
/// Its text is that of reports: `also under SC`, `needs TSO store buffering`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Needs {
    /// A failure other than a data race.
    Model {
        /// The strongest model under which the failure was found.
        strongest: MemoryModel,
        /// The stronger models that were not explored completely.
        open: Vec<MemoryModel>,
    },
    /// A data race by Rust's rules, whatever values there are.
    Race {
        /// The strongest model of SC, TSO and PSO under which something else fails, if one was found, and the kind of
        /// that failure.
        fails: Option<(MemoryModel, FailureKind)>,
        /// The models of these whose exploration was incomplete and showed no such failure.
        open: Vec<MemoryModel>,
    },
}

impl Needs {
    /// Explores under other models; also returns the number of runs. `strong`: a schedule that may show the same
    /// failure under SC.
    pub(super) fn of(
        same: &FailureSignature,
        strong: Option<&[Step]>,
        memory: MemoryModel,
        config: &Config,
        executor: &mut dyn Executor,
    ) -> (Option<Needs>, u64) {
        let race = same.kind() == FailureKind::DataRace;
        let models = machines().filter(|&model| race || memory.is_weaker_than(model));
        if memory.is_sequential() {
            return (None, 0);
        }
        let config = Config { check_races: config.check_races && !race, ..config.clone() };
        let knowledge = executor.knowledge();
        let mut probe = Probe {
            config: &config,
            same: (!race).then_some(same),
            executor,
            runs: 0,
            until: Instant::now() + LONGEST,
        };
        let (mut fails, mut open) = (None, Vec::new());
        for model in models {
            if !probe.executor.follow(model) {
                return (None, 0);
            }
            let repeats = !race && model.is_sequential() && strong.is_some_and(|steps| probe.repeat(steps));
            let answer = if repeats { Answer::Fails(same.kind()) } else { probe.explore(model) };
            match answer {
                Answer::Fails(kind) => {
                    fails = Some((model, kind));
                    break;
                }
                Answer::Holds => {}
                Answer::Open => open.push(model),
            }
            if probe.executor.is_broken() {
                return (None, probe.runs);
            }
        }
        let runs = probe.runs;
        executor.follow(memory);
        executor.know(&knowledge);
        let needs = match race {
            true => Needs::Race { fails, open },
            false => Needs::Model { strongest: fails.map_or(memory, |(model, _)| model), open },
        };
        (Some(needs), runs)
    }
}

/// The models of machines that are stronger than a model.
fn stronger(model: MemoryModel) -> impl Iterator<Item = MemoryModel> {
    machines().filter(move |&other| model.is_weaker_than(other))
}

/// Several models as a list in a sentence.
fn titles(models: impl IntoIterator<Item = MemoryModel>) -> String {
    list(models.into_iter().map(title))
}

fn title(model: MemoryModel) -> &'static str {
    model.description().title
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Needs::Model { strongest, open } if open.is_empty() || strongest.is_sequential() => {
                match strongest.description().needs {
                    Some(needs) => f.write_str(needs),
                    None => write!(f, "needs {}: not under {}", title(*strongest), titles(stronger(*strongest))),
                }
            }
            Needs::Model { strongest, open } => {
                write!(f, "under {}", title(*strongest))?;
                let excluded = titles(stronger(*strongest).filter(|model| !open.contains(model)));
                if !excluded.is_empty() {
                    write!(f, ", not under {excluded}")?;
                }
                write!(f, "; not found under {} within the limits", titles(open.iter().copied()))
            }
            Needs::Race { fails: Some((model, kind)), .. } => {
                write!(f, "a data race by Rust's rules; without it, {} fails by {}", title(*model), kind_name(*kind))
            }
            Needs::Race { fails: None, open } if open.is_empty() => {
                write!(f, "a data race by Rust's rules; values correct under {}", titles(machines()))
            }
            Needs::Race { fails: None, open } => {
                write!(f, "a data race by Rust's rules; values under {} not all seen", titles(open.iter().copied()))
            }
        }
    }
}

fn kind_name(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Panic => "a panic",
        FailureKind::Deadlock => "a deadlock",
        FailureKind::Livelock => "a livelock",
        FailureKind::UseAfterFree => "a use of freed memory",
        FailureKind::DoubleFree => "memory that is freed twice",
        FailureKind::Leak => "a leak",
        _ => "another failure",
    }
}
