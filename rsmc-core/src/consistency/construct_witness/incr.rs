//! Heuristic-INCR: the order of an earlier run, with one new event put in where it fits.
//!
//! Problem. Find a witness quickly, where there is one that looks like the run from which the events come.
//!
//! Algorithm. Play the guide up to each point at which the new event may happen; if it fits there, play the rest
//! behind it, and accept if every read finds a good write.
//!
//! Cost. O(n) for each point at which the new event fits; a plain read needs one.
//!
//! Source. ViewXplore (diploma thesis, 2025), 5.3, algorithm 5.
//!
//! Deviation. The thesis completes the relations of the earlier run (reads-from, coherence) and sorts the result; here
//! the sequence is kept. It answers less often, and each answer costs less.

use crate::consistency::{Instance, Move};

/// A witness in which the last event of the instance stands somewhere in the guide, appended to `witness`; false if
/// none was found, which says nothing.
pub fn incr(instance: &Instance, guide: &[Move], witness: &mut Vec<Move>) -> bool {
    let new = instance.items.len() - 1;
    let mut before = Player::new(instance);
    for at in 0..=guide.len() {
        if before.may(new) && before.fits(new) {
            let mut after = before.clone();
            after.make(Move::Perform(new));
            if guide[at..].iter().all(|&step| after.play(step)) {
                witness.extend_from_slice(&guide[..at]);
                witness.push(Move::Perform(new));
                witness.extend_from_slice(&guide[at..]);
                return true;
            }
        }
        match guide.get(at) {
            Some(&step) if before.play(step) => {}
            _ => return false,
        }
    }
    false
}

/// Plays moves.
#[derive(Clone)]
struct Player<'a> {
    instance: &'a Instance,
    performed: Vec<bool>,
    /// The stores that wait, oldest first.
    waiting: Vec<usize>,
    /// By location: what is in memory.
    memory: Vec<Option<usize>>,
}

impl<'a> Player<'a> {
    fn new(instance: &'a Instance) -> Self {
        let performed = vec![false; instance.items.len()];
        Self { instance, performed, waiting: Vec::new(), memory: vec![None; instance.locs] }
    }

    /// Whether everything that must be before an event is there.
    fn may(&self, event: usize) -> bool {
        let performed = |&(before, after): &(u32, u32)| after as usize != event || self.performed[before as usize];
        let flushed = |&(store, after): &(u32, u32)| {
            after as usize != event || (self.performed[store as usize] && !self.waiting.contains(&(store as usize)))
        };
        self.instance.edges.iter().all(performed) && self.instance.fences.iter().all(flushed)
    }

    /// Whether an event finds a good write, if it reads.
    fn fits(&self, event: usize) -> bool {
        let item = &self.instance.items[event];
        if !item.reads {
            return true;
        }
        let own = |&&store: &&usize| {
            let other = &self.instance.items[store];
            other.thread == item.thread && other.loc == item.loc
        };
        let found = self.waiting.iter().rfind(own).copied().or(self.memory[item.loc.0 as usize]);
        self.instance.is_good(event, found)
    }

    /// Makes a move of the guide; false if a read finds a wrong value.
    fn play(&mut self, step: Move) -> bool {
        let fits = match step {
            Move::Perform(event) => self.fits(event),
            Move::Flush(_) => true,
        };
        self.make(step);
        fits
    }

    fn make(&mut self, step: Move) {
        match step {
            Move::Perform(event) => {
                let item = &self.instance.items[event];
                self.performed[event] = true;
                if item.buffered {
                    self.waiting.push(event);
                } else if item.writes {
                    self.memory[item.loc.0 as usize] = Some(event);
                }
            }
            Move::Flush(store) => {
                self.waiting.retain(|&other| other != store);
                self.memory[self.instance.items[store].loc.0 as usize] = Some(store);
            }
        }
    }
}
