// What std does, as functions over whatever `sync`, `thread` and `hint` are in scope. Included twice.

use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::{PoisonError, TryLockError};
use std::panic::{AssertUnwindSafe, catch_unwind};

use sync::atomic::*;
use sync::{Arc, Mutex, Weak};

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
    ("names_and_ids", names_and_ids),
    ("spinning", spinning),
    ("locks_in_destructors", locks_in_destructors),
    ("dropping_in_order", dropping_in_order),
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

macro_rules! integer {
    ($($atomic:ident $int:ident)+) => {$(
        let a = $atomic::new(5);
        assert_eq!((a.load(SeqCst), a.load(Acquire), a.load(Relaxed)), (5, 5, 5));
        a.store(6, Release);
        assert_eq!(a.swap(7, AcqRel), 6);
        assert_eq!(a.fetch_add(3, Relaxed), 7);
        assert_eq!(a.fetch_sub(2, Release), 10);
        assert_eq!(a.fetch_and(0b1100, Acquire), 8);
        assert_eq!(a.fetch_or(0b0011, SeqCst), 8);
        assert_eq!(a.fetch_xor(0b0110, SeqCst), 11);
        assert_eq!(a.fetch_nand(0b0100, SeqCst), 13);
        assert_eq!(a.load(SeqCst), !4);
        a.store(20, SeqCst);
        assert_eq!(a.fetch_max(30, SeqCst), 20);
        assert_eq!(a.fetch_max(10, SeqCst), 30);
        assert_eq!(a.fetch_min(10, SeqCst), 30);
        assert_eq!(a.fetch_min(40, SeqCst), 10);
        assert_eq!(a.compare_exchange(10, 11, SeqCst, Relaxed), Ok(10));
        assert_eq!(a.compare_exchange(10, 12, AcqRel, Acquire), Err(11));
        while a.compare_exchange_weak(11, $int::MAX, SeqCst, SeqCst).is_err() {}
        assert_eq!(a.fetch_add(1, SeqCst), $int::MAX);
        assert_eq!(a.fetch_sub(1, SeqCst), $int::MIN);
        assert_eq!(a.fetch_max($int::MIN, SeqCst), $int::MAX);
        assert_eq!(a.fetch_min($int::MIN, SeqCst), $int::MAX);
        assert_eq!(a.fetch_update(SeqCst, Relaxed, |x| x.checked_add(4)), Ok($int::MIN));
        assert_eq!(a.fetch_update(SeqCst, Relaxed, |_| None), Err($int::MIN + 4));
        #[allow(deprecated)]
        {
            assert_eq!(a.compare_and_swap($int::MIN + 4, 1, AcqRel), $int::MIN + 4);
            assert_eq!(a.compare_and_swap(0, 2, Release), 1);
        }
        assert_eq!(a.into_inner(), 1);
        assert_eq!($atomic::default().load(Relaxed), 0);
        assert_eq!($atomic::from(9).load(Relaxed), 9);
    )+};
}

fn integers() {
    integer! {
        AtomicI8 i8 AtomicU8 u8 AtomicI16 i16 AtomicU16 u16 AtomicI32 i32 AtomicU32 u32
        AtomicI64 i64 AtomicU64 u64 AtomicIsize isize AtomicUsize usize
    }
}

fn integers_wrap_and_compare() {
    let a = AtomicI8::new(-1);
    assert_eq!(a.fetch_max(1, SeqCst), -1);
    assert_eq!(a.fetch_min(-128, SeqCst), 1);
    assert_eq!(a.fetch_sub(1, SeqCst), -128);
    assert_eq!(a.load(SeqCst), 127);
    let a = AtomicU16::new(0xffff);
    assert_eq!(a.fetch_min(1, SeqCst), 0xffff);
    let a = AtomicI64::new(i64::MIN);
    assert_eq!(a.compare_exchange(i64::MIN, -5, SeqCst, SeqCst), Ok(i64::MIN));
    assert_eq!(a.fetch_and(-2, SeqCst), -5);
    assert_eq!(a.load(SeqCst), -6);
}

fn booleans() {
    let b = AtomicBool::new(true);
    assert!(b.fetch_and(true, SeqCst));
    assert!(b.fetch_nand(true, SeqCst));
    assert!(!b.fetch_nand(true, SeqCst));
    assert!(b.fetch_xor(true, SeqCst));
    assert!(!b.fetch_or(true, SeqCst));
    assert!(b.fetch_not(SeqCst));
    assert!(!b.swap(true, SeqCst));
    assert_eq!(b.compare_exchange(true, false, SeqCst, SeqCst), Ok(true));
    assert_eq!(b.compare_exchange(true, true, SeqCst, SeqCst), Err(false));
    assert_eq!(b.fetch_update(SeqCst, SeqCst, |x| Some(!x)), Ok(false));
    assert!(b.into_inner());
    assert!(!AtomicBool::default().load(SeqCst));
}

fn pointers() {
    let (mut x, mut y) = (1, 2);
    let (px, py): (*mut i32, *mut i32) = (&mut x, &mut y);
    let p = AtomicPtr::new(px);
    assert_eq!(p.load(Acquire), px);
    assert_eq!(p.swap(py, AcqRel), px);
    assert_eq!(p.compare_exchange(px, px, SeqCst, SeqCst), Err(py));
    assert_eq!(p.compare_exchange(py, px, SeqCst, SeqCst), Ok(py));
    p.store(py, Release);
    // SAFETY: it points to `y`.
    assert_eq!(unsafe { *p.load(Relaxed) }, 2);
    assert_eq!(format!("{p:p}"), format!("{py:p}"));
    assert_eq!(p.fetch_update(SeqCst, SeqCst, |_| Some(std::ptr::null_mut())), Ok(py));
    assert!(AtomicPtr::<u8>::default().into_inner().is_null());
    assert!(p.into_inner().is_null());
}

fn compare_exchange() {
    let a = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let a = Arc::clone(&a);
            thread::spawn(move || {
                while let Err(_) = a.fetch_update(AcqRel, Acquire, |x| Some(x * 2 + 1)) {}
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(a.load(SeqCst), 7);
}

fn exclusive_access() {
    let mut a = AtomicU32::new(1);
    a.store(2, SeqCst);
    *a.get_mut() += 1;
    assert_eq!(a.load(SeqCst), 3);
    a.fetch_add(1, SeqCst);
    assert_eq!(*a.get_mut(), 4);
    assert_eq!(*a.get_mut(), 4);
    assert_eq!(a.into_inner(), 4);
    let mut b = AtomicBool::new(false);
    *b.get_mut() = true;
    assert!(b.load(SeqCst));
    let mut p = AtomicPtr::new(std::ptr::null_mut::<u8>());
    *p.get_mut() = std::ptr::dangling_mut();
    assert!(!p.load(SeqCst).is_null());
}

fn moved_atomics_keep_their_value() {
    let a = AtomicUsize::new(1);
    a.store(2, SeqCst);
    let mut boxed = Box::new(a);
    boxed.fetch_add(1, SeqCst);
    let taken = std::mem::replace(&mut *boxed, AtomicUsize::new(50));
    assert_eq!((boxed.load(SeqCst), taken.load(SeqCst)), (50, 3));
    let many = [taken, *boxed];
    assert_eq!(many.map(|a| a.load(SeqCst)), [3, 50]);
}

fn impossible_orderings() {
    type Code = fn(&AtomicU8, Ordering);
    let load: Code = |a, order| {
        a.load(order);
    };
    let exchange: Code = |a, order| {
        let _ = a.compare_exchange(1, 2, SeqCst, order);
    };
    let exchange_weak: Code = |a, order| {
        let _ = a.compare_exchange_weak(1, 2, SeqCst, order);
    };
    let store: Code = |a, order| a.store(1, order);
    let cases: &[(Code, Ordering, &str)] = &[
        (load, Release, "a release load"),
        (load, AcqRel, "an acquire-release load"),
        (store, Acquire, "an acquire store"),
        (store, AcqRel, "an acquire-release store"),
        (exchange, Release, "a release failure ordering"),
        (exchange, AcqRel, "an acquire-release failure ordering"),
        (exchange_weak, Release, "a release failure ordering"),
        (exchange_weak, AcqRel, "an acquire-release failure ordering"),
        (|_, order| fence(order), Relaxed, "a relaxed fence"),
        (|_, order| compiler_fence(order), Relaxed, "a relaxed fence"),
    ];
    for &(code, order, what) in cases {
        let said = panic_of(|| code(&AtomicU8::new(0), order));
        assert_eq!(said, format!("there is no such thing as {what}"));
    }
    for order in [Acquire, Release, AcqRel, SeqCst] {
        fence(order);
        compiler_fence(order);
    }
}

fn formatting() {
    let a = AtomicI16::new(-3);
    a.store(-4, SeqCst);
    assert_eq!(format!("{a:?}"), "-4");
    assert_eq!(format!("{:?}", AtomicBool::new(true)), "true");
    let m = Mutex::new(1);
    assert_eq!(format!("{m:?}"), "Mutex { data: 1, poisoned: false, .. }");
    let guard = m.lock().unwrap();
    assert_eq!(format!("{m:?} {guard:?} {guard}"), format!("Mutex {{ data: {:?}, poisoned: false, .. }} 1 1", "<locked>"));
    drop(guard);
    let arc = Arc::new(5);
    let text = format!("{arc:?} {arc} {:?}", Arc::downgrade(&arc));
    assert_eq!(text, "5 5 (Weak)");
    let handle = thread::spawn(|| ());
    assert_eq!(format!("{handle:?}"), "JoinHandle { .. }");
    assert!(format!("{:?}", handle.thread()).starts_with("Thread { id: ThreadId("));
    handle.join().unwrap();
}

fn mutex() {
    let mut m = Mutex::new(vec![1]);
    m.lock().unwrap().push(2);
    {
        let guard = m.try_lock().unwrap();
        assert!(matches!(m.try_lock(), Err(TryLockError::WouldBlock)));
        assert_eq!(guard.len(), 2);
    }
    m.get_mut().unwrap().push(3);
    let moved = m;
    assert_eq!(*moved.lock().unwrap(), [1, 2, 3]);
    assert!(!moved.is_poisoned());
    assert_eq!(moved.into_inner().unwrap(), [1, 2, 3]);
    assert_eq!(*Mutex::<u8>::default().lock().unwrap(), 0);
    assert_eq!(*Mutex::from("x").lock().unwrap(), "x");
}

fn mutex_of_unsized() {
    let slice: Box<Mutex<[u8]>> = Box::new(Mutex::new([1, 2, 3]));
    slice.lock().unwrap()[1] = 9;
    assert_eq!(slice.lock().unwrap().iter().sum::<u8>(), 13);
    let shown: &Mutex<dyn std::fmt::Debug + Send> = &Mutex::new(4);
    assert_eq!(format!("{:?}", shown.lock().unwrap()), "4");
}

fn poisoned() -> Arc<Mutex<i32>> {
    let m = Arc::new(Mutex::new(1));
    let theirs = Arc::clone(&m);
    let said = thread_panic(move || {
        let mut guard = theirs.lock().unwrap();
        *guard = 2;
        panic!("with the lock");
    });
    assert_eq!(said, "with the lock");
    m
}

fn poison() {
    let m = poisoned();
    assert!(m.is_poisoned());
    assert_eq!(*m.lock().unwrap_err().into_inner(), 2);
    assert!(matches!(m.try_lock(), Err(TryLockError::Poisoned(_))));
    assert!(m.is_poisoned());
    assert_eq!(format!("{m:?}"), "Mutex { data: 2, poisoned: true, .. }");
    let mut m = Arc::try_unwrap(m).unwrap();
    assert_eq!(*m.get_mut().unwrap_err().into_inner(), 2);
    assert!(m.is_poisoned());
    assert_eq!(m.into_inner().unwrap_err().into_inner(), 2);
}

fn poison_is_cleared() {
    let m = poisoned();
    m.clear_poison();
    assert!(!m.is_poisoned());
    assert_eq!(*m.lock().unwrap(), 2);
    m.clear_poison();

    let m = poisoned();
    let guard = m.lock().unwrap_or_else(PoisonError::into_inner);
    m.clear_poison();
    assert!(!m.is_poisoned());
    drop(guard);
    assert!(!m.is_poisoned());
    assert!(m.lock().is_ok());

    let m = Mutex::new(());
    let guard = m.lock().unwrap();
    m.clear_poison();
    drop(guard);
    assert!(m.try_lock().is_ok());
}

fn poison_needs_a_new_panic() {
    struct LocksInDrop(Arc<Mutex<i32>>);
    impl Drop for LocksInDrop {
        fn drop(&mut self) {
            assert!(thread::panicking());
            *self.0.lock().unwrap() += 1;
        }
    }
    let m = Arc::new(Mutex::new(0));
    let theirs = LocksInDrop(Arc::clone(&m));
    thread_panic(move || {
        let _theirs = theirs;
        assert!(!thread::panicking());
        panic!("x")
    });
    assert!(!m.is_poisoned());
    assert_eq!(*m.lock().unwrap(), 1);

    let m = Arc::new(Mutex::new(0));
    let theirs = Arc::clone(&m);
    thread::spawn(move || {
        panic_of(|| panic!("caught before the lock"));
        let _guard = theirs.lock().unwrap();
    })
    .join()
    .unwrap();
    assert!(!m.is_poisoned());
}

fn poison_by_resumed_panic() {
    let m = Arc::new(Mutex::new(0));
    let theirs = Arc::clone(&m);
    let said = thread_panic(move || {
        let _guard = theirs.lock().unwrap();
        let payload = catch_unwind(|| panic!("again")).unwrap_err();
        std::panic::resume_unwind(payload);
    });
    assert_eq!(said, "again");
    assert!(m.is_poisoned());
}

fn poison_by_panic_of_another() {
    let m = Arc::new(Mutex::new(0));
    let theirs = Arc::clone(&m);
    let said = thread_panic(move || {
        let child = thread::spawn(|| panic!("in the child"));
        let _guard = theirs.lock().unwrap();
        let payload = child.join().unwrap_err();
        std::panic::resume_unwind(payload);
    });
    assert_eq!(said, "in the child");
    assert!(m.is_poisoned());
}

fn arc() {
    let a = Arc::new(String::from("x"));
    let b = a.clone();
    assert!(Arc::ptr_eq(&a, &b));
    assert_eq!(Arc::strong_count(&a), 2);
    assert_eq!((a.len(), a.as_ref().as_str()), (1, "x"));
    assert_eq!(a, b);
    assert!(a <= b);
    let set = std::collections::HashSet::from([a.clone()]);
    assert!(set.contains(&String::from("x")));
    drop(set);
    assert_eq!(Arc::try_unwrap(a).unwrap_err(), b);
    assert_eq!(Arc::into_inner(b), Some(String::from("x")));
    assert_eq!(*Arc::<u8>::default(), 0);
    assert_eq!(*Arc::pin(3), 3);
}

fn arc_unique() {
    let mut a = Arc::new(1);
    *Arc::get_mut(&mut a).unwrap() = 2;
    let b = Arc::clone(&a);
    assert!(Arc::get_mut(&mut a).is_none());
    *Arc::make_mut(&mut a) = 3;
    assert_eq!((*a, *b), (3, 2));
    let w = Arc::downgrade(&a);
    assert!(Arc::get_mut(&mut a).is_none());
    *Arc::make_mut(&mut a) = 4;
    assert!(w.upgrade().is_none());
    assert_eq!(Arc::unwrap_or_clone(a), 4);
    assert_eq!(Arc::unwrap_or_clone(b.clone()), 2);
    assert_eq!(Arc::try_unwrap(b), Ok(2));
}

fn arc_unsized() {
    let text: Arc<str> = "hello".into();
    assert_eq!(text.len(), 5);
    let numbers: Arc<[i32]> = (0..3).collect();
    assert_eq!(numbers.iter().sum::<i32>(), 3);
    assert_eq!(Arc::<[u8]>::from(vec![1, 2]).len(), 2);
    let any: Arc<dyn std::any::Any + Send + Sync> = coerce_arc!(Arc::new(7_u8) => dyn std::any::Any + Send + Sync);
    let any = any.downcast::<u16>().unwrap_err();
    assert_eq!(*any.downcast::<u8>().unwrap(), 7);
}

fn arc_raw() {
    let a = Arc::new(5);
    let p = Arc::into_raw(Arc::clone(&a));
    assert_eq!(p, Arc::as_ptr(&a));
    // SAFETY: it points to a reference of its own; one more is counted, and both are dropped.
    unsafe {
        assert_eq!(*p, 5);
        Arc::increment_strong_count(p);
        assert_eq!(Arc::strong_count(&a), 3);
        Arc::decrement_strong_count(p);
        drop(Arc::from_raw(p));
    }
    assert_eq!(Arc::strong_count(&a), 1);
    let w = Arc::downgrade(&a).into_raw();
    // SAFETY: it points to a weak reference of its own.
    let w = unsafe { Weak::from_raw(w) };
    assert_eq!(*w.upgrade().unwrap(), 5);
    drop(a);
    assert!(w.upgrade().is_none());
}

fn weak() {
    let a = Arc::new_cyclic(|me: &Weak<(Weak<()>, u8)>| {
        assert!(me.upgrade().is_none());
        (Weak::new(), 7)
    });
    let w = Arc::downgrade(&a);
    assert_eq!((Arc::weak_count(&a), w.strong_count(), w.weak_count()), (1, 1, 1));
    assert!(w.ptr_eq(&w.clone()));
    assert!(a.0.upgrade().is_none());
    assert_eq!(w.upgrade().unwrap().1, 7);
    drop(a);
    assert_eq!(w.strong_count(), 0);
}

fn counting() {
    let (n, m) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(0)));
    let threads: Vec<_> = (0..4)
        .map(|i| {
            let (n, m) = (Arc::clone(&n), Arc::clone(&m));
            thread::spawn(move || {
                n.fetch_add(i, Relaxed);
                *m.lock().unwrap() += i;
                i
            })
        })
        .collect();
    let sum: usize = threads.into_iter().map(|t| t.join().unwrap()).sum();
    assert_eq!((sum, n.load(Relaxed), *m.lock().unwrap()), (6, 6, 6));
}

fn join_gives_the_panic() {
    assert_eq!(thread_panic(|| panic!("number {}", 7)), "number 7");
    let payload = thread::spawn(|| std::panic::panic_any(5_u8)).join().unwrap_err();
    assert_eq!(*payload.downcast::<u8>().unwrap(), 5);
    let payload = thread::spawn(|| std::panic::resume_unwind(Box::new(6_u8))).join().unwrap_err();
    assert_eq!(*payload.downcast::<u8>().unwrap(), 6);
}

fn detached_threads_run() {
    let done = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&done);
    drop(thread::spawn(move || theirs.store(true, Release)));
    while !done.load(Acquire) {
        thread::yield_now();
    }
}

fn scopes() {
    let (mut a, n) = (vec![1, 2, 3], AtomicUsize::new(0));
    let sum = thread::scope(|s| {
        let t = s.spawn(|| a.iter().sum::<i32>());
        s.spawn(|| n.fetch_add(1, Relaxed));
        thread::Builder::new().name("x".into()).spawn_scoped(s, || {
            assert_eq!(thread::current().name(), Some("x"));
            n.fetch_add(1, Relaxed);
        }).unwrap();
        t.join().unwrap()
    });
    a.push(sum);
    assert_eq!((a, n.into_inner()), (vec![1, 2, 3, 6], 2));
}

fn scopes_nest() {
    let n = AtomicUsize::new(0);
    thread::scope(|s| {
        s.spawn(|| {
            n.fetch_add(1, SeqCst);
            s.spawn(|| {
                thread::scope(|inner| {
                    inner.spawn(|| n.fetch_add(10, SeqCst));
                });
                s.spawn(|| n.fetch_add(100, SeqCst));
            });
        });
    });
    assert_eq!(n.load(SeqCst), 111);
}

fn scope_panics() {
    let said = thread_panic(|| thread::scope(|s| drop(s.spawn(|| panic!("unseen")))));
    assert_eq!(said, "a scoped thread panicked");
    thread::scope(|s| assert!(s.spawn(|| panic!("seen")).join().is_err()));
    let n = Arc::new(AtomicUsize::new(0));
    let theirs = Arc::clone(&n);
    let said = thread_panic(move || {
        let m = Mutex::new(());
        let result = catch_unwind(AssertUnwindSafe(|| {
            let _guard = m.lock().unwrap();
            thread::scope(|s| {
                s.spawn(|| theirs.store(1, SeqCst));
                panic!("the body");
            })
        }));
        assert!(m.is_poisoned());
        let Err(payload) = result;
        std::panic::resume_unwind(payload);
    });
    assert_eq!(said, "the body");
    assert_eq!(n.load(SeqCst), 1);
}

fn parking() {
    let ready = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&ready);
    let waiter = thread::spawn(move || {
        while !theirs.load(Acquire) {
            thread::park();
        }
    });
    ready.store(true, Release);
    waiter.thread().unpark();
    waiter.join().unwrap();
    // The token is one bit, and kept.
    let me = thread::current();
    me.unpark();
    me.unpark();
    thread::park();
    let main = thread::current();
    let other = thread::spawn(move || main.unpark());
    thread::park();
    other.join().unwrap();
    thread::park_timeout(std::time::Duration::from_millis(1));
}

fn names_and_ids() {
    let handle = thread::Builder::new()
        .name("worker".to_owned())
        .stack_size(256 * 1024)
        .spawn(|| (thread::current().name().map(str::to_owned), thread::current().id()))
        .unwrap();
    let id = handle.thread().id();
    assert_eq!(handle.thread().name(), Some("worker"));
    assert_eq!(handle.join().unwrap(), (Some("worker".to_owned()), id));
    assert_ne!(id, thread::current().id());
    assert_eq!(thread::current().id(), thread::current().id());
    let (a, b) = (thread::spawn(|| thread::current().id()), thread::spawn(|| thread::current().id()));
    assert_eq!(a.thread().name(), None);
    let (a_id, b_id) = (a.thread().id(), b.thread().id());
    assert_ne!(a_id, b_id);
    assert_eq!((a.join().unwrap(), b.join().unwrap()), (a_id, b_id));
    panic_of(|| thread::Builder::new().name("a\0b".to_owned()).spawn(|| ()));
}

fn spinning() {
    let go = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&go);
    let spinner = thread::spawn(move || {
        while !theirs.load(Acquire) {
            hint::spin_loop();
        }
    });
    go.store(true, Release);
    spinner.join().unwrap();
    assert_eq!(hint::black_box(3), 3);
}

fn locks_in_destructors() {
    struct Notes(Arc<Mutex<Vec<u8>>>);
    impl Drop for Notes {
        fn drop(&mut self) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(1);
        }
    }
    let notes = Arc::new(Mutex::new(Vec::new()));
    let theirs = Notes(Arc::clone(&notes));
    thread::spawn(move || drop(theirs)).join().unwrap();
    let theirs = Notes(Arc::clone(&notes));
    thread_panic(move || {
        let _theirs = theirs;
        panic!("unwinds");
    });
    // The result of a thread that is detached is dropped by the thread.
    let theirs = Notes(Arc::clone(&notes));
    drop(thread::spawn(move || theirs));
    while notes.lock().unwrap().len() < 3 {
        thread::yield_now();
    }
}

fn dropping_in_order() {
    struct Mine(Arc<Mutex<Vec<&'static str>>>, &'static str);
    impl Drop for Mine {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(self.1);
        }
    }
    let log = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::new(Mine(Arc::clone(&log), "shared"));
    let theirs = Arc::clone(&shared);
    let local = Mine(Arc::clone(&log), "local");
    thread::spawn(move || {
        let _theirs = theirs;
        drop(local);
    })
    .join()
    .unwrap();
    drop(shared);
    assert_eq!(*log.lock().unwrap(), ["local", "shared"]);
}
