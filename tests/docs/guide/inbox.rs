use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::sync::atomic::{AtomicPtr, Ordering};
use std::ptr;

/// Letters that any thread posts, and that one thread takes all at once.
pub struct Inbox<T> {
    last: AtomicPtr<Letter<T>>,
}

struct Letter<T> {
    content: UnsafeCell<Option<T>>,
    before: UnsafeCell<*mut Letter<T>>,
}

// SAFETY: a letter belongs to the thread that posts it, and then to the one that takes it.
unsafe impl<T: Send> Send for Inbox<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Inbox<T> {}

impl<T> Inbox<T> {
    pub fn new() -> Self {
        Self { last: AtomicPtr::new(ptr::null_mut()) }
    }

    pub fn post(&self, content: T) {
        let content = UnsafeCell::new(Some(content));
        let letter = Box::into_raw(Box::new(Letter { content, before: UnsafeCell::new(ptr::null_mut()) }));
        let mut last = self.last.load(Ordering::Relaxed);
        loop {
            // SAFETY: nobody else knows the letter yet.
            unsafe { (*letter).before.with_mut(|before| *before = last) };
            match self.last.compare_exchange_weak(last, letter, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => last = now,
            }
        }
    }

    /// All letters that are there, the newest first.
    pub fn take(&self) -> Vec<T> {
        let (mut next, mut taken) = (self.last.swap(ptr::null_mut(), Ordering::Acquire), Vec::new());
        while !next.is_null() {
            // SAFETY: the letter came from a `Box`, and nobody finds it any more.
            let letter = unsafe { Box::from_raw(next) };
            // SAFETY: as above.
            taken.extend(letter.content.with_mut(|content| unsafe { (*content).take() }));
            // SAFETY: as above.
            next = letter.before.with(|before| unsafe { *before });
        }
        taken
    }
}

impl<T> Drop for Inbox<T> {
    fn drop(&mut self) {
        self.take();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rsmc_shim::thread;

    #[cfg_attr(any(), rsmc::test)]
    pub(crate) fn every_letter_is_taken_once() {
        let inbox = Inbox::new();
        let mut taken = thread::scope(|scope| {
            scope.spawn(|| inbox.post(1));
            scope.spawn(|| inbox.post(2));
            inbox.take()
        });
        taken.extend(inbox.take());
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
    }

    #[cfg_attr(any(), rsmc::test)]
    pub(crate) fn letters_of_one_thread_keep_their_order() {
        let inbox = Inbox::new();
        let taken = thread::scope(|scope| {
            scope.spawn(|| (1..=2).for_each(|number| inbox.post(number)));
            inbox.take()
        });
        assert!(matches!(taken[..], [] | [1] | [2, 1]));
    }

    #[cfg_attr(any(), rsmc::test)]
    pub(crate) fn two_takers_share_the_letters() {
        let inbox = Inbox::new();
        inbox.post(1);
        let mut taken = thread::scope(|scope| {
            let other = scope.spawn(|| inbox.take());
            inbox.post(2);
            [inbox.take(), other.join().unwrap()].concat()
        });
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
    }
}
