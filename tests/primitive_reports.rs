//! The reports of failures around each primitive, in `primitive_reports/<example>.txt` at 80 columns and
//! `primitive_reports/<example>.wide.txt` at 140. `RSMC_BLESS=1` rewrites them.
//!
//! Every operation is a row in the words of the user's method, and every object is one of the user's.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::path::Path;
use std::task::Poll;
use std::time::Duration;

use rsmc::future::{AtomicWaker, block_on};
use rsmc::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use rsmc::sync::mpsc::{self, RecvTimeoutError};
use rsmc::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, MutexGuard, Notify, Once, OnceLock, RwLock};
use rsmc::{Config, RenderOptions, Verdict, thread};
use serde_json::Value;

/// A reader upgrades while another does so.
fn rwlock_upgrade() {
    let total = RwLock::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let seen = total.read().unwrap();
                if *seen == 0 {
                    *total.write().unwrap() += 1;
                }
            });
        }
    });
}

/// A value is read and written under two separate locks.
fn rwlock_lost_update() {
    let total = RwLock::new(0);
    let add = || {
        let seen = *total.read().unwrap();
        *total.write().unwrap() = seen + 1;
    };
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    assert_eq!(*total.read().unwrap(), 2);
}

fn rwlock_try() {
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        scope.spawn(|| drop(lock.write().unwrap()));
        assert!(lock.try_read().is_ok(), "nobody writes");
    });
}

fn rwlock_poisoned() {
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let _guard = lock.write().unwrap();
            panic!("in the middle of writing");
        });
        assert!(writer.join().is_err());
        drop(lock.read().unwrap());
    });
}

/// A thread comes for a lock that another has.
fn mutex_waited() {
    let (lock, inside) = (Mutex::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let _guard = lock.lock().unwrap();
            inside.store(true, SeqCst);
            inside.store(false, SeqCst);
        });
        if inside.load(SeqCst) {
            drop(lock.lock().unwrap());
            panic!("it was in use");
        }
    });
}

/// The flag is set without the lock, and the notification may come before the wait.
fn condvar_lost_wakeup() {
    let (ready, changed, lock) = (AtomicBool::new(false), Condvar::new(), Mutex::new(()));
    thread::scope(|scope| {
        scope.spawn(|| {
            ready.store(true, SeqCst);
            changed.notify_one();
        });
        let mut guard = lock.lock().unwrap();
        while !ready.load(SeqCst) {
            guard = changed.wait(guard).unwrap();
        }
    });
}

/// Two threads wait for different things, and the notification reaches the wrong one.
fn condvar_wrong_waiter() {
    let (state, changed) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        for wanted in [1, 2] {
            let (state, changed) = (&state, &changed);
            scope.spawn(move || {
                let mut guard = state.lock().unwrap();
                while *guard < wanted {
                    guard = changed.wait(guard).unwrap();
                }
            });
        }
        *state.lock().unwrap() = 1;
        changed.notify_one();
    });
}

fn condvar_timeout() {
    let (state, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *state.lock().unwrap() = true;
            changed.notify_all();
        });
        let guard = state.lock().unwrap();
        if !*guard {
            let (guard, result) = changed.wait_timeout(guard, Duration::from_secs(1)).unwrap();
            assert!(!result.timed_out() || *guard, "nobody came");
        }
    });
}

/// One thread too few comes.
fn barrier_too_few() {
    let start = Barrier::new(3);
    thread::scope(|scope| {
        scope.spawn(|| start.wait());
        start.wait();
    });
}

fn barrier_leader() {
    let start = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| start.wait());
        assert!(start.wait().is_leader(), "main comes last");
    });
}

/// A sender is kept, so the receiver waits for ever.
fn channel_kept_sender() {
    let (sender, receiver) = mpsc::channel();
    let kept = sender.clone();
    let other = thread::spawn(move || sender.send(7).unwrap());
    let sum: u32 = receiver.iter().sum();
    assert_eq!(sum, 7);
    other.join().unwrap();
    drop(kept);
}

fn channel_order() {
    let (sender, receiver) = mpsc::channel();
    let senders = [1, 2].map(|number| {
        let sender = sender.clone();
        thread::spawn(move || sender.send(number).unwrap())
    });
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
    senders.into_iter().for_each(|thread| thread.join().unwrap());
}

fn channel_closed() {
    let (sender, receiver) = mpsc::channel::<char>();
    let other = thread::spawn(move || {
        if let Ok(message) = receiver.try_recv() {
            assert_eq!(message, 'a');
        }
    });
    sender.send('a').unwrap();
    other.join().unwrap();
}

/// Nobody receives, and the channel holds one message.
fn sync_channel_full() {
    let (sender, _receiver) = mpsc::sync_channel(1);
    let other = thread::spawn(move || {
        sender.send("first").unwrap();
        sender.send("second").unwrap();
    });
    other.join().unwrap();
}

fn rendezvous_timeout() {
    let (sender, receiver) = mpsc::sync_channel(0);
    let other = thread::spawn(move || sender.send(true).is_ok());
    assert_ne!(receiver.recv_timeout(Duration::from_secs(1)), Err(RecvTimeoutError::Timeout));
    drop(receiver);
    other.join().unwrap();
}

/// The closure needs a lock that the other thread has, which waits for the closure.
fn once_lock_deadlock() {
    let (config, log) = (OnceLock::new(), Mutex::new(0));
    thread::scope(|scope| {
        scope.spawn(|| *config.get_or_init(|| *log.lock().unwrap()));
        let _guard = log.lock().unwrap();
        config.get_or_init(|| 1);
    });
}

fn once_lock_get() {
    let config = OnceLock::new();
    thread::scope(|scope| {
        scope.spawn(|| config.set(1).unwrap());
        assert_eq!(config.get(), Some(&1));
    });
}

fn once_twice() {
    let (once, calls) = (Once::new(), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| once.call_once(|| _ = calls.fetch_add(1, SeqCst)));
        assert!(!once.is_completed(), "main is first");
        once.call_once(|| _ = calls.fetch_add(1, SeqCst));
    });
}

static LAZY: LazyLock<u32> = LazyLock::new(|| STARTS.fetch_add(1, SeqCst));
static STARTS: AtomicU32 = AtomicU32::new(0);

fn lazy_lock_first() {
    let other = thread::spawn(|| *LAZY);
    assert_eq!(STARTS.load(SeqCst), 0, "nobody has started");
    other.join().unwrap();
}

/// The waker is registered after the flag was looked at.
fn waker_lost() {
    let (ready, waker) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicWaker::new()));
    let (set, wake) = (Arc::clone(&ready), Arc::clone(&waker));
    let other = thread::spawn(move || {
        set.store(true, SeqCst);
        wake.wake();
    });
    block_on(poll_fn(|context| {
        if ready.load(SeqCst) {
            return Poll::Ready(());
        }
        waker.register(context.waker());
        Poll::Pending
    }));
    other.join().unwrap();
}

/// A wake-up is there, and the value is not.
fn waker_early() {
    let (value, waker) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicWaker::new()));
    let (set, wake) = (Arc::clone(&value), Arc::clone(&waker));
    let other = thread::spawn(move || {
        wake.wake();
        set.store(1, SeqCst);
    });
    let mut polls = 0;
    block_on(poll_fn(|context| {
        polls += 1;
        waker.register(context.waker());
        if value.load(SeqCst) == 1 || polls == 2 { Poll::Ready(()) } else { Poll::Pending }
    }));
    assert_eq!(value.load(SeqCst), 1);
    other.join().unwrap();
}

fn notify_early() {
    let (data, done) = (AtomicU32::new(0), Notify::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            done.notify();
            data.store(1, SeqCst);
        });
        done.wait();
        assert_eq!(data.load(SeqCst), 1);
    });
}

fn park_lost() {
    let ready = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&ready);
    let waiter = thread::spawn(move || {
        while !set.load(SeqCst) {
            thread::park();
        }
    });
    waiter.thread().unpark();
    ready.store(true, SeqCst);
    waiter.join().unwrap();
}

fn arc_get_mut() {
    let mut value = Arc::new(0);
    let other = Arc::clone(&value);
    let thread = thread::spawn(move || drop(other));
    assert!(Arc::get_mut(&mut value).is_some(), "the other one is gone");
    thread.join().unwrap();
}

struct Node {
    next: Mutex<Option<Arc<Node>>>,
}

/// Two nodes refer to each other, by references that one line cloned.
fn arc_cycle() {
    fn link(from: &Node, to: &Arc<Node>) {
        *from.next.lock().unwrap() = Some(Arc::clone(to));
    }
    let [a, b] = [(); 2].map(|()| Arc::new(Node { next: Mutex::new(None) }));
    link(&a, &b);
    let other = Arc::clone(&b);
    thread::spawn(move || link(&other, &a)).join().unwrap();
}

/// Of two pointers one becomes a reference again; so does an upgraded reference that was forgotten.
fn arc_left() {
    let value = Arc::new(5);
    let [first, second] = [(); 2].map(|()| Arc::into_raw(Arc::clone(&value)).expose_provenance());
    let weak = Arc::downgrade(&value);
    // SAFETY: it is the pointer of a reference that nobody else uses.
    let back = move || drop(unsafe { Arc::from_raw(std::ptr::with_exposed_provenance::<i32>(first)) });
    thread::spawn(back).join().unwrap();
    std::mem::forget(weak.upgrade());
    assert_ne!(second, 0);
}

/// Two locks are taken in one line, by a function that is called twice.
fn mutex_in_helper() {
    fn first(lock: &Mutex<u32>) -> MutexGuard<'_, u32> {
        lock.lock().unwrap()
    }
    fn transfer(from: &Mutex<u32>, to: &Mutex<u32>) {
        let mut taken = first(from);
        *taken -= 1;
        *first(to) += 1;
    }
    let (a, b) = (Mutex::new(1), Mutex::new(1));
    thread::scope(|scope| {
        scope.spawn(|| transfer(&a, &b));
        transfer(&b, &a);
    });
}

/// A closure that is called twice is a function with places of its own; one that others run is none.
fn panic_in_closure() {
    let done = AtomicU32::new(0);
    let step = |expected: u32| {
        let seen = done.fetch_add(1, SeqCst);
        assert_eq!(seen, expected);
    };
    thread::scope(|scope| {
        scope.spawn(|| step(0));
        step(1);
    });
}

type Example = (&'static str, fn());

macro_rules! examples {
    ($($name:ident),* $(,)?) => { [$((stringify!($name), $name as fn())),*] };
}

const EXAMPLES: &[Example] = &examples![
    rwlock_upgrade,
    rwlock_lost_update,
    rwlock_try,
    rwlock_poisoned,
    mutex_waited,
    condvar_lost_wakeup,
    condvar_wrong_waiter,
    condvar_timeout,
    barrier_too_few,
    barrier_leader,
    channel_kept_sender,
    channel_order,
    channel_closed,
    sync_channel_full,
    rendezvous_timeout,
    once_lock_deadlock,
    once_lock_get,
    once_twice,
    lazy_lock_first,
    waker_lost,
    waker_early,
    notify_early,
    park_lost,
    arc_get_mut,
    arc_cycle,
    arc_left,
    mutex_in_helper,
    panic_in_closure,
];

/// The pages of the examples that fail.
pub fn pages() -> Vec<(&'static str, String)> {
    let config = Config::default();
    let page = |&(name, body): &Example| Some((name, rsmc::html(&rsmc::explore(&config, body), &config, None)?));
    EXAMPLES.iter().filter_map(page).collect()
}

/// Words of the inner steps, which no user has written.
const OURS: [&str; 7] = ["use rwlock", "used rwlock", "lock cv", "lock ch", "token(", "dropped senders", "a location"];

#[test]
fn reports_speak_of_the_users_operations() {
    let mut differ = Vec::new();
    for &(name, body) in EXAMPLES {
        let mut report = rsmc::explore(&Config::default(), body);
        report.elapsed = Duration::ZERO;
        if matches!(report.verdict, Verdict::Verified) {
            continue;
        }
        let json = rsmc::json(&report, &Config::default(), None).unwrap_or_default();
        assert!(!json.contains("a location"), "{name}: {json}");
        let Verdict::Failed(_) = &report.verdict else { panic!("{name}: {:?}", report.verdict) };
        for (columns, ending) in [(80, "txt"), (140, "wide.txt")] {
            let text = rsmc::render_in(&report, &RenderOptions::of_test(None).columns(columns));
            let text = text.split("\nrun this").next().expect("a part").to_owned() + "\n";
            let strange: Vec<&str> = OURS.into_iter().filter(|words| text.contains(words)).collect();
            let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > columns).collect();
            if !strange.is_empty() || !wide.is_empty() || differs(&format!("{name}.{ending}"), &text) {
                differ.push(format!("{name}: {strange:?} {wide:?}"));
            }
        }
    }
    assert!(differ.is_empty(), "{differ:#?} (RSMC_BLESS=1 rewrites the reports)");
}

/// `RSMC_REPORT=full`.
#[test]
fn inner_steps_are_shown_on_demand() {
    let mut report = rsmc::explore(&Config::default(), rwlock_upgrade);
    report.elapsed = Duration::ZERO;
    let text = rsmc::render_in(&report, &RenderOptions::of_test(None).full(true));
    let text = text.split("\nrun this").next().expect("a part").to_owned() + "\n";
    assert!(!differs("rwlock_upgrade.full.txt", &text), "{text}");
    assert!(text.contains("· lock (RwLock)") && text.contains("· unlock (RwLock)"), "{text}");
}

/// A replay shows the call paths of a failure, too, and runs the body once.
#[test]
fn call_paths_are_shown_in_replays() {
    let paths = |config: &Config| {
        let report = rsmc::explore(config, mutex_in_helper);
        let text = rsmc::render(&report, None);
        let (_, paths) = text.split_once("\ncall paths").expect("there are some");
        let Verdict::Failed(failure) = report.verdict else { panic!("a deadlock") };
        (paths.split("\n\n").next().expect("a part").to_owned(), failure.seed, report.runs + report.extra_runs)
    };
    let (found, seed, _) = paths(&Config::default());
    let (replayed, _, runs) = paths(&Config::default().replay(seed));
    assert_eq!((found.lines().count(), runs), (5, 1), "{found}");
    assert_eq!(found, replayed);
}

/// The words of a text that may be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// Whether a word of a sentence is a name: it has a digit, `_`, or a capital within.
fn is_name(word: &str) -> bool {
    word.chars().skip(1).any(|c| c.is_ascii_digit() || c.is_uppercase() || c == '_')
}

/// Rows have no word, and the headline no name, that is neither the user's nor explained in `docs/reading-a-report.md`.
/// An object that has no name in the source has one of its type, which the table of locations says.
#[test]
fn every_word_of_a_row_is_the_users_or_explained() {
    let read = |path: &str| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        std::fs::read_to_string(file).expect("it is a file of the repository")
    };
    let (page, source) = (read("docs/reading-a-report.md"), read("tests/primitive_reports.rs"));
    let known: BTreeSet<&str> = words(&page).chain(words(&source)).collect();
    let mut unknown = BTreeSet::new();
    for &(name, body) in EXAMPLES {
        let report = rsmc::explore(&Config::default(), body);
        let Some(json) = rsmc::json(&report, &Config::default(), None) else { continue };
        let json: Value = serde_json::from_str(&json).expect("it is JSON");
        let list = |part: &str| json[part].as_array().cloned().unwrap_or_default();
        let text = |value: &Value, part: &str| value[part].as_str().unwrap_or_default().to_owned();
        let legend: Vec<String> = list("locations").iter().map(|location| text(location, "name")).collect();
        let threads: Vec<String> = list("threads").iter().map(|thread| text(thread, "name")).collect();
        let is_known = |word: &str| {
            known.contains(word) || [&legend, &threads].iter().any(|all| all.iter().any(|name| name == word))
        };
        let mut look = |line: &str, is_asked: fn(&str) -> bool| {
            let words = words(line).filter(|word| is_asked(word) && !is_known(word));
            unknown.extend(words.map(|word| format!("{name}: {word} in {line:?}")));
        };
        for row in list("steps").iter().chain(&list("waiting")) {
            look(&text(row, "text"), |_| true);
        }
        // A panic has the message of the user or of std.
        let title = Some(text(&json, "title")).filter(|title| !title.starts_with("panic: "));
        look(&title.unwrap_or_default(), is_name);
        for line in list("details") {
            look(line.as_str().unwrap_or_default(), is_name);
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

fn differs(name: &str, text: &str) -> bool {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/primitive_reports").join(name);
    if std::env::var_os("RSMC_BLESS").is_some() {
        std::fs::write(&path, text).expect("the file can be written");
    }
    std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n") != text
}
