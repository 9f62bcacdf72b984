//! The places that synchronise, and what a test would do that needs an ordering.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use rsmc::sync::atomic::{AtomicU32, fence};
use rsmc::{Audit, AuditedOrdering, Config, thread};

use super::{either, unshared};
use crate::examples::algorithms;

/// Pairs are mutual, and what is needed to acquire or to release has one.
pub(super) fn assert_mutual(audit: &Audit) {
    let mut all = audit.orderings.iter();
    for one in all.clone() {
        for place in &one.pairs {
            let is_mutual = |other: &AuditedOrdering| other.place == *place && other.pairs.contains(&one.place);
            assert!(all.clone().any(is_mutual), "{} with {place} in\n{audit}", one.place);
        }
    }
    let lacks_one = |one: &AuditedOrdering| one.pairs.is_empty() && one.needed.is_some() && one.written != SeqCst;
    assert!(!all.any(lacks_one), "{audit}");
}

/// What a thread publishes by a store, and another passes on by an update that neither acquires nor releases.
fn sequence() {
    let (flag, data) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(1, Relaxed);
            flag.store(1, Release);
        });
        scope.spawn(|| flag.fetch_add(2, Relaxed));
        if flag.load(Relaxed) == 3 {
            fence(Acquire);
            assert_eq!(data.load(Relaxed), 1);
        }
        if flag.compare_exchange(3, 4, AcqRel, Acquire).is_ok() {
            assert_eq!(data.load(Relaxed), 1);
        }
    });
}

/// For each ordering the numbers of those at the places with which it synchronises; of two at one place the first.
fn pairs(body: fn()) -> Vec<Vec<usize>> {
    let audit = rsmc::audit(&Config::default(), body);
    assert_mutual(&audit);
    let place = |one: &AuditedOrdering| one.place.clone();
    let places: Vec<String> = audit.orderings.iter().map(place).collect();
    let number = |place: &String| places.iter().position(|other| other == place).unwrap();
    audit.orderings.iter().map(|one| one.pairs.iter().map(number).collect()).collect()
}

#[test]
fn the_places_that_synchronise_are_named() {
    assert_eq!(pairs(either), [vec![2], vec![2], vec![0, 1]]);
    // The update that neither acquires nor releases is a part of the release sequence.
    assert_eq!(pairs(sequence), [vec![1, 2], vec![0], vec![0], vec![0]]);
    assert_eq!(pairs(algorithms::publish::correct_cell_fenced), [vec![1], vec![0]]);
    assert!(pairs(unshared).concat().is_empty());
}

/// Data that nobody looks at.
fn unread() {
    let flag = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| flag.store(1, Release));
        flag.load(Acquire);
    });
}

/// A flag that nobody sets.
fn unset() {
    let flag = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| flag.load(Acquire));
        flag.load(Acquire);
    });
}

#[test]
fn what_a_test_would_do_that_needs_an_ordering_is_said() {
    let looks = "; a test that needs it looks, behind the acquire, at what was written before the release";
    let synchronises = "pairs with nothing: in no execution does it synchronise two threads; a test that needs it has";
    let two = "that use the atomic; add a test that has";
    // A test needs the load, so it looks at the data; the fence and the store are enough each.
    let cases: [(fn(), [usize; 3]); 4] =
        [(unread, [2, 0, 0]), (unset, [0, 2, 0]), (unshared, [0, 0, 2]), (either, [0, 0, 0])];
    for (body, expected) in cases {
        let text = rsmc::audit(&Config::default(), body).to_string();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!([looks, synchronises, two].map(|words| text.matches(words).count()), expected, "{text}");
    }
}
