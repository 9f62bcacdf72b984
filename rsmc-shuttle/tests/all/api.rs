//! What suites name of shuttle, outside `shuttle::future` and `shuttle::rand`.

use rsmc_shuttle as shuttle;

use std::cell::Cell;
use std::time::Duration;

use shuttle::scheduler::{
    DfsScheduler, PctScheduler, RandomScheduler, ReplayScheduler, Scheduler, UncontrolledNondeterminismCheckScheduler,
};
use shuttle::sync::atomic::{self, Ordering::SeqCst};
use shuttle::sync::{
    Arc, Barrier, Condvar, Mutex, Once, OnceState, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockError, Weak, mpsc,
};
use shuttle::{Config, PortfolioRunner, Runner, current, thread};

use crate::support::{Seen, report};

/// Runs a body in each way that does not need a failure, and asserts that it passes.
fn passes(body: impl Fn() + Send + Sync + Clone + 'static) {
    shuttle::check(body.clone());
    shuttle::check_random(body.clone(), 30);
    shuttle::check_random_with_seed(body.clone(), 7, 30);
    shuttle::check_pct(body.clone(), 30, 3);
    shuttle::check_uncontrolled_nondeterminism(body.clone(), 10);
    shuttle::check_dfs(body, None);
}

#[test]
fn locks() {
    passes(|| {
        let (lock, other) = (Arc::new(Mutex::new(0)), Arc::new(RwLock::new(0)));
        let (theirs, their_other) = (Arc::clone(&lock), Arc::clone(&other));
        let thread = thread::spawn(move || {
            *theirs.lock().unwrap() += 1;
            let mut write: RwLockWriteGuard<'_, i32> = their_other.write().unwrap();
            *write += 1;
        });
        match lock.try_lock() {
            Ok(mut value) => *value += 1,
            Err(TryLockError::WouldBlock) => *lock.lock().unwrap() += 1,
            Err(TryLockError::Poisoned(_)) => unreachable!("nothing panics"),
        }
        {
            let read: RwLockReadGuard<'_, i32> = other.read().unwrap_or_else(PoisonError::into_inner);
            assert!(*read < 2);
        }
        thread.join().unwrap();
        assert_eq!((*lock.lock().unwrap(), *other.read().unwrap()), (2, 1));
        assert_eq!(Arc::try_unwrap(lock).unwrap().into_inner().unwrap(), 2);
    });
}

#[test]
fn condition_variables_barriers_and_once() {
    passes(|| {
        static ONCE: Once = Once::new();
        let pair = Arc::new((Mutex::new(false), Condvar::new(), Barrier::new(2)));
        let theirs = Arc::clone(&pair);
        let thread = thread::spawn(move || {
            ONCE.call_once_force(|state: &OnceState| assert!(!state.is_poisoned()));
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_one();
            theirs.2.wait().is_leader()
        });
        let ready = pair.1.wait_while(pair.0.lock().unwrap(), |ready| !*ready).unwrap();
        assert!(*ready && ONCE.is_completed());
        drop(ready);
        let leads = pair.2.wait().is_leader();
        assert_ne!(leads, thread.join().unwrap());
    });
}

#[test]
fn channels() {
    passes(|| {
        let (sender, receiver) = mpsc::channel();
        let (bounded, bounded_receiver) = mpsc::sync_channel(1);
        let thread = thread::spawn(move || {
            bounded.send(1).unwrap();
            assert_eq!(receiver.recv(), Ok(2));
            assert_eq!(receiver.recv(), Err(mpsc::RecvError));
        });
        sender.send(2).unwrap();
        drop(sender);
        assert_eq!(bounded_receiver.iter().collect::<Vec<i32>>(), [1]);
        thread.join().unwrap();
    });
}

#[test]
fn atomics() {
    passes(|| {
        let (count, flag) = (atomic::AtomicU8::new(0), atomic::AtomicBool::new(false));
        let pointer = atomic::AtomicPtr::new(std::ptr::null_mut::<u8>());
        thread::scope(|scope| {
            let thread = scope.spawn(|| count.fetch_add(1, SeqCst));
            assert_eq!(count.fetch_update(SeqCst, SeqCst, |count| Some(count + 1)).map(|old| old < 2), Ok(true));
            flag.store(true, SeqCst);
            atomic::fence(SeqCst);
            atomic::compiler_fence(SeqCst);
            assert!(thread.join().unwrap() < 2);
        });
        assert!(pointer.load(SeqCst).is_null() && flag.into_inner());
        assert_eq!(count.into_inner(), 2);
    });
}

shuttle::thread_local! {
    static LOCAL: Cell<u32> = Cell::new(1);
    static CONSTANT: Cell<u32> = const { Cell::new(2) };
}

shuttle::lazy_static! {
    /// One for each execution.
    static ref LAZY: Mutex<Vec<u32>> = Mutex::new(Vec::new());
}

#[test]
fn threads() {
    passes(|| {
        use shuttle::lazy_static::initialize;
        initialize(&LAZY);
        let named = thread::Builder::new().name("named".to_owned()).stack_size(1 << 16);
        let thread = named.spawn(|| {
            LOCAL.with(|local| local.set(local.get() + 1));
            LAZY.lock().unwrap().push(LOCAL.with(Cell::get) + CONSTANT.try_with(Cell::get).unwrap());
            thread::park();
            thread::current().name().map(str::to_owned)
        });
        let thread = thread.unwrap();
        assert_ne!(thread.thread().id(), thread::current().id());
        thread.thread().unpark();
        thread::yield_now();
        thread::sleep(Duration::from_secs(1));
        shuttle::hint::spin_loop();
        assert_eq!(thread.join().unwrap().as_deref(), Some("named"));
        assert_eq!((LOCAL.with(Cell::get), &*LAZY.lock().unwrap()), (1, &vec![4]));
        assert!(!thread::panicking());
    });
}

/// shuttle's `Arc` is std's: suites turn it into trait objects, and pass it to what wants std's.
#[cfg(not(feature = "modelled-arc"))]
#[test]
fn an_arc_is_that_of_std() {
    use std::sync::Arc as StdArc;
    shuttle::check_random(
        || {
            let made: Arc<dyn Fn() -> u32 + Send + Sync> = Arc::new(|| 3);
            let made: StdArc<_> = made;
            let kept: Weak<_> = Arc::downgrade(&made);
            assert_eq!(kept.upgrade().map(|made| made()), Some(3));
        },
        1,
    );
}

/// `modelled-arc`: which of two threads drops the value is explored.
#[cfg(feature = "modelled-arc")]
#[test]
fn an_arc_is_that_of_the_shim() {
    let _: Weak<u8> = Weak::new();
    let outcomes = crate::support::outcomes(|| {
        let ours = Arc::new(7);
        let theirs = Arc::clone(&ours);
        let thread = thread::spawn(move || Arc::try_unwrap(theirs).is_ok());
        let taken = Arc::try_unwrap(ours).is_ok();
        (taken, thread.join().unwrap())
    });
    assert!(outcomes.len() >= 2, "{outcomes:?}");
}

#[test]
fn the_task_that_runs() {
    assert_eq!(current::try_get_current_task(), None);
    assert!(report(|| _ = current::me()).contains("there is a current task in a check only"));
    passes(|| {
        assert_eq!(usize::from(current::me()), 0);
        let task = thread::spawn(|| current::get_current_task().unwrap()).join().unwrap();
        assert_eq!((task, format!("{task:?}")), (1.into(), "TaskId(1)".to_owned()));
    });
}

#[test]
fn time_stamps_order_what_happens() {
    let stamps = |count: Arc<atomic::AtomicUsize>| {
        move || {
            let before = current::context_switches();
            let value = count.fetch_add(1, SeqCst);
            (before, value, current::context_switches())
        }
    };
    let body = move || {
        let count = Arc::new(atomic::AtomicUsize::new(0));
        let threads = [0; 2].map(|_| thread::spawn(stamps(Arc::clone(&count))));
        let [one, other] = threads.map(|thread| thread.join().unwrap());
        let (first, second) = if one.1 == 0 { (one, other) } else { (other, one) };
        assert!(first.0 < first.2 && second.0 < second.2, "each is there in its interval");
        assert!(first.0 < second.2, "the second does not end before the first begins");
    };
    shuttle::check_random(body, 100);
    shuttle::check_pct(body, 100, 2);
    shuttle::check(body);
    assert!(report(|| shuttle::check_dfs(body, None)).contains("`check_dfs` has no time stamps"));
}

#[test]
fn a_runner_returns_the_number_of_executions() {
    fn run(scheduler: impl Scheduler) -> (usize, usize) {
        let seen = Seen::default();
        let noted = seen.clone();
        let executions = Runner::new(scheduler, Config::new()).run(move || {
            let lock = Arc::new(Mutex::new(0));
            let theirs = Arc::clone(&lock);
            let thread = thread::spawn(move || *theirs.lock().unwrap() = 1);
            noted.note(*lock.lock().unwrap());
            thread.join().unwrap();
        });
        (executions, seen.count())
    }
    assert_eq!(run(RandomScheduler::new(20)), (20, 20));
    assert_eq!(run(PctScheduler::new(2, 20)), (20, 20));
    assert_eq!(run(DfsScheduler::new(None, false)), (2, 2));
    assert_eq!(run(DfsScheduler::new(Some(1), false)), (1, 1));
    assert_eq!(run(UncontrolledNondeterminismCheckScheduler::new(RandomScheduler::new(5))), (10, 10));
    assert_eq!(run(UncontrolledNondeterminismCheckScheduler::new(DfsScheduler::new(None, false))), (2, 2));
    let boxed: Box<dyn Scheduler + Send> = Box::new(RandomScheduler::new_from_seed(1, 3));
    assert_eq!(run(boxed), (3, 3));
    assert_eq!(run(RandomScheduler::new(0)), (0, 0));
    assert_eq!(run(DfsScheduler::new(Some(0), false)), (0, 0));
}

#[test]
fn a_portfolio_uses_its_schedulers_until_one_fails() {
    let runs = |stops: bool, fails: bool| {
        let seen = Seen::default();
        let noted = seen.clone();
        let mut runner = PortfolioRunner::new(stops, Config::new());
        runner.add(DfsScheduler::new(Some(1), true));
        runner.add(RandomScheduler::new(4));
        let check = move || {
            runner.run(move || {
                noted.note(1);
                assert!(!fails, "as asked");
            });
        };
        if fails {
            assert!(report(check).contains("as asked"))
        } else {
            check()
        }
        seen.count()
    };
    assert_eq!(runs(true, false), 5);
    // One more execution captures the call paths of a failure.
    let once = runs(true, true);
    assert!(runs(false, true) >= 2 * once, "{once}");
}

#[test]
fn a_text_that_is_no_seed_is_refused() {
    let of_shuttle = "910102ccdedf9592aba2afd70104";
    for text in [of_shuttle, ""] {
        let said = report(|| _ = ReplayScheduler::new_from_encoded(text));
        assert!(said.contains("a seed starts with"), "{said}");
    }
}
