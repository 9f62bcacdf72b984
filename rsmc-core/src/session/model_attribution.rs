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

use std::time::{Duration, Instant};

use crate::session::explanation::machines;
use crate::session::failure_signature::FailureSignature;
use crate::session::probe::{Answer, Probe};
use crate::session::{Config, FailureKind, MemoryModel, Needs};
use crate::step::{Executor, Step};

/// The time that all explorations may take together.
const LONGEST: Duration = Duration::from_secs(2);

/// Explores under other models; also returns the number of runs. `strong`: a schedule that may show the same failure
/// under SC.
pub(super) fn find_models(
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
    let mut probe =
        Probe { config: &config, same: (!race).then_some(same), executor, runs: 0, until: Instant::now() + LONGEST };
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
