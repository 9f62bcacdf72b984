//! ConstructWitness and its steps against brute force: on every small instance, and on larger ones that are drawn.
//!
//! Small: up to three events of up to three threads and two locations, each a read, a write or an update; with store
//! buffers also a direct write, and each event also behind a full fence or, under PSO, a store-store fence, where that
//! makes a difference. Four events: the same with at most two updates (one with store buffers), without direct writes
//! and stores behind full fences, and without mere renumberings of all events but the last. Program order is the order
//! of each thread. Every set of good writes (not empty) is tried for every read, and every execution of all events but
//! the last as a guide, whatever its reads find.
//!
//! With `--nocapture` the tests say how many instances there were.

use std::collections::BTreeSet;
use std::ops::Range;

use rsmc_core::base::{LocId, ThreadId};
use rsmc_core::consistency::{ConstructWitness, Decided, Instance, Move, Shape, Verifier, check_witness, incr, urf};
use rsmc_core::model::MemoryModel::{self, Pso, Sc, Tso};
use rsmc_testkit::{naive, naive_sc};

/// By event that reads, a bit for each source that is good.
type Goods = [u32];

/// The counts of the tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    programs: u64,
    instances: u64,
    possible: u64,
    /// Impossible, but not for URF.
    urf_missed: u64,
    /// Questions with a guide.
    guided: u64,
    /// Those that are possible.
    guided_possible: u64,
    /// Those that INCR answers.
    incr: u64,
}

/// Asks everybody the same; keeps its memory from question to question, as an exploration does.
struct Judge {
    model: MemoryModel,
    construct: ConstructWitness,
    verifiers: [Verifier; 2],
    count: Count,
}

impl Judge {
    fn new(model: MemoryModel) -> Self {
        let verifiers = [Verifier::new(model), Verifier::new(model).without_closure()];
        Self { model, construct: ConstructWitness::new(model), verifiers, count: Count::default() }
    }

    /// Without a guide.
    fn ask(&mut self, instance: &Instance, goods: &Goods, possible: bool) {
        self.count.instances += 1;
        self.count.possible += u64::from(possible);
        let mut witness = Vec::new();
        let found = self.construct.search(instance, &mut witness);
        self.accept(instance, found, &witness, possible, "search");
        let single = goods.iter().all(|set| set.count_ones() <= 1);
        if single {
            let found = naive(instance, self.model, &[]);
            self.accept(instance, found.is_some(), &found.unwrap_or_default(), possible, "naive");
        }
        if single || self.model == Sc {
            for at in 0..self.verifiers.len() {
                witness.clear();
                let found = self.verifiers[at].verify(instance, |event| event as u32, &mut witness);
                self.accept(instance, found, &witness, possible, "verifier");
            }
        }
        if self.model == Sc {
            let passed = urf(instance);
            assert!(passed || !possible, "URF refuses a possible instance: {instance:?}");
            self.count.urf_missed += u64::from(passed && !possible);
        }
    }

    /// With a guide: neither INCR nor URF changes the answer.
    fn ask_guided(&mut self, instance: &Instance, guide: &[Move], possible: bool) {
        let mut witness = Vec::new();
        let quick = incr(instance, guide, &mut witness);
        self.accept(instance, quick, &witness, quick && possible, "incr");
        if !quick && possible {
            let misses = inserted(instance, guide).find(|order| check_witness(instance, self.model, order).is_ok());
            assert_eq!(misses, None, "INCR passes this over: {instance:?}, {guide:?}");
        }
        witness.clear();
        let before = self.construct.decided();
        let found = self.construct.construct(instance, guide, &mut witness);
        self.accept(instance, found, &witness, possible, "construct");
        let after = self.construct.decided();
        assert_eq!(after.incr - before.incr, u64::from(quick), "{instance:?}, {guide:?}");
        let steps = |now: Decided| now.incr + now.urf + now.found + now.refuted;
        assert_eq!(steps(after) - steps(before), 1, "one step decides: {instance:?}, {guide:?}");
        self.count.guided += 1;
        self.count.guided_possible += u64::from(possible);
        self.count.incr += u64::from(quick);
    }

    fn accept(&self, instance: &Instance, found: bool, witness: &[Move], possible: bool, who: &str) {
        assert_eq!(found, possible, "{who}, {:?}: {instance:?}, {witness:?}", self.model);
        if found {
            assert_eq!(check_witness(instance, self.model, witness), Ok(()), "{who}: {instance:?}, {witness:?}");
        } else {
            assert_eq!(witness, [], "{who} leaves something behind: {instance:?}");
        }
    }

    #[allow(clippy::print_stdout, reason = "how much was compared, for who asks with --nocapture")]
    fn report(&self, name: &str) -> Count {
        println!("{:?}, {name}: {:?}, {:?}", self.model, self.count, self.construct.decided());
        self.count
    }
}

/// The guide with the last event put in anywhere.
fn inserted(instance: &Instance, guide: &[Move]) -> impl Iterator<Item = Vec<Move>> {
    let new = Move::Perform(instance.len() - 1);
    (0..=guide.len()).map(move |at| [&guide[..at], &[new], &guide[at..]].concat())
}

/// The instance with these good writes.
fn with_goods(draft: &Draft, goods: &Goods) -> Instance {
    let names: Vec<usize> = (0..draft.shapes.len()).collect();
    let mut instance = draft.instance(&names);
    for (read, &set) in goods.iter().enumerate() {
        for source in (0..=INIT).filter(|&source| set >> source & 1 == 1) {
            instance.good(read, (source != INIT).then_some(source as usize));
        }
    }
    instance
}

/// By event, all it may find, if it reads.
fn candidates(draft: &Draft) -> Vec<u32> {
    let of = |(read, shape): (usize, &Shape)| {
        let fits = |&(write, other): &(usize, &Shape)| write != read && other.writes && other.loc == shape.loc;
        let writes = draft.shapes.iter().enumerate().filter(fits);
        if shape.reads { writes.fold(1 << INIT, |set, (write, _)| set | 1 << write) } else { 0 }
    };
    draft.shapes.iter().enumerate().map(of).collect()
}

/// Every choice of one set of good writes for every read.
fn each_goods(candidates: &Goods, chosen: &mut Vec<u32>, visit: &mut dyn FnMut(&Goods)) {
    let Some(&all) = candidates.get(chosen.len()) else { return visit(chosen) };
    let mut set = all;
    loop {
        chosen.push(set);
        each_goods(candidates, chosen, visit);
        chosen.pop();
        set = set.wrapping_sub(1) & all;
        if set == 0 || all == 0 {
            return;
        }
    }
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Update,
    /// A write that does not wait in a buffer.
    Direct,
    /// Behind a full fence.
    FencedRead,
    FencedWrite,
    /// Behind a store-store fence.
    OrderedWrite,
}

use Kind::{Direct, FencedRead, FencedWrite, OrderedWrite, Read, Update, Write};

use crate::dice::Dice;
use crate::drafts::{self, Draft, Size};
use crate::plays::{INIT, Machine};

/// Which programs are tried.
struct Bound<'a> {
    model: MemoryModel,
    events: usize,
    kinds: &'a [Kind],
    /// At most so many updates.
    updates: usize,
}

const THREADS: usize = 3;
const LOCS: usize = 2;

/// The threads of four events, but for the names of threads and the order of all numbers but the last.
const FOUR: [[u32; 4]; 6] = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 2, 0]];

impl Bound<'_> {
    fn each(&self, draft: &Draft, visit: &mut dyn FnMut(&Draft)) {
        if draft.shapes.len() == self.events {
            return visit(draft);
        }
        // Threads and locations are named in the order in which they appear.
        let threads = draft.shapes.iter().map(|shape| shape.thread.0 as usize + 1).max().unwrap_or(0);
        let locs = draft.shapes.iter().map(|shape| shape.loc.0 as usize + 1).max().unwrap_or(0);
        for thread in 0..THREADS.min(threads + 1) {
            if !self.numbers(draft, thread) {
                continue;
            }
            for loc in 0..LOCS.min(locs + 1) {
                let longer = self.kinds.iter().filter_map(|&kind| self.extended(draft, thread, loc, kind));
                longer.for_each(|draft| self.each(&draft, visit));
            }
        }
    }

    /// Whether the next number may go to an event of this thread.
    fn numbers(&self, draft: &Draft, thread: usize) -> bool {
        let threads = || draft.shapes.iter().map(|shape| shape.thread.0).chain([thread as u32]);
        self.events < 4 || FOUR.iter().any(|names| names.iter().copied().zip(threads()).all(|(a, b)| a == b))
    }

    /// One event more; none if its fence has nothing to order, or if there are enough updates.
    fn extended(&self, draft: &Draft, thread: usize, loc: usize, kind: Kind) -> Option<Draft> {
        let (thread, loc) = (ThreadId(thread as u32), LocId(loc as u32));
        let event = draft.shapes.len();
        let own: Vec<usize> = (0..event).filter(|&other| draft.shapes[other].thread == thread).collect();
        let stores: Vec<usize> = own.iter().copied().filter(|&other| draft.shapes[other].buffered).collect();
        let updates = draft.shapes.iter().filter(|shape| shape.reads && shape.writes).count();
        let has_fence = matches!(kind, FencedRead | FencedWrite | OrderedWrite);
        if (has_fence && stores.is_empty()) || (kind == Update && updates == self.updates) {
            return None;
        }
        let (reads, writes) = (matches!(kind, Read | FencedRead | Update), !matches!(kind, Read | FencedRead));
        let buffered = self.model.has_buffers() && matches!(kind, Write | FencedWrite | OrderedWrite);
        let epoch = own.last().map_or(0, |&last| draft.shapes[last].epoch) + u32::from(kind == OrderedWrite);
        let mut draft = draft.clone();
        draft.shapes.push(Shape { thread, loc, reads, writes, buffered, epoch });
        draft.edges.extend(own.last().map(|&last| (last, event)));
        if matches!(kind, Update | Direct | FencedRead | FencedWrite) {
            draft.fences.extend(stores.iter().map(|&store| (store, event)));
        }
        Some(draft)
    }
}

/// Every instance within a bound.
fn all_within(bound: &Bound, judge: &mut Judge) {
    let model = bound.model;
    bound.each(&Draft::default(), &mut |draft| {
        judge.count.programs += 1;
        let mut outcomes = BTreeSet::new();
        Machine { draft, count: bound.events, model }.plays(&mut |_, found| _ = outcomes.insert(found.to_vec()));
        let mut guides = Vec::new();
        if draft.shapes[bound.events - 1].reads {
            Machine { draft, count: bound.events - 1, model }.plays(&mut |moves, _| guides.push(moves.to_vec()));
        }
        each_goods(&candidates(draft), &mut Vec::new(), &mut |goods| {
            let fits = |(&set, &found): (&u32, &Option<u8>)| found.is_none_or(|source| set >> source & 1 == 1);
            let possible = outcomes.iter().any(|found| goods.iter().zip(found).all(fits));
            let instance = with_goods(draft, goods);
            judge.ask(&instance, goods, possible);
            if model == Sc && bound.events < 4 {
                assert_eq!(naive_sc(&instance).is_some(), possible, "{instance:?}");
            }
            guides.iter().for_each(|guide| judge.ask_guided(&instance, guide, possible));
        });
    });
}

/// All instances of up to three events of these kinds, and those of four with fewer kinds and updates.
fn all_small(model: MemoryModel, kinds: &[Kind], fewer: &[Kind], updates: usize) -> Count {
    let mut judge = Judge::new(model);
    for events in 1..4 {
        all_within(&Bound { model, events, kinds, updates: events }, &mut judge);
    }
    judge.report("up to three events");
    all_within(&Bound { model, events: 4, kinds: fewer, updates }, &mut judge);
    judge.report("up to four events")
}

#[test]
fn all_small_instances_under_sc() {
    let kinds = [Read, Write, Update];
    let count = all_small(Sc, &kinds, &kinds, 2);
    assert_eq!((count.instances, count.possible), (146_779, 83_255));
    assert!(count.urf_missed * 100 < count.instances - count.possible, "{count:?}");
}

#[test]
fn all_small_instances_under_tso() {
    let kinds = [Read, Write, Update, Direct, FencedRead, FencedWrite];
    let count = all_small(Tso, &kinds, &[Read, Write, Update, FencedRead], 1);
    assert_eq!((count.instances, count.possible), (67_210, 42_970));
}

#[test]
fn all_small_instances_under_pso() {
    let kinds = [Read, Write, Update, Direct, FencedRead, FencedWrite, OrderedWrite];
    let count = all_small(Pso, &kinds, &[Read, Write, Update, FencedRead, OrderedWrite], 1);
    assert_eq!((count.instances, count.possible), (82_350, 52_506));
}

/// The parameters of random instances.
struct Recipe {
    seeds: u64,
    /// The number of events.
    events: Range<usize>,
    ops: usize,
    locs: Range<usize>,
    /// The largest share of reads with another good write than the one that they find in the first guide, in percent.
    changed: usize,
    /// The largest share of reads with so many more, in percent.
    widened: usize,
    more: usize,
}

impl Recipe {
    /// A program of which the last event reads.
    fn draw(&self, dice: &mut Dice, model: MemoryModel) -> Draft {
        loop {
            let locs = self.locs.start + dice.below(self.locs.len());
            let size = Size { threads: 4, ops: self.ops, locs, fenced: dice.chance(25) };
            let draft = drafts::draw(dice, model, size);
            if self.events.contains(&draft.shapes.len()) && draft.shapes.last().is_some_and(|last| last.reads) {
                return draft;
            }
        }
    }
}

/// The writes that the reads find in some play, and for some of them any others instead or as well.
fn draw_goods(dice: &mut Dice, draft: &Draft, found: &[Option<u8>], recipe: &Recipe) -> Vec<u32> {
    let (changed, widened) = (dice.below(recipe.changed), dice.below(recipe.widened));
    let draw_set = |(read, all): (usize, u32)| {
        let sources: Vec<u8> = (0..=INIT).filter(|&source| all >> source & 1 == 1).collect();
        let pick = |dice: &mut Dice| 1 << sources[dice.below(sources.len())];
        if all == 0 {
            return 0;
        }
        let kept = found.get(read).copied().flatten().filter(|_| !dice.chance(changed));
        let set = kept.map_or_else(|| pick(dice), |source| 1 << source);
        if dice.chance(widened) { (0..recipe.more).fold(set, |set, _| set | pick(dice)) } else { set }
    };
    candidates(draft).into_iter().enumerate().map(draw_set).collect()
}

/// One good write of each read.
fn draw_one_each(dice: &mut Dice, goods: &Goods) -> Vec<u32> {
    let one = |&set: &u32| {
        let sources: Vec<u8> = (0..=INIT).filter(|&source| set >> source & 1 == 1).collect();
        if sources.is_empty() { 0 } else { 1 << sources[dice.below(sources.len())] }
    };
    goods.iter().map(one).collect()
}

/// As in an exploration: the good writes are mostly those of an earlier run, which is one of the guides.
fn drawn(model: MemoryModel, recipe: &Recipe) -> Count {
    let mut judge = Judge::new(model);
    for seed in 0..recipe.seeds {
        let mut dice = Dice(seed << 32);
        let draft = recipe.draw(&mut dice, model);
        let count = draft.shapes.len();
        let machine = Machine { draft: &draft, count, model };
        let earlier = Machine { draft: &draft, count: count - 1, model };
        let guides: Vec<_> = (0..3).map(|_| earlier.random_play(&mut dice)).collect();
        let goods = draw_goods(&mut dice, &draft, &guides[0].1, recipe);
        judge.count.programs += 1;
        for goods in [draw_one_each(&mut dice, &goods), goods] {
            let possible = machine.is_possible(&goods);
            let instance = with_goods(&draft, &goods);
            judge.ask(&instance, &goods, possible);
            guides.iter().for_each(|(guide, _)| judge.ask_guided(&instance, guide, possible));
        }
    }
    judge.report(&format!("{:?} events, drawn", recipe.events))
}

#[test]
fn drawn_instances() {
    let recipe = Recipe { seeds: 3_000, events: 5..9, ops: 3, locs: 1..4, changed: 100, widened: 50, more: 1 };
    for model in [Sc, Tso, Pso] {
        let count = drawn(model, &recipe);
        assert!((1_500..4_500).contains(&count.possible), "{count:?}");
        assert!((3_000..9_000).contains(&count.incr), "{count:?}");
    }
}

/// Instances for which a search has to go back, and comes to the same events on another way.
#[test]
fn drawn_instances_with_many_good_writes() {
    let recipe = Recipe { seeds: 2_000, events: 9..14, ops: 5, locs: 1..3, changed: 100, widened: 100, more: 2 };
    for model in [Sc, Tso, Pso] {
        let count = drawn(model, &recipe);
        assert!((800..3_200).contains(&count.possible), "{count:?}");
    }
}
