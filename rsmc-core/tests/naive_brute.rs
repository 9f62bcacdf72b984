//! The naive verifiers for store buffers against brute force: all sequences of moves, judged by `check_witness`.

use rsmc_core::base::{LocId, ThreadId};
use rsmc_core::consistency::{Flaw, Instance, Move, Shape, check_witness};
use rsmc_core::model::MemoryModel;
use rsmc_testkit::naive;

use crate::dice::Dice;

/// An instance, its moves, and additional constraints.
struct Draft {
    instance: Instance,
    moves: Vec<Move>,
    also: Vec<(Move, Move)>,
}

/// Load, buffered store, direct store, update: whether they read, write, and are buffered.
const KINDS: [(bool, bool, bool); 4] =
    [(true, false, false), (false, true, true), (false, true, false), (true, true, false)];

/// A random instance with at most `limit` moves. Its fences, edges across threads and epochs (the latter also under
/// TSO) are arbitrary, and direct writes need not be fenced.
fn draw(dice: &mut Dice, limit: usize) -> Draft {
    let (threads, locs) = (1 + dice.below(3), 1 + dice.below(2));
    let mut shapes: Vec<Shape> = Vec::new();
    let mut epochs = [0; 3];
    let mut count = 0;
    loop {
        let thread = dice.below(threads);
        epochs[thread] += u32::from(dice.chance(25));
        let (reads, writes, buffered) = KINDS[[0, 0, 0, 0, 1, 1, 1, 1, 2, 3][dice.below(10)]];
        count += 1 + usize::from(buffered);
        if count > limit {
            break;
        }
        let loc = LocId(dice.below(locs) as u32);
        shapes.push(Shape { thread: ThreadId(thread as u32), loc, reads, writes, buffered, epoch: epochs[thread] });
    }
    // Numbers ascend or descend along program order.
    let n = shapes.len();
    let descends = dice.chance(50);
    let name = |event: usize| if descends { n - 1 - event } else { event };
    let mut instance = Instance::default();
    let mut moves = Vec::new();
    for number in 0..n {
        instance.push(shapes[name(number)]);
        moves.push(Move::Perform(number));
        moves.extend(shapes[name(number)].buffered.then_some(Move::Flush(number)));
    }
    for (b, shape) in shapes.iter().enumerate() {
        for (a, other) in shapes[..b].iter().enumerate() {
            let same = other.thread == shape.thread;
            if same || dice.chance(5) {
                instance.edge(name(a), name(b));
            }
            if other.buffered && dice.chance(if same { 20 } else { 5 }) {
                instance.fence(name(a), name(b));
            }
        }
        if shape.reads {
            let fits = |&write: &usize| write != b && shapes[write].writes && shapes[write].loc == shape.loc;
            let sources: Vec<_> = (0..n).filter(fits).map(|write| Some(name(write))).chain([None]).collect();
            instance.good(name(b), sources[dice.below(sources.len())]);
        }
    }
    let mut also = Vec::new();
    if moves.len() > 1 && dice.chance(30) {
        let (a, b) = (dice.below(moves.len()), dice.below(moves.len()));
        also.extend((a != b).then(|| (moves[a], moves[b])));
    }
    Draft { instance, moves, also }
}

fn respects(order: &[Move], also: &[(Move, Move)]) -> bool {
    let place = |step| order.iter().position(|&other| other == step);
    also.iter().all(|&(a, b)| place(a) < place(b))
}

/// Whether some sequence of all moves that begins with `order` is a witness. With `prune`, beginnings that have a flaw
/// are given up.
fn brute(draft: &Draft, model: MemoryModel, prune: bool, order: &mut Vec<Move>) -> bool {
    let complete = order.len() == draft.moves.len();
    if complete || prune {
        let verdict = check_witness(&draft.instance, model, order);
        if complete {
            return verdict.is_ok() && respects(order, &draft.also);
        }
        // Something is still missing; that is no flaw yet.
        if verdict != Err(Flaw::NotAPermutation) {
            return false;
        }
    }
    for &step in &draft.moves {
        if !order.contains(&step) {
            order.push(step);
            if brute(draft, model, prune, order) {
                return true;
            }
            order.pop();
        }
    }
    false
}

/// The number of possible instances among `count`; brute force and the naive verifier agree on each.
fn possible(model: MemoryModel, count: u64, limit: usize, prune: bool) -> u64 {
    let judge = |seed: u64| {
        let draft = draw(&mut Dice(seed << 32), limit);
        let found = naive(&draft.instance, model, &draft.also);
        if let Some(order) = &found {
            assert_eq!(check_witness(&draft.instance, model, order), Ok(()), "seed {seed}: {:?}", draft.instance);
            assert!(respects(order, &draft.also), "seed {seed}: {order:?} breaks {:?}", draft.also);
        }
        let truth = brute(&draft, model, prune, &mut Vec::new());
        assert_eq!(found.is_some(), truth, "seed {seed}: {:?} with {:?}", draft.instance, draft.also);
        u64::from(truth)
    };
    (0..count).map(judge).sum()
}

#[test]
fn naive_agrees_with_brute_force() {
    for model in [MemoryModel::Tso, MemoryModel::Pso] {
        for (count, limit, prune) in [(3_000, 5, false), (6_000, 7, true), (6_000, 9, true)] {
            let possible = possible(model, count, limit, prune);
            assert!((count / 10..count * 9 / 10).contains(&possible));
        }
    }
}
