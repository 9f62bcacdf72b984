//! VerifySC and its closure against the naive verifier, on random instances with one and with many good writes.

use proptest::prelude::*;
use rsmc_core::base::{LocId, Poset};
use rsmc_core::consistency::{Flaw, Instance, Move, Shape, Verifier, check_witness, close};
use rsmc_core::model::MemoryModel::Sc;
use rsmc_testkit::naive_sc;

/// An event: thread, location, whether it reads, whether it writes.
type Drawn = (usize, u32, bool, bool);

/// An instance of these events, in program order per thread; `picks` chooses the good writes of every read: one, or
/// one and some others.
fn instance(shapes: &[Drawn], picks: &[u64], others: bool) -> Instance {
    let mut instance = Instance::default();
    let mut last = [None; 4];
    for &(thread, loc, reads, writes) in shapes {
        let number = instance.push(Shape::direct(LocId(loc), reads || !writes, writes));
        if let Some(before) = last[thread].replace(number) {
            instance.edge(before, number);
        }
    }
    for (read, &(_, loc, reads, writes)) in shapes.iter().enumerate() {
        if reads || !writes {
            let same = |&(write, shape): &(usize, &Drawn)| write != read && shape.1 == loc && shape.3;
            let sources: Vec<_> =
                shapes.iter().enumerate().filter(same).map(|(write, _)| Some(write)).chain([None]).collect();
            let pick = picks[read];
            let chosen = |i: usize| pick as usize % sources.len() == i || (others && pick >> (8 + i) & 1 == 1);
            (0..sources.len()).filter(|&i| chosen(i)).for_each(|i| instance.good(read, sources[i]));
        }
    }
    instance
}

/// The answers of the verifier, the closure and the naive verifier must fit together.
fn judge(instance: &Instance, verifier: &mut Verifier) -> bool {
    let mut witness = Vec::new();
    let found = verifier.verify(instance, |event| event as u32, &mut witness);
    if found {
        assert_eq!(check_witness(instance, Sc, &witness), Ok(()), "{instance:?}");
    }
    let naive = naive_sc(instance);
    assert_eq!(found, naive.is_some(), "{instance:?}");
    let mut order = Poset::default();
    match (close(instance, &mut order), &naive) {
        (Err(_), witness) => assert!(witness.is_none(), "closure rejects {instance:?}, but there is {witness:?}"),
        (Ok(()), Some(witness)) => {
            for (at, &a) in witness.iter().enumerate() {
                assert!(witness[at..].iter().all(|&b| !order.lt(b, a)), "the witness {witness:?} breaks the closure");
            }
        }
        (Ok(()), None) => {}
    }
    found
}

fn shape() -> impl Strategy<Value = Drawn> {
    (0..3_usize, 0..2_u32, any::<bool>(), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn one_good_write_each(
        shapes in prop::collection::vec(shape(), 1..10),
        picks in prop::collection::vec(any::<u64>(), 10),
    ) {
        judge(&instance(&shapes, &picks, false), &mut Verifier::default());
    }

    #[test]
    fn many_good_writes(
        shapes in prop::collection::vec(shape(), 1..10),
        picks in prop::collection::vec(any::<u64>(), 10),
    ) {
        judge(&instance(&shapes, &picks, true), &mut Verifier::default());
    }
}

fn check(instance: &Instance, order: &[usize]) -> Result<(), Flaw> {
    let witness: Vec<Move> = order.iter().copied().map(Move::Perform).collect();
    check_witness(instance, Sc, &witness)
}

/// The instances above are no use if nearly all have the same answer; one verifier serves them all.
#[test]
fn both_answers_occur_and_memory_is_reused() {
    let mut verifier = Verifier::default();
    let mut state = 1;
    let mut draw = || {
        state = rsmc_core::base::mix(state, 7);
        state
    };
    let mut possible = 0;
    for _ in 0..2_000 {
        let shapes: Vec<Drawn> = (0..8)
            .map(|_| draw())
            .map(|d| ((d % 3) as usize, (d >> 8) as u32 % 2, d >> 16 & 1 == 1, d >> 17 & 1 == 1))
            .collect();
        let picks: Vec<u64> = (0..8).map(|_| draw()).collect();
        possible += u32::from(judge(&instance(&shapes, &picks, true), &mut verifier));
    }
    assert!((200..1_800).contains(&possible), "{possible} of 2,000 instances are possible");
}

/// Store buffering: both reads take the initial value. Impossible under SC, and the closure sees it.
#[test]
fn store_buffering_is_impossible() {
    let mut instance = Instance::default();
    let (x, y) = (LocId(0), LocId(1));
    let [wx, ry, wy, rx] =
        [(x, false), (y, true), (y, false), (x, true)].map(|(l, reads)| instance.push(Shape::direct(l, reads, !reads)));
    instance.edge(wx, ry);
    instance.edge(wy, rx);
    instance.good(ry, None);
    instance.good(rx, None);
    assert!(close(&instance, &mut Poset::default()).is_err());
    assert!(!judge(&instance, &mut Verifier::default()));
}

#[test]
fn two_updates_cannot_take_one_write() {
    let mut instance = Instance::default();
    let updates = [0, 1].map(|_| instance.push(Shape::direct(LocId(0), true, true)));
    updates.iter().for_each(|&update| instance.good(update, None));
    assert!(!judge(&instance, &mut Verifier::default()));
}

#[test]
fn bad_witnesses_are_refused() {
    let mut instance = Instance::default();
    let write = instance.push(Shape::direct(LocId(0), false, true));
    let read = instance.push(Shape::direct(LocId(0), true, false));
    let late = instance.push(Shape::direct(LocId(0), true, false));
    instance.edge(read, late);
    instance.good(read, Some(write));
    instance.good(late, Some(write));
    assert_eq!(check(&instance, &[write, read, late]), Ok(()));
    assert_eq!(check(&instance, &[write, late, read]), Err(Flaw::ProgramOrder(read, late)));
    assert_eq!(check(&instance, &[read, write, late]), Err(Flaw::BadWrite(read, None)));
    assert_eq!(check(&instance, &[write, read]), Err(Flaw::NotAPermutation));
    assert_eq!(check(&instance, &[write, read, read]), Err(Flaw::NotAPermutation));
}
