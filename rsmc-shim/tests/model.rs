//! The behaviour of the shim inside an execution, beyond that of std.
#![allow(clippy::incompatible_msrv, reason = "tests are built by the compiler of the workspace")]
#![cfg(feature = "model")]

use std::cell::Cell;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

use crate::support::{STACK, execute, passes, passes_always, rules, run};
use rsmc_core::runtime::Runtime;
use rsmc_core::step::{End, Executor, Plan, Run, SchedulingPolicy};
use rsmc_core::trace::{NoteKind, Site};
use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
use rsmc_shim::sync::{Arc, Mutex};
use rsmc_shim::thread;

fn line_of(site: Site) -> (&'static str, u32) {
    let Site::Code(place) = site else { panic!("{site:?}") };
    (place.file(), place.line())
}

#[test]
fn statics_start_anew_in_every_execution() {
    static COUNT: AtomicUsize = AtomicUsize::new(5);
    static READY: AtomicBool = AtomicBool::new(false);
    static PLACE: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    static LOCK: Mutex<()> = Mutex::new(());
    let body = || {
        assert_eq!(COUNT.fetch_add(1, SeqCst), 5);
        assert!(!READY.swap(true, SeqCst));
        assert!(PLACE.swap(std::ptr::dangling_mut(), SeqCst).is_null());
        assert!(LOCK.try_lock().is_ok());
        std::mem::forget(LOCK.lock().unwrap());
        assert!(LOCK.try_lock().is_err());
        assert_eq!(COUNT.load(SeqCst), 6);
    };
    let (mut runtime, mut run) = (Runtime::new(&body, rules(), STACK), Run::default());
    for _ in 0..3 {
        runtime.execute(&Plan::default(), &mut run);
        assert_eq!((&run.end, run.panics.len()), (&End::Complete, 0), "{:?}", run.panics);
    }
    assert_eq!(COUNT.load(SeqCst), 5);
    assert!(LOCK.try_lock().is_ok());
}

#[test]
fn what_was_made_outside_starts_anew_too() {
    let (count, lock) = (AtomicUsize::new(1), Mutex::new(1));
    count.store(2, SeqCst);
    for _ in 0..2 {
        passes("outside", &|| {
            assert_eq!(count.fetch_add(1, SeqCst), 2);
            *lock.lock().unwrap() += 1;
        });
    }
    assert_eq!(count.load(SeqCst), 2);
    assert_eq!(*lock.lock().unwrap(), 3);
}

#[test]
fn poison_from_outside_is_seen_inside_and_not_the_other_way() {
    let lock = std::sync::Arc::new(Mutex::new(0));
    let body = || {
        thread::scope(|s| {
            let child = s.spawn(|| {
                let _guard = lock.lock();
                panic!("with the lock");
            });
            assert!(child.join().is_err());
        });
        assert!(lock.is_poisoned());
        assert!(lock.lock().is_err());
    };
    passes("poisons", &body);
    assert!(!lock.is_poisoned());
    passes("poisons again", &|| assert!(!lock.is_poisoned()));
    let theirs = std::sync::Arc::clone(&lock);
    std::thread::spawn(move || {
        let _guard = theirs.lock().unwrap();
        panic!("outside");
    })
    .join()
    .unwrap_err();
    passes("is poisoned", &|| {
        assert!(lock.is_poisoned());
        lock.clear_poison();
        assert!(!lock.is_poisoned());
    });
    assert!(lock.is_poisoned());
}

#[test]
fn a_thousand_threads_and_no_new_stacks() {
    let body = || {
        let sum = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..1000)
            .map(|i| {
                let sum = Arc::clone(&sum);
                thread::spawn(move || sum.fetch_add(i, Relaxed))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(sum.load(Relaxed), 499_500);
    };
    let mut runtime = Runtime::new(&body, rules(), 64 * 1024);
    let mut run = Run::default();
    execute(&mut runtime, &Plan::default(), &mut run);
    assert_eq!((&run.end, run.panics.len()), (&End::Complete, 0), "{:?}", run.panics);
    assert_eq!(run.trace.events.len(), 1001);
    let stacks = runtime.stacks_allocated();
    for seed in 0..3 {
        execute(&mut runtime, &Plan::default(), &mut run);
        let plan = Plan { policy: SchedulingPolicy::Random(seed), ..Plan::default() };
        execute(&mut runtime, &plan, &mut run);
        assert_eq!((&run.end, run.panics.len()), (&End::Complete, 0));
    }
    assert_eq!(runtime.stacks_allocated(), stacks);
}

#[test]
fn a_panic_that_nobody_receives_is_on_record() {
    let run = run(&|| {
        let lock = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&lock);
        drop(thread::spawn(move || {
            let _guard = theirs.lock().unwrap();
            panic!("number {}", 7);
        }));
        while !lock.is_poisoned() {
            thread::yield_now();
        }
    });
    assert_eq!(run.end, End::Complete);
    assert_eq!(run.panics.len(), 1);
    assert_eq!((run.panics[0].message.as_str(), run.panics[0].received), ("number 7", false));
}

#[test]
fn events_say_where_they_stand() {
    let run = passes("places", &|| {
        let (a, m) = (AtomicUsize::new(1), Mutex::new(0)); // line!() is taken below
        a.store(1, Relaxed);
        let _ = a.fetch_update(SeqCst, SeqCst, |x| Some(x + 1));
        *m.lock().unwrap() += 1;
        let mut a = a;
        *a.get_mut() = 1;
    });
    let first = line!() - 7;
    let lines: Vec<_> = run.trace.events.iter().map(|e| line_of(e.op.site)).collect();
    let here: Vec<_> = lines.iter().filter(|place| place.0 == file!()).map(|at| at.1 - first).collect();
    // A release stands where its lock was taken: a destructor does not know who caused it.
    assert_eq!(here, [1, 2, 2, 3, 3, 5]);
    assert_eq!(lines.len(), here.len());
    let created: Vec<_> = run.trace.locs.iter().map(|(_, loc)| line_of(loc.created)).collect();
    assert_eq!(created, [(file!(), first); 2]);
    let kinds: Vec<_> = run.trace.locs.iter().map(|(_, loc)| loc.kind).collect();
    assert_eq!(kinds, ["AtomicUsize", "Mutex"]);
}

#[test]
fn cells_fences_and_references_leave_notes() {
    struct Cells(UnsafeCell<u8>);
    // SAFETY: the threads below do not access it at once.
    unsafe impl Sync for Cells {}

    let run = passes("notes", &|| {
        let cell = Arc::new(Cells(UnsafeCell::new(1)));
        let theirs = Arc::clone(&cell);
        // SAFETY: the other thread is joined before the next access.
        thread::spawn(move || theirs.0.with_mut(|x| unsafe { *x = 2 })).join().unwrap();
        fence(Acquire);
        // SAFETY: see above.
        assert_eq!(cell.0.with(|x| unsafe { *x }), 2);
    });
    let of = |wanted: fn(&NoteKind) -> bool| run.trace.notes.iter().filter(|n| wanted(&n.kind)).count();
    assert_eq!(of(|note| matches!(note, NoteKind::CellWrite(_))), 1);
    assert_eq!(of(|note| matches!(note, NoteKind::CellRead(_))), 1);
    assert_eq!(of(|note| matches!(note, NoteKind::Fence(_))), 1);
    // The last one is dropped by a thread that is alone.
    assert_eq!(of(|note| matches!(note, NoteKind::ArcRelease(_))), 1);
    assert_eq!(of(|note| matches!(note, NoteKind::ArcAcquire(_))), 0);
    assert!(run.trace.events.is_empty());
}

#[test]
fn checks_at_once_share_statics_and_do_not_notice() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    static DATA: Mutex<(usize, usize)> = Mutex::new((0, 0));
    let body = || {
        let add = || {
            assert!(COUNT.fetch_add(1, SeqCst) < 3);
            let mut data = DATA.lock().unwrap();
            data.0 += 1;
            thread::yield_now();
            data.1 += 1;
            assert_eq!(data.0, data.1);
        };
        let (a, b) = (thread::spawn(add), thread::spawn(add));
        add();
        a.join().unwrap();
        b.join().unwrap();
        assert_eq!(COUNT.load(SeqCst), 3);
        let all = DATA.lock().unwrap().0;
        assert!(all == 3 || !cfg!(target_os = "linux"), "{all}");
    };
    let threads: Vec<_> = (0..2).map(|_| std::thread::spawn(move || passes_always("shared", &body, 2000))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    // Put back where that is possible.
    let left = if cfg!(target_os = "linux") { 0 } else { 12_000 };
    assert_eq!(*DATA.lock().unwrap(), (left, left));
}

#[test]
fn asking_whether_a_thread_has_ended_is_a_step() {
    let body = || {
        let child = thread::spawn(|| 5);
        let mut seen = 0;
        while !child.is_finished() {
            seen += 1;
            thread::yield_now();
        }
        assert!(seen < 1000);
        assert_eq!(child.join().unwrap(), 5);
    };
    let (mut runtime, mut run) = (Runtime::new(&body, rules(), STACK), Run::default());
    runtime.execute(&Plan::default(), &mut run);
    assert_eq!(run.end, End::Learned);
    execute(&mut runtime, &Plan::default(), &mut run);
    assert_eq!((&run.end, run.panics.len()), (&End::Complete, 0), "{:?}", run.panics);
    passes_always("is_finished", &body, 50);
}

#[test]
fn what_escapes_an_execution_does_not_crash() {
    let (guards, handles, threads) = (Cell::new(None), Cell::new(None), Cell::new(None));
    let lock: &Mutex<i32> = Box::leak(Box::new(Mutex::new(0)));
    passes("leaks", &|| {
        guards.set(Some(lock.lock().unwrap()));
        handles.set(Some(thread::spawn(|| 7)));
        threads.set(Some(thread::current()));
    });
    **guards.take().as_mut().unwrap() += 1;
    threads.take().unwrap().unpark();
    let handle = handles.take().unwrap();
    assert!(handle.is_finished());
    assert_eq!(handle.join().unwrap(), 7);

    guards.set(Some(lock.lock().unwrap()));
    passes("comes from outside", &|| drop(guards.take()));
    assert_eq!(*lock.try_lock().unwrap(), 1);
}

#[test]
fn the_last_owner_sees_what_others_did() {
    passes("owners", &|| {
        let mut a = Arc::new(1);
        let theirs = Arc::clone(&a);
        thread::spawn(move || drop(theirs)).join().unwrap();
        *Arc::get_mut(&mut a).unwrap() += 1;
        assert_eq!(Arc::try_unwrap(a), Ok(2));
    });
}

#[test]
fn trait_objects_come_from_std() {
    passes("dyn", &|| {
        let shown = Arc::from_std(std::sync::Arc::new(3) as std::sync::Arc<dyn std::fmt::Debug>);
        assert_eq!(format!("{shown:?}"), "3");
        let number = Arc::new(AtomicUsize::new(1));
        let shown: Arc<dyn std::fmt::Debug + Send + Sync> =
            rsmc_shim::coerce_arc!(number.clone() => dyn std::fmt::Debug + Send + Sync);
        assert_eq!(Arc::strong_count(&number), 2);
        number.store(2, SeqCst);
        assert_eq!(format!("{shown:?}"), "2");
    });
}
