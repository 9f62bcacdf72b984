//! Source-DPOR: one execution of each class of happens-before, and some runs that end where others went.
//!
//! Problem. Interleavings that differ in the order of independent operations show the same; brute force runs them all.
//!
//! Method. Depth first over the steps of a run. Each race of a run has its second event come first in another one: a
//! thread that could begin that is added to the *backtrack set* of the place before the first event, unless one of them
//! is there. A thread that was explored from a place *sleeps* in the others from there, until a step happens that
//! conflicts with its own.
//!
//! Cost. One execution per class; the runs in which only threads are left that sleep, and one more for each step at
//! which a run goes on with a thread that sleeps, since the executor does not know them. Time O(n²) a run of n events
//! for its races.
//!
//! Source. Abdulla, Aronis, Jonsson, Sagonas, *Optimal dynamic partial order reduction* (POPL 2014), algorithm 1: the
//! baseline that the papers call *source*, and whose classes are their column happens-before.
//!
//! Deviations. (1) Races are found in whole runs, and not step by step; those of the same events are the same. (2) The
//! alternatives of a choice are steps of one thread, each of which sleeps when it was explored. (3) An operation that
//! can be blocked races with the last event before which it was not ([`super::races`]); the paper has locks in its
//! section 7.

use rsmc_core::base::ThreadId;
use rsmc_core::step::{Forced, Plan, Run, Step};

use super::access::{Access, Explored};
use super::races::Races;
use super::{Baseline, Ran};

/// The explorer; see the module.
#[derive(Debug, Default)]
pub struct SourceDpor {
    path: Vec<Node>,
    races: Races,
    started: bool,
}

/// A place on the path.
#[derive(Debug)]
struct Node {
    possible: Vec<Step>,
    taken: Step,
    /// The alternatives of that step which are left.
    left: Vec<Step>,
    explored: Explored,
    backtrack: Vec<ThreadId>,
}

impl Node {
    /// A place from which this step is taken first.
    fn new(possible: Vec<Step>, taken: Step, explored: Explored) -> Self {
        let mut node = Self { possible, taken, left: Vec::new(), explored, backtrack: Vec::new() };
        if node.explored.sleeps(taken) {
            let awake = node.possible.iter().find(|&&step| !node.explored.sleeps(step));
            node.backtrack = awake.map(|step| step.thread()).into_iter().collect();
        } else {
            node.left = node.awake(taken.thread());
            node.left.retain(|&step| step != taken);
            node.backtrack.push(taken.thread());
        }
        node
    }

    /// Takes a step of this thread next; false if all of them sleep.
    fn begin(&mut self, thread: ThreadId) -> bool {
        self.left = self.awake(thread);
        self.take_left()
    }

    /// The steps of a thread that do not sleep.
    fn awake(&self, thread: ThreadId) -> Vec<Step> {
        let of_thread = |step: &Step| step.thread() == thread && !self.explored.sleeps(*step);
        self.possible.iter().copied().filter(of_thread).collect()
    }

    fn take_left(&mut self) -> bool {
        let next = self.left.pop();
        self.taken = next.unwrap_or(self.taken);
        next.is_some()
    }

    /// Goes on to the next step from here; false if there is none.
    fn advance(&mut self) -> bool {
        self.explored.ends();
        self.take_left() || self.backtrack.clone().into_iter().any(|thread| self.begin(thread))
    }
}

impl Baseline for SourceDpor {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        if self.started {
            while self.path.last_mut().is_some_and(|node| !node.advance()) {
                self.path.pop();
            }
            if self.path.is_empty() {
                return false;
            }
        }
        self.started = true;
        plan.record_choices = true;
        plan.forced.clear();
        plan.forced.extend(self.path.iter().map(|node| Forced { step: node.taken, expect: None }));
        true
    }

    fn observe(&mut self, run: &Run) -> Ran {
        let events = &run.trace.events;
        assert_eq!(run.choices.len(), events.len(), "a step is an event");
        let from = self.path.len().saturating_sub(1);
        if let Some(last) = self.path.last_mut() {
            last.explored.ran(Access::of(&events[from]));
        }
        let (mut end, mut ran) = (events.len(), Ran::Execution);
        for (at, choice) in run.choices.iter().enumerate().skip(self.path.len()) {
            let explored = Explored::behind(self.path.last().map(|last| &last.explored));
            let mut node = Node::new(choice.possible.clone(), choice.taken, explored);
            if node.explored.sleeps(choice.taken) {
                ran = if node.backtrack.is_empty() { Ran::Redundant } else { Ran::Detour };
                end = at;
                self.path.push(node);
                break;
            }
            node.explored.ran(Access::of(&events[at]));
            self.path.push(node);
        }
        for race in self.races.compute(run, from, end) {
            let sequence = self.races.reversal(run, race);
            let mut initials = sequence.iter().filter(|later| later.after.is_empty()).map(|later| later.access.thread);
            let node = &mut self.path[race.first];
            if !initials.clone().any(|thread| node.backtrack.contains(&thread)) {
                node.backtrack.extend(initials.next());
            }
        }
        ran
    }
}
