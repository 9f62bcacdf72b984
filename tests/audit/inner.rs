//! Tests that others run in processes of their own.

use super::*;

#[rsmc::test(allow_trivial = true)]
fn dangling() {
    if std::env::var_os(RUN).is_none() {
        return;
    }
    let (flag, place, value) = (AtomicU32::new(0), AtomicPtr::new(std::ptr::null_mut()), Box::new(1));
    thread::scope(|scope| {
        scope.spawn(|| {
            place.store((&raw const *value).cast_mut(), Relaxed);
            flag.store(1, Release);
        });
        if flag.load(Acquire) == 1 {
            // SAFETY: it was stored before the flag, and lives until the threads have ended.
            assert_eq!(unsafe { *place.load(Relaxed) }, 1);
        }
    });
}

/// A check for a process of its own.
#[rsmc::test]
fn strong() {
    too_strong();
}

/// A body that takes its time: more questions than an audit of 400 ms can ask.
fn takes(time: Duration) {
    if std::env::var_os(RUN).is_some() {
        std::thread::sleep(time);
    }
    too_strong();
}

#[rsmc::test]
fn slow() {
    takes(Duration::from_millis(5));
}

#[rsmc::test]
fn slower() {
    takes(Duration::from_millis(25));
}

#[test]
fn spec() {
    specs::letterbox().check();
}

#[test]
#[should_panic(expected = "no order of these calls")]
fn broken_spec() {
    specs::broken().check();
}

#[rsmc::audit(within = "30s")]
fn minimal() {
    algorithms::spin_lock::correct();
}

#[rsmc::audit(seed = 1, allow = ["inner.rs: listed: flag.store(1, SeqCst)"])]
fn listed() -> Result<(), std::num::ParseIntError> {
    let (flag, data, value) = (AtomicU32::new(0), AtomicU32::new(0), "1".parse()?);
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(value, Relaxed);
            flag.store(1, SeqCst);
        });
        if flag.load(Acquire) == 1 {
            assert_eq!(data.load(Relaxed), 1);
        }
    });
    Ok(())
}

#[rsmc::audit]
#[should_panic(expected = "5 of 5 orderings are stronger than this test can tell")]
fn stronger() {
    too_strong();
}

#[rsmc::audit(within = "1ms")]
#[should_panic(expected = "the audit is not complete after 1ms")]
fn late() {
    algorithms::chase_lev::correct();
}

#[rsmc::audit(max_executions = 2)]
#[should_panic(expected = "no audit of a check that is not complete")]
fn incomplete() {
    algorithms::spin_lock::correct();
}

#[rsmc::audit]
#[should_panic(expected = "panic: a torn pair")]
fn broken() {
    algorithms::seqlock::broken_relaxed_end();
}
