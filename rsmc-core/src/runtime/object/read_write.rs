//! The claims that have a reader-writer lock, and those that wait for it.
//!
//! First come, first served, with hand-over: a claim that cannot have the lock at once queues, and a claim that gives
//! the lock back hands it to the next writer, or to all readers at the head of the queue. So no claim overtakes a
//! writer that waits. Explorers order arrivals in every way, and thereby grants: a claim that gets the lock later may
//! as well come later.

use std::collections::VecDeque;

/// The mode in which a lock is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To read, with other readers.
    Read,
    /// To write, alone.
    Write,
}

/// A claim to the lock. It has the least number that no other has at that time, so that a thread that gets the lock
/// again and again has the same claim each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    number: u32,
    mode: Mode,
}

/// The state of a reader-writer lock.
#[derive(Clone, Debug, Default)]
pub struct ReadWrite {
    /// Several readers, or one writer.
    holders: Vec<Claim>,
    /// Oldest first; empty if no claim has the lock.
    waiting: VecDeque<Claim>,
}

impl ReadWrite {
    /// Makes a claim, which gets the lock, or queues.
    pub fn come(&mut self, mode: Mode) -> Claim {
        let all = || self.holders.iter().chain(&self.waiting);
        let number = (0..).find(|&number| all().all(|claim| claim.number != number)).expect("claims are finite");
        let claim = Claim { number, mode };
        if self.is_open(mode) {
            self.holders.push(claim);
        } else {
            self.waiting.push_back(claim);
        }
        claim
    }

    /// Makes a claim if it gets the lock at once.
    pub fn try_come(&mut self, mode: Mode) -> Option<Claim> {
        self.is_open(mode).then(|| self.come(mode))
    }

    /// Whether a claim was granted and is not given back.
    pub fn has(&self, claim: Claim) -> bool {
        self.holders.contains(&claim)
    }

    /// Gives the lock back, or leaves the queue; not to be done twice with a claim. Returns the claims that get the
    /// lock thereby.
    pub fn leave(&mut self, claim: Claim) -> Vec<Claim> {
        self.holders.retain(|&other| other != claim);
        self.waiting.retain(|&other| other != claim);
        self.grant()
    }

    /// Turns a claim that has the lock to write into one to read, with no other claim in between; does nothing if it
    /// has no lock. Returns the claim as it is then, and the claims that get the lock thereby.
    pub fn downgrade(&mut self, claim: Claim) -> (Claim, Vec<Claim>) {
        let Some(holder) = self.holders.iter_mut().find(|holder| **holder == claim) else { return (claim, Vec::new()) };
        holder.mode = Mode::Read;
        (*holder, self.grant())
    }

    /// Gives the lock to those at the head of the queue that may have it.
    fn grant(&mut self) -> Vec<Claim> {
        let mut granted = Vec::new();
        while let Some(&next) = self.waiting.front()
            && admits(&self.holders, next.mode)
        {
            self.waiting.pop_front();
            self.holders.push(next);
            granted.push(next);
        }
        granted
    }

    /// Whether a newcomer gets the lock at once.
    fn is_open(&self, mode: Mode) -> bool {
        self.waiting.is_empty() && admits(&self.holders, mode)
    }
}

/// Whether the lock may be granted besides these.
fn admits(holders: &[Claim], mode: Mode) -> bool {
    holders.is_empty() || mode == Mode::Read && holders.iter().all(|holder| holder.mode == Mode::Read)
}

#[cfg(test)]
mod tests {
    use super::Mode::{Read, Write};
    use super::*;

    #[test]
    fn readers_share_and_writers_are_alone() {
        let mut lock = ReadWrite::default();
        let readers = [lock.come(Read), lock.come(Read)];
        assert!(readers.iter().all(|&reader| lock.has(reader)));
        assert_eq!(lock.try_come(Write), None);
        let late = lock.try_come(Read).unwrap();
        assert!(readers.into_iter().chain([late]).all(|reader| lock.leave(reader).is_empty()));
        let writer = lock.try_come(Write).unwrap();
        assert!(lock.has(writer) && lock.try_come(Read).is_none() && lock.try_come(Write).is_none());
    }

    #[test]
    fn a_writer_that_waits_keeps_readers_out() {
        let mut lock = ReadWrite::default();
        let (reader, writer) = (lock.come(Read), lock.come(Write));
        assert_eq!(lock.try_come(Read), None);
        let late = lock.come(Read);
        assert!(lock.has(reader) && !lock.has(writer) && !lock.has(late));
        assert_eq!(lock.leave(reader), [writer]);
        assert!(lock.has(writer) && !lock.has(late));
        assert_eq!(lock.leave(writer), [late]);
    }

    #[test]
    fn the_lock_goes_to_the_next_writer_or_to_all_readers_before_it() {
        let mut lock = ReadWrite::default();
        let first = lock.come(Write);
        let [a, b, writer, c, last] = [Read, Read, Write, Read, Write].map(|mode| lock.come(mode));
        assert_eq!(lock.leave(first), [a, b]);
        assert_eq!(lock.leave(b), []);
        assert_eq!(lock.leave(a), [writer]);
        assert_eq!(lock.leave(writer), [c]);
        assert_eq!(lock.leave(c), [last]);
        assert_eq!(lock.leave(last), []);
        assert!(lock.try_come(Write).is_some());
    }

    #[test]
    fn a_writer_that_goes_on_as_a_reader_lets_readers_in() {
        let mut lock = ReadWrite::default();
        let writer = lock.come(Write);
        let [a, b, next, late] = [Read, Read, Write, Read].map(|mode| lock.come(mode));
        let (reader, granted) = lock.downgrade(writer);
        assert_eq!(granted, [a, b]);
        assert!(lock.has(reader) && !lock.has(writer) && !lock.has(next) && !lock.has(late));
        assert_eq!(lock.downgrade(writer), (writer, vec![]));
        assert_eq!(lock.downgrade(reader), (reader, vec![]));
        assert_eq!([a, b].map(|claim| lock.leave(claim)), [vec![], vec![]]);
        assert_eq!(lock.leave(reader), [next]);
        assert_eq!(lock.downgrade(next).1, [late]);
    }

    #[test]
    fn leaving_twice_is_leaving_once() {
        let mut lock = ReadWrite::default();
        let (one, two) = (lock.come(Write), lock.come(Write));
        assert_eq!(lock.leave(one), [two]);
        assert_eq!(lock.leave(one), []);
        assert!(lock.has(two) && !lock.has(one));
    }

    /// A writer that goes away lets readers behind it join those that have the lock.
    #[test]
    fn who_leaves_the_queue_lets_others_pass() {
        let mut lock = ReadWrite::default();
        let (reader, writer) = (lock.come(Read), lock.come(Write));
        let late = lock.come(Read);
        assert_eq!(lock.leave(writer), [late]);
        assert!(lock.has(reader) && lock.has(late) && !lock.has(writer));
        assert_eq!((lock.leave(reader), lock.leave(late)), (vec![], vec![]));
    }

    /// After any operations, no writer is beside another holder, no claim waits that could be granted, and the queue
    /// keeps its order.
    #[test]
    fn all_short_histories() {
        fn explore(lock: &ReadWrite, known: &[Claim], left: u32) -> u32 {
            let writers = lock.holders.iter().filter(|claim| claim.mode == Write).count();
            assert!(writers == 0 || lock.holders.len() == 1);
            assert!(lock.waiting.front().is_none_or(|next| !admits(&lock.holders, next.mode)));
            let waiting = known.iter().filter(|claim| lock.waiting.contains(claim));
            assert!(waiting.eq(&lock.waiting), "first come, first served");
            assert_eq!(known.len(), lock.holders.len() + lock.waiting.len(), "no two claims are the same");
            if left == 0 {
                return 1;
            }
            let mut histories = 0;
            for mode in [Read, Write] {
                let mut lock = lock.clone();
                let known: Vec<Claim> = known.iter().copied().chain([lock.come(mode)]).collect();
                histories += explore(&lock, &known, left - 1);
            }
            for (at, &claim) in known.iter().enumerate() {
                let (mut lock, mut known) = (lock.clone(), known.to_vec());
                known.remove(at);
                let waited = lock.waiting.contains(&claim);
                let granted = lock.leave(claim);
                assert!(granted.iter().all(|&other| lock.has(other)) && !lock.has(claim));
                assert!(waited || granted.is_empty() || lock.holders == granted, "hand-over is to those alone");
                histories += explore(&lock, &known, left - 1);
            }
            for (at, &claim) in known.iter().enumerate().filter(|(_, claim)| lock.has(**claim)) {
                let (mut lock, mut known) = (lock.clone(), known.to_vec());
                let (reads, granted) = lock.downgrade(claim);
                assert!(lock.has(reads) && granted.iter().all(|&other| lock.has(other) && other.mode == Read));
                known[at] = reads;
                histories += explore(&lock, &known, left - 1);
            }
            histories
        }
        assert!(explore(&ReadWrite::default(), &[], 7) > 10_000);
    }
}
