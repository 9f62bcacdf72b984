//! The counts of a check, and the rule for which runs count.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::base::{Digest, LocId, ThreadId};
use crate::explore::rf_smc::MOST_COUNTED;
use crate::session::causes::Causes;
use crate::step::{End, Purpose, Run, Why};
use crate::trace::{NoteKind, Site, Trace, reads_from_class};

/// The counts of a check; the fields are those of [`super::Report`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub(super) executions: u64,
    pub(super) runs: u64,
    pub(super) blocked: u64,
    /// The failing executions.
    pub(super) causes: Causes,
    pub(super) threads: usize,
    pub(super) events: usize,
    pub(super) shares: bool,
    pub(super) unmodelled: bool,
    /// The places of bounded loops, and whether each was bounded since this build compares no states.
    pub(super) bounded: BTreeMap<String, bool>,
    /// The places of loops that were bounded, since they take back what they change.
    pub(super) rounds: BTreeSet<String>,
    /// The places of loops that keep state where rsmc does not see it.
    pub(super) hiding: BTreeSet<String>,
    /// The places of loops that go on for ever while the exploration holds a thread back.
    pub(super) unfair: BTreeSet<String>,
}

impl Tally {
    /// Whether a check can have counted it.
    pub(super) fn is_sound(&self) -> bool {
        let counts = [self.runs, self.blocked, self.threads as u64, self.events as u64];
        counts.iter().all(|&count| count < MOST_COUNTED) && self.executions <= self.runs && self.causes.is_sound()
    }

    /// Adds the figures that every run has.
    pub(super) fn see(&mut self, run: &Run) {
        self.threads = self.threads.max(run.trace.present().count());
        self.events = self.events.max(run.trace.events.len());
        self.shares = self.shares || shares(&run.trace);
        self.unmodelled |= run.unmodelled;
        for site in &run.bounded {
            self.bounded.insert(site.to_string(), run.is_blind);
        }
        self.rounds.extend(run.rounds.iter().map(Site::to_string));
        self.hiding.extend(run.hiding.iter().map(Site::to_string));
        if let End::Unfair { site } = run.end {
            self.unfair.insert(site.to_string());
        }
    }

    /// Adds the counts of another tally.
    pub(super) fn add(&mut self, other: &Tally) {
        self.executions += other.executions;
        self.runs += other.runs;
        self.blocked += other.blocked;
        self.causes.add(&other.causes);
        self.threads = self.threads.max(other.threads);
        self.events = self.events.max(other.events);
        self.shares |= other.shares;
        self.unmodelled |= other.unmodelled;
        self.bounded.extend(other.bounded.iter().map(|(site, &is_blind)| (site.clone(), is_blind)));
        self.rounds.extend(other.rounds.iter().cloned());
        self.hiding.extend(other.hiding.iter().cloned());
        self.unfair.extend(other.unfair.iter().cloned());
    }

    /// The note about bounded loops.
    pub(super) fn of_bounded(&self, bound: u32) -> Option<String> {
        let (first, &is_blind) = self.bounded.iter().next()?;
        let others = and_others(self.bounded.len() - 1);
        let why = if is_blind {
            "did the same, and this build does not see whether it counts"
        } else {
            "never returns to an earlier state, as one that counts"
        };
        Some(format!(
            "the loop at {first}{others} {why}: after {bound} equal iterations it either waits for a change or gives up; see \
             `spin_bound`"
        ))
    }

    /// The note about loops that take back what they change.
    pub(super) fn of_rounds(&self, rounds: u32) -> Option<String> {
        let first = self.rounds.first()?;
        let others = and_others(self.rounds.len() - 1);
        let rounds = if rounds == 1 { "one round".to_owned() } else { format!("{rounds} equal rounds") };
        Some(format!(
            "the loop at {first}{others} changes nothing that lasts: after {rounds} it waits for a change; see `spin_bound`"
        ))
    }

    /// The note about loops that keep state where rsmc does not see it.
    pub(super) fn of_hiding(&self) -> Option<String> {
        let first = self.hiding.first()?;
        let others = and_others(self.hiding.len() - 1);
        Some(format!(
            "the loop at {first}{others} keeps something where rsmc does not see it, as in a static or a thread-local of std: its \
             iterations are explored one by one"
        ))
    }

    /// The note about loops that go on while a thread is held back.
    pub(super) fn of_unfair(&self) -> Option<String> {
        let first = self.unfair.first()?;
        let others = and_others(self.unfair.len() - 1);
        Some(format!(
            "the loop at {first}{others} waits for another thread and never returns to an earlier state: nothing bounds \
             its iterations"
        ))
    }

    /// Forgets the executions so far, but not the number of runs.
    pub(super) fn start_over(&mut self) {
        let Self { runs, shares, unmodelled, .. } = *self;
        *self = Self { runs, shares, unmodelled, ..Self::default() };
    }
}

fn and_others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " (and one other)".to_owned(),
        more => format!(" (and {more} others)"),
    }
}

/// The worth of a run of an exhaustive explorer.
pub(super) enum Worth {
    /// No class of its own: another run shows it.
    Nothing,
    /// A class of its own.
    Class,
    /// A livelock, which is a class of its own if it was not seen before.
    Livelock(Digest),
}

impl Worth {
    pub(super) fn of(run: &Run, purpose: Purpose) -> Self {
        if run.repeated.is_some() || run.halfway || purpose == Purpose::Discovery {
            return Worth::Nothing;
        }
        if matches!(run.end, End::Tried | End::Unfair { .. }) {
            return Worth::Nothing;
        }
        let spins = run.waiting.iter().any(|pending| matches!(pending.why, Why::Spin { .. }));
        match spins {
            true => Worth::Livelock(reads_from_class(&run.trace)),
            false if purpose == Purpose::Livelock => Worth::Nothing,
            false => Worth::Class,
        }
    }
}

/// Whether two threads use one object.
fn shares(trace: &Trace) -> bool {
    let accesses = trace.events.iter().map(|event| (event.id.thread, event.op.loc));
    let of_cells = trace.notes.iter().filter_map(|note| match note.kind {
        NoteKind::CellRead(loc) | NoteKind::CellWrite(loc) => Some((note.thread, loc)),
        _ => None,
    });
    let mut first: FxHashMap<LocId, ThreadId> = FxHashMap::default();
    accesses.chain(of_cells).any(|(thread, loc)| *first.entry(trace.object_at(loc)).or_insert(thread) != thread)
}
