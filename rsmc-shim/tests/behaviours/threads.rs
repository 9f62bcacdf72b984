// Threads. Included in `all.rs`.

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
        thread::Builder::new()
            .name("x".into())
            .spawn_scoped(s, || {
                assert_eq!(thread::current().name(), Some("x"));
                n.fetch_add(1, Relaxed);
            })
            .unwrap();
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
        let payload = result.unwrap_err();
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
    struct Notes(Arc<Mutex<Vec<u8>>>, Arc<AtomicUsize>);
    impl Drop for Notes {
        fn drop(&mut self) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(1);
            self.1.fetch_add(1, Release);
        }
    }
    let (notes, count) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
    let theirs = Notes(Arc::clone(&notes), Arc::clone(&count));
    thread::spawn(move || drop(theirs)).join().unwrap();
    let theirs = Notes(Arc::clone(&notes), Arc::clone(&count));
    thread_panic(move || {
        let _theirs = theirs;
        panic!("unwinds");
    });
    // The result of a thread that is detached is dropped by the thread.
    let theirs = Notes(Arc::clone(&notes), Arc::clone(&count));
    drop(thread::spawn(move || theirs));
    // By an atomic: a check does not take polling under a lock as waiting.
    while count.load(Acquire) < 3 {
        thread::yield_now();
    }
    assert_eq!(*notes.lock().unwrap(), [1, 1, 1]);
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

/// What may be sent and shared is what may be in std. (What may not: `MutexGuard`'s documentation.)
fn bounds() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    fn unwind<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    type Single = std::cell::Cell<u8>;
    type Local = *const u8;
    send::<Mutex<Single>>();
    sync::<Mutex<Single>>();
    sync::<sync::MutexGuard<'static, u8>>();
    send::<Arc<u8>>();
    sync::<Weak<u8>>();
    send::<AtomicPtr<Local>>();
    sync::<AtomicPtr<Local>>();
    send::<thread::JoinHandle<Local>>();
    sync::<thread::JoinHandle<Local>>();
    send::<thread::ScopedJoinHandle<'static, Single>>();
    sync::<thread::ScopedJoinHandle<'static, Single>>();
    sync::<thread::Scope<'static, 'static>>();
    sync::<thread::Thread>();
    unwind::<Mutex<Single>>();
    unwind::<Arc<Mutex<Single>>>();
    unwind::<AtomicBool>();
    unwind::<AtomicPtr<u8>>();
    unwind::<thread::Thread>();
}
