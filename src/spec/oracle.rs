//! Verdicts about scenarios against brute force, on structures drawn at random.
//!
//! A structure has two atomics; an operation is a few loads, stores and additions one after the other, and its model is
//! the same without others in between. So some structures are linearizable and many are not.
//!
//! - Under SC: the exhaustive explorer runs every interleaving, with an event of its own before each call. The time at
//!   which calls begin and return is noted. Results must be explained, by all permutations of the calls, in the order
//!   in which one returned before another began: linearizability as it was defined. For quiescent consistency only that
//!   between calls counts between which there was a time without a call. Nothing here knows of clients.
//! - Under C11: the scenario is run with every order that a client can make, not only those that contradict a result.

use std::collections::HashSet;
use std::sync::Mutex as StdMutex;
use std::sync::atomic::AtomicUsize as StdAtomicUsize;
use std::sync::atomic::Ordering::Relaxed as StdRelaxed;

use rsmc_core::session::{Config, ExplorerKind, MemoryModel, Verdict};
use rsmc_shim::sync::atomic::{AtomicU8, Ordering};
use rsmc_shim::thread;

use crate::spec::enumerate::{Size, words};
use crate::spec::execute::Prepared;
use crate::spec::explore::{Ended, Tour};
use crate::spec::order::Order;
use crate::spec::scenario::{Scenario, permutations};
use crate::spec::{Criterion, Spec};

/// A step of an operation. The numbers are those of an atomic.
#[derive(Clone, Copy, Debug)]
enum Step {
    Load(usize),
    Store(usize, u8),
    /// Stores what was loaded, and one.
    StoreNext(usize),
    Add(usize),
}

type Steps = Vec<Step>;

/// SC: the only model of this explorer.
fn sc() -> MemoryModel {
    Config::default().explorer(ExplorerKind::ReadsValueFrom).effective_memory()
}

/// The values that an operation has loaded, as one number.
fn with(loaded: u8, value: u8) -> u8 {
    loaded.wrapping_mul(5).wrapping_add(value)
}

struct Structure {
    atomics: [AtomicU8; 2],
    load: Ordering,
    store: Ordering,
    add: Ordering,
}

impl Structure {
    fn call(&self, steps: &[Step]) -> u8 {
        steps.iter().fold(0, |loaded, step| match *step {
            Step::Load(at) => with(loaded, self.atomics[at].load(self.load)),
            Step::Store(at, value) => {
                self.atomics[at].store(value, self.store);
                loaded
            }
            Step::StoreNext(at) => {
                self.atomics[at].store(loaded.wrapping_add(1), self.store);
                loaded
            }
            Step::Add(at) => with(loaded, self.atomics[at].fetch_add(1, self.add)),
        })
    }
}

fn model(state: &mut [u8; 2], steps: &[Step]) -> u8 {
    steps.iter().fold(0, |loaded, step| match *step {
        Step::Load(at) => with(loaded, state[at]),
        Step::Store(at, value) => {
            state[at] = value;
            loaded
        }
        Step::StoreNext(at) => {
            state[at] = loaded.wrapping_add(1);
            loaded
        }
        Step::Add(at) => {
            state[at] = state[at].wrapping_add(1);
            with(loaded, state[at].wrapping_sub(1))
        }
    })
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn steps(&mut self) -> Steps {
        let step = |random: &mut Self| match (random.below(4), random.below(2)) {
            (0, at) => Step::Store(at, 1 + random.below(2) as u8),
            (1, at) => Step::StoreNext(at),
            (2, at) => Step::Add(at),
            (_, at) => Step::Load(at),
        };
        (0..1 + self.below(2)).map(|_| step(self)).collect()
    }
}

fn structure(seq_cst: bool) -> Structure {
    let (load, store, add) = match seq_cst {
        true => (Ordering::SeqCst, Ordering::SeqCst, Ordering::SeqCst),
        false => (Ordering::Relaxed, Ordering::Release, Ordering::Relaxed),
    };
    Structure { atomics: [const { AtomicU8::new(0) }; 2], load, store, add }
}

/// A specification with operations of these steps.
fn spec(operations: &[Steps; 3], seq_cst: bool) -> Spec<Structure, [u8; 2]> {
    let mut spec = Spec::new(move || structure(seq_cst), || [0; 2]);
    for (steps, name) in operations.iter().zip(["f", "g", "h"]) {
        let (run, of_model) = (steps.clone(), steps.clone());
        spec = spec.op0(name, move |it| it.call(&run), move |state| model(state, &of_model));
    }
    spec
}

/// Whether some permutation of the calls gives these results and keeps to the pairs.
fn is_explained(operations: &[Steps; 3], calls: &[usize], results: &[u8], pairs: &[(usize, usize)]) -> bool {
    permutations(calls.len()).iter().any(|sequence| {
        let place = |call: usize| sequence.iter().position(|&other| other == call).unwrap();
        let mut state = [0; 2];
        pairs.iter().all(|&(a, b)| place(a) < place(b))
            && sequence.iter().all(|&call| model(&mut state, &operations[calls[call]]) == results[call])
    })
}

/// Calls with the times at which they began and returned.
type Times = Vec<(usize, usize, u8)>;

/// The pairs of calls of which one returned before the other began.
fn in_real_time(noted: &Times) -> Vec<(usize, usize)> {
    let all = 0..noted.len();
    let pairs = all.clone().flat_map(|a| all.clone().map(move |b| (a, b)));
    pairs.filter(|&(a, b)| noted[a].1 < noted[b].0).collect()
}

/// The pairs of calls between which there was a time without a call.
fn around_rests(noted: &Times) -> Vec<(usize, usize)> {
    let last = noted.iter().map(|&(_, returned, _)| returned).max().unwrap();
    let rests = |time: &usize| noted.iter().all(|&(begun, returned, _)| returned <= *time || *time < begun);
    let rests: Vec<usize> = (0..last).filter(rests).collect();
    let between = |a: usize, b: usize| rests.iter().any(|&rest| noted[a].1 <= rest && rest < noted[b].0);
    in_real_time(noted).into_iter().filter(|&(a, b)| between(a, b)).collect()
}

/// A criterion by time, over all interleavings under SC. `ordered` has the pairs to which an explanation must keep.
fn is_right_by_time(operations: &[Steps; 3], scenario: &Scenario, ordered: fn(&Times) -> Vec<(usize, usize)>) -> bool {
    let calls: Vec<usize> = scenario.calls().map(|call| call.operation).collect();
    let wrong = StdAtomicUsize::new(0);
    let config = Config::default().memory(sc()).explorer(ExplorerKind::Exhaustive).allow_trivial(true);
    let report = crate::explore(&config, || {
        let (it, time) = (structure(true), StdAtomicUsize::new(0));
        let now = || time.fetch_add(1, StdRelaxed);
        let noted = StdMutex::new(vec![(0, 0, 0); calls.len()]);
        let (it, calls, noted_by) = (&it, &calls, &noted);
        let threads = scenario.numbers();
        let beginnings: Vec<AtomicU8> = threads.iter().map(|_| AtomicU8::new(0)).collect();
        thread::scope(|scope| {
            for (numbers, beginning) in threads.into_iter().zip(&beginnings) {
                scope.spawn(move || {
                    for call in numbers {
                        beginning.load(Ordering::Relaxed);
                        let begun = now();
                        let result = it.call(&operations[calls[call]]);
                        noted_by.lock().unwrap()[call] = (begun, now(), result);
                    }
                });
            }
        });
        let noted = noted.into_inner().unwrap();
        let pairs = ordered(&noted);
        let results: Vec<u8> = noted.iter().map(|&(_, _, result)| result).collect();
        wrong.fetch_add(usize::from(!is_explained(operations, calls, &results, &pairs)), StdRelaxed);
    });
    assert!(matches!(report.verdict, Verdict::Verified), "{report}");
    wrong.into_inner() == 0
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

/// Linearizability by clients, with every order that they can make.
fn is_linearizable_for_all(operations: &[Steps; 3], scenario: &Scenario, config: &Config) -> bool {
    let (calls, base) = (scenario.calls().map(|call| call.operation).collect::<Vec<_>>(), scenario.order().unwrap());
    all_orders(&base).iter().all(|order| {
        let pairs: Vec<_> = order.beyond(&Order::none(calls.len()));
        // Any results are accepted here, and looked at below.
        let accepts = |steps: &Steps| (steps.clone(), |_: &mut (), _: &(), _: &u8| true);
        let [(f, any_f), (g, any_g), (h, any_h)] = operations.each_ref().map(accepts);
        let lenient = Spec::new(|| structure(false), || ())
            .op_where("f", [()], move |it: &Structure, _| it.call(&f), any_f)
            .op_where("g", [()], move |it, _| it.call(&g), any_g)
            .op_where("h", [()], move |it, _| it.call(&h), any_h);
        let prepared = Prepared::new(&lenient, scenario.under(&base, order));
        let seen = StdMutex::default();
        let mut wrong = false;
        let body = || prepared.execute(Some(&seen));
        let config = config.clone().allow_trivial(true);
        let report = rsmc_core::session::check_body(&config, &body, |body| {
            let keep = |of_check: rsmc_core::session::Seen<'_>| seen.lock().unwrap().keep(of_check);
            body.check().watch(keep).run()
        });
        assert!(matches!(report.unwrap().verdict, Verdict::Verified));
        for results in &seen.lock().unwrap().known {
            let results: Vec<u8> = results.iter().map(|result| result.text().parse().unwrap()).collect();
            wrong |= !is_explained(operations, &calls, &results, &pairs);
        }
        !wrong
    })
}

/// The verdicts about the scenarios of up to `calls` calls of structures drawn at random, as numbers of right and wrong
/// ones. `judge` is the brute force.
fn compare(
    structures: u64,
    size: Size,
    (config, criterion): (&Config, Criterion),
    seq_cst: bool,
    judge: Judge<'_>,
) -> [usize; 2] {
    let mut verdicts = [0; 2];
    for seed in 0..structures {
        let mut random = Random(seed);
        let operations = [random.steps(), random.steps(), random.steps()];
        let spec = spec(&operations, seq_cst).criterion(criterion);
        let mut tour = Tour::new(&spec, config);
        for calls in 2..=size.calls {
            for word in words(&tour.alphabet, Size { calls, ..size }) {
                let scenario = tour.scenario_of(&word);
                let told = || format!("{operations:?}: {}", scenario.text(&|call| spec.label(call)));
                let (plain, orders) = tour.plain(&scenario).unwrap();
                let found = match (plain, tour.ordered(&orders).unwrap()) {
                    (Ended::Failed, _) | (_, Ended::Failed) => false,
                    (Ended::Verified(_), Ended::Verified(_)) => true,
                    _ => panic!("stopped: {}", told()),
                };
                assert_eq!(found, judge(&operations, &scenario), "{}", told());
                verdicts[usize::from(found)] += 1;
            }
        }
    }
    verdicts
}

type Judge<'j> = &'j dyn Fn(&[Steps; 3], &Scenario) -> bool;

#[test]
fn under_sc_verdicts_are_those_by_time() {
    let structures = if cfg!(debug_assertions) { 6 } else { 24 };
    let config = Config::default().memory(sc()).shrink(0);
    let size = Size { calls: 3, threads: 3, ..Size::default() };
    for (criterion, ordered) in
        [(Criterion::Linearizable, in_real_time as fn(&Times) -> _), (Criterion::QuiescentlyConsistent, around_rests)]
    {
        let judge = |operations: &[Steps; 3], it: &Scenario| is_right_by_time(operations, it, ordered);
        let verdicts = compare(structures, size, (&config, criterion), true, &judge);
        assert!(verdicts.iter().all(|&some| some > 20), "{criterion:?} {verdicts:?}");
    }
}

#[test]
fn under_c11_verdicts_are_those_of_all_clients() {
    let structures = if cfg!(debug_assertions) { 6 } else { 24 };
    let config = Config::default().shrink(0);
    let size = Size { calls: 3, threads: 3, ..Size::default() };
    let judge = |operations: &[Steps; 3], scenario: &Scenario| is_linearizable_for_all(operations, scenario, &config);
    let verdicts = compare(structures, size, (&config, Criterion::Linearizable), false, &judge);
    assert!(verdicts.iter().all(|&some| some > 20), "{verdicts:?}");
}
