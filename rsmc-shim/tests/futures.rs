//! `block_on` and `AtomicWaker`, in both kinds of build, outside a check and inside.
#![allow(clippy::incompatible_msrv, reason = "tests are built by the compiler of the workspace")]

use std::future::{Future, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc as StdArc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::task::{Context, Poll, Wake, Waker};

use rsmc_shim::future::{AtomicWaker, block_on};
use rsmc_shim::sync::atomic::{AtomicBool, AtomicU32};
use rsmc_shim::sync::{Arc, Mutex};
use rsmc_shim::thread;

#[cfg(feature = "model")]
use crate::support;

/// Every behaviour, by name.
const ALL: &[(&str, fn())] = &[
    ("a_ready_future_is_polled_once", a_ready_future_is_polled_once),
    ("woken_by_another_thread", woken_by_another_thread),
    ("woken_before_it_waits", woken_before_it_waits),
    ("woken_by_itself", woken_by_itself),
    ("waits_for_another_by_yielding", waits_for_another_by_yielding),
    ("each_wake_up_is_a_poll_at_most", each_wake_up_is_a_poll_at_most),
    ("one_within_another", one_within_another),
    ("panics_pass_through", panics_pass_through),
    ("the_token_of_the_thread_is_left_alone", the_token_of_the_thread_is_left_alone),
    ("wakers_may_stay", wakers_may_stay),
    ("the_last_waker_is_woken", the_last_waker_is_woken),
    ("a_waker_may_use_its_place", a_waker_may_use_its_place),
    ("bounds", bounds),
];

#[test]
fn outside_a_check() {
    ALL.iter().for_each(|(_, behaviour)| behaviour());
}

#[cfg(feature = "model")]
#[test]
fn inside_a_check() {
    for (name, behaviour) in ALL {
        support::passes(name, behaviour);
        support::passes_always(name, behaviour, 300);
    }
}

/// Pending so many times, waking itself.
fn yielding(times: u32) -> impl Future<Output = u32> {
    let mut polls = 0;
    poll_fn(move |context| {
        polls += 1;
        if polls > times {
            return Poll::Ready(polls);
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
}

/// A flag that a task waits for.
#[derive(Default)]
struct Signal {
    raised: AtomicBool,
    waker: AtomicWaker,
}

impl Signal {
    fn raise(&self) {
        self.raised.store(true, Release);
        self.waker.wake();
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        self.waker.register(context.waker());
        if self.raised.load(Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }
}

fn a_ready_future_is_polled_once() {
    let own = String::from("borrowed");
    assert_eq!(block_on(async { own.len() }), 8);
    assert_eq!(block_on(ready("output")), "output");
    assert_eq!(block_on(yielding(0)), 1);
}

fn woken_by_another_thread() {
    let signal = Signal::default();
    thread::scope(|scope| {
        scope.spawn(|| signal.raise());
        block_on(poll_fn(|context| signal.poll(context)));
    });
    assert!(signal.raised.load(Relaxed));
}

fn woken_before_it_waits() {
    let mut woken = false;
    let output = block_on(poll_fn(|context| {
        if woken {
            return Poll::Ready(7);
        }
        let waker = context.waker().clone();
        thread::spawn(move || waker.wake()).join().unwrap();
        woken = true;
        Poll::Pending
    }));
    assert_eq!(output, 7);
}

fn woken_by_itself() {
    assert_eq!(block_on(yielding(3)), 4);
}

fn waits_for_another_by_yielding() {
    let raised = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&raised);
    let thread = thread::spawn(move || other.store(true, Release));
    block_on(poll_fn(|context| {
        if raised.load(Acquire) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }));
    thread.join().unwrap();
}

fn each_wake_up_is_a_poll_at_most() {
    let (mut polls, count) = (0, AtomicU32::new(0));
    thread::scope(|scope| {
        block_on(poll_fn(|context| {
            polls += 1;
            if polls == 1 {
                for _ in 0..2 {
                    let (waker, count) = (context.waker().clone(), &count);
                    scope.spawn(move || {
                        count.fetch_add(1, Release);
                        waker.wake();
                    });
                }
            }
            if count.load(Acquire) == 2 { Poll::Ready(()) } else { Poll::Pending }
        }));
    });
    assert!(polls <= 3, "{polls}");
}

fn one_within_another() {
    let signal = Signal::default();
    let mut inner = 0;
    let output = block_on(async {
        inner = block_on(yielding(1));
        yielding(2).await
    });
    assert_eq!((inner, output), (2, 3));
    thread::scope(|scope| {
        scope.spawn(|| signal.raise());
        // The waker of the outer one is used while the thread waits in the inner one.
        block_on(poll_fn(|outer| {
            outer.waker().wake_by_ref();
            block_on(poll_fn(|context| signal.poll(context)));
            signal.poll(outer)
        }));
    });
}

fn panics_pass_through() {
    struct Dropped<'a>(&'a AtomicBool);
    impl Drop for Dropped<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    let dropped = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&dropped);
    let thread = thread::spawn(move || {
        block_on(async {
            let _own = Dropped(&theirs);
            yielding(1).await;
            panic!("in the future");
        })
    });
    assert_eq!(*thread.join().unwrap_err().downcast::<&str>().unwrap(), "in the future");
    assert!(dropped.load(Relaxed));
    let caught = catch_unwind(AssertUnwindSafe(|| thread::spawn(|| block_on(yielding(1))).join().unwrap()));
    assert_eq!(caught.unwrap(), 2);
}

fn the_token_of_the_thread_is_left_alone() {
    thread::current().unpark();
    let signal = Arc::new(Signal::default());
    let theirs = Arc::clone(&signal);
    let thread = thread::spawn(move || theirs.raise());
    block_on(poll_fn(|context| signal.poll(context)));
    thread.join().unwrap();
    // It would wait for ever without its token.
    thread::park();
}

fn wakers_may_stay() {
    let kept = Mutex::new(None);
    let mut seen = Vec::new();
    for _ in 0..2 {
        block_on(poll_fn(|context| {
            seen.push(context.waker().clone());
            *kept.lock().unwrap() = Some(context.waker().clone());
            Poll::Ready(())
        }));
        thread::scope(|scope| {
            scope.spawn(|| kept.lock().unwrap().take().unwrap().wake());
        });
        seen.last().unwrap().wake_by_ref();
    }
    assert!(!seen[0].will_wake(&seen[1]) && seen[0].will_wake(&seen[0].clone()));
    assert_eq!(block_on(yielding(1)), 2);
}

/// Counts how often it is used.
struct Counting(AtomicU32);

impl Wake for Counting {
    fn wake(self: StdArc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn the_last_waker_is_woken() {
    static PLACE: AtomicWaker = AtomicWaker::new();
    let place = AtomicWaker::default();
    let [first, last] = [(); 2].map(|()| StdArc::new(Counting(AtomicU32::new(0))));
    place.wake();
    assert!(place.take().is_none());
    for waker in [&first, &last] {
        place.register(&Waker::from(StdArc::clone(waker)));
    }
    assert_eq!(StdArc::strong_count(&first), 1, "what is replaced is dropped");
    place.wake();
    place.wake();
    assert_eq!((first.0.load(Relaxed), last.0.load(Relaxed)), (0, 1));
    place.register(&Waker::from(StdArc::clone(&first)));
    place.take().unwrap().wake();
    assert_eq!((first.0.load(Relaxed), last.0.load(Relaxed)), (1, 1));
    assert_eq!(format!("{place:?}"), "AtomicWaker");
    PLACE.register(Waker::noop());
    assert!(PLACE.take().is_some() && PLACE.take().is_none());
    place.register(&Waker::from(StdArc::clone(&last)));
    drop(place);
    assert_eq!(StdArc::strong_count(&last), 1, "what is left is dropped");
}

fn a_waker_may_use_its_place() {
    struct Again(AtomicWaker);
    impl Wake for Again {
        fn wake(self: StdArc<Self>) {
            assert!(self.0.take().is_none());
            self.0.register(Waker::noop());
        }
    }
    let again = StdArc::new(Again(AtomicWaker::new()));
    again.0.register(&Waker::from(StdArc::clone(&again)));
    again.0.wake();
    assert!(again.0.take().is_some());
}

fn bounds() {
    fn shared<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    shared::<AtomicWaker>();
    // A future that can neither be moved nor sent.
    let mut own = pin!(async { std::rc::Rc::new(5) });
    assert_eq!(*block_on(Pin::as_mut(&mut own)), 5);
}
