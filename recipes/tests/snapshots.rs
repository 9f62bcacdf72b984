//! insta keeps what a body can return.

use rsmc::{Config, Verdict, thread};
use rsmc_recipes::Permits;

#[test]
fn two_threads_want_one_permit() {
    let seen = rsmc::outcomes(&Config::default(), || {
        let permits = Permits::new(1);
        thread::scope(|scope| {
            let other = scope.spawn(|| permits.take());
            (permits.take(), other.join().unwrap())
        })
    });
    assert!(matches!(seen.report().verdict, Verdict::Verified), "{}", seen.report());
    let values: Vec<_> = seen.values().collect();
    insta::assert_compact_debug_snapshot!(values, @"[(false, true), (true, false)]");
}
