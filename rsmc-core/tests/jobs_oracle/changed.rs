//! The checkpoints of checks with workers, with other bytes.

#[allow(dead_code, reason = "for checkpoints of real code, too")]
#[path = "../damage/mutate.rs"]
mod mutate;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use rsmc_core::session::{Checkpoint, Config, ExplorerKind};
use rsmc_testkit::litmus::{Program, Weights, random};

use super::{MODELS, Who, bounded, kind, part};
use crate::oracle::{self, number};
use crate::spinning;

/// The checkpoints of checks with workers, as bytes, with their programs and configurations.
fn left_by_workers() -> Vec<(Program, Config, Vec<u8>)> {
    let mut all = Vec::new();
    for (seed, stop) in (0..60).flat_map(|seed| [1, 3, 8].map(|stop| (seed, stop))) {
        let memory = MODELS[seed as usize % MODELS.len()];
        let explorer = if seed % 5 == 0 { ExplorerKind::Random } else { ExplorerKind::ReadsFrom };
        let config = bounded(memory, seed).explorer(explorer).max_executions(200);
        let program = match seed % 3 {
            0 => spinning::program(seed, memory),
            _ => random(seed, oracle::BUFFERED_OF_THREE, &Weights::EVERYTHING),
        };
        let (_, checkpoint) = part(&program, &config, (Who::Several, seed), stop, None, &Rc::default());
        all.extend(checkpoint.map(|checkpoint| (program, config, postcard::to_allocvec(&checkpoint).unwrap())));
    }
    all
}

/// The same with other bytes is refused, or leads to a verdict. `tests/damage.rs` of the workspace has more of this.
#[test]
fn what_was_left_is_changed() {
    let (rounds, first) = (50 * number("RSMC_ORACLE_PROGRAMS", 60), number("RSMC_ORACLE_SEED", 0));
    let (left, mut ends) = (left_by_workers(), [0; 4]);
    let contents: Vec<Vec<u8>> = left.iter().map(|(.., bytes)| bytes.clone()).collect();
    for round in first..first + rounds {
        let mut draw = mutate::Draw::new(round);
        let (program, config, bytes) = &left[draw.below(left.len())];
        let bytes = match draw.below(4) {
            0 => mutate::bytes(bytes.clone(), &contents, &mut draw),
            _ => mutate::values(bytes.clone(), &mut draw),
        };
        let end = match postcard::from_bytes::<Checkpoint>(&bytes) {
            Err(_) => 0,
            Ok(checkpoint) if checkpoint.misfit(config).is_some() => 1,
            Ok(checkpoint) => {
                let go_on = || part(program, config, (Who::One, round), 300, Some(checkpoint), &Rc::default());
                match catch_unwind(AssertUnwindSafe(go_on)) {
                    Ok((report, _)) => 2 + usize::from(kind(&report).is_some()),
                    // Nothing was left, and nothing had been counted: it can be seen in the end only.
                    Err(panic) => {
                        let message = panic.downcast_ref::<&str>().copied();
                        assert_eq!(message, Some("the checkpoint does not fit: it is damaged"), "round {round}");
                        1
                    }
                }
            }
        };
        ends[end] += 1;
    }
    assert!(ends.iter().all(|&count| count * 100 > rounds), "{ends:?}");
}
