//! A search of all schedules by their cost, the cheapest first: finds the smallest, and proves that it is.
//!
//! Method. Uniform-cost search. A node is a beginning: a part of a schedule that was run, and one other step. Its run
//! shows its end, and the other steps that were possible on the way, which are new nodes. The search takes nodes by
//! their number of context switches, then of weak steps and alternatives. Each other thread that stands before an
//! operation that never waits has to perform it, which costs one switch more. The search leaves out a beginning that
//! leads to a *state* to which another beginning led at no higher cost. The state consists of the reads of each thread,
//! the contents of memory and buffers, and the thread of the last operation; it decides how executions go on, and which
//! failures they show ([`Walk::state`]).
//!
//! Guarantees. If it returns true, no execution with the failure has fewer context switches than the fewest found, and
//! none with one more has fewer weak steps than the one chosen. The search leaves out schedules that repeat an
//! iteration of a waiting loop: without the iteration they are shorter.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::base::{Digest, Id, ThreadId};
use crate::session::shrink::cost::{Cost, Walk};
use crate::session::shrink::trial::{Trial, Went};
use crate::step::{Choice, Run, Step};
use crate::trace::{Action, NoteKind, Op, Row};

/// The number of runs that may look for a shorter schedule after the smallest is known but for the number of its steps.
const POLISH: u64 = 64;

/// A choice among more values has the first one in all schedules of the search: values drawn at random, of which each
/// would be a schedule of its own. Improving a schedule keeps those that it has.
const FEW_VALUES: u64 = 256;

/// A beginning that was not run yet. The heap compares the fields in their order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    /// The least cost: switches, weak steps, alternatives.
    least: (u32, u32, u32),
    /// Nodes of equal cost are taken in order.
    number: u64,
    /// The beginning: the first `length` steps of `path`, and then `step`.
    path: Rc<[Step]>,
    length: usize,
    step: Option<Step>,
}

/// See the module.
struct Search<'t, 'a> {
    trial: &'t mut Trial<'a>,
    nodes: BinaryHeap<Reverse<Node>>,
    numbers: u64,
    /// By state: the costs of the ways to it, without those to which another is no dearer.
    seen: FxHashMap<Digest, Vec<Cost>>,
    complete: bool,
}

/// Searches until no better schedule can exist or the runs are used up. True if the best schedule is proven to be the
/// smallest.
pub(super) fn search(trial: &mut Trial<'_>) -> bool {
    let mut search = Search { trial, nodes: BinaryHeap::new(), numbers: 0, seen: FxHashMap::default(), complete: true };
    search.push((0, 0, 0), Rc::new([]), 0, None);
    search.run();
    search.complete
}

impl Search<'_, '_> {
    fn run(&mut self) {
        let mut polish = POLISH;
        while let Some(Reverse(node)) = self.nodes.pop() {
            if !self.may_improve(node.least) {
                if polish == 0 || !self.may_shorten(node.least, node.length) {
                    continue;
                }
                polish -= 1;
            }
            let steps: Vec<Step> = node.path[..node.length].iter().copied().chain(node.step).collect();
            match self.trial.attempt(&steps, true) {
                Went::Over => {
                    let left = std::iter::once(&node).chain(self.nodes.iter().map(|Reverse(node)| node));
                    self.complete &= !left.into_iter().any(|node| self.may_improve(node.least));
                    return;
                }
                // The steps after it are not known.
                Went::Unknown | Went::Diverged(_) => self.complete = false,
                Went::Same | Went::Otherwise => self.expand(steps.len()),
            }
        }
    }

    fn push(&mut self, least: (u32, u32, u32), path: Rc<[Step]>, length: usize, step: Option<Step>) {
        let number = self.numbers;
        self.numbers += 1;
        self.nodes.push(Reverse(Node { least, number, path, length, step }));
    }

    /// Whether a schedule of at least this cost could be better than the best.
    fn may_improve(&self, (switches, weak, chosen): (u32, u32, u32)) -> bool {
        let fewest = self.trial.fewest();
        let best = self.trial.current().cost;
        switches < fewest
            || (switches <= fewest + 1 && (weak, switches, chosen) < (best.weak, best.switches, best.chosen))
    }

    /// Whether a schedule that begins with so many steps could be as good as the best, and shorter.
    fn may_shorten(&self, least: (u32, u32, u32), length: usize) -> bool {
        let best = self.trial.current().cost;
        least <= (best.switches, best.weak, best.chosen) && length as u32 + 1 < best.steps
    }

    /// Adds the other steps that were possible in the last run after its first `from` steps.
    fn expand(&mut self, from: usize) {
        let mut run = std::mem::take(&mut self.trial.run);
        let end = run.repeated.map_or(run.choices.len(), |steps| run.choices.len().min(steps as usize));
        let end = run.choices[..end].iter().filter(|choice| !choice.left_out).count();
        run.choices.retain(|choice| !choice.left_out);
        let path: Rc<[Step]> = run.choices.iter().map(|choice| choice.taken).collect();
        let mut walk = Walk::new(run.model, Some(self.trial.same.kind()));
        let mut at = 0;
        for row in run.trace.rows() {
            let is_step = match row {
                Row::Event(..) => true,
                Row::Note(note) => matches!(note.kind, NoteKind::Flush(_)),
            };
            if is_step && at >= from {
                if at >= end {
                    break;
                }
                self.branch(&run, &walk, &path, at);
            }
            walk.row(&run.trace, row);
            at += usize::from(is_step);
            if is_step && at > from && !self.is_new(&walk) {
                break;
            }
        }
        self.trial.run = run;
    }

    /// Adds the other steps that were possible at one point of a run.
    fn branch(&mut self, run: &Run, walk: &Walk, path: &Rc<[Step]>, at: usize) {
        let Choice { taken, possible, .. } = &run.choices[at];
        let eager = eager(run, walk, possible);
        for &step in possible.iter().filter(|&step| step != taken) {
            let op = match step {
                Step::Flush(_) => None,
                _ => next_op(run, walk, step.thread()),
            };
            let draws = |op: &Op| matches!(op.action, Action::Choose { of, spurious: false, .. } if of > FEW_VALUES);
            if matches!(step, Step::Choose { .. }) && op.is_some_and(draws) {
                self.complete = false;
                continue;
            }
            let after = walk.after(&run.trace, step, op);
            if after.as_ref().is_some_and(|after| !self.is_new(after)) {
                continue;
            }
            let least = match after {
                Some(Walk { cost, last, .. }) => {
                    let to_come = eager.iter().filter(|&&thread| Some(thread) != last).count();
                    (cost.switches + to_come as u32, cost.weak, cost.chosen)
                }
                // If the operation is not known, neither is its cost.
                None => (walk.cost.switches, walk.cost.weak, walk.cost.chosen),
            };
            if self.may_improve(least) || self.may_shorten(least, at) {
                self.push(least, Rc::clone(path), at, Some(step));
            }
        }
    }

    /// Whether no way to this state was as cheap; if so, notes this one.
    fn is_new(&mut self, walk: &Walk) -> bool {
        let known = self.seen.entry(walk.state()).or_default();
        if known.iter().any(|cost| cost.is_within(&walk.cost)) {
            return false;
        }
        known.retain(|cost| !walk.cost.is_within(cost));
        known.push(walk.cost);
        true
    }
}

/// The operation that a thread stands before at a point of a run, if the run shows it.
fn next_op<'r>(run: &'r Run, walk: &Walk, thread: ThreadId) -> Option<&'r Op> {
    let next = walk.next(thread);
    match run.trace.position(next) {
        Some(at) => Some(&run.trace.events[at].op),
        None => run.waiting.iter().find(|pending| pending.id == next)?.op.as_ref(),
    }
}

/// The threads that have to perform their next operation, whatever other threads do: it never waits, and is in no
/// waiting loop.
fn eager(run: &Run, walk: &Walk, possible: &[Step]) -> Vec<ThreadId> {
    let mut threads: Vec<ThreadId> = possible
        .iter()
        .filter(|step| !matches!(step, Step::Flush(_)))
        .map(|step| step.thread())
        .filter(|&thread| {
            let never_waits = |op: &Op| !matches!(op.action, Action::Acquire | Action::Park);
            let spins = run.waits.iter().any(|wait| wait.next == walk.next(thread));
            next_op(run, walk, thread).is_some_and(never_waits) && !spins
        })
        .collect();
    threads.sort_by_key(|thread| thread.index());
    threads.dedup();
    threads
}
