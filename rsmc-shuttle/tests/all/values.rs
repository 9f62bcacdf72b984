//! Random values.

use rsmc_shuttle as shuttle;

use std::collections::BTreeSet;

use shuttle::rand::{Rng, RngCore, rngs::ThreadRng, thread_rng};
use shuttle::scheduler::{DfsScheduler, RandomScheduler};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicBool, Ordering::SeqCst};
use shuttle::{Config, Runner, thread};

use crate::support::{Seen, report, seed};

/// The values that the body and a thread draw in each execution.
fn drawn(run: impl FnOnce(Box<dyn Fn() + Send + Sync>)) -> Seen {
    let seen = Seen::default();
    let noted = seen.clone();
    run(Box::new(move || {
        let theirs = thread::spawn(|| [0; 3].map(|_| thread_rng().r#gen::<u64>())).join().unwrap();
        let ours = [0; 3].map(|_| thread_rng().r#gen::<u64>());
        let all: BTreeSet<u64> = ours.into_iter().chain(theirs).collect();
        assert_eq!(all.len(), 6, "no value comes twice");
        noted.note((ours, theirs));
    }));
    seen
}

#[test]
fn samples_draw_other_values_in_each_execution_and_the_same_ones_from_the_same_seed() {
    let one = drawn(|body| shuttle::check_random_with_seed(body, 1, 30));
    assert_eq!((one.count(), one.values().len()), (30, 30));
    assert_eq!(drawn(|body| shuttle::check_random_with_seed(body, 1, 30)).values(), one.values());
    assert!(drawn(|body| shuttle::check_random_with_seed(body, 2, 30)).values().is_disjoint(&one.values()));
    assert_eq!(drawn(|body| shuttle::check_pct(body, 30, 2)).values().len(), 30);
}

#[test]
fn a_search_has_the_same_values_in_each_execution_or_none() {
    let search = |allowed| move |body| _ = Runner::new(DfsScheduler::new(None, allowed), Config::new()).run(body);
    let text = report(|| _ = drawn(search(false)));
    assert!(text.contains("`check_dfs` has no random values"), "{text}");
    let seen = Seen::default();
    let noted = seen.clone();
    let executions = Runner::new(DfsScheduler::new(None, true), Config::new()).run(move || {
        let lock = Mutex::new(());
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                drop(lock.lock());
                thread_rng().next_u32()
            });
            drop(lock.lock());
            noted.note((thread_rng().next_u32(), thread.join().unwrap()));
        });
    });
    assert_eq!((executions, seen.count(), seen.values().len()), (2, 2, 1));
}

#[test]
fn the_seed_of_a_failure_brings_its_values_back() {
    let unlucky = |noted: Seen| {
        move || {
            let values = [0; 2].map(|_| thread_rng().gen_range(0..10));
            noted.note(values);
            assert_ne!(values[0], 7, "unlucky");
        }
    };
    let seen = Seen::default();
    let text = report(|| shuttle::check_random(unlucky(seen.clone()), 200));
    assert!(text.contains("unlucky"), "{text}");
    let again = Seen::default();
    let replayed = report(|| shuttle::replay(unlucky(again.clone()), &seed(&text)));
    assert!(replayed.contains("unlucky"), "{replayed}");
    assert_eq!(again.values().len(), 1);
    assert!(seen.values().is_superset(&again.values()));
}

#[test]
fn the_traits_of_rand_work() {
    shuttle::check_random(
        || {
            let mut rng = ThreadRng::default();
            assert!((1..=6).contains(&rng.gen_range(1..=6)));
            assert!(rng.gen_bool(1.0) && !rng.gen_bool(0.0));
            assert!((0.0..1.0).contains(&rng.r#gen::<f64>()));
            let mut bytes = [0; 11];
            rng.fill_bytes(&mut bytes);
            assert!(bytes.iter().any(|&byte| byte != 0));
            rng.try_fill_bytes(&mut bytes).unwrap();
            let mut array = [0_u16; 4];
            rng.fill(&mut array);
        },
        20,
    );
    let outside = report(|| _ = thread_rng().next_u64());
    assert!(outside.contains("outside of a check"), "{outside}");
}

/// Rolling until something comes is no waiting, though nothing else changes.
#[test]
fn a_loop_that_draws_ends() {
    let rolls = || {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| stop.store(true, SeqCst));
            while thread_rng().gen_range(0..100) != 7 && !stop.load(SeqCst) {
                thread::yield_now();
            }
            while thread_rng().gen_range(0..100) != 8 {
                thread::yield_now();
                stop.load(SeqCst);
            }
        });
    };
    shuttle::check_random(rolls, 100);
    shuttle::check_pct(rolls, 100, 2);
    Runner::new(DfsScheduler::new(Some(100), true), Config::new()).run(rolls);
}

/// A stream is chosen uniformly: each of ten digits comes first in some of 200 executions.
#[test]
fn all_values_come() {
    let seen = Seen::default();
    let noted = seen.clone();
    Runner::new(RandomScheduler::new(200), Config::new()).run(move || noted.note(thread_rng().gen_range(0..10)));
    assert_eq!(seen.values().len(), 10);
}
