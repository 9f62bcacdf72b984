//! Judges a run: the failure that it shows, if any.

use std::collections::BTreeSet;

use crate::analysis::race::{Race, find_race};
use crate::base::{LocId, ThreadId};
use crate::seed::{Mismatch, Seed};
use crate::session::shrink::Cost;
use crate::session::spot::{Spot, leaks};
use crate::session::{Config, Failure, FailureKind, Fewest};
use crate::step::{BadMemory, End, Panicked, Pending, Run, Why};
use crate::trace::{NoteKind, Site, Trace};

/// A failure that a run shows.
pub(super) struct Finding {
    pub(super) kind: FailureKind,
    pub(super) message: String,
    /// The race, if it is one. Findings are moved after every run, and most runs have none.
    pub(super) race: Option<Box<Race>>,
    /// The places that only the message names.
    pub(super) spots: Vec<Spot>,
}

impl Finding {
    pub(super) fn new(kind: FailureKind, message: String) -> Self {
        Self { kind, message, race: None, spots: Vec::new() }
    }
}

/// Whether nothing can be explored after a run that ended like this.
pub(super) fn is_final(end: &End) -> bool {
    !matches!(end, End::Complete | End::Stuck | End::Tried | End::Unfair { .. })
}

/// The worst failure of a run.
pub(super) fn judge(run: &Run, config: &Config) -> Option<Finding> {
    let found = bad_memory(run).or_else(|| broken_off(run)).or_else(|| panic(run));
    let found = found.or_else(|| if config.check_races { race(run) } else { None }).or_else(|| stuck(run));
    let found = found.or_else(|| if config.check_leaks { leak(run, config.check_lost) } else { None });
    found.or_else(|| if config.check_joins { thread_left(run) } else { None })
}

fn broken_off(run: &Run) -> Option<Finding> {
    let (kind, message) = match &run.end {
        End::Complete | End::Stuck | End::Tried | End::Learned | End::Unfair { .. } => return None,
        End::StepLimit { thread, site } => (
            FailureKind::StepLimit,
            format!(
                "the execution did not end within {} operations; the last one was by {} at {site}",
                run.trace.events.len(),
                name(&run.trace, *thread)
            ),
        ),
        End::Endless { .. } => {
            let repeated = run.repeated_events();
            let threads: BTreeSet<ThreadId> = repeated.iter().map(|event| event.id.thread).collect();
            let who: Vec<String> = threads.into_iter().map(|thread| name(&run.trace, thread)).collect();
            let (who, last) = (who.join(" and "), repeated.len());
            (FailureKind::Livelock, format!("livelock: {who} can repeat the last {last} operations for ever"))
        }
        End::Diverged { step, event, difference } => (
            FailureKind::Nondeterminism,
            format!(
                "the test did something else when the same schedule was run again: operation {} of {}, step {step}: \
                 {difference}",
                event.index,
                name(&run.trace, event.thread)
            ),
        ),
        End::WrongThread { lock, holder, thread, site } => (
            FailureKind::WrongThread,
            format!(
                "{} gave back the {} created at {}, which {} had taken at {site}",
                name(&run.trace, *thread),
                run.trace.locs[*lock].kind,
                run.trace.locs[*lock].created,
                name(&run.trace, *holder)
            ),
        ),
        End::Misused { message } => (FailureKind::Misuse, message.clone()),
        End::Idle { thread, site, hints } => (
            FailureKind::Misuse,
            format!(
                "{} gave {hints} hints at {site} without an operation that a check sees: it waits for something that \
                 is not from rsmc, as an atomic or a lock of std",
                name(&run.trace, *thread)
            ),
        ),
        End::StackOverflow { thread } => (
            FailureKind::StackOverflow,
            format!("{} needs a larger stack: set `stack_size` (in bytes)", name(&run.trace, *thread)),
        ),
    };
    let spots = match run.end {
        End::WrongThread { site, .. } | End::Idle { site, .. } => vec![Spot::new(&message, site)],
        _ => Vec::new(),
    };
    Some(Finding { spots, ..Finding::new(kind, message) })
}

fn panic(run: &Run) -> Option<Finding> {
    let panic = &run.panics[Panicked::cause(&run.panics)?];
    let message = format!("{} panicked at {}: {}", name(&run.trace, panic.thread), panic.site, panic.message);
    Some(Finding::new(FailureKind::Panic, message))
}

fn race(run: &Run) -> Option<Finding> {
    let race = find_race(&run.trace)?;
    let side = |access: crate::analysis::race::Access| {
        format!("{} {} it at {}", name(&run.trace, access.thread), access.verb(), access.site)
    };
    let cell = &run.trace.locs[race.loc];
    let how = match race.is_of_one_thread() {
        true => "within one another, in one thread",
        false => "and nothing orders the two",
    };
    let message = format!(
        "data race on the {} created at {}: {} and {}, {how}",
        cell.kind,
        cell.created,
        side(race.first),
        side(race.second)
    );
    Some(Finding { race: Some(Box::new(race)), ..Finding::new(FailureKind::DataRace, message) })
}

fn bad_memory(run: &Run) -> Option<Finding> {
    let object = |loc: LocId| format!("the {} created at {}", run.trace.locs[loc].kind, run.trace.locs[loc].created);
    let name = |thread| name(&run.trace, thread);
    let bad = run.bad_memory?;
    let freed = bad.freed_at().and_then(|nth| run.trace.freed(nth)).map(|(_, note)| note);
    let freer = freed.map(|note| note.thread);
    Some(match bad {
        BadMemory::UsedAfterFree { loc, access, site, .. } => {
            let freed = match freed {
                Some(note) if note.kind.drops() => format!("which {} drops", name(note.thread)),
                Some(note) => format!("whose memory {} frees", name(note.thread)),
                None => "whose memory was freed".to_owned(),
            };
            let place = if site == Site::Unknown { String::new() } else { format!(" at {site}") };
            let message = format!("{} uses {}{place}, {freed}", name(access.thread()), object(loc));
            Finding::new(FailureKind::UseAfterFree, message)
        }
        BadMemory::FreedTwice { thread, .. } => {
            let by = freer.map_or(String::new(), |freer| format!(" by {}", name(freer)));
            Finding::new(FailureKind::DoubleFree, format!("{} frees memory that was freed before{by}", name(thread)))
        }
    })
}

fn stuck(run: &Run) -> Option<Finding> {
    let waits_for_ever = |pending: &Pending| !run.detached.contains(&pending.id.thread);
    if !matches!(run.end, End::Stuck) || !run.waiting.iter().any(waits_for_ever) {
        return None;
    }
    let spins = run.waiting.iter().any(|pending| matches!(pending.why, Why::Spin { .. }));
    let (kind, what) = if spins {
        (FailureKind::Livelock, "livelock: nobody will ever write what a spinning thread waits for")
    } else {
        (FailureKind::Deadlock, "deadlock: every thread that is left waits for another")
    };
    if run.waiting.iter().any(Pending::is_suspended) {
        let what = if spins { "livelock" } else { "deadlock" };
        let (suspended, others) = (names(run, &Pending::is_suspended), names(run, &waits_for_ever));
        return Some(Finding::new(kind, format!("{what}: {others} cannot go on while {suspended} is suspended")));
    }
    let who: Vec<String> = run.waiting.iter().map(|pending| wait(&run.trace, pending)).collect();
    Some(Finding::new(kind, format!("{what}: {}", who.join("; "))))
}

/// The names of those threads that wait at the end which `are_meant`.
fn names(run: &Run, are_meant: &dyn Fn(&Pending) -> bool) -> String {
    let meant = run.waiting.iter().filter(|pending| are_meant(pending));
    meant.map(|pending| name(&run.trace, pending.id.thread)).collect::<Vec<_>>().join(" and ")
}

fn leak(run: &Run, check_lost: bool) -> Option<Finding> {
    let spots = leaks(run, check_lost);
    let mut message = spots.first()?.message.clone();
    if spots.len() > 1 {
        message += &format!(", and {} more", spots.len() - 1);
    }
    Some(Finding { spots, ..Finding::new(FailureKind::Leak, message) })
}

/// The first thread that neither the test body nor a thread joined up to the body has joined.
fn thread_left(run: &Run) -> Option<Finding> {
    if run.end != End::Complete {
        return None;
    }
    let joins = |thread: ThreadId| {
        let by_it = run.trace.notes.iter().filter(move |note| note.thread == thread);
        by_it.filter_map(|note| if let NoteKind::Join(other) = note.kind { Some(other) } else { None })
    };
    let mut joined = vec![ThreadId::MAIN];
    let mut next = 0;
    while let Some(&thread) = joined.get(next) {
        joined.extend(joins(thread));
        next += 1;
    }
    let left = run.trace.spawned().find(|thread| !joined.contains(thread))?;
    let site = run.trace.threads[left].site;
    let message = format!("{}, started at {site}, may still run when the test body ends", name(&run.trace, left));
    Some(Finding { spots: vec![Spot::new(&message, site)], ..Finding::new(FailureKind::ThreadLeft, message) })
}

fn wait(trace: &Trace, pending: &Pending) -> String {
    let what = match &pending.why {
        Why::Lock { loc, holder, .. } => {
            let lock = &trace.locs[*loc];
            let held = match holder {
                Some(holder) if *holder == pending.id.thread => "which it holds itself".to_owned(),
                Some(holder) => format!("held by {}", name(trace, *holder)),
                None => "whose holder ended without releasing it".to_owned(),
            };
            format!("for the {} created at {}, {held}", lock.kind, lock.created)
        }
        Why::Join(target) => format!("for the end of {}", name(trace, *target)),
        Why::Park => match pending.op.map(|op| &trace.locs[op.loc]) {
            Some(token) if token.kind != "park token" => format!("for the {} created at {}", token.kind, token.created),
            _ => "to be unparked".to_owned(),
        },
        Why::Spin { .. } => "in a loop".to_owned(),
        Why::Suspended => "for ever, suspended".to_owned(),
    };
    format!("{} waits {what}, at {}", name(trace, pending.id.thread), pending.site)
}

/// The designation of a thread in messages: its name, or its number in the order of spawning.
fn name(trace: &Trace, thread: ThreadId) -> String {
    if thread == ThreadId::MAIN {
        return "the test body".to_owned();
    }
    match trace.threads.get(thread).and_then(|info| info.name.as_deref()) {
        Some(name) => format!("thread `{name}`"),
        None => {
            let number = trace.spawned().position(|spawned| spawned == thread).map_or(0, |before| before + 1);
            format!("thread t{number}")
        }
    }
}

/// The failure of a replay that differs from its seed.
pub(super) fn judge_replay(seed: &Seed, run: &Run) -> Option<Finding> {
    let reason = why_stale(seed, run)?;
    Some(Finding::new(FailureKind::StaleSeed, format!("the seed does not fit this test any more: {reason}")))
}

/// A description of the first difference between a run and its seed, if there is one.
pub(super) fn why_stale(seed: &Seed, run: &Run) -> Option<String> {
    let mismatch = seed.mismatch(run);
    match (&run.end, mismatch) {
        (End::Diverged { step, difference, .. }, None) => Some(format!("at step {}, {difference}", step + 1)),
        (_, Some(mismatch)) => {
            let Mismatch { at, was, is } = mismatch;
            let number = at + 1;
            Some(match is.zip(run.trace.events.get(at)) {
                None => format!("the execution ends before operation {number}, which was {was}"),
                Some((is, event)) if is == was => {
                    format!(
                        "operation {number} is {is} as before, at {}, but its ordering or its type is not",
                        event.op.site
                    )
                }
                Some((is, event)) => format!("operation {number} was {was} and is {is} now, at {}", event.op.site),
            })
        }
        (_, None) => None,
    }
}

/// The failure of a finding, with all that a report needs. If the seed does not fit, the execution that ran instead is
/// left out.
pub(super) fn failure(run: &Run, finding: Finding, seed: Seed) -> Failure {
    if finding.kind == FailureKind::StaleSeed {
        return unseen(finding.kind, finding.message, seed);
    }
    let mut message = finding.message;
    if let Some(kept) = seed.cut_after(run) {
        message += &format!(" (the seed holds the first {kept} steps only, and its replay may end otherwise)");
    }
    Failure {
        trace: run.trace.clone(),
        waiting: run.waiting.clone(),
        repeats: if let End::Endless { since } = run.end { Some(since) } else { None },
        panics: run.panics.clone(),
        race: finding.race.map(|race| *race),
        spots: finding.spots,
        bad_memory: run
            .bad_memory
            .filter(|_| matches!(finding.kind, FailureKind::UseAfterFree | FailureKind::DoubleFree)),
        switches: Cost::of(run).switches,
        ..unseen(finding.kind, message, seed)
    }
}

/// A failure of which no execution is shown.
pub(super) fn unseen(kind: FailureKind, message: String, seed: Seed) -> Failure {
    Failure {
        kind,
        message,
        seed,
        trace: Trace::default(),
        waiting: Vec::new(),
        repeats: None,
        panics: Vec::new(),
        race: None,
        bad_memory: None,
        spots: Vec::new(),
        switches: 0,
        fewest: Fewest::Unsought,
        needs: None,
        remedy: None,
        scenario: None,
    }
}
