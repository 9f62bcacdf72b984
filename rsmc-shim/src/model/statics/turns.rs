//! Lets one check at a time use statics, in the order in which checks come.
//!
//! One lock for all statics, so that two checks cannot wait for each other.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::model::door::PATIENCE;

struct Line {
    /// Whether a check has its turn.
    taken: bool,
    /// The checks that wait, the first to come first.
    waiting: VecDeque<u64>,
    last: u64,
}

static LINE: Mutex<Line> = Mutex::new(Line { taken: false, waiting: VecDeque::new(), last: 0 });
static MOVED: Condvar = Condvar::new();

/// The right to use statics, until it is dropped.
pub(super) struct Turn(());

fn line() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a turn.
///
/// # Panics
/// After ten seconds.
pub(super) fn wait() -> Turn {
    let mut line = line();
    line.last += 1;
    let me = line.last;
    line.waiting.push_back(me);
    let not_mine = |line: &mut Line| line.taken || line.waiting.front() != Some(&me);
    let waited = MOVED.wait_timeout_while(line, PATIENCE, not_mine);
    let (mut line, result) = waited.unwrap_or_else(PoisonError::into_inner);
    line.waiting.retain(|&waits| waits != me);
    if result.timed_out() {
        drop(line);
        MOVED.notify_all();
        panic!(
            "another check uses statics and does not come to an end of its execution; run the tests one after another"
        );
    }
    line.taken = true;
    Turn(())
}

impl Drop for Turn {
    fn drop(&mut self) {
        line().taken = false;
        MOVED.notify_all();
    }
}
