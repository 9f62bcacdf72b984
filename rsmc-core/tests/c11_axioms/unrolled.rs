//! Loops under C11 by its definition: loops are unrolled, and what is cut off is looked at.
//!
//! A thread whose registers are what they were some rounds before, and that changed nothing in between, may go round
//! for ever if it reads only what stays: all later writes of the location, in some modification order, are by such
//! rounds. If every thread that has not ended does so, or is blocked, that is a livelock.
//!
//! No round is left out for that, and nothing is known of the rule by which the checker leaves rounds out.

use rsmc_testkit::litmus::{Program, States, StmtKind};

use super::executions::{Code, CutOff, State, for_each_maximal};
use super::{Kind, is_consistent, modification_orders};

/// A program with more graphs is left out.
const MOST: usize = 8_000;

/// The states of a program if a loop is run for so many rounds; `None` if that is too much, or where it has choices.
///
/// Where a thread that is cut off writes, or came to no state a second time, it is not known whether it goes on for
/// ever: that is said as `busy`. One compare-exchange may fail without cause, or one `maybe` go on: each in turn.
pub fn states(program: &Program, rounds: usize) -> Option<States> {
    let mut code = Code::of(program, rounds);
    let mut found = States::default();
    let (mut chooses, mut is_weak) = (false, false);
    program.visit(|stmt| {
        chooses |= matches!(stmt.kind, StmtKind::Choose { of: Some(_), .. });
        is_weak |= matches!(stmt.kind, StmtKind::Choose { .. } | StmtKind::Cas { weak: true, .. });
    });
    if chooses {
        return None;
    }
    look_at(&code, &mut found)?;
    for thread in (0..code.threads()).filter(|_| is_weak) {
        for number in 0.. {
            code.without_cause = Some((thread, number));
            if !look_at(&code, &mut found)? {
                break;
            }
        }
    }
    Some(found)
}

/// Adds what the executions show; whether a thread went on without cause in one of them.
fn look_at(code: &Code<'_>, found: &mut States) -> Option<bool> {
    let mut went_on = false;
    for_each_maximal(code, MOST, |state| {
        found.count += 1;
        went_on |= state.went_on(code);
        let cut_off = state.cut_off(code);
        if cut_off.is_empty() {
            found.outcomes.insert(state.outcome(code));
            return;
        }
        let again = cut_off.iter().map(|thread| rounds_that_repeat(state, thread)).collect::<Option<Vec<_>>>();
        match again.map(|events| events.into_iter().collect::<Option<Vec<_>>>()) {
            Some(None) => {} // Without these rounds it goes on as well.
            Some(Some(again)) if !again.concat().iter().any(|&event| changes(state, code, event)) => {
                let again = again.concat();
                if can_stay(state, &again) {
                    let turns = again.iter().any(|&event| code.is_lock(state.graph.events[event].loc));
                    (found.waits, found.looks) = (true, found.looks || !turns);
                }
            }
            _ => (found.busy, found.writes) = (true, true),
        }
    })?;
    Some(went_on)
}

/// The events since the registers of a thread were what they are now. None of them repeat if it went on without cause.
fn rounds_that_repeat(state: &State, thread: &CutOff<'_>) -> Option<Option<Vec<usize>>> {
    let (_, first) = thread.rounds.iter().rfind(|(registers, _)| *registers == thread.registers)?;
    let repeats = thread.went_on.is_none_or(|event| event < *first);
    Some(repeats.then(|| state.events_since(thread.thread, *first).collect()))
}

/// Whether an event writes to what is no lock, and is no update that leaves the value as it was.
fn changes(state: &State, code: &Code<'_>, event: usize) -> bool {
    let this = &state.graph.events[event];
    let keeps = || this.kind == Kind::Update && state.written[event] == Some(state.read(event, code));
    this.writes() && !code.is_lock(this.loc) && !keeps()
}

/// Whether these events can be the last ones for ever: each reads a write after which only they write.
fn can_stay(state: &State, last: &[usize]) -> bool {
    let events = &state.graph.events;
    modification_orders(&state.graph).iter().any(|order| {
        let reads_what_stays = |&event: &usize| {
            let writes = &order[events[event].loc];
            let source = events[event].source.and_then(|source| writes.iter().position(|&write| write == source));
            !events[event].reads() || writes[source.map_or(0, |at| at + 1)..].iter().all(|write| last.contains(write))
        };
        last.iter().all(reads_what_stays) && is_consistent(&state.graph, order)
    })
}
