// `Cell`, `UnsafeCell` and `Instant`.

fn cell_holds_a_value() {
    let held = cell::Cell::new(1);
    held.set(2);
    assert_eq!((held.get(), held.replace(3), held.take(), held.get()), (2, 2, 3, 0));
    held.set(4);
    assert_eq!(held.into_inner(), 4);
}

fn cell_holds_what_cannot_be_copied() {
    let words = cell::Cell::new(vec!["a"]);
    let mut taken = words.take();
    taken.push("b");
    assert!(words.replace(taken).is_empty());
    words.set(words.take().into_iter().rev().collect());
    assert_eq!(words.into_inner(), ["b", "a"]);
}

fn cells_exchange_their_values() {
    let (a, b) = (cell::Cell::new(String::from("a")), cell::Cell::new(String::from("b")));
    a.swap(&b);
    a.swap(&a);
    assert_eq!((a.take(), b.take()), (String::from("b"), String::from("a")));
}

fn cell_is_updated() {
    let number = cell::Cell::new(20);
    number.update(|old| {
        // What is stored meanwhile is overwritten.
        number.set(0);
        old + 1
    });
    assert_eq!(number.get(), 21);
    assert!(panics(|| number.update(|_| panic!("no number"))));
    assert_eq!(number.get(), 21);
}

fn cell_gives_its_value_to_its_owner() {
    let mut list = cell::Cell::new([1, 2]);
    list.get_mut()[0] = 3;
    assert_eq!(list.get(), [3, 2]);
    // SAFETY: nobody else uses it.
    unsafe { (*list.as_ptr())[1] = 4 };
    assert_eq!(list.get(), [3, 4]);
}

fn cell_drops_what_it_held() {
    use std::rc::Rc;
    /// Stores its number when it is dropped.
    struct Last(u32, Rc<cell::Cell<u32>>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.1.set(self.1.get() * 10 + self.0);
        }
    }
    let last = Rc::new(cell::Cell::new(0));
    let new = |number| Last(number, Rc::clone(&last));
    let held = cell::Cell::new(Some(new(1)));
    held.set(Some(new(2)));
    assert_eq!(last.get(), 1);
    let second = held.replace(Some(new(3)));
    assert_eq!(last.get(), 1);
    drop(held);
    assert_eq!(last.get(), 13);
    drop(second);
    assert_eq!(last.get(), 132);
}

/// A destructor that uses the cell finds the new value.
fn cell_is_used_while_it_drops() {
    use std::rc::Rc;
    type Place = Rc<cell::Cell<Option<Looks>>>;
    struct Looks(std::rc::Weak<cell::Cell<Option<Looks>>>, bool);
    impl Drop for Looks {
        fn drop(&mut self) {
            if let Some(place) = self.0.upgrade().filter(|_| self.1) {
                assert!(place.take().is_some_and(|other| !other.1));
            }
        }
    }
    let place: Place = Rc::new(cell::Cell::new(None));
    place.set(Some(Looks(Rc::downgrade(&place), true)));
    place.set(Some(Looks(Rc::downgrade(&place), false)));
    assert!(place.take().is_none());
}

fn cells_are_compared() {
    let (one, two) = (cell::Cell::new(1), cell::Cell::new(2));
    assert!(one < two && one != two && one.cmp(&two).is_lt() && one == one.clone());
    assert!(cell::Cell::new(f32::NAN).partial_cmp(&cell::Cell::new(0.0)).is_none());
    let copy = one.clone();
    copy.set(3);
    assert_eq!((one.get(), cell::Cell::from(4).get(), cell::Cell::<u8>::default().get()), (1, 4, 0));
    assert_eq!(format!("{two:?}, {two:#?}"), "Cell { value: 2 }, Cell {\n    value: 2,\n}");
}

fn cell_of_unsized() {
    let mut numbers: Box<cell::Cell<[i32]>> = Box::new(cell::Cell::new([1, 2, 3]));
    numbers.get_mut()[2] = 4;
    // SAFETY: nobody writes.
    assert_eq!(unsafe { &*numbers.as_ptr() }, [1, 2, 4]);
}

fn cell_bounds() {
    fn check<T: Send + std::panic::UnwindSafe>() {}
    check::<cell::Cell<u8>>();
    check::<cell::UnsafeCell<u8>>();
    let number = const { cell::Cell::new(3) };
    assert_eq!(number.get(), 3);
}

fn cells_move_between_threads() {
    let held = cell::Cell::new(1);
    let held = thread::spawn(move || {
        held.set(held.get() + 1);
        held
    });
    assert_eq!(held.join().unwrap().get(), 2);
}

fn cells_behind_a_lock() {
    let count = Mutex::new(cell::Cell::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| count.lock().unwrap().update(|count| count + 1));
        }
    });
    assert_eq!(count.into_inner().unwrap().get(), 2);
}

fn cells_of_each_thread() {
    thread_local!(static OWN: cell::Cell<u32> = const { cell::Cell::new(1) });
    let in_new_thread = |code: fn()| thread::spawn(code).join().unwrap();
    in_new_thread(|| {
        assert_eq!((OWN.get(), OWN.replace(2), OWN.take(), OWN.get()), (1, 1, 2, 0));
        OWN.set(5);
        assert_eq!(OWN.with(cell::Cell::get), 5);
    });
    in_new_thread(|| {
        OWN.set(OWN.get() + 6);
        assert_eq!(OWN.take(), 7);
    });
}

/// A type that is shared though it holds a cell: whoever takes the turn uses it.
fn cell_shared_in_turns() {
    struct Shared {
        turn: AtomicBool,
        count: cell::Cell<u32>,
    }
    // SAFETY: only the thread that has taken the turn uses the cell.
    unsafe impl Sync for Shared {}
    static SHARED: Shared = Shared { turn: AtomicBool::new(true), count: cell::Cell::new(0) };
    SHARED.count.set(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !SHARED.turn.swap(false, Acquire) {
                    hint::spin_loop();
                }
                SHARED.count.update(|count| count + 1);
                SHARED.turn.store(true, Release);
            });
        }
    });
    assert_eq!(SHARED.count.get(), 2);
}

fn unsafe_cell() {
    let mut held = cell::UnsafeCell::from(vec![1]);
    held.get_mut().push(2);
    // SAFETY: nobody else uses it.
    unsafe { (*held.get()).push(3) };
    assert_eq!(format!("{held:?}"), "UnsafeCell { .. }");
    assert_eq!(held.into_inner(), [1, 2, 3]);
    assert_eq!(cell::UnsafeCell::<u8>::default().into_inner(), 0);
    let mut unsized_one: Box<cell::UnsafeCell<[u8]>> = Box::new(cell::UnsafeCell::new([1, 2]));
    unsized_one.get_mut()[0] = 2;
    assert_eq!(unsized_one.get_mut(), [2, 2]);
}

fn cells_that_are_not_tracked() {
    let names = cell::RefCell::new(vec!["a"]);
    let shared: cell::Ref<'_, _> = names.borrow();
    let error: cell::BorrowMutError = names.try_borrow_mut().unwrap_err();
    assert!(shared.len() == 1 && !error.to_string().is_empty());
    drop(shared);
    let mut own: cell::RefMut<'_, _> = names.borrow_mut();
    own.push("b");
    let error: cell::BorrowError = names.try_borrow().unwrap_err();
    assert!(!error.to_string().is_empty());
    let (once, lazy) = (cell::OnceCell::new(), cell::LazyCell::new(|| 7));
    assert_eq!((*once.get_or_init(|| 6), once.set(5), *lazy), (6, Err(5), 7));
}

const MILLI: time::Duration = time::Duration::from_millis(1);

fn instants_go_on() {
    let first = time::Instant::now();
    let second = time::Instant::now();
    assert!(first <= second && first.max(second) == second);
    assert_eq!(second.duration_since(first), second - first);
    assert!(first.elapsed() >= second - first);
    assert_eq!(first.duration_since(second + MILLI), time::Duration::ZERO);
    assert_eq!(first.saturating_duration_since(second + MILLI), time::Duration::ZERO);
    assert_eq!(first - (second + MILLI), time::Duration::ZERO);
    assert_eq!(first.checked_duration_since(second + MILLI), None);
    assert_eq!((first + MILLI).checked_duration_since(first), Some(MILLI));
}

fn instants_are_moved() {
    let start = time::Instant::now();
    let mut later = start + MILLI;
    assert!(later > start);
    assert!(start <= later);
    assert_ne!(later, start);
    assert_eq!((later - start, later - MILLI), (MILLI, start));
    later += MILLI;
    assert_eq!(later - start, 2 * MILLI);
    later -= 2 * MILLI;
    assert_eq!((later, later.cmp(&start)), (start, std::cmp::Ordering::Equal));
    assert_eq!(start.checked_add(MILLI), Some(start + MILLI));
    assert_eq!((start + MILLI).checked_sub(MILLI), Some(start));
    let dates = std::collections::HashSet::from([start, later, start + MILLI]);
    assert!(dates.len() == 2 && format!("{start:?}").starts_with("Instant"));
}

fn instants_end_somewhere() {
    let now = time::Instant::now();
    assert_eq!((now.checked_add(time::Duration::MAX), now.checked_sub(time::Duration::MAX)), (None, None));
    assert!(panics(|| assert!(now + time::Duration::MAX > now)) && panics(|| assert!(now - time::Duration::MAX < now)));
}

fn instants_know_what_a_thread_slept() {
    let start = time::Instant::now();
    thread::sleep(MILLI);
    let first = start.elapsed();
    thread::sleep(MILLI);
    assert!(first >= MILLI && start.elapsed() >= first + MILLI);
    let middle = time::Instant::now();
    while middle.elapsed() < MILLI {
        thread::park_timeout(MILLI);
    }
    assert!(start.elapsed() >= 3 * MILLI);
}

/// What happens before a thread starts and what it does before it is joined is earlier.
fn instants_of_threads_in_order() {
    let before = time::Instant::now();
    let thread = thread::spawn(move || {
        let first = time::Instant::now();
        thread::sleep(MILLI);
        assert!(before <= first);
        time::Instant::now()
    });
    let end = thread.join().unwrap();
    assert!(end >= before + MILLI && time::Instant::now() >= end);
    let end = thread::scope(|scope| scope.spawn(time::Instant::now).join().unwrap());
    assert!(time::Instant::now() >= end);
}

fn instants_after_a_wait() {
    let start = time::Instant::now();
    let (lock, never) = (Mutex::new(()), Condvar::new());
    let (guard, result) = never.wait_timeout_while(lock.lock().unwrap(), MILLI, |()| true).unwrap();
    assert!(result.timed_out() && start.elapsed() >= MILLI);
    let deadline = time::Instant::now() + MILLI;
    let mut guard = Some(guard);
    while let Some(left) = deadline.checked_duration_since(time::Instant::now()) {
        guard = Some(never.wait_timeout(guard.take().unwrap(), left).unwrap().0);
    }
    assert!(time::Instant::now() > deadline);
    let (_sender, receiver) = sync::mpsc::channel::<()>();
    let start = time::Instant::now();
    assert!(receiver.recv_timeout(MILLI).is_err() && start.elapsed() >= MILLI);
}

/// A thread looks at the time until it is late enough.
fn instants_in_a_loop() {
    let (deadline, ready) = (time::Instant::now() + 5 * MILLI, AtomicBool::new(false));
    let late = thread::scope(|scope| {
        scope.spawn(|| ready.store(true, Release));
        loop {
            if ready.load(Acquire) {
                break false;
            }
            if time::Instant::now() >= deadline {
                break true;
            }
            thread::yield_now();
        }
    });
    assert!(!late || deadline <= time::Instant::now());
}
