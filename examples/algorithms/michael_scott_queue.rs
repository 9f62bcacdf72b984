//! Michael and Scott's queue: a linked list with a dummy node in front, whose tail may lag one node behind.
//!
//! Source. M. M. Michael, M. L. Scott, *Simple, Fast, and Practical Non-Blocking and Blocking Concurrent Queue
//! Algorithms*, PODC 1996, figure 1. Nodes are kept until the queue is dropped, so its counted pointers are not needed.
//!
//! The mistakes:
//!
//! - [`enqueue_at_tail`](MichaelScottQueue::enqueue_at_tail) trusts that the tail is the last node. Two threads that
//!   read the same tail link their nodes at the same place, and the first element is lost.
//! - [`enqueue_tail_first`](MichaelScottQueue::enqueue_tail_first) moves the tail before it links the node. Until the
//!   node is linked, everything that others have enqueued behind it is out of reach: a thread can enqueue an element
//!   and then find the queue empty.
//! - [`enqueue_relaxed`](MichaelScottQueue::enqueue_relaxed) moves the tail in `Relaxed` order. A thread that finds the
//!   new node there does not know that it has been made.

use std::ptr::{self, NonNull};

use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::sync::atomic::AtomicPtr;
use rsmc_shim::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};
use rsmc_shim::thread;

/// A first-in, first-out queue that any number of threads may use at once.
pub struct MichaelScottQueue<T> {
    /// The dummy node: its successor holds the next element.
    head: AtomicPtr<Node<T>>,
    /// The last node or the one before it.
    tail: AtomicPtr<Node<T>>,
    /// The node that was the dummy at the start: every node ever linked can be reached from it.
    first: NonNull<Node<T>>,
}

struct Node<T> {
    value: UnsafeCell<Option<T>>,
    next: AtomicPtr<Node<T>>,
}

// SAFETY: values are handed from thread to thread, never shared; nodes are freed with the queue only.
unsafe impl<T: Send> Send for MichaelScottQueue<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for MichaelScottQueue<T> {}

impl<T> MichaelScottQueue<T> {
    /// An empty queue.
    pub fn new() -> Self {
        let dummy = Node::boxed(None);
        let first = NonNull::new(dummy).expect("boxes are not null");
        Self { head: AtomicPtr::new(dummy), tail: AtomicPtr::new(dummy), first }
    }

    /// Appends a value.
    pub fn enqueue(&self, value: T) {
        self.enqueue_by(Release, value);
    }

    /// As [`enqueue`](Self::enqueue), but broken: the tail hands nodes on without an order.
    pub fn enqueue_relaxed(&self, value: T) {
        self.enqueue_by(Relaxed, value);
    }

    /// Appends a value, and moves the tail in this order.
    fn enqueue_by(&self, order: Ordering, value: T) {
        let node = Node::boxed(Some(value));
        loop {
            let tail = self.tail.load(Acquire);
            let next = self.next_of(tail).load(Acquire);
            if !next.is_null() {
                // Someone has linked a node and not moved the tail yet: help.
                self.move_tail(tail, next, order);
            } else if self.next_of(tail).compare_exchange(ptr::null_mut(), node, Release, Relaxed).is_ok() {
                self.move_tail(tail, node, order);
                return;
            }
        }
    }

    /// As [`enqueue`](Self::enqueue), but broken: nobody looks whether the tail has a successor already.
    pub fn enqueue_at_tail(&self, value: T) {
        let node = Node::boxed(Some(value));
        let tail = self.tail.load(Acquire);
        self.next_of(tail).store(node, Release);
        self.move_tail(tail, node, Release);
    }

    /// As [`enqueue`](Self::enqueue), but broken: the tail is moved first.
    pub fn enqueue_tail_first(&self, value: T) {
        let node = Node::boxed(Some(value));
        let tail = self.tail.swap(node, AcqRel);
        self.next_of(tail).store(node, Release);
    }

    /// Takes the value in front.
    pub fn dequeue(&self) -> Option<T> {
        loop {
            let head = self.head.load(Acquire);
            let tail = self.tail.load(Acquire);
            let next = NonNull::new(self.next_of(head).load(Acquire))?;
            if head == tail {
                // The tail must not be left behind the head: help.
                self.move_tail(tail, next.as_ptr(), Release);
            } else if self.head.compare_exchange(head, next.as_ptr(), Release, Relaxed).is_ok() {
                // SAFETY: nodes are freed with the queue only, and the compare-exchange gave this value to one thread.
                return unsafe { next.as_ref().value.with_mut(|value| (*value).take()) };
            }
        }
    }

    fn move_tail(&self, from: *mut Node<T>, to: *mut Node<T>, order: Ordering) {
        // If it fails, another thread has done it.
        self.tail.compare_exchange(from, to, order, Relaxed).ok();
    }

    /// The link behind a node that was the head or the tail once.
    fn next_of(&self, node: *mut Node<T>) -> &AtomicPtr<Node<T>> {
        // SAFETY: head and tail point to nodes of this queue, which are freed with it only.
        unsafe { &(*node).next }
    }
}

impl<T> Node<T> {
    fn boxed(value: Option<T>) -> *mut Self {
        Box::into_raw(Box::new(Self { value: UnsafeCell::new(value), next: AtomicPtr::new(ptr::null_mut()) }))
    }
}

impl<T> Drop for MichaelScottQueue<T> {
    fn drop(&mut self) {
        let mut node = self.first.as_ptr();
        while !node.is_null() {
            // SAFETY: nobody else uses the queue any more, and a node has one predecessor.
            let mut last = unsafe { Box::from_raw(node) };
            node = *last.next.get_mut();
        }
    }
}

/// A producer, and a thread that enqueues and dequeues: nothing is lost or doubled, the producer's elements stay in
/// order, and a thread that has enqueued finds something to dequeue.
pub fn correct() {
    is_a_queue(MichaelScottQueue::enqueue);
}

/// The same with an `enqueue` that trusts the tail.
pub fn broken_at_tail() {
    is_a_queue(MichaelScottQueue::enqueue_at_tail);
}

/// The same with an `enqueue` that moves the tail first.
pub fn broken_tail_first() {
    is_a_queue(MichaelScottQueue::enqueue_tail_first);
}

/// The same with an `enqueue` whose tail hands nodes on without an order.
pub fn broken_relaxed() {
    is_a_queue(MichaelScottQueue::enqueue_relaxed);
}

fn is_a_queue(enqueue: fn(&MichaelScottQueue<u32>, u32)) {
    let queue = MichaelScottQueue::new();
    let mut taken = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            enqueue(&queue, 1);
            enqueue(&queue, 2);
        });
        enqueue(&queue, 10);
        taken.push(queue.dequeue().expect("the queue is empty after an `enqueue`"));
    });
    taken.extend(std::iter::from_fn(|| queue.dequeue()));
    let of_producer: Vec<u32> = taken.iter().copied().filter(|&value| value != 10).collect();
    assert_eq!(of_producer, [1, 2], "elements of one producer, in order");
    assert_eq!(taken.len(), 3, "three elements were enqueued: {taken:?}");
}
