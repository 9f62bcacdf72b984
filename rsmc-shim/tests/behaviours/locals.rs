// `thread_local!`.

/// Every thread has its own value, made at its first use.
fn locals_are_of_each_thread() {
    use std::cell::{Cell, RefCell};
    thread_local! {
        /// How often the thread made its names.
        pub static MADE: Cell<u32> = const { Cell::new(0) };
        static NAMES: RefCell<Vec<&'static str>> = {
            MADE.set(MADE.get() + 1);
            RefCell::new(vec!["first"])
        };
    }
    let in_new_thread = |code: fn()| thread::spawn(code).join().unwrap();
    in_new_thread(|| {
        assert_eq!(MADE.replace(3), 0);
        NAMES.with_borrow_mut(|names| names.push("second"));
        NAMES.with_borrow(|names| assert_eq!(names[..], ["first", "second"]));
        assert_eq!(NAMES.take().len(), 2);
        assert!(NAMES.replace(vec!["third"]).is_empty());
        assert_eq!((MADE.take(), MADE.get()), (4, 0));
    });
    in_new_thread(|| {
        // What is set at first is not made.
        NAMES.set(Vec::new());
        NAMES.with(|names| assert!(names.borrow().is_empty()));
        assert_eq!(MADE.get(), 0);
    });
}

/// Values are dropped on their thread, at its end; what a destructor uses is made for it, and dropped too.
fn locals_are_dropped_at_the_end() {
    use std::cell::{Cell, RefCell};
    type Log = std::rc::Rc<RefCell<Vec<&'static str>>>;
    struct Noisy(&'static str, Log);
    impl Drop for Noisy {
        fn drop(&mut self) {
            self.1.borrow_mut().push(self.0);
            if self.0 == "first" {
                SECOND.set(Some(Noisy("second", Log::clone(&self.1))));
                let own = FIRST.try_with(|_| ()).map_err(|error| error.to_string());
                assert_eq!(own, Err("already destroyed".to_owned()));
            }
        }
    }
    thread_local! {
        static FIRST: RefCell<Option<Noisy>> = const { RefCell::new(None) };
        static SECOND: RefCell<Option<Noisy>> = const { RefCell::new(None) };
        static DEPTH: Cell<usize> = const { Cell::new(1) }
    }
    // The log goes to the thread and back, in one hand at a time.
    struct Sent<T>(T);
    // SAFETY: the thread is joined before the log is used again.
    unsafe impl<T> Send for Sent<T> {}
    let log = Sent(Log::default());
    let theirs = Sent(Log::clone(&log.0));
    let thread = thread::spawn(move || {
        let log = { theirs }.0;
        FIRST.set(Some(Noisy("first", log)));
        DEPTH.get()
    });
    assert_eq!(thread.join().unwrap(), 1);
    assert_eq!(*log.0.borrow(), ["first", "second"]);
    // A panic passes through, and the value stays.
    let shown = catch_unwind(AssertUnwindSafe(|| DEPTH.with(|depth| assert_eq!(depth.replace(2), 2))));
    assert!(shown.is_err());
    assert_eq!(DEPTH.replace(1), 2);
}

/// Sleeping and asking for the machine's threads work.
fn sleeping() {
    thread::sleep(std::time::Duration::from_micros(10));
    thread::park_timeout(std::time::Duration::from_micros(10));
    assert!(thread::available_parallelism().unwrap().get() >= 1);
}
