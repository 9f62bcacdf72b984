// `thread_local!`, once more. Included in `all.rs`.

/// A value is made when it is first used, once for each thread that does.
fn locals_are_made_lazily() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static VALUE: usize = MADE.fetch_add(1, SeqCst));
    let before = MADE.load(SeqCst);
    thread::spawn(|| ()).join().unwrap();
    assert_eq!(MADE.load(SeqCst), before);
    for _ in 0..2 {
        thread::spawn(|| assert_eq!(VALUE.with(|value| *value), VALUE.with(|value| *value))).join().unwrap();
    }
    assert_eq!(MADE.load(SeqCst), before + 2);
}

fn locals_of_scoped_threads() {
    use std::cell::Cell;
    thread_local!(static OWN: Cell<usize> = const { Cell::new(0) });
    OWN.set(100);
    let add = |n: usize| {
        OWN.set(OWN.get() + n);
        thread::yield_now();
        OWN.get()
    };
    let sums = thread::scope(|scope| {
        let others = [scope.spawn(move || add(1)), scope.spawn(move || add(2))];
        (others.map(|other| other.join().unwrap()), add(3))
    });
    assert_eq!(sums, ([1, 2], 103));
}

fn locals_in_cells() {
    use std::cell::Cell;
    thread_local! {
        static NUMBER: Cell<u8> = const { Cell::new(1) };
        static TEXT: Cell<String> = Cell::new("first".to_owned());
    }
    assert_eq!((NUMBER.replace(2), NUMBER.get(), NUMBER.take(), NUMBER.get()), (1, 2, 2, 0));
    assert_eq!((TEXT.take(), TEXT.replace("second".to_owned())), ("first".to_owned(), String::new()));
    TEXT.set("third".to_owned());
    assert_eq!(TEXT.take(), "third");
}

fn locals_are_borrowed() {
    use std::cell::RefCell;
    thread_local!(static VALUES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });
    VALUES.with_borrow_mut(|values| values.push(1));
    let sum = VALUES.with_borrow(|outer| VALUES.with_borrow(|inner| outer[0] + inner[0]));
    assert_eq!(sum, 2);
    VALUES.with_borrow(|_| {
        assert!(panics(|| VALUES.with_borrow_mut(|values| values.push(2))));
        assert!(panics(|| VALUES.set(Vec::new())));
        assert!(panics(|| drop(VALUES.take())));
    });
    VALUES.with_borrow_mut(|_| assert!(panics(|| VALUES.with_borrow(|_| ()))));
    assert_eq!((VALUES.replace(vec![7]), VALUES.take()), (vec![1], vec![7]));
}

/// A first value that is set is not made before.
fn locals_are_set_without_being_made() {
    use std::cell::{Cell, RefCell};
    thread_local! {
        static NEVER: Cell<u8> = panic!("it is not made");
        static NEITHER: RefCell<u8> = panic!("it is not made either");
    }
    NEVER.set(4);
    NEITHER.set(5);
    assert_eq!((NEVER.get(), NEITHER.take()), (4, 5));
}

/// A panic while a value is made leaves none, and the next use makes one.
fn locals_are_made_after_a_panic() {
    use std::cell::Cell;
    thread_local! {
        static TRIES: Cell<u8> = const { Cell::new(0) };
        static VALUE: u8 = {
            TRIES.set(TRIES.get() + 1);
            assert!(TRIES.get() > 1, "at first");
            TRIES.get()
        };
    }
    assert!(panics(|| VALUE.with(|_| ())));
    assert_eq!((VALUE.with(|value| *value), VALUE.try_with(|value| *value)), (2, Ok(2)));
}

/// A thread that panics drops its values too.
fn locals_are_dropped_after_a_panic() {
    use std::cell::RefCell;
    thread_local!(static VALUE: RefCell<Option<Dropped>> = const { RefCell::new(None) });
    let drops = Arc::new(AtomicUsize::new(0));
    let theirs = Arc::clone(&drops);
    thread_panic(move || {
        VALUE.set(Some(Dropped(theirs)));
        panic!("its end");
    });
    assert_eq!(drops.load(SeqCst), 1);
}

/// A value that is gone says so.
fn locals_are_gone_at_last() {
    struct Asks(Arc<Mutex<String>>);
    impl Drop for Asks {
        fn drop(&mut self) {
            let error = VALUE.try_with(|_| ()).unwrap_err();
            let copy = error;
            assert!(copy == error && std::error::Error::source(&error).is_none());
            *self.0.lock().unwrap() = format!("{error:?}: {error}");
        }
    }
    thread_local!(static VALUE: std::cell::OnceCell<Asks> = const { std::cell::OnceCell::new() });
    let said = Arc::new(Mutex::new(String::new()));
    let theirs = Arc::clone(&said);
    thread::spawn(move || VALUE.with(|value| assert!(value.set(Asks(theirs)).is_ok()))).join().unwrap();
    assert_eq!(*said.lock().unwrap(), "AccessError: already destroyed");
}

fn locals_are_declared_together() {
    thread_local! {
        static FIRST: u8 = const { 1 };
        /// With an attribute.
        #[allow(dead_code)]
        pub(crate) static SECOND: [u8; 2] = const { [2, 3] };
        static THIRD: u8 = FIRST.with(|first| SECOND.with(|second| first + second[1]))
    }
    thread_local!();
    assert_eq!(THIRD.with(|third| *third), 4);
    assert_eq!(format!("{THIRD:?}"), "LocalKey { .. }");
}

/// What may pass a `catch_unwind` may in std.
fn bounds_of_unwinding() {
    fn unwind<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    fn both<T: Send + Sync>() {}
    type Single = std::cell::Cell<u8>;
    unwind::<Condvar>();
    unwind::<Barrier>();
    unwind::<Once>();
    unwind::<OnceLock<u8>>();
    unwind::<LazyLock<u8>>();
    unwind::<sync::MutexGuard<'static, Single>>();
    unwind::<Weak<u8>>();
    unwind::<thread::Builder>();
    unwind::<thread::LocalKey<Single>>();
    unwind::<sync::WaitTimeoutResult>();
    unwind::<sync::BarrierWaitResult>();
    both::<Condvar>();
    both::<Barrier>();
    both::<Once>();
    both::<OnceLock<u8>>();
    both::<LazyLock<u8>>();
    both::<thread::ThreadId>();
    both::<thread::LocalKey<Single>>();
    both::<thread::Builder>();
}
