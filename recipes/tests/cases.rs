//! rstest makes one check for each case.

use rsmc::thread;
use rsmc_recipes::Permits;
use rstest::rstest;

#[rstest]
#[case::none(0)]
#[case::one(1)]
#[case::enough(2)]
fn each_permit_is_taken_once(#[case] free: u32) {
    rsmc::check(|| {
        let permits = Permits::new(free);
        let taken = thread::scope(|scope| {
            let other = scope.spawn(|| permits.take());
            u32::from(permits.take()) + u32::from(other.join().unwrap())
        });
        assert_eq!(taken, free.min(2));
    });
}
