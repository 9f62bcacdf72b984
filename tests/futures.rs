//! `block_on` and `AtomicWaker` in a check: what is explored, and how a lost wake-up is reported.

use std::future::poll_fn;
use std::sync::Mutex as StdMutex;
use std::task::{Context, Poll, Waker};

use crate::support::{explore, failure, verified, verified_alone};
use rsmc::MemoryModel::{C11, Pso, Sc, Tso};
use rsmc::future::{AtomicWaker, block_on};
use rsmc::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use rsmc::{Config, Explorer, FailureKind, Verdict, thread};

/// Something that happens once, and a task that waits for it.
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

    fn is_raised(&self) -> Poll<()> {
        if self.raised.load(Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Registers first.
    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        self.waker.register(context.waker());
        self.is_raised()
    }

    /// Looks first, and not again: broken.
    fn poll_looking_first(&self, context: &mut Context<'_>) -> Poll<()> {
        let raised = self.is_raised();
        self.waker.register(context.waker());
        raised
    }
}

/// A thread raises the signal that another waits for.
fn waits(poll: fn(&Signal, &mut Context<'_>) -> Poll<()>) {
    let signal = Signal::default();
    thread::scope(|scope| {
        scope.spawn(|| signal.raise());
        block_on(poll_fn(|context| poll(&signal, context)));
    });
}

/// The line of the last `block_on` of `waits`.
const LINE_OF_WAITS: u32 = line!() - 5;

#[test]
fn a_ready_future_is_one_execution() {
    let report = verified(|| assert_eq!(block_on(async { 7 }), 7));
    assert_eq!((report.executions, report.events), (1, 0));
}

#[test]
fn a_future_that_nobody_wakes_is_a_deadlock() {
    let line = line!() + 1;
    let failure = failure(|| block_on(std::future::pending::<()>()));
    assert_eq!(failure.kind, FailureKind::Deadlock);
    let expected = format!("waits for the Waker created at tests/futures.rs:{line}");
    assert!(failure.message.contains(&expected), "{}", failure.message);
}

#[test]
fn a_wake_up_is_never_lost_where_the_waker_is_registered_first() {
    for memory in [Sc, Tso, Pso, C11] {
        let report = rsmc::explore(&Config::default().memory(memory), || waits(Signal::poll));
        assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
        assert!(report.executions > 2, "before, between and after: {report:?}");
    }
}

#[test]
fn a_wake_up_is_lost_where_the_waker_is_registered_last() {
    let failure = failure(|| waits(Signal::poll_looking_first));
    assert_eq!(failure.kind, FailureKind::Deadlock);
    assert!(failure.message.contains(&format!("futures.rs:{LINE_OF_WAITS}")), "{}", failure.message);
    let again = Config::default().replay(failure.seed.clone());
    let Verdict::Failed(again) = rsmc::explore(&again, || waits(Signal::poll_looking_first)).verdict else {
        panic!("the seed should fail again")
    };
    assert_eq!((again.kind, &again.message), (failure.kind, &failure.message));
}

/// What the one that wakes did before is visible to the one that is woken, and no more than that.
#[test]
fn a_wake_up_synchronizes() {
    let body = |wakes_last: bool| {
        move || {
            let data = AtomicU32::new(0);
            let mut asked = false;
            thread::scope(|scope| {
                block_on(poll_fn(|context| {
                    if asked {
                        return Poll::Ready(());
                    }
                    asked = true;
                    let (waker, data) = (context.waker().clone(), &data);
                    scope.spawn(move || {
                        if wakes_last {
                            data.store(1, Relaxed);
                            waker.wake();
                        } else {
                            waker.wake();
                            data.store(1, Relaxed);
                        }
                    });
                    Poll::Pending
                }));
                assert_eq!(data.load(Relaxed), 1, "woken too early");
            });
        }
    };
    verified(body(true));
    assert!(failure(body(false)).message.contains("woken too early"));
}

/// One waker for two futures. The thread that is woken polls both.
fn join(mut left: impl FnMut(&mut Context<'_>) -> Poll<()>, mut right: impl FnMut(&mut Context<'_>) -> Poll<()>) {
    let (mut left_done, mut right_done) = (false, false);
    block_on(poll_fn(|context| {
        left_done = left_done || left(context).is_ready();
        right_done = right_done || right(context).is_ready();
        if left_done && right_done { Poll::Ready(()) } else { Poll::Pending }
    }));
}

#[test]
fn two_futures_are_joined() {
    let body = |poll: fn(&Signal, &mut Context<'_>) -> Poll<()>| {
        move || {
            let signals = [Signal::default(), Signal::default()];
            thread::scope(|scope| {
                signals.iter().for_each(|signal| drop(scope.spawn(|| signal.raise())));
                join(|context| signals[0].poll(context), |context| poll(&signals[1], context));
            });
            assert!(signals.iter().all(|signal| signal.raised.load(Relaxed)));
        }
    };
    verified(body(Signal::poll));
    assert_eq!(failure(body(Signal::poll_looking_first)).kind, FailureKind::Deadlock);
}

#[test]
fn all_explorers_agree() {
    let explorers = [Explorer::ReadsFrom, Explorer::ReadsValueFrom, Explorer::View, Explorer::Exhaustive];
    let fails = |explorer, poll| {
        let config = Config::default().memory(Sc).explorer(explorer);
        match rsmc::explore(&config, || waits(poll)).verdict {
            Verdict::Failed(failure) => Some(failure.kind),
            Verdict::Verified => None,
            verdict => panic!("{verdict:?}"),
        }
    };
    for explorer in explorers {
        assert_eq!(fails(explorer, Signal::poll), None, "{explorer}");
        assert_eq!(fails(explorer, Signal::poll_looking_first), Some(FailureKind::Deadlock), "{explorer}");
    }
}

/// A task that asks to be polled again and again, as an executor's `yield_now` does.
fn polls_until(raised: &AtomicBool) {
    block_on(poll_fn(|context| {
        if raised.load(Acquire) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }));
}

#[test]
fn a_future_that_wakes_itself_is_a_loop_that_waits() {
    verified(|| {
        let raised = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| raised.store(true, Release));
            polls_until(&raised);
        });
    });
    let never = failure(|| polls_until(&AtomicBool::new(false)));
    assert_eq!(never.kind, FailureKind::Livelock, "{}", never.message);
}

/// A future that woke itself takes what others gave with it: they do not make it poll once more.
#[test]
fn wake_ups_that_come_together_are_one() {
    let polls = |report: &mut Vec<u32>, wakes_itself: bool| {
        let counts = StdMutex::new(Vec::new());
        let keep_going = Config::default().keep_going(true);
        rsmc::explore(&keep_going, || {
            let polls = AtomicU32::new(0);
            thread::scope(|scope| {
                block_on(poll_fn(|context| {
                    let poll = polls.fetch_add(1, Relaxed);
                    counts.lock().unwrap().push(poll + 1);
                    if poll == 0 {
                        let waker = context.waker().clone();
                        scope.spawn(move || waker.wake());
                        if wakes_itself {
                            context.waker().wake_by_ref();
                        }
                    }
                    if poll == 2 { Poll::Ready(()) } else { Poll::Pending }
                }));
            });
        });
        report.extend(counts.into_inner().unwrap());
        report.sort_unstable();
        report.dedup();
    };
    let (mut once, mut twice) = (Vec::new(), Vec::new());
    polls(&mut once, false);
    polls(&mut twice, true);
    assert_eq!((once, twice), (vec![1, 2], vec![1, 2, 3]));
    // Both together before the second poll: then nobody is left to wake it.
    let failure = failure(|| {
        let mut polls = 0;
        thread::scope(|scope| {
            block_on(poll_fn(|context| {
                polls += 1;
                if polls == 1 {
                    let waker = context.waker().clone();
                    scope.spawn(move || waker.wake());
                    context.waker().wake_by_ref();
                }
                if polls == 3 { Poll::Ready(()) } else { Poll::Pending }
            }));
        });
    });
    assert_eq!(failure.kind, FailureKind::Deadlock);
}

#[test]
fn a_waker_of_another_execution_does_nothing() {
    static KEPT: StdMutex<Vec<Waker>> = StdMutex::new(Vec::new());
    let wake_all = || KEPT.lock().unwrap().iter().for_each(Waker::wake_by_ref);
    // Not by the thread that has the number of the one that waited: that is no step anyway.
    let wake_in_thread = || thread::spawn(wake_all).join().unwrap();
    let report = explore(|| {
        wake_in_thread();
        block_on(poll_fn(|context| {
            KEPT.lock().unwrap().push(context.waker().clone());
            Poll::<()>::Pending
        }));
    });
    assert!(matches!(&report.verdict, Verdict::Failed(failure) if failure.kind == FailureKind::Deadlock));
    assert!(!KEPT.lock().unwrap().is_empty());
    // Outside, and in other checks: no step, and nobody goes on.
    wake_all();
    assert_eq!(verified_alone(wake_in_thread).events, 0);
}

#[test]
fn a_static_place_is_empty_in_every_execution() {
    static PLACE: AtomicWaker = AtomicWaker::new();
    let report = verified(|| {
        assert!(PLACE.take().is_none());
        thread::scope(|scope| {
            scope.spawn(|| PLACE.register(Waker::noop()));
            PLACE.wake();
        });
        PLACE.register(Waker::noop());
    });
    assert_eq!(report.executions, 2);
    assert!(PLACE.take().is_none());
}

#[test]
fn a_panic_in_a_future_is_reported() {
    let failure = failure(|| {
        let signal = Signal::default();
        thread::scope(|scope| {
            scope.spawn(|| signal.raise());
            block_on(async {
                poll_fn(|context| signal.poll(context)).await;
                panic!("the future fails");
            })
        });
    });
    assert_eq!(failure.kind, FailureKind::Panic);
    assert!(failure.message.contains("the future fails"), "{}", failure.message);
}
