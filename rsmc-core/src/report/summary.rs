//! The summary of a check: one line for a success, the ways on from a limit, the counts and the replay line of a
//! failure.

use std::time::Duration;

use crate::report::text::{count, wrap};
use crate::report::{Counts, Finding, Replay, command, quoted};
use crate::session::{Estimate, ExplorerKind, FailureKind, Fewest, Limit, MemoryModel, PreemptionBound, memory_text};

/// The line of a check that covered every execution. It says so if there was nothing to explore: then the test may not
/// test what it seems to.
pub fn verified(counts: &Counts<'_>) -> String {
    let unmodelled = if counts.unmodelled { UNMODELLED } else { "" };
    verified_as_modelled(counts) + unmodelled
}

const UNMODELLED: &str = "; NOT modelled: a channel that was created outside, or other uses of a static meanwhile";

fn verified_as_modelled(counts: &Counts<'_>) -> String {
    if let Some(bounds) = bounds(counts) {
        return verified_within(counts, &bounds);
    }
    let (executions, how) = (count(counts.executions, "execution"), how(counts));
    let nothing = match counts.threads {
        0 | 1 => "no other was started through `rsmc_shim::thread`, so there is nothing to interleave",
        _ if counts.executions > 1 => {
            return format!("verified: {executions} ({how}){}, {}", reruns(counts), size(counts));
        }
        _ if counts.shares => "their order makes no difference",
        _ => "no atomic, lock or cell of `rsmc_shim` is used by two of them",
    };
    format!("verified: {executions} ({how}), {}: {nothing}", count(counts.threads as u64, "thread"))
}

/// The bounds of a check that covered every execution within them. A bound that rises has risen to the end.
fn bounds(counts: &Counts<'_>) -> Option<String> {
    let preemptions = match counts.preemption_bound {
        Some(PreemptionBound::AtMost(most)) => Some(count(u64::from(most), "preemption")),
        Some(PreemptionBound::Rising) | None => None,
    };
    let delays = counts.delay_bound.map(|most| count(u64::from(most), "delay"));
    match (preemptions, delays) {
        (Some(preemptions), Some(delays)) => Some(format!("{preemptions} and {delays}")),
        (preemptions, delays) => preemptions.or(delays),
    }
}

/// The line of a check that covered every execution within bounds.
fn verified_within(counts: &Counts<'_>, most: &str) -> String {
    let classes = if counts.executions == 1 { "1 class".to_owned() } else { format!("{} classes", counts.executions) };
    let how = format!("{}, {}", counts.explorer, counts.memory);
    format!("verified for all executions with at most {most}: {classes} ({how}){}, {}", reruns(counts), size(counts))
}

/// The text of a check that a limit ended. It must not look like a success.
pub fn incomplete(counts: &Counts<'_>, limit: Limit) -> String {
    let reached = match limit {
        Limit::Replay => return replayed(counts),
        Limit::Workers => "stopped at a job in which worker processes end".to_owned(),
        Limit::Executions(executions) => format!("stopped at max_executions = {executions}"),
        Limit::Duration(duration) => format!("stopped at max_duration = {}", seconds(duration)),
        Limit::Memory(bytes) => format!("stopped at max_memory = {}", memory_text(bytes)),
        Limit::Steps(most) => format!("a loop that waits came to max_steps = {most}"),
        Limit::Interrupted => "stopped at an interrupt".to_owned(),
    };
    let executions = count(counts.executions, "execution");
    let so_far = format!("no failure in {executions} ({}){}, {}", how(counts), reruns(counts), size(counts));
    let mut lines = vec![format!("incomplete, NOT a proof: {reached}"), wrap(&format!("  {so_far}"), "  ")];
    lines.extend(counts.level.map(|level| format!("  {}", risen_to(level, counts.delay_bound))));
    lines.extend([wrap(&format!("  {}", what_is_left(counts, limit)), "  "), "ways on:".to_owned()]);
    let ways = ways_on(counts.explorer, limit, narrower(counts), cfg!(unoptimized));
    lines.extend(ways.iter().map(|way| wrap(&format!("- {way}"), "  ")));
    lines.join("\n")
}

/// The part of the executions that a check with a rising bound has covered.
fn risen_to(level: u32, delays: Option<u32>) -> String {
    match level.checked_sub(1) {
        None => "executions without a preemption begun, none covered".to_owned(),
        Some(covered) => {
            let delays = delays.map(|most| format!(" and {}", count(u64::from(most), "delay"))).unwrap_or_default();
            let covered = count(u64::from(covered), "preemption");
            format!("verified for all executions with at most {covered}{delays}, {level} begun")
        }
    }
}

/// The text of a replay that did not fail.
fn replayed(counts: &Counts<'_>) -> String {
    let how = format!("{}, {}", counts.memory, size(counts));
    let text = format!("replayed: the execution of this seed does not fail ({how})");
    let note = "  NOT a proof: no other execution was run; run without RSMC_REPLAY to search them all";
    format!("{}\n{}", wrap(&text, "  "), wrap(note, "  "))
}

fn proves(explorer: ExplorerKind) -> bool {
    !explorer.is_random()
}

/// The text about the rest of the exploration, by the last estimate.
fn what_is_left(counts: &Counts<'_>, limit: Limit) -> String {
    if let Limit::Steps(_) = limit {
        return "left: executions in which that loop goes on; one of them may fail".to_owned();
    }
    if !proves(counts.explorer) {
        return "a random search never proves anything; another execution may fail".to_owned();
    }
    let left = |runs: u64| runs.saturating_sub(counts.runs);
    match counts.estimate {
        None => "how many executions are left is not known; one of them may fail".to_owned(),
        Some(Estimate { range: Some((low, high)), .. }) => {
            let (low, high) = (left(low), left(high));
            format!("left: {low} to {high} runs, by an estimate that holds in 9 of 10 cases; one of them may fail")
        }
        Some(Estimate { at_least, .. }) => {
            let least = count(left(at_least), "run");
            format!("left: at least {least}, and how many more is not known; one of them may fail")
        }
    }
}

/// The bound that a check does not have yet and that leaves fewer executions to cover.
fn narrower(counts: &Counts<'_>) -> Option<&'static str> {
    let has_delays = !counts.memory.description().stronger.is_empty();
    match (counts.preemption_bound, counts.delay_bound) {
        (None, _) => Some(
            "cover executions with few preemptions first, and learn up to how many all are covered: \
             RSMC_PREEMPTION_BOUND=rising, or `preemption_bound = \"rising\"` in the attribute",
        ),
        (Some(_), None) if has_delays => Some(
            "cover executions with at most one read of an old value: RSMC_DELAY_BOUND=1, or `delay_bound = 1` in the \
             attribute",
        ),
        _ => None,
    }
}

/// The ways on from a limit. `is_slow`: this crate is compiled without optimisation.
fn ways_on(explorer: ExplorerKind, limit: Limit, narrower: Option<&'static str>, is_slow: bool) -> Vec<&'static str> {
    let raise = match limit {
        Limit::Executions(_) => "raise it: RSMC_MAX_EXECUTIONS=…, or `max_executions = …` in the attribute",
        Limit::Workers => "see whether the machine has enough memory; explore with one process: RSMC_JOBS=1",
        Limit::Memory(_) => "raise it: RSMC_MAX_MEMORY=16GiB, or `max_memory = \"16GiB\"` in the attribute",
        Limit::Steps(_) => "let the loop give up after some iterations, or call `hint::spin_loop()` in it",
        Limit::Interrupted => "let it run to its end",
        _ => "raise it: RSMC_MAX_DURATION=60m, or `max_duration = \"60m\"` in the attribute",
    };
    let optimise = "optimise dependencies, which makes checks several times faster: `opt-level = 3` below \
                    `[profile.dev.package.\"*\"]` in Cargo.toml";
    let smaller = "make the test smaller: fewer threads, fewer operations of each";
    let proof = "search all executions: RSMC_EXPLORER=reads-from";
    let random = "look for bugs at random, without a proof: RSMC_EXPLORER=pct, or random";
    let mut ways = match explorer {
        ExplorerKind::ReadsFrom => {
            let narrower = narrower.filter(|_| limit != Limit::Workers);
            [Some(raise), narrower, Some(smaller), Some(random)].into_iter().flatten().collect()
        }
        _ if proves(explorer) => {
            vec![raise, "try the explorer with fewest executions: RSMC_EXPLORER=reads-from", smaller, random]
        }
        ExplorerKind::Random => vec![proof, raise, "try the other random search: RSMC_EXPLORER=pct"],
        _ => vec![proof, raise, "try the other random search: RSMC_EXPLORER=random"],
    };
    if is_slow && matches!(limit, Limit::Duration(_)) {
        ways.insert(0, optimise);
    }
    ways
}

/// The section with the counts of a failing check.
pub(super) fn counts_section(finding: &Finding<'_>, counts: &Counts<'_>) -> String {
    if finding.kind == FailureKind::StaleSeed {
        return String::new();
    }
    let found = format!(
        "found after {} ({}, {}), {} in all",
        count(counts.executions, "execution"),
        count(counts.runs, "run"),
        how(counts),
        seconds(counts.elapsed)
    );
    let others = match (counts.failures.executions, counts.failures.causes) {
        (0 | 1, _) => None,
        (failures, [_]) => Some(format!("{failures} executions fail for one cause; this is the first")),
        (failures, _) => Some(format!("{failures} executions fail; this is the first")),
    };
    let needs = finding.needs.map(|needs| wrap(&needs.to_string(), "  "));
    let remedy = finding.remedy.map(|remedy| wrap(&remedy.to_string(), "  "));
    [Some(found), others, switches(finding, counts.memory), needs, remedy]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("\n")
}

/// The number of context switches in words, if a small schedule was looked for.
pub(super) fn switches(finding: &Finding<'_>, memory: MemoryModel) -> Option<String> {
    let fewest = match finding.fewest {
        Fewest::Unsought => return None,
        Fewest::Found => ", the fewest found".to_owned(),
        Fewest::Possible => ", the fewest possible".to_owned(),
        Fewest::OneMore => {
            let weak = memory.description().weak_steps;
            format!("; {} would do, with more {weak}", finding.switches.saturating_sub(1))
        }
    };
    let switches = match finding.switches {
        0 => return None,
        1 => "1 context switch".to_owned(),
        many => format!("{many} context switches"),
    };
    Some(switches + &fewest)
}

/// The command that runs the failing execution again, alone on its line and not broken.
pub(super) fn replay_section(finding: &Finding<'_>, name: Option<&str>) -> String {
    let command = replay_command(finding, name);
    command.map(|command| format!("{}\n{command}", how_to_replay(name))).unwrap_or_default()
}

/// The line above the command, or above the known part of it.
pub(super) fn how_to_replay(name: Option<&str>) -> &'static str {
    match name {
        Some(_) => "run this execution again with",
        None => {
            "run this execution again with this in front of the same command; after\n  `rsmc::explore`, by `Config::replay`"
        }
    }
}

/// The command; none if the failure has no seed that replays it.
pub(super) fn replay_command(finding: &Finding<'_>, name: Option<&str>) -> Option<String> {
    finding.kind.is_replayed().then(|| replay(finding.replay, name))
}

/// The command that replays an execution.
pub(super) fn replay(Replay { seed, scenario, weakened }: Replay<'_>, name: Option<&str>) -> String {
    let scenario = scenario.map(|scenario| format!(" RSMC_SCENARIO={}", quoted(scenario))).unwrap_or_default();
    let weakened = weakened.map(|weakened| format!(" RSMC_WEAKEN={}", quoted(weakened))).unwrap_or_default();
    let command = name.map(|name| format!(" {}", command(name))).unwrap_or_default();
    format!("RSMC_REPLAY={seed}{weakened}{scenario}{command}")
}

fn how(counts: &Counts<'_>) -> String {
    let preemptions = counts.preemption_bound.map(|bound| format!(", preemption_bound = {bound}"));
    let delays = counts.delay_bound.map(|bound| format!(", delay_bound = {bound}"));
    format!("{}, {}{}{}", counts.explorer, counts.memory, preemptions.unwrap_or_default(), delays.unwrap_or_default())
}

fn size(counts: &Counts<'_>) -> String {
    let threads = count(counts.threads as u64, "thread");
    format!("{threads}, {} at most, {}", count(counts.events as u64, "event"), seconds(counts.elapsed))
}

/// The number of runs, if it differs from the number of executions: runs are never hidden.
fn reruns(counts: &Counts<'_>) -> String {
    match (counts.runs == counts.executions, counts.blocked) {
        (true, 0) => String::new(),
        (_, 0) => format!(", {}", count(counts.runs, "run")),
        (_, blocked) => format!(", {} of which {blocked} given up", count(counts.runs, "run")),
    }
}

fn seconds(duration: Duration) -> String {
    if duration < Duration::from_secs(120) {
        return format!("{:.2} s", duration.as_secs_f64());
    }
    let (minutes, seconds) = (duration.as_secs() / 60, duration.as_secs() % 60);
    if seconds == 0 { format!("{minutes} min") } else { format!("{minutes} min {seconds} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_build_is_told_how_to_become_fast() {
        let ways = |is_slow| ways_on(ExplorerKind::ReadsFrom, Limit::Duration(Duration::from_secs(1)), None, is_slow);
        let [slow, fast] = [true, false].map(ways);
        assert!(slow[0].contains("`[profile.dev.package.\"*\"]`"), "{slow:?}");
        assert_eq!(slow[1..], fast);
    }
}
