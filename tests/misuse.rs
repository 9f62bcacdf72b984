//! What is left at the end, what is dropped twice, and what a check cannot follow: each found, each with a near miss.

use std::cell::RefCell;
use std::sync::Mutex as StdMutex;

use crate::support::{failure, verified, verified_alone};
use rsmc::alloc::Track;
use rsmc::cell::{Cell, UnsafeCell};
use rsmc::future::AtomicWaker;
use rsmc::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use rsmc::sync::{Arc, Barrier, Condvar, Mutex, Notify, Once, OnceLock, RwLock, Weak, mpsc};
use rsmc::{Config, Failure, FailureKind, Verdict, thread};

#[track_caller]
fn fails_with(config: Config, body: impl Fn() + Sync) -> Failure {
    match rsmc::explore(&config, body).verdict {
        Verdict::Failed(failure) => *failure,
        verdict => panic!("{verdict:?}"),
    }
}

struct Node {
    next: StdMutex<Option<Arc<Node>>>,
    previous: StdMutex<Option<Weak<Node>>>,
}

impl Node {
    fn new() -> Arc<Self> {
        Arc::new(Self { next: StdMutex::new(None), previous: StdMutex::new(None) })
    }
}

#[test]
fn references_in_a_circle_are_a_leak() {
    let found = failure(|| {
        let (one, two) = (Node::new(), Node::new());
        *one.next.lock().unwrap() = Some(Arc::clone(&two));
        *two.next.lock().unwrap() = Some(one);
    });
    assert_eq!(found.kind, FailureKind::Leak);
    assert!(found.message.contains("Arc created at") && found.message.contains("and 1 more"), "{}", found.message);
    // One of the two is weak.
    verified(|| {
        let (one, two) = (Node::new(), Node::new());
        *two.previous.lock().unwrap() = Some(Arc::downgrade(&one));
        *one.next.lock().unwrap() = Some(two);
    });
    // Nobody asked.
    let report = rsmc::explore(&Config::default().check_leaks(false), || std::mem::forget(Node::new()));
    assert!(matches!(report.verdict, Verdict::Verified));
}

#[test]
fn a_leak_has_its_line() {
    let line = line!() + 1;
    let found = failure(|| std::mem::forget(Arc::new(1)));
    assert!(found.message.contains(&format!("tests/misuse.rs:{line}")), "{}", found.message);
    let found = failure(|| {
        let _ = Arc::into_raw(Arc::<str>::from("forgotten"));
    });
    assert_eq!(found.kind, FailureKind::Leak);
}

/// Only one interleaving leaks: both look whether they are the last, and neither is.
#[test]
fn a_leak_in_one_interleaving_is_found() {
    let give_up = |decide: fn(&AtomicU32) -> bool| {
        move || {
            let shared = (AtomicU32::new(2), StdMutex::new(Some(Track::new(5))));
            let release = || {
                if decide(&shared.0) {
                    drop(shared.1.lock().unwrap().take());
                }
            };
            thread::scope(|scope| {
                scope.spawn(release);
                scope.spawn(release);
            });
            // What is left is forgotten, as memory behind a raw pointer would be.
            std::mem::forget(shared.1.lock().unwrap().take());
        }
    };
    let racy = |count: &AtomicU32| {
        let before = count.load(Acquire);
        count.store(before - 1, Release);
        before == 1
    };
    assert_eq!(failure(give_up(racy)).kind, FailureKind::Leak);
    verified(give_up(|count| count.fetch_sub(1, AcqRel) == 1));
}

#[test]
fn every_way_to_give_a_reference_up_is_known() {
    verified(|| {
        let _ = Arc::into_inner(Arc::new(1));
        drop(Arc::try_unwrap(Arc::new(1)));
        let _ = Arc::unwrap_or_clone(Arc::new(1));
        drop(Arc::new_cyclic(|weak: &Weak<u32>| u32::from(weak.upgrade().is_some())));
        drop(Arc::pin(1));
        drop([Arc::<[u8]>::from(vec![1]), (0..3).collect(), Arc::default()]);
        let any: Arc<dyn std::any::Any + Send + Sync> =
            rsmc::coerce_arc!(Arc::new(1_u8) => dyn std::any::Any + Send + Sync);
        drop(any.downcast::<u8>());
        // SAFETY: the pointer is one of a reference.
        drop(unsafe { Arc::from_raw(Arc::into_raw(Arc::new(1))) });
        let mut moved = Arc::new(1);
        let _weak = Arc::downgrade(&moved);
        *Arc::make_mut(&mut moved) += 1;
        let other = Arc::clone(&moved);
        *Arc::make_mut(&mut moved) += 1;
        drop(other);
        // std keeps a reference: not ours to judge.
        let of_std = std::sync::Arc::new(1);
        drop(Arc::from_std(std::sync::Arc::clone(&of_std)));
    });
}

#[test]
fn what_statics_and_threads_own_is_no_leak() {
    static OWNER: OnceLock<Arc<u32>> = OnceLock::new();
    rsmc::thread_local!(static OWN: RefCell<Option<Arc<u32>>> = const { RefCell::new(None) });
    verified_alone(|| {
        OWN.set(Some(Arc::clone(OWNER.get_or_init(|| Arc::new(1)))));
        let thread = thread::spawn(|| OWN.set(Some(Arc::new(2))));
        drop(thread.join());
    });
}

#[test]
fn a_tracked_value_is_dropped_once() {
    let found = failure(|| std::mem::forget(Track::new(7)));
    assert_eq!(found.kind, FailureKind::Leak);
    assert!(found.message.contains("Track created at tests/misuse.rs"), "{}", found.message);
    let twice = failure(|| {
        let mut slot = std::mem::MaybeUninit::new(Track::new(Box::new(7)));
        // SAFETY: the second drop finds that the value is gone, and does nothing with it.
        unsafe {
            slot.assume_init_drop();
            slot.assume_init_drop();
        }
    });
    assert_eq!(twice.kind, FailureKind::UseAfterFree);
    assert!(twice.message.contains("which the test body drops"), "{}", twice.message);
    let late = failure(|| {
        let mut slot = std::mem::MaybeUninit::new(Track::new(7));
        // SAFETY: the value of a number can be looked at after it was dropped.
        unsafe {
            slot.assume_init_drop();
            let _ = slot.assume_init_ref().get_ref();
        }
    });
    assert_eq!(late.kind, FailureKind::UseAfterFree);
    assert!(late.message.contains("which the test body drops"), "{}", late.message);
    let places = format!("{} {}", twice.message, late.message);
    assert!(!places.contains("alloc.rs") && !places.contains("unknown"), "{places}");
    verified(|| {
        let mut value = Track::new(vec![1]);
        value.get_mut().push(2);
        assert_eq!((value.get_ref().len(), format!("{value:?}")), (2, "Track([1, 2])".to_owned()));
        assert_eq!(value.into_inner(), [1, 2]);
    });
    // Outside a check it is the value and nothing else.
    std::mem::forget(Track::new(1));
}

#[test]
fn a_thread_that_nobody_joins_may_be_left() {
    let config = || Config::default().check_joins(true);
    let line = line!() + 1;
    let found = fails_with(config(), || drop(thread::spawn(|| ())));
    assert_eq!(found.kind, FailureKind::ThreadLeft);
    assert!(found.message.contains(&format!("tests/misuse.rs:{line}")), "{}", found.message);
    // Joined by a thread that is joined.
    let body = || {
        let inner = thread::spawn(|| ());
        thread::spawn(move || inner.join().unwrap()).join().unwrap();
        thread::scope(|scope| drop(scope.spawn(|| ())));
    };
    assert!(matches!(rsmc::explore(&config().allow_trivial(true), body).verdict, Verdict::Verified));
    verified_alone(|| drop(thread::spawn(|| ())));
}

/// Sends anything.
struct Sent<T>(T);

// SAFETY: the tests below want to see what happens to guards that are sent, and nothing else is.
unsafe impl<T> Send for Sent<T> {}

#[test]
fn a_lock_is_given_back_by_who_took_it() {
    let found = failure(|| {
        let lock = Mutex::new(1);
        let guard = Sent(lock.lock().unwrap());
        thread::scope(|scope| {
            scope.spawn(move || drop({ guard }.0));
        });
    });
    assert_eq!(found.kind, FailureKind::WrongThread);
    assert!(found.message.contains("thread t1 gave back the Mutex"), "{}", found.message);
    let found = failure(|| {
        let lock = RwLock::new(1);
        let guard = Sent(lock.write().unwrap());
        thread::scope(|scope| {
            scope.spawn(move || drop({ guard }.0));
        });
    });
    assert_eq!(found.kind, FailureKind::WrongThread);
    assert!(found.message.contains("the RwLock"), "{}", found.message);
    verified(|| {
        let lock = Mutex::new(1);
        thread::scope(|scope| {
            scope.spawn(|| drop(lock.lock()));
            drop(lock.lock());
        });
    });
}

#[test]
fn a_real_thread_that_uses_what_belongs_to_a_check_is_noticed() {
    let line = line!() + 5;
    let found = failure(|| {
        let x = AtomicU32::new(0);
        x.store(1, Relaxed);
        std::thread::scope(|scope| {
            drop(scope.spawn(|| x.fetch_add(1, Relaxed)).join());
        });
    });
    assert_eq!(found.kind, FailureKind::Misuse);
    assert!(found.message.contains("AtomicU32"), "{}", found.message);
    assert!(found.message.contains(&format!("tests/misuse.rs:{line}")), "{}", found.message);
    assert!(found.message.contains("rsmc_shim::thread"), "{}", found.message);
    let found = failure(|| {
        let lock = Mutex::new(0);
        drop(lock.lock());
        std::thread::scope(|scope| {
            drop(scope.spawn(|| drop(lock.lock())).join());
        });
    });
    assert_eq!(found.kind, FailureKind::Misuse);
    // A real thread that keeps to itself may be there.
    verified(|| {
        let x = AtomicU32::new(0);
        x.store(1, Relaxed);
        assert_eq!(std::thread::spawn(|| AtomicU32::new(2).load(Relaxed)).join().unwrap(), 2);
    });
}

/// Shares anything.
struct Shared<T>(T);

// SAFETY: the tests below use what they share one after another.
unsafe impl<T> Sync for Shared<T> {}

/// Whatever the object is, and wherever: it was used in the check first, and then by a real thread, or only by that.
#[test]
fn every_object_notices_a_real_thread() {
    fn misuse<T>(kind: &str, make: fn() -> T, used: fn(&T)) {
        misuse_of(kind, true, |kept| kept(&make()), used);
        misuse_of(kind, false, |kept| kept(&make()), used);
        if cfg!(all(target_os = "linux", feature = "allocator")) {
            misuse_of(kind, false, |kept| kept(&*Box::new(make())), used);
            misuse_of(kind, false, |kept| kept(&vec![make(), make()][1]), used);
        }
    }
    /// `keep` has an object for as long as it calls what it is given.
    fn misuse_of<T>(kind: &str, is_used_before: bool, keep: impl Fn(&dyn Fn(&T)) + Sync, used: fn(&T)) {
        let found = failure(|| {
            keep(&|object| {
                if is_used_before {
                    used(object);
                }
                let object = &Shared(object);
                std::thread::scope(|scope| drop(scope.spawn(move || used(object.0)).join()));
            });
        });
        assert_eq!(found.kind, FailureKind::Misuse, "{kind}: {}", found.message);
        assert!(found.message.contains(&format!("the {kind} created at tests/misuse.rs")), "{}", found.message);
        assert!(found.message.contains("used it at tests/misuse.rs"), "{}", found.message);
    }
    misuse("AtomicBool", || AtomicBool::new(false), |flag| flag.store(true, Relaxed));
    misuse("Mutex", || Mutex::new(1), |lock| drop(lock.lock()));
    misuse("RwLock", || RwLock::new(1), |lock| drop(lock.read()));
    misuse("RwLock", || RwLock::new(1), |lock| drop(lock.try_write()));
    misuse("RwLock", || RwLock::new(1), |lock| drop(lock.is_poisoned().to_string()));
    misuse("Condvar", || Condvar::new(), |condvar| condvar.notify_one());
    misuse("Once", || Once::new(), |once| once.call_once(|| ()));
    misuse("OnceLock", || OnceLock::<u32>::new(), |cell| drop(cell.get().map(u32::to_string)));
    misuse("AtomicWaker", || AtomicWaker::new(), |waker| waker.wake());
    misuse("Cell", || Cell::new(1), |cell| cell.set(2));
    misuse("UnsafeCell", || UnsafeCell::new(1), |cell| cell.with(|_| ()));
    misuse("Arc", || Arc::new(1), |arc| drop(Arc::clone(arc)));
    misuse("Arc", || Arc::new(1), |arc| drop(Arc::downgrade(arc)));
    misuse("Barrier", || Barrier::new(1), |barrier| assert!(barrier.wait().is_leader()));
    misuse("Notify", || Notify::new(), |notify| notify.notify());
    misuse("mpsc::channel", || mpsc::channel::<u32>(), |(sender, _)| assert!(sender.send(1).is_ok()));
    misuse("mpsc::channel", || mpsc::channel::<u32>(), |(_, receiver)| assert!(receiver.try_recv().is_err()));
    misuse("mpsc::sync_channel", || mpsc::sync_channel::<u32>(3), |(sender, _)| assert!(sender.try_send(1).is_ok()));
}

/// A thread that was spawned has a stack of its own.
#[test]
fn a_real_thread_that_uses_what_a_modelled_thread_made_is_noticed() {
    let found = failure(|| {
        let used = |x: &AtomicU32| drop(std::thread::scope(|scope| scope.spawn(|| x.load(Relaxed)).join()));
        thread::scope(|scope| drop(scope.spawn(move || used(&AtomicU32::new(0)))));
    });
    assert_eq!(found.kind, FailureKind::Misuse, "{}", found.message);
}

/// Whether the check has used the token before or not.
#[test]
fn a_real_thread_that_unparks_a_modelled_one_is_noticed() {
    for is_used_before in [true, false] {
        let found = failure(|| {
            let parked = thread::spawn(thread::park);
            if is_used_before {
                parked.thread().unpark();
            }
            let handle = parked.thread().clone();
            drop(std::thread::spawn(move || handle.unpark()).join());
            parked.join().unwrap();
        });
        assert_eq!(found.kind, FailureKind::Misuse, "{is_used_before}: {}", found.message);
        assert!(found.message.contains("park token"), "{}", found.message);
    }
}

/// Real threads, inside a body and elsewhere, have objects of their own while checks go on.
#[test]
fn what_real_threads_make_is_their_own() {
    let own = || {
        let (stack, heap) = (AtomicU32::new(1), Box::new(AtomicU32::new(2)));
        let list: Vec<_> = (0..9).map(AtomicU32::new).collect();
        stack.load(Relaxed) + heap.load(Relaxed) + list.iter().map(|x| x.load(Relaxed)).sum::<u32>()
    };
    let (checks_go_on, ends_with_them) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while ends_with_them.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                assert_eq!(own(), 39);
            }
        });
        let _until_here = checks_go_on;
        for _ in 0..20 {
            verified(|| {
                let x = AtomicU32::new(0);
                assert_eq!(std::thread::spawn(own).join().unwrap(), 39);
                thread::scope(|scope| drop(scope.spawn(|| x.store(1, Relaxed))));
                assert_eq!(x.load(Relaxed), 1);
            });
        }
    });
}

/// Without a word of it the value would seem to leak.
#[test]
fn a_reference_that_a_real_thread_drops_is_no_leak() {
    let found = failure(|| {
        let shared = Arc::new(1);
        let own = Arc::clone(&shared);
        drop(shared);
        std::thread::spawn(move || drop(own)).join().unwrap();
    });
    assert_eq!(found.kind, FailureKind::Misuse, "{}", found.message);
    assert!(found.message.contains("Arc created at tests/misuse.rs"), "{}", found.message);
    assert!(found.message.contains("dropped it"), "{}", found.message);
}

/// Ordinary code may use the same statics meanwhile.
#[test]
fn statics_are_used_by_others_as_well() {
    static SHARED: AtomicU32 = AtomicU32::new(0);
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Relaxed) {
                SHARED.fetch_add(1, Relaxed);
            }
        });
        for _ in 0..20 {
            verified(|| {
                thread::scope(|scope| {
                    scope.spawn(|| SHARED.load(Relaxed));
                    SHARED.load(Relaxed);
                });
            });
        }
        over.store(true, Relaxed);
    });
}

#[test]
fn checks_do_not_nest() {
    // Each in one line, which is the place that is told.
    let bodies: [(u32, fn()); 4] = [
        (line!(), || drop(rsmc::explore(&Config::default(), || ()))),
        (line!(), || drop(rsmc::outcomes(&Config::default(), || 1))),
        (line!(), || rsmc::check(|| ())),
        (line!(), || rsmc::check_with(Config::default(), || ())),
    ];
    for (line, body) in bodies {
        let found = failure(body);
        assert_eq!(found.kind, FailureKind::Panic);
        assert!(found.message.contains("checks do not nest"), "{}", found.message);
        assert!(found.message.contains(&format!("tests/misuse.rs:{line}")), "{line}: {}", found.message);
    }
}
