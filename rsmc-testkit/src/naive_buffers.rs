//! The naive verifiers for store buffers, NaiveVerifyTSO and NaiveVerifyPSO: every set of moves that can be made, until
//! one of them is complete. Oracle and baseline of VerifyTSO and VerifyPSO.

use rustc_hash::FxHashSet;

use rsmc_core::base::BitSet;
use rsmc_core::consistency::{Instance, Move, Shape};
use rsmc_core::model::MemoryModel;

/// A witness of the instance under TSO, found by [`naive`].
pub fn naive_tso(instance: &Instance) -> Option<Vec<Move>> {
    naive(instance, MemoryModel::Tso, &[])
}

/// A witness of the instance under PSO, found by [`naive`].
pub fn naive_pso(instance: &Instance) -> Option<Vec<Move>> {
    naive(instance, MemoryModel::Pso, &[])
}

/// A witness in which also the first move of every pair in `also` comes before the second.
///
/// Depth-first over the sets of moves that some beginning of an execution makes; a set is never entered twice.
/// Exponential in the number of threads (TSO), or of threads and locations (PSO).
///
/// That is sound because of one rule: **no write reaches memory while the location is *held***, that is, while an
/// event that is not yet performed reads what the location holds now.
///
/// - The rule loses nothing. A read has one good write, and a write reaches memory once. If it is overwritten there
///   before the read is performed, then the read can no longer take it: the beginning cannot be completed.
/// - With the rule the set determines the future. Two beginnings of the same set agree on what the buffers contain;
///   they may differ in what a location holds, say `v` and `w`. Then the second one had `v` in memory and has
///   overwritten it, so no event still reads `v`; likewise no event still reads `w`. No event distinguishes the two.
///
/// # Panics
///
/// If a read does not have exactly one good write, or if a buffered store and another event of its thread are not
/// ordered by the edges.
pub fn naive(instance: &Instance, model: MemoryModel, also: &[(Move, Move)]) -> Option<Vec<Move>> {
    let n = instance.len();
    let total = n + instance.items().iter().filter(|item| item.buffered).count();
    let mut search = Search::new(instance, model, also);
    let mut seen = FxHashSet::default();
    // The moves made, each with what its location held before; and the first move to try next.
    let mut path: Vec<(usize, usize)> = Vec::new();
    let mut first = 0;
    while path.len() < total {
        match (first..2 * n).find(|&step| search.can(step)) {
            Some(step) => {
                let old = search.make(step);
                if seen.insert(search.made.clone()) {
                    path.push((step, old));
                    first = 0;
                } else {
                    search.take_back(step, old);
                    first = step + 1;
                }
            }
            None => {
                let (step, old) = path.pop()?;
                search.take_back(step, old);
                first = step + 1;
            }
        }
    }
    Some(path.iter().map(|&(step, _)| if step < n { Move::Perform(step) } else { Move::Flush(step - n) }).collect())
}

/// A beginning of an execution. With `n` events, move `i` performs event `i`, and move `n + i` flushes it; value `i` is
/// what event `i` writes, and value `n + l` is the initial value of location `l`.
struct Search<'a> {
    instance: &'a Instance,
    /// By move, the moves that come before it.
    before: Vec<BitSet>,
    /// By event, the value that it reads, if it reads.
    source: Vec<Option<usize>>,
    /// The moves made.
    made: BitSet,
    /// By location, the value in memory.
    memory: Vec<usize>,
    /// By value: the number of events that are not yet performed and read it.
    readers: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(instance: &'a Instance, model: MemoryModel, also: &[(Move, Move)]) -> Self {
        let n = instance.len();
        let source = sources(instance);
        let mut readers = vec![0; n + instance.locs()];
        source.iter().flatten().for_each(|&value| readers[value] += 1);
        Self {
            instance,
            before: constraints(instance, model, also, &source),
            source,
            made: BitSet::new(2 * n),
            memory: (n..n + instance.locs()).collect(),
            readers,
        }
    }

    /// The event of a move, its location, and whether the move changes memory.
    fn target(&self, step: usize) -> (usize, usize, bool) {
        let n = self.instance.len();
        let item = self.instance.items()[step % n];
        (step % n, item.loc.0 as usize, if step < n { item.writes && !item.buffered } else { item.buffered })
    }

    /// Whether the beginning can be extended by the move.
    fn can(&self, step: usize) -> bool {
        let n = self.instance.len();
        let (event, loc, visible) = self.target(step);
        if self.made.contains(step) || (step >= n && !visible) || !subset(&self.before[step], &self.made) {
            return false;
        }
        let value = self.memory[loc];
        if step >= n {
            return self.readers[value] == 0;
        }
        let waits = |write: usize| {
            is_own_store(self.instance, event, write) && self.made.contains(write) && !self.made.contains(n + write)
        };
        let finds = self.source[event].is_none_or(|source| source == value || (!visible && waits(source)));
        finds && (!visible || self.readers[value] == usize::from(self.source[event].is_some()))
    }

    /// Makes a move and returns the value that its location held before.
    fn make(&mut self, step: usize) -> usize {
        let (event, loc, visible) = self.target(step);
        let old = self.memory[loc];
        self.made.insert(step);
        if visible {
            self.memory[loc] = event;
        }
        if let (true, Some(source)) = (step == event, self.source[event]) {
            self.readers[source] -= 1;
        }
        old
    }

    fn take_back(&mut self, step: usize, old: usize) {
        let (event, loc, _) = self.target(step);
        self.made.remove(step);
        self.memory[loc] = old;
        if let (true, Some(source)) = (step == event, self.source[event]) {
            self.readers[source] += 1;
        }
    }
}

/// By event, the one value that is good for it, if it reads.
fn sources(instance: &Instance) -> Vec<Option<usize>> {
    let n = instance.len();
    let one = |(event, item): (usize, &Shape)| {
        let initial = instance.is_init_good(event).then_some(n + item.loc.0 as usize);
        let mut good: Vec<usize> = initial.into_iter().chain(instance.good_writes(event)).collect();
        good.sort_unstable();
        good.dedup();
        assert_eq!(good.len(), usize::from(item.reads), "one good write per read");
        good.pop()
    };
    instance.items().iter().enumerate().map(one).collect()
}

/// By move, the moves that come before it whatever the rest of the execution looks like.
fn constraints(
    instance: &Instance,
    model: MemoryModel,
    also: &[(Move, Move)],
    source: &[Option<usize>],
) -> Vec<BitSet> {
    let (items, n) = (instance.items(), instance.len());
    let number = |step| match step {
        Move::Perform(event) => event,
        Move::Flush(store) => n + store,
    };
    let mut before = vec![BitSet::new(2 * n); 2 * n];
    for &(a, b) in instance.fences() {
        before[b as usize].insert(n + a as usize);
    }
    for &(a, b) in also {
        before[number(b)].insert(number(a));
    }
    let older = closure(instance);
    for (event, item) in items.iter().enumerate() {
        older[event].iter().for_each(|other| before[event].insert(other));
        before[n + event].insert(event);
        for (store, first) in items.iter().enumerate() {
            if store == event || !is_own_store(instance, event, store) {
                continue;
            }
            if !older[event].contains(store) {
                assert!(older[store].contains(event), "the events of a thread are ordered");
                continue;
            }
            // The event reads this store, or a newer one of its thread: it need not wait for the flush.
            let spares =
                |value| value == store || (is_own_store(instance, event, value) && older[value].contains(store));
            if item.buffered {
                if model != MemoryModel::Pso || first.loc == item.loc || first.epoch < item.epoch {
                    before[n + event].insert(n + store);
                }
            } else if item.writes || (first.loc == item.loc && !source[event].is_some_and(spares)) {
                before[event].insert(n + store);
            }
        }
    }
    before
}

/// Whether `value` is a buffered store of the thread of `event`.
fn is_own_store(instance: &Instance, event: usize, value: usize) -> bool {
    instance.items().get(value).is_some_and(|store| store.buffered && store.thread == instance.items()[event].thread)
}

/// By event, the events that are performed before it: what follows from the edges.
fn closure(instance: &Instance) -> Vec<BitSet> {
    let n = instance.len();
    let mut older = vec![BitSet::new(n); n];
    loop {
        let mut changed = false;
        for &(a, b) in instance.edges() {
            let mut set = older[a as usize].clone();
            set.insert(a as usize);
            if !subset(&set, &older[b as usize]) {
                older[b as usize].union(set.words());
                changed = true;
            }
        }
        if !changed {
            return older;
        }
    }
}

fn subset(small: &BitSet, large: &BitSet) -> bool {
    small.words().iter().zip(large.words()).all(|(a, b)| a & !b == 0)
}
