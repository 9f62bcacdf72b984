//! `rsmc::outcomes`: all results of a body, each with its classes and a seed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::support::shared::Shared;
use rsmc::sync::Mutex;
use rsmc::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use rsmc::{Config, Explorer, FailureKind, Limit, MemoryModel, Outcomes, Verdict, outcomes, thread};

const MODELS: [MemoryModel; 4] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso, MemoryModel::C11];

fn store_buffering(order: Ordering) -> (u32, u32) {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    let other = |own: &AtomicU32, other: &AtomicU32| {
        own.store(1, order);
        other.load(if order == Ordering::Release { Ordering::Acquire } else { order })
    };
    thread::scope(|scope| {
        let a = scope.spawn(|| other(&x, &y));
        let b = scope.spawn(|| other(&y, &x));
        (a.join().unwrap(), b.join().unwrap())
    })
}

/// A flag, and a cell that is written before it is set.
fn message() -> Option<u32> {
    let (data, flag) = (Shared::new(0), AtomicBool::new(false));
    let data = &data;
    thread::scope(|scope| {
        scope.spawn(|| {
            data.write(7);
            flag.store(true, Ordering::Release);
        });
        flag.load(Ordering::Acquire).then(|| data.read())
    })
}

fn two_locks() -> u32 {
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    thread::scope(|scope| {
        scope.spawn(|| *a.lock().unwrap() += *b.lock().unwrap() + 1);
        *a.lock().unwrap() + *b.lock().unwrap()
    })
}

fn message_of<T: Ord>(expectation: impl FnOnce() -> T) -> String {
    let payload = catch_unwind(AssertUnwindSafe(|| drop(expectation()))).unwrap_err();
    payload.downcast_ref::<String>().cloned().unwrap_or_else(|| (*payload.downcast_ref::<&str>().unwrap()).to_owned())
}

/// Every result has classes, all classes have a result, and every seed gives the result that it stands for.
fn hold_together<T: Ord + Send + std::fmt::Debug>(found: &Outcomes<T>, config: &Config, body: impl Fn() -> T + Sync) {
    assert!(found.iter().all(|(_, outcome)| outcome.classes > 0));
    let classes: u64 = found.iter().map(|(_, outcome)| outcome.classes).sum();
    assert_eq!(classes, found.report().executions, "every execution returns");
    for (result, outcome) in found.iter() {
        let again = outcomes(&config.clone().replay(outcome.seed.to_string().parse().unwrap()), &body);
        assert!(again.values().eq([result]), "{result:?}: {again:?}");
    }
}

#[test]
fn store_buffers_are_seen() {
    for memory in MODELS {
        for order in [Ordering::Relaxed, Ordering::Release, Ordering::SeqCst] {
            let config = Config::default().memory(memory);
            let found = outcomes(&config, || store_buffering(order));
            let weak = memory != MemoryModel::Sc && order != Ordering::SeqCst;
            let expected = [(0, 1), (1, 0), (1, 1), (0, 0)];
            assert_eq!(found, expected[..3 + usize::from(weak)], "{memory} {order:?}");
            hold_together(&found, &config, || store_buffering(order));
        }
    }
}

/// `view` starts over when it sees that a cell is shared: what it saw before must not count.
#[test]
fn what_was_seen_before_a_new_start_does_not_count() {
    for explorer in [Explorer::ReadsFrom, Explorer::View, Explorer::ReadsValueFrom, Explorer::Exhaustive] {
        let config = Config::default().memory(MemoryModel::Sc).explorer(explorer);
        let found = outcomes(&config, message);
        assert_eq!(found, [None, Some(7)], "{explorer}");
        hold_together(&found, &config, message);
    }
}

#[test]
fn several_classes_may_give_one_result() {
    let body = || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            (1..=2).for_each(|value| {
                drop(scope.spawn({
                    let x = &x;
                    move || x.swap(value, Ordering::SeqCst)
                }))
            });
        });
    };
    let found = outcomes(&Config::default(), body);
    assert_eq!(found.get(&()).unwrap().classes, 2, "both orders of the updates");
    assert_eq!(found.to_string().lines().next(), Some("result  classes  seed"));
}

#[test]
fn an_execution_that_does_not_return_has_no_result() {
    let config = Config::default().keep_going(true);
    let found = outcomes(&config, two_locks);
    assert_eq!(found, [0, 1]);
    let Verdict::Failed(failure) = &found.report().verdict else { panic!("{found}") };
    assert_eq!(failure.kind, FailureKind::Deadlock);
    let text = message_of(|| found.always("small", |&sum| sum < 2).values().count());
    assert!(
        text.contains("so far it is so, but not every execution has a result") && text.contains("deadlock"),
        "{text}"
    );
    found.sometimes("the other thread was first", |&sum| sum == 1);
}

#[test]
fn expectations_name_what_they_miss() {
    let found = outcomes(&Config::default().memory(MemoryModel::Tso), || store_buffering(Ordering::Relaxed));
    found.always("bits", |&(a, b)| a < 2 && b < 2).sometimes("both stores wait", |&both| both == (0, 0));
    let never = message_of(|| found.never("both are 0", |&both| both == (0, 0)).values().count());
    let seed = &found.get(&(0, 0)).unwrap().seed;
    assert!(never.starts_with("expected never: both are 0; not so for (0, 0)") && never.contains(&seed.to_string()));
    let sometimes = message_of(|| found.sometimes("a is 2", |&(a, _)| a == 2).values().count());
    assert!(sometimes.contains("there is no such result") && sometimes.contains("(1, 1)"), "{sometimes}");
}

/// What was not explored may be otherwise.
#[test]
fn nothing_is_always_so_before_the_end() {
    let config = Config::default().max_executions(1);
    let found = outcomes(&config, || store_buffering(Ordering::SeqCst));
    assert!(matches!(found.report().verdict, Verdict::Incomplete(Limit::Executions(1))));
    let text = message_of(|| found.always("anything", |_| true).values().count());
    assert!(text.contains("so far it is so"), "{text}");
}
