// Channels.

use sync::mpsc::{Receiver, RecvError, RecvTimeoutError, SendError, Sender, SyncSender, TryRecvError, TrySendError};
use std::sync::mpsc::sync_channel as sync_channel_of_std;
use sync::mpsc::{channel, sync_channel};

const SHORT: std::time::Duration = std::time::Duration::from_micros(100);

fn channel_keeps_the_order() {
    let (sender, receiver) = channel();
    (0..5).for_each(|message| sender.send(message).unwrap());
    let received: Vec<u32> = (0..5).map(|_| receiver.recv().unwrap()).collect();
    assert_eq!(received, [0, 1, 2, 3, 4]);
}

fn channel_ends_after_its_messages() {
    let (sender, receiver) = channel();
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    drop(sender);
    assert_eq!([receiver.recv(), receiver.recv(), receiver.recv()], [Ok(1), Ok(2), Err(RecvError)]);
    assert_eq!(receiver.recv(), Err(RecvError));
}

fn channel_gives_back_what_nobody_receives() {
    let (sender, receiver) = channel();
    drop(receiver);
    assert_eq!(sender.send("text"), Err(SendError("text")));
    assert_eq!(sender.clone().send("more").unwrap_err().0, "more");
}

fn channel_try_recv() {
    let (sender, receiver) = channel();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    sender.send(7).unwrap();
    drop(sender);
    assert_eq!(receiver.try_recv(), Ok(7));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

fn channel_waits_for_a_message() {
    let (sender, receiver) = channel();
    let other = thread::spawn(move || sender.send(7).unwrap());
    assert_eq!(receiver.recv(), Ok(7));
    other.join().unwrap();
    assert_eq!(receiver.recv(), Err(RecvError));
}

fn channel_waits_for_its_end() {
    let (sender, receiver) = channel::<u32>();
    let other = thread::spawn(move || drop(sender));
    assert_eq!(receiver.recv(), Err(RecvError));
    other.join().unwrap();
}

fn channel_of_two_senders() {
    let (sender, receiver) = channel();
    let other = sender.clone();
    let threads = [(sender, 1), (other, 10)].map(|(sender, first)| {
        thread::spawn(move || (first..first + 2).for_each(|message| sender.send(message).unwrap()))
    });
    let mut received: Vec<u32> = receiver.iter().collect();
    let place = |message| received.iter().position(|&other| other == message).unwrap();
    assert!(place(1) < place(2) && place(10) < place(11));
    received.sort_unstable();
    assert_eq!(received, [1, 2, 10, 11]);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn channel_senders_are_shared() {
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for own in 1..=2 {
            let sender = &sender;
            scope.spawn(move || sender.send(own).unwrap());
        }
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
    });
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
}

fn channel_clones_keep_it_open() {
    let (sender, receiver) = channel();
    let clone = sender.clone();
    let last = clone.clone();
    drop((sender, clone));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    last.send(1).unwrap();
    drop(last);
    assert_eq!(receiver.into_iter().collect::<Vec<_>>(), [1]);
}

fn channel_iterators() {
    let (sender, receiver) = channel();
    (0..6).for_each(|message| sender.send(message).unwrap());
    assert_eq!(receiver.iter().take(2).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(receiver.try_iter().take(2).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [4, 5]);
    assert_eq!(receiver.try_iter().next(), None);
    sender.send(6).unwrap();
    drop(sender);
    let mut seen = Vec::new();
    for message in &receiver {
        seen.push(message);
    }
    for message in receiver {
        seen.push(message);
    }
    assert_eq!(seen, [6]);
}

fn channel_iterates_until_its_end() {
    let (sender, receiver) = channel();
    let sums = thread::spawn(move || receiver.into_iter().sum::<u32>());
    (1..=4).for_each(|message| sender.send(message).unwrap());
    drop(sender);
    assert_eq!(sums.join().unwrap(), 10);
}

fn channel_receiver_moves() {
    let (sender, receiver) = channel();
    sender.send(1).unwrap();
    let receiver = thread::spawn(move || {
        assert_eq!(receiver.recv(), Ok(1));
        receiver
    });
    sender.send(2).unwrap();
    assert_eq!(receiver.join().unwrap().recv(), Ok(2));
}

/// What is dropped is counted.
struct Told(Arc<AtomicUsize>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn channel_receiver_drops_messages() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let (sender, receiver) = channel();
    for _ in 0..3 {
        assert!(sender.send(Told(Arc::clone(&dropped))).is_ok());
    }
    drop(receiver.recv());
    assert_eq!(dropped.load(Relaxed), 1);
    drop(receiver);
    assert_eq!(dropped.load(Relaxed), 3);
    let back = sender.send(Told(Arc::clone(&dropped)));
    assert_eq!(dropped.load(Relaxed), 3);
    drop(back);
    assert_eq!(dropped.load(Relaxed), 4);
}

fn channel_drops_messages_in_order() {
    struct Notes(Arc<Mutex<Vec<u8>>>, u8);
    impl Drop for Notes {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(self.1);
        }
    }
    let log = Arc::new(Mutex::new(Vec::new()));
    let (sender, receiver) = sync_channel(3);
    for number in 1..=3 {
        assert!(sender.send(Notes(Arc::clone(&log), number)).is_ok());
    }
    drop(sender);
    drop(receiver);
    assert_eq!(*log.lock().unwrap(), [1, 2, 3]);
}

/// The destructor of a message sends on the channel that it was in.
fn channel_destructors_use_the_channel() {
    struct Again(Option<Sender<Again>>);
    impl Drop for Again {
        fn drop(&mut self) {
            if let Some(sender) = self.0.take() {
                assert!(sender.send(Again(None)).is_err());
            }
        }
    }
    let (sender, receiver) = channel();
    assert!(sender.send(Again(Some(sender.clone()))).is_ok());
    drop(receiver);
    assert!(sender.send(Again(None)).is_err());
}

fn channel_in_itself_is_not_leaked() {
    struct Holds(#[allow(dead_code)] Option<Sender<Holds>>, #[allow(dead_code)] Told);
    let dropped = Arc::new(AtomicUsize::new(0));
    let (sender, receiver) = channel();
    let held = sender.clone();
    assert!(sender.send(Holds(Some(held), Told(Arc::clone(&dropped)))).is_ok());
    drop(sender);
    drop(receiver);
    assert_eq!(dropped.load(Relaxed), 1);
}

fn channel_panic_in_a_destructor() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let (sender, receiver) = channel();
    assert!(sender.send(Panics).is_ok());
    assert_eq!(thread_panic(move || drop(receiver)), "dropped");
    assert!(sender.send(Panics).map_err(std::mem::forget).is_err());
}

fn channel_with_answers() {
    let (ask, asked) = channel::<(u32, Sender<u32>)>();
    let server = thread::spawn(move || asked.into_iter().for_each(|(number, answer)| answer.send(number * 2).unwrap()));
    for number in 1..=2 {
        let (sender, receiver) = channel();
        ask.send((number, sender)).unwrap();
        assert_eq!(receiver.recv(), Ok(number * 2));
        assert_eq!(receiver.recv(), Err(RecvError));
    }
    drop(ask);
    server.join().unwrap();
}

fn channel_of_a_thread_that_panics() {
    let (sender, receiver) = channel();
    let text = thread_panic(move || {
        sender.send(1).unwrap();
        panic!("over");
    });
    assert_eq!((text.as_str(), receiver.recv(), receiver.recv()), ("over", Ok(1), Err(RecvError)));
    let (sender, receiver) = channel();
    thread_panic(move || {
        let _receiver = receiver;
        panic!("over");
    });
    assert_eq!(sender.send(1), Err(SendError(1)));
}

fn channel_that_is_forgotten_stays_open() {
    let (sender, receiver) = channel::<u8>();
    std::mem::forget(sender);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    let (sender, receiver) = channel();
    std::mem::forget(receiver);
    assert_eq!(sender.send(1), Ok(()));
}

fn channel_of_nothing() {
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        scope.spawn(|| (0..3).for_each(|_| sender.send(()).unwrap()));
        (0..3).for_each(|_| receiver.recv().unwrap());
    });
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
}

fn channel_times_out() {
    let (sender, receiver) = channel();
    assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    sender.send(1).unwrap();
    assert_eq!(receiver.recv_timeout(SHORT), Ok(1));
    sender.send(2).unwrap();
    drop(sender);
    assert_eq!(receiver.recv_timeout(SHORT), Ok(2));
    assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Disconnected));
}

fn channel_shared_by_workers() {
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Ok(job) = receiver.lock().unwrap().recv() else { break };
                    done.fetch_add(job, Relaxed);
                }
            });
        }
        for job in 1..=3 {
            sender.send(job).unwrap();
        }
        drop(sender);
    });
    assert_eq!(done.into_inner(), 6);
}

fn channels_in_a_row() {
    let (first, second) = channel();
    let (third, last) = sync_channel(1);
    thread::scope(|scope| {
        scope.spawn(move || second.into_iter().for_each(|number: u32| third.send(number + 1).unwrap()));
        scope.spawn(move || (0..3).for_each(|number| first.send(number).unwrap()));
        assert_eq!(last.iter().collect::<Vec<_>>(), [1, 2, 3]);
    });
}

fn channel_is_shown() {
    let (sender, receiver) = channel::<u8>();
    assert_eq!(format!("{sender:?} {receiver:?}"), "Sender { .. } Receiver { .. }");
    assert_eq!(format!("{:?}", receiver.iter()), "Iter { rx: Receiver { .. } }");
    assert_eq!(format!("{:?}", receiver.try_iter()), "TryIter { rx: Receiver { .. } }");
    assert_eq!(format!("{:?}", receiver.into_iter()), "IntoIter { rx: Receiver { .. } }");
    assert_eq!(format!("{:?}", sync_channel::<u8>(1).0), "SyncSender { .. }");
    assert_eq!(sender.send(1).unwrap_err().to_string(), "sending on a closed channel");
}

/// Each error is of the type that std's own channels return.
fn channel_errors_are_those_of_std() {
    let (sender, receiver) = sync_channel(0);
    let (std_sender, std_receiver) = sync_channel_of_std(0);
    assert_eq!(sender.try_send(1), std_sender.try_send(1));
    assert_eq!(receiver.try_recv(), std_receiver.try_recv());
    assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    drop((receiver, std_receiver));
    assert_eq!(sender.send(2), std_sender.send(2));
    assert_eq!(sender.try_send(2), std_sender.try_send(2));
}

fn channel_bounds() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    fn unwind<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    type Single = std::cell::Cell<u8>;
    send::<Sender<Single>>();
    sync::<Sender<Single>>();
    send::<SyncSender<Single>>();
    sync::<SyncSender<Single>>();
    send::<Receiver<Single>>();
    send::<sync::mpsc::IntoIter<Single>>();
    unwind::<Sender<Single>>();
    unwind::<SyncSender<&mut Single>>();
    unwind::<Receiver<Single>>();
}

fn sync_channel_is_full() {
    let (sender, receiver) = sync_channel(2);
    assert_eq!([sender.try_send(1), sender.try_send(2)], [Ok(()), Ok(())]);
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(sender.try_send(3), Ok(()));
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2, 3]);
    drop(receiver);
    assert_eq!(sender.try_send(4), Err(TrySendError::Disconnected(4)));
}

fn sync_channel_waits_for_room() {
    let (sender, receiver) = sync_channel(1);
    let sent = AtomicUsize::new(0);
    thread::scope(|scope| {
        let sent = &sent;
        scope.spawn(move || {
            for message in 1..=3 {
                sender.send(message).unwrap();
                sent.store(message, Release);
            }
        });
        assert!(sent.load(Acquire) <= 1);
        assert_eq!(receiver.recv(), Ok(1));
        assert!(sent.load(Acquire) <= 2);
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(2), Ok(3)));
        assert_eq!(receiver.recv(), Err(RecvError));
    });
    assert_eq!(sent.into_inner(), 3);
}

fn sync_channel_gives_back_what_waits() {
    let (sender, receiver) = sync_channel(1);
    sender.send(1).unwrap();
    let clone = sender.clone();
    let threads = [(sender, 2), (clone, 3)].map(|(sender, own)| thread::spawn(move || (own, sender.send(own))));
    drop(receiver);
    for thread in threads {
        let (own, result) = thread.join().unwrap();
        assert_eq!(result, Err(SendError(own)));
    }
}

fn sync_channel_of_two_senders() {
    let (sender, receiver) = sync_channel(1);
    let clone = sender.clone();
    let threads = [(sender, 1), (clone, 10)].map(|(sender, own)| {
        thread::spawn(move || (0..2).for_each(|_| sender.send(own).unwrap()))
    });
    assert_eq!(receiver.iter().sum::<u32>(), 22);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn sync_channel_ends_when_all_are_dropped() {
    let (sender, receiver) = sync_channel::<u8>(4);
    let threads = [sender.clone(), sender].map(|sender| thread::spawn(move || drop(sender)));
    assert_eq!(receiver.recv(), Err(RecvError));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

fn rendezvous_needs_both() {
    let (sender, receiver) = sync_channel(0);
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    drop(sender);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Disconnected));
}

fn rendezvous_returns_when_it_is_received() {
    let (sender, receiver) = sync_channel(0);
    let sent = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for message in 1..=2 {
                sender.send(message).unwrap();
                sent.store(message, Release);
            }
        });
        assert_eq!(sent.load(Acquire), 0);
        assert_eq!(receiver.recv(), Ok(1));
        assert!(sent.load(Acquire) <= 1);
        assert_eq!(receiver.recv(), Ok(2));
    });
    assert_eq!(sent.into_inner(), 2);
}

fn rendezvous_without_receiver() {
    let (sender, receiver) = sync_channel(0);
    let waits = thread::spawn(move || sender.send(7));
    drop(receiver);
    assert_eq!(waits.join().unwrap(), Err(SendError(7)));
}

fn rendezvous_without_sender() {
    let (sender, receiver) = sync_channel::<u8>(0);
    let waits = thread::spawn(move || receiver.recv());
    drop(sender);
    assert_eq!(waits.join().unwrap(), Err(RecvError));
}

fn rendezvous_there_and_back() {
    let ((there, receives), (back, received)) = (sync_channel(0), sync_channel(0));
    let other = thread::spawn(move || receives.into_iter().for_each(|number: u32| back.send(number + 1).unwrap()));
    for number in [1, 5] {
        there.send(number).unwrap();
        assert_eq!(received.recv(), Ok(number + 1));
    }
    drop(there);
    assert_eq!(received.recv(), Err(RecvError));
    other.join().unwrap();
}

fn rendezvous_of_two_senders() {
    let (sender, receiver) = sync_channel(0);
    thread::scope(|scope| {
        for own in [1, 10] {
            let sender = sender.clone();
            scope.spawn(move || sender.send(own).unwrap());
        }
        drop(sender);
        assert_eq!(receiver.iter().sum::<u32>(), 11);
    });
}
