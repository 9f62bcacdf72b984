//! Executions that end before their threads do, and panics that std would abort for.
#![allow(clippy::incompatible_msrv, reason = "tests are built by the compiler of the workspace")]
#![cfg(feature = "model")]

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::support::{STACK, execute, passes, rules, run};
use rsmc_core::runtime::Runtime;
use rsmc_core::step::{End, Executor, Plan, Run, Why};
use rsmc_shim::sync::atomic::{AtomicBool, AtomicUsize};
use rsmc_shim::sync::{Arc, Mutex};
use rsmc_shim::{hint, thread};

/// Counts how often it is dropped. The counter is no part of the model.
struct Counted(Rc<Cell<u32>>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// Threads of a check share an OS thread, so what is moved into one may be anything.
struct Moved<T>(T);

// SAFETY: the tests that use it move it between threads of one check only, which is one OS thread.
unsafe impl<T> Send for Moved<T> {}

impl<T> Moved<T> {
    fn get(&self) -> &T {
        &self.0
    }
}

#[test]
fn a_deadlock_unwinds_the_stuck_threads() {
    let drops = Rc::new(Cell::new(0));
    let body = || {
        let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let (a2, b2) = (Arc::clone(&a), Arc::clone(&b));
        let met = Arc::new(AtomicBool::new(false));
        let met2 = Arc::clone(&met);
        let counted = Moved(Counted(Rc::clone(&drops)));
        let _mine = Counted(Rc::clone(&drops));
        let other = thread::spawn(move || {
            let _counted = counted;
            let _b = b2.lock().unwrap();
            met2.store(true, Release);
            let _a = a2.lock().unwrap();
        });
        let _a = a.lock().unwrap();
        while !met.load(Acquire) {
            hint::spin_loop();
        }
        let _b = b.lock().unwrap();
        drop(other.join());
    };
    let (mut runtime, mut run) = (Runtime::new(&body, rules(), STACK), Run::default());
    // The first runs learn that the loop waits.
    execute(&mut runtime, &Plan::default(), &mut run);
    for _ in 0..3 {
        drops.set(0);
        runtime.execute(&Plan::default(), &mut run);
        assert_eq!(run.end, End::Stuck);
        assert_eq!(run.waiting.len(), 2);
        assert!(run.waiting.iter().all(|waiting| matches!(waiting.why, Why::Lock { .. })));
        assert!(run.panics.is_empty());
        assert_eq!(drops.get(), 2);
    }
    assert!(!runtime.is_broken());
    assert!(!std::thread::panicking());
}

#[test]
fn a_stuck_scope_unwinds_its_threads_first() {
    let drops = Rc::new(Cell::new(0));
    let run = run(&|| {
        let outer = Mutex::new(Counted(Rc::clone(&drops)));
        let text = String::from("borrowed");
        let (outer, text) = (Moved(&outer), &text);
        thread::scope(|s| {
            for _ in 0..3 {
                let outer = Moved(outer.0);
                s.spawn(move || {
                    let _guard = outer.get().lock().unwrap();
                    assert_eq!(text, "borrowed");
                    thread::park();
                });
            }
        });
    });
    assert_eq!(run.end, End::Stuck);
    assert_eq!(run.waiting.len(), 4);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_caught_panic_does_not_keep_a_stuck_thread_from_unwinding() {
    let drops = Rc::new(Cell::new(0));
    let run = run(&|| {
        let _counted = Counted(Rc::clone(&drops));
        assert!(std::panic::catch_unwind(|| panic!("caught")).is_err());
        thread::park();
        let _second = Counted(Rc::clone(&drops));
        thread::park();
    });
    assert_eq!(run.end, End::Stuck);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_run_that_ends_before_a_release_releases() {
    let drops = Rc::new(Cell::new(0));
    struct Locks<'a> {
        lock: &'a Mutex<u32>,
        _counted: Counted,
    }
    impl Drop for Locks<'_> {
        fn drop(&mut self) {
            *self.lock.lock().unwrap() += 1;
        }
    }
    // The limit cuts the run off before the release of a lock.
    for max_steps in 1..6 {
        let rules = rsmc_core::machine::Rules::new(rsmc_core::model::MemoryModel::Sc, max_steps);
        let body_with_release = || {
            let lock = Mutex::new(0);
            let _locks = Locks { lock: &lock, _counted: Counted(Rc::clone(&drops)) };
            for _ in 0..3 {
                drop(lock.lock().unwrap());
            }
        };
        drops.set(0);
        let mut runtime = Runtime::new(&body_with_release, rules, STACK);
        let mut run = Run::default();
        runtime.execute(&Plan::default(), &mut run);
        assert!(matches!(run.end, End::StepLimit { .. }), "{:?}", run.end);
        assert_eq!(drops.get(), 2, "with {max_steps} steps, in the execution and where it is watched");
    }
}

/// Runs on an OS thread of its own, which is not used again.
fn on_a_thread_of_its_own(code: impl FnOnce() + Send + 'static) {
    std::thread::spawn(code).join().unwrap();
}

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("in a destructor");
    }
}

#[test]
fn a_panic_in_a_destructor_at_the_end_does_not_abort() {
    on_a_thread_of_its_own(|| {
        let body = || {
            let child = thread::spawn(|| {
                let _bomb = PanicsInDrop;
                thread::park();
            });
            child.join().unwrap();
        };
        let (mut runtime, mut run) = (Runtime::new(&body, rules(), STACK), Run::default());
        runtime.execute(&Plan::default(), &mut run);
        assert_eq!(run.end, End::Stuck);
        assert_eq!(run.waiting.len(), 2);
        assert!(runtime.is_broken());
    });
}

#[test]
fn a_second_panic_of_a_thread_does_not_abort() {
    on_a_thread_of_its_own(|| {
        let body = || {
            let lock = Mutex::new(String::from("borrowed"));
            thread::scope(|s| {
                s.spawn(|| drop((lock.lock().unwrap(), thread::park())));
                s.spawn(|| {
                    thread::yield_now();
                    let _bomb = PanicsInDrop;
                    panic!("the first");
                });
            });
        };
        let (mut runtime, mut run) = (Runtime::new(&body, rules(), STACK), Run::default());
        runtime.execute(&Plan::default(), &mut run);
        assert!(runtime.is_broken());
        assert_eq!(run.panics.len(), 1, "{:?}", run.panics);
    });
}

#[test]
fn destructors_see_that_they_must_not_panic() {
    struct Careful(Rc<Cell<u32>>);
    impl Drop for Careful {
        fn drop(&mut self) {
            assert!(thread::panicking(), "not used up");
            self.0.set(1);
        }
    }
    let drops = Rc::new(Cell::new(0));
    let run = run(&|| {
        let _careful = Careful(Rc::clone(&drops));
        thread::park();
    });
    assert_eq!((run.end, drops.get()), (End::Stuck, 1));
}

#[test]
fn a_destructor_that_would_wait_is_left_alone() {
    on_a_thread_of_its_own(|| {
        struct Waits;
        impl Drop for Waits {
            fn drop(&mut self) {
                thread::park();
            }
        }
        let body = || {
            let _waits = Waits;
            thread::park();
        };
        let (mut runtime, mut run) = (Runtime::new(&body, rules(), STACK), Run::default());
        for _ in 0..2 {
            runtime.execute(&Plan::default(), &mut run);
            assert_eq!(run.end, End::Stuck);
        }
        passes("afterwards", &|| {
            let lock = Mutex::new(1);
            drop(lock.lock());
            assert!(!lock.is_poisoned());
            assert!(!thread::panicking());
            let child = thread::spawn(|| panic!("received"));
            child.join().unwrap_err();
        });
    });
}

#[test]
fn an_overflow_of_the_stack_is_reported() {
    #[expect(unconditional_recursion, reason = "the test needs it")]
    fn deeper(n: &AtomicUsize) -> usize {
        let room = [n.load(Relaxed); 16];
        deeper(n) + hint::black_box(room)[3]
    }
    on_a_thread_of_its_own(|| {
        let body = || {
            let n = Arc::new(AtomicUsize::new(0));
            thread::spawn(move || deeper(&n)).join().unwrap();
        };
        let (mut runtime, mut run) = (Runtime::new(&body, rules(), STACK), Run::default());
        for _ in 0..2 {
            execute(&mut runtime, &Plan::default(), &mut run);
            assert!(matches!(run.end, End::StackOverflow { .. }), "{:?}", run.end);
            if runtime.is_broken() {
                break;
            }
        }
    });
}
