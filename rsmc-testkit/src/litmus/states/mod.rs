//! All states of a program: the ends of its executions, and whether one of them can go on for ever.
//!
//! Problem. The machine leaves iterations that change nothing out of an execution, and every explorer, brute force
//! included, sees executions through the machine. Only a search that does not know that rule can show whether the rule
//! loses an outcome, or takes a loop that does not wait for one that does.
//!
//! Method. The search keeps whole states: memory, store buffers, and each thread's position, its registers and the
//! locks it holds (`step`). It takes every step of every state once, so that a loop is a cycle and needs no bound.
//! States without a step are the ends of executions. An execution that goes on for ever under a fair scheduler is a
//! cycle in which every thread, and every store that waits in a buffer, moves if it can move again and again (`fair`).
//!
//! Cost. States × threads in time and memory, and as much again, times the depth of the nesting, for the cycles. The
//! number of states is finite if registers and buffers are bounded; the search gives up above a limit.
//!
//! Source. The search is the textbook's. Cycles: see `fair`.
//!
//! Deviations. It shares the compiled program, expressions and the arithmetic of read-modify-writes with the
//! interpreter; the memory models, locks, threads and their ends are written here once more, on purpose. Choices are
//! not fair: from some time on a thread may choose 0 for ever, but nothing else. C11 has no states in this sense and is
//! not supported.

mod fair;
mod step;

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::litmus::compile::{Compiled, compile};
use crate::litmus::{Error, Outcome, Program};
use fair::{Edge, Graph};
use rsmc_core::model::MemoryModel;
use step::{Impact, State, Steps};

/// The results of all executions of a program together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct States {
    /// The outcomes with which they can end: every thread has ended, or those that have not are blocked for good
    /// (`stuck`).
    pub outcomes: BTreeSet<Outcome>,
    /// A fair execution can go on for ever with steps that write nothing at all: threads only look.
    pub looks: bool,
    /// A fair execution can go on for ever with steps that write nothing, except that locks are taken and released. It
    /// is true where `looks` is.
    pub waits: bool,
    /// Some execution, fair or not, can go on for ever with such steps, in which locks are taken and released again and
    /// again.
    pub turns: bool,
    /// A fair execution can go on for ever in which something is written again and again, be it the value that was
    /// there.
    pub busy: bool,
    /// Some execution, fair or not, can go on for ever in which something is written again and again.
    pub writes: bool,
    /// The number of states.
    pub count: usize,
}

impl States {
    /// Searches the states of a program under a memory model other than C11, and gives up above a limit of states or
    /// where a thread goes round a loop without any operation.
    pub fn of(program: &Program, memory: MemoryModel, limit: usize) -> Result<Option<Self>, Error> {
        let compiled = compile(program)?;
        let steps = Steps { compiled: &compiled, memory };
        let is_supported = memory != MemoryModel::C11 && steps.movers() <= 128;
        Ok(is_supported.then(|| Search::new(&steps).run(limit)).flatten())
    }

    /// Whether some fair execution goes on for ever.
    pub fn livelock(&self) -> bool {
        self.waits || self.busy
    }
}

/// A search that is under way.
struct Search<'a> {
    steps: &'a Steps<'a>,
    numbers: FxHashMap<Rc<State>, u32>,
    states: Vec<Rc<State>>,
    edges: Vec<Vec<Edge>>,
    outcomes: BTreeSet<Outcome>,
}

impl<'a> Search<'a> {
    fn new(steps: &'a Steps<'a>) -> Self {
        Self { steps, numbers: FxHashMap::default(), states: Vec::new(), edges: Vec::new(), outcomes: BTreeSet::new() }
    }

    fn run(mut self, limit: usize) -> Option<States> {
        self.number(self.steps.first()?);
        let mut successors = Vec::new();
        while let Some(state) = self.states.get(self.edges.len()).cloned() {
            if self.states.len() > limit {
                return None;
            }
            successors.clear();
            self.steps.successors(&state, &mut successors)?;
            if successors.is_empty() {
                self.outcomes.insert(outcome(self.steps.compiled, &state));
            }
            let edges = successors.drain(..).map(|(mover, impact, next)| Edge { to: self.number(next), mover, impact });
            let edges = edges.collect();
            self.edges.push(edges);
        }
        let graph = Graph::new(self.edges);
        let waits = graph.has_fair_cycle(Impact::Turns, Impact::None);
        Some(States {
            outcomes: self.outcomes,
            looks: waits && graph.has_fair_cycle(Impact::None, Impact::None),
            waits,
            turns: graph.has_cycle(Impact::Turns, Impact::Turns),
            busy: graph.has_fair_cycle(Impact::Writes, Impact::Writes),
            writes: graph.has_cycle(Impact::Writes, Impact::Writes),
            count: self.states.len(),
        })
    }

    /// The number of a state, which may be new.
    fn number(&mut self, state: State) -> u32 {
        let state = Rc::new(state);
        let next = self.states.len() as u32;
        let number = *self.numbers.entry(Rc::clone(&state)).or_insert(next);
        if number == next {
            self.states.push(state);
        }
        number
    }
}

/// The outcome of an execution that ends in this state.
fn outcome(compiled: &Compiled, end: &State) -> Outcome {
    let registers = compiled.outcome.iter();
    let registers = registers.map(|(name, thread, at)| (name.clone(), end.threads[*thread].registers[*at]));
    Outcome {
        registers: registers.collect(),
        stuck: end.threads.iter().any(step::Thread::is_waiting),
        panicked: end.threads.iter().any(|thread| thread.panicked),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::litmus::parse;

    /// The outcomes in one text, and the kinds of endless executions that there are: `looks`, `waits`, `busy`.
    fn states(text: &str, memory: MemoryModel) -> (String, [bool; 3]) {
        let states = States::of(&parse(text).unwrap(), memory, 10_000).unwrap().expect("it has few states");
        let outcomes: Vec<String> = states.outcomes.iter().map(Outcome::to_string).collect();
        (outcomes.join(" | "), [states.looks, states.waits, states.busy])
    }

    fn outcomes(text: &str, memory: MemoryModel) -> String {
        states(text, memory).0
    }

    const NONE: [bool; 3] = [false; 3];

    #[test]
    fn buffers_are_those_of_the_models() {
        let sb = "t1: x.rlx = 1; a = y\nt2: y.rlx = 1; b = x";
        assert_eq!(outcomes(sb, MemoryModel::Sc), "a=0 b=1 | a=1 b=0 | a=1 b=1");
        assert_eq!(outcomes(sb, MemoryModel::Tso), "a=0 b=0 | a=0 b=1 | a=1 b=0 | a=1 b=1");
        let fenced = "t1: x.rlx = 1; fence; a = y\nt2: y = 1; b = x";
        assert_eq!(outcomes(fenced, MemoryModel::Pso), "a=0 b=1 | a=1 b=0 | a=1 b=1");
        let mailbox = "t1: x.rlx = 1; y.rlx = 1\nt2: a = y; b = x";
        assert_eq!(outcomes(mailbox, MemoryModel::Tso), "a=0 b=0 | a=0 b=1 | a=1 b=1");
        assert_eq!(outcomes(mailbox, MemoryModel::Pso), "a=0 b=0 | a=0 b=1 | a=1 b=0 | a=1 b=1");
        let released = mailbox.replace("y.rlx = 1", "y.rel = 1");
        assert_eq!(outcomes(&released, MemoryModel::Pso), "a=0 b=0 | a=0 b=1 | a=1 b=1");
    }

    #[test]
    fn fairness_lets_a_waiting_thread_go() {
        let wait = "t1: while a == 0 { a = x }\nt2: x.rlx = 1";
        assert_eq!(states(wait, MemoryModel::Sc), ("a=1".to_owned(), NONE));
        assert_eq!(states(wait, MemoryModel::Pso), ("a=1".to_owned(), NONE));
        let forever = "t1: while a < 2 { a = x }\nt2: x.rlx = 1";
        assert_eq!(states(forever, MemoryModel::Tso), (String::new(), [true, true, false]));
        let perhaps = "t1: while a < 1 { a = x }\nt2: x = 1; x = 0";
        assert_eq!(states(perhaps, MemoryModel::Sc), ("a=1".to_owned(), [true, true, false]));
    }

    #[test]
    fn locks_turn_and_pollers_let_others_in() {
        let poll = "t1: while a == 0 { lock m; a = x; unlock m }\nt2: lock m; x = 1; unlock m";
        assert_eq!(states(poll, MemoryModel::Tso), ("a=1".to_owned(), NONE));
        let alone = "t1: while a == 0 { lock m; a = x; unlock m }\nt2: lock m; b = x; unlock m";
        assert_eq!(states(alone, MemoryModel::Sc), (String::new(), [false, true, false]));
        let kept = "t1: lock m; a = 1\nt2: lock m; b = 1";
        assert_eq!(outcomes(kept, MemoryModel::Sc), "a=0 b=1 stuck | a=1 b=0 stuck");
    }

    #[test]
    fn those_that_write_for_ever_are_busy() {
        let swaps = "t1: while a == 0 { a = swap(x, 1); x = 0 }\nt2: lock m\nt3: lock m";
        assert_eq!(states(swaps, MemoryModel::Sc).1, [false, false, true]);
        let same = "t1: while a == 0 { a = swap(x, 0) }";
        assert_eq!(states(same, MemoryModel::Sc).1, [true, true, false]);
    }

    #[test]
    fn panics_give_locks_back_and_choices_have_a_budget() {
        let text = "t1: lock m; assert 0; a = 1\nt2: lock m; b = 1; unlock m";
        assert_eq!(outcomes(text, MemoryModel::Pso), "a=0 b=1 panic");
        assert_eq!(outcomes("t1: a = maybe; b = maybe", MemoryModel::Sc), "a=0 b=0 | a=0 b=1 | a=1 b=0");
        assert_eq!(outcomes("t1: a = wcas(x, 0, 1); b = wcas(x, 0, 2)", MemoryModel::Sc), "a=0 b=1 | a=1 b=0");
        assert_eq!(outcomes("t1: unlock m; a = choose 2", MemoryModel::Sc), "a=0 panic");
        assert_eq!(outcomes("t1: park; a = 1\nt2: unpark t1\nt3: park", MemoryModel::Tso), "a=1 stuck");
    }

    #[test]
    fn it_gives_up() {
        let gives_up = |text: &str| States::of(&parse(text).unwrap(), MemoryModel::Sc, 1_000).unwrap().is_none();
        assert!(gives_up("t1: while 1 { a = a + 1; b = x }") && gives_up("t1: while 1 { }"));
    }
}
