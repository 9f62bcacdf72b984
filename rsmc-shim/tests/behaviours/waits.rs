// `Condvar` and `Barrier`, once more. Included in `all.rs`.

/// A condition that is false is asked once, and nothing is waited for.
fn wait_while_does_not_wait() {
    let (lock, never, mut asked) = (Mutex::new(1), Condvar::new(), 0);
    let guard = never.wait_while(lock.lock().unwrap(), |value| {
        asked += 1;
        *value != 1
    });
    assert_eq!(*guard.unwrap(), 1);
    let forever = std::time::Duration::MAX;
    let (guard, result) = never.wait_timeout_while(lock.lock().unwrap(), forever, |value| *value != 1).unwrap();
    assert_eq!((*guard, result.timed_out(), asked), (1, false, 1));
}

/// The condition may change what it sees.
fn wait_while_changes() {
    let (lock, changed) = (Mutex::new(vec![1]), Condvar::new());
    let guard = changed.wait_while(lock.lock().unwrap(), |values| values.pop().is_some_and(|last| last != 1));
    assert!(guard.unwrap().is_empty());
}

/// A wait gives the lock back, and ends with it.
fn wait_gives_the_lock_back() {
    let (lock, changed) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        let mut guard = lock.lock().unwrap();
        scope.spawn(|| {
            *lock.lock().unwrap() += 1;
            changed.notify_all();
        });
        guard = changed.wait_while(guard, |value| *value == 0).unwrap();
        assert!(lock.try_lock().is_err());
        assert_eq!(*guard, 1);
    });
}

/// A notification that nobody waits for is lost.
fn notifications_are_not_kept() {
    let (lock, changed) = (Mutex::new(()), Condvar::new());
    changed.notify_one();
    changed.notify_all();
    let short = std::time::Duration::from_micros(50);
    let (guard, result) = changed.wait_timeout_while(lock.lock().unwrap(), short, |()| true).unwrap();
    drop(guard);
    assert!(result.timed_out());
}

/// Two threads take turns.
fn condvar_takes_turns() {
    let (turn, changed, log) = (Mutex::new(0), Condvar::new(), Mutex::new(Vec::new()));
    let play = |own: usize| {
        for _ in 0..2 {
            let mut turn = changed.wait_while(turn.lock().unwrap(), |turn| *turn != own).unwrap();
            log.lock().unwrap().push(own);
            *turn = 1 - own;
            changed.notify_all();
        }
    };
    thread::scope(|scope| {
        let play = &play;
        scope.spawn(move || play(1));
        play(0);
    });
    assert_eq!(*log.lock().unwrap(), [0, 1, 0, 1]);
}

/// A queue with one place, with a condition variable for each side.
fn condvars_share_a_mutex() {
    let (place, full, empty) = (Mutex::new(None), Condvar::new(), Condvar::new());
    let mut got = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            for value in 0..3 {
                *empty.wait_while(place.lock().unwrap(), |place| place.is_some()).unwrap() = Some(value);
                full.notify_one();
            }
        });
        for _ in 0..3 {
            got.push(full.wait_while(place.lock().unwrap(), |place| place.is_none()).unwrap().take().unwrap());
            empty.notify_one();
        }
    });
    assert_eq!(got, [0, 1, 2]);
}

/// A wait with a poisoned lock has an error with the guard, which holds the lock.
fn wait_with_poison() {
    let (lock, never) = (poisoned(), Condvar::new());
    let short = std::time::Duration::from_micros(1);
    let guard = lock.lock().unwrap_err().into_inner();
    let error = never.wait_timeout_while(guard, short, |_| true).unwrap_err();
    let (guard, _) = error.into_inner();
    assert!(lock.try_lock().is_err());
    // A condition that is false at once finds no poison.
    assert_eq!(never.wait_while(guard, |_| false).map(|guard| *guard).ok(), Some(2));
}

#[allow(deprecated)]
fn wait_for_milliseconds() {
    let (lock, changed) = (Mutex::new(false), Condvar::new());
    // Whether a wait was ended by something else than time. One in a hundred was not.
    let woken = || {
        let (mut guard, woken) = changed.wait_timeout_ms(lock.lock().unwrap(), 1).unwrap();
        *guard = true;
        woken
    };
    assert!((0..100).any(|_| !woken()) && *lock.lock().unwrap());
    let lock = poisoned();
    let error = changed.wait_timeout_ms(lock.lock().unwrap_err().into_inner(), 1).unwrap_err();
    assert_eq!(*error.into_inner().0, 2);
}

fn waits_are_shown() {
    let (lock, never) = (Mutex::new(1), Condvar::default());
    let short = std::time::Duration::from_micros(1);
    let (guard, result) = never.wait_timeout_while(lock.lock().unwrap(), short, |_| true).unwrap();
    drop(guard);
    assert_eq!(format!("{result:?} {never:?}"), "WaitTimeoutResult(true) Condvar { .. }");
    let leader = Barrier::new(1).wait();
    assert_eq!(format!("{leader:?}"), "BarrierWaitResult { is_leader: true }");
}

/// In each round one of three leads.
fn barrier_has_one_leader() {
    let (barrier, leaders) = (Barrier::new(3), [AtomicUsize::new(0), AtomicUsize::new(0)]);
    let rounds = || {
        for leaders in &leaders {
            leaders.fetch_add(usize::from(barrier.wait().is_leader()), Relaxed);
        }
    };
    thread::scope(|scope| {
        scope.spawn(rounds);
        scope.spawn(rounds);
        rounds();
    });
    assert_eq!(leaders.map(AtomicUsize::into_inner), [1, 1]);
}

/// What was written before a barrier is seen behind it.
fn barrier_publishes() {
    let (barrier, notes) = (Barrier::new(2), [AtomicU8::new(0), AtomicU8::new(0)]);
    let (barrier, notes) = (&barrier, &notes);
    let meet = move |own: usize| {
        notes[own].store(own as u8 + 1, Relaxed);
        barrier.wait();
        notes[1 - own].load(Relaxed)
    };
    let seen = thread::scope(|scope| {
        let other = scope.spawn(move || meet(0));
        [meet(1), other.join().unwrap()]
    });
    assert_eq!(seen, [1, 2]);
}
