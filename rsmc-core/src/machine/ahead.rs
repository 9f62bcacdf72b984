//! Loops that keep something where the machine does not see it: such a loop is ordinary code.
//!
//! Problem. A [`State`](crate::machine::State) has a thread's stack and registers, and the heap. A loop may also keep
//! something in a static, in a thread-local of std, or in memory from before the check: it counts, or remembers what it
//! saw. It comes back to an equal state, and yet its thread does something else later.
//!
//! Method. A place at which iterations are left out has to pass three tests. If it fails one, it *hides* something: the
//! machine discards the execution, asks for no states there any more, and [`crate::trace::spin`] bounds the loop.
//! - Before the first iteration is left out there, the thread *runs ahead*: it does [`ITERATIONS`] more of them in
//!   silence, in which its operations return what they returned in the last one and are no events. It must do nothing
//!   else.
//! - An execution in which iterations with new values were left out is run again without them ([`Machine::resolve`]).
//!   All threads must do the same. Up to [`REPEATS`] executions of a check are run again.
//! - Before it is said that a thread waits in a loop for ever, it runs ahead there once more, and *time passes*: before
//!   each of the iterations it sleeps for [`NAP`]. So a loop that looks at a clock of std, which the machine does not
//!   see, comes to its deadline. Then the exploration starts over, and time passes, too, where threads that count give
//!   up ([`crate::machine::patience`]).
//!
//! If a thread does not do again what it did in another execution, no place is trusted any more.
//!
//! Cost. [`ITERATIONS`] iterations for each place, and [`REPEATS`] executions for each check. Where threads wait for
//! ever, about 50 ms for each place.
//!
//! Limits. A loop that does something else only after more iterations, or more time, is not noticed, and neither is one
//! that keeps something only with values that it reads late in a check.

use std::time::Duration;

use crate::base::{ThreadId, mix};
use crate::machine::{Machine, SpinWait};
use crate::step::{End, Run};
use crate::trace::Site;

/// The number of iterations that a thread runs ahead.
const ITERATIONS: usize = 48;

/// The time that passes before an iteration.
pub(super) const NAP: Duration = Duration::from_millis(1);

/// The largest number of executions of a check that are run again without the iterations that were left out.
const REPEATS: u32 = 16;

/// A place where iterations are left out, and its line.
pub type Place = (u64, Site);

/// Iterations that were left out, perhaps wrongly.
#[derive(Debug)]
pub struct Doubts(Vec<u64>);

/// The knowledge about places at which iterations may be left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Trust {
    /// The places from which a thread ran ahead, and did the same again and again.
    proven: Vec<u64>,
    hiding: Vec<Place>,
    /// The places at which the last iterations of threads were left out in this execution.
    waiting: Vec<(ThreadId, Place)>,
    /// The places at which time has passed.
    timed: Vec<u64>,
    /// A loop looks at a clock.
    has_clock: bool,
    /// The places and values of iterations without which an execution was the same.
    repeated: Vec<u64>,
    repeats: u32,
    /// The places and values of other iterations that were left out in this execution.
    doubts: Vec<u64>,
}

impl Trust {
    /// Begins an execution.
    pub(super) fn begin(&mut self) {
        self.doubts.clear();
        self.waiting.clear();
    }

    /// Whether a thread has run ahead at a place, and did the same again and again.
    pub(super) fn is_proven(&self, place: u64) -> bool {
        self.proven.contains(&place)
    }

    /// Notes the place at which an iteration of a thread was left out.
    pub(super) fn waits_at(&mut self, thread: ThreadId, place: Place) {
        self.waiting.retain(|(other, _)| *other != thread);
        self.waiting.push((thread, place));
    }

    /// The lines of loops that keep something which is not seen.
    pub(super) fn hiding(&self) -> impl Iterator<Item = Site> {
        self.hiding.iter().map(|&(_, site)| site)
    }

    /// The number of iterations before each of which time passes where a thread goes on in silence; `at` is the place
    /// at which it runs ahead.
    pub(super) fn naps(&self, at: Option<Place>) -> usize {
        let is_timed = at.is_some_and(|(place, _)| self.timed.contains(&place));
        if is_timed || self.has_clock { ITERATIONS } else { 0 }
    }

    /// Notes that an iteration with these values is left out.
    pub(super) fn leaves_out(&mut self, place: u64, wait: &SpinWait) {
        if self.repeats == REPEATS {
            return;
        }
        let values =
            wait.watched.iter().fold(place, |hash, watched| mix(mix(hash, watched.loc.0.into()), watched.value));
        if !self.repeated.contains(&values) && !self.doubts.contains(&values) {
            self.doubts.push(values);
        }
    }
}

impl Machine {
    /// Whether a loop at this place keeps something that is not seen.
    pub(super) fn hides(&self, (place, site): Place) -> bool {
        self.trust.hiding.iter().any(|&(hiding, _)| hiding == place) || self.plan.observed.hides(site)
    }

    /// Makes a thread, whose last iteration had these events, run ahead at this place before iterations are left out
    /// there. False if one has run ahead there already.
    pub(super) fn runs_ahead(&mut self, thread: ThreadId, place: Place, iteration: &[u32]) -> bool {
        if self.trust.is_proven(place.0) {
            return false;
        }
        let steps = iteration.iter().map(|&at| self.step_of(at)).collect();
        self.has_patience = true;
        self.go_ahead(thread, steps, ITERATIONS, place);
        true
    }

    /// Notes that a thread that ran ahead has done the same for long enough, or something else.
    pub(super) fn ran_ahead(&mut self, place: Place, did_the_same: bool) {
        if did_the_same {
            self.trust.proven.push(place.0);
        } else {
            self.distrust(place);
        }
        let is_clock = !did_the_same && self.trust.timed.contains(&place.0);
        self.trust.has_clock |= is_clock;
        self.again = !is_clock; // Other executions were without what the thread does when its time is over.
        self.give_up();
    }

    /// Ends an execution in which threads wait in loops for ever: in the next run time passes in one of them. False
    /// if that was done for each.
    #[cold]
    pub(super) fn lets_time_pass(&mut self) -> bool {
        let is_exact = |thread: ThreadId| self.threads[thread].spin.as_ref().is_some_and(|spin| spin.exact);
        let waits = |&&(thread, _): &&(ThreadId, Place)| is_exact(thread) && self.waits_in_loop(thread);
        let mut places = self.trust.waiting.iter().filter(waits).map(|&(_, place)| place);
        let Some((place, _)) = places.find(|(place, _)| !self.trust.timed.contains(place)) else { return false };
        self.trust.timed.push(place);
        self.trust.proven.retain(|&proven| proven != place);
        self.give_up_to_run_again();
        true
    }

    fn distrust(&mut self, place: Place) {
        self.places.retain(|&(trusted, _)| trusted != place.0);
        self.trust.hiding.push(place);
    }

    /// Trusts no place any more, since an execution did not go as one before. False if the difference has nothing to do
    /// with iterations that were left out.
    pub(super) fn trusts_no_more(&mut self) -> bool {
        let proven = std::mem::take(&mut self.trust.proven);
        let places: Vec<Place> = self.places.iter().copied().filter(|(place, _)| proven.contains(place)).collect();
        places.into_iter().for_each(|place| self.distrust(place));
        if !proven.is_empty() {
            self.give_up();
        }
        !proven.is_empty()
    }

    /// The doubts about the last execution: it is to be run again without the iterations that were left out, to see
    /// whether it is the same.
    pub fn doubts(&mut self, run: &Run) -> Option<Doubts> {
        let is_execution = run.is_maximal() && run.repeated.is_none() && !run.halfway;
        let doubts = std::mem::take(&mut self.trust.doubts);
        (self.plan.may_probe && !doubts.is_empty() && is_execution).then_some(Doubts(doubts))
    }

    /// Settles the doubts about an execution that was run again. If a thread did something else, the first run is no
    /// result either.
    pub fn resolve(&mut self, Doubts(doubts): Doubts, run: &mut Run, again: &Run) {
        self.trust.repeats += 1;
        if !does_otherwise(run, again) {
            self.trust.repeated.extend(doubts);
        } else if self.trusts_no_more() {
            run.end = End::Learned;
        }
    }
}

/// Whether a thread did something else in an execution that was run again. What it may read at the end does not count.
fn does_otherwise(run: &Run, again: &Run) -> bool {
    if let End::Diverged { difference, .. } = &again.end {
        return difference.is_of_thread();
    }
    let panics = |run: &Run| -> Vec<_> { run.panics.iter().map(|panic| (panic.thread, panic.site)).collect() };
    let waited = |thread: ThreadId| run.waiting.iter().any(|pending| pending.id.thread == thread);
    let more = again.trace.events.get(run.trace.events.len()..).unwrap_or_default();
    let goes_on = more.iter().any(|event| !waited(event.id.thread));
    goes_on || (more.is_empty() && again.is_maximal() && panics(run) != panics(again))
}
