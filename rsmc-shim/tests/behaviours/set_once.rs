// `Once`, `OnceLock` and `LazyLock`, once more. Included in `all.rs`.

/// It is not completed before its call has ended, and only the first call is made.
fn once_completes_at_the_end() {
    let (once, mut calls) = (Once::new(), 0);
    once.call_once(|| {
        assert!(!once.is_completed());
        calls += 1;
    });
    once.call_once(|| calls += 10);
    assert!(once.is_completed() && calls == 1);
}

/// What the call wrote is seen behind it.
fn once_publishes() {
    let (once, data) = (Once::new(), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                once.call_once(|| data.store(4, Relaxed));
                assert_eq!(data.load(Relaxed), 4);
            });
        }
        if once.is_completed() {
            assert_eq!(data.load(Relaxed), 4);
        }
    });
}

fn once_may_call_another() {
    let (outer, inner, count) = (Once::new(), Once::new(), AtomicU8::new(0));
    outer.call_once(|| {
        inner.call_once(|| {
            count.fetch_add(1, SeqCst);
        });
        count.fetch_add(1, SeqCst);
    });
    inner.call_once(|| unreachable!());
    assert!(outer.is_completed() && inner.is_completed() && count.into_inner() == 2);
}

fn once_tells_a_forced_call() {
    let once = Once::new();
    let mut shown = String::new();
    panic_of(|| once.call_once_force(|_| panic!("at first")));
    once.call_once_force(|state| shown = format!("{state:?} {}", state.is_poisoned()));
    assert_eq!(shown, "OnceState { poisoned: true } true");
    let once = Once::new();
    once.call_once_force(|state| shown = format!("{state:?}"));
    assert_eq!(shown, "OnceState { poisoned: false }");
}

/// Waiting panics where a call has, and waits on for a better one if it is forced.
fn once_waits_with_poison() {
    let once = Once::new();
    panic_of(|| once.call_once(|| panic!("at first")));
    assert!(panics(|| once.wait()));
    thread::scope(|scope| {
        scope.spawn(|| {
            once.wait_force();
            assert!(once.is_completed());
        });
        once.call_once_force(|state| assert!(state.is_poisoned()));
    });
    once.wait();
}

#[allow(deprecated)]
fn once_of_old_code() {
    static START: Once = sync::ONCE_INIT;
    let mut calls = 0;
    START.call_once(|| calls += 1);
    START.call_once(|| calls += 1);
    assert!(START.is_completed() && calls <= 1);
}

/// Nothing is seen of a value that is being made.
fn once_lock_is_empty_until_made() {
    let cell = OnceLock::new();
    let value = cell.get_or_init(|| {
        assert!(cell.get().is_none());
        [1, 2]
    });
    assert!(std::ptr::eq(value, cell.get().unwrap()) && std::ptr::eq(value, cell.wait()));
}

/// Of two threads one sets the value; the other has its own back.
fn once_lock_is_set_by_one() {
    let cell = OnceLock::new();
    let (mine, theirs) = thread::scope(|scope| {
        let other = scope.spawn(|| cell.set(2));
        (cell.set(1), other.join().unwrap())
    });
    match cell.get() {
        Some(1) => assert_eq!((mine, theirs), (Ok(()), Err(2))),
        Some(2) => assert_eq!((mine, theirs), (Err(1), Ok(()))),
        other => panic!("{other:?}"),
    }
}

/// Where one thread panics, another makes the value.
fn once_lock_is_made_by_another() {
    let cell = OnceLock::new();
    thread::scope(|scope| {
        let fails = scope.spawn(|| *cell.get_or_init(|| panic!("at first")));
        assert!(fails.join().is_err());
        assert_eq!(scope.spawn(|| *cell.get_or_init(|| 8)).join().unwrap(), 8);
    });
}

fn once_lock_compares_and_copies() {
    let (one, empty) = (OnceLock::from(String::from("a")), OnceLock::<String>::new());
    let copy = one.clone();
    assert!(one == copy && one != empty && empty == OnceLock::default() && empty.clone() == empty);
    assert!(!std::ptr::eq(one.get().unwrap(), copy.get().unwrap()));
    copy.set(String::from("b")).unwrap_err();
    empty.set(String::from("a")).unwrap();
    assert_eq!(empty, one);
}

fn once_cells_are_shown() {
    let cell = OnceLock::new();
    assert_eq!(format!("{cell:?} {cell:#?}"), "OnceLock(<uninit>) OnceLock(\n    <uninit>,\n)");
    cell.set(vec![1]).unwrap();
    assert_eq!(format!("{cell:02?}"), "OnceLock([01])");
    let lazy = LazyLock::new(|| 'x');
    assert_eq!(format!("{lazy:#?}"), "LazyLock(\n    <uninit>,\n)");
    LazyLock::force(&lazy);
    assert_eq!(format!("{lazy:?}"), "LazyLock('x')");
}

/// Who has the cell alone may take its value and start again.
fn once_lock_starts_again() {
    let mut cell = OnceLock::new();
    for round in 0..3 {
        assert_eq!(*cell.get_or_init(|| round), round);
        thread::scope(|scope| drop(scope.spawn(|| assert!(cell.set(9).is_err()))));
        *cell.get_mut().unwrap() += 1;
        assert_eq!((cell.take(), cell.take()), (Some(round + 1), None));
    }
    assert_eq!(cell.into_inner(), None);
}

/// The function is used up, and what it has captured is gone when the value is there.
fn lazy_lock_uses_its_function_up() {
    let captured = Arc::new(());
    let theirs = Arc::clone(&captured);
    let lazy = LazyLock::new(move || Arc::strong_count(&theirs));
    assert_eq!(Arc::strong_count(&captured), 2);
    assert_eq!((*lazy, Arc::strong_count(&captured)), (2, 1));
    let theirs = Arc::clone(&captured);
    drop(LazyLock::new(move || drop(theirs)));
    assert_eq!(Arc::strong_count(&captured), 1);
}

fn lazy_lock_is_where_it_was() {
    fn make() -> Vec<u8> {
        vec![1, 2]
    }
    let lazy: LazyLock<Vec<u8>> = LazyLock::new(make);
    let first: *const Vec<u8> = LazyLock::force(&lazy);
    let other = thread::scope(|scope| scope.spawn(|| std::ptr::from_ref(&*lazy).addr()).join().unwrap());
    assert_eq!((first.addr(), lazy.as_slice()), (other, &[1, 2][..]));
}

/// A value that another needs is made with it.
fn lazy_lock_needs_another() {
    let log = Mutex::new(Vec::new());
    let first = LazyLock::new(|| log.lock().unwrap().push("first"));
    let second = LazyLock::new(|| {
        LazyLock::force(&first);
        log.lock().unwrap().push("second");
    });
    LazyLock::force(&second);
    LazyLock::force(&first);
    assert_eq!(*log.lock().unwrap(), ["first", "second"]);
}

/// Its poison is for all threads, and tells what it is.
fn lazy_lock_panics_again() {
    let lazy: LazyLock<u8> = LazyLock::new(|| panic!("at first"));
    assert_eq!(panic_of(|| *lazy), "at first");
    let said = thread::scope(|scope| message(scope.spawn(|| *lazy).join().unwrap_err()));
    assert!(said.contains("poisoned"), "{said}");
    assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
}
