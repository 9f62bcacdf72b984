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

/// For values that a program reads and does not use.
fn ignore<T>(_: T) {}

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
    let q = run(&x, move |x| (0..n).for_each(|_| ignore(x[0].load(SeqCst))));
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
    threads.extend((0..n).map(|_| run(&x, |x| ignore(x[0].load(SeqCst)))));
    join_all(threads);
}

/// n threads store 1, then one loads.
pub fn nwr(n: usize) {
    let x = locations(1);
    let mut threads: Vec<_> = (0..n).map(|_| run(&x, |x| x[0].store(1, SeqCst))).collect();
    threads.push(run(&x, |x| ignore(x[0].load(SeqCst))));
    join_all(threads);
}

/// n threads: `fadd(x, 1)`.
pub fn ainc(n: usize) {
    let x = locations(1);
    join_all((0..n).map(|_| run(&x, |x| ignore(x[0].fetch_add(1, SeqCst)))).collect());
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
    let thread = |i: u32| run(&x, move |x| ignore(x[0].compare_exchange(i - 1, i, SeqCst, SeqCst)));
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

/// Treiber's stack on indices: `x[0]` is the top, `x[i]` what is below node i. n threads push a node and pop one.
pub fn treiber(n: usize) {
    let x = locations(n + 1);
    let thread = |me: u32| {
        run(&x, move |x| {
            loop {
                let old = x[0].load(SeqCst);
                x[me as usize].store(old, SeqCst);
                if x[0].compare_exchange(old, me, SeqCst, SeqCst).is_ok() {
                    break;
                }
            }
            loop {
                let old = x[0].load(SeqCst);
                if old == 0 {
                    break;
                }
                let below = x[old as usize].load(SeqCst);
                if x[0].compare_exchange(old, below, SeqCst, SeqCst).is_ok() {
                    break;
                }
            }
        })
    };
    join_all((1..=n as u32).map(thread).collect());
}

/// A Michael-Scott queue on indices, node 1 the dummy. n threads enqueue a node and dequeue one.
pub fn msqueue(n: usize) {
    let queue = MsQueue { nodes: n + 2 };
    let x = locations(2 + 2 * queue.nodes);
    x[MsQueue::HEAD].store(1, SeqCst);
    x[MsQueue::TAIL].store(1, SeqCst);
    let thread = |me: u32| {
        run(&x, move |x| {
            queue.enqueue(x, me);
            queue.dequeue(x);
        })
    };
    join_all((2..n as u32 + 2).map(thread).collect());
}

/// Where the queue's variables are.
#[derive(Clone, Copy)]
struct MsQueue {
    nodes: usize,
}

impl MsQueue {
    const HEAD: usize = 0;
    const TAIL: usize = 1;

    fn next(self, node: u32) -> usize {
        1 + node as usize
    }

    fn value(self, node: u32) -> usize {
        1 + self.nodes + node as usize
    }

    fn enqueue(self, x: &[AtomicU32], me: u32) {
        x[self.value(me)].store(me, SeqCst);
        x[self.next(me)].store(0, SeqCst);
        loop {
            let tail = x[Self::TAIL].load(SeqCst);
            let next = x[self.next(tail)].load(SeqCst);
            if tail != x[Self::TAIL].load(SeqCst) {
                continue;
            }
            if next != 0 {
                ignore(x[Self::TAIL].compare_exchange(tail, next, SeqCst, SeqCst));
            } else if x[self.next(tail)].compare_exchange(0, me, SeqCst, SeqCst).is_ok() {
                ignore(x[Self::TAIL].compare_exchange(tail, me, SeqCst, SeqCst));
                return;
            }
        }
    }

    fn dequeue(self, x: &[AtomicU32]) {
        loop {
            let head = x[Self::HEAD].load(SeqCst);
            let tail = x[Self::TAIL].load(SeqCst);
            let next = x[self.next(head)].load(SeqCst);
            if head != x[Self::HEAD].load(SeqCst) {
                continue;
            }
            if head != tail {
                ignore(x[self.value(next)].load(SeqCst));
                if x[Self::HEAD].compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                    return;
                }
            } else if next == 0 {
                return;
            } else {
                ignore(x[Self::TAIL].compare_exchange(tail, next, SeqCst, SeqCst));
            }
        }
    }
}
