//! A suite as users of shuttle write them: structures of a crate that takes its types from one module, invariants at
//! the end of random work, histories that must be linearizable, and mistakes that are found.

use rsmc_shuttle as shuttle;

use crate::support::report;

/// The types of the crate under test; elsewhere they would be std's.
mod primitives {
    pub(super) use rsmc_shuttle::{rand, sync, thread};
}

/// A queue of bounded length.
mod buffer {
    use super::primitives::sync::{Condvar, Mutex};
    use std::collections::VecDeque;

    pub(super) struct Buffer<T> {
        items: Mutex<VecDeque<T>>,
        changed: Condvar,
        most: usize,
        wakes_all: bool,
    }

    impl<T> Buffer<T> {
        pub(super) fn new(most: usize, wakes_all: bool) -> Self {
            Self { items: Mutex::default(), changed: Condvar::new(), most, wakes_all }
        }

        fn notify(&self) {
            if self.wakes_all { self.changed.notify_all() } else { self.changed.notify_one() }
        }

        pub(super) fn put(&self, item: T) {
            let items = self.items.lock().unwrap();
            let mut items = self.changed.wait_while(items, |items| items.len() == self.most).unwrap();
            items.push_back(item);
            drop(items);
            self.notify();
        }

        pub(super) fn take(&self) -> T {
            let items = self.items.lock().unwrap();
            let mut items = self.changed.wait_while(items, |items| items.is_empty()).unwrap();
            let item = items.pop_front().unwrap();
            drop(items);
            self.notify();
            item
        }
    }
}

/// Producers and consumers share one condition variable: the wrong one may be woken.
fn pass_items(wakes_all: bool) {
    use primitives::{sync::Arc, thread};
    let buffer = Arc::new(buffer::Buffer::new(1, wakes_all));
    let consumers = [0; 2].map(|_| {
        let buffer = Arc::clone(&buffer);
        thread::spawn(move || buffer.take())
    });
    let producers = [1, 2].map(|item| {
        let buffer = Arc::clone(&buffer);
        thread::spawn(move || buffer.put(item))
    });
    producers.into_iter().for_each(|producer| producer.join().unwrap());
    let taken: u32 = consumers.into_iter().map(|consumer| consumer.join().unwrap()).sum();
    assert_eq!(taken, 3);
}

#[test]
fn the_buffer_passes_all_items() {
    shuttle::check_random(|| pass_items(true), 500);
    shuttle::check_pct(|| pass_items(true), 500, 3);
}

#[test]
fn waking_one_loses_a_wake_up() {
    assert!(report(|| shuttle::check_random(|| pass_items(false), 5_000)).contains("deadlock"));
}

/// Random transfers between accounts; the sum stays.
fn transfer(locks_both: bool) {
    use primitives::rand::{Rng, thread_rng};
    use primitives::{
        sync::{Arc, Mutex},
        thread,
    };
    let accounts: Arc<Vec<Mutex<i64>>> = Arc::new((0..3).map(|_| Mutex::new(10)).collect());
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let accounts = Arc::clone(&accounts);
            thread::spawn(move || {
                let from = thread_rng().gen_range(0..3);
                let to = (from + thread_rng().gen_range(1..3)) % 3;
                let amount = thread_rng().gen_range(1..5);
                if locks_both {
                    let (low, high) = (accounts[from.min(to)].lock().unwrap(), accounts[from.max(to)].lock().unwrap());
                    let (mut source, mut target) = if from < to { (low, high) } else { (high, low) };
                    *source -= amount;
                    *target += amount;
                } else {
                    let before = *accounts[from].lock().unwrap();
                    *accounts[from].lock().unwrap() = before - amount;
                    *accounts[to].lock().unwrap() += amount;
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(accounts.iter().map(|account| *account.lock().unwrap()).sum::<i64>(), 30, "money is lost");
}

#[test]
fn transfers_keep_the_sum() {
    shuttle::check_random(|| transfer(true), 500);
    let text = report(|| shuttle::check_random(|| transfer(false), 2_000));
    assert!(text.contains("money is lost"), "{text}");
    let seed = crate::support::seed(&text);
    assert!(report(|| shuttle::replay(|| transfer(false), &seed)).contains("money is lost"));
}

/// A lock by hand, which shuttle needs a `yield_now` for.
mod spin {
    use super::primitives::sync::atomic::{AtomicBool, Ordering};
    use super::primitives::thread;

    #[derive(Default)]
    pub(super) struct SpinLock(AtomicBool);

    impl SpinLock {
        pub(super) fn with<R>(&self, act: impl FnOnce() -> R) -> R {
            while self.0.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
                thread::yield_now();
            }
            let result = act();
            self.0.store(false, Ordering::Release);
            result
        }
    }
}

#[test]
fn the_spin_lock_excludes() {
    use primitives::{
        sync::{Arc, atomic::AtomicUsize, atomic::Ordering::Relaxed},
        thread,
    };
    let body = || {
        let shared = Arc::new((spin::SpinLock::default(), AtomicUsize::new(0)));
        let add = |shared: &(spin::SpinLock, AtomicUsize)| {
            shared.0.with(|| shared.1.store(shared.1.load(Relaxed) + 1, Relaxed));
        };
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || add(&theirs));
        add(&shared);
        thread.join().unwrap();
        assert_eq!(shared.1.load(Relaxed), 2);
    };
    shuttle::check_dfs(body, None);
    shuttle::check_random(body, 200);
}

/// A register whose reads must not go back, by time stamps.
#[test]
fn histories_are_linearizable() {
    use primitives::{
        sync::{Arc, Mutex, atomic::AtomicUsize, atomic::Ordering::SeqCst},
        thread,
    };
    use shuttle::current::context_switches;
    let body = || {
        let register = Arc::new(AtomicUsize::new(0));
        let history = Arc::new(Mutex::new(Vec::new()));
        let readers = [0; 2].map(|_| {
            let (register, history) = (Arc::clone(&register), Arc::clone(&history));
            thread::spawn(move || {
                let begin = context_switches();
                let value = register.load(SeqCst);
                let end = context_switches();
                history.lock().unwrap().push((begin, end, value));
            })
        });
        (1..4).for_each(|value| register.store(value, SeqCst));
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        let history = history.lock().unwrap();
        for (earlier, later) in history.iter().flat_map(|one| history.iter().map(move |other| (one, other))) {
            assert!(earlier.1 > later.0 || earlier.2 <= later.2, "{history:?}");
        }
    };
    shuttle::check_random(body, 300);
    shuttle::check_pct(body, 300, 3);
}
