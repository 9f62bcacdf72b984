//! Objects that move, and memory of every size.

use rsmc::FailureKind::{DataRace, Panic};
use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::{
    AtomicPtr, AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use rsmc::sync::{Arc, LazyLock, Mutex, Once, OnceLock, RwLock};
use rsmc::thread;

use super::{Case, dies, fails, passes};

pub const CASES: &[Case] = &[
    passes("an atomic moves", || {
        let x = AtomicU32::new(1);
        x.store(2, SeqCst);
        let moved = Box::new(x);
        assert_eq!(moved.load(SeqCst), 2);
        let back = *moved;
        assert_eq!(thread::spawn(move || back.fetch_add(1, SeqCst)).join().unwrap(), 2);
    }),
    passes("a vector of atomics grows", || {
        let mut list = Vec::new();
        for number in 0..200 {
            list.push(AtomicU32::new(number));
            list[number as usize / 2].fetch_add(1, SeqCst);
        }
        assert_eq!(list.iter().map(|x| x.load(SeqCst)).sum::<u32>(), 19_900 + 200);
    }),
    passes("atomics change places", || {
        let (mut a, mut b) = (AtomicU32::new(1), AtomicU32::new(2));
        a.store(3, SeqCst);
        std::mem::swap(&mut a, &mut b);
        assert_eq!((a.load(SeqCst), b.load(SeqCst)), (2, 3));
        let old = std::mem::replace(&mut a, AtomicU32::new(9));
        assert_eq!((old.load(SeqCst), a.load(SeqCst)), (2, 9));
    }),
    passes("an atomic at one address after another", || {
        for number in 0..50 {
            let x = Box::new(AtomicU32::new(number));
            assert_eq!(x.swap(0, SeqCst), number);
        }
    }),
    passes("values without a size", || {
        let (lock, once, arc) = (Mutex::new(()), OnceLock::<()>::new(), Arc::new(()));
        let locks = RwLock::new([(); 0]);
        thread::scope(|scope| {
            scope.spawn(|| (lock.lock().map(|guard| *guard).ok(), once.set(()).ok(), Arc::clone(&arc)));
            drop((lock.lock(), once.get(), locks.read()));
        });
        let (sender, receiver) = rsmc::sync::mpsc::channel::<()>();
        sender.send(()).unwrap();
        receiver.recv().unwrap();
    }),
    passes("bodies and threads are boxes", || {
        let work: Vec<Box<dyn FnOnce() -> u32 + Send>> =
            vec![Box::new(|| 1), Box::new(|| AtomicU32::new(2).load(SeqCst))];
        let threads: Vec<_> = work.into_iter().map(thread::spawn).collect();
        assert_eq!(threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>(), 3);
    }),
    passes("a large allocation", || {
        let bytes = vec![0_u8; 256 << 20];
        assert_eq!(std::hint::black_box(&bytes)[1 << 20], 0);
    }),
    fails("an allocation that is larger than there is memory", Panic, "capacity overflow", || {
        drop(std::hint::black_box(Vec::<u64>::with_capacity(usize::MAX)));
    }),
    dies("an allocation that fails", "SIGABRT in `hostile::hostile_body`, thread main", || {
        drop(std::hint::black_box(Vec::<u8>::with_capacity(isize::MAX as usize)));
    }),
    passes("many allocations", || {
        let list: Vec<Box<[u8]>> = (0..20_000).map(|size| vec![1; size % 100].into_boxed_slice()).collect();
        drop(std::hint::black_box(list));
    }),
    passes("a value of a page is sent", || {
        let value = [7_u64; 512];
        assert_eq!(thread::spawn(move || value.iter().sum::<u64>()).join().unwrap(), 3584);
    }),
    fails("two threads write to a cell", DataRace, "", || {
        struct Shared(UnsafeCell<u32>);
        // SAFETY: none: that is what the case is about.
        unsafe impl Sync for Shared {}
        let cell = Shared(UnsafeCell::new(0));
        let cell = &cell;
        thread::scope(|scope| {
            for _ in 0..2 {
                // SAFETY: none.
                scope.spawn(move || cell.0.with_mut(|value| unsafe { *value += 1 }));
            }
        });
    }),
    passes("pointers to nothing, and with tags", || {
        let pointer = AtomicPtr::<u32>::new(std::ptr::null_mut());
        let tagged = || std::ptr::without_provenance_mut(usize::MAX);
        thread::scope(|scope| {
            scope.spawn(|| pointer.store(tagged(), SeqCst));
            let seen = pointer.load(SeqCst);
            assert!(seen.is_null() || seen == tagged());
        });
    }),
    passes("statics of every kind", || {
        static NUMBER: AtomicU32 = AtomicU32::new(5);
        static LOCK: Mutex<Vec<u32>> = Mutex::new(Vec::new());
        static READERS: RwLock<u32> = RwLock::new(1);
        static ONCE: Once = Once::new();
        static CELL: OnceLock<String> = OnceLock::new();
        static LAZY: LazyLock<Mutex<u32>> = LazyLock::new(|| Mutex::new(3));
        assert_eq!(NUMBER.fetch_add(1, SeqCst), 5);
        assert!(LOCK.lock().unwrap().is_empty());
        LOCK.lock().unwrap().push(1);
        assert_eq!(*READERS.read().unwrap(), 1);
        *READERS.write().unwrap() = 2;
        assert!(!ONCE.is_completed());
        ONCE.call_once(|| ());
        assert_eq!(CELL.set("set".to_owned()), Ok(()));
        thread::scope(|scope| {
            scope.spawn(|| *LAZY.lock().unwrap() += 1);
            scope.spawn(|| *LAZY.lock().unwrap() += 1);
        });
        assert_eq!(*LAZY.lock().unwrap(), 5);
    }),
    passes("thread-locals whose destructors use the shim", || {
        static DROPPED: AtomicU32 = AtomicU32::new(0);
        struct Counts;
        impl Drop for Counts {
            fn drop(&mut self) {
                DROPPED.fetch_add(1, Relaxed);
            }
        }
        rsmc::thread_local!(static OWN: Counts = const { Counts });
        let threads = [thread::spawn(|| OWN.with(|_| ())), thread::spawn(|| OWN.with(|_| ()))];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(DROPPED.load(SeqCst), 2);
    }),
    passes("thread-locals that refer to each other", || {
        use std::cell::Cell;
        struct First(Cell<u32>);
        struct Second(Cell<u32>);
        rsmc::thread_local! {
            static FIRST: First = SECOND.with(|second| First(Cell::new(second.0.get() + 1)));
            static SECOND: Second = const { Second(Cell::new(1)) };
        }
        impl Drop for First {
            fn drop(&mut self) {
                let _ = SECOND.try_with(|second| second.0.get());
            }
        }
        impl Drop for Second {
            fn drop(&mut self) {
                let _ = FIRST.try_with(|first| first.0.get());
            }
        }
        assert_eq!(FIRST.with(|first| first.0.get()), 2);
        thread::spawn(|| FIRST.with(|first| first.0.set(7))).join().unwrap();
        assert_eq!(FIRST.with(|first| first.0.get()), 2);
    }),
    fails("a thread-local whose destructor panics", Panic, "", || {
        struct Bad;
        impl Drop for Bad {
            fn drop(&mut self) {
                panic!("in the destructor of a thread-local");
            }
        }
        rsmc::thread_local!(static BAD: Bad = const { Bad });
        let thread = thread::spawn(|| BAD.with(|_| ()));
        drop(thread.join());
    }),
    passes("a thread-local of std", || {
        use std::cell::Cell;
        thread_local!(static OWN: Cell<u32> = const { Cell::new(0) });
        thread::scope(|scope| drop(scope.spawn(|| OWN.get())));
    }),
];
