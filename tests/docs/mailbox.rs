//! Room for one letter, which one thread posts and another one takes.

use rsmc_shim::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Room for one letter.
#[derive(Default)]
pub struct Mailbox {
    letter: AtomicU32,
    posted: AtomicBool,
}

impl Mailbox {
    /// Puts the letter in, then says that it is there.
    pub fn post(&self, letter: u32) {
        self.letter.store(letter, Ordering::Relaxed);
        self.posted.store(true, Ordering::Relaxed);
    }

    /// The letter, if it is there.
    pub fn take(&self) -> Option<u32> {
        let posted = self.posted.load(Ordering::Acquire);
        posted.then(|| self.letter.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rsmc_shim::thread;

    #[cfg_attr(any(), rsmc::test)]
    pub(crate) fn the_letter_arrives() {
        let mailbox = Mailbox::default();
        thread::scope(|scope| {
            scope.spawn(|| mailbox.post(7));
            if let Some(letter) = mailbox.take() {
                assert_eq!(letter, 7);
            }
        });
    }
}
