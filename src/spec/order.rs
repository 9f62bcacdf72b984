//! Partial orders of the calls of a scenario, and the orders that contradict a result.
//!
//! Problem. In a class of executions calls of different threads are in no order: which returned before which began is
//! not part of the class. A client that synchronises its threads adds such an order. Which orders turn a result that
//! some order of the calls explains into one that none explains?
//!
//! Algorithm. An order `P` contradicts a result if no explanation of it is a linear extension of `P`: for each
//! explanation, `P` has a pair that the explanation has the other way round. So the smallest contradictions are the
//! smallest sets that hit all sets of reversed pairs. [`contradictions`] grows orders pair by pair: it takes the first
//! explanation that extends the order so far, and adds in turn each pair that this explanation reverses. Every smallest
//! contradiction is found, because each of its pairs can be the one that is added where it is needed. Orders that were
//! seen are not grown again, and what contains a smaller contradiction is left out at the end.
//!
//! Cost. Exponential in the number of calls, of which there are few. Where all linear extensions explain the result,
//! nothing is searched.
//!
//! Source. The parallel client that is strengthened by order: P. Golovin, M. Kokologiannakis, V. Vafeiadis, *RELINCHE:
//! Automatically Checking Linearizability under Relaxed Memory Consistency*, POPL 2025. The smallest contradictions by
//! hitting sets are ours: only they are run ([decision 039](../../docs/decisions/039-linearizability.md)).

use std::collections::HashSet;

/// A set of calls, by their numbers.
pub(crate) type Calls = u32;

/// The largest number of calls that a scenario may have.
pub(crate) const MOST_CALLS: usize = 16;

/// A partial order of calls, closed under transitivity.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Order {
    /// By call: the calls before it.
    before: Vec<Calls>,
}

/// The calls of a set, in ascending order.
pub(crate) fn members(set: Calls) -> impl Iterator<Item = usize> {
    (0..Calls::BITS as usize).filter(move |call| set & (1 << call) != 0)
}

impl Order {
    /// The order in which no call is before another.
    pub(crate) fn none(calls: usize) -> Self {
        assert!(calls <= MOST_CALLS, "a scenario has at most {MOST_CALLS} calls, not {calls}");
        Self { before: vec![0; calls] }
    }

    /// The number of calls.
    pub(crate) fn len(&self) -> usize {
        self.before.len()
    }

    /// Whether `a` is before `b`.
    pub(crate) fn has(&self, a: usize, b: usize) -> bool {
        self.before[b] & (1 << a) != 0
    }

    /// The order with `a` before `b` as well; `None` if `b` is before `a`, or is `a`.
    pub(crate) fn with(&self, a: usize, b: usize) -> Option<Self> {
        if a == b || self.has(b, a) {
            return None;
        }
        let mut more = self.clone();
        let new = self.before[a] | 1 << a;
        for call in 0..self.len() {
            if call == b || self.has(b, call) {
                more.before[call] |= new;
            }
        }
        Some(more)
    }

    /// Whether everything that is ordered in `other` is ordered so here.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        self.before.iter().zip(&other.before).all(|(own, other)| own & other == *other)
    }

    /// Whether a sequence of all calls keeps to the order.
    pub(crate) fn is_kept_by(&self, sequence: &[usize]) -> bool {
        let mut done: Calls = 0;
        sequence.iter().all(|&call| {
            let is_next = self.before[call] & !done == 0;
            done |= 1 << call;
            is_next
        })
    }

    /// The calls that may come next after the calls of a set.
    pub(crate) fn next(&self, done: Calls) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(move |&call| done & (1 << call) == 0 && self.before[call] & !done == 0)
    }

    /// The number of sequences of all calls that keep to the order.
    pub(crate) fn extensions(&self) -> usize {
        let all = (1 << self.len()) - 1;
        let mut ways = vec![0; all + 1];
        ways[all] = 1;
        for done in (0..all).rev() {
            ways[done] = self.next(done as Calls).map(|call| ways[done | 1 << call]).sum();
        }
        ways[0]
    }

    /// The sets of calls that are all before all others.
    fn cuts(&self) -> impl Iterator<Item = Calls> {
        let all: Calls = (1 << self.len()) - 1;
        (1..all).filter(move |&first| members(all & !first).all(|call| self.before[call] & first == first))
    }

    /// The order between calls that are separated by a time at which there is no call: all that is before it comes
    /// before all that comes after it.
    pub(crate) fn around_rests(&self) -> Self {
        let mut around = Self::none(self.len());
        for first in self.cuts() {
            (0..self.len()).filter(|call| first & (1 << call) == 0).for_each(|call| around.before[call] |= first);
        }
        around
    }

    /// The order in which, too, the calls of a set are before all others; `None` if one of them is behind another call.
    fn with_rest_after(&self, first: Calls) -> Option<Self> {
        let pairs =
            members(first).flat_map(|a| (0..self.len()).filter(move |b| first & (1 << b) == 0).map(move |b| (a, b)));
        pairs
            .into_iter()
            .try_fold(self.clone(), |order, (a, b)| if order.has(a, b) { Some(order) } else { order.with(a, b) })
    }

    /// The pairs that, together with `base`, make this order, without one that follows from the others.
    pub(crate) fn beyond(&self, base: &Self) -> Vec<(usize, usize)> {
        let pairs = (0..self.len()).flat_map(|b| members(self.before[b]).map(move |a| (a, b)));
        let between = |a, b| members(self.before[b]).any(|middle| self.has(a, middle));
        let mut pairs: Vec<_> = pairs.filter(|&(a, b)| !base.has(a, b) && !between(a, b)).collect();
        pairs.sort_unstable();
        pairs
    }
}

/// The part of an order of clients that an explanation must keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// All of it.
    All,
    /// [`Order::around_rests`].
    AroundRests,
}

impl Kept {
    /// That part of an order.
    pub(crate) fn of(self, order: &Order) -> Order {
        match self {
            Self::All => order.clone(),
            Self::AroundRests => order.around_rests(),
        }
    }

    /// The smallest orders with more than `order` in the part that matters, and to which `explanation` does not keep
    /// there.
    fn against(self, order: &Order, explanation: &[usize]) -> Vec<Order> {
        match self {
            Self::All => reversed(explanation).filter_map(|(a, b)| order.with(a, b)).collect(),
            Self::AroundRests => {
                let all: Calls = (1 << order.len()) - 1;
                let is_begun_by = |first: Calls| {
                    let beginning = &explanation[..first.count_ones() as usize];
                    beginning.iter().all(|&call| first & (1 << call) != 0)
                };
                let against = (1..all).filter(|&first| !is_begun_by(first));
                against.filter_map(|first| order.with_rest_after(first)).collect()
            }
        }
    }
}

/// The smallest orders that contain `base` and such that none of the explanations keeps to the part that matters. The
/// explanations must be all different, and keep to that part of `base`. `None` if `goes_on` is false before all are
/// found: there may be as many orders as there are sets of pairs of calls.
pub(crate) fn contradictions(
    base: &Order,
    explanations: &[Vec<usize>],
    kept: Kept,
    goes_on: &dyn Fn() -> bool,
) -> Option<Vec<Order>> {
    if explanations.len() == kept.of(base).extensions() {
        return Some(Vec::new());
    }
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    let mut open = vec![base.clone()];
    while let Some(order) = open.pop() {
        if !goes_on() {
            return None;
        }
        let part = kept.of(&order);
        let Some(explanation) = explanations.iter().find(|explanation| part.is_kept_by(explanation)) else {
            found.push(order);
            continue;
        };
        let grown = kept.against(&order, explanation);
        open.extend(grown.into_iter().filter(|grown| seen.insert(grown.clone())));
    }
    let is_smallest = |order: &&Order| !found.iter().any(|other| other != *order && order.contains(other));
    let mut smallest: Vec<Order> = found.iter().filter(is_smallest).cloned().collect();
    smallest.sort_by_cached_key(|order| (order.beyond(base).len(), order.clone()));
    smallest.dedup();
    Some(smallest)
}

/// The pairs of calls that a sequence has the other way round.
fn reversed(sequence: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    (0..sequence.len()).flat_map(move |at| sequence[..at].iter().map(move |&earlier| (sequence[at], earlier)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of the calls of threads with these numbers of calls.
    fn chains(lengths: &[usize]) -> Order {
        let (mut order, mut first) = (Order::none(lengths.iter().sum()), 0);
        for &length in lengths {
            for call in first + 1..first + length {
                order = order.with(call - 1, call).unwrap();
            }
            first += length;
        }
        order
    }

    fn sequences(calls: usize) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for _ in 0..calls {
            let grow = |sequence: Vec<usize>| {
                let next = (0..calls).filter(|call| !sequence.contains(call)).collect::<Vec<_>>();
                next.into_iter().map(move |call| [sequence.clone(), vec![call]].concat())
            };
            all = all.into_iter().flat_map(grow).collect();
        }
        all
    }

    /// Every order that contains `base`, by adding pairs in all ways.
    fn all_orders(base: &Order) -> HashSet<Order> {
        let (mut all, mut open) = (HashSet::from([base.clone()]), vec![base.clone()]);
        while let Some(order) = open.pop() {
            let pairs = (0..order.len()).flat_map(|a| (0..base.len()).map(move |b| (a, b)));
            open.extend(pairs.filter_map(|(a, b)| order.with(a, b)).filter(|grown| all.insert(grown.clone())));
        }
        all
    }

    #[test]
    fn orders_are_closed_and_have_no_circle() {
        let order = chains(&[2, 2]).with(1, 2).unwrap();
        assert!(order.has(0, 3) && order.is_kept_by(&[0, 1, 2, 3]) && !order.is_kept_by(&[0, 2, 1, 3]));
        assert_eq!(order.with(3, 0), None);
        assert_eq!(order.beyond(&chains(&[2, 2])), [(1, 2)]);
        assert_eq!(order.extensions(), 1);
        assert_eq!(chains(&[2, 2, 2]).extensions(), 90);
        assert_eq!(chains(&[3, 2]).next(1).collect::<Vec<_>>(), [1, 3]);
    }

    /// The labelled partial orders of three and four elements.
    #[test]
    fn all_orders_are_all() {
        assert_eq!([2, 3, 4].map(|calls| all_orders(&Order::none(calls)).len()), [3, 19, 219]);
    }

    /// The part of an order to which an explanation must keep, by definition: with all ways to divide the calls.
    fn part(order: &Order, kept: Kept) -> Order {
        if kept == Kept::All {
            return order.clone();
        }
        let calls = 0..order.len();
        let is_first = |division: u32, call: usize| division >> call & 1 == 1;
        let mut part = Order::none(order.len());
        for division in 0..1 << order.len() {
            let pairs = || calls.clone().flat_map(|a| calls.clone().map(move |b| (a, b)));
            let across: Vec<_> = pairs().filter(|&(a, b)| is_first(division, a) && !is_first(division, b)).collect();
            if across.iter().all(|&(a, b)| order.has(a, b)) {
                part = across.iter().fold(part, |part, &(a, b)| part.with(a, b).unwrap());
            }
        }
        part
    }

    #[test]
    fn rests_separate_calls() {
        let order = chains(&[2, 2]);
        assert_eq!(order.around_rests(), Order::none(4));
        let rest = order.with(1, 2).unwrap();
        assert_eq!(rest.around_rests(), rest);
        let rest = Order::none(3).with_rest_after(0b011).unwrap();
        assert_eq!(rest.beyond(&Order::none(3)), [(0, 2), (1, 2)]);
        assert_eq!(chains(&[2]).with_rest_after(0b10), None);
        for order in all_orders(&Order::none(4)) {
            assert_eq!(order.around_rests(), part(&order, Kept::AroundRests), "{order:?}");
        }
    }

    /// Against all orders there are, for sets of explanations drawn at random.
    #[test]
    fn the_smallest_contradictions_are_found() {
        let mut random = 1_u64;
        let mut draw = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % most
        };
        let shapes = [&[1, 1][..], &[2, 1], &[1, 1, 1], &[2, 2], &[2, 1, 1]];
        for (lengths, kept) in
            shapes.into_iter().flat_map(|lengths| [(lengths, Kept::All), (lengths, Kept::AroundRests)])
        {
            let (base, all) = (chains(lengths), all_orders(&chains(lengths)));
            let parts: Vec<(&Order, Order)> = all.iter().map(|order| (order, part(order, kept))).collect();
            let of_base = part(&base, kept);
            let good: Vec<_> = sequences(base.len()).into_iter().filter(|it| of_base.is_kept_by(it)).collect();
            assert_eq!(good.len(), of_base.extensions());
            for _ in 0..60 {
                let few = 1 + draw(4);
                let explanations: Vec<_> = good.iter().filter(|_| draw(few) == 0).cloned().collect();
                let contradicts = |part: &Order| !explanations.iter().any(|it| part.is_kept_by(it));
                let bad: Vec<&Order> =
                    parts.iter().filter(|(_, part)| contradicts(part)).map(|&(order, _)| order).collect();
                let smallest = |order: &&&Order| !bad.iter().any(|other| other != *order && order.contains(other));
                let expected: HashSet<Order> = bad.iter().filter(smallest).map(|&order| order.clone()).collect();
                let found = contradictions(&base, &explanations, kept, &|| true).unwrap();
                let told = || format!("{lengths:?} {kept:?}: {explanations:?}");
                assert_eq!(found.iter().cloned().collect::<HashSet<_>>(), expected, "{}", told());
                assert_eq!(found.len(), expected.len(), "none twice");
            }
        }
    }
}
