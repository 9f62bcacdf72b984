// Benchmark programs of the literature, written once and included for every tool that runs them.
//
// Whoever includes this file brings `Arc`, `AtomicU32`, `SeqCst`, `spawn` and `JoinHandle` into scope. Every location
// is an atomic that starts at 0 unless the program says otherwise; main spawns the threads in the order listed and
// joins them all.

/// Shared locations, all 0.
fn locations(n: usize) -> Arc<Vec<AtomicU32>> {
    Arc::new((0..n).map(|_| AtomicU32::new(0)).collect())
}

/// Spawns a thread that runs `f` on the locations.
fn run(x: &Arc<Vec<AtomicU32>>, f: impl FnOnce(&[AtomicU32]) + Send + 'static) -> JoinHandle<()> {
    let x = Arc::clone(x);
    spawn(move || f(&x))
}

fn join_all(threads: Vec<JoinHandle<()>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}

/// n threads: `a = x; x := a + 1`.
pub fn readinc(n: usize) {
    let x = locations(1);
    join_all((0..n).map(|_| run(&x, |x| x[0].store(x[0].load(SeqCst) + 1, SeqCst))).collect());
}

/// One thread stores 0 n times, another loads n times.
pub fn msv(n: usize) {
    let x = locations(1);
    let p = run(&x, move |x| (0..n).for_each(|_| x[0].store(0, SeqCst)));
    let q = run(&x, move |x| (0..n).for_each(|_| drop(x[0].load(SeqCst))));
    join_all(vec![p, q]);
}

/// Ring store buffering: thread i stores to its location and loads the next one.
pub fn sb(n: usize) {
    let x = locations(n);
    let thread = |i: usize| {
        run(&x, move |x| {
            x[i].store(1, SeqCst);
            x[(i + 1) % n].load(SeqCst);
        })
    };
    join_all((0..n).map(thread).collect());
}

/// One thread stores 42, n threads load.
pub fn readers(n: usize) {
    let x = locations(1);
    let mut threads = vec![run(&x, |x| x[0].store(42, SeqCst))];
    threads.extend((0..n).map(|_| run(&x, |x| drop(x[0].load(SeqCst)))));
    join_all(threads);
}

/// n threads store 1, then one loads.
pub fn nwr(n: usize) {
    let x = locations(1);
    let mut threads: Vec<_> = (0..n).map(|_| run(&x, |x| x[0].store(1, SeqCst))).collect();
    threads.push(run(&x, |x| drop(x[0].load(SeqCst))));
    join_all(threads);
}

/// n threads: `fadd(x, 1)`.
pub fn ainc(n: usize) {
    let x = locations(1);
    join_all((0..n).map(|_| run(&x, |x| drop(x[0].fetch_add(1, SeqCst)))).collect());
}

/// n threads: `fadd(x, 1); fadd(y, 1)`.
pub fn binc(n: usize) {
    let x = locations(2);
    let thread = |_| {
        run(&x, |x| {
            x[0].fetch_add(1, SeqCst);
            x[1].fetch_add(1, SeqCst);
        })
    };
    join_all((0..n).map(thread).collect());
}

/// Threads i = 1..=n: `cas(x, i - 1, i)`.
pub fn casrot(n: usize) {
    let x = locations(1);
    let thread = |i: u32| run(&x, move |x| drop(x[0].compare_exchange(i - 1, i, SeqCst, SeqCst)));
    join_all((1..=n as u32).map(thread).collect());
}

/// Threads id = 0..n: `cas(x, 0, 1); x := id + 3`.
pub fn casw(n: usize) {
    let x = locations(1);
    let thread = |id: u32| {
        run(&x, move |x| {
            let _ = x[0].compare_exchange(0, 1, SeqCst, SeqCst);
            x[0].store(id + 3, SeqCst);
        })
    };
    join_all((0..n as u32).map(thread).collect());
}

/// A reader walks an array down to the first zero, writers j = 1..=n copy `a[j - 1] + 1` to `a[j]`.
pub fn lastzero(n: usize) {
    let a = locations(n + 1);
    let reader = run(&a, move |a| {
        let mut i = n;
        while a[i].load(SeqCst) != 0 {
            i -= 1;
        }
    });
    let mut threads = vec![reader];
    threads.extend((1..=n).map(|j| run(&a, move |a| a[j].store(a[j - 1].load(SeqCst) + 1, SeqCst))));
    join_all(threads);
}
