// Formatting and locks. Included in `all.rs`.

fn formatting() {
    let a = AtomicI16::new(-3);
    a.store(-4, SeqCst);
    assert_eq!(format!("{a:?}"), "-4");
    assert_eq!(format!("{:?}", AtomicBool::new(true)), "true");
    let m = Mutex::new(1);
    assert_eq!(format!("{m:?}"), "Mutex { data: 1, poisoned: false, .. }");
    let guard = m.lock().unwrap();
    assert_eq!(
        format!("{m:?} {guard:?} {guard}"),
        format!("Mutex {{ data: {:?}, poisoned: false, .. }} 1 1", "<locked>")
    );
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
