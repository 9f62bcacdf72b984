// Benchmark programs of the literature, written once and included for every tool that runs them.
//
// Whoever includes this file brings `Arc`, `AtomicU32`, `SeqCst`, `spawn`, `spin_loop` and `JoinHandle` into scope, and
// `ORDER`: the ordering of plain loads and stores. It is `SeqCst`, or `Relaxed` for stores that wait in buffers;
// read-modify-writes are always `SeqCst`. Every location is an atomic that starts at 0 unless the program says
// otherwise; main spawns the threads in the order listed and joins them all.

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
    join_all((0..n).map(|_| run(&x, |x| x[0].store(x[0].load(ORDER) + 1, ORDER))).collect());
}

/// One thread stores 0 n times, another loads n times.
pub fn msv(n: usize) {
    let x = locations(1);
    let p = run(&x, move |x| (0..n).for_each(|_| x[0].store(0, ORDER)));
    let q = run(&x, move |x| (0..n).for_each(|_| ignore(x[0].load(ORDER))));
    join_all(vec![p, q]);
}

/// Ring store buffering: thread i stores to its location and loads the next one.
pub fn sb(n: usize) {
    let x = locations(n);
    let thread = |i: usize| {
        run(&x, move |x| {
            x[i].store(1, ORDER);
            x[(i + 1) % n].load(ORDER);
        })
    };
    join_all((0..n).map(thread).collect());
}

/// One thread stores 42, n threads load.
pub fn readers(n: usize) {
    let x = locations(1);
    let mut threads = vec![run(&x, |x| x[0].store(42, ORDER))];
    threads.extend((0..n).map(|_| run(&x, |x| ignore(x[0].load(ORDER)))));
    join_all(threads);
}

/// n threads store 1, then one loads.
pub fn nwr(n: usize) {
    let x = locations(1);
    let mut threads: Vec<_> = (0..n).map(|_| run(&x, |x| x[0].store(1, ORDER))).collect();
    threads.push(run(&x, |x| ignore(x[0].load(ORDER))));
    join_all(threads);
}

/// Two threads id = 0, 1: n times `x := id`, then a load.
pub fn nwr2(n: usize) {
    let x = locations(1);
    let thread = |id: u32| {
        run(&x, move |x| {
            (0..n).for_each(|_| x[0].store(id, ORDER));
            x[0].load(ORDER);
        })
    };
    join_all((0..2).map(thread).collect());
}

/// n threads increment as in `readinc`, and one, spawned first, loads.
pub fn fkp2013(n: usize) {
    let x = locations(1);
    let mut threads = vec![run(&x, |x| ignore(x[0].load(ORDER)))];
    threads.extend((0..n).map(|_| run(&x, |x| x[0].store(x[0].load(ORDER) + 1, ORDER))));
    join_all(threads);
}

/// Two threads id = 1, 2: n times `x := id`; a third loads twice.
pub fn redundant_co(n: usize) {
    let x = locations(1);
    let writer = |id: u32| run(&x, move |x| (0..n).for_each(|_| x[0].store(id, ORDER)));
    let mut threads: Vec<_> = (1..3).map(writer).collect();
    threads.push(run(&x, |x| (0..2).for_each(|_| ignore(x[0].load(ORDER)))));
    join_all(threads);
}

/// Threads id = 1..=n: `x := id`; main loads before it joins them.
pub fn float_read(n: usize) {
    let x = locations(1);
    let threads = (1..=n as u32).map(|id| run(&x, move |x| x[0].store(id, ORDER))).collect();
    x[0].load(ORDER);
    join_all(threads);
}

/// Threads id = 1..=n: `x := id`; main loads after it has joined them.
pub fn lastwrite(n: usize) {
    let x = locations(1);
    join_all((1..=n as u32).map(|id| run(&x, move |x| x[0].store(id, ORDER))).collect());
    x[0].load(ORDER);
}

/// n threads store `X`, but for the second one, which stores `Y`; main loads after it has joined them.
pub fn singleton(n: usize) {
    let x = locations(1);
    let thread = |id: usize| run(&x, move |x| x[0].store(if id == 1 { b'Y' } else { b'X' }.into(), ORDER));
    join_all((0..n).map(thread).collect());
    x[0].load(ORDER);
}

/// Threads id = 0..n: `x := id; x := id`; main loads after it has joined them.
pub fn co2p2w(n: usize) {
    let x = locations(1);
    let thread = |id: u32| run(&x, move |x| (0..2).for_each(|_| x[0].store(id, ORDER)));
    join_all((0..n as u32).map(thread).collect());
    x[0].load(ORDER);
}

/// n threads store 1 and load it.
pub fn same_value(n: usize) {
    let x = locations(1);
    let thread = |_| {
        run(&x, |x| {
            x[0].store(1, ORDER);
            x[0].load(ORDER);
        })
    };
    join_all((0..n).map(thread).collect());
}

/// p: `x := 1`; q: `y := 3; y := 4; x := 1`; r loads x, then y. To read 3 where 4 was read, r must read the other 1.
pub fn two_sources(_: usize) {
    let x = locations(2);
    let p = run(&x, |x| x[0].store(1, ORDER));
    let q = run(&x, |x| {
        x[1].store(3, ORDER);
        x[1].store(4, ORDER);
        x[0].store(1, ORDER);
    });
    let r = run(&x, |x| x.iter().for_each(|x| ignore(x.load(ORDER))));
    join_all(vec![p, q, r]);
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
            x[0].store(id + 3, ORDER);
        })
    };
    join_all((0..n as u32).map(thread).collect());
}

/// A reader walks an array down to the first zero, writers j = 1..=n copy `a[j - 1] + 1` to `a[j]`.
pub fn lastzero(n: usize) {
    let a = locations(n + 1);
    let reader = run(&a, move |a| {
        let mut i = n;
        while a[i].load(ORDER) != 0 {
            i -= 1;
        }
    });
    let mut threads = vec![reader];
    threads.extend((1..=n).map(|j| run(&a, move |a| a[j].store(a[j - 1].load(ORDER) + 1, ORDER))));
    join_all(threads);
}

/// Threads id = 0..n put four keys each into a hash table by compare-exchange.
pub fn indexer(n: usize) {
    let table = locations(128);
    let thread = |id: u32| {
        run(&table, move |table| {
            for m in 1..=4 {
                let key = m * 11 + id;
                let mut slot = (key * 7) as usize % table.len();
                while table[slot].compare_exchange(0, key, SeqCst, SeqCst).is_err() {
                    slot = (slot + 1) % table.len();
                }
            }
        })
    };
    join_all((0..n as u32).map(thread).collect());
}

/// n - 1 threads: `a := 1; b := -1`; the last checks that both or none have happened, without locks.
pub fn reorder(n: usize) {
    const MINUS_1: u32 = u32::MAX;
    let x = locations(2);
    let setter = |_| {
        run(&x, |x| {
            x[0].store(1, ORDER);
            x[1].store(MINUS_1, ORDER);
        })
    };
    let mut threads: Vec<_> = (1..n).map(setter).collect();
    let both = |x: &[AtomicU32], a, b| x[0].load(ORDER) == a && x[1].load(ORDER) == b;
    threads.push(run(&x, move |x| ignore(both(x, 0, 0) || both(x, 1, MINUS_1))));
    join_all(threads);
}

/// Two threads add i and j, n times each, one into i and the other into j, which start at 1; main loads both before it
/// joins them.
pub fn fib_bench(n: usize) {
    let x = locations(2);
    x.iter().for_each(|x| x.store(1, ORDER));
    let adder = |own: usize| {
        run(&x, move |x| {
            (0..n).for_each(|_| x[own].store(x[own].load(ORDER) + x[1 - own].load(ORDER), ORDER));
        })
    };
    let threads = (0..2).map(adder).collect();
    x.iter().for_each(|x| ignore(x.load(ORDER)));
    join_all(threads);
}

/// Two threads id = 0, 1 of an optimistic lock with up to n tries.
pub fn opt_lock(n: usize) {
    let x = locations(2);
    let thread = |id: u32| {
        run(&x, move |x| {
            for _ in 0..n {
                x[0].store(id, ORDER);
                x[1].store(1, ORDER);
                if x[0].load(ORDER) == id {
                    x[1].load(ORDER);
                    break;
                }
            }
        })
    };
    join_all((0..2).map(thread).collect());
}

/// Two threads sieve the same array of length n.
pub fn eratosthenes(n: usize) {
    let a = locations(n);
    let sieve = move |a: &[AtomicU32]| {
        for i in 0..n {
            if a[i].load(ORDER) == 0 {
                a[i].store(1, ORDER);
                (2 * i + 2..n).step_by(i + 2).for_each(|j| a[j].store(2, ORDER));
            }
        }
    };
    join_all((0..2).map(|_| run(&a, sieve)).collect());
}

/// Dekker's lock, n times in each of two threads, with at most n tries at each loop; who runs out of them gives up.
pub fn dekker(n: usize) {
    let lock = Lock { tries: n };
    let x = locations(4);
    let thread = |me: usize| {
        run(&x, move |x| {
            for _ in 0..n {
                if lock.dekker(x, me).is_none() {
                    return;
                }
                Lock::critical_section(x, me);
                x[Lock::TURN].store(1 - me as u32, ORDER);
                x[me].store(0, ORDER);
            }
        })
    };
    join_all((0..2).map(thread).collect());
}

/// Peterson's lock, in the same way.
pub fn peterson(n: usize) {
    let lock = Lock { tries: n };
    let x = locations(4);
    let thread = |me: usize| {
        run(&x, move |x| {
            for _ in 0..n {
                if lock.peterson(x, me).is_none() {
                    return;
                }
                Lock::critical_section(x, me);
                x[me].store(0, ORDER);
            }
        })
    };
    join_all((0..2).map(thread).collect());
}

/// The number of tries of a lock's loops. The flags of the two threads are locations 0 and 1.
#[derive(Clone, Copy)]
struct Lock {
    tries: usize,
}

impl Lock {
    const TURN: usize = 2;
    const DATA: usize = 3;

    fn critical_section(x: &[AtomicU32], me: usize) {
        x[Self::DATA].store(me as u32 + 1, ORDER);
        x[Self::DATA].load(ORDER);
    }

    /// Tries until the condition holds.
    fn until(self, mut condition: impl FnMut() -> bool) -> Option<()> {
        (0..self.tries).any(|_| condition()).then_some(())
    }

    fn dekker(self, x: &[AtomicU32], me: usize) -> Option<()> {
        x[me].store(1, ORDER);
        for _ in 0..self.tries {
            if x[1 - me].load(ORDER) == 0 {
                return Some(());
            }
            if x[Self::TURN].load(ORDER) != me as u32 {
                x[me].store(0, ORDER);
                self.until(|| x[Self::TURN].load(ORDER) == me as u32)?;
                x[me].store(1, ORDER);
            }
        }
        None
    }

    fn peterson(self, x: &[AtomicU32], me: usize) -> Option<()> {
        let other = 1 - me;
        x[me].store(1, ORDER);
        x[Self::TURN].store(other as u32, ORDER);
        self.until(|| {
            let (flag, turn) = (x[other].load(ORDER), x[Self::TURN].load(ORDER));
            flag != 1 || turn != other as u32
        })
    }
}

/// Two threads id = 0, 1 try n times to take a lock for writing.
pub fn linuxrwlocks(n: usize) {
    const BIAS: u32 = 0x10_0000;
    let x = locations(2);
    x[0].store(BIAS, ORDER);
    let thread = |id: u32| {
        run(&x, move |x| {
            for _ in 0..n {
                if x[0].fetch_sub(BIAS, SeqCst) == BIAS {
                    x[1].store(id + 1, ORDER);
                    x[1].load(ORDER);
                }
                x[0].fetch_add(BIAS, SeqCst);
            }
        })
    };
    join_all((0..2).map(thread).collect());
}

/// Threads id = 0..n take a ticket, and wait until it is their turn.
pub fn ticketlock(n: usize) {
    const NEXT: usize = 0;
    const OWNER: usize = 1;
    const DATA: usize = 2;
    let x = locations(3);
    let thread = |id: u32| {
        run(&x, move |x| {
            let ticket = x[NEXT].fetch_add(1, SeqCst);
            while x[OWNER].load(ORDER) != ticket {
                spin_loop();
            }
            x[DATA].store(id, ORDER);
            x[DATA].load(ORDER);
            x[OWNER].store(ticket + 1, ORDER);
        })
    };
    join_all((0..n as u32).map(thread).collect());
}

/// Treiber's stack on indices: `x[0]` is the top, `x[i]` what is below node i. n threads push a node and pop one.
pub fn treiber(n: usize) {
    let x = locations(n + 1);
    let thread = |me: u32| {
        run(&x, move |x| {
            loop {
                let old = x[0].load(ORDER);
                x[me as usize].store(old, ORDER);
                if x[0].compare_exchange(old, me, SeqCst, SeqCst).is_ok() {
                    break;
                }
            }
            loop {
                let old = x[0].load(ORDER);
                if old == 0 {
                    break;
                }
                let below = x[old as usize].load(ORDER);
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
    x[MsQueue::HEAD].store(1, ORDER);
    x[MsQueue::TAIL].store(1, ORDER);
    let thread = |me: u32| {
        run(&x, move |x| {
            queue.enqueue(x, me);
            queue.dequeue(x);
        })
    };
    join_all((2..n as u32 + 2).map(thread).collect());
}

/// The places of the queue's variables.
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
        x[self.value(me)].store(me, ORDER);
        x[self.next(me)].store(0, ORDER);
        loop {
            let tail = x[Self::TAIL].load(ORDER);
            let next = x[self.next(tail)].load(ORDER);
            if tail != x[Self::TAIL].load(ORDER) {
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
            let head = x[Self::HEAD].load(ORDER);
            let tail = x[Self::TAIL].load(ORDER);
            let next = x[self.next(head)].load(ORDER);
            if head != x[Self::HEAD].load(ORDER) {
                continue;
            }
            if head != tail {
                ignore(x[self.value(next)].load(ORDER));
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
