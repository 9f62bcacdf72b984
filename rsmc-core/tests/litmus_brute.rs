//! Every interleaving of a litmus program and of the flushes of its buffers, with no reduction at all: the slow and
//! obvious way.
//!
//! The other tests include this file as a module.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rsmc_core::base::{Digest, LocId};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{End, Executor, Forced, Plan, Run, SchedulingPolicy, Step};
use rsmc_core::trace::{Source, Trace, reads_from_class};
use rsmc_testkit::litmus::{Interpreter, Outcome, Program};

/// The rules that every execution in these tests follows.
pub fn rules(memory: MemoryModel) -> Rules {
    Rules::new(memory, 200)
}

/// The results of all interleavings together.
#[derive(Debug, Default)]
pub struct Brute {
    /// The number of maximal executions.
    pub interleavings: u64,
    /// The values that they left in the registers.
    pub outcomes: BTreeSet<Outcome>,
    /// Their classes, by the name of the equivalence.
    pub classes: BTreeMap<&'static str, HashSet<Digest>>,
    /// Whether some execution reached the limit of steps.
    pub cut: bool,
}

impl Brute {
    /// The number of classes of an equivalence, if it is one that is counted here.
    pub fn count(&self, equivalence: &str) -> Option<u64> {
        self.classes.get(equivalence).map(|classes| classes.len() as u64)
    }

    /// All outcomes as text.
    pub fn outcomes_text(&self) -> String {
        self.outcomes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ")
    }
}

/// Runs every interleaving; stops with `None` when that takes more than `most` runs.
pub fn brute(program: &Program, memory: MemoryModel, most: u64) -> Option<Brute> {
    let mut interpreter = Interpreter::new(program, rules(memory)).expect("the program can be run");
    'again: loop {
        let (mut found, mut run, mut stack) = (Brute::default(), Run::default(), Vec::new());
        for _ in 0..most {
            interpreter.execute(&plan(&stack), &mut run);
            if run.end == End::Learned {
                continue 'again;
            }
            found.take(&run, &interpreter);
            if !advance(&mut stack, &run) {
                return Some(found);
            }
        }
        return None;
    }
}

/// A step taken, and those that are left to try in its place.
type Frame = (Step, Vec<Step>);

fn plan(stack: &[Frame]) -> Plan {
    let forced = stack.iter().map(|(step, _)| Forced { step: *step, expect: None }).collect();
    Plan { forced, policy: SchedulingPolicy::RunOn, record_choices: true, ..Plan::default() }
}

/// Goes on to the next interleaving in depth-first order; false after the last.
fn advance(stack: &mut Vec<Frame>, run: &Run) -> bool {
    // Behind a repeated iteration there is nothing new.
    let own = run.repeated.unwrap_or(u32::MAX) as usize;
    for choice in run.choices.iter().take(own).skip(stack.len()) {
        let others = choice.possible.iter().copied().filter(|step| *step != choice.taken).collect();
        stack.push((choice.taken, others));
    }
    while let Some((_, mut others)) = stack.pop() {
        if let Some(next) = others.pop() {
            stack.push((next, others));
            return true;
        }
    }
    false
}

impl Brute {
    fn take(&mut self, run: &Run, interpreter: &Interpreter) {
        assert!(!matches!(run.end, End::Diverged { .. }), "a step that was possible cannot be taken: {:?}", run.end);
        self.cut |= matches!(run.end, End::StepLimit { .. } | End::Endless { .. });
        if !run.is_maximal() || run.repeated.is_some() {
            return;
        }
        self.interleavings += 1;
        self.outcomes.insert(interpreter.outcome());
        for (name, digest) in [
            ("hb", happens_before_class(&run.trace)),
            ("rf", reads_from_class(&run.trace)),
            ("view", view_class(&run.trace)),
        ] {
            self.classes.entry(name).or_default().insert(digest);
        }
    }
}

/// Reads-from, and for every write the write before it: under SC that orders every conflicting pair.
fn happens_before_class(trace: &Trace) -> Digest {
    let mut digest = reads_from_class(trace);
    let mut last: BTreeMap<LocId, u64> = BTreeMap::new();
    for event in trace.events.iter().filter(|event| event.written.is_some()) {
        let name = u64::from(event.id.thread.0) << 32 | u64::from(event.id.index);
        let before = last.insert(event.op.loc, name).unwrap_or(u64::MAX);
        digest.add(&[9, name, before]);
    }
    digest
}

/// The value of every read, and every choice; a lock acquire counts by the release it takes.
pub fn view_class(trace: &Trace) -> Digest {
    let mut digest = Digest::EMPTY;
    for event in &trace.events {
        let seen = match event.source {
            Source::None => u64::MAX,
            Source::At(at) if event.op.action.locks() => {
                let id = trace.events[at as usize].id;
                1 << 63 | u64::from(id.thread.0) << 32 | u64::from(id.index)
            }
            Source::Init | Source::At(_) => event.read,
        };
        let which = event.op.action.alternative();
        digest.add(&[u64::from(event.id.thread.0), u64::from(event.id.index), seen, which]);
    }
    digest
}
