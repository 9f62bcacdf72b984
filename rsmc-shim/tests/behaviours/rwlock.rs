// `RwLock`.

fn rwlock() {
    let lock = RwLock::new(vec![1]);
    lock.write().unwrap().push(2);
    assert_eq!(*lock.read().unwrap(), [1, 2]);
    let moved = lock;
    moved.write().unwrap()[0] = 7;
    assert_eq!(moved.into_inner().unwrap(), [7, 2]);
}

fn rwlock_is_made_from_a_value() {
    assert_eq!(*RwLock::<u8>::default().read().unwrap(), 0);
    assert_eq!(*RwLock::from("x").read().unwrap(), "x");
}

fn rwlock_gives_its_value_to_its_owner() {
    let mut lock = RwLock::new(1);
    *lock.get_mut().unwrap() += 1;
    assert_eq!(*lock.read().unwrap(), 2);
    *lock.get_mut().unwrap() += 1;
    assert_eq!(lock.into_inner().unwrap(), 3);
}

fn rwlock_readers_share() {
    let lock = RwLock::new(5);
    let (one, two) = (lock.read().unwrap(), lock.try_read().unwrap());
    assert_eq!(*one + *two, 10);
    assert!(std::ptr::eq(&*one, &*two));
}

fn rwlock_readers_share_across_threads() {
    let lock = RwLock::new(5);
    let mine = lock.read().unwrap();
    thread::scope(|scope| {
        let theirs = scope.spawn(|| *lock.read().unwrap());
        assert_eq!(theirs.join().unwrap(), *mine);
    });
}

fn rwlock_readers_keep_writers_out() {
    let lock = RwLock::new(5);
    let (one, two) = (lock.read().unwrap(), lock.read().unwrap());
    drop(one);
    assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
    drop(two);
    assert!(lock.try_write().is_ok());
}

fn rwlock_writers_are_alone() {
    let lock = RwLock::new(5);
    let mut guard = lock.try_write().unwrap();
    *guard += 1;
    assert!(matches!(lock.try_read(), Err(TryLockError::WouldBlock)));
    assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
    drop(guard);
    assert_eq!(*lock.try_read().unwrap(), 6);
}

fn rwlock_attempts_of_another_thread() {
    let lock = RwLock::new(0);
    let attempts = || {
        let reads = lock.try_read().is_ok();
        (reads, lock.try_write().is_ok())
    };
    thread::scope(|scope| {
        let guard = lock.write().unwrap();
        assert_eq!(scope.spawn(attempts).join().unwrap(), (false, false));
        drop(guard);
        let guard = lock.read().unwrap();
        assert_eq!(scope.spawn(attempts).join().unwrap(), (true, false));
        drop(guard);
        assert_eq!(scope.spawn(attempts).join().unwrap(), (true, true));
    });
}

fn rwlock_a_guard_that_is_not_kept() {
    let lock = RwLock::new(0);
    drop(lock.write());
    drop(lock.read());
    assert_eq!({ *lock.write().unwrap() += 1 }, ());
    assert_eq!(*lock.try_read().unwrap(), 1);
}

fn rwlock_a_forgotten_reader() {
    let lock = RwLock::new(0);
    std::mem::forget(lock.read());
    assert!(lock.try_read().is_ok());
    assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
    assert_eq!(lock.into_inner().unwrap(), 0);
}

fn rwlock_a_forgotten_writer() {
    let mut lock = RwLock::new(0);
    std::mem::forget(lock.write());
    assert!(matches!(lock.try_read(), Err(TryLockError::WouldBlock)));
    *lock.get_mut().unwrap() = 2;
    assert_eq!(lock.into_inner().unwrap(), 2);
}

fn rwlock_loses_no_update() {
    let lock = Arc::new(RwLock::new(0));
    let add = |lock: Arc<RwLock<u32>>| move || *lock.write().unwrap() += 1;
    let threads = [thread::spawn(add(Arc::clone(&lock))), thread::spawn(add(Arc::clone(&lock)))];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*lock.read().unwrap(), 2);
}

fn rwlock_readers_see_whole_writes() {
    let lock = RwLock::new((0, 0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut guard = lock.write().unwrap();
            guard.0 += 1;
            guard.1 += 1;
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let guard = lock.read().unwrap();
                assert_eq!(guard.0, guard.1);
            });
        }
    });
}

fn rwlock_a_writer_waits_for_readers() {
    let (lock, reading) = (RwLock::new(0), AtomicBool::new(true));
    thread::scope(|scope| {
        let guard = lock.read().unwrap();
        scope.spawn(|| {
            *lock.write().unwrap() = 1;
            assert!(!reading.load(Relaxed));
        });
        assert_eq!(*guard, 0);
        reading.store(false, Relaxed);
    });
    assert_eq!(lock.into_inner().unwrap(), 1);
}

fn rwlock_readers_wait_for_a_writer() {
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        let mut guard = lock.write().unwrap();
        let readers = [(); 2].map(|()| scope.spawn(|| *lock.read().unwrap()));
        *guard = 3;
        drop(guard);
        assert_eq!(readers.map(|reader| reader.join().unwrap()), [3, 3]);
    });
}

fn rwlock_writers_wait_for_writers() {
    let lock = &RwLock::new(vec![]);
    thread::scope(|scope| {
        let mut guard = lock.write().unwrap();
        let writers = [1, 2].map(|number| scope.spawn(move || lock.write().unwrap().push(number)));
        guard.push(0);
        drop(guard);
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    });
    let written = lock.read().unwrap();
    assert!(*written == [0, 1, 2] || *written == [0, 2, 1]);
}

fn rwlock_of_unsized() {
    let slice: Box<RwLock<[u8]>> = Box::new(RwLock::new([1, 2, 3]));
    slice.write().unwrap()[1] = 9;
    assert_eq!(slice.read().unwrap().iter().sum::<u8>(), 13);
    let shown: &RwLock<dyn std::fmt::Debug + Send + Sync> = &RwLock::new(4);
    assert_eq!(format!("{:?} {:?}", shown.read().unwrap(), shown), "4 RwLock { data: 4, poisoned: false, .. }");
}

fn rwlock_of_nothing() {
    let lock = RwLock::new(());
    let (one, two) = (lock.read().unwrap(), lock.read().unwrap());
    assert!(lock.try_write().is_err());
    drop((one, two));
    assert!(lock.try_write().is_ok());
}

fn rwlock_is_shown() {
    let lock = RwLock::new(1);
    assert_eq!(format!("{lock:?}"), "RwLock { data: 1, poisoned: false, .. }");
    let guard = lock.read().unwrap();
    assert_eq!(format!("{lock:?} {guard:?} {guard}"), "RwLock { data: 1, poisoned: false, .. } 1 1");
    drop(guard);
    let mut guard = lock.write().unwrap();
    *guard += 1;
    assert_eq!(format!("{lock:?} {guard:?} {guard}"), "RwLock { data: <locked>, poisoned: false, .. } 2 2");
}

fn poisoned_rwlock() -> Arc<RwLock<i32>> {
    let lock = Arc::new(RwLock::new(1));
    let theirs = Arc::clone(&lock);
    let said = thread_panic(move || {
        *theirs.write().unwrap() = 2;
        let _guard = theirs.write().unwrap();
        panic!("while it writes");
    });
    assert_eq!(said, "while it writes");
    lock
}

fn rwlock_is_poisoned_by_a_writer() {
    let lock = poisoned_rwlock();
    assert!(lock.is_poisoned());
    assert_eq!(*lock.read().unwrap_err().into_inner(), 2);
    assert_eq!(*lock.write().unwrap_err().into_inner(), 2);
    assert!(matches!(lock.try_read(), Err(TryLockError::Poisoned(_))));
    assert!(matches!(lock.try_write(), Err(TryLockError::Poisoned(_))));
    assert!(lock.is_poisoned());
}

fn rwlock_poison_reaches_its_owner() {
    let mut lock = Arc::try_unwrap(poisoned_rwlock()).unwrap();
    assert_eq!(format!("{lock:?}"), "RwLock { data: 2, poisoned: true, .. }");
    assert_eq!(*lock.get_mut().unwrap_err().into_inner(), 2);
    assert!(lock.is_poisoned());
    assert_eq!(lock.into_inner().unwrap_err().into_inner(), 2);
}

fn rwlock_is_shown_with_poison() {
    let lock = poisoned_rwlock();
    let guard = lock.write().unwrap_err().into_inner();
    assert_eq!(format!("{lock:?}"), "RwLock { data: <locked>, poisoned: true, .. }");
    drop(guard);
    let guard = lock.read().unwrap_err().into_inner();
    assert_eq!(format!("{lock:?} {guard}"), "RwLock { data: 2, poisoned: true, .. } 2");
}

fn rwlock_is_not_poisoned_by_a_reader() {
    let lock = Arc::new(RwLock::new(1));
    let theirs = Arc::clone(&lock);
    thread_panic(move || {
        let _guard = theirs.read().unwrap();
        panic!("while it reads");
    });
    assert!(!lock.is_poisoned() && lock.read().is_ok() && lock.write().is_ok());
}

fn rwlock_poison_is_cleared() {
    let lock = poisoned_rwlock();
    lock.clear_poison();
    assert!(!lock.is_poisoned() && lock.read().is_ok() && lock.try_write().is_ok());
    lock.clear_poison();
    assert_eq!(*lock.write().unwrap(), 2);
}

fn rwlock_poison_is_cleared_by_its_holder() {
    let lock = poisoned_rwlock();
    let guard = lock.write().unwrap_or_else(PoisonError::into_inner);
    lock.clear_poison();
    assert!(!lock.is_poisoned());
    drop(guard);
    assert!(!lock.is_poisoned() && lock.read().is_ok());
}

/// Nobody has to wait to clear it, or to ask.
fn rwlock_poison_is_cleared_by_another() {
    let lock = poisoned_rwlock();
    let guard = lock.write().unwrap_err().into_inner();
    let theirs = Arc::clone(&lock);
    let asked = thread::spawn(move || {
        let before = theirs.is_poisoned();
        theirs.clear_poison();
        (before, theirs.is_poisoned())
    });
    assert_eq!(asked.join().unwrap(), (true, false));
    drop(guard);
    assert!(!lock.is_poisoned() && lock.write().is_ok());
}

fn rwlock_is_poisoned_again() {
    let lock = poisoned_rwlock();
    lock.clear_poison();
    let theirs = Arc::clone(&lock);
    thread_panic(move || {
        let _guard = theirs.write().unwrap();
        panic!("again");
    });
    assert!(lock.is_poisoned() && lock.read().is_err());
}

/// One that waits when the lock is poisoned finds it so.
fn rwlock_who_waits_finds_the_poison() {
    let lock = Arc::new(RwLock::new(0));
    let (theirs, first) = (Arc::clone(&lock), Arc::new(AtomicBool::new(false)));
    let has_it = Arc::clone(&first);
    let poisons = thread::spawn(move || {
        let _guard = theirs.write().unwrap();
        has_it.store(true, Release);
        panic!("while others wait");
    });
    while !first.load(Acquire) {
        thread::yield_now();
    }
    assert!(lock.read().is_err() && lock.write().is_err());
    assert!(poisons.join().is_err());
}

fn rwlock_poison_needs_a_new_panic() {
    struct WritesInDrop(Arc<RwLock<i32>>);
    impl Drop for WritesInDrop {
        fn drop(&mut self) {
            assert!(thread::panicking());
            *self.0.write().unwrap() += 1;
        }
    }
    let lock = Arc::new(RwLock::new(0));
    let theirs = WritesInDrop(Arc::clone(&lock));
    thread_panic(move || {
        let _theirs = theirs;
        panic!("x")
    });
    assert!(!lock.is_poisoned());
    assert_eq!(*lock.read().unwrap(), 1);
}

fn rwlock_poison_by_resumed_panic() {
    let lock = Arc::new(RwLock::new(0));
    let theirs = Arc::clone(&lock);
    thread_panic(move || {
        let _guard = theirs.write().unwrap();
        let payload = catch_unwind(|| panic!("again")).unwrap_err();
        std::panic::resume_unwind(payload);
    });
    assert!(lock.is_poisoned());
}

fn rwlock_drops_its_value() {
    let value = Arc::new(());
    drop(RwLock::new(Arc::clone(&value)));
    let lock = RwLock::new(Some(Arc::clone(&value)));
    *lock.write().unwrap() = None;
    assert_eq!(Arc::strong_count(&value), 1);
    lock.write().unwrap().replace(Arc::clone(&value));
    assert_eq!(Arc::strong_count(&lock.into_inner().unwrap().unwrap()), 2);
}

fn rwlock_in_a_static() {
    static SHARED: RwLock<[u32; 2]> = RwLock::new([1, 2]);
    thread::scope(|scope| {
        let readers = [0, 1].map(|at| scope.spawn(move || SHARED.read().unwrap()[at]));
        assert_eq!(readers.map(|reader| reader.join().unwrap()), [1, 2]);
    });
}

fn rwlock_bounds() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    fn unwind<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    send::<RwLock<std::cell::Cell<u8>>>();
    sync::<RwLock<u8>>();
    sync::<sync::RwLockReadGuard<'static, u8>>();
    sync::<sync::RwLockWriteGuard<'static, u8>>();
    unwind::<RwLock<std::cell::Cell<u8>>>();
    unwind::<sync::RwLockReadGuard<'static, u8>>();
    fn shorter<'a>(guard: sync::RwLockReadGuard<'a, &'static str>, _: &'a str) -> sync::RwLockReadGuard<'a, &'a str> {
        guard
    }
    let text = String::from("x");
    assert_eq!(*shorter(RwLock::new("y").read().unwrap(), &text), "y");
    unwind::<sync::RwLockWriteGuard<'static, u8>>();
}
