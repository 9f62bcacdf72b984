//! Consistency with store buffers on random programs and on known small ones. Every read has one good write.

use rsmc_core::base::{LocId, ThreadId};
use rsmc_core::consistency::{Flaw, Instance, Move, Shape, Verifier, check_witness, close_buffers};
use rsmc_core::model::MemoryModel;
use rsmc_testkit::naive;

use MemoryModel::{Pso, Sc, Tso};
use Move::{Flush, Perform};

use crate::dice::Dice;
use crate::drafts::{self, Draft, Size};

/// How random instances are drawn.
#[derive(Clone, Copy, Debug)]
struct Kind {
    size: Size,
    /// Whether events are numbered at random. Otherwise numbers ascend along program order.
    shuffled: bool,
    /// The way in which the sources are chosen.
    sources: Sources,
}

/// The ways to choose the sources of the reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sources {
    /// Any write to the location, or the initial value.
    Random,
    /// What the reads find in a random execution.
    Simulated,
    /// The sources of a random execution, but for one or two reads.
    Repointed,
}

/// A random instance.
fn draw(seed: u64, model: MemoryModel, kind: Kind) -> Instance {
    let mut dice = Dice(seed << 32);
    let draft = drafts::draw(&mut dice, model, kind.size);
    let source = draw_sources(&draft, model, kind.sources, &mut dice);
    let mut names: Vec<usize> = (0..draft.shapes.len()).collect();
    if kind.shuffled {
        (1..names.len()).for_each(|i| names.swap(i, dice.below(i + 1)));
    }
    let mut instance = draft.instance(&names);
    for (read, &source) in source.iter().enumerate().filter(|&(read, _)| draft.shapes[read].reads) {
        instance.good(names[read], source.map(|write| names[write]));
    }
    instance
}

/// By event, what it takes; counts for reads only.
fn draw_sources(draft: &Draft, model: MemoryModel, sources: Sources, dice: &mut Dice) -> Vec<Option<usize>> {
    let n = draft.shapes.len();
    let mut source = if sources == Sources::Random { vec![None; n] } else { simulate(draft, model, dice) };
    let mut reads: Vec<usize> = (0..n).filter(|&event| draft.shapes[event].reads).collect();
    let wrong = match sources {
        Sources::Random => reads.len(),
        Sources::Simulated => 0,
        Sources::Repointed => 1 + dice.below(2),
    };
    for _ in 0..wrong.min(reads.len()) {
        let read = reads.swap_remove(dice.below(reads.len()));
        let shapes = &draft.shapes;
        let fits = |&write: &usize| write != read && shapes[write].writes && shapes[write].loc == shapes[read].loc;
        let choices: Vec<_> = (0..n).filter(fits).map(Some).chain([None]).collect();
        source[read] = choices[dice.below(choices.len())];
    }
    source
}

/// What the reads find in a random execution.
fn simulate(draft: &Draft, model: MemoryModel, dice: &mut Dice) -> Vec<Option<usize>> {
    let n = draft.shapes.len();
    let (mut performed, mut flushed) = (vec![false; n], vec![false; n]);
    let mut memory = [None; 16];
    let mut source = vec![None; n];
    let laziness = [0, 50, 90][dice.below(3)];
    let waits = |performed: &[bool], flushed: &[bool], store: usize| {
        draft.shapes[store].buffered && performed[store] && !flushed[store]
    };
    while performed.contains(&false) || (0..n).any(|store| waits(&performed, &flushed, store)) {
        let event = dice.below(n);
        let shape = draft.shapes[event];
        let loc = shape.loc.0 as usize;
        // Numbers ascend along the thread here, so older waiting stores have smaller ones.
        let mut older = (0..event)
            .filter(|&store| draft.shapes[store].thread == shape.thread && waits(&performed, &flushed, store));
        if !performed[event] {
            let free = draft.edges.iter().all(|&(a, b)| b != event || performed[a])
                && draft.fences.iter().all(|&(store, b)| b != event || flushed[store]);
            if free {
                source[event] = older.rfind(|&store| draft.shapes[store].loc == shape.loc).or(memory[loc]);
                performed[event] = true;
                if shape.writes && !shape.buffered {
                    memory[loc] = Some(event);
                }
            }
        } else if waits(&performed, &flushed, event) && !dice.chance(laziness) {
            let goes_first = |other: Shape| model == Tso || other.loc == shape.loc || other.epoch < shape.epoch;
            if !older.any(|store| goes_first(draft.shapes[store])) {
                flushed[event] = true;
                memory[loc] = Some(event);
            }
        }
    }
    source
}

/// Whether the instance is possible; all verifiers must agree on it.
fn compare(instance: &Instance, model: MemoryModel) -> bool {
    let found = naive(instance, model, &[]);
    if let Some(witness) = &found {
        assert_eq!(check_witness(instance, model, witness), Ok(()), "{model:?}: {instance:?}");
    }
    for verifier in [Verifier::new(model), Verifier::new(model).without_closure()].iter_mut() {
        let mut witness = Vec::new();
        let possible = verifier.verify(instance, |event| event as u32, &mut witness);
        assert_eq!(possible, found.is_some(), "{model:?}: {instance:?}");
        if possible {
            assert_eq!(check_witness(instance, model, &witness), Ok(()), "{model:?}: {instance:?}");
        }
    }
    if close_buffers(instance, model).is_err() {
        assert!(found.is_none(), "closure rejects a possible instance under {model:?}: {instance:?}");
    }
    found.is_some()
}

/// The number of possible instances among those with these seeds.
fn possible(model: MemoryModel, kind: Kind, seeds: u64) -> u64 {
    (0..seeds).map(|seed| u64::from(compare(&draw(seed, model, kind), model))).sum()
}

const MODELS: [MemoryModel; 3] = [Sc, Tso, Pso];
const SMALL: Kind =
    Kind { size: Size { threads: 3, ops: 4, locs: 2, fenced: false }, shuffled: false, sources: Sources::Simulated };
const LARGE: Kind =
    Kind { size: Size { threads: 4, ops: 6, locs: 3, fenced: false }, shuffled: true, sources: Sources::Simulated };

#[test]
fn simulated_sources_are_possible() {
    for model in MODELS {
        assert_eq!(possible(model, SMALL, 3_000), 3_000);
        assert_eq!(possible(model, LARGE, 2_000), 2_000);
    }
}

#[test]
fn other_sources_are_possible_and_impossible() {
    let (random, repointed) = (Sources::Random, Sources::Repointed);
    for model in MODELS {
        for kind in [
            Kind { sources: random, ..SMALL },
            Kind { sources: repointed, ..SMALL },
            Kind { sources: repointed, ..LARGE },
        ] {
            let possible = possible(model, kind, 3_000);
            assert!((300..2_700).contains(&possible), "{possible} of 3,000: {model:?} {kind:?}");
        }
    }
}

#[test]
fn with_many_fences() {
    for model in [Tso, Pso] {
        for (threads, ops, locs) in [(3, 7, 2), (4, 6, 2), (3, 7, 3), (4, 5, 3)] {
            let size = Size { threads, ops, locs, fenced: true };
            let kind = Kind { size, shuffled: true, sources: Sources::Simulated };
            assert_eq!(possible(model, kind, 1_000), 1_000);
            let possible = possible(model, Kind { sources: Sources::Repointed, ..kind }, 1_000);
            assert!((300..900).contains(&possible), "{possible} of 1,000: {model:?} {kind:?}");
        }
    }
}

/// Builds a known program, statement by statement.
#[derive(Default)]
struct Program {
    instance: Instance,
    last: Vec<Option<usize>>,
    epoch: Vec<u32>,
}

impl Program {
    fn add(&mut self, thread: usize, loc: u32, (reads, writes, buffered): (bool, bool, bool)) -> usize {
        self.last.resize(self.last.len().max(thread + 1), None);
        self.epoch.resize(self.last.len(), 0);
        let (epoch, loc) = (self.epoch[thread], LocId(loc));
        let shape = Shape { thread: ThreadId(thread as u32), loc, reads, writes, buffered, epoch };
        let event = self.instance.push(shape);
        if let Some(last) = self.last[thread].replace(event) {
            self.instance.edge(last, event);
        }
        event
    }

    fn store(&mut self, thread: usize, loc: u32) -> usize {
        self.add(thread, loc, (false, true, true))
    }

    fn direct(&mut self, thread: usize, loc: u32) -> usize {
        self.add(thread, loc, (false, true, false))
    }

    fn load(&mut self, thread: usize, loc: u32, source: Option<usize>) -> usize {
        let read = self.add(thread, loc, (true, false, false));
        self.instance.good(read, source);
        read
    }

    fn update(&mut self, thread: usize, loc: u32, source: Option<usize>) -> usize {
        let update = self.add(thread, loc, (true, true, false));
        self.instance.good(update, source);
        update
    }

    fn store_fence(&mut self, thread: usize) {
        self.epoch[thread] += 1;
    }

    /// Checks whether it is possible under TSO, and under PSO.
    #[track_caller]
    fn expect(&self, tso: bool, pso: bool) {
        assert_eq!(compare(&self.instance, Tso), tso, "TSO");
        assert_eq!(compare(&self.instance, Pso), pso, "PSO");
    }

    fn check(&self, model: MemoryModel, witness: &[Move]) -> Result<(), Flaw> {
        check_witness(&self.instance, model, witness)
    }
}

const X: u32 = 0;
const Y: u32 = 1;
const Z: u32 = 2;
const W: u32 = 3;

/// Store buffering; both reads take the initial value. Events: x=1, r(y), y=1, r(x).
fn store_buffering() -> (Program, [usize; 4]) {
    let mut p = Program::default();
    let x = p.store(0, X);
    let ry = p.load(0, Y, None);
    let y = p.store(1, Y);
    let rx = p.load(1, X, None);
    (p, [x, ry, y, rx])
}

#[test]
fn store_buffering_needs_two_fences() {
    let (mut p, [x, ry, y, rx]) = store_buffering();
    p.expect(true, true);
    p.instance.fence(x, ry);
    p.expect(true, true);
    p.instance.fence(y, rx);
    p.expect(false, false);
}

/// Message passing; the flag is seen, the data are not. `fenced`: with a store-store fence between the two stores.
fn message_passing(fenced: bool) -> (Program, [usize; 4]) {
    let mut p = Program::default();
    let data = p.store(0, X);
    if fenced {
        p.store_fence(0);
    }
    let flag = p.store(0, Y);
    let rflag = p.load(1, Y, Some(flag));
    let rdata = p.load(1, X, None);
    (p, [data, flag, rflag, rdata])
}

#[test]
fn message_passing_fails_under_pso_without_a_store_fence() {
    message_passing(false).0.expect(false, true);
    message_passing(true).0.expect(false, false);
    let (mut p, [data, flag, ..]) = message_passing(false);
    p.instance.fence(data, flag);
    p.expect(false, false);
}

/// Two stores of one location are flushed in order, under PSO too.
#[test]
fn one_location_has_one_buffer() {
    let mut p = Program::default();
    let old = p.store(0, X);
    let new = p.store(0, X);
    p.load(1, X, Some(new));
    p.load(1, X, Some(old));
    p.expect(false, false);
}

/// n6: a thread reads its own store early, and that store is the last to be flushed, as thread 2 sees. Returns x=1 and
/// r(y).
fn n6() -> (Program, usize, usize) {
    let mut p = Program::default();
    let x1 = p.store(0, X);
    p.load(0, X, Some(x1));
    let ry = p.load(0, Y, None);
    p.store(1, Y);
    let x2 = p.store(1, X);
    p.load(2, X, Some(x2));
    p.load(2, X, Some(x1));
    (p, x1, ry)
}

#[test]
fn own_stores_are_read_in_the_buffer() {
    n6().0.expect(true, true);
    // With a full fence behind x=1, TSO flushes x=1, r(y), y=1, x=2 in this order. PSO may flush x=2 first.
    let (mut p, x1, ry) = n6();
    p.instance.fence(x1, ry);
    p.expect(false, true);
    // Nobody reads memory past an own store.
    let mut p = Program::default();
    p.store(0, X);
    p.load(0, X, None);
    p.expect(false, false);
}

#[test]
fn updates_are_atomic_and_act_on_memory() {
    let mut p = Program::default();
    p.update(0, X, None);
    p.update(1, X, None);
    p.expect(false, false);
    let mut p = Program::default();
    let x = p.store(0, X);
    let update = p.update(0, X, Some(x));
    p.instance.fence(x, update);
    p.load(1, X, Some(update));
    p.expect(true, true);
    p.load(1, X, Some(x));
    p.expect(false, false);
}

/// With store-store fences, a store may have to become visible before it is needed. A takes z=2 from memory, so its own
/// z=1 is flushed before z=2 is written, and y=1 before z=1; only after z=2, B reads y.
#[test]
fn a_store_fence_forces_an_early_flush() {
    let mut p = Program::default();
    let (a, b) = (0, 1);
    let first = p.store(a, Y);
    p.store_fence(a);
    p.store(a, Z);
    let other = p.direct(b, Z);
    p.load(a, Z, Some(other));
    p.load(b, Y, Some(first));
    p.expect(true, true);
    assert_eq!(naive(&p.instance, Pso, &[(Perform(other), Flush(first))]), None);
}

/// And it must not be flushed as early as possible either: C sees y=1 last.
#[test]
fn a_store_fence_does_not_make_every_early_flush_right() {
    let mut p = Program::default();
    let (a, b, c) = (0, 1, 2);
    let first = p.store(a, Y);
    p.store_fence(a);
    p.store(a, Z);
    let other = p.store(b, Y);
    p.load(c, Y, Some(other));
    p.load(c, Y, Some(first));
    p.expect(true, true);
    assert_eq!(naive(&p.instance, Pso, &[(Flush(first), Flush(other))]), None);
}

/// The early flush with four threads, where many events of other threads come between: y=1 is flushed before x=1, which
/// x=2 overwrites before D lets A go on; only then C can begin, which reads y last.
#[test]
fn a_store_fence_forces_a_very_early_flush() {
    let mut p = Program::default();
    let (a, b, c, d) = (0, 1, 2, 3);
    let first = p.store(a, Y);
    p.store_fence(a);
    let second = p.store(a, X);
    let other = p.store(b, X);
    p.load(d, X, Some(other));
    let go = p.store(d, W);
    p.load(a, W, Some(go));
    let third = p.direct(a, Z);
    p.instance.fence(first, third);
    p.instance.fence(second, third);
    p.load(c, Z, Some(third));
    p.load(c, X, Some(other));
    p.load(c, Y, Some(first));
    p.expect(true, true);
    assert_eq!(naive(&p.instance, Pso, &[(Perform(go), Flush(first))]), None);
}

/// Two prefixes with the same thread events, of which one has kept a spurious store back: VerifyPSO must not take them
/// for one. It comes to the bad one first, since events are tried by their numbers.
#[test]
fn the_fence_map_tells_prefixes_apart() {
    let mut p = Program::default();
    let (a, b, c, d, e) = (0, 1, 2, 3, 4);
    let held = p.store(a, X);
    p.load(d, X, Some(held));
    let seen = p.direct(d, W);
    let go = p.store(e, Y);
    p.load(b, Y, Some(go));
    let spurious = p.store(b, X);
    p.load(b, W, Some(seen));
    let published = p.direct(b, Z);
    p.instance.fence(spurious, published);
    p.load(c, Z, Some(published));
    p.load(c, X, Some(held));
    p.expect(true, true);
}

#[test]
fn bad_witnesses_are_refused() {
    let (p, [x, ry, y, rx]) = store_buffering();
    let good = [Perform(x), Perform(ry), Perform(y), Perform(rx), Flush(x), Flush(y)];
    assert_eq!(p.check(Tso, &good), Ok(()));
    assert_eq!(p.check(Pso, &good), Ok(()));
    assert_eq!(p.check(Tso, &good[..5]), Err(Flaw::NotAPermutation));
    assert_eq!(p.check(Tso, &good[..3]), Err(Flaw::NotAPermutation));
    assert_eq!(p.check(Tso, &[&good[..], &[Flush(x)]].concat()), Err(Flaw::NotAPermutation));
    assert_eq!(p.check(Tso, &[&good[..], &[Perform(x)]].concat()), Err(Flaw::NotAPermutation));
    assert_eq!(p.check(Tso, &[&good[..], &[Flush(rx)]].concat()), Err(Flaw::NotAPermutation));
    assert_eq!(p.check(Tso, &[Perform(9)]), Err(Flaw::NotAPermutation));
    assert_eq!(p.check(Tso, &[Flush(x)]), Err(Flaw::BufferOrder(x)));
    assert_eq!(p.check(Tso, &[Perform(ry)]), Err(Flaw::ProgramOrder(x, ry)));
    let late = [Perform(x), Perform(ry), Perform(y), Flush(x), Perform(rx), Flush(y)];
    assert_eq!(p.check(Tso, &late), Err(Flaw::BadWrite(rx, Some(x))));

    let (mut p, [x, ry, ..]) = store_buffering();
    p.instance.fence(x, ry);
    assert_eq!(p.check(Tso, &good), Err(Flaw::Fence(x, ry)));
}

#[test]
fn witnesses_that_break_the_buffers_are_refused() {
    let (p, [data, flag, rflag, rdata]) = message_passing(false);
    let good = [Perform(data), Perform(flag), Flush(flag), Perform(rflag), Perform(rdata), Flush(data)];
    assert_eq!(p.check(Pso, &good), Ok(()));
    assert_eq!(p.check(Tso, &good), Err(Flaw::BufferOrder(flag)));
    let early = [Perform(data), Perform(flag), Flush(data), Flush(flag), Perform(rflag), Perform(rdata)];
    assert_eq!(p.check(Pso, &early), Err(Flaw::BadWrite(rdata, Some(data))));
    assert_eq!(p.check(Pso, &[Perform(data), Perform(flag), Perform(rflag)]), Err(Flaw::BadWrite(rflag, None)));
    let (p, _) = message_passing(true);
    assert_eq!(p.check(Pso, &good), Err(Flaw::BufferOrder(flag)));

    // An own store hides memory only while it is in the buffer.
    let (p, ..) = n6();
    let [x1, rx, y1, x2] = [0, 1, 3, 4];
    let others = [Perform(y1), Perform(x2), Flush(y1), Flush(x2), Perform(rx)];
    assert_eq!(p.check(Tso, &[&[Perform(x1)], &others[..]].concat()), Err(Flaw::NotAPermutation), "not complete");
    let flushed = [&[Perform(x1), Flush(x1)], &others[..]].concat();
    assert_eq!(p.check(Tso, &flushed), Err(Flaw::BadWrite(rx, Some(x2))));

    // Two stores of one location under PSO, and a direct write behind a waiting store.
    let mut p = Program::default();
    let (old, new) = (p.store(0, X), p.store(0, X));
    let direct = p.direct(0, Y);
    assert_eq!(p.check(Pso, &[Perform(old), Perform(new), Flush(new)]), Err(Flaw::BufferOrder(new)));
    let undrained = [Perform(old), Perform(new), Flush(old), Perform(direct)];
    assert_eq!(p.check(Pso, &undrained), Err(Flaw::NotDrained(direct)));
}

#[test]
fn without_buffers_every_write_is_visible_at_once() {
    let mut p = Program::default();
    let x = p.direct(0, X);
    let read = p.load(1, X, Some(x));
    assert!(compare(&p.instance, Sc));
    assert_eq!(p.check(Sc, &[Perform(read), Perform(x)]), Err(Flaw::BadWrite(read, None)));
    assert_eq!(p.check(Sc, &[Perform(x), Flush(x)]), Err(Flaw::NotAPermutation));
}

#[test]
#[should_panic(expected = "one good write per read")]
fn two_good_writes_are_too_many() {
    let mut p = Program::default();
    let x = p.store(0, X);
    let read = p.load(1, X, Some(x));
    p.instance.good(read, None);
    naive(&p.instance, Tso, &[]);
}
