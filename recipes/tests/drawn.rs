//! proptest draws what threads do, and rsmc explores each draw.

use proptest::collection::vec;
use proptest::prelude::*;
use rsmc::{Config, Verdict, thread};
use rsmc_recipes::Permits;

/// Takes permits, or gives back what it has; returns what it has in the end.
fn act(permits: &Permits, steps: &[bool]) -> u32 {
    let mut mine = 0;
    for &takes in steps {
        if takes {
            mine += u32::from(permits.take());
        } else if mine > 0 {
            permits.give();
            mine -= 1;
        }
    }
    mine
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn nobody_has_more_than_there_are(a in vec(any::<bool>(), 0..4), b in vec(any::<bool>(), 0..4)) {
        let body = || {
            let permits = Permits::new(1);
            let taken = thread::scope(|scope| {
                let other = scope.spawn(|| act(&permits, &a));
                act(&permits, &b) + other.join().unwrap()
            });
            assert!(taken <= 1, "{taken} threads have the only permit");
            assert_eq!(permits.take(), taken == 0);
        };
        let report = rsmc::explore(&Config::default().allow_trivial(true), body);
        prop_assert!(matches!(report.verdict, Verdict::Verified), "{report}");
    }
}
