//! Limits are looked at while an explorer thinks, and not only between executions.

use std::collections::BTreeSet;
use std::sync::Mutex as StdMutex;
use std::time::{Duration, Instant};

use crate::support::{child, pairs};
use rsmc::sync::Mutex;
use rsmc::{Config, Explorer, Limit, Verdict, choose, thread};
use rsmc_core::session::check_body;

/// Threads that hardly have anything to do with each other: one class, and a number of read-cuts that is exponential in
/// theirs.
fn apart() {
    let locks: Vec<_> = (0..14).map(|_| Mutex::new(0)).collect();
    thread::scope(|scope| {
        for me in 0..14 {
            let locks = &locks;
            scope.spawn(move || {
                for _ in 0..3 {
                    *locks[me].lock().unwrap() += 1;
                    drop(locks[me ^ 1].try_lock());
                }
            });
        }
    });
}

#[allow(dead_code, reason = "one of them takes long")]
mod programs {
    use rsmc::hint::spin_loop;
    use rsmc::sync::atomic::{AtomicU32, Ordering, Ordering::SeqCst};
    use rsmc::sync::{Arc, Mutex};
    use rsmc::thread::{JoinHandle, spawn};

    const ORDER: Ordering = SeqCst;
    include!("programs/bodies.rs");
    include!("programs/papers.rs");
}

#[test]
fn a_limit_of_time_is_kept_while_an_explorer_thinks() {
    let filesystem = || programs::filesystem(14);
    let cases: [(_, &(dyn Fn() + Sync)); 3] =
        [(Explorer::View, &apart), (Explorer::ReadsValueFrom, &apart), (Explorer::View, &filesystem)];
    for (explorer, body) in cases {
        let (limit, start) = (Duration::from_millis(300), Instant::now());
        let config = Config::default().explorer(explorer).max_duration(limit);
        let report = rsmc::explore(&config, body);
        assert!(matches!(report.verdict, Verdict::Incomplete(Limit::Duration(_))), "{explorer:?}: {report:?}");
        assert!(start.elapsed() < 10 * limit, "{explorer:?}: {:?}", start.elapsed());
    }
}

/// The memory grows with the read-cuts that `view` has found, of which it keeps the names. Other tests that run in this
/// process take memory, too.
#[test]
#[cfg(target_os = "linux")]
fn a_check_stops_before_it_takes_all_memory() {
    let now = rsmc_core::session::resident_memory(None).expect("Linux says it");
    let config = Config::default().explorer(Explorer::View).max_memory(now + (64 << 20));
    let report = rsmc::explore(&config, apart);
    assert!(matches!(report.verdict, Verdict::Incomplete(Limit::Memory(_))), "{report:?}");
    let text = rsmc::render(&report, None);
    assert!(text.contains("incomplete, NOT a proof: stopped at max_memory = "), "{text}");
    assert!(text.contains("- raise it: RSMC_MAX_MEMORY="), "{text}");
}

#[test]
fn who_looks_at_a_check_is_asked_while_an_explorer_thinks() {
    let (start, mut asked) = (Instant::now(), 0);
    let mut pulse = |_: &_| {
        asked += 1;
        asked < 5
    };
    let config = Config::default().explorer(Explorer::View);
    let every = Duration::from_millis(50);
    let report = check_body(&config, &apart, |body| body.check().pulse(every, &mut pulse).run()).unwrap();
    assert!(matches!(report.verdict, Verdict::Incomplete(Limit::Interrupted)), "{report:?}");
    // On a busy machine it took more than three; the explorer would think for minutes.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

/// No check can try all of them, and the first few are there at once.
#[test]
fn a_choice_of_very_many_values_begins_at_once() {
    for config in pairs() {
        let (start, seen) = (Instant::now(), StdMutex::new(BTreeSet::new()));
        let report = rsmc::explore(&config.clone().max_executions(20), || {
            seen.lock().unwrap().insert(choose(usize::MAX));
        });
        assert!(matches!(report.verdict, Verdict::Incomplete(_)), "{config:?}: {report:?}");
        assert_eq!(seen.into_inner().unwrap().len(), 20, "{config:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{config:?}: {:?}", start.elapsed());
    }
}

/// The executions that are still to come take no memory.
#[test]
#[cfg(target_os = "linux")]
fn a_choice_of_very_many_values_takes_little_memory() {
    const TEST: &str = "limits::a_choice_of_very_many_values_takes_little_memory";
    child::alone(TEST, Duration::from_secs(60), || {
        let resident = || rsmc_core::session::resident_memory(None).expect("Linux says it");
        for config in pairs() {
            let before = resident();
            let config = config.max_duration(Duration::from_secs(1));
            let report = rsmc::explore(&config, || _ = choose(usize::MAX));
            assert!(matches!(report.verdict, Verdict::Incomplete(Limit::Duration(_))), "{config:?}: {report:?}");
            let more = resident().saturating_sub(before) >> 20;
            assert!(more < 32, "{config:?}: {more} MiB for {} executions", report.executions);
        }
    });
}

/// Each value once, also where it is chosen in several steps.
#[test]
fn every_value_is_chosen_once() {
    const STEP: usize = 1 << 12;
    for explorer in [Explorer::ReadsFrom, Explorer::Exhaustive] {
        for of in [1, 2, STEP - 1, STEP, STEP + 1, 2 * STEP, 2 * STEP + 1] {
            let seen = StdMutex::new(Vec::new());
            let config = Config::default().explorer(explorer).allow_trivial(true);
            let report = rsmc::explore(&config, || seen.lock().unwrap().push(choose(of)));
            assert!(matches!(report.verdict, Verdict::Verified), "{report:?}");
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert!(seen.iter().copied().eq(0..of), "{explorer:?} {of}: {} values", seen.len());
        }
    }
}
