// `Once`, `OnceLock`, `LazyLock`.

fn panics(code: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(code)).is_err()
}

/// One call is made, and is over when any returns.
fn once() {
    let (once, calls) = (Once::new(), AtomicUsize::new(0));
    assert!(!once.is_completed());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                once.call_once(|| assert_eq!(calls.fetch_add(1, Relaxed), 0));
                assert_eq!(calls.load(Relaxed), 1);
            });
        }
    });
    assert!(once.is_completed());
    once.call_once(|| unreachable!());
    once.call_once_force(|_| unreachable!());
    once.wait();
    assert_eq!(format!("{once:?}"), "Once { .. }");
}

/// A call that panics poisons, and a forced one heals.
fn once_is_poisoned() {
    let once = Once::new();
    assert!(panics(|| once.call_once(|| panic!("it goes wrong"))));
    assert!(!once.is_completed());
    assert!(panics(|| once.call_once(|| ())));
    assert!(panics(|| once.call_once_force(|state| assert!(!state.is_poisoned()))));
    once.call_once_force(|state| assert!(state.is_poisoned()));
    assert!(once.is_completed());
    once.call_once(|| unreachable!());
}

/// Others wait for a call.
fn once_waits() {
    let (once, cell) = (Once::new(), OnceLock::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            once.wait();
            assert!(once.is_completed());
            assert_eq!(*cell.wait(), 3);
        });
        scope.spawn(|| {
            cell.set(3).unwrap();
            once.call_once(|| ());
        });
    });
}

/// A cell is set once.
fn once_lock() {
    let mut cell = OnceLock::new();
    assert!(cell.get().is_none() && cell.get_mut().is_none() && cell.take().is_none());
    assert_eq!(format!("{cell:?}"), "OnceLock(<uninit>)");
    assert_eq!((cell.set(1), cell.set(2)), (Ok(()), Err(2)));
    assert_eq!((cell.get(), *cell.get_or_init(|| unreachable!())), (Some(&1), 1));
    *cell.get_mut().unwrap() += 4;
    assert_eq!(format!("{cell:?}"), "OnceLock(5)");
    assert_eq!((cell.clone(), OnceLock::from(5)), (OnceLock::from(5), cell.clone()));
    assert!(OnceLock::<u8>::default().clone().get().is_none());
    assert_eq!(cell.take(), Some(5));
    assert_eq!(cell.get(), None);
    assert_eq!(*cell.get_or_init(|| 6), 6);
    assert_eq!((cell.into_inner(), OnceLock::<u8>::new().into_inner()), (Some(6), None));
    // A value may borrow.
    let text = String::from("text");
    let borrowed = OnceLock::new();
    assert_eq!(*borrowed.get_or_init(|| text.as_str()), "text");
}

/// Of two threads one makes the value, and both see it.
fn once_lock_makes_one_value() {
    let (cell, made) = (OnceLock::new(), AtomicUsize::new(0));
    let make = || *cell.get_or_init(|| made.fetch_add(1, Relaxed) + 10);
    thread::scope(|scope| {
        let other = scope.spawn(make);
        assert_eq!((make(), other.join().unwrap()), (10, 10));
    });
    assert_eq!(made.load(Relaxed), 1);
}

/// A panic leaves it empty.
fn once_lock_after_a_panic() {
    let cell: OnceLock<u8> = OnceLock::new();
    assert!(panics(|| drop(cell.get_or_init(|| panic!("it goes wrong")).to_string())));
    assert_eq!((cell.get(), *cell.get_or_init(|| 7)), (None, 7));
}

/// Counts its drops.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// The value goes with its cell, and once.
fn once_lock_drops_its_value() {
    let drops = Arc::new(AtomicUsize::new(0));
    let cell = OnceLock::new();
    assert!(cell.set(Dropped(Arc::clone(&drops))).is_ok());
    assert!(cell.set(Dropped(Arc::clone(&drops))).is_err());
    assert_eq!(drops.load(Relaxed), 1);
    drop(cell);
    assert_eq!(drops.load(Relaxed), 2);
    let mut cell = OnceLock::from(Dropped(Arc::clone(&drops)));
    drop(cell.take());
    assert_eq!(drops.load(Relaxed), 3);
    drop(cell);
    drop(LazyLock::new(|| Dropped(Arc::clone(&drops))));
    assert_eq!(drops.load(Relaxed), 3);
    let lazy = LazyLock::new(|| Dropped(Arc::clone(&drops)));
    LazyLock::force(&lazy);
    drop(lazy);
    assert_eq!(drops.load(Relaxed), 4);
}

/// A cell may move.
fn once_lock_moves_with_its_value() {
    let mut cells = vec![OnceLock::new(), OnceLock::new()];
    cells[0].set("first").unwrap();
    cells.push(OnceLock::new());
    cells.swap(0, 1);
    assert_eq!(cells.iter().map(OnceLock::get).collect::<Vec<_>>(), [None, Some(&"first"), None]);
    let moved = std::mem::take(&mut cells[1]);
    assert_eq!(cells[1].get(), None);
    assert_eq!(moved.into_inner(), Some("first"));
}

/// A value is made at its first use, by one thread.
fn lazy_lock() {
    let made = AtomicUsize::new(0);
    let lazy = LazyLock::new(|| made.fetch_add(1, Relaxed) + 1);
    assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(*lazy, 1));
        assert_eq!(*LazyLock::force(&lazy), 1);
    });
    assert_eq!(format!("{lazy:?}"), "LazyLock(1)");
    assert_eq!(*LazyLock::<u8>::default(), 0);
    let captured = String::from("captured");
    let once = LazyLock::new(move || captured);
    assert_eq!((once.len(), once.len()), (8, 8));
}

/// Making it is tried once.
fn lazy_lock_is_poisoned() {
    let lazy: LazyLock<u8> = LazyLock::new(|| panic!("it goes wrong"));
    assert!(panics(|| assert_eq!(*lazy, 1)));
    assert!(panics(|| assert_eq!(*lazy, 1)));
}

/// Statics too.
fn statics_are_made_once() {
    static TABLE: LazyLock<Vec<u32>> = LazyLock::new(|| (0..4).collect());
    let table = thread::spawn(|| TABLE.as_ptr().addr());
    assert_eq!((TABLE[3], table.join().unwrap()), (3, TABLE.as_ptr().addr()));
}
