//! Outcomes through the shim, exactly: none that is impossible, none missed. Several of these go wrong in loom.

use std::collections::BTreeSet;
use std::sync::Mutex;

use rsmc::sync::atomic::{AtomicU32, Ordering::*, fence};
use rsmc::sync::mpsc::{channel, sync_channel};
use rsmc::sync::{Arc, Barrier, Condvar, Mutex as ModelMutex, OnceLock, RwLock};
use rsmc::{Config, Explorer, MemoryModel, Verdict, thread};

/// All outcomes of a body under a memory model, which must be the same for the oracle.
#[track_caller]
fn outcomes_under<T: Ord + Send>(memory: MemoryModel, body: impl Fn() -> T + Sync) -> BTreeSet<T> {
    let explore = |explorer| {
        let seen = Mutex::new(BTreeSet::new());
        let report = rsmc::explore(&Config::default().memory(memory).explorer(explorer), || {
            let outcome = body();
            seen.lock().unwrap().insert(outcome);
        });
        assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
        seen.into_inner().unwrap()
    };
    let found = explore(Explorer::ReadsFrom);
    assert!(found == explore(Explorer::Exhaustive), "reads-from and brute force differ");
    found
}

/// All outcomes of a body that has the same under every model.
#[track_caller]
fn outcomes<T: Ord + Send>(body: impl Fn() -> T + Sync) -> BTreeSet<T> {
    let found = outcomes_under(MemoryModel::Sc, &body);
    for memory in [MemoryModel::Tso, MemoryModel::Pso] {
        assert!(found == outcomes_under(memory, &body), "{memory} differs from sc");
    }
    found
}

/// The outcomes of a body under SC, TSO and PSO.
#[track_caller]
fn by_model<T: Ord + Send>(body: impl Fn() -> T + Sync) -> [BTreeSet<T>; 3] {
    [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso].map(|memory| outcomes_under(memory, &body))
}

/// Runs two closures in threads of their own and returns what both return.
fn both<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    thread::scope(|scope| {
        let (a, b) = (scope.spawn(a), scope.spawn(b));
        (a.join().unwrap(), b.join().unwrap())
    })
}

#[test]
fn store_buffering_with_seqcst_never_shows_two_zeros() {
    let found = outcomes(|| {
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        let first = || {
            x.store(1, SeqCst);
            y.load(SeqCst)
        };
        let second = || {
            y.store(1, SeqCst);
            x.load(SeqCst)
        };
        both(first, second)
    });
    assert_eq!(found, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
}

#[test]
fn a_store_is_never_lost_in_a_swap() {
    let found = outcomes(|| {
        let x = AtomicU32::new(0);
        let ((), swapped) = both(|| x.store(1, SeqCst), || x.swap(0, SeqCst));
        (swapped, x.load(SeqCst))
    });
    // The swap comes first and the store stays, or it takes the store away: never (0, 0).
    assert_eq!(found, BTreeSet::from([(0, 1), (1, 0)]));
}

#[test]
fn a_fetch_add_loses_no_store_either() {
    let found = outcomes(|| {
        let x = AtomicU32::new(0);
        let ((), before) = both(|| x.store(5, SeqCst), || x.fetch_add(1, SeqCst));
        (before, x.load(SeqCst))
    });
    assert_eq!(found, BTreeSet::from([(0, 5), (5, 6)]));
}

#[test]
fn a_load_before_each_store_shows_every_outcome() {
    let found = outcomes(|| {
        let x = AtomicU32::new(0);
        let first = || {
            let seen = x.load(SeqCst);
            x.store(1, SeqCst);
            seen
        };
        let second = || {
            let seen = x.load(SeqCst);
            x.store(2, SeqCst);
            seen
        };
        let seen = both(first, second);
        (seen, x.load(SeqCst))
    });
    let expected = [((0, 0), 1), ((0, 0), 2), ((0, 1), 2), ((2, 0), 1)];
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn load_buffering_needs_a_cycle_that_sc_has_not() {
    let found = outcomes(|| {
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        let first = || {
            let seen = x.load(Relaxed);
            y.store(1, Relaxed);
            seen
        };
        let second = || {
            let seen = y.load(Relaxed);
            x.store(1, Relaxed);
            seen
        };
        both(first, second)
    });
    assert_eq!(found, BTreeSet::from([(0, 0), (0, 1), (1, 0)]));
}

#[test]
fn a_failed_compare_exchange_may_succeed_elsewhere() {
    let found = outcomes(|| {
        let x = AtomicU32::new(0);
        let cas = |from, to| x.compare_exchange(from, to, AcqRel, Acquire).is_ok();
        let both = both(|| cas(0, 1), || cas(1, 2));
        (both, x.load(Relaxed))
    });
    assert_eq!(found, BTreeSet::from([((true, true), 2), ((true, false), 1)]));
}

#[test]
fn store_buffering_shows_two_zeros_with_buffers() {
    for release in [Relaxed, Release] {
        let [sc, tso, pso] = by_model(|| {
            let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
            let first = || {
                x.store(1, release);
                y.load(Acquire)
            };
            let second = || {
                y.store(1, release);
                x.load(Acquire)
            };
            both(first, second)
        });
        assert_eq!(sc, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
        assert_eq!(tso, BTreeSet::from([(0, 0), (0, 1), (1, 0), (1, 1)]));
        assert_eq!(pso, tso);
    }
}

/// A fence or a lock in both threads is enough, and so is an update of another location.
#[test]
fn whatever_drains_the_buffer_forbids_two_zeros() {
    let update = || assert!(AtomicU32::new(0).compare_exchange(1, 2, Relaxed, Relaxed).is_err());
    let lock = || drop(rsmc::sync::Mutex::new(()).lock());
    let drains: [&(dyn Fn() + Sync); 3] = [&|| fence(SeqCst), &update, &lock];
    for drain in drains {
        let found = outcomes(|| {
            let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
            let first = || {
                x.store(1, Relaxed);
                drain();
                y.load(Relaxed)
            };
            let second = || {
                y.store(1, Relaxed);
                drain();
                x.load(Relaxed)
            };
            both(first, second)
        });
        assert_eq!(found, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
    }
}

#[test]
fn a_message_needs_a_release_under_pso_only() {
    let passing = |order| {
        by_model(move || {
            let (data, flag) = (AtomicU32::new(0), AtomicU32::new(0));
            let send = || {
                data.store(1, Relaxed);
                flag.store(1, order);
            };
            let receive = || (flag.load(Acquire), data.load(Relaxed));
            both(send, receive).1
        })
    };
    let in_order = BTreeSet::from([(0, 0), (0, 1), (1, 1)]);
    let any = BTreeSet::from([(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert_eq!(passing(Relaxed), [in_order.clone(), in_order.clone(), any]);
    assert_eq!(passing(Release), [in_order.clone(), in_order.clone(), in_order]);
}

/// What a thread stored before it starts another, and before it ends, is in memory.
#[test]
fn spawn_and_join_drain() {
    let found = outcomes(|| {
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        x.store(1, Relaxed);
        let seen = thread::scope(|scope| {
            scope.spawn(|| y.store(x.load(Relaxed), Relaxed)).join().unwrap();
            y.load(Relaxed)
        });
        (seen, x.load(Relaxed))
    });
    assert_eq!(found, BTreeSet::from([(1, 1)]));
}

/// A count of references changes by an update, which drains like any other: who finds itself alone sees everything.
#[test]
fn dropping_an_arc_drains() {
    let found = outcomes(|| {
        let shared = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&shared);
        let late = AtomicU32::new(0);
        thread::scope(|scope| {
            let late = &late;
            scope.spawn(move || {
                other.store(1, Relaxed);
                drop(other);
                late.load(Relaxed);
            });
            late.store(1, SeqCst);
            Arc::try_unwrap(shared).ok().map(AtomicU32::into_inner)
        })
    });
    assert!(found.is_subset(&BTreeSet::from([None, Some(1)])), "{found:?}");
}

/// The outcomes of a body with locks, which are as strong under C11.
#[track_caller]
fn outcomes_with_locks<T: Ord + Send>(body: impl Fn() -> T + Sync) -> BTreeSet<T> {
    let found = outcomes(&body);
    assert!(found == outcomes_under(MemoryModel::C11, &body), "c11 differs from sc");
    found
}

/// Two threads wait, the second one since the first does, and one is notified: it may be either, and the other one may
/// wake without cause.
#[test]
fn a_notification_wakes_any_who_waits() {
    assert_eq!(woken(0), BTreeSet::from([vec![0], vec![1]]));
    assert_eq!(woken(1), BTreeSet::from([vec![0], vec![1], vec![0, 1], vec![1, 0]]));
}

/// The threads that may wake, with so many spurious outcomes.
fn woken(spurious: u32) -> BTreeSet<Vec<u32>> {
    #[derive(Default)]
    struct State {
        came: u32,
        over: bool,
        woken: Vec<u32>,
    }
    let seen = Mutex::new(BTreeSet::new());
    let report = rsmc::explore(&Config::default().spurious(spurious), || {
        let (state, notified, woken) = (ModelMutex::new(State::default()), Condvar::new(), Condvar::new());
        let wait_as = |own: u32| {
            let mut guard = state.lock().unwrap();
            if guard.came == own && !guard.over {
                guard.came += 1;
                guard = notified.wait(guard).unwrap();
                guard.woken.push(own);
                woken.notify_one();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| wait_as(0));
            scope.spawn(|| wait_as(1));
            let mut guard = state.lock().unwrap();
            if guard.came == 2 {
                notified.notify_one();
                guard = woken.wait_while(guard, |state| state.woken.is_empty()).unwrap();
                seen.lock().unwrap().insert(guard.woken.clone());
            }
            guard.over = true;
            notified.notify_all();
        });
    });
    assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
    seen.into_inner().unwrap()
}

#[test]
fn one_notification_for_one_of_two() {
    let found = outcomes_with_locks(|| {
        let (state, changed, first) = (ModelMutex::new(0), Condvar::new(), AtomicU32::new(9));
        thread::scope(|scope| {
            for own in 0..2 {
                let (state, changed, first) = (&state, &changed, &first);
                scope.spawn(move || {
                    let mut free = changed.wait_while(state.lock().unwrap(), |free| *free == 0).unwrap();
                    *free = 0;
                    // Lets the other one go on, too.
                    if first.compare_exchange(9, own, Relaxed, Relaxed).is_ok() {
                        *free = 1;
                        changed.notify_one();
                    }
                });
            }
            *state.lock().unwrap() = 1;
            changed.notify_one();
        });
        first.into_inner()
    });
    assert_eq!(found, BTreeSet::from([0, 1]));
}

#[test]
fn a_wait_with_a_timeout_ends_either_way() {
    let found = outcomes_with_locks(|| {
        let (state, changed) = (ModelMutex::new(false), Condvar::new());
        let set = || {
            *state.lock().unwrap() = true;
            changed.notify_one();
        };
        let wait = || {
            let (set, result) = changed.wait_timeout(state.lock().unwrap(), std::time::Duration::from_secs(1)).unwrap();
            (*set, result.timed_out())
        };
        both(set, wait).1
    });
    // What was set before the wait notifies nobody.
    assert_eq!(found, BTreeSet::from([(false, true), (true, false), (true, true)]));
}

#[test]
fn one_of_two_leads_a_barrier() {
    let found = outcomes_with_locks(|| {
        let barrier = Barrier::new(2);
        let come = || barrier.wait().is_leader();
        both(come, come)
    });
    assert_eq!(found, BTreeSet::from([(false, true), (true, false)]));
}

#[test]
fn one_of_two_sets_a_cell() {
    let found = outcomes_with_locks(|| {
        let cell = OnceLock::new();
        let set = |value: u32| (cell.set(value).is_ok(), cell.get().copied());
        both(|| set(1), || cell.get().copied().unwrap_or_else(|| *cell.get_or_init(|| 2)))
    });
    assert_eq!(found, BTreeSet::from([((true, Some(1)), 1), ((false, Some(2)), 2)]));
}

/// Two writers and a reader, in any order.
#[test]
fn a_reader_writer_lock_is_granted_in_every_order() {
    let found = outcomes_with_locks(|| {
        let order = RwLock::new(vec![]);
        let write = |own: u32| order.write().unwrap().push(own);
        let seen = thread::scope(|scope| {
            scope.spawn(|| write(1));
            scope.spawn(|| write(2));
            order.read().unwrap().clone()
        });
        (seen, order.into_inner().unwrap())
    });
    let all = [[1, 2], [2, 1]].map(|order| [0, 1, 2].map(|seen| (order[..seen].to_vec(), order.to_vec())));
    assert_eq!(found, all.into_iter().flatten().collect());
}

/// What attempts find while another thread reads and then writes.
#[test]
fn attempts_to_read_and_to_write() {
    let found = outcomes_with_locks(|| {
        let lock = RwLock::new(0);
        let use_it = || {
            drop(lock.read());
            *lock.write().unwrap() = 1;
        };
        let attempt = || {
            let reads = lock.try_read().ok().map(|value| *value);
            let writes = lock.try_write().ok().map(|value| *value);
            (reads, writes)
        };
        both(use_it, attempt).1
    });
    let (no, before, after) = (None, Some(0), Some(1));
    let expected = [
        (before, before), // before or between
        (before, no),     // while it is there, or comes back
        (before, after),
        (no, no), // while it writes
        (no, after),
        (after, after),
    ];
    assert_eq!(found, BTreeSet::from(expected));
}

/// The threads that find the poison are those that come for the lock later, until it is cleared.
#[test]
fn the_poison_of_a_reader_writer_lock() {
    let found = outcomes_with_locks(|| {
        let lock = RwLock::new(());
        let poison = || {
            let _guard = lock.write();
            panic!("while it writes");
        };
        thread::scope(|scope| {
            let poisons = scope.spawn(poison);
            let reader = scope.spawn(|| lock.read().is_err());
            lock.clear_poison();
            let (found, _) = (reader.join().unwrap(), poisons.join());
            (found, lock.is_poisoned())
        })
    });
    assert_eq!(found, BTreeSet::from([(false, false), (false, true), (true, false), (true, true)]));
}

/// The token is taken before the time is over, or is there for the next time; unless the thread wakes without one.
#[test]
fn parking_for_some_time_takes_the_token_or_leaves_it() {
    let found = outcomes(|| {
        let told = AtomicU32::new(0);
        thread::scope(|scope| {
            let parked = scope.spawn(|| {
                thread::park_timeout(std::time::Duration::from_secs(1));
                let early = told.load(SeqCst);
                if early == 0 {
                    thread::park();
                }
                (early, told.load(SeqCst))
            });
            told.store(1, SeqCst);
            parked.thread().unpark();
            parked.join().unwrap()
        })
    });
    assert_eq!(found, BTreeSet::from([(0, 0), (0, 1), (1, 1)]));
}

/// A message of each of two threads, and the end, which comes after both.
#[test]
fn messages_come_in_any_order_and_the_end_last() {
    let found = outcomes_with_locks(|| {
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            for (own, sender) in [(1, sender.clone()), (2, sender)] {
                scope.spawn(move || sender.send(own).unwrap());
            }
            [receiver.recv().ok(), receiver.recv().ok(), receiver.recv().ok()]
        })
    });
    assert_eq!(found, BTreeSet::from([[Some(1), Some(2), None], [Some(2), Some(1), None]]));
}

#[test]
fn an_attempt_to_receive_finds_what_was_sent_or_that_nobody_will() {
    use std::sync::mpsc::TryRecvError::{Disconnected, Empty};
    let found = outcomes_with_locks(|| {
        let (sender, receiver) = channel();
        format!("{:?}", both(move || sender.send(1).is_ok(), move || [receiver.try_recv(), receiver.try_recv()]).1)
    });
    let expected = [[Err(Empty), Err(Empty)], [Err(Empty), Ok(1)], [Ok(1), Err(Empty)], [Ok(1), Err(Disconnected)]];
    assert_eq!(found, BTreeSet::from(expected.map(|both| format!("{both:?}"))));
}

#[test]
fn a_send_comes_before_the_receiver_is_dropped_or_after() {
    let found = outcomes_with_locks(|| {
        let (sender, receiver) = sync_channel(1);
        let send = move || [sender.send(1).is_ok(), sender.try_send(2).is_ok()];
        both(send, move || receiver.try_recv().ok())
    });
    let expected = [([true, true], Some(1)), ([true, false], Some(1)), ([true, false], None), ([false, false], None)];
    assert_eq!(found, BTreeSet::from(expected));
}

/// A thread that finds no room waits, and the other's message may come first.
#[test]
fn room_is_for_any_sender() {
    let found = outcomes_with_locks(|| {
        let (sender, receiver) = sync_channel(1);
        sender.send(0).unwrap();
        thread::scope(|scope| {
            let attempt = scope.spawn(|| sender.try_send(1).is_ok());
            scope.spawn(|| sender.send(2).unwrap());
            let received = (0..2).map(|_| receiver.recv().unwrap()).collect::<Vec<_>>();
            (received, attempt.join().unwrap(), receiver.try_recv().ok())
        })
    });
    let expected =
        [(vec![0, 1], true, None), (vec![0, 1], true, Some(2)), (vec![0, 2], true, Some(1)), (vec![0, 2], false, None)];
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn an_attempt_meets_who_waits_from_hand_to_hand() {
    let found = outcomes_with_locks(|| {
        let (sender, receiver) = sync_channel(0);
        let attempt = move || sender.try_send(1).is_ok();
        both(attempt, move || {
            receiver.recv_timeout(std::time::Duration::from_secs(1)).map_err(|error| error.to_string())
        })
    });
    let ends = ["timed out waiting on channel", "channel is empty and sending half is closed"];
    let failed = ends.map(|end| (false, Err(end.to_owned())));
    assert_eq!(found, BTreeSet::from_iter(failed.into_iter().chain([(true, Ok(1))])));
}

/// Two channels in the shape of store buffering: who sends first has sent before it looks.
#[test]
fn one_of_two_sees_the_message_of_the_other() {
    let found = outcomes_with_locks(|| {
        let ((to_first, first), (to_second, second)) = (channel(), channel());
        let act = |send: rsmc::sync::mpsc::Sender<()>, receive: rsmc::sync::mpsc::Receiver<()>| {
            move || {
                let sent = send.send(()).is_ok();
                (sent, receive.try_recv().is_ok(), receive)
            }
        };
        let (one, other) = both(act(to_second, first), act(to_first, second));
        (one.0 && other.0, one.1, other.1)
    });
    assert_eq!(found, BTreeSet::from([(true, true, true), (true, true, false), (true, false, true)]));
}
