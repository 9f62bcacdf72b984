//! Too many threads, too few, and threads that are lost.

use std::time::Duration;

use rsmc::FailureKind::{Deadlock, Misuse, Panic, StackOverflow, StepLimit};
use rsmc::sync::Arc;
use rsmc::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use rsmc::{Config, thread};

use super::{Case, dies, fails, passes, usual};

fn deep(depth: u64) -> u64 {
    if std::hint::black_box(depth) == 0 { 0 } else { std::hint::black_box(deep(depth - 1)) + 1 }
}

#[inline(never)]
fn huge_frame() -> u8 {
    let bytes = std::hint::black_box([1_u8; 1 << 20]);
    bytes[std::hint::black_box(7)]
}

pub const CASES: &[Case] = &[
    passes("no thread and no operation", || ()),
    fails("deep recursion in the body", StackOverflow, "", || drop(deep(u64::MAX).to_string())),
    fails("deep recursion in a thread", StackOverflow, "", || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                x.store(1, SeqCst);
                deep(u64::MAX)
            });
            x.load(SeqCst);
        });
    }),
    fails("deep recursion in two threads", StackOverflow, "", || {
        thread::scope(|scope| {
            scope.spawn(|| deep(u64::MAX));
            scope.spawn(|| deep(u64::MAX));
        });
    }),
    fails("recursion with an operation at each level", StackOverflow, "", || {
        fn down(x: &AtomicU32) -> u32 {
            let seen = x.fetch_add(1, Relaxed);
            if std::hint::black_box(seen) == u32::MAX { 0 } else { std::hint::black_box(down(x)) + seen }
        }
        down(&AtomicU32::new(0));
    })
    .with(|config| usual(config).stack_size(64 << 10)),
    fails("a frame of a megabyte", StackOverflow, "", || drop(huge_frame().to_string())),
    passes("a frame of a megabyte on a larger stack", || drop(huge_frame().to_string()))
        .with(|config| usual(config).stack_size(4 << 20)),
    passes("a thousand threads", || {
        let threads: Vec<_> = (0..1_000).map(|number| thread::spawn(move || number)).collect();
        assert_eq!(threads.into_iter().map(|thread| thread.join().unwrap()).sum::<i32>(), 499_500);
    }),
    passes("a thousand threads one after another", || {
        for number in 0..1_000 {
            assert_eq!(thread::spawn(move || number).join().unwrap(), number);
        }
    }),
    passes("threads that spawn threads", || {
        fn spawns(depth: u32) {
            if depth > 0 {
                thread::spawn(move || spawns(depth - 1)).join().unwrap();
            }
        }
        spawns(100);
    }),
    passes("handles are lost", || {
        for _ in 0..10 {
            std::mem::forget(thread::spawn(|| ()));
        }
    }),
    passes("scopes in scopes", || {
        let x = AtomicU32::new(0);
        thread::scope(|outer| {
            outer.spawn(|| {
                thread::scope(|inner| {
                    inner.spawn(|| thread::scope(|innermost| drop(innermost.spawn(|| x.fetch_add(1, SeqCst)))));
                });
            });
        });
        assert_eq!(x.into_inner(), 1);
    }),
    passes("a scoped thread spawns in the scope of its parent", || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            let x = &x;
            scope.spawn(move || {
                scope.spawn(move || x.fetch_add(1, SeqCst));
            });
        });
        assert_eq!(x.into_inner(), 1);
    }),
    fails("a scoped thread panics", Panic, "scoped", || {
        thread::scope(|scope| {
            scope.spawn(|| panic!("scoped"));
        });
    }),
    passes("a scoped thread panics and is joined", || {
        thread::scope(|scope| assert!(scope.spawn(|| panic!("scoped")).join().is_err()));
    }),
    fails("park without unpark", Deadlock, "", || {
        thread::park();
        thread::park();
    }),
    passes("unpark of oneself, and of who has ended", || {
        thread::current().unpark();
        thread::park();
        let thread = thread::spawn(|| ());
        let handle = thread.thread().clone();
        thread.join().unwrap();
        handle.unpark();
    }),
    passes("park for no time, and for all time", || {
        thread::park_timeout(Duration::ZERO);
        thread::park_timeout(Duration::MAX);
    }),
    passes("sleep for ever", || {
        thread::sleep(Duration::MAX);
        thread::sleep(Duration::MAX);
        thread::scope(|scope| drop(scope.spawn(|| thread::sleep(Duration::MAX))));
    }),
    fails("a thread waits for itself", Deadlock, "", || {
        let slot = Arc::new(rsmc::sync::Mutex::new(None::<thread::JoinHandle<()>>));
        let own = Arc::clone(&slot);
        let mut guard = slot.lock().unwrap();
        *guard = Some(thread::spawn(move || {
            let handle = own.lock().unwrap().take();
            handle.unwrap().join().unwrap();
        }));
        drop(guard);
        while slot.lock().unwrap().is_some() {}
        thread::park();
        thread::park();
    }),
    fails("a real thread uses the body's objects", Misuse, "start threads by", || {
        let x = AtomicU32::new(0);
        std::thread::scope(|scope| drop(scope.spawn(|| x.store(1, SeqCst)).join()));
    }),
    passes("a real thread keeps to itself", || {
        assert_eq!(std::thread::spawn(|| AtomicU32::new(3).load(SeqCst)).join().unwrap(), 3);
    }),
    fails("a check in a check", Panic, "checks do not nest", || drop(rsmc::explore(&Config::default(), || ()))),
    fails("endless operations", StepLimit, "", || {
        let x = AtomicU32::new(0);
        loop {
            x.fetch_add(1, Relaxed);
        }
    })
    .with(|config| usual(config).max_steps(500)),
    passes("thread names of every kind", || {
        for name in ["", " ", "\n", "a name that is far longer than any column of a report is wide", "ü→✗"] {
            let thread =
                thread::Builder::new().name(name.to_owned()).spawn(|| thread::current().name().map(str::len)).unwrap();
            assert_eq!(thread.join().unwrap(), Some(name.len()));
        }
    }),
    dies("a loop without an operation", "stuck in", || {
        loop {
            std::hint::spin_loop();
        }
    }),
    dies("a loop without an operation in a thread", "thread t1", || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                x.store(1, SeqCst);
                loop {
                    std::hint::spin_loop();
                }
            });
        });
    }),
    dies("a spin on an atomic of std", "it spins on an atomic of std", || {
        let flag = std::sync::atomic::AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !flag.load(SeqCst) {
                    std::hint::spin_loop();
                }
            });
            AtomicU32::new(0).load(SeqCst);
            flag.store(true, SeqCst);
        });
    }),
    fails("a spin with hints on an atomic of std", Misuse, "100000 hints at tests/hostile/threads.rs", || {
        let flag = std::sync::atomic::AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !flag.load(SeqCst) {
                    rsmc::hint::spin_loop();
                }
            });
            AtomicU32::new(0).load(SeqCst);
            flag.store(true, SeqCst);
        });
    }),
    fails("a spin with hints on an atomic of std, behind a loop that counts", Misuse, "100000 hints", || {
        let (ready, flag) = (AtomicU32::new(0), std::sync::atomic::AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut tries = 0;
                while ready.load(SeqCst) == 0 && tries < 1000 {
                    tries += 1;
                }
                while !flag.load(SeqCst) {
                    thread::yield_now();
                }
            });
            ready.store(1, SeqCst);
        });
    }),
    fails("a try_lock of std's lock, again and again", Misuse, "100000 hints", || {
        let lock = std::sync::Mutex::new(0);
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            let guard = lock.lock().unwrap();
            scope.spawn(|| {
                while lock.try_lock().is_err() {
                    thread::yield_now();
                }
                x.load(SeqCst)
            });
            x.store(1, SeqCst);
            drop(guard);
        });
    }),
    passes("as many hints as there may be", || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..100_000 {
                    rsmc::hint::spin_loop();
                }
                x.store(1, SeqCst)
            });
            x.load(SeqCst);
        });
    }),
    dies("a real sleep", "stuck in", || std::thread::sleep(Duration::from_secs(600))),
    dies("park of std", "stuck in", || {
        loop {
            std::thread::park();
        }
    }),
];
