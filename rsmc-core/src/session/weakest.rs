//! Which memory models allow a failure.
//!
//! Problem. A failure was found under a weak model. Is it a matter of that model, or would it happen under a stronger one too?
//!
//! Method. The same failure ([`Sameness`]) is looked for under each stronger model with RF-SMC, the strongest first, until
//! one has it; if its smallest schedule delays no store and takes no old value, it is first tried under SC. That a model does
//! not allow it is said only where its exploration was complete. A data race is judged by Rust's rules and happens under each model, so the question is another: without looking at races, does anything fail
//! under one of the three models of machines?
//!
//! Cost. At most [`super::asked::MOST_RUNS`] runs for each model: the same on every machine. [`LONGEST`] is a safety net; where it is used, a
//! model is left open.

use std::fmt;
use std::time::{Duration, Instant};

use crate::session::asked::{Answer, Asked};
use crate::session::same::Sameness;
use crate::session::{Config, FailureKind, MemoryModel};
use crate::step::{Executor, Step};

/// How long all of them may take together.
const LONGEST: Duration = Duration::from_secs(2);

/// The models of machines, the strongest first.
const MACHINES: [MemoryModel; 3] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso];

/// Which memory models allow a failure that was found under a model weaker than SC.
///
/// Its text is what reports say: `also under SC`, `needs TSO store buffering`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Needs {
    /// Something other than a data race.
    Model {
        /// The strongest model under which it was found.
        strongest: MemoryModel,
        /// The stronger ones, if they were not explored completely: nobody knows.
        open: Vec<MemoryModel>,
    },
    /// A data race by Rust's rules, whatever values there are.
    Race {
        /// The strongest model of SC, TSO and PSO under which something else fails, if one was found, and what.
        fails: Option<(MemoryModel, FailureKind)>,
        /// Those of them that were not explored completely without such a failure.
        open: Vec<MemoryModel>,
    },
}

impl Needs {
    /// Explores under other models; also says in how many runs. `strong`: a schedule that may fail so under SC.
    pub(super) fn of(
        same: &Sameness,
        strong: Option<&[Step]>,
        memory: MemoryModel,
        config: &Config,
        executor: &mut dyn Executor,
    ) -> (Option<Needs>, u64) {
        let race = same.kind() == FailureKind::DataRace;
        let models = MACHINES.into_iter().filter(|&model| race || is_stronger(model, memory));
        if memory == MemoryModel::Sc {
            return (None, 0);
        }
        let config = Config { check_races: config.check_races && !race, ..config.clone() };
        let knowledge = executor.knowledge();
        let mut asked = Asked {
            config: &config,
            same: (!race).then_some(same),
            executor,
            runs: 0,
            until: Instant::now() + LONGEST,
        };
        let (mut fails, mut open) = (None, Vec::new());
        for model in models {
            if !asked.executor.follow(model) {
                return (None, 0);
            }
            let repeats = !race && model == MemoryModel::Sc && strong.is_some_and(|steps| asked.repeat(steps));
            let answer = if repeats { Answer::Fails(same.kind()) } else { asked.explore(model) };
            match answer {
                Answer::Fails(kind) => {
                    fails = Some((model, kind));
                    break;
                }
                Answer::Holds => {}
                Answer::Open => open.push(model),
            }
            if asked.executor.is_broken() {
                return (None, asked.runs);
            }
        }
        let runs = asked.runs;
        executor.follow(memory);
        executor.know(&knowledge);
        let needs = match race {
            true => Needs::Race { fails, open },
            false => Needs::Model { strongest: fails.map_or(memory, |(model, _)| model), open },
        };
        (Some(needs), runs)
    }
}

fn is_stronger(one: MemoryModel, other: MemoryModel) -> bool {
    (one as u8) < (other as u8)
}

/// Several names as a list.
fn list(models: &[MemoryModel]) -> String {
    let names: Vec<&str> = models.iter().map(|&model| name(model)).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn name(model: MemoryModel) -> &'static str {
    match model {
        MemoryModel::Sc => "SC",
        MemoryModel::Tso => "TSO",
        MemoryModel::Pso => "PSO",
        MemoryModel::C11 => "C11",
    }
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Needs::Model { strongest: MemoryModel::Sc, .. } => write!(f, "also under SC"),
            Needs::Model { strongest, open } if open.is_empty() => match strongest {
                MemoryModel::Tso => write!(f, "needs TSO store buffering"),
                MemoryModel::Pso => write!(f, "needs PSO: stores that overtake each other"),
                _ => write!(f, "needs C11: not under SC, TSO and PSO"),
            },
            Needs::Model { strongest, open } => {
                let stronger = MACHINES.into_iter().filter(|&model| is_stronger(model, *strongest));
                let not: Vec<MemoryModel> = stronger.filter(|model| !open.contains(model)).collect();
                write!(f, "under {}", name(*strongest))?;
                if !not.is_empty() {
                    write!(f, ", not under {}", list(&not))?;
                }
                write!(f, "; not found under {} within the limits", list(open))
            }
            Needs::Race { fails: Some((model, kind)), .. } => {
                write!(f, "a data race by Rust's rules; without it, {} fails by {}", name(*model), kind_name(*kind))
            }
            Needs::Race { fails: None, open } if open.is_empty() => {
                write!(f, "a data race by Rust's rules; values correct under SC, TSO and PSO")
            }
            Needs::Race { fails: None, open } => {
                write!(f, "a data race by Rust's rules; values under {} not all seen", list(open))
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
