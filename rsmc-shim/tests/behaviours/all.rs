// What std does, as functions over whatever `sync`, `thread` and `hint` are in scope. Included twice.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::{PoisonError, TryLockError};

use sync::atomic::*;
use sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Weak};

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
    ("rwlock", rwlock),
    ("rwlock_is_made_from_a_value", rwlock_is_made_from_a_value),
    ("rwlock_gives_its_value_to_its_owner", rwlock_gives_its_value_to_its_owner),
    ("rwlock_readers_share", rwlock_readers_share),
    ("rwlock_readers_share_across_threads", rwlock_readers_share_across_threads),
    ("rwlock_readers_keep_writers_out", rwlock_readers_keep_writers_out),
    ("rwlock_writers_are_alone", rwlock_writers_are_alone),
    ("rwlock_attempts_of_another_thread", rwlock_attempts_of_another_thread),
    ("rwlock_a_guard_that_is_not_kept", rwlock_a_guard_that_is_not_kept),
    ("rwlock_a_forgotten_reader", rwlock_a_forgotten_reader),
    ("rwlock_a_forgotten_writer", rwlock_a_forgotten_writer),
    ("rwlock_loses_no_update", rwlock_loses_no_update),
    ("rwlock_readers_see_whole_writes", rwlock_readers_see_whole_writes),
    ("rwlock_a_writer_waits_for_readers", rwlock_a_writer_waits_for_readers),
    ("rwlock_readers_wait_for_a_writer", rwlock_readers_wait_for_a_writer),
    ("rwlock_writers_wait_for_writers", rwlock_writers_wait_for_writers),
    ("rwlock_of_unsized", rwlock_of_unsized),
    ("rwlock_of_nothing", rwlock_of_nothing),
    ("rwlock_is_shown", rwlock_is_shown),
    ("rwlock_is_poisoned_by_a_writer", rwlock_is_poisoned_by_a_writer),
    ("rwlock_poison_reaches_its_owner", rwlock_poison_reaches_its_owner),
    ("rwlock_is_shown_with_poison", rwlock_is_shown_with_poison),
    ("rwlock_is_not_poisoned_by_a_reader", rwlock_is_not_poisoned_by_a_reader),
    ("rwlock_poison_is_cleared", rwlock_poison_is_cleared),
    ("rwlock_poison_is_cleared_by_its_holder", rwlock_poison_is_cleared_by_its_holder),
    ("rwlock_poison_is_cleared_by_another", rwlock_poison_is_cleared_by_another),
    ("rwlock_is_poisoned_again", rwlock_is_poisoned_again),
    ("rwlock_who_waits_finds_the_poison", rwlock_who_waits_finds_the_poison),
    ("rwlock_poison_needs_a_new_panic", rwlock_poison_needs_a_new_panic),
    ("rwlock_poison_by_resumed_panic", rwlock_poison_by_resumed_panic),
    ("rwlock_drops_its_value", rwlock_drops_its_value),
    ("rwlock_in_a_static", rwlock_in_a_static),
    ("rwlock_bounds", rwlock_bounds),
    ("channel_keeps_the_order", channel_keeps_the_order),
    ("channel_ends_after_its_messages", channel_ends_after_its_messages),
    ("channel_gives_back_what_nobody_receives", channel_gives_back_what_nobody_receives),
    ("channel_try_recv", channel_try_recv),
    ("channel_waits_for_a_message", channel_waits_for_a_message),
    ("channel_waits_for_its_end", channel_waits_for_its_end),
    ("channel_of_two_senders", channel_of_two_senders),
    ("channel_senders_are_shared", channel_senders_are_shared),
    ("channel_clones_keep_it_open", channel_clones_keep_it_open),
    ("channel_iterators", channel_iterators),
    ("channel_iterates_until_its_end", channel_iterates_until_its_end),
    ("channel_receiver_moves", channel_receiver_moves),
    ("channel_receiver_drops_messages", channel_receiver_drops_messages),
    ("channel_drops_messages_in_order", channel_drops_messages_in_order),
    ("channel_destructors_use_the_channel", channel_destructors_use_the_channel),
    ("channel_in_itself_is_not_leaked", channel_in_itself_is_not_leaked),
    ("channel_panic_in_a_destructor", channel_panic_in_a_destructor),
    ("channel_with_answers", channel_with_answers),
    ("channel_of_a_thread_that_panics", channel_of_a_thread_that_panics),
    ("channel_that_is_forgotten_stays_open", channel_that_is_forgotten_stays_open),
    ("channel_of_nothing", channel_of_nothing),
    ("channel_times_out", channel_times_out),
    ("channel_shared_by_workers", channel_shared_by_workers),
    ("channels_in_a_row", channels_in_a_row),
    ("channel_is_shown", channel_is_shown),
    ("channel_errors_are_those_of_std", channel_errors_are_those_of_std),
    ("channel_bounds", channel_bounds),
    ("sync_channel_is_full", sync_channel_is_full),
    ("sync_channel_waits_for_room", sync_channel_waits_for_room),
    ("sync_channel_gives_back_what_waits", sync_channel_gives_back_what_waits),
    ("sync_channel_of_two_senders", sync_channel_of_two_senders),
    ("sync_channel_ends_when_all_are_dropped", sync_channel_ends_when_all_are_dropped),
    ("rendezvous_needs_both", rendezvous_needs_both),
    ("rendezvous_returns_when_it_is_received", rendezvous_returns_when_it_is_received),
    ("rendezvous_without_receiver", rendezvous_without_receiver),
    ("rendezvous_without_sender", rendezvous_without_sender),
    ("rendezvous_there_and_back", rendezvous_there_and_back),
    ("rendezvous_of_two_senders", rendezvous_of_two_senders),
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
include!("mpsc.rs");
include!("once.rs");
include!("rwlock.rs");
include!("threads.rs");
