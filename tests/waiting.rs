//! What a loop that waits means, under every explorer that proves and every memory model it knows. `polling` has the
//! loops that poll a lock, a future or a choice.

use std::cell::Cell;

use crate::support::everywhere::{Livelock, Panic, Verified, everywhere, first_line, in_each, soon, with, writes_x};
use crate::support::pairs;
use rsmc::sync::Mutex;
use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
use rsmc::{Config, Explorer, Verdict, hint, render, thread};
use rsmc_core::session::check_body;
/// A loop that becomes more patient.
#[derive(Default)]
struct Backoff {
    step: u32,
}

impl Backoff {
    /// Counts up to this, and for ever if it is so much.
    fn wait(&mut self, most: u32) {
        if self.step < 2 {
            hint::spin_loop();
        } else {
            thread::yield_now();
        }
        if self.step < most {
            self.step += 1;
        }
    }

    /// As in crossbeam.
    fn snooze(&mut self) {
        if self.step <= 6 {
            for _ in 0..1 << self.step {
                hint::spin_loop();
            }
        } else {
            thread::yield_now();
        }
        if self.step <= 10 {
            self.step += 1;
        }
    }

    fn is_completed(&self) -> bool {
        self.step > 10
    }
}

fn backs_off(x: &AtomicU32, most: u32) {
    let mut backoff = Backoff::default();
    while x.load(SeqCst) == 0 {
        backoff.wait(most);
    }
}

fn snoozes(x: &AtomicU32) {
    let mut backoff = Backoff::default();
    while x.load(SeqCst) == 0 {
        backoff.snooze();
    }
}

#[test]
fn a_backoff_that_saturates_waits_for_nobody() {
    everywhere(Livelock, || with(&[&|x, _| backs_off(x, 3)]));
}

#[test]
fn a_backoff_that_counts_waits_for_nobody() {
    everywhere(Livelock, || with(&[&|x, _| backs_off(x, u32::MAX)]));
}

#[test]
fn a_backoff_of_crossbeam_waits_for_nobody() {
    everywhere(Livelock, || with(&[&|x, _| snoozes(x)]));
}

#[test]
fn backoffs_that_wait_for_each_other() {
    everywhere(Livelock, || {
        with(&[
            &|x, y| {
                backs_off(x, 3);
                y.store(1, SeqCst);
            },
            &|x, y| {
                backs_off(y, 3);
                x.store(1, SeqCst);
            },
        ]);
    });
}

#[test]
fn backoffs_of_crossbeam_that_wait_for_each_other() {
    everywhere(Livelock, || {
        with(&[
            &|x, y| {
                snoozes(x);
                y.store(1, SeqCst);
            },
            &|x, y| {
                snoozes(y);
                x.store(1, SeqCst);
            },
        ]);
    });
}

#[test]
fn a_backoff_ends() {
    everywhere(Verified, || with(&[&|x, _| backs_off(x, 3), &writes_x]));
    everywhere(Verified, || with(&[&|x, _| snoozes(x), &writes_x]));
}

#[test]
fn a_backoff_that_counts_ends() {
    everywhere(Verified, || with(&[&|x, _| backs_off(x, u32::MAX), &writes_x]));
}

fn snoozes_until_completed(x: &AtomicU32) {
    let mut backoff = Backoff::default();
    while x.load(SeqCst) == 0 && !backoff.is_completed() {
        backoff.snooze();
    }
    assert!(!backoff.is_completed(), "gave up");
}

#[test]
fn a_bounded_backoff_gives_up() {
    everywhere(Panic("gave up"), || with(&[&|x, _| snoozes_until_completed(x)]));
    everywhere(Panic("gave up"), || with(&[&|x, _| snoozes_until_completed(x), &writes_x]));
}

/// Gives up after `tries` looks.
#[inline(never)]
fn wait(x: &AtomicU32, tries: u32) -> bool {
    for _ in 0..tries {
        if x.load(SeqCst) != 0 {
            return true;
        }
        hint::spin_loop();
    }
    false
}

#[test]
fn a_helper_with_two_bounds_the_small_one_first() {
    everywhere(Panic("gave up"), || {
        with(&[&|x, _| assert!(wait(x, 3), "gave up"), &|x, _| _ = wait(x, u32::MAX), &writes_x]);
    });
}

#[test]
fn a_helper_with_two_bounds_the_large_one_first() {
    everywhere(Panic("gave up"), || {
        with(&[&|x, _| _ = wait(x, u32::MAX), &|x, _| assert!(wait(x, 3), "gave up"), &writes_x]);
    });
}

#[test]
fn a_helper_that_waits_for_another_value_later() {
    let both = |x: &AtomicU32, y: &AtomicU32| {
        wait(x, u32::MAX);
        assert!(wait(y, 3), "gave up");
    };
    let writes = |x: &AtomicU32, y: &AtomicU32| {
        x.store(1, SeqCst);
        y.store(1, SeqCst);
    };
    everywhere(Panic("gave up"), || with(&[&both, &writes]));
    everywhere(Panic("gave up"), || with(&[&writes, &both]));
}

fn nested(x: &AtomicU32, y: &AtomicU32) {
    while x.load(SeqCst) == 0 {
        for _ in 0..3 {
            if y.load(SeqCst) != 0 {
                break;
            }
            hint::spin_loop();
        }
        thread::yield_now();
    }
}

#[test]
fn nested_waits_end() {
    soon(|| with(&[&nested, &writes_x]));
    everywhere(Verified, || with(&[&nested, &writes_x]));
    soon(|| with(&[&nested, &writes_x, &|_, y| y.store(1, SeqCst)]));
}

#[test]
fn nested_waits_for_nobody() {
    everywhere(Livelock, || with(&[&nested]));
    everywhere(Livelock, || with(&[&nested, &|_, y| y.store(1, SeqCst)]));
}

fn two_hints(x: &AtomicU32, y: &AtomicU32) {
    while x.load(SeqCst) == 0 {
        if y.load(SeqCst) == 0 {
            hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
}

fn two_places(x: &AtomicU32, y: &AtomicU32) {
    while x.load(SeqCst) == 0 {
        hint::spin_loop();
        if y.load(SeqCst) != 0 {
            return;
        }
        thread::yield_now();
    }
}

#[test]
fn two_hints_in_one_loop() {
    for run in [two_hints, two_places] {
        soon(|| with(&[&run, &writes_x]));
        everywhere(Verified, || with(&[&run, &writes_x, &|_, y| y.store(1, SeqCst)]));
        everywhere(Livelock, || with(&[&run]));
    }
}

fn round_robin(flags: &[AtomicU32; 3]) -> usize {
    let mut i = 0;
    while flags[i].load(SeqCst) == 0 {
        i = (i + 1) % 3;
        hint::spin_loop();
    }
    i
}

#[test]
fn flags_are_asked_in_turn() {
    let with_writer = |value: u32| {
        let flags: [AtomicU32; 3] = Default::default();
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(round_robin(&flags), 2));
            flags[2].store(value, SeqCst);
        });
    };
    soon(|| with_writer(1));
    everywhere(Verified, || with_writer(1));
    everywhere(Livelock, || with_writer(0));
}

/// What is kept of values seen while waiting, wherever it is kept: the threads that write let it be 1, for a moment.
#[track_caller]
fn keeps(kept: impl Fn(&AtomicU32, &AtomicU32) -> u32 + Sync) {
    everywhere(Panic("seen"), || {
        let waits = |x: &AtomicU32, y: &AtomicU32| assert_eq!(kept(x, y), 0, "seen");
        let writes = |x: &AtomicU32, y: &AtomicU32| {
            y.store(1, SeqCst);
            y.store(0, SeqCst);
            x.store(1, SeqCst);
        };
        with(&[&waits, &writes]);
    });
}

#[test]
fn a_maximum_is_kept() {
    keeps(|x, y| {
        let mut max = 0;
        while x.load(SeqCst) == 0 {
            max = y.load(SeqCst).max(max);
            hint::spin_loop();
        }
        max
    });
    keeps(|x, y| {
        let max = Cell::new(0);
        while x.load(SeqCst) == 0 {
            max.set(y.load(SeqCst).max(max.get()));
            hint::spin_loop();
        }
        max.get()
    });
}

#[test]
fn a_maximum_is_kept_on_the_heap() {
    keeps(|x, y| {
        let mut max = std::hint::black_box(Box::new(0));
        while x.load(SeqCst) == 0 {
            *max = y.load(SeqCst).max(*max);
            hint::spin_loop();
        }
        *max
    });
    keeps(|x, y| {
        let mut max = 0;
        let mut step: Box<dyn FnMut() -> Option<u32>> = Box::new(move || {
            max = y.load(SeqCst).max(max);
            hint::spin_loop();
            (x.load(SeqCst) != 0).then_some(max)
        });
        loop {
            if let Some(max) = step() {
                return max;
            }
        }
    });
    keeps(|x, y| {
        let mut log = vec![0];
        while x.load(SeqCst) == 0 {
            let value = y.load(SeqCst);
            if !log.contains(&value) {
                log.push(value);
            }
            hint::spin_loop();
        }
        *log.last().expect("it was not empty")
    });
}

/// More looks than `spin_bound`: the thread gives up though another could still write.
#[test]
fn a_helper_gives_up_after_many_looks() {
    everywhere(Panic("gave up"), || with(&[&|x, _| assert!(wait(x, 100), "gave up")]));
    everywhere(Panic("gave up"), || with(&[&|x, _| assert!(wait(x, 100), "gave up"), &writes_x]));
    everywhere(Panic("gave up"), || with(&[&writes_x, &|x, _| assert!(wait(x, 100), "gave up")]));
    // And what comes then is explored with all that the others do.
    everywhere(Panic("later"), || {
        let gives_up = |x: &AtomicU32, y: &AtomicU32| {
            if !wait(x, 100) {
                assert!(x.load(SeqCst) == y.load(SeqCst), "later");
            }
        };
        with(&[&gives_up, &writes_x]);
    });
}

#[test]
fn a_helper_that_gives_up_is_named() {
    let config = Config::default().shrink(0);
    let report =
        check_body(&config, &|| with(&[&|x, _| _ = wait(x, 100), &writes_x]), |body| body.check().run()).unwrap();
    assert!(matches!(report.verdict, Verdict::Verified), "{}", first_line(&report));
    let text = render(&report, None);
    assert!(text.contains("note: the loop at tests/waiting.rs:"), "{text}");
    assert!(text.contains("after 32 equal"), "{text}");
}

#[test]
fn after_many_looks_a_thread_parks() {
    let parks = || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            let waits = scope.spawn(|| {
                if !wait(&x, 100) {
                    while x.load(SeqCst) == 0 {
                        thread::park();
                    }
                }
            });
            x.store(1, SeqCst);
            waits.thread().unpark();
        });
    };
    everywhere(Verified, parks);
    soon(parks);
}

/// A bound that is counted on the heap is a bound.
#[test]
fn a_counter_on_the_heap_gives_up() {
    for bound in [3, 5, 30] {
        everywhere(Panic("gave up"), move || {
            let counts = move |x: &AtomicU32, _: &AtomicU32| {
                let mut tries = Box::new(0);
                while x.load(SeqCst) == 0 {
                    **std::hint::black_box(&mut tries) += 1;
                    assert!(*tries < bound, "gave up");
                    hint::spin_loop();
                }
            };
            with(&[&counts, &writes_x]);
        });
    }
}

/// Two threads that are polite: each takes back its wish when it sees the other's, and tries again.
fn polite(mine: &AtomicU32, other: &AtomicU32) {
    loop {
        mine.store(1, SeqCst);
        if other.load(SeqCst) == 0 {
            break;
        }
        mine.store(0, SeqCst);
    }
    mine.store(0, SeqCst);
}

#[test]
fn two_that_are_polite_go_on_for_ever() {
    let body = || with(&[&|x, y| polite(x, y), &|x, y| polite(y, x)]);
    // Brute force tries everything else before.
    let proves = pairs().filter(|config| config.explorer != Explorer::Exhaustive);
    in_each(proves, Livelock, body);
    let report = check_body(&Config::default(), &body, |body| body.check().run()).unwrap();
    let text = render(&report, None);
    assert!(text.starts_with("livelock: t1 and t2 can repeat #"), "{text}");
    let Verdict::Failed(failure) = &report.verdict else { panic!("{text}") };
    let replayed =
        check_body(&Config::default().replay(failure.seed.clone()), &body, |body| body.check().run()).unwrap();
    assert_eq!(first_line(&replayed).split(" can").next(), Some("livelock: t1 and t2"));
}

/// Two philosophers, each of whom puts his first fork back if he does not get the second.
#[test]
fn two_that_put_their_forks_back_go_on_for_ever() {
    let eats = |first: &Mutex<()>, second: &Mutex<()>| {
        loop {
            let first = first.lock().unwrap();
            if second.try_lock().is_ok() {
                break;
            }
            drop(first);
        }
    };
    let proves = pairs().filter(|config| config.explorer != Explorer::Exhaustive);
    in_each(proves, Livelock, || {
        let (left, right) = (Mutex::new(()), Mutex::new(()));
        thread::scope(|scope| {
            scope.spawn(|| eats(&left, &right));
            scope.spawn(|| eats(&right, &left));
        });
    });
}

/// One that writes while it waits, for nobody.
#[test]
fn one_that_writes_while_it_waits_goes_on_for_ever() {
    everywhere(Livelock, || {
        let waits = |x: &AtomicU32, y: &AtomicU32| {
            while x.load(SeqCst) == 0 {
                y.store(1 - y.load(SeqCst), SeqCst);
            }
        };
        with(&[&waits, &|_, y| y.store(1, SeqCst)]);
    });
}

/// What the first look and the later ones return may be all different: a counter that another thread increases.
#[test]
fn a_value_that_is_new_at_every_look() {
    everywhere(Verified, || {
        let waits = |x: &AtomicU32, _: &AtomicU32| while x.load(SeqCst) < 3 {};
        let counts = |x: &AtomicU32, _: &AtomicU32| (0..3).for_each(|_| _ = x.fetch_add(1, SeqCst));
        with(&[&waits, &counts]);
    });
}
