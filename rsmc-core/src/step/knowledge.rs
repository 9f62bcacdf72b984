//! The knowledge that an executor keeps from one run to the next, as data: several executors of one body can share it.

use serde::{Deserialize, Serialize};

use crate::base::{ThreadId, mix};
use crate::trace::Site;

/// The knowledge of an executor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knowledge {
    /// The threads, from id 1 on: the thread that spawned each, and which of its spawns that was. The list only grows.
    pub threads: Vec<(ThreadId, u32)>,
    /// The loops that wait.
    pub loops: WaitingLoops,
    /// The observations of the program so far.
    pub observed: Observed,
}

impl Knowledge {
    /// Whether it names threads as executors do: each after its parent, and after the earlier spawns of that parent.
    pub fn is_sound(&self) -> bool {
        let mut spawned = vec![0; self.threads.len() + 1];
        self.threads.iter().enumerate().all(|(before, &(parent, nth))| {
            let parent = parent.0 as usize;
            let is_next = parent <= before && spawned[parent] == nth;
            if is_next {
                spawned[parent] += 1;
            }
            is_next
        })
    }

    /// Adds the knowledge of another executor. Its threads may have other ids, if it has met them in another order.
    pub fn adopt(&mut self, other: &Knowledge) {
        let mut ids = vec![ThreadId::MAIN];
        for &(parent, nth) in &other.threads {
            let child = (ids[parent.0 as usize], nth);
            let at = self.threads.iter().position(|&known| known == child).unwrap_or_else(|| {
                self.threads.push(child);
                self.threads.len() - 1
            });
            ids.push(ThreadId(at as u32 + 1));
        }
        self.loops.join(&other.loops);
        self.observed.join(&other.observed);
    }
}

/// The loops of a program that wait, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingLoops {
    /// Whether there are any. Of a loop that only repeats an operation which failed without cause, no line is known.
    pub any: bool,
    /// The numbers ([`Observed::number_of`]) of the lines of operations before which threads wait.
    pub lines: Vec<u32>,
    /// The numbers of the places where locks were created at which threads look without waiting for them (`try_lock`):
    /// they see whether an iteration holds the lock that changes nothing.
    pub tried: Vec<u32>,
}

impl WaitingLoops {
    /// Whether threads look at a lock that was created at this place without waiting for it.
    pub fn is_tried(&self, created: Site) -> bool {
        !self.tried.is_empty() && self.tried.contains(&Observed::number_of(&created.to_string()))
    }

    fn join(&mut self, other: &WaitingLoops) {
        self.any |= other.any;
        other.lines.iter().for_each(|&line| note(&mut self.lines, line));
        other.tried.iter().for_each(|&lock| note(&mut self.tried, lock));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_were_met_in_another_order_keep_their_meaning() {
        let child = |parent, nth| (ThreadId(parent), nth);
        let knows = |threads: &[_]| Knowledge { threads: threads.to_vec(), ..Knowledge::default() };
        let mut ours = knows(&[child(0, 0), child(0, 1)]);
        // Theirs: the first child of the body's second child, which has id 3 here and has no id there but 1.
        ours.adopt(&knows(&[child(0, 1), child(1, 0)]));
        assert_eq!(ours.threads, [child(0, 0), child(0, 1), child(2, 0)]);
        ours.adopt(&knows(&[child(0, 0), child(1, 0)]));
        assert_eq!(ours.threads, [child(0, 0), child(0, 1), child(2, 0), child(1, 0)]);
    }
}

/// The observations of a program. An event that the program observes is a step, and otherwise none; so executors have
/// to know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// Whether the program observes that other threads have ended.
    pub ends: bool,
    /// The numbers of the types of `Arc`s whose reference counts the program observes, and of the lines at which loops
    /// keep state where rsmc does not see it.
    pub counts: Vec<u32>,
}

impl Observed {
    /// The number of a type or line, by its name: the same in every process, so that a seed can hold it.
    pub fn number_of(type_name: &str) -> u32 {
        type_name.bytes().fold(0, |hash, byte| mix(hash, u64::from(byte))) as u32
    }

    /// Whether the counts of `Arc`s of any type may be observed.
    #[inline]
    pub fn has_counts(&self) -> bool {
        !self.counts.is_empty()
    }

    /// Whether the counts of `Arc`s of this type are observed.
    #[inline]
    pub fn has_counts_of(&self, type_name: &str) -> bool {
        !self.counts.is_empty() && self.counts.contains(&Self::number_of(type_name))
    }

    /// Notes that the counts of `Arc`s of this type are observed.
    pub fn note_counts_of(&mut self, type_name: &str) {
        note(&mut self.counts, Self::number_of(type_name));
    }

    /// Whether loops at this line keep state where rsmc does not see it.
    pub fn hides(&self, site: Site) -> bool {
        !self.counts.is_empty() && self.counts.contains(&Self::number_of(&site.to_string()))
    }

    /// Notes that a loop at this line keeps state where rsmc does not see it.
    pub fn note_hiding(&mut self, site: Site) {
        note(&mut self.counts, Self::number_of(&site.to_string()));
    }

    /// Adds the observations of `other`.
    pub fn join(&mut self, other: &Observed) {
        self.ends |= other.ends;
        other.counts.iter().for_each(|&number| note(&mut self.counts, number));
    }
}

/// Adds a number to a list that may have it.
fn note(numbers: &mut Vec<u32>, number: u32) {
    if !numbers.contains(&number) {
        numbers.push(number);
    }
}
