//! Treiber's stack: a linked list whose head is moved by compare-and-swap.
//!
//! Source. R. K. Treiber, *Systems Programming: Coping with Parallelism*, IBM RJ 5118, 1986.
//!
//! A popped node may still be looked at by a slower `pop`, so it is kept until the stack is dropped; real
//! implementations use hazard pointers or epochs here. Kept nodes also rule out the ABA problem.
//!
//! The mistake, [`push_once`](TreiberStack::push_once): a compare-and-swap that is not tried again when it fails.
//! Whenever another thread moves the head between the load and the swap, the new element is lost.

use std::ptr::{self, NonNull};

use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::sync::atomic::AtomicPtr;
use rsmc_shim::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use rsmc_shim::thread;

/// A stack that any number of threads may use at once.
pub struct TreiberStack<T> {
    head: AtomicPtr<Node<T>>,
    /// The nodes that were popped. Std's own lock: memory management is not what a check should order.
    retired: std::sync::Mutex<Vec<NonNull<Node<T>>>>,
}

struct Node<T> {
    value: UnsafeCell<Option<T>>,
    /// Written by the pusher before the node is published, read-only afterwards.
    next: UnsafeCell<*mut Node<T>>,
}

// SAFETY: values are handed from thread to thread, never shared; nodes are freed with the stack only.
unsafe impl<T: Send> Send for TreiberStack<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for TreiberStack<T> {}

impl<T> TreiberStack<T> {
    /// An empty stack.
    pub fn new() -> Self {
        Self { head: AtomicPtr::new(ptr::null_mut()), retired: std::sync::Mutex::default() }
    }

    /// Puts a value on top.
    pub fn push(&self, value: T) {
        let node = Node::boxed(value);
        let mut head = self.head.load(Relaxed);
        loop {
            // SAFETY: the node is ours until the compare-exchange below publishes it.
            unsafe { (*node).next.with_mut(|next| *next = head) };
            match self.head.compare_exchange_weak(head, node, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// As [`push`](Self::push), but broken: nobody looks whether the compare-exchange succeeded.
    pub fn push_once(&self, value: T) {
        let node = Node::boxed(value);
        let head = self.head.load(Relaxed);
        // SAFETY: the node is ours until the compare-exchange below publishes it.
        unsafe { (*node).next.with_mut(|next| *next = head) };
        self.head.compare_exchange(head, node, Release, Relaxed).ok();
    }

    /// Takes the value on top.
    pub fn pop(&self) -> Option<T> {
        let mut head = self.head.load(Acquire);
        loop {
            let node = NonNull::new(head)?;
            // SAFETY: nodes that were the head once are freed with the stack only, and nobody writes `next` any more.
            let next = unsafe { node.as_ref().next.with(|next| *next) };
            match self.head.compare_exchange_weak(head, next, Acquire, Acquire) {
                Ok(_) => {
                    // SAFETY: the compare-exchange took the node out, and it does so for one thread only.
                    let value = unsafe { node.as_ref().value.with_mut(|value| (*value).take()) };
                    self.retired.lock().expect("nobody panics with it").push(node);
                    return value;
                }
                Err(now) => head = now,
            }
        }
    }
}

impl<T> Node<T> {
    fn boxed(value: T) -> *mut Self {
        Box::into_raw(Box::new(Self { value: UnsafeCell::new(Some(value)), next: UnsafeCell::new(ptr::null_mut()) }))
    }
}

impl<T> Drop for TreiberStack<T> {
    fn drop(&mut self) {
        let mut head = *self.head.get_mut();
        while !head.is_null() {
            // SAFETY: nobody else uses the stack any more, and a node is in the list or retired, never both.
            let mut node = unsafe { Box::from_raw(head) };
            head = *node.next.get_mut();
        }
        for node in self.retired.get_mut().expect("nobody panics with it").drain(..) {
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(node.as_ptr()) });
        }
    }
}

/// Two threads push while the test body pops: every element comes out, and only once.
pub fn correct() {
    nothing_is_lost(TreiberStack::push);
}

/// The same with the broken `push`.
pub fn broken() {
    nothing_is_lost(TreiberStack::push_once);
}

fn nothing_is_lost(push: fn(&TreiberStack<u32>, u32)) {
    let stack = TreiberStack::new();
    let mut popped = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| push(&stack, 1));
        scope.spawn(|| push(&stack, 2));
        popped.extend(stack.pop());
    });
    popped.extend(std::iter::from_fn(|| stack.pop()));
    popped.sort_unstable();
    assert_eq!(popped, [1, 2], "two elements were pushed");
}
