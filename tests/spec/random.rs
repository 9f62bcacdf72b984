//! Random scenarios: what only large ones show is found, and is shown as a small one.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rsmc::spec::{Spec, SpecReport, opaque};
use rsmc::sync::Mutex;
use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
use rsmc::{Config, Verdict};

use crate::spec::NEVER_OVER;

/// A counter that stops at some number, though its model does not.
fn saturating(most: u32) -> Spec<AtomicU32, u32> {
    let inc = move |n: &AtomicU32| n.fetch_add(1, SeqCst).min(most);
    Spec::new(|| AtomicU32::new(0), || 0).op0("inc", inc, |m| std::mem::replace(m, *m + 1)).budget(NEVER_OVER)
}

fn scenario(report: &SpecReport) -> &str {
    report.scenario.as_deref().unwrap_or_else(|| panic!("{report}"))
}

#[test]
fn a_mistake_of_large_scenarios_is_shown_in_a_small_one() {
    for most in 3..6 {
        assert!(saturating(most).calls(3).explore().is_complete());
        let report = saturating(most).calls(3).random(50).explore();
        let calls = vec!["inc()"; most as usize + 2].join(", ");
        assert_eq!(scenario(&report), calls);
        assert!(report.drawn.is_some_and(|drawn| drawn.verified < drawn.scenarios), "{report}");
    }
    // More than four calls more are not drawn.
    let report = saturating(7).calls(3).random(50).explore();
    assert!(report.scenario.is_none() && report.is_complete(), "{report}");
}

/// A queue for one producer; the third value in it is lost if the second one was taken meanwhile.
#[derive(Default)]
struct Losing(Mutex<(VecDeque<u32>, u32)>);

impl Losing {
    fn push(&self, value: u32) {
        let mut inner = self.0.lock().unwrap();
        let (queue, taken) = &mut *inner;
        if (queue.len(), *taken) != (2, 1) {
            queue.push_back(value);
        }
    }

    fn pop(&self) -> Option<u32> {
        let mut inner = self.0.lock().unwrap();
        let value = inner.0.pop_front();
        inner.1 += u32::from(value.is_some());
        value
    }
}

fn losing(queue: fn(&Losing, u32)) -> Spec<Losing, VecDeque<u32>> {
    Spec::new(Losing::default, VecDeque::new)
        .op("push", opaque(1..), move |it, &value| queue(it, value), |model, &value| model.push_back(value))
        .op0("pop", Losing::pop, VecDeque::pop_front)
        .on_one_thread(["push"])
        .budget(NEVER_OVER)
}

/// Eight calls show it: four are pushed, and what is behind is missed.
#[test]
fn a_scenario_that_fails_is_made_as_small_as_can_be() {
    let report = losing(Losing::push).calls(4).threads(2).random(2_000).explore();
    let text = scenario(&report);
    assert_eq!((text.matches("push").count(), text.matches("pop").count()), (4, 4), "{text}");
    let pushers = text.split('|').filter(|thread| thread.contains("push")).count();
    assert_eq!(pushers, 1, "{text}");
}

#[test]
fn right_structures_are_verified_and_the_same_scenarios_are_drawn_each_time() {
    let right = || losing(|it, value| it.0.lock().unwrap().0.push_back(value)).random(20);
    let explore = |spec: Spec<Losing, VecDeque<u32>>| {
        let report = spec.calls(3).explore();
        assert!(report.scenario.is_none() && report.is_complete(), "{report}");
        report
    };
    let reports = [(); 2].map(|()| explore(right()));
    let [one, other] = reports.each_ref().map(|report| (report.drawn.unwrap(), report.report.executions));
    assert_eq!(one, other);
    let drawn = one.0;
    let figures = (drawn.scenarios, drawn.verified, drawn.fewest_calls, drawn.most_calls);
    assert_eq!(figures, (20, 20, 4, 7), "{}", reports[0]);
    assert!(reports[0].to_string().replace("\n  ", " ").contains("20 of 20 random ones with 4 to 7 calls"));
    let others = explore(right().config(Config::default().seed(7)));
    assert_ne!(others.report.executions, one.1, "other scenarios");
}

/// There are only so many.
#[test]
fn no_scenario_is_drawn_twice() {
    let report = saturating(100).calls(2).threads(2).random(1_000).explore();
    // By their number of calls, from 3 to 6: two threads share them, and which one has more makes no difference.
    assert_eq!(report.drawn.unwrap().scenarios, 1 + 2 + 2 + 3, "{report}");
}

/// The last half of the time is theirs, whatever the others take.
#[test]
fn random_scenarios_have_half_of_the_time() {
    let begun = Instant::now();
    let right = losing(|it, value| it.0.lock().unwrap().0.push_back(value));
    let report = right.calls(8).random(5).budget(Duration::from_secs(2)).explore();
    assert!(report.drawn.is_some_and(|drawn| drawn.scenarios > 1) && !report.is_complete(), "{report}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?} {report}", begun.elapsed());
}

#[rsmc::spec(calls = 2, random = 5)]
mod counter {
    use super::*;

    pub(super) fn new() -> AtomicU32 {
        AtomicU32::new(0)
    }

    #[op(call = |n| n.fetch_add(1, SeqCst))]
    fn inc(model: &mut u32) -> u32 {
        std::mem::replace(model, *model + 1)
    }
}

#[test]
fn the_attribute_asks_for_them() {
    assert_eq!(counter::spec().explore().drawn.unwrap().scenarios, 5);
}

/// A failure is one however little time is left to make it smaller.
#[test]
fn a_failure_stays_when_there_is_no_time_to_make_it_smaller() {
    for budget in [1, 3, 10, 30] {
        let report = saturating(3).calls(3).random(50).budget(Duration::from_millis(budget)).explore();
        let fails = matches!(report.report.verdict, Verdict::Failed(_));
        assert_eq!(report.scenario.is_some(), fails, "{report}");
    }
}

/// Random scenarios that are stopped leave the verdict about the others as it is.
#[test]
fn stopped_random_scenarios_take_nothing_from_the_verdict() {
    let right = losing(|it, value| it.0.lock().unwrap().0.push_back(value));
    let limited = right.calls(2).random(30).config(Config::default().max_executions(20)).explore();
    let drawn = limited.drawn.unwrap();
    assert!(drawn.verified < drawn.scenarios && limited.is_complete(), "{limited}");
    assert!(matches!(limited.report.verdict, Verdict::Verified), "{limited}");
}
