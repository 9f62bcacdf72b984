//! Failing executions, counted by cause.

use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
use rsmc::sync::{Arc, Mutex};
use rsmc::{Config, FailureKind, Verdict, thread};

/// Fails for three reasons: two panics, one of them with different values, and a deadlock.
fn fails_in_three_ways() {
    let (x, locks) = (Arc::new(AtomicU32::new(0)), Arc::new((Mutex::new(0), Mutex::new(0))));
    let (there, others) = (Arc::clone(&x), Arc::clone(&locks));
    let thread = thread::spawn(move || {
        there.store(1, SeqCst);
        there.store(2, SeqCst);
        let _first = others.0.lock().unwrap();
        drop(others.1.lock().unwrap());
    });
    match rsmc::choose(3) {
        0 => assert_eq!(x.load(SeqCst), 0),
        1 => assert!(x.load(SeqCst) < 2, "late"),
        _ => {
            let _first = locks.1.lock().unwrap();
            drop(locks.0.lock().unwrap());
        }
    }
    thread.join().unwrap();
}

#[test]
fn failures_are_counted_by_cause() {
    let config = Config::default().keep_going(true);
    let one = rsmc::explore(&config, fails_in_three_ways);
    let causes: Vec<_> = one.causes.iter().map(|cause| (cause.executions, cause.kind)).collect();
    assert_eq!(causes, [(2, FailureKind::Panic), (1, FailureKind::Panic), (1, FailureKind::Deadlock)]);
    assert_eq!(one.failures, 4);
    for cause in &one.causes {
        let seed = cause.seed.parse().unwrap();
        let again = rsmc::explore(&Config::default().replay(seed), fails_in_three_ways);
        let Verdict::Failed(again) = again.verdict else { panic!("{cause:?}: {:?}", again.verdict) };
        assert_eq!((again.kind, &again.message), (cause.kind, &cause.message));
    }
    let text = rsmc::render(&one, None);
    let rows: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("failures by cause")).take(9).collect();
    let begins = [
        "failures by cause (✗: the one above):",
        "  2 ✗ the test body panicked at tests/causes.rs:",
        "      ",
        "  1   the test body panicked at tests/causes.rs:",
        "      RSMC_REPLAY=r",
        "  1   deadlock: every thread that is left waits for another: ",
        "      ",
        "      ",
    ];
    assert!(rows.iter().zip(begins).all(|(row, begin)| row.starts_with(begin)), "{}", rows.join("\n"));
    let page = rsmc::html(&one, &config, None).unwrap();
    assert!(page.contains("<dt>failures</dt><dd>2 executions: the test body panicked at"), "{page}");
}
