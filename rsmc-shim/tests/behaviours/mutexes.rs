// `Mutex`, its guards and its poison. Included in `all.rs`.

/// An attempt fails as long as another thread has the lock.
fn mutex_is_held_by_another() {
    let (lock, stage) = (Mutex::new(1), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let guard = lock.lock().unwrap();
            stage.wait();
            stage.wait();
            drop(guard);
            stage.wait();
        });
        stage.wait();
        assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
        stage.wait();
        stage.wait();
        assert_eq!(*lock.lock().unwrap(), 1);
    });
}

/// What is not atomic loses nothing under a lock.
fn mutex_excludes() {
    let lock = Mutex::new(0);
    let add = || {
        for _ in 0..2 {
            let mut guard = lock.lock().unwrap();
            let old = *guard;
            thread::yield_now();
            *guard = old + 1;
        }
    };
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    assert_eq!(lock.into_inner().unwrap(), 4);
}

/// A guard that is not kept gives the lock back at the end of its statement, one that is bound at the end of its block.
fn mutex_guards_end() {
    let lock = Mutex::new(String::new());
    lock.lock().unwrap().push('a');
    assert!(lock.try_lock().is_ok());
    {
        let _guard = lock.lock().unwrap();
        assert!(lock.try_lock().is_err());
    }
    drop(lock.lock().unwrap());
    assert_eq!(lock.try_lock().unwrap().as_str(), "a");
}

fn mutex_guards_may_be_forgotten() {
    let mut lock = Mutex::new(3);
    std::mem::forget(lock.lock().unwrap());
    assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
    // Who has the mutex alone needs no lock.
    assert_eq!(*lock.get_mut().unwrap(), 3);
    assert_eq!(lock.into_inner().unwrap(), 3);
}

fn mutex_guards_are_the_value() {
    let lock = Mutex::new(vec![3, 1, 2]);
    let mut guard = lock.lock().unwrap();
    guard.sort_unstable();
    let old = std::mem::replace(&mut *guard, vec![9]);
    assert_eq!((old, guard.first()), (vec![1, 2, 3], Some(&9)));
    assert_eq!(format!("{guard:?} {guard:02x?}"), "[9] [09]");
    let text = Mutex::new("text");
    assert_eq!(format!("{0:>6}|{0:.2}", text.lock().unwrap()), "  text|te");
}

fn mutex_of_a_closure() {
    let act: Box<Mutex<dyn FnMut() -> u32 + Send>> = {
        let mut count = 0;
        Box::new(Mutex::new(move || {
            count += 1;
            count
        }))
    };
    thread::scope(|scope| {
        scope.spawn(|| act.lock().unwrap()());
        scope.spawn(|| act.lock().unwrap()());
    });
    assert_eq!(act.lock().unwrap()(), 3);
}

fn mutex_is_shown() {
    let lock = Mutex::new("a");
    assert_eq!(format!("{lock:#?}"), "Mutex {\n    data: \"a\",\n    poisoned: false,\n    ..\n}");
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let _guard = lock.lock();
        panic!("with the lock");
    }));
    assert_eq!(format!("{lock:?}"), "Mutex { data: \"a\", poisoned: true, .. }");
    let _guard = lock.lock();
    assert!(format!("{lock:?}").ends_with(", poisoned: true, .. }") && format!("{lock:?}").contains("<locked>"));
}

fn mutex_drops_its_value() {
    let drops = Arc::new(AtomicUsize::new(0));
    let lock = Mutex::new(Dropped(Arc::clone(&drops)));
    *lock.lock().unwrap() = Dropped(Arc::clone(&drops));
    assert_eq!(drops.load(Relaxed), 1);
    let inner = lock.into_inner();
    assert_eq!(drops.load(Relaxed), 1);
    drop(inner);
    drop(Mutex::new(Dropped(Arc::clone(&drops))));
    assert_eq!(drops.load(Relaxed), 3);
}

/// What a panic is caught with is poisoned, what it passes is, and what is not held is not.
fn poison_of_the_lock_that_is_held() {
    let (held, released, never) = (Mutex::new(()), Mutex::new(()), Mutex::new(()));
    let said = panic_of(|| {
        drop(released.lock().unwrap());
        let _guard = held.lock().unwrap();
        panic!("now");
    });
    assert_eq!(said, "now");
    assert!(held.is_poisoned() && !released.is_poisoned() && !never.is_poisoned());
}

fn poison_of_all_locks_that_are_held() {
    let (first, second) = (Mutex::new(1), Mutex::new(2));
    panic_of(|| {
        let _first = first.lock().unwrap();
        let _second = second.try_lock().unwrap();
        panic!("with both");
    });
    assert!(first.is_poisoned() && second.is_poisoned());
}

/// A panic that is caught while a guard lives does not poison.
fn poison_needs_a_guard_that_unwinds() {
    let lock = Mutex::new(1);
    let guard = lock.lock().unwrap();
    panic_of(|| panic!("inside"));
    drop(guard);
    assert!(!lock.is_poisoned());
}

/// A poisoned lock is one: it excludes, and gives its data out.
fn poison_does_not_unlock() {
    let lock = poisoned();
    let guard = lock.lock().unwrap_err().into_inner();
    assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
    drop(guard);
    assert!(matches!(lock.try_lock(), Err(TryLockError::Poisoned(error)) if **error.get_ref() == 2));
}

fn poison_errors_give_access() {
    let lock = poisoned();
    let mut error = lock.lock().unwrap_err();
    assert_eq!(**error.get_ref(), 2);
    **error.get_mut() = 5;
    assert_eq!(*error.into_inner(), 5);
    let Err(TryLockError::Poisoned(error)) = lock.try_lock() else { panic!("it is poisoned") };
    assert_eq!(*error.into_inner(), 5);
    assert_eq!(PoisonError::new(7).into_inner(), 7);
}

fn poison_errors_are_shown() {
    let lock = poisoned();
    let error = lock.lock().map(drop).unwrap_err();
    assert_eq!(format!("{error:?}"), "PoisonError { .. }");
    let shown = error.to_string();
    drop(error);
    let error = lock.try_lock().map(drop).unwrap_err();
    assert_eq!(error.to_string(), shown);
    drop(error);
    lock.clear_poison();
    let guard = lock.lock();
    let error = lock.try_lock().map(drop).unwrap_err();
    assert!(format!("{error:?}").contains("WouldBlock") && error.to_string().contains("would block"));
    drop(guard);
    let same: TryLockError<u8> = PoisonError::new(1).into();
    assert!(matches!(same, TryLockError::Poisoned(error) if *error.get_ref() == 1));
}

fn poison_reaches_the_owner() {
    let mut lock = Arc::into_inner(poisoned()).unwrap();
    **lock.get_mut().unwrap_err().get_mut() = 6;
    lock.clear_poison();
    assert_eq!(*lock.get_mut().unwrap(), 6);
    assert_eq!(lock.into_inner().unwrap(), 6);
}

/// Poison comes back with the next panic.
fn poison_comes_again() {
    let lock = poisoned();
    lock.clear_poison();
    lock.clear_poison();
    assert!(lock.lock().is_ok());
    panic_of(|| {
        let _guard = lock.lock().unwrap();
        panic!("again");
    });
    assert!(lock.is_poisoned() && lock.lock().is_err());
}
