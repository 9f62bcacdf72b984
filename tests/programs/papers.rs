// Programs of the papers' tables that are no benchmarks, to be included behind `bodies.rs`.
//
// Whoever includes this file brings `Mutex` into scope besides what `bodies.rs` needs. Locks are those of the shim.

/// Mutexes that guard nothing by their type.
fn locks(n: usize) -> Arc<Vec<Mutex<()>>> {
    Arc::new((0..n).map(|_| Mutex::new(())).collect())
}

/// Spawns a thread that runs `f` on the locations and the locks.
fn run_locked(
    (x, locks): (&Arc<Vec<AtomicU32>>, &Arc<Vec<Mutex<()>>>),
    f: impl FnOnce(&[AtomicU32], &[Mutex<()>]) + Send + 'static,
) -> JoinHandle<()> {
    let (x, locks) = (Arc::clone(x), Arc::clone(locks));
    spawn(move || f(&x, &locks))
}

/// Three threads write the same values to two locations; the last two read one each.
pub fn figure_4_1(_: usize) {
    let x = locations(2);
    let thread = |reads: Option<usize>| {
        run(&x, move |x| {
            x.iter().for_each(|x| x.store(1, ORDER));
            reads.into_iter().for_each(|i| ignore(x[i].load(ORDER)));
        })
    };
    join_all([None, Some(0), Some(1)].map(thread).into());
}

/// `reorder` with u threads that set, and one that checks.
pub fn reorder_5(u: usize) {
    reorder(u + 1);
}

/// Two threads sieve the numbers below n: of each that is not crossed out they cross out the multiples.
pub fn eratosthenes_t51(n: usize) {
    let c = locations(n);
    let sieve = move |c: &[AtomicU32]| {
        for i in 2..n {
            if c[i].load(ORDER) == 0 {
                (2 * i..n).step_by(i).for_each(|j| c[j].store(1, ORDER));
            }
        }
    };
    join_all((0..2).map(|_| run(&c, sieve)).collect());
}

/// n threads count themselves; who finds that it is the only one adds n times to a number.
pub fn unverif_13(n: usize) {
    let x = locations(2);
    let thread = |_| {
        run(&x, move |x| {
            x[0].fetch_add(1, SeqCst);
            if x[0].load(ORDER) == 1 {
                for _ in 0..n {
                    x[1].store(x[1].load(ORDER) + 1, ORDER);
                    x[1].load(ORDER);
                }
            }
        })
    };
    join_all((0..n).map(thread).collect());
}

/// n threads append to n - 2 places without a lock; main takes everything out after it has joined them.
pub fn approxds_append(n: usize) {
    let places = n - 2;
    let x = locations(places + 1);
    let thread = |id: u32| {
        run(&x, move |x| {
            let (places, next) = (&x[..places], &x[places]);
            let i = next.load(ORDER);
            if let Some(place) = places.get(i as usize) {
                place.store(id, ORDER);
                next.store(i + 1, ORDER);
            }
        })
    };
    join_all((0..n as u32).map(thread).collect());
    let next = &x[places];
    loop {
        let mut i;
        loop {
            i = next.load(ORDER);
            if i == 0 {
                return;
            }
            x[i as usize - 1].load(ORDER);
            if next.load(ORDER) == i {
                break;
            }
        }
        next.store(i - 1, ORDER);
    }
}

/// Two threads wake each other by latches, u times each, and look for the own latch u + 2 times at most.
pub fn pgsql(u: usize) {
    let x = locations(4);
    x[0].store(1, ORDER);
    x[2].store(1, ORDER);
    let thread = |me: usize| {
        run(&x, move |x| {
            let (latch, flag) = x.split_at(2);
            for _ in 0..u {
                if !(0..u + 2).any(|_| latch[me].load(ORDER) == 1) {
                    return;
                }
                latch[me].store(0, ORDER);
                if flag[me].load(ORDER) == 1 {
                    flag[me].store(0, ORDER);
                    flag[1 - me].store(1, ORDER);
                    latch[1 - me].store(1, ORDER);
                }
            }
        })
    };
    join_all((0..2).map(thread).collect());
}

/// A stack of n places under a lock: one thread pushes n times, another pops n times. Each mention of the top is a
/// load.
pub fn stack_true(n: usize) {
    let (x, lock) = (locations(n + 1), locks(1));
    let push = move |x: &[AtomicU32], lock: &[Mutex<()>]| {
        let (slots, top) = (&x[..n], &x[n]);
        for _ in 0..n {
            let _held = lock[0].lock().unwrap();
            if top.load(ORDER) as usize <= n && top.load(ORDER) as usize != n {
                slots[top.load(ORDER) as usize].store(0, ORDER);
                top.store(top.load(ORDER) + 1, ORDER);
            }
        }
    };
    let pop = move |x: &[AtomicU32], lock: &[Mutex<()>]| {
        let (slots, top) = (&x[..n], &x[n]);
        for _ in 0..n {
            let _held = lock[0].lock().unwrap();
            if top.load(ORDER) > 0 && top.load(ORDER) != 0 {
                top.store(top.load(ORDER) - 1, ORDER);
                slots[top.load(ORDER) as usize].load(ORDER);
            }
        }
    };
    join_all(vec![run_locked((&x, &lock), push), run_locked((&x, &lock), pop)]);
}

/// Threads id = 0..n: `x := id`; main loads before it joins them.
pub fn float_read0(n: usize) {
    let x = locations(1);
    let threads = (0..n as u32).map(|id| run(&x, move |x| x[0].store(id, ORDER))).collect();
    x[0].load(ORDER);
    join_all(threads);
}

/// Main counts up and spawns a thread, n times; each marks the place that the count names when it looks.
pub fn sigma_false(n: usize) {
    let x = locations(n + 1);
    x[n].store(u32::MAX, ORDER);
    let thread = |_| {
        x[n].store(x[n].load(ORDER).wrapping_add(1), ORDER);
        run(&x, move |x| x[x[n].load(ORDER) as usize].store(1, ORDER))
    };
    join_all((0..n).map(thread).collect());
    x[..n].iter().for_each(|x| ignore(x.load(ORDER)));
}

/// n threads give an inode a free block each, under a lock for each inode and for each block.
pub fn filesystem(n: usize) {
    const INODES: usize = 32;
    const BLOCKS: usize = 26;
    let (x, locks) = (locations(INODES + BLOCKS), locks(INODES + BLOCKS));
    let thread = |id: usize| {
        run_locked((&x, &locks), move |x, locks| {
            let ((inodes, busy), (of_inodes, of_blocks)) = (x.split_at(INODES), locks.split_at(INODES));
            let i = id % INODES;
            let _inode = of_inodes[i].lock().unwrap();
            if inodes[i].load(ORDER) != 0 {
                return;
            }
            for b in (0..10).map(|step| (i * 2 + step) % BLOCKS) {
                let _block = of_blocks[b].lock().unwrap();
                if busy[b].load(ORDER) == 0 {
                    busy[b].store(1, ORDER);
                    inodes[i].store(b as u32 + 1, ORDER);
                    break;
                }
            }
        })
    };
    join_all((0..n).map(thread).collect());
}

/// Three threads, of which the last sees what should not be if the others take turns in one way only.
pub fn exponential_bug(n: usize) {
    let (x, lock) = (locations(2), locks(1));
    let first = move |x: &[AtomicU32], lock: &[Mutex<()>]| {
        for _ in 0..2 {
            let _held = lock[0].lock().unwrap();
            x[0].store(1, ORDER);
            (0..n).for_each(|_| x[1].store(1, ORDER));
        }
    };
    let second = |x: &[AtomicU32], lock: &[Mutex<()>]| {
        for _ in 0..2 {
            let held = lock[0].lock().unwrap();
            x[0].store(0, ORDER);
            drop(held);
            if x[0].load(ORDER) > 0 {
                x[1].store(x[1].load(ORDER) + 1, ORDER);
                x[0].store(2, ORDER);
            }
        }
    };
    let third = |x: &[AtomicU32]| {
        for _ in 0..2 {
            if x[0].load(ORDER) > 1 {
                if x[1].load(ORDER) == 3 {
                    return;
                }
                x[1].store(2, ORDER);
            }
        }
    };
    join_all(vec![run_locked((&x, &lock), first), run_locked((&x, &lock), second), run(&x, third)]);
}

/// n threads look at a lock once before each try to take it, and end where it is held; who has it writes. At most n - 1
/// tries fail: a loop without a number would wait, and its iterations would not count.
pub fn ttaslock_assume(n: usize) {
    let x = locations(2);
    let thread = |id: u32| {
        run(&x, move |x| {
            let (lock, data) = (&x[0], &x[1]);
            let mut tries = (0..n).take_while(|_| lock.load(ORDER) == 0);
            if !tries.any(|_| lock.swap(1, SeqCst) == 0) {
                return;
            }
            data.store(id, ORDER);
            data.load(ORDER);
            lock.store(0, ORDER);
        })
    };
    join_all((0..n as u32).map(thread).collect());
}
