// `Condvar` and `Barrier`.

/// A thread waits for another's message.
fn condvar() {
    let (lock, changed) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *lock.lock().unwrap() = 7;
            changed.notify_one();
        });
        let mut value = lock.lock().unwrap();
        while *value == 0 {
            value = changed.wait(value).unwrap();
        }
        assert_eq!(*value, 7);
    });
    changed.notify_one();
    changed.notify_all();
    assert_eq!(format!("{changed:?}"), "Condvar { .. }");
}

/// One notification for two waiters, and another.
fn condvar_wakes_as_many_as_notified() {
    let (slots, free) = (Mutex::new(0), Condvar::default());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| *free.wait_while(slots.lock().unwrap(), |slots| *slots == 0).unwrap() -= 1);
        }
        for _ in 0..2 {
            *slots.lock().unwrap() += 1;
            free.notify_one();
        }
    });
    assert_eq!(slots.into_inner().unwrap(), 0);
}

/// All wake.
fn condvar_wakes_all() {
    let (open, opened) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert!(*opened.wait_while(open.lock().unwrap(), |open| !*open).unwrap()));
        }
        *open.lock().unwrap() = true;
        opened.notify_all();
    });
}

/// A wait ends when its time is over.
fn condvar_times_out() {
    let (lock, never) = (Mutex::new(1), Condvar::new());
    let short = std::time::Duration::from_micros(100);
    let (guard, result) = never.wait_timeout(lock.lock().unwrap(), short).unwrap();
    drop(guard);
    let copy = result;
    assert!(copy == result && result.timed_out());
    let (guard, result) = never.wait_timeout_while(lock.lock().unwrap(), short, |value| *value == 1).unwrap();
    assert!(result.timed_out() && *guard == 1);
    let (guard, result) = never.wait_timeout_while(guard, short, |value| *value == 2).unwrap();
    assert!(!result.timed_out() && *guard == 1);
}

/// A mutex that is poisoned while a thread waits for its notification.
fn condvar_and_poison() {
    let (lock, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let mut guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
            while !*guard {
                guard = match changed.wait(guard) {
                    Ok(guard) => guard,
                    Err(error) => error.into_inner(),
                };
            }
        });
        let poisons = scope.spawn(|| {
            let mut guard = lock.lock().unwrap();
            *guard = true;
            changed.notify_all();
            panic!("with the lock");
        });
        assert!(poisons.join().is_err() && waiter.join().is_ok());
    });
    assert!(lock.is_poisoned());
    let short = std::time::Duration::from_micros(1);
    let error = changed.wait_timeout(lock.lock().unwrap_err().into_inner(), short).unwrap_err();
    assert!(*error.into_inner().0);
}

/// All come together, and one leads; twice.
fn barrier() {
    let (barrier, there) = (Barrier::new(2), AtomicUsize::new(0));
    thread::scope(|scope| {
        let round = || {
            there.fetch_add(1, Relaxed);
            let first = barrier.wait().is_leader();
            assert!(there.load(Relaxed) >= 2);
            usize::from(first) + usize::from(barrier.wait().is_leader())
        };
        let other = scope.spawn(round);
        assert_eq!(round() + other.join().unwrap(), 2);
    });
    assert!(Barrier::new(1).wait().is_leader() && Barrier::new(0).wait().is_leader());
    assert_eq!(format!("{barrier:?}"), "Barrier { .. }");
}
