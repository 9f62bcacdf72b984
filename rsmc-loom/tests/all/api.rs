//! Each part of the API once, in a model that passes.

use rsmc_loom as loom;

use std::cell::Cell;
use std::collections::BTreeSet;

use loom::model::{Builder, model};
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
use loom::sync::{Arc, Condvar, Mutex, Notify, RwLock, mpsc};
use loom::thread;

#[test]
fn atomics() {
    model(|| {
        let (flag, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::default()));
        let (theirs, sum) = (Arc::clone(&flag), Arc::clone(&count));
        let thread = thread::spawn(move || {
            sum.store(3, Relaxed);
            fence(Release);
            theirs.store(true, Relaxed);
        });
        if flag.load(Acquire) {
            assert_eq!(count.compare_exchange(3, 4, SeqCst, Relaxed), Ok(3));
            assert_eq!(count.fetch_add(1, Relaxed), 4);
        }
        thread.join().unwrap();
        let mut count = Arc::try_unwrap(count).expect("the thread has ended");
        // SAFETY: the other thread has been joined.
        assert!([3, 5].contains(&unsafe { count.unsync_load() }));
        count.with_mut(|count| *count += 10);
        assert!([13, 15].contains(&count.load(Relaxed)));
        assert!([13, 15].contains(&count.into_inner()));
    });
}

#[test]
fn pointers() {
    model(|| {
        let mut value = 7;
        let mut pointer = AtomicPtr::new(&raw mut value);
        // SAFETY: it points to the local variable.
        assert_eq!(unsafe { *pointer.load(Relaxed) }, 7);
        pointer.with_mut(|pointer| *pointer = std::ptr::null_mut());
        assert!(pointer.swap(&raw mut value, Relaxed).is_null());
    });
}

#[test]
fn locks_and_notifications() {
    model(|| {
        let shared = Arc::new((Mutex::new(0), Condvar::new(), RwLock::new(1), Notify::new()));
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new().name("other".to_owned()).spawn(move || {
            *theirs.0.lock().unwrap() += *theirs.2.read().unwrap();
            theirs.1.notify_one();
            theirs.3.notify();
        });
        let mut count = shared.0.lock().unwrap();
        while *count == 0 {
            count = shared.1.wait(count).unwrap();
        }
        drop(count);
        shared.3.wait();
        thread.unwrap().join().unwrap();
        assert_eq!(*shared.2.write().unwrap(), 1);
    });
}

#[test]
fn what_a_thread_runs_need_not_be_send() {
    model(|| {
        let local = std::rc::Rc::new(Cell::new(1));
        let theirs = std::rc::Rc::clone(&local);
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            sender.send(theirs.get()).unwrap();
            theirs
        });
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(thread.join().unwrap().get(), 1);
    });
}

/// A model runs on the OS thread of its test.
#[test]
fn what_the_test_has_put_into_a_thread_local_is_there() {
    std::thread_local!(static IS_ON: Cell<bool> = const { Cell::new(false) });
    IS_ON.set(true);
    model(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&count);
        let thread = thread::spawn(move || {
            assert!(IS_ON.get());
            theirs.fetch_add(1, SeqCst)
        });
        assert!(IS_ON.get());
        count.fetch_add(1, SeqCst);
        thread.join().unwrap();
    });
}

/// A destructor that panics while a panic unwinds its thread ends the model, not the process. Models and panics behind
/// it are what they would be.
#[test]
fn a_panic_in_a_destructor_harms_nobody_else() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    let fails = |body: fn()| std::panic::catch_unwind(|| model(body)).is_err();
    for _ in 0..2 {
        assert!(fails(|| {
            let _bomb = Bomb;
            panic!("first");
        }));
        model(|| assert_eq!(thread::spawn(|| AtomicUsize::new(0).fetch_add(1, SeqCst)).join().unwrap(), 0));
        assert!(fails(|| panic!("alone")));
        assert!(std::panic::catch_unwind(|| panic!("outside")).is_err());
    }
}

loom::lazy_static! {
    static ref NOT_SYNC: Cell<u32> = Cell::new(std::rc::Rc::strong_count(&std::rc::Rc::new(())) as u32);
}

/// Modelled threads share it. Outside a model one OS thread may use it.
#[test]
fn what_a_lazy_static_holds_need_not_be_sync() {
    model(|| {
        let order = Arc::new(Mutex::new(()));
        let add = |order: &Mutex<()>| {
            let _guard = order.lock().unwrap();
            NOT_SYNC.set(NOT_SYNC.get() + 1);
        };
        let theirs = Arc::clone(&order);
        let thread = thread::spawn(move || add(&theirs));
        add(&order);
        thread.join().unwrap();
        assert_eq!(NOT_SYNC.get(), 3);
    });
    assert_eq!(NOT_SYNC.get(), 1);
    let other = std::thread::spawn(|| NOT_SYNC.get()).join().unwrap_err();
    assert!(other.downcast_ref::<&str>().is_some_and(|text| text.contains("another OS thread")));
}

/// Of two pairs of operations that race, only those that are explored have more than one outcome.
#[test]
fn parts_are_not_explored() {
    let outcomes = |prepare: fn(), between: fn(), builder: &Builder| {
        let found = std::sync::Arc::new(std::sync::Mutex::new(BTreeSet::new()));
        let outcomes = std::sync::Arc::clone(&found);
        builder.check(move || {
            let race = || {
                let count = Arc::new(AtomicUsize::new(0));
                let theirs = Arc::clone(&count);
                let thread = thread::spawn(move || theirs.store(1, SeqCst));
                let seen = count.load(SeqCst);
                thread.join().unwrap();
                seen
            };
            prepare();
            let first = race();
            between();
            outcomes.lock().unwrap().insert((first, race()));
        });
        let found = found.lock().unwrap();
        found.clone()
    };
    let all = BTreeSet::from([(0, 0), (0, 1), (1, 0), (1, 1)]);
    let (first, mut expected) = (Builder::new(), Builder::new());
    expected.expect_explicit_explore = true;
    assert_eq!(outcomes(|| {}, || {}, &first), all);
    let second_only =
        [outcomes(loom::stop_exploring, loom::explore, &first), outcomes(|| {}, loom::explore, &expected)];
    for found in second_only {
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|&(first, _)| found.first().is_some_and(|other| other.0 == first)), "{found:?}");
    }
    assert_eq!(outcomes(loom::skip_branch, loom::explore, &first).len(), 1, "it is for good");
    assert_eq!(outcomes(|| {}, loom::stop_exploring, &first).len(), 2);
}
