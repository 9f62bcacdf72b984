//! Choices that explorers make in every possible way.

use std::sync::atomic::Ordering;

use crate::base::LocId;
use crate::runtime::execution::Execution;
use crate::runtime::hook::enter::{enter, here};
use crate::trace::{Action, CHOICE, Explore, LocInfo, Op, Site};

/// The largest number of values of one choice: explorers keep a list of those that are to be tried.
const MOST_VALUES: u64 = 1 << 12;

/// One of the values below `of`, which is not 0; explorers try them all. If `spurious`, any value but 0 is a spurious
/// outcome, and where none is allowed the value is 0 at once. Of more than 4,096 values one is chosen digit by digit.
#[track_caller]
pub fn choose(of: u64, spurious: bool) -> Option<u64> {
    let site = here();
    enter(|execution| {
        if execution.unwinding.get() || (spurious && execution.core.borrow().machine.run().spurious == 0) {
            return 0;
        }
        let last = of - 1;
        let digits = last.checked_ilog(MOST_VALUES).unwrap_or(0);
        (0..=digits).rev().fold(0, |value, digit| {
            // What is chosen so far may be all that there is room for.
            let most = last / MOST_VALUES.pow(digit);
            let of = if value == most / MOST_VALUES { most % MOST_VALUES + 1 } else { MOST_VALUES };
            value * MOST_VALUES + execution.choose_one(of, spurious, site)
        })
    })
}

/// Asks for what follows, in all threads, to be explored or not; false outside executions.
#[track_caller]
pub fn explore(explore: Explore) -> bool {
    let site = here();
    let noted = enter(|execution| {
        if !execution.unwinding.get() {
            let (thread, machine) = (execution.running.get(), &mut execution.core.borrow_mut().machine);
            machine.explore(thread, explore, site);
        }
    });
    noted.is_some()
}

impl Execution {
    /// One of few values below `of`, which is not 0.
    fn choose_one(&self, of: u64, spurious: bool, site: Site) -> u64 {
        if of == 1 {
            return 0;
        }
        let loc = self.choices_of_running(site);
        let order = Ordering::SeqCst;
        let action = Action::Choose { of, value: 0, spurious };
        self.operate(Op { action, loc, order, failure: order, site }).read
    }

    /// The location of the running thread's choices.
    fn choices_of_running(&self, site: Site) -> LocId {
        let core = &mut *self.core.borrow_mut();
        let choices = &mut core.fibers[self.running.get()].choices;
        let add = || core.machine.add_location(LocInfo { kind: CHOICE, created: site, init: 0, address: 0 });
        *choices.get_or_insert_with(add)
    }
}
