//! Which orderings of a body are needed. What published algorithms are said to need is known; that a weaker ordering is
//! what it says is compared with bodies in which it is written.

mod inner;
mod pairs;
mod specs;
mod workers;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

use rsmc::sync::atomic::{AtomicPtr, AtomicU32, fence};
use rsmc::{Audit, AuditedOrdering, Config, Verdict, thread};

use rsmc_core::session::check_body;
use serde_json::{Value, json};

use crate::examples::algorithms;

/// What is written at a place, and the weakest that the check verifies.
fn found(audit: &Audit) -> Vec<(&str, Ordering, Ordering)> {
    audit.orderings.iter().map(|one| (one.operation, one.written, one.alone)).collect()
}

/// Every claim holds: what is needed fails with its seed, and all that is weaker together verifies and is the weakest.
fn prove(audit: &Audit, body: fn()) {
    assert!(audit.is_complete && audit.failure.is_none(), "{audit}");
    let with = |weakened: &[rsmc::Weakened]| weakened.iter().cloned().fold(Config::default(), Config::weaken);
    for AuditedOrdering { needed, alone, written, .. } in &audit.orderings {
        let Some(needed) = needed else {
            assert_ne!(alone, written, "{audit}");
            continue;
        };
        let report = rsmc::explore(&with(&needed.weakened).replay(needed.seed.clone()), body);
        let Verdict::Failed(failure) = report.verdict else { panic!("{:?} of\n{audit}", report.verdict) };
        assert_eq!((failure.kind, &failure.message), (needed.kind, &needed.message));
        let as_written = rsmc::explore(&Config::default(), body);
        assert!(matches!(as_written.verdict, Verdict::Verified));
    }
    pairs::assert_mutual(audit);
    let together = rsmc::explore(&with(&audit.together), body);
    assert!(
        matches!(together.verdict, Verdict::Verified) && together.notes.is_empty(),
        "{:?}\n{audit}",
        together.notes
    );
}

/// The orderings of an algorithm, in the order of the source, with their operations.
type Written = &'static [(&'static str, Ordering)];

/// Nothing in these is stronger than the check needs.
#[test]
fn what_is_said_to_be_needed_is_needed() {
    let algorithms: [(fn(), Written); 6] = [
        // Boehm 2012.
        (
            algorithms::seqlock::correct,
            &[("fence", Release), ("store", Release), ("load", Acquire), ("fence", Acquire)],
        ),
        // The counts of `Arc`: increments are relaxed.
        (algorithms::ref_count::correct, &[("update", Release), ("fence", Acquire)]),
        (algorithms::spin_lock::correct, &[("store", Release), ("compare_exchange", Acquire)]),
        (
            algorithms::spsc_ring::correct,
            &[("load", Acquire), ("store", Release), ("load", Acquire), ("store", Release)],
        ),
        (algorithms::publish::correct_cell_fenced, &[("fence", Release), ("fence", Acquire)]),
        (
            algorithms::peterson_lock::correct_fenced,
            &[("fence", SeqCst), ("fence", SeqCst), ("store", Release), ("load", Acquire), ("load", Acquire)],
        ),
    ];
    for (body, needed) in algorithms {
        let audit = rsmc::audit(&Config::default(), body);
        let expected: Vec<_> = needed.iter().map(|&(operation, order)| (operation, order, order)).collect();
        assert_eq!(found(&audit), expected, "{audit}");
        assert!(audit.together.is_empty());
        prove(&audit, body);
    }
}

/// Lê, Pop, Cohen and Zappa Nardelli 2013: the fences of the deque are needed.
#[test]
fn larger_algorithms_keep_what_they_need() {
    let fences = |audit: &Audit| {
        let fences = audit.orderings.iter().filter(|one| one.operation == "fence" && one.alone == one.written);
        fences.map(|one| one.written).collect::<Vec<_>>()
    };
    let deque = rsmc::audit(&Config::default(), algorithms::chase_lev::correct);
    assert_eq!(fences(&deque), [Release, SeqCst, SeqCst], "{deque}");
    prove(&deque, algorithms::chase_lev::correct);
    let parking = rsmc::audit(&Config::default(), algorithms::mpsc_parking::correct);
    assert_eq!(fences(&parking), [SeqCst, SeqCst], "{parking}");
    prove(&parking, algorithms::mpsc_parking::correct);
    prove(&rsmc::audit(&Config::default(), algorithms::treiber_stack::correct), algorithms::treiber_stack::correct);
}

/// A message that is published with more than it needs, and a counter whose ordering nobody can tell.
fn too_strong() {
    let (flag, count, data) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(1, Relaxed);
            count.fetch_add(1, AcqRel);
            flag.store(1, SeqCst);
        });
        count.fetch_add(1, SeqCst);
        if flag.compare_exchange(1, 2, SeqCst, SeqCst).is_ok() {
            assert_eq!(data.load(Relaxed), 1);
        }
    });
}

#[test]
fn what_is_too_strong_is_found() {
    let audit = rsmc::audit(&Config::default(), too_strong);
    let expected = [
        ("update", AcqRel, Relaxed),
        ("store", SeqCst, Release),
        ("update", SeqCst, Relaxed),
        ("compare_exchange", SeqCst, Acquire),
        ("compare_exchange", SeqCst, Relaxed),
    ];
    assert_eq!(found(&audit), expected, "{audit}");
    assert!(audit.orderings.iter().all(|one| one.alone == one.together && one.is_exercised));
    assert_eq!(
        audit.orderings.iter().map(|one| one.is_failure).collect::<Vec<_>>(),
        [false, false, false, false, true]
    );
    prove(&audit, too_strong);
}

#[test]
fn what_is_needed_has_a_comment() {
    let audit = rsmc::audit(&Config::default(), too_strong);
    let comments: Vec<String> = audit.orderings.iter().filter_map(AuditedOrdering::comment).collect();
    let begins = ["// Release: pairs with line ", "// Acquire: pairs with line "];
    assert_eq!(comments.len(), begins.len(), "{audit}");
    for (comment, begin) in comments.iter().zip(begins) {
        assert!(comment.starts_with(begin) && comment.contains("; with Relaxed it fails: "), "{comment}");
        assert!(comment.lines().all(|line| line.starts_with("// ") && line.chars().count() <= 80), "{comment}");
        assert!(audit.to_string().contains(comment) && audit.html().contains("a comment for it"), "{audit}");
    }
}

/// It loads and exchanges at one place; the exchange releases.
fn by_an_update() {
    let (flag, data) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(1, Relaxed);
            flag.fetch_update(SeqCst, Relaxed, |flag| Some(flag + 1)).expect("it is always updated");
        });
        if flag.load(Acquire) == 1 {
            assert_eq!(data.load(Relaxed), 1);
        }
    });
}

#[test]
fn an_update_by_a_loop_is_no_load() {
    let audit = rsmc::audit(&Config::default(), by_an_update);
    assert_eq!(found(&audit), [("compare_exchange", SeqCst, Release), ("load", Acquire, Acquire)], "{audit}");
    prove(&audit, by_an_update);
}

/// The load of an update acquires: where it says that nothing is to be done, no exchange is tried.
#[test]
fn the_load_of_an_update_has_the_ordering_of_its_failure() {
    fn body() {
        let (flag, data) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                data.store(1, Relaxed);
                flag.store(1, Release);
            });
            let mut calls = 0;
            let update = |flag| {
                calls += 1;
                (flag == 0).then_some(0)
            };
            if flag.fetch_update(Relaxed, Acquire, update).is_err() && calls == 1 {
                assert_eq!(data.load(Relaxed), 1);
            }
        });
    }
    let audit = rsmc::audit(&Config::default(), body);
    let failure = audit.orderings.iter().find(|one| one.is_failure).expect("an update can fail");
    assert_eq!((failure.written, failure.alone), (Acquire, Acquire), "{audit}");
    prove(&audit, body);
}

/// Either the fence or the `Release` of the store is enough, and one of them is needed.
fn either() {
    let (flag, data) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(1, Relaxed);
            fence(Release);
            flag.store(1, Release);
        });
        if flag.load(Acquire) == 1 {
            assert_eq!(data.load(Relaxed), 1);
        }
    });
}

#[test]
fn what_can_be_weaker_alone_is_not_what_can_be_weaker_together() {
    let audit = rsmc::audit(&Config::default(), either);
    let all: Vec<_> = audit.orderings.iter().map(|one| (one.operation, one.alone, one.together)).collect();
    // A fence costs more, so it goes first.
    assert_eq!(all, [("fence", Relaxed, Relaxed), ("store", Relaxed, Release), ("load", Acquire, Acquire)], "{audit}");
    assert_eq!(audit.orderings[1].needed.as_ref().unwrap().weakened.len(), 2);
    prove(&audit, either);
    let text = audit.to_string();
    assert!(
        text.starts_with("3 orderings are stronger than Relaxed: 1 needed as written, 2 too strong, 0 not exercised\n"),
        "{text}"
    );
    assert!(text.contains("  too strong: no fence is enough\n"), "{text}");
    let beside = "  too strong: Relaxed is enough, but not beside the weaker orderings below\n";
    assert!(text.contains(beside), "{text}");
    assert!(text.contains("  with Relaxed beside the others it fails: the test body panicked at"), "{text}");
}

/// An atomic that one thread uses alone.
fn unshared() {
    let (own, shared) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            own.store(1, Release);
            own.load(SeqCst) + shared.load(Relaxed)
        });
        shared.store(1, Relaxed);
    });
}

#[test]
fn what_one_thread_uses_alone_is_not_exercised() {
    let audit = rsmc::audit(&Config::default(), unshared);
    assert_eq!(found(&audit), [("store", Release, Release), ("load", SeqCst, SeqCst)], "{audit}");
    assert!(audit.orderings.iter().all(|one| !one.is_exercised));
    assert_eq!((audit.checks, audit.together.len()), (1, 0));
}

/// Data in plain memory: no check sees a race there, and the audit says so.
#[test]
fn where_nothing_can_be_told_that_is_said() {
    let audit = rsmc::audit(&Config::default(), || {
        let flag = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| flag.store(1, Release));
            flag.load(Acquire);
        });
    });
    assert!(audit.to_string().contains("\nNo ordering makes a difference here. A check sees races on"), "{audit}");
    let told = rsmc::audit(&Config::default(), either).to_string();
    assert!(!told.contains("No ordering makes a difference"), "{told}");
}

#[test]
fn a_check_that_fails_is_not_audited() {
    let audit = rsmc::audit(&Config::default(), algorithms::seqlock::broken_relaxed_end);
    assert!(audit.to_string().starts_with("no audit of a check that does not verify: it fails as it is: "), "{audit}");
    assert!(audit.together.is_empty() && audit.orderings.iter().all(|one| one.alone == one.written));
}

/// The body of the oracle: a thread that stores and updates and one that reads with these orderings, and what they see.
fn drawn([store, fenced, update, load, success]: [Ordering; 5], failure: Ordering) -> [u32; 4] {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    let (mut seen, mut other) = (0, [0; 3]);
    thread::scope(|scope| {
        scope.spawn(|| {
            x.store(1, store);
            fence(fenced);
            seen = y.swap(1, update) * 10 + y.swap(3, update);
        });
        other[0] = y.load(load);
        other[1] = y.compare_exchange(1, 2, success, failure).unwrap_or_else(|value| 10 + value);
        other[2] = x.load(Relaxed);
    });
    [seen, other[0], other[1], other[2]]
}

/// An ordering that is taken for weaker has the executions of one that is written weaker.
#[test]
fn weaker_is_as_if_it_were_written() {
    let strong = ([SeqCst, SeqCst, SeqCst, SeqCst, SeqCst], SeqCst);
    let executions = |config: &Config, (orders, failure): ([Ordering; 5], Ordering)| {
        let outcomes = rsmc::outcomes(config, || drawn(orders, failure));
        let counts: BTreeMap<[u32; 4], u64> = outcomes.iter().map(|(values, one)| (*values, one.classes)).collect();
        counts
    };
    let audit = rsmc::audit(&Config::default(), || assert!(drawn(strong.0, strong.1)[1] < 4));
    // In the order of the source.
    let slots = [Some(0), Some(1), Some(2), Some(2), Some(3), Some(4), None];
    assert_eq!(audit.orderings.len(), slots.len(), "{audit}");
    let place = |at: usize, order: Ordering| -> rsmc::Weakened {
        let AuditedOrdering { place, is_failure, .. } = &audit.orderings[at];
        format!("{place}{}={order:?}", if *is_failure { "/failure" } else { "" }).parse().unwrap()
    };
    let may_have = |at: usize, order: Ordering| match slots[at] {
        Some(0) => [Relaxed, Release].contains(&order),
        Some(3) | None => [Relaxed, Acquire].contains(&order),
        Some(1) => order != Relaxed,
        _ => true,
    };
    let mut different = 0;
    for mask in 1..1_u32 << slots.len() {
        for order in [Relaxed, Acquire, Release, AcqRel] {
            let changed: Vec<usize> = (0..slots.len()).filter(|at| mask >> at & 1 == 1).collect();
            // Both swaps have one ordering in the body.
            if !changed.iter().all(|&at| may_have(at, order)) || mask >> 2 & 1 != mask >> 3 & 1 {
                continue;
            }
            let (mut orders, mut failure) = strong;
            for &at in &changed {
                *slots[at].map_or(&mut failure, |slot| &mut orders[slot]) = order;
            }
            let weakened = changed.iter().fold(Config::default(), |config, &at| config.weaken(place(at, order)));
            let (taken, written) = (executions(&weakened, strong), executions(&Config::default(), (orders, failure)));
            assert_eq!(taken, written, "{changed:?} with {order:?}");
            different += u32::from(taken != executions(&Config::default(), strong));
        }
    }
    assert!(different > 20, "{different} differ from what is written in the body");
}

#[test]
fn a_place_without_a_stronger_ordering_is_named() {
    let note = "src/nowhere.rs:1:1=Relaxed weakens nothing: no operation there had a stronger ordering";
    let config = Config::default().weaken("src/nowhere.rs:1:1=Relaxed".parse().unwrap());
    assert_eq!(rsmc::explore(&config, too_strong).notes, [note]);
}

/// What `#[rsmc::audit]` says with this list; nothing if the test passes.
fn asserted(allow: &[String], body: fn()) -> String {
    let allow: Vec<&str> = allow.iter().map(String::as_str).collect();
    let assertion = rsmc::__private::Assertion { within: None, allow: &allow };
    let run = || rsmc::__private::run_audit("all::audit::asserted", Config::default(), assertion, body);
    let Err(panic) = std::panic::catch_unwind(run) else { return String::new() };
    panic.downcast_ref::<String>().expect("a report").clone()
}

/// The entries that a failing `#[rsmc::audit]` says could be listed.
fn entries(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| *line != "    #[rsmc::audit(allow = [").skip(1);
    let quoted = lines.map_while(|line| line.trim().strip_prefix('"')?.strip_suffix("\","));
    quoted.map(str::to_owned).collect()
}

/// What a test asserts of its orderings is what an audit finds: what is not minimal has to be listed, and nothing else.
#[test]
fn what_is_not_minimal_has_to_be_listed() {
    let bodies: [(fn(), usize); 5] = [
        (algorithms::seqlock::correct, 0),
        (algorithms::ref_count::correct, 0),
        (either, 2),
        // The orderings of success and failure are those of one call.
        (too_strong, 4),
        (unshared, 2),
    ];
    for (body, calls) in bodies {
        let audit = rsmc::audit(&Config::default(), body);
        let is_minimal = |one: &&AuditedOrdering| one.is_exercised && one.alone == one.written;
        let needed = audit.orderings.iter().filter(is_minimal).count();
        let text = asserted(&[], body);
        let all = entries(&text);
        assert_eq!((all.len(), text.is_empty()), (calls, calls == 0), "{text}");
        if calls > 0 {
            let first = format!("{} of {} orderings are", audit.orderings.len() - needed, audit.orderings.len());
            assert!(text.starts_with(&first) && text.contains("\nverified: "), "{text}");
        }
        assert_eq!(asserted(&all, body), "");
        for left_out in 0..calls {
            let mut others = all.clone();
            let entry = others.remove(left_out);
            assert_eq!(entries(&asserted(&others, body)), [entry]);
        }
        let useless = "tests/audit.rs: Vec::new()".to_owned();
        let text = asserted(&[all, vec![useless]].concat(), body);
        let said = "`allow` has entries that allow nothing: remove them\n  \"tests/audit.rs: Vec::new()\"\n";
        assert!(text.starts_with(said), "{text}");
    }
}

/// The JSON form has what the audit has, field by field, and no other field.
#[test]
fn the_json_form_is_the_audit() {
    let bodies: [fn(); 4] = [either, too_strong, unshared, algorithms::seqlock::broken_relaxed_end];
    for body in bodies {
        let audit = rsmc::audit(&Config::default(), body);
        let text = audit.json();
        assert_eq!(text.lines().count(), 1);
        let json: Value = serde_json::from_str(&text).unwrap();
        let name = |order: Ordering| format!("{order:?}");
        let list = |all: &[rsmc::Weakened]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        let test = "audit::the_json_form_is_the_audit";
        let needed = |needed: &rsmc::Needed| {
            let (seed, weakened) = (needed.seed.to_string(), list(&needed.weakened));
            let variables = format!("RSMC_WEAKEN='{}' RSMC_REPLAY={seed}", weakened.join(","));
            let command = format!("{variables} cargo test {test} -- --exact");
            let kind = format!("{:?}", needed.kind);
            json!({ "weakened": weakened, "kind": kind, "message": needed.message, "seed": seed, "command": command })
        };
        let ordering = |one: &AuditedOrdering| {
            let parts: Vec<&str> = one.place.rsplitn(3, ':').collect();
            let [line, column] = [parts[1], parts[0]].map(|number| number.parse::<u32>().unwrap());
            let verdict = match (one.is_exercised, one.alone == one.written, &one.needed) {
                (false, ..) => "not exercised",
                (true, false, _) => "too strong",
                (true, true, Some(_)) => "needed",
                (true, true, None) => "not tried",
            };
            let mut expected = json!({
                "place": one.place, "file": parts[2], "line": line, "column": column, "operation": one.operation,
                "is_failure": one.is_failure, "written": name(one.written), "verdict": verdict,
                "alone": name(one.alone), "together": name(one.together), "pairs": one.pairs,
            });
            if let Some(failing) = &one.needed {
                expected["needed"] = needed(failing);
            }
            if let Some(comment) = one.comment() {
                expected["comment"] = comment.into();
            }
            expected
        };
        let together = list(&audit.together);
        let mut expected = json!({
            "format": "rsmc-audit", "version": 1, "test": test, "is_complete": true, "notes": [], "checks": audit.checks,
            "orderings": audit.orderings.iter().map(ordering).collect::<Vec<_>>(), "together": together,
            "saved": json["saved"],
        });
        if !together.is_empty() {
            let command = format!("RSMC_WEAKEN='{}' cargo test {test} -- --exact", together.join(","));
            expected["command"] = command.into();
        }
        if let Some(failure) = &audit.failure {
            expected["failure"] = failure.as_str().into();
        }
        assert_eq!(json, expected);
        assert_saved(&audit, &json["saved"]);
    }
}

/// What is saved is what the text says, and is at places of the audit.
fn assert_saved(audit: &Audit, saved: &Value) {
    let text = audit.to_string();
    let said = text.split_once("That saves on usual machines:\n").map_or("", |(_, lines)| lines);
    let said = said.split("\n\n").next().unwrap();
    let places: Vec<&Value> = saved.as_array().unwrap().iter().collect();
    assert_eq!(places.len(), said.lines().count(), "{text}");
    for (saving, line) in places.into_iter().zip(said.lines()) {
        let place = saving["place"].as_str().unwrap();
        assert!(line.trim().starts_with(&format!("{place}  ")), "{line}");
        assert!(audit.orderings.iter().any(|one| one.place == place));
        for change in saving["changes"].as_array().unwrap() {
            let [machine, written] = ["machine", "written"].map(|field| change[field].as_str().unwrap());
            let words = change["weaker"].as_str().map_or(format!("{machine} no {written}"), |weaker| {
                format!("{machine} {weaker} in place of {written}")
            });
            assert!(line.contains(&words), "{words} is not in {line}");
        }
    }
}

/// Says that checks of `inner` that crash do something.
const RUN: &str = "AUDIT_RUN";

/// What was explored with other orderings says nothing.
#[test]
fn a_checkpoint_is_of_a_check_with_the_same_orderings() {
    let config = Config::default();
    let left = check_body(&config, &too_strong, |body| body.check().pulse(Duration::ZERO, |_| false).run_part().1);
    let left = left.unwrap().expect("it was stopped");
    assert_eq!(left.misfit(&config), None);
    let weaker = config.weaken("src/a.rs:1:2=Relaxed".parse().unwrap());
    let why = "it was made with weakened = none, and this check has weakened = src/a.rs:1:2=Relaxed";
    assert_eq!(left.misfit(&weaker).as_deref(), Some(why));
}

/// The pointer is null where the flag is seen without it.
#[cfg(unix)]
#[test]
fn a_crash_says_what_was_weaker() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["audit::inner::dangling", "--exact"]).env("RSMC_AUDIT", "1").env(RUN, "1");
    let output = output.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.contains("rsmc: SIG"), "{text}");
    let command = text.lines().find(|line| line.starts_with("RSMC_REPLAY=")).unwrap_or_else(|| panic!("{text}"));
    assert!(command.contains(" RSMC_WEAKEN='tests/audit/inner.rs:"), "{text}");
    assert!(command.ends_with("=Relaxed' cargo test audit::inner::dangling -- --exact"), "{text}");
}

/// Runs the check of `inner`; returns whether it passes, and all that it prints.
fn run(variables: &[(&str, &str)]) -> (bool, String) {
    run_test("strong", variables)
}

/// Runs a test of `inner`.
fn run_test(name: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&format!("audit::inner::{name}"), "--exact"]).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("1 passed") || text.contains("1 failed"), "{text}");
    (output.status.success(), text)
}

#[test]
fn a_test_is_audited_where_that_is_asked_for() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("audit");
    let _ = std::fs::remove_dir_all(&folder);
    let dir = ("RSMC_REPORT_DIR", folder.to_str().unwrap());
    let (passed, text) = run(&[("RSMC_AUDIT", "30s"), dir]);
    let said =
        "rsmc: audit::inner::strong: 5 orderings are stronger than Relaxed: 0 needed as written, 5 too strong, 0 not";
    assert!(passed && text.contains(said), "{text}");
    let audit = std::fs::read_to_string(folder.join("all.audit.inner.strong.audit.txt")).unwrap();
    let all = std::fs::read_to_string(folder.join("all.audit.txt")).unwrap();
    assert!(all.starts_with("1 test\n5 orderings are stronger than Relaxed: "), "{all}");
    let json = |name: &str| {
        let text = std::fs::read_to_string(folder.join(format!("{name}.audit.json"))).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let (one, together) = (json("all.audit.inner.strong"), json("all"));
    assert_eq!(one["test"], "audit::inner::strong");
    assert_eq!(together["tests"], json!({ "audited": 1, "not_audited": 0 }));
    assert_eq!(one["orderings"], together["orderings"]);
    for (name, title) in
        [("all.audit.inner.strong", "audit: orderings of audit::inner::strong"), ("all", "audit: orderings")]
    {
        let page = std::fs::read_to_string(folder.join(format!("{name}.audit.html"))).unwrap();
        assert!(
            page.contains(&format!("<title>{title}</title>")) && page.contains(".<b>compare_exchange</b>("),
            "{page}"
        );
    }
    // The commands of the audit fail, and say what a replay of theirs needs.
    let command = audit.lines().find_map(|line| line.trim().strip_prefix("RSMC_WEAKEN=")).unwrap();
    let (weaken, rest) = command.split_once(" RSMC_REPLAY=").unwrap();
    let (seed, cargo) = rest.split_once(' ').unwrap();
    assert_eq!(cargo, "cargo test audit::inner::strong -- --exact");
    let weaken = weaken.trim_matches('\'');
    let (passed, text) = run(&[("RSMC_WEAKEN", weaken), ("RSMC_REPLAY", seed)]);
    assert!(!passed && text.contains(&format!("note: orderings are weaker than written: {weaken}")), "{text}");
    assert!(text.contains(&format!("RSMC_REPLAY={seed} RSMC_WEAKEN='{weaken}' {cargo}")), "{text}");
    assert!(!run(&[("RSMC_WEAKEN", weaken)]).0 && run(&[("RSMC_AUDIT", "0")]).0);
}

/// `stronger` fails as its `should_panic` says only if it is audited.
#[test]
fn an_assertion_is_looked_at_unless_the_environment_says_otherwise() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("asserted");
    let _ = std::fs::remove_dir_all(&folder);
    let dir = ("RSMC_REPORT_DIR", folder.to_str().unwrap());
    let is_there = |file: &str| folder.join(file).exists();
    assert!(run_test("minimal", &[dir]).0 && !is_there("all.audit.inner.minimal.audit.txt"));
    assert!(run_test("stronger", &[dir]).0 && is_there("all.audit.inner.stronger.audit.txt"));
    assert!(!is_there("all.audit.txt"));
    assert!(run_test("listed", &[dir, ("RSMC_AUDIT", "20s")]).0 && is_there("all.audit.txt"));
    assert!(!run_test("stronger", &[dir, ("RSMC_AUDIT", "0")]).0);
    for (variable, why) in [
        (("RSMC_MEMORY", "sc"), "not audited: orderings make a difference under `c11` only"),
        (("RSMC_WEAKEN", "src/a.rs:1:2=Relaxed"), "not audited: orderings are weaker than written"),
    ] {
        let (passed, text) = run_test("stronger", &[dir, variable]);
        assert!(!passed && text.contains(why), "{text}");
    }
    let (_, text) = run_test("stronger", &[dir, ("RSMC_ANNOTATE", "github")]);
    assert!(text.contains(",title=audit in audit%3A%3Ainner%3A%3Astronger::5 of 5 orderings are stronger"), "{text}");
}

#[test]
fn mistakes_are_named() {
    let (passed, text) = run(&[("RSMC_AUDIT", "soon")]);
    assert!(!passed && text.contains("`RSMC_AUDIT` must be a duration such as `500ms`"), "{text}");
    let (passed, text) = run(&[("RSMC_WEAKEN", "src/a.rs:1=Relaxed")]);
    assert!(
        !passed && text.contains("`RSMC_WEAKEN`: an ordering to weaken is written as `src/queue.rs:41:20=Relaxed`")
    );
    let (passed, text) = run(&[("RSMC_AUDIT", "1"), ("RSMC_MEMORY", "sc")]);
    assert!(passed && text.contains("not audited: orderings make a difference under `c11` only"), "{text}");
}
