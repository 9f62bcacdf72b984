//! Seeds and checkpoints that were changed: whatever is in them, a check ends soon, with a verdict or a clear error.
//! What a seed says that did not happen is no failure. A checksum keeps accidents out; here it is put right after each
//! change, so what is behind it is tested.
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many seeds are changed (default 2,000), and a tenth as many checkpoints;
//! `RSMC_ORACLE_SEED` shifts the changes.

mod bodies;
#[path = "../rsmc-core/tests/damage/mutate.rs"]
mod mutate;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::support::{child, pairs};
use bodies::{BODIES, Body};
use data_encoding::BASE64URL_NOPAD;
use mutate::Draw;
use rsmc::{Config, Explorer, FailureKind, Limit, Report, Seed, Verdict};
use rsmc_core::session::{Checkpoint, check_body};
use rsmc_core::step::Run;
use xxhash_rust::xxh3::xxh3_64;

const PREFIX: &str = "rsmc3-";

/// No test takes longer, even with ten times as many changes.
const LONGEST: Duration = Duration::from_secs(300);

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// The number of seeds that are changed.
fn rounds() -> u64 {
    number("RSMC_ORACLE_PROGRAMS", 2_000)
}

/// Every explorer that proves under every model that it knows, and samples.
fn configs() -> impl Iterator<Item = Config> {
    let samples = [Explorer::Random, Explorer::Pct].map(|explorer| Config::default().explorer(explorer));
    pairs().chain(samples).map(|config| config.max_executions(30).keep_going(true).shrink(50).max_steps(2_000))
}

/// The subject of a report, in one line.
fn short(report: &Report) -> String {
    rsmc::render(report, None).lines().next().unwrap_or_default().to_owned()
}

/// Seeds of some executions of each body, and of its failure: body, model, seed.
fn seeds() -> Vec<(usize, Seed)> {
    let mut seeds: Vec<(usize, Seed)> = Vec::new();
    for (number, body) in BODIES.iter().enumerate() {
        for config in configs() {
            let mut found = Vec::new();
            let mut observe = |run: &Run, counts| {
                if counts && found.len() < 5 {
                    found.push(Seed::of_run(run, run.model));
                }
            };
            let report = check_body(&config, &body.run, |body| body.check().observe(&mut observe).run()).unwrap();
            if let Verdict::Failed(failure) = report.verdict {
                assert!(body.fails, "{}", failure.message);
                found.push(failure.seed);
            }
            seeds.extend(found.into_iter().map(|seed| (number, seed)));
        }
    }
    seeds
}

/// The bytes behind the checksum.
fn content(seed: &Seed) -> Vec<u8> {
    let text = seed.to_string();
    let mut bytes = BASE64URL_NOPAD.decode(text.strip_prefix(PREFIX).unwrap().as_bytes()).unwrap();
    bytes.truncate(bytes.len() - 4);
    bytes
}

/// A text with the right checksum.
fn text(mut content: Vec<u8>) -> String {
    let sum = (xxh3_64(&content) as u32).to_le_bytes();
    content.extend_from_slice(&sum);
    format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&content))
}

/// The ends of replays, to see that this tests something.
#[derive(Debug, Default)]
struct Ends {
    unread: u64,
    refused: u64,
    stale: u64,
    failed: u64,
    passed: u64,
}

/// The mistake in a verdict, if there is one.
fn wrong(body: &Body, report: &Report, replayed: bool) -> Option<String> {
    let text = rsmc::render(report, None);
    if text.contains("bug in rsmc") {
        return Some(text);
    }
    match &report.verdict {
        Verdict::Failed(failure) => match failure.kind {
            FailureKind::StaleSeed if replayed => None,
            FailureKind::Nondeterminism => Some(text),
            _ if body.fails => None,
            _ => Some(text),
        },
        Verdict::Incomplete(Limit::Replay) if replayed => None,
        Verdict::Verified | Verdict::Incomplete(Limit::Executions(_)) if !replayed => None,
        _ => Some(text),
    }
}

#[test]
fn seeds_that_were_changed() {
    child::alone("damage::seeds_that_were_changed", LONGEST, change_seeds);
}

fn change_seeds() {
    let (rounds, first) = (rounds(), number("RSMC_ORACLE_SEED", 0));
    let seeds = seeds();
    let contents: Vec<Vec<u8>> = seeds.iter().map(|(_, seed)| content(seed)).collect();
    assert_eq!(text(contents[0].clone()), seeds[0].1.to_string());
    let mut ends = Ends::default();
    let mut wrongs = String::new();
    let memory = watch::Memory::new();
    for round in first..first + rounds {
        let mut draw = Draw::new(round);
        let at = draw.below(seeds.len());
        let text = match draw.below(8) {
            0 => mutate::text(seeds[at].1.to_string(), &mut draw),
            _ => text(mutate::bytes(contents[at].clone(), &contents, &mut draw)),
        };
        // Mostly for the body that it is of.
        let body = if draw.below(8) > 0 { seeds[at].0 } else { draw.below(BODIES.len()) };
        let (body, pinned) = (&BODIES[body], draw.below(8) == 0);
        let _soon = watch::soon(Duration::from_secs(20), format!("{text} of round {round}, body {}", body.name));
        let parsed = catch_unwind(|| text.parse::<Seed>());
        let seed = match parsed {
            Ok(Ok(seed)) => seed,
            Ok(Err(_)) => {
                ends.unread += 1;
                continue;
            }
            Err(_) => {
                wrongs += &format!("\n{text} of round {round} cannot be read");
                continue;
            }
        };
        let config = Config::default().max_steps(2_000).shrink(50).max_executions(60);
        let config = if pinned {
            let explorer = [Explorer::ReadsFrom, Explorer::Random][draw.below(2)];
            config.memory(seed.model()).explorer(explorer).pin(seed)
        } else {
            // Without call paths, which take longer than the run.
            config.shrink(0).replay(seed)
        };
        let checked = catch_unwind(AssertUnwindSafe(|| check_body(&config, &body.run, |body| body.check().run())));
        let problem = match checked {
            Err(_) => Some("it panics".to_owned()),
            Ok(Err(_)) => {
                ends.refused += 1;
                None
            }
            Ok(Ok(report)) => {
                match &report.verdict {
                    Verdict::Failed(failure) if failure.kind == FailureKind::StaleSeed => ends.stale += 1,
                    Verdict::Failed(_) => ends.failed += 1,
                    _ => ends.passed += 1,
                }
                let shown = catch_unwind(AssertUnwindSafe(|| rsmc::html(&report, &config, None)));
                let unshown = shown.is_err().then(|| format!("it cannot be shown: {}", short(&report)));
                unshown.or_else(|| wrong(body, &report, !pinned))
            }
        };
        if let Some(problem) = problem {
            wrongs += &format!("\nround {round}, {}, pinned: {pinned}, {text}: {problem}", body.name);
        }
    }
    memory.assert_below(1 << 30);
    assert!(wrongs.is_empty(), "{wrongs}\n{ends:?}");
    assert!(ends.unread * 50 > rounds && ends.stale * 10 > rounds, "{ends:?}");
    assert!(ends.failed * 100 > rounds && ends.passed * 100 > rounds, "{ends:?}");
}

/// A look at 0 behind a look at 2: an execution that is given up cannot go on with them.
#[test]
fn reads_that_no_execution_allows_are_of_another_program() {
    let body = BODIES.iter().find(|body| body.name == "waits for ever").unwrap();
    let config = Config::default().replay("rsmc3-PmfubWgGDqC9fwg".parse().unwrap());
    let report = check_body(&config, &body.run, |body| body.check().run()).unwrap();
    let Verdict::Failed(failure) = &report.verdict else { panic!("{}", short(&report)) };
    assert_eq!(failure.kind, FailureKind::StaleSeed, "{}", failure.message);
}

/// Checkpoints of each body: body, configuration, bytes. Some are in detours.
fn checkpoints() -> Vec<(usize, Config, Vec<u8>)> {
    let is_resumed =
        |config: &Config| matches!(config.explorer, Explorer::ReadsFrom | Explorer::Random | Explorer::Pct);
    let configs = configs().filter(is_resumed).flat_map(|config| [config.clone().sets(0), config]);
    let of_body = |number: usize, config: Config| {
        [1, 2, 4, 7, 12, 20].into_iter().filter_map(move |stop| {
            let checkpoint = resume(&BODIES[number], &config, None, stop).1?;
            Some((number, config.clone(), postcard::to_allocvec(&checkpoint).unwrap()))
        })
    };
    configs.flat_map(|config| (0..BODIES.len()).flat_map(move |number| of_body(number, config.clone()))).collect()
}

/// A part of a check, up to so many runs.
fn resume(body: &Body, config: &Config, resume: Option<Checkpoint>, runs: u32) -> (Report, Option<Checkpoint>) {
    let mut pulses = 0;
    let mut pulse = |_: &_| {
        pulses += 1;
        pulses <= runs
    };
    let check = |body: &mut rsmc_core::session::Body<'_>| {
        body.check().pulse(Duration::ZERO, &mut pulse).resume(resume).run_part()
    };
    check_body(config, &body.run, check).unwrap()
}

#[test]
fn checkpoints_that_were_changed() {
    child::alone("damage::checkpoints_that_were_changed", LONGEST, change_checkpoints);
}

fn change_checkpoints() {
    let (rounds, first) = (rounds() / 10, number("RSMC_ORACLE_SEED", 0));
    let checkpoints = checkpoints();
    let contents: Vec<Vec<u8>> = checkpoints.iter().map(|(.., bytes)| bytes.clone()).collect();
    let (mut ends, mut wrongs) = (Ends::default(), String::new());
    let memory = watch::Memory::new();
    for round in first..first + rounds {
        let mut draw = Draw::new(round);
        let (number, config, bytes) = &checkpoints[draw.below(checkpoints.len())];
        let body = &BODIES[*number];
        let bytes = match draw.below(4) {
            0 => mutate::bytes(bytes.clone(), &contents, &mut draw),
            _ => mutate::values(bytes.clone(), &mut draw),
        };
        let what = format!("round {round}, {} by {} under {}", body.name, config.explorer, config.effective_memory());
        let _soon = watch::soon(Duration::from_secs(20), what.clone());
        match catch_unwind(|| postcard::from_bytes::<Checkpoint>(&bytes)) {
            Err(_) => wrongs += &format!("\n{what}: it cannot be read"),
            Ok(Err(_)) => ends.unread += 1,
            Ok(Ok(checkpoint)) if checkpoint.misfit(config).is_some() => ends.refused += 1,
            Ok(Ok(checkpoint)) => {
                let resumed = catch_unwind(AssertUnwindSafe(|| {
                    let (report, _) = resume(body, config, Some(checkpoint), 500);
                    let text = rsmc::render(&report, None);
                    (matches!(report.verdict, Verdict::Failed(_)), text)
                }));
                match resumed {
                    Err(_) => wrongs += &format!("\n{what}: it panics"),
                    Ok((_, text)) if text.contains("bug in rsmc") => wrongs += &format!("\n{what}: {text}"),
                    Ok((true, _)) => ends.failed += 1,
                    Ok((false, _)) => ends.passed += 1,
                }
            }
        }
    }
    memory.assert_below(1 << 30);
    assert!(wrongs.is_empty(), "{wrongs}\n{ends:?}");
    let enough = [ends.unread, ends.refused, ends.failed, ends.passed].iter().all(|&count| count * 50 > rounds);
    assert!(enough, "{ends:?}");
}
