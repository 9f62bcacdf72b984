// What std does, as functions over whatever `sync`, `thread` and `hint` are in scope. Included twice.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::{PoisonError, TryLockError};

use sync::atomic::*;
use sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, Weak};

/// Every behaviour, by name.
pub const ALL: &[(&str, fn())] = &[
    ("integers", integers),
    ("integers_wrap_and_compare", integers_wrap_and_compare),
    ("booleans", booleans),
    ("pointers", pointers),
    ("compare_exchange", compare_exchange),
    ("exclusive_access", exclusive_access),
    ("moved_atomics_keep_their_value", moved_atomics_keep_their_value),
    ("impossible_orderings", impossible_orderings),
    ("formatting", formatting),
    ("mutex", mutex),
    ("mutex_of_unsized", mutex_of_unsized),
    ("poison", poison),
    ("poison_is_cleared", poison_is_cleared),
    ("poison_needs_a_new_panic", poison_needs_a_new_panic),
    ("poison_by_resumed_panic", poison_by_resumed_panic),
    ("poison_by_panic_of_another", poison_by_panic_of_another),
    ("arc", arc),
    ("arc_unique", arc_unique),
    ("arc_unsized", arc_unsized),
    ("arc_raw", arc_raw),
    ("weak", weak),
    ("counting", counting),
    ("join_gives_the_panic", join_gives_the_panic),
    ("detached_threads_run", detached_threads_run),
    ("scopes", scopes),
    ("scopes_nest", scopes_nest),
    ("scope_panics", scope_panics),
    ("parking", parking),
    ("locals_are_of_each_thread", locals_are_of_each_thread),
    ("locals_are_dropped_at_the_end", locals_are_dropped_at_the_end),
    ("sleeping", sleeping),
    ("condvar", condvar),
    ("condvar_wakes_as_many_as_notified", condvar_wakes_as_many_as_notified),
    ("condvar_wakes_all", condvar_wakes_all),
    ("condvar_times_out", condvar_times_out),
    ("condvar_and_poison", condvar_and_poison),
    ("barrier", barrier),
    ("once", once),
    ("once_is_poisoned", once_is_poisoned),
    ("once_waits", once_waits),
    ("once_lock", once_lock),
    ("once_lock_makes_one_value", once_lock_makes_one_value),
    ("once_lock_after_a_panic", once_lock_after_a_panic),
    ("once_lock_drops_its_value", once_lock_drops_its_value),
    ("once_lock_moves_with_its_value", once_lock_moves_with_its_value),
    ("lazy_lock", lazy_lock),
    ("lazy_lock_is_poisoned", lazy_lock_is_poisoned),
    ("statics_are_made_once", statics_are_made_once),
    ("names_and_ids", names_and_ids),
    ("spinning", spinning),
    ("locks_in_destructors", locks_in_destructors),
    ("dropping_in_order", dropping_in_order),
    ("bounds", bounds),
];

fn message(payload: Box<dyn std::any::Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast::<&str>().unwrap()).to_owned(),
    }
}

fn panic_of<R>(code: impl FnOnce() -> R) -> String {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(_) => panic!("no panic"),
        Err(payload) => message(payload),
    }
}

/// A panic in a thread of its own: one in the body of a check is a failure.
fn thread_panic<T: Send + 'static>(code: impl FnOnce() -> T + Send + 'static) -> String {
    message(thread::spawn(code).join().err().unwrap())
}

include!("atomics.rs");
include!("locks.rs");
include!("shared.rs");
include!("condvar.rs");
include!("locals.rs");
include!("once.rs");
include!("threads.rs");
