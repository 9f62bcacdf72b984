//! Panics of every kind.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};

use rsmc::FailureKind::{Leak, Panic};
use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
use rsmc::sync::{Arc, Mutex};
use rsmc::thread;

use super::{Case, dies, fails, passes};

/// Panics when it is dropped.
struct PanicsInDrop(&'static str);

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("{}", self.0);
    }
}

/// Panics when it is shown.
struct PanicsInDisplay;

impl std::fmt::Display for PanicsInDisplay {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("no display")
    }
}

fn caught(act: impl FnOnce()) -> Box<dyn Any + Send> {
    catch_unwind(AssertUnwindSafe(act)).expect_err("it panics")
}

pub const CASES: &[Case] = &[
    fails("a destructor panics", Panic, "in drop", || drop(PanicsInDrop("in drop"))),
    fails("a destructor panics while a panic unwinds", Panic, "std would abort", || {
        let _panics = PanicsInDrop("again");
        panic!("first");
    }),
    fails("a destructor panics while a panic unwinds in a spawned thread", Panic, "std would abort", || {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let thread = thread::spawn(move || {
            let _panics = PanicsInDrop("again");
            other.store(1, SeqCst);
            panic!("first");
        });
        x.load(SeqCst);
        drop(thread.join());
    }),
    fails("a payload panics in its destructor", Panic, "", || panic_any(PanicsInDrop("the payload"))),
    fails("a payload that was caught panics in its destructor", Panic, "the payload", || {
        drop(caught(|| panic_any(PanicsInDrop("the payload"))));
    }),
    passes("a payload that was caught panics in its destructor, which is caught", || {
        let payload = caught(|| panic_any(PanicsInDrop("the payload")));
        drop(caught(move || drop(payload)));
    }),
    passes("payloads are strange", || {
        for payload in
            [Box::new(()) as Box<dyn Any + Send>, Box::new([0_u8; 1 << 12]), Box::new(Box::new(1)), Box::new(|| 1)]
        {
            let got = caught(move || resume_unwind(payload));
            drop(got);
        }
        assert!(caught(|| panic_any(f64::NAN)).is::<f64>());
        assert!(caught(|| panic_any(String::new())).is::<String>());
    }),
    fails("a payload of no text", Panic, "without a message", || panic_any(7_u8)),
    fails("resume_unwind in the body", Panic, "raised", || resume_unwind(Box::new("raised"))),
    fails("resume_unwind in a thread", Panic, "raised", || {
        thread::scope(|scope| {
            scope.spawn(|| resume_unwind(Box::new("raised".to_owned())));
        });
    }),
    passes("catch_unwind in a loop around a lock", || {
        let lock = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..2 {
                        drop(caught(|| {
                            let _guard = lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                            panic!("poisons");
                        }));
                    }
                });
            }
        });
        assert!(lock.is_poisoned());
    }),
    passes("catch_unwind in catch_unwind in a destructor", || {
        struct Nested(u32);
        impl Drop for Nested {
            fn drop(&mut self) {
                if self.0 > 0 {
                    drop(catch_unwind(|| {
                        let _more = Nested(self.0 - 1);
                        panic!("{}", self.0);
                    }));
                }
            }
        }
        drop(Nested(20));
    }),
    dies("a panic whose message panics", "SIGABRT in `hostile::hostile_body`, thread main", || {
        panic!("{}", PanicsInDisplay)
    }),
    dies("an assertion whose values panic", "SIGABRT in `hostile::hostile_body`, thread main", || {
        #[derive(PartialEq)]
        struct Bad(u32);
        impl std::fmt::Debug for Bad {
            fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                panic!("no debug")
            }
        }
        assert_eq!(Bad(1), Bad(2));
    }),
    fails("a message of control characters", Panic, "", || panic!("\u{1b}[31m\0\r\n\n\u{7}{{}} %s")),
    fails("a message of a megabyte", Panic, "xxx", || panic!("{}", "x".repeat(1 << 20))),
    fails("an empty message", Panic, "", || panic!("")),
    fails("a panic of each of many threads", Panic, "I am", || {
        thread::scope(|scope| {
            for number in 0..5 {
                scope.spawn(move || panic!("I am {number}"));
            }
        });
    }),
    passes("panics that joins receive", || {
        let threads: Vec<thread::JoinHandle<()>> =
            (0..3).map(|number| thread::spawn(move || panic!("{number}"))).collect();
        for thread in threads {
            assert!(thread.join().is_err_and(|payload| payload.is::<String>()));
        }
    }),
    passes("a panic hook is set in the body", || {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| ()));
        drop(caught(|| panic!("nobody hears")));
        std::panic::set_hook(before);
    }),
    fails("a panic hook that stays", Panic, "after it", || {
        std::panic::set_hook(Box::new(|_| ()));
        panic!("after it");
    }),
    fails("a panic hook that panics", Panic, "", || {
        std::panic::set_hook(Box::new(|info| {
            if info.to_string().contains("outer") {
                drop(std::hint::black_box(Vec::<u8>::with_capacity(10)));
            }
        }));
        panic!("outer");
    }),
    fails("what unwinds owns a reference for ever", Leak, "Arc", || {
        drop(caught(|| {
            std::mem::forget(Arc::new(1));
            panic!("caught");
        }));
    }),
    fails("unwrap of an error that owns a lock", Panic, "PoisonError", || {
        let lock = Mutex::new(1);
        drop(caught(|| {
            let _guard = lock.lock();
            panic!("poisons");
        }));
        drop(lock.lock().unwrap());
    }),
    fails("a thread panics and nobody joins it", Panic, "alone", || drop(thread::spawn(|| panic!("alone")))),
];
