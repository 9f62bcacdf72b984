//! From a call of the shim to the execution in progress.

use std::panic::Location;

use crate::runtime::arena;
use crate::runtime::current::in_current;
use crate::runtime::execution::Execution;
use crate::runtime::foreign;
use crate::runtime::identity::Object;
use crate::runtime::state::clear_below;
use crate::trace::Site;

#[track_caller]
pub(super) fn here() -> Site {
    Site::Code(Location::caller())
}

/// Acts in the execution in progress, if there is one. Memory that we allocate is not the user's.
#[inline]
pub(super) fn enter<R>(act: impl FnOnce(&Execution) -> R) -> Option<R> {
    in_current(|execution| {
        let ours = arena::outside();
        if ours.has_news() {
            execution.learn_of_memory();
        }
        execution.progress.go_on();
        let result = act(execution);
        if execution.compares_states.get() {
            clear_below::<2048>();
        }
        result
    })
}

/// As [`enter`], with an object, as `objects::meets` describes.
#[inline(always)]
pub(super) fn meet<R>(
    place: &'static Location<'static>,
    object: Object<'_>,
    act: impl FnOnce(&Execution) -> R,
) -> Option<R> {
    let done = enter(act);
    if done.is_none() && foreign::goes_on() {
        foreign_use(object.tag.execution(), object, Some(place), true);
    }
    done
}

/// Handles a use of an object outside executions. If the object belongs to one that goes on elsewhere, that check
/// fails, and so does this thread, unless it is unwinding or drops the object.
#[inline(never)]
pub(super) fn foreign_use(
    execution: u64,
    object: Object<'_>,
    place: Option<&'static Location<'static>>,
    may_be_static: bool,
) {
    let what = || {
        let created = object.created.map(|created| format!(" created at {}", Site::Code(created))).unwrap_or_default();
        let does = place.map_or("dropped it".to_owned(), |place| format!("used it at {}", Site::Code(place)));
        format!(
            "the {}{created} belongs to a check that goes on, and a thread that the check does not know {does}: \
             start threads by `rsmc_shim::thread`",
            object.kind
        )
    };
    let message = foreign::notice(execution, std::ptr::from_ref(object.tag).addr(), may_be_static, what);
    if let Some(message) = message.filter(|_| place.is_some() && !std::thread::panicking()) {
        panic!("{message}");
    }
}
