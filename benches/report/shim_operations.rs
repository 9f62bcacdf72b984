/// Each operation with its name.
pub fn operations() -> Vec<(&'static str, Tool<'static>)> {
    static STATIC: Mutex<u64> = Mutex::new(0);
    let (lock, tried, reads, writes) = (Mutex::new(0_u64), Mutex::new(0_u64), RwLock::new(0_u64), RwLock::new(0_u64));
    let (shared, added, loaded) = (Arc::new(0_u64), AtomicUsize::new(0), AtomicUsize::new(0));
    let (one, all) = (Condvar::new(), Condvar::new());
    vec![
        ("`Mutex::lock`, and unlock", repeated(move || *black_box(&lock).lock().unwrap() += 1)),
        ("the same of a static, and unlock", repeated(|| *black_box(&STATIC).lock().unwrap() += 1)),
        ("`Mutex::try_lock`, and unlock", repeated(move || *black_box(&tried).try_lock().unwrap() += 1)),
        ("`RwLock::read`, and unlock", repeated(move || _ = black_box(*black_box(&reads).read().unwrap()))),
        ("`RwLock::write`, and unlock", repeated(move || *black_box(&writes).write().unwrap() += 1)),
        ("`Arc::clone`, and drop", repeated(move || drop(black_box(Arc::clone(black_box(&shared)))))),
        ("`AtomicUsize::fetch_add`", repeated(move || _ = black_box(black_box(&added).fetch_add(1, SeqCst)))),
        ("`AtomicUsize::load`", repeated(move || _ = black_box(black_box(&loaded).load(SeqCst)))),
        ("`Condvar::notify_one`", repeated(move || black_box(&one).notify_one())),
        ("`Condvar::notify_all`", repeated(move || black_box(&all).notify_all())),
    ]
}
