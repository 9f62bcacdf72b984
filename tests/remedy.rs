//! What would mend a failure: the stronger orderings that a report names, each of which is found by exploring with
//! them, and mends the source.

use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use crate::support::shared::Shared;
use rsmc::sync::atomic::{AtomicBool, AtomicU32};
use rsmc::{Config, FailureKind, MemoryModel, Report, Verdict, thread};

fn explored(memory: MemoryModel, body: impl Fn() + Sync) -> Report {
    rsmc::explore(&Config::default().memory(memory), body)
}

/// The failure, and the orderings that mend it, without their places.
#[track_caller]
fn remedy(memory: MemoryModel, body: impl Fn() + Sync) -> (FailureKind, Vec<Ordering>) {
    let report = explored(memory, body);
    let Verdict::Failed(failure) = &report.verdict else { panic!("{report:?}") };
    let text = rsmc::render(&report, None).replace("\n  ", " ");
    if let Some(remedy) = &failure.remedy {
        assert!(text.contains(&remedy.to_string()), "{text}");
    }
    let changes = failure.remedy.iter().flat_map(|remedy| &remedy.changes);
    (failure.kind, changes.map(|(_, order)| *order).collect())
}

#[track_caller]
fn passes(memory: MemoryModel, body: impl Fn() + Sync) {
    let report = explored(memory, body);
    assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
}

fn message(store: Ordering, load: Ordering) {
    let (data, flag) = (Shared::new(0), AtomicBool::new(false));
    let data = &data;
    thread::scope(|scope| {
        scope.spawn(|| {
            data.write(7);
            flag.store(true, store);
        });
        if flag.load(load) {
            assert_eq!(data.read(), 7);
        }
    });
}

fn store_buffering(store: Ordering, load: Ordering) {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    let act = |own: &AtomicU32, other: &AtomicU32| {
        own.store(1, store);
        other.load(load)
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| act(&x, &y));
        let read = act(&y, &x);
        assert!(read + other.join().unwrap() > 0, "both stores wait");
    });
}

fn hand_over(order: Ordering) {
    let (data, turn) = (Shared::new(0), AtomicU32::new(0));
    let (data, turn) = (&data, &turn);
    let take = move || {
        if turn.fetch_add(1, order) == 1 {
            assert_eq!(data.read(), 7);
        }
    };
    thread::scope(|scope| {
        scope.spawn(move || {
            data.write(7);
            take();
        });
        take();
    });
}

#[test]
fn one_place_is_enough() {
    for memory in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso, MemoryModel::C11] {
        assert_eq!(remedy(memory, || message(Relaxed, Acquire)), (FailureKind::DataRace, vec![Release]));
        assert_eq!(remedy(memory, || message(Release, Relaxed)), (FailureKind::DataRace, vec![Acquire]));
        assert_eq!(remedy(memory, || hand_over(Relaxed)), (FailureKind::DataRace, vec![AcqRel]));
        passes(memory, || message(Release, Acquire));
        passes(memory, || hand_over(AcqRel));
    }
}

/// An update needs half of `AcqRel` where it only puts something there, or only takes it.
#[test]
fn half_of_an_update_is_enough() {
    fn by_updates(put: Ordering, take: Ordering) {
        let (data, turn) = (Shared::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                data.write(7);
                turn.fetch_add(1, put);
            });
            if turn.swap(2, take) == 1 {
                data.read();
            }
        });
    }
    for memory in [MemoryModel::Sc, MemoryModel::C11] {
        for (put, take, mends) in [
            (Relaxed, Acquire, vec![Release]),
            (Release, Relaxed, vec![Acquire]),
            (Relaxed, Relaxed, vec![Release, Acquire]),
        ] {
            assert_eq!(remedy(memory, || by_updates(put, take)), (FailureKind::DataRace, mends));
        }
        passes(memory, || by_updates(Release, Acquire));
    }
}

#[test]
fn two_places_are_needed() {
    assert_eq!(remedy(MemoryModel::C11, || message(Relaxed, Relaxed)), (FailureKind::DataRace, vec![Release, Acquire]));
    let both = (FailureKind::Panic, vec![SeqCst, SeqCst]);
    assert_eq!(remedy(MemoryModel::C11, || store_buffering(Release, Acquire)), both);
    passes(MemoryModel::C11, || store_buffering(SeqCst, SeqCst));
    // The machine's loads are strong enough.
    assert_eq!(remedy(MemoryModel::Tso, || store_buffering(Relaxed, Relaxed)), (FailureKind::Panic, vec![SeqCst]));
    passes(MemoryModel::Tso, || store_buffering(SeqCst, Relaxed));
}

/// What fails whatever the orderings are has no remedy, and neither has what takes a fence or a third place.
#[test]
fn nothing_is_said_where_nothing_helps() {
    let lost = || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            (0..2).for_each(|_| drop(scope.spawn(|| x.store(x.load(Relaxed) + 1, Relaxed))));
        });
        assert_eq!(x.load(Relaxed), 2);
    };
    assert_eq!(remedy(MemoryModel::C11, lost), (FailureKind::Panic, vec![]));
    let unordered = || {
        let (data, flag) = (Shared::new(0), AtomicBool::new(false));
        let data = &data;
        thread::scope(|scope| {
            scope.spawn(|| data.write(7));
            flag.store(true, Relaxed);
            data.read();
        });
    };
    assert_eq!(remedy(MemoryModel::C11, unordered), (FailureKind::DataRace, vec![]));
}
