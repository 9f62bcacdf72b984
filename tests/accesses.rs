//! Accesses of tracked cells last as long as their closure or pointer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::support::{explore, failure, pairs, verified_alone};
use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::{AtomicU32, Ordering::*};
use rsmc::sync::{Arc, Mutex};
use rsmc::{FailureKind, Verdict, thread};

#[derive(Default)]
struct Slot {
    value: UnsafeCell<u32>,
    flag: AtomicU32,
}

// SAFETY: not sound in itself: whether accesses are ordered is what the tests ask, and a check runs one thread at a
// time.
unsafe impl Sync for Slot {}

impl Slot {
    #[track_caller]
    fn read(&self) -> u32 {
        // SAFETY: see above.
        self.value.with(|value| unsafe { *value })
    }

    fn raise(&self) {
        self.flag.store(1, Release);
    }

    fn is_up(&self) -> bool {
        self.flag.load(Acquire) == 1
    }
}

/// A race under every explorer and model.
#[track_caller]
fn races(body: impl Fn() + Sync) {
    for config in pairs() {
        let report = rsmc::explore(&config, &body);
        let Verdict::Failed(failure) = &report.verdict else { panic!("{config:?}: {:?}", report.verdict) };
        assert_eq!(failure.kind, FailureKind::DataRace, "{config:?}: {}", failure.message);
    }
}

/// None under any.
#[track_caller]
fn passes(body: impl Fn() + Sync) {
    for config in pairs() {
        // Some destructors run in the thread that has made what they access.
        let report = rsmc::explore(&config.clone().allow_trivial(true), &body);
        assert!(matches!(report.verdict, Verdict::Verified), "{config:?}: {}", rsmc::render(&report, None));
    }
}

/// One thread raises the flag when it is told to, and the other one reads the cell once it is up.
fn beside(write: impl Fn(&Slot) + Sync) {
    let slot = Slot::default();
    thread::scope(|scope| {
        scope.spawn(|| write(&slot));
        if slot.is_up() {
            slot.read();
        }
    });
}

#[test]
fn what_is_released_within_a_closure_does_not_order_its_access() {
    let within = |slot: &Slot| {
        slot.value.with_mut(|value| {
            slot.raise();
            // SAFETY: none; this is the mistake.
            unsafe { *value = 2 };
        });
    };
    races(|| beside(within));
    // SAFETY: as above.
    let behind = |slot: &Slot| slot.value.with_mut(|value| unsafe { *value = 2 });
    passes(|| {
        beside(|slot| {
            behind(slot);
            slot.raise();
        });
    });
}

/// What is acquired within a closure comes after the beginning of its access.
#[test]
fn what_is_acquired_within_a_closure_does_not_order_its_access() {
    races(|| {
        let slot = Slot::default();
        thread::scope(|scope| {
            scope.spawn(|| {
                slot.value.with_mut(|_| {});
                slot.raise();
            });
            slot.value.with(|_| slot.is_up());
        });
    });
}

/// The access is not over where its thread never comes to the end of the closure.
#[test]
fn an_access_that_never_ends_goes_on() {
    let found = failure(|| {
        let (slot, lock) = (Slot::default(), Mutex::new(()));
        thread::scope(|scope| {
            let _held = lock.lock().unwrap();
            scope.spawn(|| {
                slot.value.with_mut(|_| {
                    slot.raise();
                    drop(lock.lock());
                });
            });
            while !slot.is_up() {}
            slot.read();
            thread::park();
        });
    });
    assert_eq!(found.kind, FailureKind::DataRace, "{}", found.message);
}

#[test]
fn one_thread_conflicts_with_itself() {
    type Body = fn(&Slot);
    let nested: [(Body, &str); 3] = [
        (|slot| slot.value.with(|_| slot.value.with_mut(|_| {})), "writes value while it reads it itself"),
        (
            |slot| {
                slot.value.with_mut(|_| {
                    slot.read();
                })
            },
            "reads cell1 while it writes it itself",
        ),
        (|slot| slot.value.with_mut(|_| slot.value.with_mut(|_| {})), "writes value while it writes it itself"),
    ];
    for (body, title) in nested {
        let report = explore(|| body(&Slot::default()));
        let Verdict::Failed(failure) = &report.verdict else { panic!("{:?}", report.verdict) };
        assert_eq!(failure.kind, FailureKind::DataRace, "{}", failure.message);
        assert!(failure.message.contains("in one thread"), "{}", failure.message);
        let text = rsmc::render(&report, None);
        assert!(text.contains(title) && text.contains("one thread does both"), "{text}");
        races(|| body(&Slot::default()));
    }
    // Reads may lie within one another, and another cell is another cell.
    passes(|| {
        let (slot, other) = (Slot::default(), Slot::default());
        slot.value.with(|_| slot.read() + slot.value.with(|_| slot.read()));
        slot.value.with_mut(|_| other.value.with_mut(|_| {}));
        slot.value.with_mut(|_| {});
    });
}

#[test]
fn a_panic_ends_the_access() {
    let body = |slot: &Slot| {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            slot.value.with_mut(|_| {
                slot.flag.load(Relaxed);
                std::panic::resume_unwind(Box::new("over"));
            });
        }));
        assert!(panicked.is_err());
        slot.raise();
    };
    passes(|| beside(body));
    passes(|| {
        let slot = Slot::default();
        body(&slot);
        slot.value.with_mut(|_| {});
    });
}

#[test]
fn a_pointer_is_in_use_until_it_is_dropped() {
    races(|| {
        beside(|slot| {
            let pointer = slot.value.ptr_mut();
            slot.raise();
            // SAFETY: none; this is the mistake.
            unsafe { *pointer.deref() = 1 };
        });
    });
    passes(|| {
        beside(|slot| {
            let pointer = slot.value.ptr_mut();
            // SAFETY: the other thread reads once the flag is up.
            pointer.with(|value| unsafe { *value = 1 });
            slot.flag.load(Relaxed);
            drop(pointer);
            slot.raise();
        });
    });
    // In any order, and with what is read in between.
    passes(|| {
        let slot = Slot::default();
        let (one, two) = (slot.value.ptr(), slot.value.ptr());
        slot.flag.load(Relaxed);
        drop(one);
        // SAFETY: nobody writes.
        assert_eq!(unsafe { *two.deref() } + slot.read(), 0);
        drop(two);
        slot.value.with_mut(|_| {});
    });
    let found = failure(|| {
        let slot = Slot::default();
        let (one, two) = (slot.value.ptr(), slot.value.ptr());
        drop(one);
        slot.value.with_mut(|_| {});
        drop(two);
    });
    assert_eq!(found.kind, FailureKind::DataRace, "{}", found.message);
}

/// An access during which its thread does nothing else has one note.
#[test]
fn a_short_access_is_one_note() {
    let notes = |body: fn(&Slot)| {
        let report = explore(|| {
            body(&Slot::default());
            panic!("to have the trace");
        });
        let Verdict::Failed(failure) = report.verdict else { panic!("{:?}", report.verdict) };
        failure.trace.notes.iter().filter(|note| format!("{:?}", note.kind).starts_with("Cell")).count()
    };
    assert_eq!(
        notes(|slot| {
            slot.read();
        }),
        1
    );
    assert_eq!(notes(|slot| slot.value.with_mut(|_| {})), 1);
    assert_eq!(notes(|slot| drop((slot.read(), slot.value.ptr()))), 2);
    assert_eq!(notes(|slot| slot.value.with(|_| slot.raise())), 2);
    verified_alone(|| beside(|_| {}));
}

/// Each order of `get_mut` and an access by another thread is one in which nothing orders the two.
#[test]
fn an_access_through_get_mut_races_with_those_before_and_after_it() {
    struct Raw(*mut AtomicU32);
    // SAFETY: see `Slot`.
    unsafe impl Sync for Raw {}
    /// The first act in another thread, the second in this one.
    fn with(first: fn(&Raw), second: fn(&Raw), joins: bool) {
        let value = Box::into_raw(Box::new(AtomicU32::new(0)));
        let raw = Raw(value);
        thread::scope(|scope| {
            let raw = &raw;
            let other = scope.spawn(move || first(raw));
            if joins {
                other.join().unwrap();
            }
            second(raw);
        });
        // SAFETY: the other thread has ended.
        drop(unsafe { Box::from_raw(value) });
    }
    // SAFETY: see `Slot`.
    let change = |raw: &Raw| unsafe { *(*raw.0).get_mut() += 1 };
    // SAFETY: see above.
    let load = |raw: &Raw| unsafe { _ = (*raw.0).load(Relaxed) };
    for (first, second) in [(change as fn(&Raw), load as fn(&Raw)), (load, change), (change, change)] {
        races(|| with(first, second, false));
        passes(|| with(first, second, true));
    }
}

/// A value whose destructor reads a slot, if it is told to.
struct Reads<'s>(&'s Slot, bool);

impl Drop for Reads<'_> {
    fn drop(&mut self) {
        if self.1 {
            self.0.read();
        }
    }
}

/// Two threads with a reference each: a child, and the one that has started it.
fn sharing(reads_at_end: bool, child: fn(Arc<Reads<'_>>, &Slot), parent: fn(Arc<Reads<'_>>, &Slot)) {
    let slot = Slot::default();
    thread::scope(|scope| {
        let (slot, shared) = (&slot, Arc::new(Reads(&slot, reads_at_end)));
        let theirs = Arc::clone(&shared);
        scope.spawn(move || child(theirs, slot));
        parent(shared, slot);
    });
}

#[test]
fn whoever_drops_the_last_reference_could_have_dropped_another() {
    races(|| {
        sharing(
            false,
            |shared, slot| {
                drop(shared);
                slot.value.with_mut(|_| ());
            },
            |shared, slot| {
                slot.read();
                drop(shared);
            },
        );
    });
    // If this thread is the last, its destructor comes before it writes.
    races(|| {
        sharing(
            true,
            |shared, _| drop(shared),
            |shared, slot| {
                drop(shared);
                slot.value.with_mut(|_| ());
            },
        );
    });
    // A destructor comes after all that was done before the drops.
    passes(|| {
        sharing(
            true,
            |shared, slot| {
                slot.value.with_mut(|_| ());
                drop(shared);
            },
            |shared, _| drop(shared),
        );
    });
}

/// Nothing but the flag says so, and it neither acquires nor releases.
#[test]
fn a_relaxed_flag_may_decide_who_drops_the_last_reference() {
    passes(|| {
        sharing(
            false,
            |shared, slot| {
                slot.value.with_mut(|_| ());
                drop(shared);
                slot.flag.store(1, Relaxed);
            },
            |shared, slot| {
                if slot.flag.load(Relaxed) == 1 {
                    drop(shared);
                    slot.read();
                }
            },
        );
    });
}
