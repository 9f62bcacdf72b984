//! Refuses mutations that let a loop which only waits repeat an iteration: such an execution is no class.

use crate::explore::rf_smc::mutate::{Actor, Mutation};
use crate::step::Run;
use crate::trace::spin::Recent;
use crate::trace::{NoteKind, Row};

/// Whether the mutation makes a waiting loop repeat an iteration.
pub(super) fn repeats(run: &Run, mutation: &Mutation) -> bool {
    if run.waiting_loops.is_empty() {
        return false;
    }
    let old = |actor| match actor {
        Actor::Event(at) => run.trace.events[at].read,
        Actor::Waiting(_) => 0,
    };
    repeats_at(run, mutation.actor, mutation.value)
        || mutation.reversed.is_some_and(|second| repeats_at(run, second, old(mutation.actor)))
}

/// Whether an event that reads `value` instead completes a repeated iteration.
fn repeats_at(run: &Run, actor: Actor, value: u64) -> bool {
    let Actor::Event(at) = actor else { return false };
    let thread = run.trace.events[at].id.thread;
    let mut recent = Recent::default();
    for row in run.trace.rows() {
        match row {
            Row::Event(position, event) if position == at => {
                let mut changed = *event;
                changed.read = value;
                changed.written = event.op.action.effect(value).written();
                let unhinted = recent.event(&changed);
                let too_often = unhinted.is_some_and(|iteration| {
                    run.waiting_loops.contains(&iteration.key) && iteration.repeats > run.spin_bound
                });
                return too_often || recent.repeated_since_hint().is_some_and(|key| run.waiting_loops.contains(&key));
            }
            Row::Event(_, event) if event.id.thread == thread => drop(recent.event(event)),
            Row::Note(note) if note.thread == thread && note.kind == NoteKind::Hint => drop(recent.hint(note.site)),
            Row::Event(..) | Row::Note(_) => {}
        }
    }
    false
}
