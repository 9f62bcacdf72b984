//! Channels in a check: deadlocks and what looks like one, orders of messages, time, and what is left behind.

use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicUsize as StdAtomicUsize, Ordering::Relaxed as StdRelaxed};
use std::time::Duration;

use crate::support::{OnDrop, count, explore, failure, verified};
use rsmc::cell::UnsafeCell;
use rsmc::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError, channel, sync_channel};
use rsmc::sync::{Condvar, Mutex};
use rsmc::{Config, Explorer, Failure, FailureKind, MemoryModel, Verdict, thread};

const HOUR: Duration = Duration::from_secs(3600);

/// A deadlock in which a thread waits for `what`, with the lines of the wait and of the channel, as the report says in
/// `told`.
#[track_caller]
fn deadlock([what, told]: [&str; 2], wait: u32, body: impl Fn() + Sync) -> Failure {
    let report = explore(body);
    let text = rsmc::render(&report, None);
    let Verdict::Failed(failure) = report.verdict else { panic!("{text}") };
    assert_eq!(failure.kind, FailureKind::Deadlock, "{text}");
    let message = format!("waits for the {what} created at tests/channels.rs:");
    assert!(failure.message.contains(&message), "{}", failure.message);
    assert!(failure.message.contains(&format!("at tests/channels.rs:{wait}")), "{}", failure.message);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&format!(" at tests/channels.rs:{wait} {told}")), "{text}");
    *failure
}

#[track_caller]
fn line() -> u32 {
    Location::caller().line()
}

#[test]
fn a_forgotten_sender_is_a_deadlock() {
    let sum = |forgets: bool| {
        let (sender, receiver) = channel();
        let threads = [1, 2].map(|own| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(own).unwrap())
        });
        let kept = forgets.then(|| sender.clone());
        drop(sender);
        let sum: u32 = receiver.iter().sum();
        assert_eq!(sum, 3);
        drop(kept);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    let wait = line() - 5;
    deadlock(["next message of the mpsc::channel", "waits for a message of ch"], wait, || sum(true));
    verified(|| sum(false));
}

#[test]
fn who_waits_for_each_other_waits_for_ever() {
    let talk = |first: bool| {
        let ((to_other, other), (to_main, main)) = (channel(), channel());
        thread::scope(|scope| {
            scope.spawn(move || {
                let question: u32 = other.recv().unwrap();
                to_main.send(question + 1).unwrap();
            });
            if first {
                to_other.send(1).unwrap();
            }
            assert_eq!(main.recv().unwrap(), 2);
        });
    };
    let wait = line() - 3;
    let failure = deadlock(["next message of the mpsc::channel", "waits for a message of ch"], wait, || talk(false));
    assert_eq!(failure.waiting.len(), 2);
    verified(|| talk(true));
}

#[test]
fn a_full_channel_that_nobody_empties_is_a_deadlock() {
    let fill = |bound: usize| {
        let (sender, receiver) = sync_channel(bound);
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        assert_eq!(receiver.iter().take(2).sum::<u32>(), 3);
    };
    let second = line() - 3;
    deadlock(["next free place in the mpsc::sync_channel", "waits in send ch1"], second, || fill(1));
    deadlock(["receiver of the mpsc::sync_channel", "waits in send ch1"], second - 1, || fill(0));
    verified(|| fill(2));
}

/// The receiver looks once instead of waiting.
#[test]
fn a_message_that_has_not_come_yet_is_missed() {
    let failure = failure(|| {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.try_recv(), Ok(1));
        thread.join().unwrap();
    });
    assert_eq!(failure.kind, FailureKind::Panic);
}

/// All sequences in which a receiver gets the messages of threads, each of which sends some in order.
fn arrivals(config: &Config, bound: Option<usize>, each: &[u32]) -> BTreeSet<Vec<(usize, u32)>> {
    let seen = StdMutex::new(BTreeSet::new());
    let report = rsmc::explore(config, || {
        let run = |send: &(dyn Fn((usize, u32)) + Sync), receive: &mut dyn FnMut() -> (usize, u32)| {
            thread::scope(|scope| {
                for (own, &messages) in each.iter().enumerate() {
                    scope.spawn(move || (0..messages).for_each(|number| send((own, number))));
                }
                (0..each.iter().sum()).map(|_| receive()).collect::<Vec<_>>()
            })
        };
        let arrived = match bound {
            None => {
                let (sender, receiver) = channel();
                run(&|message| sender.send(message).unwrap(), &mut || receiver.recv().unwrap())
            }
            Some(bound) => {
                let (sender, receiver) = sync_channel(bound);
                run(&|message| sender.send(message).unwrap(), &mut || receiver.recv().unwrap())
            }
        };
        seen.lock().unwrap().insert(arrived);
    });
    let sampled = matches!(report.explorer, Explorer::Random | Explorer::Pct);
    let passed = matches!(report.verdict, Verdict::Verified) || (sampled && report.failures == 0);
    assert!(passed, "{}", rsmc::render(&report, None));
    seen.into_inner().unwrap()
}

#[test]
fn messages_of_two_senders_arrive_in_every_order() {
    for bound in [None, Some(2), Some(1), Some(0)] {
        assert_eq!(arrivals(&Config::default(), bound, &[1, 1]).len(), 2, "{bound:?}");
        assert_eq!(arrivals(&Config::default(), bound, &[2, 1]).len(), 3, "{bound:?}");
    }
    assert_eq!(arrivals(&Config::default(), None, &[2, 2]).len(), 6);
    assert_eq!(arrivals(&Config::default(), None, &[1, 1, 1]).len(), 6);
}

#[test]
fn messages_of_one_sender_keep_their_order_under_every_explorer() {
    let all = [Explorer::ReadsFrom, Explorer::ReadsValueFrom, Explorer::View, Explorer::Random, Explorer::Pct];
    for (explorer, bound) in all.into_iter().flat_map(|explorer| [(explorer, None), (explorer, Some(1))]) {
        let config = Config::default().memory(MemoryModel::Sc).explorer(explorer).max_executions(2000);
        let arrived = arrivals(&config, bound, &[2, 1]);
        assert_eq!(arrived.len(), 3, "{explorer:?} {bound:?}");
        let place = |all: &[_], message| all.iter().position(|&other| other == message).unwrap();
        assert!(arrived.iter().all(|all| place(all, (0, 0)) < place(all, (0, 1))), "{explorer:?} {arrived:?}");
    }
}

/// The results of a wait of an hour for a message, while a thread sends one and drops the sender, or drops it at once.
fn timed(bound: Option<usize>, sends: bool) -> BTreeSet<Result<u32, String>> {
    let seen = StdMutex::new(BTreeSet::new());
    let receive = |receiver: Receiver<u32>| {
        let received = receiver.recv_timeout(HOUR).map_err(|error| format!("{error:?}"));
        seen.lock().unwrap().insert(received);
    };
    verified(|| match bound {
        None => {
            let (sender, receiver) = channel();
            let thread = thread::spawn(move || _ = sends.then(|| sender.send(1)));
            receive(receiver);
            thread.join().unwrap();
        }
        Some(bound) => {
            let (sender, receiver) = sync_channel(bound);
            let thread = thread::spawn(move || _ = sends.then(|| sender.send(1)));
            receive(receiver);
            thread.join().unwrap();
        }
    });
    seen.into_inner().unwrap()
}

#[test]
fn a_wait_with_a_timeout_ends_in_every_way() {
    let (timeout, closed) = (Err("Timeout".to_owned()), Err("Disconnected".to_owned()));
    for bound in [None, Some(1), Some(0)] {
        assert_eq!(timed(bound, true), BTreeSet::from([Ok(1), timeout.clone()]), "{bound:?}");
        assert_eq!(timed(bound, false), BTreeSet::from([timeout.clone(), closed.clone()]), "{bound:?}");
    }
}

/// Others can tell that a receiver waits where messages pass from hand to hand, also if it waits for some time only.
#[test]
fn an_attempt_meets_a_receiver_that_waits() {
    for timed in [false, true] {
        let seen = StdMutex::new(BTreeSet::new());
        verified(|| {
            let (sender, receiver) = sync_channel(0);
            thread::scope(|scope| {
                let waits = scope.spawn(move || match timed {
                    true => receiver.recv_timeout(HOUR).ok(),
                    false => receiver.recv().ok(),
                });
                let sent = sender.try_send(1);
                drop(sender);
                seen.lock().unwrap().insert((sent.is_ok(), waits.join().unwrap()));
            });
        });
        assert_eq!(seen.into_inner().unwrap(), BTreeSet::from([(true, Some(1)), (false, None)]), "{timed}");
    }
}

/// A cell that threads share.
struct Shared(UnsafeCell<u32>);

// SAFETY: not sound in itself: whether accesses are ordered is what the test asks.
unsafe impl Sync for Shared {}

#[test]
fn a_message_carries_what_was_written_before_it() {
    let pass = |bound: Option<usize>, early: bool| {
        explore(move || {
            let data = Shared(UnsafeCell::new(0));
            let data = &data;
            let read = || {
                // SAFETY: a check runs one thread at a time.
                data.0.with(|value| unsafe { *value })
            };
            let write = || {
                // SAFETY: a check runs one thread at a time.
                data.0.with_mut(|value| unsafe { *value = 7 });
            };
            let (early_read, late_read) = (|| _ = early.then(read), || assert!(early || read() == 7));
            thread::scope(|scope| match bound {
                None => {
                    let (sender, receiver) = channel();
                    scope.spawn(move || (write(), sender.send(())).1.unwrap());
                    early_read();
                    receiver.recv().unwrap();
                    late_read();
                }
                Some(bound) => {
                    let (sender, receiver) = sync_channel(bound);
                    scope.spawn(move || (write(), sender.send(())).1.unwrap());
                    early_read();
                    receiver.recv().unwrap();
                    late_read();
                }
            });
        })
    };
    for bound in [None, Some(1), Some(0)] {
        assert!(matches!(pass(bound, false).verdict, Verdict::Verified), "{bound:?}");
        let Verdict::Failed(failure) = pass(bound, true).verdict else { panic!("{bound:?}") };
        assert_eq!(failure.kind, FailureKind::DataRace, "{bound:?}");
    }
}

/// The end of a channel carries what its senders did, also one that was not the last to go.
#[test]
fn the_end_carries_what_was_written_before_every_drop() {
    verified(|| {
        let cells = [Shared(UnsafeCell::new(0)), Shared(UnsafeCell::new(0))];
        let (sender, receiver) = channel::<()>();
        thread::scope(|scope| {
            for (cell, sender) in cells.iter().zip([sender.clone(), sender]) {
                scope.spawn(move || {
                    // SAFETY: a check runs one thread at a time.
                    cell.0.with_mut(|value| unsafe { *value = 7 });
                    drop(sender);
                });
            }
            assert!(receiver.recv().is_err());
            // SAFETY: a check runs one thread at a time.
            assert!(cells.iter().all(|cell| cell.0.with(|value| unsafe { *value }) == 7));
        });
    });
}

#[test]
fn what_need_not_wait_is_one_step_under_a_lock() {
    let events = |body: fn()| verified(body).events;
    assert_eq!(events(|| drop(channel::<u32>())), 4);
    let send = events(|| {
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(receiver.recv_timeout(HOUR), Err(RecvTimeoutError::Timeout));
    });
    assert_eq!(send, 4 + 3 * 2);
    let clones = events(|| {
        let (sender, receiver) = sync_channel::<u32>(0);
        drop(sender.clone());
        drop(receiver);
        assert_eq!(sender.try_send(1), Err(TrySendError::Disconnected(1)));
    });
    assert_eq!(clones, 4 + 2 + 2);
}

#[test]
fn channels_of_stuck_executions_are_left_with_their_messages() {
    static MADE: StdAtomicUsize = StdAtomicUsize::new(0);
    static DROPPED: StdAtomicUsize = StdAtomicUsize::new(0);
    struct Message(#[allow(dead_code, reason = "it is held")] Option<Box<dyn std::any::Any + Send>>);
    impl Message {
        fn new(holds: impl std::any::Any + Send) -> Self {
            count(&MADE);
            Self(Some(Box::new(holds)))
        }
    }
    impl Drop for Message {
        fn drop(&mut self) {
            count(&DROPPED);
        }
    }
    let report = rsmc::explore(&Config::default().keep_going(true), || {
        let (sender, receiver) = sync_channel(1);
        let (idle, never) = channel::<Message>();
        let clones = [sender.clone(), sender.clone()];
        let threads = clones.map(|sender| {
            thread::spawn(move || {
                let message = Message::new(sender.clone());
                assert!(sender.send(message).is_ok());
            })
        });
        idle.send(Message::new(idle.clone())).unwrap();
        drop(never.recv());
        let (keeps, more) = channel::<Message>();
        drop((keeps.send(Message::new(())), more.recv()));
        assert!(more.recv().is_err());
        drop((receiver, threads));
    });
    assert!(report.executions > 1 && report.failures == report.executions, "{report:?}");
    assert!(matches!(&report.verdict, Verdict::Failed(failure) if failure.kind == FailureKind::Deadlock));
    assert_eq!(MADE.load(StdRelaxed) as u64, 4 * (report.runs + report.extra_runs));
    // What the threads have sent is in the channel.
    assert_eq!(DROPPED.load(StdRelaxed) as u64, 2 * (report.runs + report.extra_runs));
}

/// A destructor that sends and receives while a panic unwinds its thread, where the execution ends in the middle of it.
#[test]
fn destructors_of_a_panicking_thread_use_channels_after_the_end() {
    static BEGUN: StdAtomicUsize = StdAtomicUsize::new(0);
    static DONE: StdAtomicUsize = StdAtomicUsize::new(0);
    let mut limited = 0;
    for steps in 1..12 {
        let config = Config::default().explorer(Explorer::Random).seed(1).max_executions(1).max_steps(steps);
        let report = rsmc::explore(&config, || {
            let (sender, receiver) = channel::<u32>();
            let (answers, answered) = sync_channel::<u32>(1);
            let last = OnDrop(move || {
                count(&BEGUN);
                sender.send(1).unwrap();
                assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Err(TryRecvError::Empty)));
                answers.send(2).unwrap();
                assert_eq!(answered.recv(), Ok(2));
                count(&DONE);
            });
            let thread = thread::spawn(move || {
                let _last = last;
                panic!("unwinds");
            });
            assert!(thread.join().is_err());
        });
        limited += usize::from(matches!(&report.verdict, Verdict::Failed(f) if f.kind == FailureKind::StepLimit));
    }
    assert!(limited > 2, "{limited}");
    assert!(BEGUN.load(StdRelaxed) > 3);
    assert_eq!(DONE.load(StdRelaxed), BEGUN.load(StdRelaxed));
}

/// The message with which the test body, or a piece of code outside, panics at this file.
#[track_caller]
fn panics(body: impl Fn() + Sync) -> String {
    // The body is run once.
    let Verdict::Failed(failure) = rsmc::explore(&Config::default().shrink(0), body).verdict else {
        panic!("it passes")
    };
    assert_eq!(failure.kind, FailureKind::Panic, "{}", failure.message);
    assert!(failure.message.contains("panicked at tests/channels.rs:"), "{}", failure.message);
    failure.message
}

#[test]
fn a_channel_from_outside_does_not_wait_in_a_check() {
    let (sender, receiver) = channel();
    let (bounded, full) = sync_channel(1);
    let (receiver, full) = (StdMutex::new(receiver), StdMutex::new(full));
    verified(|| {
        sender.send(1).unwrap();
        assert_eq!(receiver.lock().unwrap().recv(), Ok(1));
        bounded.send(2).unwrap();
        assert_eq!(bounded.try_send(3), Err(TrySendError::Full(3)));
        assert_eq!(full.lock().unwrap().recv_timeout(HOUR), Ok(2));
        assert_eq!(full.lock().unwrap().try_recv(), Err(TryRecvError::Empty));
    });
    bounded.send(2).unwrap();
    let receive = || receiver.lock().unwrap_or_else(|error| error.into_inner());
    let waits: [&(dyn Fn() + Sync); 4] =
        [&|| _ = receive().recv(), &|| _ = receive().recv_timeout(HOUR), &|| _ = receive().iter().next(), &|| {
            _ = bounded.send(3)
        }];
    for wait in waits {
        assert!(panics(wait).contains("created outside of the check would have to wait"));
    }
    drop(sender);
    assert!(receive().recv().is_err());
}

#[test]
fn a_channel_of_a_check_is_only_dropped_outside() {
    static DROPPED: StdAtomicUsize = StdAtomicUsize::new(0);
    type Ends = (Sender<OnDrop<fn()>>, Receiver<OnDrop<fn()>>);
    let kept: StdMutex<Option<Ends>> = StdMutex::new(None);
    let (created, message) = (line() + 2, || OnDrop((|| count(&DROPPED)) as fn()));
    verified(|| {
        let (sender, receiver) = channel();
        assert!(sender.send(message()).is_ok());
        *kept.lock().unwrap() = Some((sender, receiver));
    });
    let (sender, receiver) = kept.into_inner().unwrap().unwrap();
    let receiver = StdMutex::new(receiver);
    let uses: [&(dyn Fn() + Sync); 4] = [
        &|| drop(sender.clone().send(message())),
        &|| drop(receiver.lock().unwrap_or_else(|error| error.into_inner()).recv()),
        &|| drop(receiver.lock().unwrap_or_else(|error| error.into_inner()).try_recv()),
        &|| drop(receiver.lock().unwrap_or_else(|error| error.into_inner()).recv_timeout(HOUR)),
    ];
    for act in uses {
        let told = format!("the mpsc::channel created at tests/channels.rs:{created} belongs to ");
        let inside = panics(act);
        assert!(inside.contains(&(told.clone() + "another execution")), "{inside}");
        let outside = catch_unwind(AssertUnwindSafe(act)).unwrap_err();
        assert!(outside.downcast::<String>().unwrap().contains(&(told + "a check: outside")));
    }
    assert_eq!(DROPPED.load(StdRelaxed), 2);
    verified(|| drop(sender.clone()));
    drop(receiver);
    assert_eq!(DROPPED.load(StdRelaxed), 3);
    thread::spawn(move || drop(sender)).join().unwrap();
}

/// A channel written with a lock and a condition, where who is woken looks again.
struct Plain {
    bound: usize,
    queue: Mutex<(VecDeque<u32>, usize)>,
    changed: Condvar,
}

/// An operation of a thread on a channel.
#[derive(Clone, Copy, Debug)]
enum Do {
    Send,
    TrySend,
    Recv,
    TryRecv,
}

impl Plain {
    fn act(&self, act: Do, message: u32) -> Option<u32> {
        let mut state = self.queue.lock().unwrap();
        let done = match act {
            Do::Send => {
                state = self.changed.wait_while(state, |(queue, _)| queue.len() == self.bound).unwrap();
                state.0.push_back(message);
                None
            }
            Do::TrySend => (state.0.len() < self.bound).then(|| state.0.push_back(message)).map(|()| message),
            Do::Recv => {
                state = self.changed.wait_while(state, |(queue, senders)| queue.is_empty() && *senders > 0).unwrap();
                state.0.pop_front()
            }
            Do::TryRecv => state.0.pop_front(),
        };
        if matches!(act, Do::Send | Do::Recv) || done.is_some() {
            self.changed.notify_all();
        }
        done
    }
}

/// The results of the operations of each thread, in all executions that end, and whether some do not. The first thread
/// receives.
fn outcomes(plain: bool, bound: usize, threads: &[&[Do]]) -> (BTreeSet<Vec<Vec<Option<u32>>>>, bool) {
    let (seen, senders) = (StdMutex::new(BTreeSet::new()), threads.len() - 1);
    let report = rsmc::explore(&Config::default().keep_going(true), || {
        let (sender, receiver) = sync_channel(bound);
        let plain =
            plain.then(|| Plain { bound, queue: Mutex::new((VecDeque::new(), senders)), changed: Condvar::new() });
        let plain = plain.as_ref();
        thread::scope(|scope| {
            let mut ends: Vec<_> = (0..senders).map(|_| Some(sender.clone())).collect();
            drop(sender);
            let mut running = Vec::new();
            for (number, acts) in (1_u32..).zip(&threads[1..]) {
                let sender = ends[number as usize - 1].take().unwrap();
                running.push(scope.spawn(move || {
                    let act = |(index, &act)| {
                        let message = 10 * number + index;
                        match (plain, act) {
                            (Some(plain), act) => plain.act(act, message),
                            (None, Do::Send) => sender.send(message).map(|()| None).unwrap(),
                            (None, Do::TrySend) => sender.try_send(message).ok().map(|()| message),
                            _ => unreachable!("a sender sends"),
                        }
                    };
                    let done: Vec<_> = (0..).zip(*acts).map(act).collect();
                    if let Some(plain) = plain {
                        plain.queue.lock().unwrap().1 -= 1;
                        plain.changed.notify_all();
                    }
                    done
                }));
            }
            let receive = |&act: &Do| match (plain, act) {
                (Some(plain), act) => plain.act(act, 0),
                (None, Do::Recv) => receiver.recv().ok(),
                (None, Do::TryRecv) => receiver.try_recv().ok(),
                _ => unreachable!("a receiver receives"),
            };
            let mut all = vec![threads[0].iter().map(receive).collect::<Vec<_>>()];
            all.extend(running.into_iter().map(|thread| thread.join().unwrap()));
            seen.lock().unwrap().insert(all);
        });
    });
    let stuck = match report.verdict {
        Verdict::Failed(failure) => failure.kind == FailureKind::Deadlock,
        verdict => {
            assert!(matches!(verdict, Verdict::Verified), "{verdict:?}");
            false
        }
    };
    assert_eq!(stuck, report.failures > 0);
    (seen.into_inner().unwrap(), stuck)
}

/// Completing the operation of who waits loses no outcome.
#[test]
fn outcomes_are_those_of_a_lock_and_a_condition() {
    use Do::{Recv, Send, TryRecv, TrySend};
    let programs: [(usize, &[&[Do]]); 5] = [
        (1, &[&[Recv, TryRecv], &[Send], &[TrySend, TrySend]]),
        (1, &[&[TryRecv, Recv, Recv], &[Send, Send]]),
        (1, &[&[Recv, Recv], &[Send, TrySend], &[Send]]),
        (2, &[&[Recv, TryRecv, Recv], &[TrySend], &[TrySend]]),
        (1, &[&[Recv], &[Send, Send]]),
    ];
    for (bound, program) in programs {
        let (found, expected) = (outcomes(false, bound, program), outcomes(true, bound, program));
        assert!(!expected.0.is_empty() || expected.1);
        assert_eq!(found, expected, "{program:?}");
    }
}

/// What the check does not model it names, if it passes.
#[test]
fn a_channel_from_outside_is_mentioned_where_the_check_passes() {
    let (sender, receiver) = channel();
    let both = (sender, StdMutex::new(receiver));
    let report = verified(|| {
        both.0.send(1).unwrap();
        assert_eq!(both.1.lock().unwrap().try_recv(), Ok(1));
    });
    assert!(report.unmodelled && rsmc::render(&report, None).contains("NOT modelled"));
    let report = verified(|| {
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        assert_eq!(receiver.try_recv(), Ok(1));
    });
    assert!(!report.unmodelled && !rsmc::render(&report, None).contains("NOT modelled"));
}
