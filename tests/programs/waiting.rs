// Programs that wait, for whoever includes `bodies.rs` as well.

/// n threads and a first one meet at a barrier that turns a sense; the first has written before, and all others read
/// behind it.
pub fn barrier(n: usize) {
    const COUNT: usize = 0;
    const SENSE: usize = 1;
    const DATA: usize = 2;
    let x = locations(3);
    let wait = move |x: &[AtomicU32]| {
        let sense = x[SENSE].load(ORDER);
        if x[COUNT].fetch_add(1, SeqCst) == n as u32 {
            x[COUNT].store(0, ORDER);
            x[SENSE].fetch_add(1, SeqCst);
        } else {
            while x[SENSE].load(ORDER) == sense {
                spin_loop();
            }
        }
    };
    let mut threads = vec![run(&x, move |x| {
        x[DATA].store(42, ORDER);
        wait(x);
    })];
    threads.extend((0..n).map(|_| {
        run(&x, move |x| {
            wait(x);
            x[DATA].load(ORDER);
        })
    }));
    join_all(threads);
}

/// A writer writes two locations twice under a sequence lock; n readers read them.
pub fn seqlock(n: usize) {
    const SEQ: usize = 0;
    const A: usize = 1;
    const B: usize = 2;
    let x = locations(3);
    let mut threads = vec![run(&x, |x| {
        for k in 1..=2 {
            let seq = x[SEQ].load(ORDER);
            x[SEQ].store(seq + 1, ORDER);
            x[A].store(k, ORDER);
            x[B].store(k, ORDER);
            x[SEQ].store(seq + 2, ORDER);
        }
    })];
    threads.extend((0..n).map(|_| {
        run(&x, |x| {
            loop {
                let before = loop {
                    let seq = x[SEQ].load(ORDER);
                    if seq % 2 == 0 {
                        break seq;
                    }
                    spin_loop();
                };
                x[A].load(ORDER);
                x[B].load(ORDER);
                if x[SEQ].load(ORDER) == before {
                    break;
                }
                spin_loop();
            }
        })
    }));
    join_all(threads);
}

/// A writer and n readers of a lock that counts down from a bias.
pub fn rwlock(n: usize) {
    const LOCK: usize = 0;
    const DATA: usize = 1;
    const BIAS: u32 = 0x10_0000;
    let x = locations(2);
    x[LOCK].store(BIAS, SeqCst);
    let mut threads = vec![run(&x, |x| {
        while x[LOCK].fetch_sub(BIAS, SeqCst) != BIAS {
            x[LOCK].fetch_add(BIAS, SeqCst);
            while x[LOCK].load(ORDER) != BIAS {
                spin_loop();
            }
        }
        x[DATA].store(1, ORDER);
        x[LOCK].fetch_add(BIAS, SeqCst);
    })];
    threads.extend((0..n).map(|_| {
        run(&x, |x| {
            while x[LOCK].fetch_sub(1, SeqCst).cast_signed() <= 0 {
                x[LOCK].fetch_add(1, SeqCst);
                while x[LOCK].load(ORDER).cast_signed() <= 0 {
                    spin_loop();
                }
            }
            x[DATA].load(ORDER);
            x[LOCK].fetch_add(1, SeqCst);
        })
    }));
    join_all(threads);
}

/// n threads take an MCS lock: each waits for a location of its own.
pub fn mcs(n: usize) {
    let x = locations(2 + 2 * (n + 1));
    const TAIL: usize = 0;
    const COUNT: usize = 1;
    let next = |me: u32| 2 + me as usize;
    let locked = move |me: u32| 2 + n + 1 + me as usize;
    let thread = |me: u32| {
        run(&x, move |x| {
            x[locked(me)].store(0, ORDER);
            x[next(me)].store(0, ORDER);
            let before = x[TAIL].swap(me, SeqCst);
            if before != 0 {
                x[next(before)].store(me, ORDER);
                while x[locked(me)].load(ORDER) == 0 {
                    spin_loop();
                }
            }
            x[COUNT].store(x[COUNT].load(ORDER) + 1, ORDER);
            let mut after = x[next(me)].load(ORDER);
            if after == 0 {
                if x[TAIL].compare_exchange(me, 0, SeqCst, SeqCst).is_ok() {
                    return;
                }
                loop {
                    after = x[next(me)].load(ORDER);
                    if after != 0 {
                        break;
                    }
                    spin_loop();
                }
            }
            x[locked(after)].store(1, ORDER);
        })
    };
    join_all((1..=n as u32).map(thread).collect());
}

/// n threads take a lock by a swap, and look at it before.
pub fn ttas(n: usize) {
    const LOCK: usize = 0;
    const DATA: usize = 1;
    let x = locations(2);
    let thread = |id: u32| {
        run(&x, move |x| {
            loop {
                while x[LOCK].load(ORDER) != 0 {
                    spin_loop();
                }
                if x[LOCK].swap(1, SeqCst) == 0 {
                    break;
                }
                spin_loop();
            }
            x[DATA].store(id, ORDER);
            x[DATA].load(ORDER);
            x[LOCK].store(0, ORDER);
        })
    };
    join_all((0..n as u32).map(thread).collect());
}
