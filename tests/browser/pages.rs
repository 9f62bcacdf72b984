//! Executions that fail, to be looked at.

use rsmc::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*};
use rsmc::sync::{Arc, Mutex};
use rsmc::{Config, MemoryModel, thread};
use serde_json::Value;

/// A failing check in two forms.
pub struct Page {
    pub name: String,
    pub html: String,
    pub json: Value,
}

/// The page of a failing check.
#[track_caller]
pub fn page(config: Config, name: &str, body: impl Fn() + Sync) -> Page {
    let report = rsmc::explore(&config, body);
    let html = rsmc::html(&report, &config, Some(name)).unwrap_or_else(|| panic!("{name} fails"));
    let json = rsmc::json(&report, &config, Some(name)).unwrap();
    Page { name: name.to_owned(), html, json: serde_json::from_str(&json).unwrap() }
}

/// All of them, named.
pub fn all() -> [(&'static str, Page); 7] {
    [
        ("buffers", buffers()),
        ("old_value", old_value()),
        ("deadlock", deadlock()),
        ("long", long()),
        ("longest", longest()),
        ("many_threads", many_threads()),
        ("hostile", hostile()),
    ]
}

/// Both threads read 0, since their stores wait in buffers.
pub fn buffers() -> Page {
    page(Config::default().memory(MemoryModel::Tso).shrink(0), "dekker::both_wait", || {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let [(a, b), (c, d)] = [(x.clone(), y.clone()), (y, x)];
        let one = thread::spawn(move || {
            a.store(1, Release);
            (a.load(Relaxed), b.load(Acquire))
        });
        let other = thread::spawn(move || {
            c.store(1, Release);
            (c.load(Relaxed), d.load(Acquire))
        });
        let seen = [one, other].map(|thread| thread.join().unwrap());
        assert_ne!(seen, [(1, 0), (1, 0)], "one of them sees the store of the other");
    })
}

/// A thread reads an old value, by C11.
pub fn old_value() -> Page {
    page(Config::default(), "mailbox::read_late", || {
        let (data, ready) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                data.store(42, Relaxed);
                ready.store(1, Relaxed);
            });
            if ready.load(Acquire) == 1 {
                assert_eq!(data.load(Relaxed), 42);
            }
        });
    })
}

/// Three locks in a circle.
pub fn deadlock() -> Page {
    page(Config::default(), "philosophers::dine", || {
        let forks = [const { Mutex::new(()) }; 3];
        thread::scope(|scope| {
            for seat in 0..3 {
                let forks = &forks;
                scope.spawn(move || {
                    let left = forks[seat].lock().unwrap();
                    let right = forks[(seat + 1) % 3].lock().unwrap();
                    drop((left, right));
                });
            }
        });
    })
}

/// So many steps that most are folded.
pub fn long() -> Page {
    page(Config::default().max_steps(400), "counter::too_long", || {
        let count = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..300).for_each(|_| drop(count.fetch_add(1, Relaxed).to_string())));
            }
        });
    })
}

/// So many steps that they are not all in the page.
pub fn longest() -> Page {
    page(Config::default().max_steps(30_000), "counter::far_too_long", || {
        let count = AtomicU32::new(0);
        (0..30_001).for_each(|_| drop(count.fetch_add(1, Relaxed).to_string()));
    })
}

/// More threads than there is room for columns.
pub fn many_threads() -> Page {
    page(Config::default(), "ring::nine", || {
        let tail = AtomicU32::new(0);
        thread::scope(|scope| {
            for number in 0..8 {
                let work = || (tail.load(Acquire), tail.fetch_add(1, AcqRel));
                let builder = thread::Builder::new().name(format!("worker-number-{number}"));
                builder.spawn_scoped(scope, work).unwrap();
            }
        });
        assert_eq!(tail.load(SeqCst), 9);
    })
}

/// Text that would be read as HTML if it were not escaped.
pub fn hostile() -> Page {
    let name = "<img src=x onerror=alert(1)>::</title><script>alert(2)</script>";
    page(Config::default(), name, || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            let builder = thread::Builder::new().name("<b>&amp;'\"".to_owned());
            builder.spawn_scoped(scope, || x.store(1, SeqCst)).unwrap();
        });
        assert_eq!(x.load(SeqCst), 2, "</script><script>console.error('run')</script><!-- \u{2028} \u{7} ]]>");
    })
}

/// The page of an audit: an ordering that one thread has for itself, one that is too strong, and one that is needed.
pub fn audit() -> String {
    let audit = rsmc::audit(&Config::default(), || {
        let (data, ready, own) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                own.store(1, Release);
                data.store(1, Relaxed);
                ready.store(1, SeqCst);
            });
            if ready.load(Acquire) == 1 {
                assert_eq!(data.load(Relaxed), 1, "a message that is <published>");
            }
        });
    });
    audit.html()
}
