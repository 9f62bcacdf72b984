// Atomics. Included in `all.rs`.

macro_rules! integer {
    ($($atomic:ident $int:ident)+) => {$(
        let a = $atomic::new(5);
        assert_eq!((a.load(SeqCst), a.load(Acquire), a.load(Relaxed)), (5, 5, 5));
        a.store(6, Release);
        assert_eq!(a.swap(7, AcqRel), 6);
        assert_eq!(a.fetch_add(3, Relaxed), 7);
        assert_eq!(a.fetch_sub(2, Release), 10);
        assert_eq!(a.fetch_and(0b1100, Acquire), 8);
        assert_eq!(a.fetch_or(0b0011, SeqCst), 8);
        assert_eq!(a.fetch_xor(0b0110, SeqCst), 11);
        assert_eq!(a.fetch_nand(0b0100, SeqCst), 13);
        assert_eq!(a.load(SeqCst), !4);
        a.store(20, SeqCst);
        assert_eq!(a.fetch_max(30, SeqCst), 20);
        assert_eq!(a.fetch_max(10, SeqCst), 30);
        assert_eq!(a.fetch_min(10, SeqCst), 30);
        assert_eq!(a.fetch_min(40, SeqCst), 10);
        assert_eq!(a.compare_exchange(10, 11, SeqCst, Relaxed), Ok(10));
        assert_eq!(a.compare_exchange(10, 12, AcqRel, Acquire), Err(11));
        while a.compare_exchange_weak(11, $int::MAX, SeqCst, SeqCst).is_err() {}
        assert_eq!(a.fetch_add(1, SeqCst), $int::MAX);
        assert_eq!(a.fetch_sub(1, SeqCst), $int::MIN);
        assert_eq!(a.fetch_max($int::MIN, SeqCst), $int::MAX);
        assert_eq!(a.fetch_min($int::MIN, SeqCst), $int::MAX);
        assert_eq!(a.fetch_update(SeqCst, Relaxed, |x| x.checked_add(4)), Ok($int::MIN));
        assert_eq!(a.fetch_update(SeqCst, Relaxed, |_| None), Err($int::MIN + 4));
        #[allow(deprecated)]
        {
            assert_eq!(a.compare_and_swap($int::MIN + 4, 1, AcqRel), $int::MIN + 4);
            assert_eq!(a.compare_and_swap(0, 2, Release), 1);
        }
        assert_eq!(a.into_inner(), 1);
        assert_eq!($atomic::default().load(Relaxed), 0);
        assert_eq!($atomic::from(9).load(Relaxed), 9);
    )+};
}

fn integers() {
    integer! {
        AtomicI8 i8 AtomicU8 u8 AtomicI16 i16 AtomicU16 u16 AtomicI32 i32 AtomicU32 u32
        AtomicI64 i64 AtomicU64 u64 AtomicIsize isize AtomicUsize usize
    }
}

fn integers_wrap_and_compare() {
    let a = AtomicI8::new(-1);
    assert_eq!(a.fetch_max(1, SeqCst), -1);
    assert_eq!(a.fetch_min(-128, SeqCst), 1);
    assert_eq!(a.fetch_sub(1, SeqCst), -128);
    assert_eq!(a.load(SeqCst), 127);
    let a = AtomicU16::new(0xffff);
    assert_eq!(a.fetch_min(1, SeqCst), 0xffff);
    let a = AtomicI64::new(i64::MIN);
    assert_eq!(a.compare_exchange(i64::MIN, -5, SeqCst, SeqCst), Ok(i64::MIN));
    assert_eq!(a.fetch_and(-2, SeqCst), -5);
    assert_eq!(a.load(SeqCst), -6);
}

fn booleans() {
    let b = AtomicBool::new(true);
    assert!(b.fetch_and(true, SeqCst));
    assert!(b.fetch_nand(true, SeqCst));
    assert!(!b.fetch_nand(true, SeqCst));
    assert!(b.fetch_xor(true, SeqCst));
    assert!(!b.fetch_or(true, SeqCst));
    assert!(b.fetch_not(SeqCst));
    assert!(!b.swap(true, SeqCst));
    assert_eq!(b.compare_exchange(true, false, SeqCst, SeqCst), Ok(true));
    assert_eq!(b.compare_exchange(true, true, SeqCst, SeqCst), Err(false));
    assert_eq!(b.fetch_update(SeqCst, SeqCst, |x| Some(!x)), Ok(false));
    assert!(b.into_inner());
    assert!(!AtomicBool::default().load(SeqCst));
}

fn pointers() {
    let (mut x, mut y) = (1, 2);
    let (px, py): (*mut i32, *mut i32) = (&mut x, &mut y);
    let p = AtomicPtr::new(px);
    assert_eq!(p.load(Acquire), px);
    assert_eq!(p.swap(py, AcqRel), px);
    assert_eq!(p.compare_exchange(px, px, SeqCst, SeqCst), Err(py));
    assert_eq!(p.compare_exchange(py, px, SeqCst, SeqCst), Ok(py));
    p.store(py, Release);
    // SAFETY: it points to `y`.
    assert_eq!(unsafe { *p.load(Relaxed) }, 2);
    assert_eq!(format!("{p:p}"), format!("{py:p}"));
    assert_eq!(p.fetch_update(SeqCst, SeqCst, |_| Some(std::ptr::null_mut())), Ok(py));
    assert!(AtomicPtr::<u8>::default().into_inner().is_null());
    assert!(p.into_inner().is_null());
}

fn compare_exchange() {
    let a = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let a = Arc::clone(&a);
            thread::spawn(move || while let Err(_) = a.fetch_update(AcqRel, Acquire, |x| Some(x * 2 + 1)) {})
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(a.load(SeqCst), 7);
}

fn exclusive_access() {
    let mut a = AtomicU32::new(1);
    a.store(2, SeqCst);
    *a.get_mut() += 1;
    assert_eq!(a.load(SeqCst), 3);
    a.fetch_add(1, SeqCst);
    assert_eq!(*a.get_mut(), 4);
    assert_eq!(*a.get_mut(), 4);
    assert_eq!(a.into_inner(), 4);
    let mut b = AtomicBool::new(false);
    *b.get_mut() = true;
    assert!(b.load(SeqCst));
    let mut p = AtomicPtr::new(std::ptr::null_mut::<u8>());
    *p.get_mut() = std::ptr::dangling_mut();
    assert!(!p.load(SeqCst).is_null());
}

fn moved_atomics_keep_their_value() {
    let a = AtomicUsize::new(1);
    a.store(2, SeqCst);
    let mut boxed = Box::new(a);
    boxed.fetch_add(1, SeqCst);
    let taken = std::mem::replace(&mut *boxed, AtomicUsize::new(50));
    assert_eq!((boxed.load(SeqCst), taken.load(SeqCst)), (50, 3));
    let many = [taken, *boxed];
    assert_eq!(many.map(|a| a.load(SeqCst)), [3, 50]);
}

fn impossible_orderings() {
    type Code = fn(&AtomicU8, Ordering);
    let load: Code = |a, order| {
        a.load(order);
    };
    let exchange: Code = |a, order| {
        let _ = a.compare_exchange(1, 2, SeqCst, order);
    };
    let exchange_weak: Code = |a, order| {
        let _ = a.compare_exchange_weak(1, 2, SeqCst, order);
    };
    let store: Code = |a, order| a.store(1, order);
    let cases: &[(Code, Ordering, &str)] = &[
        (load, Release, "a release load"),
        (load, AcqRel, "an acquire-release load"),
        (store, Acquire, "an acquire store"),
        (store, AcqRel, "an acquire-release store"),
        (exchange, Release, "a release failure ordering"),
        (exchange, AcqRel, "an acquire-release failure ordering"),
        (exchange_weak, Release, "a release failure ordering"),
        (exchange_weak, AcqRel, "an acquire-release failure ordering"),
        (|_, order| fence(order), Relaxed, "a relaxed fence"),
        (|_, order| compiler_fence(order), Relaxed, "a relaxed fence"),
    ];
    for &(code, order, what) in cases {
        let said = panic_of(|| code(&AtomicU8::new(0), order));
        assert_eq!(said, format!("there is no such thing as {what}"));
    }
    for order in [Acquire, Release, AcqRel, SeqCst] {
        fence(order);
        compiler_fence(order);
    }
}
