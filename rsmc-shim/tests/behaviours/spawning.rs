// Threads, scopes and handles, once more. Included in `all.rs`.

/// What was written before a thread started is seen in it, and what it wrote behind its `join`.
fn threads_publish() {
    let data = Arc::new(AtomicU32::new(0));
    data.store(1, Relaxed);
    let theirs = Arc::clone(&data);
    let thread = thread::spawn(move || {
        assert_eq!(theirs.load(Relaxed), 1);
        theirs.store(2, Relaxed);
    });
    thread.join().unwrap();
    assert_eq!(data.load(Relaxed), 2);
}

/// A payload has the type that the panic gave it.
fn panics_have_payloads() {
    let payload = |code: fn()| thread::spawn(code).join().unwrap_err();
    assert_eq!(payload(|| panic!("text")).downcast_ref::<&str>(), Some(&"text"));
    assert_eq!(payload(|| panic!("{}", hint::black_box(1))).downcast_ref::<String>(), Some(&String::from("1")));
    assert_eq!(payload(|| std::panic::panic_any(vec![1])).downcast_ref::<Vec<i32>>(), Some(&vec![1]));
    let none = || drop(hint::black_box(None::<Vec<u8>>).expect("there is none"));
    assert_eq!(payload(none).downcast_ref::<String>().unwrap(), "there is none");
}

fn threads_have_names() {
    let named = |name: &str| {
        let builder = thread::Builder::new().name(name.to_owned());
        let thread = builder.spawn(|| thread::current().name().map(str::to_owned)).unwrap();
        let outside = thread.thread().name().map(str::to_owned);
        assert_eq!(thread.join().unwrap(), outside);
        outside.unwrap()
    };
    for name in ["", "short", "a name that is longer than the operating system's", "größer"] {
        assert_eq!(named(name), name);
    }
    assert_eq!(thread::spawn(|| thread::current().name().map(str::to_owned)).join().unwrap(), None);
}

fn threads_have_ids() {
    let stage = Barrier::new(3);
    thread::scope(|scope| {
        let own = || {
            stage.wait();
            thread::current().id()
        };
        let (first, second) = (scope.spawn(own), scope.spawn(own));
        let handle = first.thread().clone();
        stage.wait();
        let ids = [first.join().unwrap(), second.join().unwrap(), thread::current().id()];
        let different: std::collections::HashSet<_> = ids.into_iter().collect();
        assert_eq!((different.len(), handle.id()), (3, ids[0]));
        let shown = format!("{:?}", ids[0]);
        let number = shown.strip_prefix("ThreadId(").and_then(|rest| rest.strip_suffix(')')).unwrap();
        assert!(number.parse::<u64>().unwrap() > 0);
    });
}

/// A thread has not finished while it waits, and `join` gives its result when it has.
fn is_finished_is_true_at_the_end() {
    let go = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&go);
    let thread = thread::spawn(move || {
        while !theirs.load(Acquire) {
            thread::yield_now();
        }
        5
    });
    assert!(!thread.is_finished());
    go.store(true, Release);
    while !thread.is_finished() {
        thread::yield_now();
    }
    assert_eq!(thread.join().unwrap(), 5);
}

fn is_finished_after_a_panic() {
    thread::scope(|scope| {
        let thread = scope.spawn(|| panic!("its end"));
        while !thread.is_finished() {
            thread::yield_now();
        }
        assert_eq!(message(thread.join().unwrap_err()), "its end");
    });
}

/// The result of a thread is moved out, and what its closure had is gone.
fn join_moves_the_result() {
    let drops = Arc::new(AtomicUsize::new(0));
    let (kept, gone) = (Dropped(Arc::clone(&drops)), Dropped(Arc::clone(&drops)));
    let result = thread::spawn(move || {
        let _gone = gone;
        kept
    });
    let kept = result.join().unwrap();
    assert_eq!(drops.load(Relaxed), 1);
    drop(kept);
    assert_eq!(drops.load(Relaxed), 2);
}

/// A scope waits for threads whose handles nobody has.
fn scope_waits_for_all() {
    let count = AtomicUsize::new(0);
    let value = thread::scope(|scope| {
        drop(scope.spawn(|| count.fetch_add(1, Relaxed)));
        scope.spawn(|| count.fetch_add(1, Relaxed));
        scope.spawn(|| scope.spawn(|| count.fetch_add(1, Relaxed)));
        "value"
    });
    assert_eq!((value, count.load(Relaxed)), ("value", 3));
}

/// Threads of a scope borrow, also mutably, and give borrows back.
fn scope_borrows() {
    let (mut first, mut second, text) = (1, 2, String::from("a b"));
    let word = thread::scope(|scope| {
        scope.spawn(|| first += 10);
        scope.spawn(|| second += 20);
        scope.spawn(|| text.split(' ').next_back()).join().unwrap()
    });
    assert_eq!((first, second, word), (11, 22, Some("b")));
}

/// A scope in a thread of a scope, which waits for its own only.
fn scope_in_a_scope() {
    let log = Mutex::new(Vec::new());
    thread::scope(|outer| {
        outer.spawn(|| {
            thread::scope(|inner| drop(inner.spawn(|| log.lock().unwrap().push("inner"))));
            log.lock().unwrap().push("middle");
        });
    });
    log.lock().unwrap().push("outer");
    assert_eq!(*log.lock().unwrap(), ["inner", "middle", "outer"]);
}

/// A scope whose thread panicked panics after all others have ended; not if the panic was received.
fn scope_panics_at_its_end() {
    let count = Arc::new(AtomicUsize::new(0));
    let theirs = Arc::clone(&count);
    thread_panic(move || {
        thread::scope(|scope| {
            scope.spawn(|| panic!("unseen"));
            scope.spawn(|| theirs.fetch_add(1, Relaxed));
        });
    });
    assert_eq!(count.load(Relaxed), 1);
    let said = thread::scope(|scope| message(scope.spawn(|| panic!("seen")).join().unwrap_err()));
    assert_eq!(said, "seen");
}

/// `panicking` is true while destructors run for a panic, on its thread only.
fn panicking_is_of_a_thread() {
    struct Asks(Arc<AtomicU8>);
    impl Drop for Asks {
        fn drop(&mut self) {
            let mine = thread::panicking();
            let other = thread::spawn(thread::panicking).join().unwrap();
            self.0.store(u8::from(mine) + 2 * u8::from(other) + 4, SeqCst);
        }
    }
    let seen = Arc::new(AtomicU8::new(0));
    let asks = Asks(Arc::clone(&seen));
    thread::spawn(move || drop(asks)).join().unwrap();
    assert_eq!(seen.load(SeqCst), 4);
    let asks = Asks(Arc::clone(&seen));
    thread_panic(move || {
        let _asks = asks;
        panic!("now");
    });
    assert_eq!(seen.load(SeqCst), 5);
    panic_of(|| panic!("caught"));
    assert!(!thread::panicking());
}

/// A token that comes first is kept for the next `park`.
fn park_takes_an_early_token() {
    let stage = Arc::new(Barrier::new(2));
    let theirs = Arc::clone(&stage);
    let thread = thread::spawn(move || {
        theirs.wait();
        thread::park();
        7
    });
    thread.thread().unpark();
    thread.thread().unpark();
    stage.wait();
    assert_eq!(thread.join().unwrap(), 7);
}

/// Tokens do not add up: after one `park` there is none left, so only the time ends the next.
fn park_times_out() {
    let me = thread::current();
    me.unpark();
    me.unpark();
    thread::park();
    for time in [std::time::Duration::ZERO, std::time::Duration::from_micros(50)] {
        thread::park_timeout(time);
    }
    me.unpark();
    thread::park_timeout(std::time::Duration::from_secs(600));
}

/// A thread that has ended may still be unparked, and knows its name and id.
fn handles_outlive_threads() {
    let thread = thread::Builder::new().name("gone".into()).spawn(thread::current).unwrap();
    let handle = thread.thread().clone();
    let own = thread.join().unwrap();
    handle.unpark();
    own.unpark();
    assert_eq!((handle.name(), own.id()), (Some("gone"), handle.id()));
    assert!(format!("{own:?}").ends_with("name: Some(\"gone\"), .. }"));
}

fn unpark_from_two_threads() {
    let open = [AtomicBool::new(false), AtomicBool::new(false)];
    thread::scope(|scope| {
        let me = thread::current();
        for flag in &open {
            let me = me.clone();
            scope.spawn(move || {
                flag.store(true, Release);
                me.unpark();
            });
        }
        while !open.iter().all(|flag| flag.load(Acquire)) {
            thread::park();
        }
    });
    // A token may be left, and is taken here.
    thread::park_timeout(std::time::Duration::ZERO);
}

/// A thread may borrow if its starter promises to wait.
fn builder_starts_borrowing_threads() {
    let numbers = [1, 2, 3];
    // SAFETY: it is joined below.
    let sum = unsafe { thread::Builder::new().spawn_unchecked(|| numbers.iter().sum::<i32>()) };
    assert_eq!(sum.unwrap().join().unwrap(), 6);
    let threads: Vec<_> = thread::scope(|scope| {
        let starts =
            |name: &str| thread::Builder::new().name(name.into()).stack_size(128 * 1024).spawn_scoped(scope, || 1);
        ["a", "b"].map(|name| starts(name).unwrap()).into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(threads, [1, 1]);
}

#[allow(deprecated)]
fn waiting_for_milliseconds() {
    thread::sleep_ms(0);
    thread::sleep_ms(1);
    thread::park_timeout_ms(1);
    thread::sleep(std::time::Duration::ZERO);
    thread::current().unpark();
    thread::park_timeout_ms(600_000);
}
