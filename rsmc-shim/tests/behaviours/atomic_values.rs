// Atomics, one value and one method at a time. Included in `all.rs`.

fn atomic_bools_have_truth_tables() {
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let after = |act: fn(&AtomicBool, bool, Ordering) -> bool| {
            let value = AtomicBool::new(a);
            assert_eq!(act(&value, b, SeqCst), a);
            value.into_inner()
        };
        assert_eq!(after(AtomicBool::fetch_and), a & b);
        assert_eq!(after(AtomicBool::fetch_or), a | b);
        assert_eq!(after(AtomicBool::fetch_xor), a ^ b);
        assert_eq!(after(AtomicBool::fetch_nand), !(a & b));
        assert_eq!(after(AtomicBool::swap), b);
    }
}

fn atomic_fetch_not_inverts() {
    let value = AtomicBool::new(false);
    assert!(!value.fetch_not(AcqRel));
    assert!(value.fetch_not(Relaxed));
    assert!(!value.load(Acquire));
}

/// The sign counts for the larger and the smaller of signed integers only.
fn atomic_max_and_min_know_the_sign() {
    let (signed, unsigned) = (AtomicI32::new(-1), AtomicU32::new(u32::MAX));
    assert_eq!((signed.fetch_max(0, SeqCst), unsigned.fetch_max(0, SeqCst)), (-1, u32::MAX));
    assert_eq!((signed.load(SeqCst), unsigned.load(SeqCst)), (0, u32::MAX));
    signed.store(-1, SeqCst);
    assert_eq!((signed.fetch_min(0, SeqCst), unsigned.fetch_min(0, SeqCst)), (-1, u32::MAX));
    assert_eq!((signed.load(SeqCst), unsigned.load(SeqCst)), (-1, 0));
    let far = AtomicI64::new(i64::MIN);
    assert_eq!(
        (far.fetch_max(i64::MAX, SeqCst), far.fetch_min(-1, SeqCst), far.into_inner()),
        (i64::MIN, i64::MAX, -1)
    );
}

fn atomic_nand_is_the_inverse_of_and() {
    let (byte, word) = (AtomicU8::new(0x13), AtomicI16::new(-1));
    assert_eq!(byte.fetch_nand(0x31, SeqCst), 0x13);
    assert_eq!(byte.load(SeqCst), !(0x13 & 0x31));
    assert_eq!(word.fetch_nand(-1, SeqCst), -1);
    assert_eq!(word.load(SeqCst), 0);
}

/// Sums wrap around, in both directions.
fn atomic_sums_wrap() {
    let (byte, signed, long) = (AtomicU8::new(250), AtomicI8::new(-128), AtomicU64::new(0));
    assert_eq!((byte.fetch_add(10, Relaxed), byte.load(Relaxed)), (250, 4));
    assert_eq!((signed.fetch_sub(1, Relaxed), signed.load(Relaxed)), (-128, 127));
    assert_eq!((long.fetch_sub(1, Relaxed), long.load(Relaxed)), (0, u64::MAX));
}

/// A compare-exchange that fails says what it found, and changes nothing.
fn atomic_failed_exchange_changes_nothing() {
    let value = AtomicIsize::new(-7);
    assert_eq!(value.compare_exchange(7, 1, SeqCst, Relaxed), Err(-7));
    assert_eq!(value.compare_exchange_weak(7, 1, AcqRel, Acquire), Err(-7));
    assert_eq!(value.load(SeqCst), -7);
    assert_eq!(value.compare_exchange(-7, -7, SeqCst, Relaxed), Ok(-7));
}

/// `fetch_update` calls its function until that says `None` or nobody interferes, and returns what was there before.
fn atomic_update_calls_its_function() {
    let value = AtomicUsize::new(3);
    let mut seen = Vec::new();
    let double = value.fetch_update(SeqCst, SeqCst, |x| {
        seen.push(x);
        Some(x * 2)
    });
    assert_eq!((double, &seen[..], value.load(SeqCst)), (Ok(3), &[3][..], 6));
    assert_eq!(value.fetch_update(AcqRel, Acquire, |x| x.checked_sub(7)), Err(6));
    assert_eq!(value.load(SeqCst), 6);
}

fn atomic_update_refuses_release_loads() {
    let value = AtomicU16::new(1);
    let said = panic_of(|| value.fetch_update(SeqCst, hint::black_box(Release), Some));
    assert_eq!(said, "there is no such thing as a release load");
    let said = panic_of(|| value.fetch_update(SeqCst, hint::black_box(AcqRel), Some));
    assert_eq!(said, "there is no such thing as an acquire-release load");
    assert_eq!(value.into_inner(), 1);
}

/// Concurrent additions get different numbers.
fn atomic_tickets_are_different() {
    let next = AtomicUsize::new(0);
    let mut tickets = thread::scope(|scope| {
        let two = || [next.fetch_add(1, Relaxed), next.fetch_add(1, Relaxed)];
        let others = [scope.spawn(two), scope.spawn(two)];
        let mut tickets: Vec<_> = others.into_iter().flat_map(|other| other.join().unwrap()).collect();
        tickets.extend(two());
        tickets
    });
    tickets.sort_unstable();
    assert_eq!(tickets, [0, 1, 2, 3, 4, 5]);
}

/// What concurrent threads swap out is what was swapped in, each value once.
fn atomic_swaps_lose_nothing() {
    let place = AtomicI64::new(0);
    let mut seen = thread::scope(|scope| {
        let threads = [1, 2, 3].map(|own| {
            scope.spawn({
                let place = &place;
                move || place.swap(own, AcqRel)
            })
        });
        threads.map(|thread| thread.join().unwrap()).to_vec()
    });
    seen.push(place.into_inner());
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 3]);
}

fn atomic_bits_of_all_threads_are_kept() {
    let (all, none, odd) = (AtomicU8::new(0), AtomicU8::new(7), AtomicU8::new(0));
    thread::scope(|scope| {
        for bit in [1, 2, 4] {
            let (all, none, odd) = (&all, &none, &odd);
            scope.spawn(move || {
                all.fetch_or(bit, Relaxed);
                none.fetch_and(!bit, Relaxed);
                odd.fetch_xor(7, Relaxed);
            });
        }
    });
    assert_eq!((all.into_inner(), none.into_inner(), odd.into_inner()), (7, 0, 7));
}

fn atomic_extremes_of_all_threads() {
    let (largest, smallest) = (AtomicI16::new(0), AtomicI16::new(0));
    thread::scope(|scope| {
        for own in [-3, 5, 2] {
            let (largest, smallest) = (&largest, &smallest);
            scope.spawn(move || (largest.fetch_max(own, Relaxed), smallest.fetch_min(own, Relaxed)));
        }
    });
    assert_eq!((largest.into_inner(), smallest.into_inner()), (5, -3));
}

/// Of two threads that take a pointer out, one has it.
fn atomic_pointers_hand_over() {
    let place = AtomicPtr::new(Box::into_raw(Box::new(41)));
    let take = || {
        let taken = place.swap(std::ptr::null_mut(), AcqRel);
        // SAFETY: a pointer that is there came from a box, and is taken once.
        (!taken.is_null()).then(|| *unsafe { Box::from_raw(taken) })
    };
    let taken = thread::scope(|scope| {
        let other = scope.spawn(take);
        [take(), other.join().unwrap()]
    });
    assert!(taken == [Some(41), None] || taken == [None, Some(41)]);
    assert!(place.into_inner().is_null());
}

fn atomic_pointers_are_shown_as_pointers() {
    let mut value = 5_u8;
    let pointer = std::ptr::from_mut(&mut value);
    let place = AtomicPtr::from(pointer);
    assert_eq!(format!("{place:?} {place:p}"), format!("{pointer:?} {pointer:p}"));
    assert_eq!(format!("{:?}", AtomicPtr::<u8>::default()), format!("{:?}", std::ptr::null_mut::<u8>()));
}

fn atomic_pointers_update() {
    let mut values = [1, 2, 3];
    let first = values.as_mut_ptr();
    let place = AtomicPtr::new(first);
    let step = |pointer: *mut i32| Some(pointer.wrapping_add(1));
    assert_eq!(place.fetch_update(SeqCst, SeqCst, step), Ok(first));
    // SAFETY: the second of three values.
    assert_eq!(unsafe { *place.load(SeqCst) }, 2);
    while place.compare_exchange_weak(first.wrapping_add(1), first, SeqCst, Relaxed).is_err() {}
    assert_eq!(place.into_inner(), first);
}

/// They are shown as the values that they hold, with the same flags.
fn atomics_are_shown_as_values() {
    let (number, yes) = (AtomicI32::new(-26), AtomicBool::from(true));
    assert_eq!(format!("{number:?} {number:5?} {number:x?} {number:#?}"), format!("{0:?} {0:5?} {0:x?} {0:#?}", -26));
    assert_eq!(format!("{yes:?} {:?}", [AtomicU8::new(1), AtomicU8::new(2)]), "true [1, 2]");
}

fn atomics_are_made_from_values() {
    assert_eq!((AtomicI8::from(-1).into_inner(), AtomicU64::from(u64::MAX).into_inner()), (-1, u64::MAX));
    assert_eq!((AtomicIsize::default().into_inner(), AtomicBool::default().into_inner()), (0, false));
    let pair = [const { AtomicU16::new(3) }; 2];
    assert_eq!((pair[0].fetch_add(1, SeqCst), pair[1].load(SeqCst)), (3, 3));
}

/// Who has it alone sees what threads left, and they see what it leaves.
fn atomics_change_hands() {
    let mut value = AtomicU32::new(0);
    let add =
        |value: &AtomicU32| thread::scope(|scope| [1, 2].map(|_| drop(scope.spawn(|| value.fetch_add(1, Relaxed)))));
    add(&value);
    *value.get_mut() *= 10;
    add(&value);
    assert_eq!((*value.get_mut(), value.into_inner()), (22, 22));
}

/// The forms of before `const fn`.
#[allow(deprecated)]
fn atomics_of_old_code() {
    let (yes, signed, number) = (ATOMIC_BOOL_INIT, ATOMIC_ISIZE_INIT, ATOMIC_USIZE_INIT);
    assert!(!yes.swap(true, SeqCst));
    assert_eq!((signed.fetch_sub(1, SeqCst), number.load(SeqCst)), (0, 0));
    thread::scope(|scope| {
        scope.spawn(|| number.store(1, Release));
        while number.load(Acquire) == 0 {
            spin_loop_hint();
        }
    });
    assert_eq!((yes.into_inner(), signed.into_inner(), number.into_inner()), (true, -1, 1));
}

fn atomics_may_be_static() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let before = CALLS.load(SeqCst);
    let mine = thread::spawn(|| CALLS.fetch_add(1, SeqCst)).join().unwrap();
    assert!(before <= mine && mine < CALLS.load(SeqCst));
}

/// Who sees a released value also sees what was written before.
fn atomics_publish() {
    let (data, ready) = (AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(9, Relaxed);
            ready.store(true, Release);
        });
        while !ready.load(Acquire) {
            hint::spin_loop();
        }
        assert_eq!(data.load(Relaxed), 9);
    });
}

/// Fences make relaxed accesses publish.
fn fences_publish() {
    let (data, ready) = (AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(9, Relaxed);
            fence(Release);
            ready.store(true, Relaxed);
        });
        if ready.load(Relaxed) {
            fence(Acquire);
            assert_eq!(data.load(Relaxed), 9);
        }
    });
}

/// With `SeqCst` fences between, one of two threads sees the other's store.
fn fences_order_all() {
    let flags = [AtomicBool::new(false), AtomicBool::new(false)];
    let (flags, enter) = (&flags, |own: usize| {
        flags[own].store(true, Relaxed);
        fence(SeqCst);
        flags[1 - own].load(Relaxed)
    });
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(move || enter(0));
        (enter(1), first.join().unwrap())
    });
    assert!(first || second);
    assert!(flags.iter().all(|flag| flag.load(Relaxed)));
}

fn hints_change_no_values() {
    assert_eq!(hint::black_box("text"), "text");
    assert_eq!((hint::select_unpredictable(true, 1, 2), hint::select_unpredictable(false, 1, 2)), (1, 2));
    let positive = hint::black_box(5_i32);
    // SAFETY: it is 5.
    unsafe { hint::assert_unchecked(positive > 0) };
    // SAFETY: it is 5, so the other arm is not reached.
    let six = if positive > 0 { 6 } else { unsafe { hint::unreachable_unchecked() } };
    assert_eq!(six, 6);
    hint::spin_loop();
}
