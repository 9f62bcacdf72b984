//! A queue of many senders and one receiver, which parks where the queue is empty.
//!
//! Source. The queue is D. Vyukov's (*Non-intrusive MPSC node-based queue*, 1024cores.net), which std's channels were
//! made of for years. A sender swaps its node in as the last one and links it then, so the queue may look empty though
//! a later node is complete; the sender that has yet to link is the one that wakes the receiver then. Nodes are kept
//! until the queue is dropped, so that no address is used twice.
//!
//! Orderings. A value is published by its link, `Release` and `Acquire`. The receiver says that it sleeps and then
//! looks at the queue once more; a sender links and then looks whether the receiver sleeps. One of them has to see the
//! other, as in Dekker's lock: each has a `SeqCst` fence in between.
//!
//! The mistakes, and the models that show them. In each the receiver sleeps and nobody wakes it, which is a deadlock:
//!
//! - [`receive_looking_once`](Queue::receive_looking_once) does not look again. Wrong under every model.
//! - [`receive_unfenced`](Queue::receive_unfenced) and [`send_unfenced`](Queue::send_unfenced) have no fence between
//!   their store and their load. Right under SC only, and wrong on x86. So in `nexus` (issue 428 of
//!   Abso1ut3Zer0/nexus), whose senders look with `SeqCst`, which does not help, and in `affinitypool` (issue 21 of
//!   surrealdb/affinitypool).
//! - [`send_by_swap`](Queue::send_by_swap) looks by a swap. Right under SC, TSO and PSO, where a swap waits for the
//!   link to be visible. Wrong under C11 alone: it orders the flag and not the link. So in `may` (pull request 126 of
//!   Xudong-Huang/may).

use std::ptr::{self, NonNull};

use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use rsmc_shim::sync::atomic::{AtomicBool, AtomicPtr, fence};
use rsmc_shim::thread::{self, Thread};

/// The queue, with the thread that receives.
pub struct Queue<T> {
    /// The node that was sent last, linked or not.
    last: AtomicPtr<Node<T>>,
    /// The node whose successor is received next; used by the receiver only.
    first: UnsafeCell<NonNull<Node<T>>>,
    /// Every node can be reached from it.
    oldest: NonNull<Node<T>>,
    receiver: Thread,
    /// The receiver sleeps, or is about to.
    sleeps: AtomicBool,
}

struct Node<T> {
    value: UnsafeCell<Option<T>>,
    next: AtomicPtr<Node<T>>,
}

// SAFETY: a value is handed from a sender to the receiver; nodes are freed with the queue only.
unsafe impl<T: Send> Send for Queue<T> {}
// SAFETY: as above. That one thread receives is up to the caller.
unsafe impl<T: Send> Sync for Queue<T> {}

impl<T> Queue<T> {
    /// An empty queue, from which the calling thread receives.
    pub fn new() -> Self {
        let stub = Node::boxed(None);
        let oldest = NonNull::new(stub).expect("boxes are not null");
        Self {
            last: AtomicPtr::new(stub),
            first: UnsafeCell::new(oldest),
            oldest,
            receiver: thread::current(),
            sleeps: AtomicBool::new(false),
        }
    }

    /// Sends a value, and wakes the receiver if it sleeps.
    pub fn send(&self, value: T) {
        self.push(value);
        fence(SeqCst);
        if self.sleeps.load(Relaxed) {
            self.receiver.unpark();
        }
    }

    /// As [`send`](Self::send), but broken: it may look before its value is visible.
    pub fn send_unfenced(&self, value: T) {
        self.push(value);
        if self.sleeps.load(SeqCst) {
            self.receiver.unpark();
        }
    }

    /// As [`send_unfenced`](Self::send_unfenced), and no better: a swap is not a fence.
    pub fn send_by_swap(&self, value: T) {
        self.push(value);
        if self.sleeps.swap(false, AcqRel) {
            self.receiver.unpark();
        }
    }

    /// Waits for a value. For the one receiver only, as the other functions here.
    pub fn receive(&self) -> T {
        self.wait_for(|| {
            fence(SeqCst);
            self.pop()
        })
    }

    /// As [`receive`](Self::receive), but broken: a value that comes before the receiver says that it sleeps is missed.
    pub fn receive_looking_once(&self) -> T {
        self.wait_for(|| None)
    }

    /// As [`receive`](Self::receive), but broken: it may look before others see that it is about to sleep.
    pub fn receive_unfenced(&self) -> T {
        self.wait_for(|| self.pop())
    }

    /// `look_again` is called between saying that the receiver sleeps and sleeping.
    fn wait_for(&self, look_again: impl Fn() -> Option<T>) -> T {
        loop {
            if let Some(value) = self.pop() {
                return value;
            }
            self.sleeps.store(true, Relaxed);
            let found = look_again();
            if found.is_none() {
                thread::park();
            }
            self.sleeps.store(false, Relaxed);
            if let Some(value) = found {
                return value;
            }
        }
    }

    fn push(&self, value: T) {
        let node = Node::boxed(Some(value));
        let before = self.last.swap(node, AcqRel);
        // SAFETY: nodes are freed with the queue only.
        unsafe { &*before }.next.store(node, Release);
    }

    /// The value in front; `None` if there is none, or the first is not linked yet.
    fn pop(&self) -> Option<T> {
        // SAFETY: there is one receiver.
        let first = self.first.with(|first| unsafe { *first });
        // SAFETY: nodes are freed with the queue only.
        let next = NonNull::new(unsafe { first.as_ref() }.next.load(Acquire))?;
        // SAFETY: there is one receiver.
        self.first.with_mut(|first| unsafe { *first = next });
        // SAFETY: nodes are freed with the queue only, and a node that is linked belongs to the receiver.
        unsafe { next.as_ref().value.with_mut(|value| (*value).take()) }
    }
}

impl<T> Node<T> {
    fn boxed(value: Option<T>) -> *mut Self {
        Box::into_raw(Box::new(Self { value: UnsafeCell::new(value), next: AtomicPtr::new(ptr::null_mut()) }))
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        let mut node = self.oldest.as_ptr();
        while !node.is_null() {
            // SAFETY: nobody else uses the queue any more, and a node has one predecessor.
            let mut oldest = unsafe { Box::from_raw(node) };
            node = *oldest.next.get_mut();
        }
    }
}

/// Two senders: all that they send is received.
pub fn correct() {
    all_is_received(&[1, 2], Queue::send, Queue::receive);
}

/// One sender.
pub fn correct_one_sender() {
    all_is_received(&[1], Queue::send, Queue::receive);
}

/// One sender, and a receiver that does not look again.
pub fn broken_looking_once() {
    all_is_received(&[1], Queue::send, Queue::receive_looking_once);
}

/// One sender, and a receiver without its fence. Right under SC.
pub fn broken_receive_unfenced() {
    all_is_received(&[1], Queue::send, Queue::receive_unfenced);
}

/// One sender without its fence. Right under SC.
pub fn broken_send_unfenced() {
    all_is_received(&[1], Queue::send_unfenced, Queue::receive);
}

/// One sender that swaps the flag. Right under SC, TSO and PSO.
pub fn broken_send_by_swap() {
    all_is_received(&[1], Queue::send_by_swap, Queue::receive);
}

fn all_is_received(values: &[u32], send: fn(&Queue<u32>, u32), receive: fn(&Queue<u32>) -> u32) {
    let queue = Queue::new();
    let mut received: Vec<u32> = thread::scope(|scope| {
        for &value in values {
            let queue = &queue;
            scope.spawn(move || send(queue, value));
        }
        values.iter().map(|_| receive(&queue)).collect()
    });
    received.sort_unstable();
    assert_eq!(received, values, "all that was sent is received");
}
