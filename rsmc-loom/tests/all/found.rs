//! What loom finds, rsmc finds: one model for each kind of mistake.

use rsmc_loom as loom;

use std::panic::{AssertUnwindSafe, catch_unwind};

use loom::cell::{MutPtr, UnsafeCell};
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use loom::sync::atomic::{AtomicPtr, AtomicUsize, fence};
use loom::{alloc, model, thread};

/// The report of a model that fails.
fn report(body: impl Fn() + Send + Sync + 'static) -> String {
    let failed = catch_unwind(AssertUnwindSafe(|| model(body))).expect_err("the model must fail");
    *failed.downcast::<String>().expect("a report is text")
}

/// A value that is shared by a type declared `Sync`.
struct Shared<T>(T);

// SAFETY: this is the mistake that the models make.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

#[test]
fn two_accesses_of_a_cell() {
    let text = report(|| {
        let cell = Arc::new(Shared(UnsafeCell::new(0)));
        let theirs = Arc::clone(&cell);
        // SAFETY: none; this is the mistake.
        let thread = thread::spawn(move || theirs.0.with_mut(|value| unsafe { *value = 1 }));
        // SAFETY: none, as above.
        cell.0.with(|value| unsafe { *value });
        thread.join().unwrap();
    });
    assert!(text.starts_with("data race"), "{text}");
}

/// The access lasts as long as the pointer, after the closure or the statement that made it.
#[test]
fn an_access_within_one_that_lasts() {
    let text = report(|| {
        let cell = UnsafeCell::new(0);
        let pointer = cell.get_mut();
        // SAFETY: none; the pointer is still there.
        cell.with(|value| unsafe { *value });
        drop(pointer);
    });
    assert!(text.starts_with("data race"), "{text}");
}

#[test]
fn a_load_without_synchronisation_beside_a_store() {
    let body = |order, fences: bool| {
        move || {
            let (value, flag) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let theirs = (Arc::clone(&value), Arc::clone(&flag));
            let thread = thread::spawn(move || {
                theirs.0.store(1, Relaxed);
                theirs.1.store(1, order);
            });
            if flag.load(Relaxed) == 1 {
                if fences {
                    fence(Acquire);
                }
                // SAFETY: ordered after the store, if the orderings are right.
                assert_eq!(unsafe { value.unsync_load() }, 1);
            }
            thread.join().unwrap();
        }
    };
    model(body(Release, true));
    for wrong in [body(Relaxed, true), body(Release, false)] {
        let text = report(wrong);
        assert!(text.starts_with("data race"), "{text}");
        assert!(text.contains("one of them is no atomic operation"), "{text}");
    }
}

/// The count of references of an `Arc` of one's own, whose last drop takes the value by `with_mut`.
#[test]
fn a_count_of_references_that_does_not_synchronise() {
    struct Inner {
        references: AtomicUsize,
        value: AtomicUsize,
    }
    let body = |order| {
        move || {
            let inner = Box::into_raw(Box::new(Inner { references: AtomicUsize::new(2), value: AtomicUsize::new(0) }));
            let inner = Shared(inner);
            let release = move |inner: &Shared<*mut Inner>| {
                // SAFETY: there is a reference left.
                unsafe { &*inner.0 }.value.fetch_add(1, Relaxed);
                // SAFETY: as above.
                if unsafe { &*inner.0 }.references.fetch_sub(1, order) == 1 {
                    // SAFETY: this was the last reference, if the orderings are right.
                    unsafe { (*inner.0).value.with_mut(|value| assert_eq!(*value, 2)) };
                    // SAFETY: as above.
                    drop(unsafe { Box::from_raw(inner.0) });
                }
            };
            let theirs = Shared(inner.0);
            let thread = thread::spawn(move || release(&theirs));
            release(&inner);
            thread.join().unwrap();
        }
    };
    model(body(AcqRel));
    let text = report(body(Release));
    assert!(text.starts_with("data race"), "{text}");
}

#[test]
fn memory_that_is_not_freed() {
    let layout = alloc::Layout::new::<u64>();
    // SAFETY: the layout has a size.
    let text = report(move || assert!(!unsafe { alloc::alloc(layout) }.is_null()));
    assert!(text.starts_with("leak"), "{text}");
    // SAFETY: as above, and the memory has this layout.
    model(move || unsafe { alloc::dealloc(alloc::alloc_zeroed(layout), layout) });
    // SAFETY: none; this is the mistake.
    let text = report(move || unsafe {
        let memory = alloc::alloc(layout);
        alloc::dealloc(memory, layout);
        alloc::dealloc(memory, layout);
    });
    assert!(text.contains("freed twice"), "{text}");
}

#[test]
fn values_that_are_not_dropped() {
    let text = report(|| std::mem::forget(Arc::new(1)));
    assert!(text.starts_with("leak"), "{text}");
    let text = report(|| std::mem::forget(alloc::Track::new(1)));
    assert!(text.starts_with("leak"), "{text}");
}

/// loom does not look for it, and tests rely on that: a value that a static reference is made of.
#[test]
fn memory_that_nothing_leads_to_is_no_leak() {
    model(|| {
        let pointer = AtomicPtr::new(Box::into_raw(Box::new(1)));
        let thread = thread::spawn(|| {});
        pointer.store(std::ptr::null_mut(), Release);
        thread.join().unwrap();
    });
}

/// A guard that gives its lock back in its destructor has its pointer a moment longer. A use after the release is a
/// race.
#[test]
fn a_guard_that_drops_its_pointer_after_the_release() {
    struct Guard<'a> {
        locked: &'a AtomicUsize,
        pointer: MutPtr<usize>,
        uses_late: bool,
    }
    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            self.locked.store(0, Release);
            if self.uses_late {
                // SAFETY: none; the lock was given back.
                unsafe { *self.pointer.deref() = 7 };
            }
        }
    }
    let body = |uses_late| {
        move || {
            let shared = Arc::new(Shared((AtomicUsize::new(0), UnsafeCell::new(0))));
            let add = move |shared: &Shared<(AtomicUsize, UnsafeCell<usize>)>| {
                let (locked, value) = &shared.0;
                while locked.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
                    thread::yield_now();
                }
                let guard = Guard { locked, pointer: value.get_mut(), uses_late };
                // SAFETY: the lock is held.
                unsafe { *guard.pointer.deref() += 1 };
            };
            let theirs = Arc::clone(&shared);
            let thread = thread::spawn(move || add(&theirs));
            add(&shared);
            thread.join().unwrap();
        }
    };
    model(body(false));
    let text = report(body(true));
    assert!(text.starts_with("data race"), "{text}");
}
