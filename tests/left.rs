//! Threads of executions that are over are left where they stand: no destructor of theirs runs, and what they own is
//! taken back.

#![cfg(target_os = "linux")]

use std::cell::RefCell;
use std::sync::Mutex as StdMutex;
use std::sync::atomic::AtomicUsize as StdAtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::support::OnDrop;
use rsmc::sync::atomic::AtomicUsize;
use rsmc::sync::{Arc, Mutex};
use rsmc::{Config, Explorer, FailureKind, MemoryModel, Verdict, hint, thread};

/// A ticket lock whose threads hold something while they wait.
fn tickets(threads: usize, while_waiting: impl Fn() -> Box<dyn std::any::Any> + Send + Clone + 'static) {
    let (next, serving) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let all: Vec<_> = (0..threads)
        .map(|_| {
            let (next, serving, held) = (Arc::clone(&next), Arc::clone(&serving), while_waiting.clone());
            thread::spawn(move || {
                let ticket = next.fetch_add(1, Relaxed);
                let held = held();
                while serving.load(Acquire) != ticket {
                    hint::spin_loop();
                }
                std::mem::forget(held);
                serving.store(ticket + 1, Release);
            })
        })
        .collect();
    all.into_iter().for_each(|thread| thread.join().unwrap());
}

const PROVING: [Explorer; 3] = [Explorer::ReadsFrom, Explorer::ReadsValueFrom, Explorer::View];

#[test]
fn a_guard_that_must_be_forgotten_is_not_dropped_where_its_thread_is_given_up() {
    for explorer in PROVING {
        let config = Config::default().explorer(explorer);
        let report = rsmc::explore(&config, || {
            tickets(3, || Box::new(OnDrop(|| panic!("it is dropped while its thread waits"))));
        });
        assert!(matches!(report.verdict, Verdict::Verified), "{explorer:?}: {:?}", report.verdict);
        let report = rsmc::explore(&config, || tickets(3, || Box::new(OnDrop(|| std::process::abort()))));
        assert!(matches!(report.verdict, Verdict::Verified), "{explorer:?}: {:?}", report.verdict);
        assert!(report.runs > report.executions, "{explorer:?}: runs are given up");
    }
}

#[test]
fn a_deadlock_is_one_whatever_destructors_would_do() {
    let report = rsmc::explore(&Config::default(), || {
        let lock = Arc::new(Mutex::new(0));
        let _aborts = OnDrop(|| std::process::abort());
        let held = lock.lock().unwrap();
        let there = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let _panics = OnDrop(|| panic!("a destructor runs"));
            *there.lock().unwrap() += 1;
        });
        thread.join().unwrap();
        drop(held);
    });
    let Verdict::Failed(failure) = &report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!(failure.kind, FailureKind::Deadlock);
}

/// What a thread that is left behind gave to a collection outside is in use.
#[test]
fn what_was_given_away_before_is_kept() {
    let kept = StdMutex::new(Vec::<Box<(usize, String)>>::new());
    let report = rsmc::explore(&Config::default(), || {
        let mut all = kept.lock().unwrap();
        let run = all.len();
        all.push(Box::new((run, format!("number {run}"))));
        drop(all);
        tickets(4, || Box::new(vec![0x5a_u8; 4000]));
    });
    assert!(matches!(report.verdict, Verdict::Verified), "{:?}", report.verdict);
    let kept = kept.into_inner().unwrap();
    assert!(kept.len() as u64 >= report.runs && report.runs > report.executions, "{report:?}");
    for (at, one) in kept.iter().enumerate() {
        assert_eq!((one.0, one.1.as_str()), (at, format!("number {at}").as_str()));
    }
}

const EXECUTIONS: usize = 3000;

/// Executions that end in a deadlock, each with memory that nobody knows, and with what `give` gives away: by the time
/// they are over, memory was taken back, and used again. Returns how many there were.
fn leave(give: impl Fn(usize) + Sync) -> usize {
    let runs = StdAtomicUsize::new(0);
    let config =
        Config::default().explorer(Explorer::Random).seed(1).max_executions(EXECUTIONS as u64).keep_going(true);
    let report = rsmc::explore(&config.memory(MemoryModel::Sc).spurious(0), || {
        let (number, x) = (runs.fetch_add(1, Relaxed), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _garbage = vec![1_u8; 40_000];
                give(number);
                x.store(1, Release);
                thread::park();
            });
            x.load(Acquire);
        });
    });
    assert_eq!(report.failures, EXECUTIONS as u64, "{report:?}");
    runs.into_inner()
}

#[test]
fn what_a_static_knows_is_kept() {
    #[allow(clippy::vec_box, reason = "each execution makes a block")]
    static KNOWN: StdMutex<Vec<Box<[usize; 40]>>> = StdMutex::new(Vec::new());
    let all = leave(|number| KNOWN.lock().unwrap().push(Box::new([number; 40])));
    let known = std::mem::take(&mut *KNOWN.lock().unwrap());
    assert!(known.len() == all && known.iter().enumerate().all(|(number, one)| **one == [number; 40]));
}

/// The check's OS thread has it, and drops it at its end: so it is looked at meanwhile.
#[test]
fn what_a_local_of_std_knows_is_kept() {
    thread_local!(static KNOWN: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) });
    leave(|number| {
        KNOWN.with_borrow_mut(|known| {
            known.push(vec![number as u8; 100 + number % 500]);
            let at = number * 7919 % known.len();
            assert!(known[at].len() == 100 + at % 500 && known[at].iter().all(|&byte| byte == at as u8));
        });
    });
}

/// A channel of std, and the stack of the thread that receives.
#[test]
fn what_a_real_thread_knows_is_kept() {
    let (sender, receiver) = std::sync::mpsc::channel::<Box<[usize; 30]>>();
    let real = std::thread::spawn(move || {
        let mut own: [Option<Box<[usize; 30]>>; 2 * EXECUTIONS] = [const { None }; 2 * EXECUTIONS];
        let all = own.iter_mut().zip(receiver).map(|(place, one)| *place = Some(one)).count();
        own.iter().flatten().for_each(|one| assert_eq!(**one, [one[0]; 30]));
        all
    });
    let all = leave(|number| sender.send(Box::new([number; 30])).unwrap());
    drop(sender);
    assert_eq!(real.join().unwrap(), all);
}

/// A list across executions, of which only the newest node is known from outside, by an address with a tag.
#[test]
fn what_is_known_by_what_is_known_is_kept() {
    const TAG: usize = 1 << 63;
    struct Node {
        number: usize,
        text: String,
        next: *mut Node,
    }
    let newest = StdMutex::new(TAG);
    let node = |address: usize| std::ptr::with_exposed_provenance_mut::<Node>(address & !TAG);
    let all = leave(|number| {
        let mut newest = newest.lock().unwrap();
        let made = Box::new(Node { number, text: format!("{number} is known"), next: node(*newest) });
        *newest = Box::into_raw(made).expose_provenance() | TAG;
    });
    let mut list = node(newest.into_inner().unwrap());
    for number in (0..all).rev() {
        // SAFETY: it was made above, and nobody else has it.
        let node = unsafe { Box::from_raw(list) };
        assert_eq!((node.number, node.text), (number, format!("{number} is known")));
        list = node.next;
    }
    assert!(list.is_null());
}

/// Pointers to the middle of a block, and to its end.
#[test]
fn what_is_known_in_parts_is_kept() {
    let known = StdMutex::new(Vec::<std::vec::IntoIter<usize>>::new());
    let all = leave(|number| {
        let mut rest = vec![number; 20].into_iter();
        rest.by_ref().take(number % 21).for_each(drop);
        known.lock().unwrap().push(rest);
    });
    let known = known.into_inner().unwrap();
    assert_eq!(known.len(), all);
    for (number, rest) in known.into_iter().enumerate() {
        assert!(rest.len() == 20 - number % 21 && rest.into_iter().all(|one| one == number));
    }
}
