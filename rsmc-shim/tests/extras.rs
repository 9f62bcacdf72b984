//! What the shim has and std has not, outside checks and in both kinds of build.

use rsmc_shim::hint::Backoff;
use rsmc_shim::sync::{Arc, Notify};
use rsmc_shim::{MODELLED, if_model, thread};

#[test]
fn a_notification_is_kept_until_it_is_taken() {
    let done = Arc::new(Notify::new());
    done.notify();
    done.notify();
    done.wait();
    let other = Arc::clone(&done);
    let thread = thread::spawn(move || other.notify());
    done.wait();
    thread.join().unwrap();
}

#[test]
fn a_backoff_is_completed_after_some_rounds() {
    let backoff = Backoff::default();
    let snoozes = || (0..100).take_while(|_| !backoff.is_completed()).inspect(|_| backoff.snooze()).count();
    let expected = if MODELLED { 2 } else { 11 };
    assert_eq!(snoozes(), expected);
    backoff.reset();
    (0..100).for_each(|_| backoff.spin());
    assert!(!backoff.is_completed(), "spinning alone does not complete it");
    backoff.reset();
    assert_eq!(snoozes(), expected);
}

#[test]
fn one_part_is_compiled() {
    if_model! {
        {
            fn is_modelled() -> bool {
                true
            }
        } else {
            fn is_modelled() -> bool {
                false
            }
        }
    }
    assert_eq!(is_modelled(), MODELLED);
    assert_eq!(if_model! { { 1 } else { 2 } }, if MODELLED { 1 } else { 2 });
    assert_eq!(MODELLED, cfg!(feature = "model"));
}
