//! Checks of specifications in processes of their own: what they print, and what variables make of them.

use std::time::Duration;

use rsmc::Config;
use rsmc::spec::Spec;
use rsmc::sync::atomic::AtomicU32;
use rsmc::sync::atomic::Ordering::Relaxed;

use crate::support::child::{self, Ended};

/// A maximum that is looked at and set in two steps.
fn maximum() -> Spec<AtomicU32, u32> {
    let raise = |it: &AtomicU32, &to: &u32| {
        if it.load(Relaxed) < to {
            it.store(to, Relaxed);
        }
    };
    Spec::new(|| AtomicU32::new(0), || 0).op("raise", [1, 2], raise, |maximum, &to| *maximum = to.max(*maximum)).op0(
        "get",
        |it| it.load(Relaxed),
        |maximum| *maximum,
    )
}

/// Nothing is shared.
fn nothing() -> Spec<(), ()> {
    Spec::new(|| (), || ()).op0("nothing", |()| (), |()| ()).calls(2)
}

/// The process dies in it.
fn aborts() -> Spec<AtomicU32, ()> {
    let abort = |it: &AtomicU32| {
        if it.fetch_add(1, Relaxed) == 1 {
            std::process::abort();
        }
    };
    Spec::new(|| AtomicU32::new(0), || ()).op0("get", |_| (), |()| ()).op0("abort", abort, |()| ())
}

mod checks {
    use super::*;

    #[test]
    fn of_maximum() {
        if child::case().is_some() {
            maximum().check();
        }
    }

    #[test]
    fn of_nothing() {
        if child::case().is_some() {
            nothing().check();
        }
    }

    #[test]
    fn that_aborts() {
        if child::case().is_some() {
            aborts().check();
        }
    }

    #[test]
    fn without_time() {
        if child::case().is_some() {
            maximum().budget(Duration::ZERO).check();
        }
    }

    /// Wrong only with three calls, for which there is no time.
    #[test]
    fn that_takes_long() {
        if child::case().is_some() {
            let slow = |it: &AtomicU32, &to: &u32| {
                std::thread::sleep(Duration::from_millis(20));
                it.store(to, Relaxed);
            };
            Spec::new(|| AtomicU32::new(0), || 0)
                .op("set", [1], slow, |it, &to| *it = to)
                .op0("get", |it| it.load(Relaxed), |it| *it)
                .budget(Duration::from_millis(1500))
                .check();
        }
    }

    /// The scenario that fails, kept as the report says.
    #[test]
    fn of_one_scenario() {
        if child::case().is_some() {
            rsmc::check_with(Config::default(), || maximum().execute("raise(2), get() | raise(1)"));
        }
    }
}

#[track_caller]
fn run(test: &str, variables: &[(&str, &str)]) -> Ended {
    child::run(&format!("spec::processes::checks::{test}"), "spec", variables, Duration::from_secs(60)).unwrap()
}

/// The values of the variables in the command of a report.
fn command(report: &str) -> (String, String) {
    let line = report.lines().find(|line| line.starts_with("RSMC_REPLAY=")).unwrap_or_else(|| panic!("{report}"));
    let (seed, rest) = line.strip_prefix("RSMC_REPLAY=").unwrap().split_once(" RSMC_SCENARIO='").unwrap();
    let (scenario, rest) = rest.split_once("' cargo test ").unwrap();
    assert!(rest.starts_with("spec::processes::checks::") && rest.ends_with(" -- --exact"), "{line}");
    (seed.to_owned(), scenario.to_owned())
}

#[test]
fn a_scenario_that_fails_is_told_kept_and_replayed() {
    let failed = run("of_maximum", &[]);
    let report = &failed.stderr;
    assert!(!failed.status.success(), "{report}");
    let headline = "panic: not linearizable: no order of these calls gives these results";
    for part in [
        headline,
        "thread 1  │ thread 2\n",
        "raise(2)  │ raise(1)\n",
        "get() → 1 │\n",
        "the order that comes closest:\n",
        "  get() → 1   the model: 2\n",
        "#[rsmc::test]\nfn raise_get_and_raise() {\n    spec().execute(\"raise(2), get() | raise(1)\");\n}\n",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let wide: Vec<&str> = report.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.iter().all(|line| line.starts_with("RSMC_REPLAY=") || line.contains("panicked at")), "{wide:#?}");

    let (seed, scenario) = command(report);
    assert_eq!(scenario, "raise(2), get() | raise(1)");
    let again = run("of_maximum", &[("RSMC_REPLAY", &seed), ("RSMC_SCENARIO", &scenario)]);
    assert!(again.stderr.contains(headline) && again.stderr.contains("found after 1 execution (1 run,"), "{again:?}");
    assert_eq!(command(&again.stderr), (seed, scenario.clone()), "the same command once more");
    // All executions of the scenario, and the test to keep.
    let alone = run("of_maximum", &[("RSMC_SCENARIO", &scenario)]);
    assert!(alone.stderr.contains(headline) && !alone.stderr.contains("(1 run,"), "{alone:?}");
    assert_eq!(command(&alone.stderr).1, scenario);
    assert!(run("of_one_scenario", &[]).stderr.contains(headline));
    let other = run("of_maximum", &[("RSMC_SCENARIO", "raise(1) !a | ?a get()")]);
    assert!(other.status.success() && other.stdout.contains("verified: "), "{other:?}");
}

#[test]
fn variables_that_do_not_fit_are_errors() {
    let said = |variables: &[(&str, &str)]| {
        let ended = run("of_maximum", variables);
        assert!(!ended.status.success());
        ended.said()
    };
    let alone = said(&[("RSMC_REPLAY", "rsmc3-Pmf2bCB6Cxn_3Ss")]);
    assert!(alone.contains("RSMC_REPLAY has an execution of one scenario: set RSMC_SCENARIO, too"), "{alone}");
    let wrong = said(&[("RSMC_SCENARIO", "raise(3)")]);
    assert!(
        wrong.contains("RSMC_SCENARIO: there is no call at `raise(3)`; known are raise(1), raise(2), get()"),
        "{wrong}"
    );
}

#[test]
fn a_check_says_how_far_it_came() {
    let nothing = run("of_nothing", &[]);
    assert!(
        !nothing.status.success() && nothing.said().contains("nothing shared: no atomic, lock or cell"),
        "{nothing:?}"
    );
    let none = run("without_time", &[]);
    assert!(!none.status.success() && none.said().contains("incomplete, NOT a proof: raise the time"), "{none:?}");
    let long = run("that_takes_long", &[]);
    let said = child::in_one_line(&long.stdout);
    assert!(long.status.success(), "{long:?}");
    assert!(said.contains("verified so far: all ") && said.contains("the time was over"), "{said}");
    assert!(long.said().contains("that_takes_long: verified in part: all "), "{long:?}");
    let strict = run("that_takes_long", &[("RSMC_INCOMPLETE", "fail")]);
    assert!(!strict.status.success() && strict.said().contains("a check that is not complete fails"), "{strict:?}");
    let raised = run("that_takes_long", &[("RSMC_MAX_DURATION", "1ms")]);
    assert!(!raised.status.success() && raised.said().contains("NOT a proof"), "{raised:?}");
}

/// A process that dies has said how to come there again.
#[cfg(unix)]
#[test]
fn last_words_have_the_scenario() {
    let ended = run("that_aborts", &[]);
    let (seed, scenario) = command(&ended.stderr);
    assert_eq!(scenario, "abort(), abort()");
    let again = run("that_aborts", &[("RSMC_REPLAY", &seed), ("RSMC_SCENARIO", &scenario)]);
    assert_eq!(command(&again.stderr), (seed, scenario));
}
