//! Is there an order of these calls in which a sequential model gives these results?
//!
//! Problem. Given calls with their results, a partial order that any explanation must keep to, and a sequential model:
//! is there a sequence of all calls that keeps to the order and in which the model accepts every result?
//!
//! Algorithm. Depth-first search: a call of which all calls before it are done may be next, if the model accepts its
//! result. What failed once is not tried again: the rest of a search depends only on the set of the calls that are done
//! and on the state of the model.
//!
//! Cost. At most (sets of calls) × (states of the model); exponential in the number of calls in the worst case.
//!
//! Source. J. M. Wing, C. Gong, *Testing and Verifying Concurrent Objects*, JPDC 1993 (the search); G. Lowe, *Testing
//! for Linearizability*, Concurrency and Computation 2017 (what is remembered).
//!
//! Deviations. (1) The order is any partial order, where the papers have the order in real time, which is an interval
//! order: happens-before between calls of clients is not. (2) States are compared by `==`, not hashed: few are
//! remembered for one set. (3) A model accepts a result or not, so that it may allow several.

use crate::spec::order::{Calls, Order};

/// A sequential model together with the calls of a history and their results.
pub(crate) trait Model {
    /// The state of the model.
    type State: Clone + PartialEq;

    /// The first state.
    fn first(&self) -> Self::State;

    /// Makes a call.
    ///
    /// # Errors
    /// What the model says instead, if it does not accept the result of the call.
    fn step(&self, state: &mut Self::State, call: usize) -> Result<(), String>;
}

/// The sequence of calls that got furthest, and why it goes no further.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Closest {
    /// The calls, in their order.
    pub(crate) sequence: Vec<usize>,
    /// The calls that might be next, each with what the model says instead of its result.
    pub(crate) stuck: Vec<(usize, String)>,
}

/// A sequence that explains the results.
///
/// # Errors
/// The sequence that came closest, if none explains them.
pub(crate) fn explain<M: Model>(model: &M, order: &Order) -> Result<Vec<usize>, Closest> {
    let mut failed = vec![Vec::new(); 1 << order.len()];
    let mut search = Search { model, order, failed: &mut failed, sequence: Vec::new(), closest: Closest::default() };
    if search.goes_on(0, model.first()) { Ok(search.sequence) } else { Err(search.closest) }
}

struct Search<'s, M: Model> {
    model: &'s M,
    order: &'s Order,
    /// By set of calls: the states from which the rest does not succeed.
    failed: &'s mut [Vec<M::State>],
    sequence: Vec<usize>,
    closest: Closest,
}

impl<M: Model> Search<'_, M> {
    fn goes_on(&mut self, done: Calls, state: M::State) -> bool {
        if self.sequence.len() == self.order.len() {
            return true;
        }
        if self.failed[done as usize].contains(&state) {
            return false;
        }
        let mut stuck = Vec::new();
        for call in self.order.next(done) {
            let mut next = state.clone();
            if let Err(instead) = self.model.step(&mut next, call) {
                stuck.push((call, instead));
                continue;
            }
            self.sequence.push(call);
            if self.goes_on(done | 1 << call, next) {
                return true;
            }
            self.sequence.pop();
        }
        if self.closest.stuck.is_empty() || self.sequence.len() > self.closest.sequence.len() {
            self.closest = Closest { sequence: self.sequence.clone(), stuck };
        }
        self.failed[done as usize].push(state);
        false
    }
}

/// All sequences that explain the results.
pub(crate) fn explanations<M: Model>(model: &M, order: &Order) -> Vec<Vec<usize>> {
    let (mut found, mut open) = (Vec::new(), vec![(Vec::new(), 0, model.first())]);
    while let Some((sequence, done, state)) = open.pop() {
        if sequence.len() == order.len() {
            found.push(sequence);
            continue;
        }
        for call in order.next(done) {
            let mut next = state.clone();
            if model.step(&mut next, call).is_ok() {
                open.push(([&sequence[..], &[call]].concat(), done | 1 << call, next));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call of a small structure, with its result: what the models below know.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Call {
        Put(u8),
        Take(Option<u8>),
        Add(u8, u8),
    }

    /// Models: a queue, a stack, and a counter with a maximum.
    #[derive(Clone, Copy, Debug)]
    enum Kind {
        Queue,
        Stack,
        Counter,
    }

    struct History {
        kind: Kind,
        calls: Vec<Call>,
    }

    impl Model for History {
        type State = Vec<u8>;

        fn first(&self) -> Vec<u8> {
            Vec::new()
        }

        fn step(&self, state: &mut Vec<u8>, call: usize) -> Result<(), String> {
            let taken = match (self.calls[call], self.kind) {
                (Call::Put(value), _) => {
                    return {
                        state.push(value);
                        Ok(())
                    };
                }
                (Call::Add(by, was), _) => {
                    let sum = state.iter().sum::<u8>();
                    state.push(by);
                    return if sum == was { Ok(()) } else { Err(sum.to_string()) };
                }
                (Call::Take(_), Kind::Queue) if !state.is_empty() => Some(state.remove(0)),
                (Call::Take(_), _) => state.pop(),
            };
            if self.calls[call] == Call::Take(taken) { Ok(()) } else { Err(format!("{taken:?}")) }
        }
    }

    /// All sequences of calls by permutation, without a look at the order or the model before they are complete.
    fn permutations(calls: usize, so_far: &mut Vec<usize>, see: &mut impl FnMut(&[usize])) {
        if so_far.len() == calls {
            return see(so_far);
        }
        for call in 0..calls {
            if !so_far.contains(&call) {
                so_far.push(call);
                permutations(calls, so_far, see);
                so_far.pop();
            }
        }
    }

    /// The answer by brute force.
    fn brute_force(history: &History, pairs: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let mut found = Vec::new();
        permutations(history.calls.len(), &mut Vec::new(), &mut |sequence| {
            let place = |call: usize| sequence.iter().position(|&other| other == call).unwrap();
            let keeps = pairs.iter().all(|&(a, b)| place(a) < place(b));
            let mut state = history.first();
            if keeps && sequence.iter().all(|&call| history.step(&mut state, call).is_ok()) {
                found.push(sequence.to_vec());
            }
        });
        found
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, most: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % most
        }
    }

    /// A history: the results are those of some sequence, and some of them are changed.
    fn draw(random: &mut Random) -> (History, Vec<(usize, usize)>) {
        let kind = [Kind::Queue, Kind::Stack, Kind::Counter][random.below(3)];
        let calls = 1 + random.below(6);
        let (mut history, mut state) = (History { kind, calls: Vec::new() }, Vec::new());
        for at in 0..calls {
            let value = random.below(3) as u8;
            let call = match kind {
                Kind::Counter => Call::Add(value, state.iter().sum()),
                _ if random.below(2) == 0 => Call::Put(value),
                Kind::Queue => Call::Take(state.first().copied()),
                Kind::Stack => Call::Take(state.last().copied()),
            };
            history.calls.push(call);
            history.step(&mut state, at).unwrap();
        }
        for _ in 0..random.below(3) {
            let at = random.below(calls);
            history.calls[at] = match history.calls[at] {
                Call::Take(_) => Call::Take([None, Some(0), Some(1), Some(2)][random.below(4)]),
                Call::Add(by, _) => Call::Add(by, random.below(5) as u8),
                put => put,
            };
        }
        let pair = |random: &mut Random| (random.below(calls), random.below(calls));
        let pairs: Vec<_> = (0..random.below(5)).map(|_| pair(random)).filter(|(a, b)| a < b).collect();
        // Numbers of calls say nothing about their order.
        let mut numbers: Vec<usize> = (0..calls).collect();
        (1..calls).for_each(|at| numbers.swap(at, random.below(at + 1)));
        let mut shuffled = history.calls.clone();
        numbers.iter().enumerate().for_each(|(old, &new)| shuffled[new] = history.calls[old]);
        let pairs = pairs.into_iter().map(|(a, b)| (numbers[a], numbers[b])).collect();
        (History { kind, calls: shuffled }, pairs)
    }

    #[test]
    fn answers_are_those_of_brute_force() {
        let histories = if cfg!(debug_assertions) { 10_000 } else { 100_000 };
        let (mut random, mut explained) = (Random(28), 0);
        for _ in 0..histories {
            let (history, pairs) = draw(&mut random);
            let none = Order::none(history.calls.len());
            let order = pairs.iter().fold(none, |order, &(a, b)| order.with(a, b).unwrap());
            let expected = brute_force(&history, &pairs);
            let told = || format!("{:?} {:?} {pairs:?}", history.kind, history.calls);
            let mut found = explanations(&history, &order);
            found.sort();
            assert_eq!(found, expected, "{}", told());
            match explain(&history, &order) {
                Ok(sequence) => assert!(expected.contains(&sequence), "{}", told()),
                Err(closest) => {
                    assert!(expected.is_empty(), "{}", told());
                    is_dead_end(&history, &order, &closest);
                }
            }
            explained += usize::from(!expected.is_empty());
        }
        assert!(explained > histories / 5 && explained < histories * 4 / 5, "{explained} of {histories}");
    }

    /// The sequence that comes closest is one of the model, and none of the next calls goes on.
    fn is_dead_end(history: &History, order: &Order, closest: &Closest) {
        let (mut state, mut done) = (history.first(), 0);
        for &call in &closest.sequence {
            assert!(order.next(done).any(|next| next == call));
            history.step(&mut state, call).unwrap();
            done |= 1 << call;
        }
        assert!(!closest.stuck.is_empty(), "the longest sequence ends where nothing goes on");
        for next in order.next(done) {
            let instead = history.step(&mut state.clone(), next).unwrap_err();
            assert!(closest.stuck.contains(&(next, instead)));
        }
    }
}
