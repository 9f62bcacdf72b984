//! Destructors that do more than they should, and values that are never dropped.

use std::mem::{ManuallyDrop, forget};

use rsmc::FailureKind::{Deadlock, Leak, Livelock, Panic, StackOverflow};
use rsmc::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use rsmc::sync::{Arc, Barrier, Condvar, Mutex, RwLock, mpsc};
use rsmc::thread;

use super::{Case, fails, passes};

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Two threads that never go on, the second of which has something to drop.
fn stuck_with(drops: impl FnMut() + Send) {
    let lock = Mutex::new(0);
    let guard = lock.lock().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let _later = OnDrop(drops);
            drop(lock.lock());
        });
    });
    drop(guard);
}

pub const CASES: &[Case] = &[
    passes("destructors use every primitive", || {
        let (lock, flag) = (Mutex::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let _later = OnDrop(|| {
                        *lock.lock().unwrap() += 1;
                        flag.fetch_add(1, SeqCst);
                    });
                });
            }
        });
        assert_eq!((lock.into_inner().unwrap(), flag.into_inner()), (2, 2));
    }),
    passes("a destructor spawns and joins", || {
        let _later = OnDrop(|| thread::spawn(|| ()).join().unwrap());
    }),
    passes("a destructor opens a scope while a panic unwinds", || {
        let x = AtomicU32::new(0);
        let act = || {
            let _later = OnDrop(|| {
                thread::scope(|scope| {
                    scope.spawn(|| x.fetch_add(1, SeqCst));
                });
            });
            panic!("caught");
        };
        drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)));
        assert_eq!(x.into_inner(), 1);
    }),
    fails("a destructor parks for ever", Deadlock, "", || {
        let _later = OnDrop(|| {
            thread::park();
            thread::park();
        });
    }),
    fails("a destructor spins for ever", Livelock, "", || {
        let flag = AtomicBool::new(false);
        let _later = OnDrop(|| {
            while !flag.load(SeqCst) {
                rsmc::hint::spin_loop();
            }
        });
    }),
    fails("a destructor takes a lock that its thread has", Deadlock, "", || {
        let lock = Mutex::new(0);
        let _guard = lock.lock();
        drop(OnDrop(|| drop(lock.lock())));
    }),
    fails("a destructor drops itself again and again", StackOverflow, "", || {
        struct Endless(u64);
        impl Drop for Endless {
            fn drop(&mut self) {
                let next = Endless(self.0 + 1);
                drop(std::hint::black_box(next));
                std::hint::black_box(&self.0);
            }
        }
        drop(Endless(0));
    }),
    fails("a stuck thread has a destructor that spins", Deadlock, "", || {
        let flag = AtomicBool::new(false);
        stuck_with(|| while !flag.load(SeqCst) {});
    }),
    fails("a stuck thread has a destructor that allocates", Deadlock, "", || {
        stuck_with(|| drop(std::hint::black_box(vec![1_u8; 1 << 20])));
    }),
    fails("a stuck thread has a destructor that spawns", Deadlock, "", || {
        stuck_with(|| drop(thread::spawn(|| ())));
    }),
    fails("a stuck thread has a destructor that panics", Deadlock, "", || stuck_with(|| panic!("in a destructor"))),
    fails("a stuck thread has a destructor that parks", Deadlock, "", || stuck_with(thread::park)),
    fails("a stuck thread has a destructor that waits for all", Deadlock, "", || {
        let barrier = Barrier::new(2);
        stuck_with(|| drop(barrier.wait().is_leader().to_string()));
    }),
    fails("the guard of a Mutex is forgotten", Deadlock, "", || {
        let lock = Mutex::new(0);
        forget(lock.lock());
        drop(lock.lock());
    }),
    fails("the guard of a reader is forgotten", Deadlock, "", || {
        let lock = RwLock::new(0);
        forget(lock.read());
        drop(lock.read().map(|value| *value));
        drop(lock.write());
    }),
    fails("the guard of a writer is forgotten", Deadlock, "", || {
        let lock = RwLock::new(0);
        forget(lock.write());
        drop(lock.read());
    }),
    passes("a guard is forgotten and get_mut goes on", || {
        let mut lock = Mutex::new(0);
        forget(lock.lock());
        *lock.get_mut().unwrap() += 1;
        assert_eq!(lock.into_inner().unwrap(), 1);
    }),
    fails("everything is forgotten", Leak, "", || {
        forget((Mutex::new(1), RwLock::new(2), Condvar::new(), Barrier::new(3), AtomicU32::new(4)));
        forget(mpsc::channel::<u32>());
        forget(thread::spawn(|| ()));
        forget(Arc::new(1));
    }),
    passes("everything but references is forgotten", || {
        forget((Mutex::new(1), RwLock::new(2), Condvar::new(), Barrier::new(3), AtomicU32::new(4)));
        forget(thread::spawn(|| ()));
        let _never = ManuallyDrop::new(Box::new(AtomicU32::new(0)));
    }),
    passes("a value is dropped by hand", || {
        let x = AtomicU32::new(0);
        let mut value = ManuallyDrop::new(OnDrop(|| drop(x.fetch_add(1, SeqCst).to_string())));
        // SAFETY: it is dropped once.
        unsafe { ManuallyDrop::drop(&mut value) };
        assert_eq!(x.load(SeqCst), 1);
    }),
    fails("a scope is left by a panic of its owner", Panic, "of the owner", || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| x.store(1, SeqCst));
            panic!("of the owner");
        });
    }),
    passes("a receiver is dropped with messages whose destructors send", || {
        let (sender, receiver) = mpsc::channel::<OnDrop<Box<dyn FnMut() + Send>>>();
        let (inner, got) = mpsc::channel::<u32>();
        sender.send(OnDrop(Box::new(move || _ = inner.send(1)))).ok().unwrap();
        drop(receiver);
        assert_eq!(got.recv(), Ok(1));
        assert!(sender.send(OnDrop(Box::new(|| ()))).is_err());
    }),
    fails("a list is dropped by recursion", StackOverflow, "", || {
        #[allow(dead_code, reason = "it is dropped")]
        struct Node(Option<Box<Node>>, [u64; 8]);
        let mut list = None;
        for _ in 0..50_000 {
            list = Some(Box::new(Node(list, [0; 8])));
        }
        drop(list);
    }),
];
