//! Optimal DPOR: one execution of each class of happens-before, and no run that ends where another one went.
//!
//! Problem. Source-DPOR knows which thread has to come first for a race to be reversed, and not how to get to the race
//! from there: some runs end where only threads are left that sleep.
//!
//! Method. As [source-DPOR](super::source_dpor), but a place has a *wakeup tree* instead of a backtrack set: sequences
//! of steps that reverse a race, each up to its second event. A sequence is added behind those with which it begins
//! alike, and not at all if a sleeping step could come first in it, or it only repeats one of the tree.
//!
//! Cost. One execution per class, and a run for each step at which a run goes on with a thread that sleeps, since the
//! executor does not know them. Time O(n²) a run for its races, and the size of the trees.
//!
//! Source. Abdulla, Aronis, Jonsson, Sagonas, *Source Sets: A Foundation for Optimal Dynamic Partial Order Reduction*
//! (JACM 2017), algorithm 2.
//!
//! Deviations. (1) The branch that is explored is taken out of the tree: no sequence of a race with its first step goes
//! on from it. (2) The alternatives of a choice are branches, which are added when one of them was run, and come next.
//! No sequence begins with a step that has alternatives but for its own, since behind each of them there would have to
//! be an execution with the sequence. So some are added in vain; they end at the first step that sleeps. (3) Blocking
//! operations as in [`super::races`].

use rsmc_core::step::{Forced, Plan, Run, Step};
use rsmc_core::trace::{Action, Event};

use super::access::{Access, Explored};
use super::races::{Later, Races};
use super::{Baseline, Ran};

/// The explorer; see the module.
#[derive(Debug, Default)]
pub struct OptimalDpor {
    path: Vec<Node>,
    /// The tree of the place behind the path.
    ahead: Vec<Branch>,
    races: Races,
    /// The number of events whose races with earlier ones are known.
    known: usize,
    started: bool,
}

/// A place on the path.
#[derive(Debug)]
struct Node {
    taken: Step,
    explored: Explored,
    tree: Vec<Branch>,
}

/// A step to be explored, and what comes behind it. Without children: whatever comes.
#[derive(Debug)]
struct Branch {
    step: Step,
    /// The effect of the step; `None`: not known, and it is run next.
    access: Option<Access>,
    children: Vec<Branch>,
}

impl Branch {
    fn leaf(access: Access) -> Self {
        Self { step: access.step(), access: Some(access), children: Vec::new() }
    }
}

impl Node {
    /// Notes the effect of the taken step, and adds its alternatives to the tree. They come next, so that either all of
    /// them sleep or none.
    fn ran(&mut self, event: &Event, possible: &[Step]) {
        let access = Access::of(event);
        self.explored.ran(access);
        for &step in possible.iter().filter(|step| step.thread() == access.thread && **step != self.taken) {
            let is_there = self.tree.iter().any(|branch| branch.step == step) || self.explored.sleeps(step);
            if !is_there {
                let which = step.performed().0;
                // One that fails without cause would write otherwise; no other alternative writes.
                let writes = which == 0 && matches!(event.op.action, Action::Fail { .. });
                self.tree.insert(0, Branch::leaf(Access { which, writes, ..access }));
            }
        }
    }
}

impl OptimalDpor {
    /// Adds the place before a step of the run. If the step sleeps, the run does not count. Another step is
    /// taken next, if there is one, unless the tree planned the one that sleeps.
    fn extend(&mut self, run: &Run, at: usize) -> Option<Ran> {
        let event = &run.trace.events[at];
        let (taken, possible) = (run.choices[at].taken, &run.choices[at].possible);
        let explored = Explored::behind(self.path.last().map(|last| &last.explored));
        let mut tree = std::mem::take(&mut self.ahead);
        let is_planned = !tree.is_empty();
        if is_planned {
            self.ahead = tree.remove(0).children;
        }
        if explored.sleeps(taken) {
            self.ahead.clear();
            let awake = possible.iter().find(|&&step| !is_planned && !explored.sleeps(step));
            let ran = if awake.is_some() { Ran::Detour } else { Ran::Redundant };
            tree.extend(awake.map(|&step| Branch { step, access: None, children: Vec::new() }));
            self.path.push(Node { taken, explored, tree });
            return Some(ran);
        }
        let mut node = Node { taken, explored, tree };
        node.ran(event, possible);
        self.path.push(node);
        None
    }
}

impl Baseline for OptimalDpor {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        while let Some(node) = self.path.last_mut() {
            node.explored.ends();
            node.tree.retain(|branch| !node.explored.sleeps(branch.step));
            if !node.tree.is_empty() {
                let branch = node.tree.remove(0);
                (node.taken, self.ahead) = (branch.step, branch.children);
                break;
            }
            self.path.pop();
        }
        if self.started && self.path.is_empty() {
            return false;
        }
        self.started = true;
        self.known = self.known.min(self.path.len().saturating_sub(1));
        plan.record_choices = true;
        plan.forced.clear();
        plan.forced.extend(self.path.iter().map(|node| Forced { step: node.taken, expect: None }));
        let mut tree = &self.ahead;
        while let Some(first) = tree.first() {
            plan.forced.push(Forced { step: first.step, expect: None });
            tree = &first.children;
        }
        true
    }

    fn observe(&mut self, run: &Run) -> Ran {
        let events = &run.trace.events;
        assert_eq!(run.choices.len(), events.len(), "a step is an event");
        let from = self.path.len();
        if let Some(last) = self.path.last_mut() {
            last.ran(&events[from - 1], &run.choices[from - 1].possible);
        }
        let cut = (from..events.len()).find_map(|at| Some((at, self.extend(run, at)?)));
        let (end, ran) = cut.unwrap_or((events.len(), Ran::Execution));
        for race in self.races.compute(run, self.known, end) {
            let sequence = self.races.reversal(run, race);
            let Node { explored, tree, .. } = &mut self.path[race.first];
            if !explored.sleep.iter().any(|step| begins(step, &sequence).is_some()) {
                insert(tree, sequence);
            }
        }
        self.known = end;
        ran
    }
}

/// Whether a step could come first in a sequence, or before it without a difference: it is a *weak initial*. Returns
/// its place in the sequence, if it has one.
fn begins(step: &Access, sequence: &[Later]) -> Option<Option<usize>> {
    match sequence.iter().position(|later| later.access.thread == step.thread) {
        Some(at) => {
            let is_first = sequence[at].after.is_empty() && sequence[at].access.which == step.which;
            is_first.then_some(Some(at))
        }
        // One with alternatives is not the only step that its thread could take behind the sequence.
        None => (step.alone && sequence.iter().all(|later| !later.access.conflicts(step))).then_some(None),
    }
}

/// Adds a sequence to a tree, behind the branches with which it begins alike.
fn insert(tree: &mut Vec<Branch>, mut sequence: Vec<Later>) {
    for branch in tree.iter_mut() {
        let Some(place) = branch.access.and_then(|step| begins(&step, &sequence)) else { continue };
        if let Some(at) = place {
            sequence.remove(at);
            for later in &mut sequence {
                later.after.retain(|&before| before != at);
                later.after.iter_mut().for_each(|before| *before -= usize::from(*before > at));
            }
        }
        if !branch.children.is_empty() {
            insert(&mut branch.children, sequence);
        }
        return;
    }
    let chain = sequence
        .into_iter()
        .rev()
        .fold(Vec::new(), |children, later| vec![Branch { children, ..Branch::leaf(later.access) }]);
    tree.extend(chain);
}
