//! Choices, time, and results that are not what they seem.

use std::time::Duration;

use rsmc::FailureKind::{Livelock, Nondeterminism, Panic};
use rsmc::sync::atomic::{
    AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};
use rsmc::time::Instant;
use rsmc::{choose, thread};

use super::{Case, fails, passes};

pub const CASES: &[Case] = &[
    fails("a choice of nothing", Panic, "", || drop(choose(0).to_string())),
    passes("a choice of one", || assert_eq!(choose(1), 0)),
    passes("a choice in a choice", || {
        let list: Vec<usize> = (1..choose(4) + 1).map(choose).collect();
        assert!(list.len() < 4);
    }),
    fails("a body that depends on the last execution", Nondeterminism, "", || {
        static CALLS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| x.store(1, SeqCst));
            if CALLS.fetch_add(1, Relaxed).is_multiple_of(2) {
                x.load(SeqCst);
            } else {
                x.store(2, SeqCst);
            }
        });
    }),
    passes("arithmetic of time at its ends", || {
        let now = Instant::now();
        assert!(now.checked_add(Duration::MAX).is_none() || now.checked_sub(Duration::MAX).is_none());
        assert_eq!(now.saturating_duration_since(now + Duration::from_secs(1)), Duration::ZERO);
        assert!(Instant::now() >= now && now.elapsed() < Duration::from_secs(3600));
    }),
    fails("an instant before all time", Panic, "", || drop(format!("{:?}", Instant::now() - Duration::MAX))),
    passes("a deadline that is over", || {
        let x = AtomicU32::new(0);
        let deadline = Instant::now();
        while Instant::now() < deadline && x.load(SeqCst) == 0 {}
    }),
    passes("values at their ends", || {
        let (a, b) = (AtomicU8::new(u8::MAX), AtomicU64::new(u64::MAX));
        assert_eq!((a.fetch_add(1, SeqCst), a.load(SeqCst)), (u8::MAX, 0));
        assert_eq!((b.fetch_sub(u64::MAX, SeqCst), b.fetch_sub(1, SeqCst), b.load(SeqCst)), (u64::MAX, 0, u64::MAX));
        assert_eq!(AtomicUsize::new(usize::MAX).fetch_max(0, SeqCst), usize::MAX);
    }),
    fails("a load with an ordering that loads do not have", Panic, "", || {
        drop(AtomicU32::new(0).load(order(1)).to_string())
    }),
    fails("a store with an ordering that stores do not have", Panic, "", || AtomicU32::new(0).store(1, order(0))),
    fails("a fence that is none", Panic, "", || rsmc::sync::atomic::fence(order(2))),
    fails("a loop that waits for what nobody writes", Livelock, "", || {
        let x = AtomicU32::new(0);
        while x.load(Relaxed) == 0 {}
    }),
    passes("fetch_update that never agrees", || {
        let x = AtomicU32::new(0);
        assert_eq!(x.fetch_update(SeqCst, SeqCst, |_| None), Err(0));
        assert_eq!(x.fetch_update(SeqCst, SeqCst, |value| value.checked_sub(1)), Err(0));
    }),
    fails("a panic in the closure of fetch_update", Panic, "in the closure", || {
        let _ = AtomicU32::new(0).fetch_update(SeqCst, SeqCst, |_| panic!("in the closure"));
    }),
    fails("a body that returns an error", Panic, "the error", || {
        let works = || -> Result<(), String> { Err(std::hint::black_box("the error").to_owned()) };
        works().unwrap();
    }),
    passes("labels of every kind", || {
        let x = AtomicU32::new(0);
        for name in ["", "\n", "→", "a label that is far longer than any column of any report"] {
            rsmc::label(&x, name);
        }
        x.store(1, SeqCst);
    }),
];

/// An ordering that the compiler does not know.
fn order(number: u32) -> std::sync::atomic::Ordering {
    [Acquire, Release, Relaxed][std::hint::black_box(number) as usize]
}
