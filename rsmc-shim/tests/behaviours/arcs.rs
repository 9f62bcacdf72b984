// `Arc` and `Weak`: counts, owners, and what they are made from. Included in `all.rs`.

fn arc_counts() {
    let first = Arc::new(0);
    let (second, weak) = (Arc::clone(&first), Arc::downgrade(&first));
    let other = weak.clone();
    assert_eq!((Arc::strong_count(&first), Arc::weak_count(&second)), (2, 2));
    assert_eq!((weak.strong_count(), weak.weak_count()), (2, 2));
    drop((second, other));
    let third = weak.upgrade().unwrap();
    assert_eq!((Arc::strong_count(&third), Arc::weak_count(&first)), (2, 1));
    drop((first, third));
    assert_eq!((weak.strong_count(), weak.weak_count()), (0, 0));
    assert_eq!((Weak::<u8>::new().strong_count(), Weak::<u8>::new().weak_count()), (0, 0));
}

/// The value goes with its last strong reference, once, whoever has it; weak ones do not keep it.
fn arc_drops_its_value_once() {
    let drops = Arc::new(AtomicUsize::new(0));
    let shared = Arc::new(Dropped(Arc::clone(&drops)));
    let weak = Arc::downgrade(&shared);
    thread::scope(|scope| {
        for _ in 0..2 {
            let theirs = Arc::clone(&shared);
            scope.spawn(move || drop(theirs));
        }
        drop(shared);
    });
    assert_eq!((drops.load(Relaxed), weak.upgrade().is_none()), (1, true));
}

/// While the value is dropped, no reference comes back.
fn weak_is_dead_in_the_destructor() {
    struct Own(Weak<Own>, Arc<AtomicBool>);
    impl Drop for Own {
        fn drop(&mut self) {
            self.1.store(self.0.upgrade().is_none(), SeqCst);
        }
    }
    let dead = Arc::new(AtomicBool::new(false));
    let own = Arc::new_cyclic(|weak| Own(weak.clone(), Arc::clone(&dead)));
    assert!(Arc::ptr_eq(&own, &own.0.upgrade().unwrap()));
    drop(own);
    assert!(dead.load(SeqCst));
}

/// If each of two threads gives its reference up, exactly one has the value.
fn arc_into_inner_of_one() {
    let (mine, drops) = (Arc::new(7), AtomicU8::new(0));
    let theirs = Arc::clone(&mine);
    let both = thread::scope(|scope| {
        let other = scope.spawn(|| Arc::into_inner(theirs));
        (Arc::into_inner(mine), other.join().unwrap())
    });
    assert!(both == (Some(7), None) || both == (None, Some(7)));
    assert_eq!(drops.into_inner(), 0);
}

/// `make_mut` copies what others refer to, and nothing else; weak references lose the value.
fn arc_make_mut_copies_at_need() {
    let mut mine = Arc::new(vec![1]);
    let place = Arc::as_ptr(&mine);
    Arc::make_mut(&mut mine).push(2);
    assert_eq!(Arc::as_ptr(&mine), place);
    let theirs = Arc::clone(&mine);
    Arc::make_mut(&mut mine).push(3);
    assert_eq!((mine.len(), theirs.len(), Arc::strong_count(&theirs)), (3, 2, 1));
    let weak = Arc::downgrade(&mine);
    Arc::make_mut(&mut mine).push(4);
    assert!(weak.upgrade().is_none() && mine.len() == 4);
}

fn arc_make_mut_of_unsized() {
    let mut numbers: Arc<[i32]> = Arc::from([1, 2, 3]);
    Arc::make_mut(&mut numbers)[0] = 9;
    let theirs = Arc::clone(&numbers);
    Arc::make_mut(&mut numbers).reverse();
    assert_eq!((&numbers[..], &theirs[..]), (&[3, 2, 9][..], &[9, 2, 3][..]));
    let mut text: Arc<str> = Arc::from("text");
    let weak = Arc::downgrade(&text);
    Arc::make_mut(&mut text).make_ascii_uppercase();
    assert_eq!((&*text, weak.upgrade()), ("TEXT", None));
}

/// A value is only cloned if others refer to it.
fn arc_unwraps_without_a_clone() {
    struct Counted(Arc<AtomicUsize>);
    impl Clone for Counted {
        fn clone(&self) -> Self {
            self.0.fetch_add(1, Relaxed);
            Self(Arc::clone(&self.0))
        }
    }
    let clones = Arc::new(AtomicUsize::new(0));
    let shared = Arc::new(Counted(Arc::clone(&clones)));
    let other = Arc::clone(&shared);
    drop(Arc::unwrap_or_clone(other));
    assert_eq!(clones.load(Relaxed), 1);
    drop(Arc::unwrap_or_clone(shared));
    assert_eq!(clones.load(Relaxed), 1);
}

/// Weak references do not keep `try_unwrap` from the value, but `get_mut`.
fn arc_unwraps_beside_weak_ones() {
    let mut own = Arc::new(1);
    let weak = Arc::downgrade(&own);
    assert!(Arc::get_mut(&mut own).is_none());
    assert_eq!(Arc::try_unwrap(own), Ok(1));
    assert!(weak.upgrade().is_none());
    let mut own = Arc::new(2);
    drop(Arc::downgrade(&own));
    *Arc::get_mut(&mut own).unwrap() += 1;
    let other = Arc::clone(&own);
    assert_eq!(Arc::try_unwrap(own).map_err(|own| Arc::ptr_eq(&own, &other)), Err(true));
}

/// Identity is that of the allocation, equality that of the value.
fn arc_identity() {
    let (one, same) = (Arc::new(1), Arc::new(1));
    assert!(one == same && !Arc::ptr_eq(&one, &same) && Arc::ptr_eq(&one, &one.clone()));
    let (weak, other) = (Arc::downgrade(&one), Arc::downgrade(&same));
    assert!(weak.ptr_eq(&Arc::downgrade(&one)) && !weak.ptr_eq(&other));
    assert!(Weak::<u8>::new().ptr_eq(&Weak::new()) && !weak.ptr_eq(&Weak::new()));
}

fn arc_compares_values() {
    let (small, large) = (Arc::new(1), Arc::new(2));
    assert!(small < large && large >= small && small != large);
    assert_eq!(
        (small.cmp(&large), large.partial_cmp(&small)),
        (std::cmp::Ordering::Less, Some(std::cmp::Ordering::Greater))
    );
    let not = Arc::new(f64::NAN);
    assert!(not != not.clone() && not.partial_cmp(&not).is_none());
    #[allow(clippy::mutable_key_type)] // the modelled one has a tag, which no order sees
    let sorted: std::collections::BTreeSet<Arc<str>> = ["b", "a"].map(Arc::from).into();
    assert!(sorted.contains("a") && sorted.iter().map(|text| &**text).eq(["a", "b"]));
}

fn arc_is_shown_as_its_value() {
    let number = Arc::new(7);
    assert_eq!(format!("{number:03} {number:#?} {:>4}", Arc::<str>::from("x")), "007 7    x");
    assert_eq!(format!("{number:p}"), format!("{:p}", Arc::as_ptr(&number)));
    assert_eq!(format!("{:?} {:?}", Weak::<u8>::new(), Arc::downgrade(&number)), "(Weak) (Weak)");
    let error = Arc::new(std::io::Error::other("it"));
    assert_eq!((error.to_string(), std::error::Error::source(&error).is_none()), (String::from("it"), true));
}

fn arc_from_text() {
    use std::borrow::Cow;
    let mut own = String::from("text");
    let all: [Arc<str>; 6] = [
        Arc::from("text"),
        Arc::from(own.as_mut_str()),
        Arc::from(own.clone()),
        Arc::from(own.clone().into_boxed_str()),
        Arc::from(Cow::Borrowed("text")),
        Arc::from(Cow::<str>::Owned(own)),
    ];
    assert!(all.iter().all(|text| &**text == "text"));
    let [text, ..] = all;
    let other = Arc::clone(&text);
    let bytes: Arc<[u8]> = text.into();
    assert_eq!((&*bytes, Arc::strong_count(&other)), (&b"text"[..], 2));
    assert_eq!((&*Arc::<str>::default(), Arc::<[u8]>::default().len()), ("", 0));
}

fn arc_from_names() {
    use std::ffi::{CStr, CString, OsStr, OsString};
    use std::path::{Path, PathBuf};
    let name: [Arc<CStr>; 2] = [c"name".into(), CString::from(c"name").into()];
    assert!(name.iter().all(|name| **name == *c"name") && Arc::<CStr>::default().is_empty());
    let name: [Arc<OsStr>; 2] = [OsStr::new("name").into(), OsString::from("name").into()];
    assert!(name.iter().all(|name| **name == *"name"));
    let mut path: [Arc<Path>; 2] = [Path::new("a/b").into(), PathBuf::from("a/b").into()];
    assert!(path.iter().all(|path| path.ends_with("b")));
    let other = path[0].clone();
    Arc::make_mut(&mut path[0]);
    assert!(path[0] == other && !Arc::ptr_eq(&path[0], &other));
}

fn arc_from_values() {
    let mut own = [1, 2, 3];
    let all: [Arc<[i32]>; 5] =
        [Arc::from(&own[..]), Arc::from(&mut own[..]), Arc::from(vec![1, 2, 3]), Arc::from(own), (1..4).collect()];
    assert!(all.iter().all(|values| **values == [1, 2, 3]));
    let [first, second, ..] = all;
    let three: Arc<[i32; 3]> = first.try_into().unwrap();
    assert_eq!(*three, [1, 2, 3]);
    let address = second.as_ptr();
    let two: Result<Arc<[i32; 2]>, Arc<[i32]>> = second.try_into();
    assert!(two.is_err_and(|values| values.as_ptr() == address));
    assert_eq!((*Arc::from(Box::new(4)), *Arc::from(5)), (4, 5));
    assert_eq!(Arc::<[u8]>::from_iter((0..9).filter(|n| n % 4 == 0))[..], [0, 4, 8]);
}

fn arc_of_any_is_downcast() {
    type Any = dyn std::any::Any + Send + Sync;
    let text = Arc::new(String::from("x"));
    let any: Arc<Any> = coerce_arc!(text.clone() => Any);
    let any = any.downcast::<u8>().unwrap_err();
    assert!(any.is::<String>());
    let again = any.downcast::<String>().unwrap();
    assert!(Arc::ptr_eq(&again, &text) && Arc::strong_count(&text) == 2);
}

fn arc_of_a_trait_is_called() {
    let calls = Arc::new(AtomicUsize::new(0));
    let theirs = Arc::clone(&calls);
    let act: Arc<dyn Fn(usize) + Send + Sync> =
        coerce_arc!(Arc::new(move |n| theirs.store(theirs.load(Relaxed) + n, Relaxed)) => dyn Fn(usize) + Send + Sync);
    let other = Arc::clone(&act);
    thread::spawn(move || other(3)).join().unwrap();
    act(4);
    drop(act);
    assert_eq!((calls.load(Relaxed), Arc::strong_count(&calls)), (7, 1));
}

/// Raw pointers count, for unsized values too.
fn arc_raw_of_unsized() {
    let text: Arc<str> = Arc::from("text");
    let (strong, weak) = (Arc::into_raw(Arc::clone(&text)), Arc::downgrade(&text).into_raw());
    // SAFETY: each pointer stands for a reference, which is made of it again, and for one that is counted and dropped.
    let (strong, weak) = unsafe {
        Arc::increment_strong_count(strong);
        Arc::decrement_strong_count(strong);
        (Arc::from_raw(strong), Weak::from_raw(weak))
    };
    assert!(Arc::ptr_eq(&strong, &text) && weak.as_ptr().addr() == Arc::as_ptr(&text).addr());
    assert_eq!((Arc::strong_count(&text), Arc::weak_count(&text)), (2, 1));
    drop((strong, text));
    assert!(weak.upgrade().is_none());
}

fn weak_raw_of_nothing() {
    let weak = Weak::<u8>::new();
    let pointer = weak.into_raw();
    // SAFETY: `into_raw` made it.
    let weak = unsafe { Weak::from_raw(pointer) };
    assert!(weak.upgrade().is_none() && weak.ptr_eq(&Weak::default()));
}

fn arc_is_filled_in_later() {
    let mut number = Arc::<u32>::new_uninit();
    Arc::get_mut(&mut number).unwrap().write(5);
    let mut pair = Arc::<[u8]>::new_uninit_slice(2);
    for (place, value) in Arc::get_mut(&mut pair).unwrap().iter_mut().zip([6, 7]) {
        place.write(value);
    }
    // SAFETY: all values were written.
    let (number, pair) = unsafe { (number.assume_init(), pair.assume_init()) };
    assert_eq!((*number, &*pair), (5, &[6, 7][..]));
}

fn arc_gives_files_on() {
    fn writes<T: std::io::Read + std::io::Write + std::io::Seek>() {}
    writes::<Arc<std::fs::File>>();
    #[cfg(unix)]
    {
        use std::os::fd::{AsFd, AsRawFd};
        let input = Arc::new(std::io::stdin());
        assert_eq!(input.as_fd().as_raw_fd(), input.as_raw_fd());
    }
}

/// Parents have their children, and children know their parents.
fn weak_goes_up_a_tree() {
    struct Node(u8, Weak<Node>, Mutex<Vec<Arc<Node>>>);
    let root = Arc::new(Node(1, Weak::new(), Mutex::default()));
    let leaf = Arc::new(Node(2, Arc::downgrade(&root), Mutex::default()));
    root.2.lock().unwrap().push(Arc::clone(&leaf));
    assert_eq!((leaf.1.upgrade().map(|parent| parent.0), leaf.2.lock().unwrap().len()), (Some(1), 0));
    assert_eq!((Arc::strong_count(&leaf), Arc::weak_count(&root)), (2, 1));
    drop(root);
    assert_eq!((leaf.1.upgrade().is_none(), Arc::strong_count(&leaf), leaf.0), (true, 1, 2));
}
