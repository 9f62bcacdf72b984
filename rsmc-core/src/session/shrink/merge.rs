//! Improving a schedule step by step: fast, and good for long ones, but no proof.
//!
//! Method. A *block* is a longest part of a schedule in which one thread performs the operations; flushes belong to the
//! block in which they stand. Three changes may make a schedule smaller: a block moves right behind the last block of
//! its thread, or right before the next one; the executor, which stays on a thread as long as it can, chooses the end;
//! or a store leaves its buffer at once. The first change that makes the schedule smaller is kept, and the method
//! begins anew. If a changed schedule does not fit from some step on, the executor chooses the steps from there.
//!
//! Under C11 a changed schedule might not be an execution: a read that takes an old write in another order may break an
//! axiom, and forced reads are not checked. So all reads of a schedule that is not just cut take the last write.
//!
//! Cost. At most half of the remaining runs.

use crate::base::ThreadId;
use crate::session::shrink::trial::{Trial, Went};
use crate::step::Step;

/// Improves a schedule that was tried.
pub(super) fn merge(trial: &mut Trial<'_>, mut steps: Vec<Step>) {
    let until = trial.left() / 2;
    let is_graph = trial.run.model.is_graph();
    loop {
        let improved = changes(&steps, is_graph).find_map(|change| {
            if trial.left() <= until {
                return Some(None);
            }
            attempt(trial, &change, &steps).map(Some)
        });
        match improved.flatten() {
            Some(better) => steps = better,
            None => return,
        }
    }
}

/// Tries a changed schedule; returns the best schedule, if it is now another one.
fn attempt(trial: &mut Trial<'_>, change: &[Step], before: &[Step]) -> Option<Vec<Step>> {
    if let Went::Diverged(step) = trial.attempt(change, false) {
        trial.attempt(&change[..step], false);
    }
    let best = &trial.current().steps;
    (best != before).then(|| best.clone())
}

/// All ways to change a schedule.
fn changes(steps: &[Step], is_graph: bool) -> impl Iterator<Item = Vec<Step>> + '_ {
    let blocks = blocks(steps);
    let cuts = blocks.iter().skip(1).map(|&(from, ..)| steps[..from].to_vec()).collect::<Vec<_>>();
    let moves = (0..blocks.len()).flat_map(move |at| moved(steps, &blocks, at));
    let as_it_is = is_graph.then(|| steps.to_vec());
    let moves = as_it_is.into_iter().chain(moves).map(move |steps| if is_graph { newest(steps) } else { steps });
    let at_once = (0..steps.len()).filter_map(|at| at_once(steps, at));
    cuts.into_iter().chain(moves).chain(at_once)
}

/// The blocks of a schedule: the beginning, the end and the thread of each.
fn blocks(steps: &[Step]) -> Vec<(usize, usize, ThreadId)> {
    let mut blocks: Vec<(usize, usize, ThreadId)> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match blocks.last_mut() {
            Some((_, end, thread)) if matches!(step, Step::Flush(_)) || *thread == step.thread() => *end = at + 1,
            _ => blocks.push((at, at + 1, step.thread())),
        }
    }
    blocks
}

/// The schedules with this block behind the last one of its thread, and before the next one.
fn moved(steps: &[Step], blocks: &[(usize, usize, ThreadId)], at: usize) -> impl Iterator<Item = Vec<Step>> + use<> {
    let (from, to, thread) = blocks[at];
    let own = |&&(.., of): &&(usize, usize, ThreadId)| of == thread;
    let earlier = blocks[..at]
        .iter()
        .rev()
        .find(own)
        .map(|&(_, end, _)| [&steps[..end], &steps[from..to], &steps[end..from], &steps[to..]].concat());
    let later = blocks[at + 1..]
        .iter()
        .find(own)
        .map(|&(start, ..)| [&steps[..from], &steps[to..start], &steps[from..to], &steps[start..]].concat());
    earlier.into_iter().chain(later)
}

/// The schedule in which every read takes the last write.
fn newest(mut steps: Vec<Step>) -> Vec<Step> {
    for step in &mut steps {
        match *step {
            Step::Take(thread, _) => *step = Step::Run(thread),
            Step::Choose { thread, which, .. } => *step = Step::Choose { thread, which, takes: None },
            Step::Run(_) | Step::Flush(_) => {}
        }
    }
    steps
}

/// The schedule in which this flush comes right behind its store, if it does not.
fn at_once(steps: &[Step], at: usize) -> Option<Vec<Step>> {
    let Step::Flush(store) = steps[at] else { return None };
    let is_own = |step: &Step| !matches!(step, Step::Flush(_)) && step.thread() == store.thread;
    let place = (0..at).filter(|&place| is_own(&steps[place])).nth(store.index as usize)?;
    let changed = [&steps[..=place], &[steps[at]], &steps[place + 1..at], &steps[at + 1..]].concat();
    (place + 1 < at).then_some(changed)
}
