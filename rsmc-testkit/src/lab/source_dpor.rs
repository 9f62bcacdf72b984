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

use rsmc_core::base::{LocId, ThreadId};
use rsmc_core::step::{Forced, Plan, Run, Step};
use rsmc_core::trace::Event;

use super::Baseline;
use super::races::Races;

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
    /// The effect of the taken step; `None`: it was not run.
    access: Option<Access>,
    sleep: Vec<Access>,
    backtrack: Vec<ThreadId>,
}

/// A step of a thread, and what it does.
#[derive(Clone, Copy, Debug)]
struct Access {
    thread: ThreadId,
    which: u64,
    loc: LocId,
    writes: bool,
}

impl Access {
    fn of(event: &Event) -> Self {
        let (thread, which) = (event.id.thread, event.op.action.alternative());
        Self { thread, which, loc: event.op.loc, writes: event.written.is_some() }
    }

    fn conflicts(&self, other: &Self) -> bool {
        self.loc == other.loc && (self.writes || other.writes)
    }

    fn is_of(&self, step: Step) -> bool {
        (self.thread, self.which) == (step.thread(), step.performed().0)
    }
}

impl Node {
    /// A place from which this step is taken first.
    fn new(possible: Vec<Step>, taken: Step, sleep: Vec<Access>) -> Self {
        let mut node = Self { possible, taken, left: Vec::new(), access: None, sleep, backtrack: Vec::new() };
        if node.sleeps(taken) {
            let awake = node.possible.iter().find(|&&step| !node.sleeps(step));
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
        let of_thread = |step: &Step| step.thread() == thread && !self.sleeps(*step);
        self.possible.iter().copied().filter(of_thread).collect()
    }

    fn take_left(&mut self) -> bool {
        let next = self.left.pop();
        self.taken = next.unwrap_or(self.taken);
        next.is_some()
    }

    fn add(&mut self, thread: ThreadId) {
        if !self.backtrack.contains(&thread) {
            self.backtrack.push(thread);
        }
    }

    fn sleeps(&self, step: Step) -> bool {
        self.sleep.iter().any(|access| access.is_of(step))
    }

    /// Goes on to the next step from here; false if there is none.
    fn advance(&mut self) -> bool {
        self.sleep.extend(self.access.take());
        self.take_left() || self.backtrack.clone().into_iter().any(|thread| self.begin(thread))
    }

    /// The threads that sleep behind the taken step.
    fn sleep_behind(&self, event: &Event) -> Vec<Access> {
        let now = Access::of(event);
        let sleep = self.sleep.iter().copied();
        sleep.filter(|access| access.thread != now.thread && !access.conflicts(&now)).collect()
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

    fn observe(&mut self, run: &Run) -> bool {
        let events = &run.trace.events;
        assert_eq!(run.choices.len(), events.len(), "a step is an event");
        let from = self.path.len().saturating_sub(1);
        if let Some(last) = self.path.last_mut() {
            last.access = Some(Access::of(&events[from]));
        }
        let mut end = events.len();
        for (at, choice) in run.choices.iter().enumerate().skip(self.path.len()) {
            let sleep = self.path.last().map_or_else(Vec::new, |last| last.sleep_behind(&events[at - 1]));
            let mut node = Node::new(choice.possible.clone(), choice.taken, sleep);
            if node.sleeps(choice.taken) {
                self.path.push(node);
                end = at;
                break;
            }
            node.access = Some(Access::of(&events[at]));
            self.path.push(node);
        }
        for race in self.races.compute(run, from, end) {
            let initials = self.races.initials(&run.trace, race);
            let node = &mut self.path[race.first];
            if !initials.iter().any(|&thread| node.backtrack.contains(&thread)) {
                node.add(initials[0]);
            }
        }
        end == events.len()
    }
}
