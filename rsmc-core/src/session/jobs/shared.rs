//! The rest of an exploration that workers share, in memory and as data. The coordinator and checkpoints distinguish
//! explorers only here.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::explore::rf_smc::{SavedTree, Ticket, Tree};
use crate::explore::{Divisible, Division, Saved, SavedLooks, Task};
use crate::session::jobs::{Answer, Problem, Samples};
use crate::session::tally::Tally;
use crate::session::{Config, ExplorerKind};
use crate::step::Route;

/// The rest of an exploration.
pub(in crate::session) enum Shared {
    /// The tree of RF-SMC.
    Tree(Box<Tree>),
    /// The numbers of a random exploration.
    Samples(Samples),
}

/// A part that is handed out.
pub(super) enum Part {
    Subtree(Ticket),
    Livelock(Route),
    Samples(Range<u64>),
}

const OTHER: &str = "this is a bug in rsmc: a part of another exploration";

impl Shared {
    /// The division of an explorer, with the largest number of executions there may be.
    pub(in crate::session) fn new(division: Division, most: Option<u64>) -> Option<Self> {
        match division {
            Division::Tree(tree) => Some(Shared::Tree(tree)),
            Division::Samples(from) => most.map(|most| Shared::Samples(Samples::new(from..most))),
        }
    }

    /// True if a part is pending.
    pub(super) fn has_more(&self) -> bool {
        match self {
            Shared::Tree(tree) => !tree.is_empty(),
            Shared::Samples(samples) => samples.has_more(),
        }
    }

    /// The least number of runs that are still to come.
    pub(super) fn pending(&self) -> u64 {
        match self {
            Shared::Tree(tree) => tree.pending(),
            Shared::Samples(_) => 0,
        }
    }

    /// True if answers are added up at the end, when it is known which of them come before a failure.
    pub(super) fn is_summed(&self) -> bool {
        matches!(self, Shared::Samples(_))
    }

    /// True if only a limit of executions can have ended it.
    pub(super) fn is_limited(&self) -> bool {
        matches!(self, Shared::Samples(samples) if samples.was_given())
    }

    /// Hands out a part to one of so many workers.
    pub(super) fn next(&mut self, workers: usize) -> Option<Part> {
        match self {
            Shared::Tree(tree) => {
                let livelock = tree.next_livelock().map(Part::Livelock);
                livelock.or_else(|| tree.next_ticket(workers).map(Part::Subtree))
            }
            Shared::Samples(samples) => samples.next(workers).map(Part::Samples),
        }
    }

    /// The task of a part.
    pub(super) fn task(&self, part: &Part) -> Task {
        match (self, part) {
            (Shared::Tree(tree), Part::Subtree(ticket)) => Task::Subtree(tree.subtree(ticket)),
            (_, Part::Livelock(route)) => Task::Livelock(route.clone()),
            (_, Part::Samples(range)) => Task::Samples { first: range.start, count: range.end - range.start },
            (Shared::Samples(_), Part::Subtree(_)) => unreachable!("{OTHER}"),
        }
    }

    /// Takes a part back that was not explored.
    pub(super) fn give_back(&mut self, part: Part) {
        match (self, part) {
            (Shared::Tree(tree), Part::Subtree(ticket)) => tree.give_back(ticket),
            (Shared::Tree(tree), Part::Livelock(route)) => tree.return_livelock(route),
            (Shared::Samples(samples), Part::Samples(range)) => samples.give_back(range),
            _ => unreachable!("{OTHER}"),
        }
    }

    /// Adds the answer for a part; if it `ends` the exploration, no later part counts. If answers are added up at the
    /// end, takes the counts and the failure from the answer.
    pub(super) fn take_in(&mut self, part: Part, answer: &mut Answer, ends: bool) {
        match (self, part) {
            (Shared::Tree(tree), Part::Subtree(ticket)) => {
                tree.take_in(ticket, answer.found.take().unwrap_or_default())
            }
            (Shared::Tree(tree), Part::Livelock(route)) if answer.done == 0 => tree.return_livelock(route),
            (Shared::Tree(_), Part::Livelock(_)) => {}
            (Shared::Samples(samples), Part::Samples(range)) => {
                let ran = range.start..range.start + answer.done;
                samples.give_back(ran.end..range.end);
                samples.take_in(ran, std::mem::take(&mut answer.tally), answer.problem.take(), ends);
            }
            _ => unreachable!("{OTHER}"),
        }
    }

    /// The reads with which the exploration has to start over, if it has to ([`Tree::starts_over`]).
    pub(super) fn starts_over(&self, runs: u64, is_over: bool) -> Option<SavedLooks> {
        if let Shared::Tree(tree) = self { tree.starts_over(runs, is_over) } else { None }
    }

    /// The state for a checkpoint, after all parts were taken back. `None` if a failure ends the check.
    pub(super) fn save(&self, keep_going: bool) -> Option<Left> {
        match self {
            Shared::Tree(tree) => Some(Left::Shared(tree.save())),
            Shared::Samples(samples) => {
                (keep_going || samples.sum().1.is_none()).then(|| Left::Ranges(samples.clone()))
            }
        }
    }

    /// The counts of the answers that are added up at the end, and the first failure of these.
    pub(super) fn sum(&self) -> (Tally, Option<Problem>) {
        match self {
            Shared::Tree(_) => Default::default(),
            Shared::Samples(samples) => samples.sum(),
        }
    }
}

/// The rest of an exploration in a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::session) enum Left {
    /// The state of one explorer.
    Explorer(Saved),
    /// The tree of RF-SMC that workers share.
    Shared(SavedTree),
    /// Samples that workers share, with their counts, which are not in the counts of the check.
    Ranges(Samples),
}

/// The explorer, or the rest of an exploration, with which a resumed check goes on.
pub(in crate::session) enum Begin {
    Explorer(Box<dyn Divisible>),
    Shared(Shared),
}

impl Left {
    /// True if a check by such an explorer can have written it; its executor knows so many threads.
    pub(in crate::session) fn is_sound(&self, explorer: ExplorerKind, threads: usize) -> bool {
        match self {
            Left::Explorer(saved) => explorer.saves_as(saved) && saved.is_sound(threads),
            Left::Shared(tree) => explorer == ExplorerKind::ReadsFrom && tree.is_sound(threads),
            Left::Ranges(samples) => explorer == ExplorerKind::Random && samples.is_sound(),
        }
    }

    /// The executions that are not in the counts of the check.
    pub(in crate::session) fn executions(&self) -> u64 {
        if let Left::Ranges(samples) = self { samples.sum().0.executions } else { 0 }
    }

    /// The exploration that goes on, with the limit of executions that there is now.
    pub(in crate::session) fn resume(self, config: &Config) -> Begin {
        match self {
            Left::Explorer(saved) => Begin::Explorer(saved.restore(&config.for_explorers())),
            Left::Shared(tree) => Begin::Shared(Shared::Tree(Box::new(Tree::restore(tree)))),
            Left::Ranges(mut samples) => {
                samples.until(config.enough_executions().expect("a search at random has a limit"));
                Begin::Shared(Shared::Samples(samples))
            }
        }
    }
}
