//! Parts of a model that are not explored.
//!
//! What is not explored runs in one order: a load, a lock and a choice there do what they do first, in each of the
//! executions that the other parts have. So a model with such parts is not verified as a whole, and says so on stderr.
//! The parts begin and end for all threads at once. Explorers other than `reads-from` explore them as well.

use std::cell::Cell;

use rsmc_core::runtime::hook::choices;
use rsmc_core::trace::Explore;

thread_local! {
    /// Whether the model of this OS thread was not explored in a part.
    static STOPPED: Cell<bool> = const { Cell::new(false) };
}

/// Goes on with the exploration after [`stop_exploring`].
///
/// ```
/// use rsmc_loom as loom;
/// use loom::sync::{Arc, atomic::{AtomicUsize, Ordering::Relaxed}};
///
/// loom::model(|| {
///     loom::stop_exploring();
///     let count = Arc::new(AtomicUsize::new(0)); // … a beginning with many operations
///     loom::explore();
///     let other = Arc::clone(&count);
///     loom::thread::spawn(move || other.fetch_add(1, Relaxed));
///     assert!(count.load(Relaxed) < 2);
/// });
/// ```
#[track_caller]
pub fn explore() {
    choices::explore(Explore::On);
}

/// Stops the exploration up to the next [`explore`]; see the [module](mod@self).
#[track_caller]
pub fn stop_exploring() {
    stop(Explore::Off);
}

/// As [`stop_exploring`], to the end of the execution.
#[track_caller]
pub fn skip_branch() {
    stop(Explore::OffForGood);
}

#[track_caller]
fn stop(explore: Explore) {
    if choices::explore(explore) {
        STOPPED.set(true);
    }
}

/// Whether the exploration was stopped since the last call.
pub(crate) fn was_stopped() -> bool {
    STOPPED.take()
}
