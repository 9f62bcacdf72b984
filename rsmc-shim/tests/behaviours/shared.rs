// `Arc` and `Weak`. Included in `all.rs`.

fn arc() {
    let a = Arc::new(String::from("x"));
    let b = a.clone();
    assert!(Arc::ptr_eq(&a, &b));
    assert_eq!(Arc::strong_count(&a), 2);
    assert_eq!((a.len(), a.as_ref().as_str()), (1, "x"));
    assert_eq!(a, b);
    assert!(a <= b);
    #[allow(clippy::mutable_key_type)] // the modelled one has a tag, which no hash sees
    let set = std::collections::HashSet::from([a.clone()]);
    assert!(set.contains(&String::from("x")));
    drop(set);
    assert_eq!(Arc::try_unwrap(a).unwrap_err(), b);
    assert_eq!(Arc::into_inner(b), Some(String::from("x")));
    assert_eq!(*Arc::<u8>::default(), 0);
    assert_eq!(*Arc::pin(3), 3);
}

fn arc_unique() {
    let mut a = Arc::new(1);
    *Arc::get_mut(&mut a).unwrap() = 2;
    let b = Arc::clone(&a);
    assert!(Arc::get_mut(&mut a).is_none());
    *Arc::make_mut(&mut a) = 3;
    assert_eq!((*a, *b), (3, 2));
    let w = Arc::downgrade(&a);
    assert!(Arc::get_mut(&mut a).is_none());
    *Arc::make_mut(&mut a) = 4;
    assert!(w.upgrade().is_none());
    assert_eq!(Arc::unwrap_or_clone(a), 4);
    assert_eq!(Arc::unwrap_or_clone(b.clone()), 2);
    assert_eq!(Arc::try_unwrap(b), Ok(2));
}

fn arc_unsized() {
    let text: Arc<str> = "hello".into();
    assert_eq!(text.len(), 5);
    let numbers: Arc<[i32]> = (0..3).collect();
    assert_eq!(numbers.iter().sum::<i32>(), 3);
    assert_eq!(Arc::<[u8]>::from(vec![1, 2]).len(), 2);
    let any: Arc<dyn std::any::Any + Send + Sync> = coerce_arc!(Arc::new(7_u8) => dyn std::any::Any + Send + Sync);
    let any = any.downcast::<u16>().unwrap_err();
    assert_eq!(*any.downcast::<u8>().unwrap(), 7);
}

fn arc_raw() {
    let a = Arc::new(5);
    let p = Arc::into_raw(Arc::clone(&a));
    assert_eq!(p, Arc::as_ptr(&a));
    // SAFETY: it points to a reference of its own; one more is counted, and both are dropped.
    unsafe {
        assert_eq!(*p, 5);
        Arc::increment_strong_count(p);
        assert_eq!(Arc::strong_count(&a), 3);
        Arc::decrement_strong_count(p);
        drop(Arc::from_raw(p));
    }
    assert_eq!(Arc::strong_count(&a), 1);
    let w = Arc::downgrade(&a).into_raw();
    // SAFETY: it points to a weak reference of its own.
    let w = unsafe { Weak::from_raw(w) };
    assert_eq!(*w.upgrade().unwrap(), 5);
    drop(a);
    assert!(w.upgrade().is_none());
}

fn weak() {
    let a = Arc::new_cyclic(|me: &Weak<(Weak<()>, u8)>| {
        assert!(me.upgrade().is_none());
        (Weak::new(), 7)
    });
    let w = Arc::downgrade(&a);
    assert_eq!((Arc::weak_count(&a), w.strong_count(), w.weak_count()), (1, 1, 1));
    assert!(w.ptr_eq(&w.clone()));
    assert!(a.0.upgrade().is_none());
    assert_eq!(w.upgrade().unwrap().1, 7);
    drop(a);
    assert_eq!(w.strong_count(), 0);
}
