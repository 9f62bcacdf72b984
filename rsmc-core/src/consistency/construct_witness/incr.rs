//! Heuristic-INCR: the order of an earlier run, with one new event put in where it fits.
//!
//! Problem. Find a witness quickly, where there is one that looks like the run from which the events come.
//!
//! Algorithm. Play the guide once, and note what every read of it finds, and what the new event would find at each
//! point. From the end, find the points behind which the rest can be played although the new event has written; take
//! the first at which the new event may happen, finds a good write, and every read before it has found one.
//!
//! Cost. O(n + edges + good writes), and the search of a buffer for every read by its thread.
//!
//! Source. Stamos, "Optimal Exploration of Sequentially Consistent Executions of Concurrent Programs under View
//! Equivalence" (thesis, NTUA 2025), 5.3, algorithm 5.
//!
//! Deviation. The thesis completes the relations of the earlier run (reads-from, coherence) and sorts the result; here
//! the sequence is kept. It answers less often, and each answer costs less.

use crate::base::{BitSet, LocId, ThreadId};
use crate::consistency::instance::INIT;
use crate::consistency::{Instance, Move};

/// A witness in which the last event of the instance stands somewhere in the guide, appended to `witness`; false if
/// none was found, which says nothing. The last event does not go through a buffer.
pub fn incr(instance: &Instance, guide: &[Move], witness: &mut Vec<Move>) -> bool {
    Incr::default().find(instance, guide, witness)
}

/// The heuristic; keeps its memory from one question to the next. A *point* is a place in the guide: before the move
/// there, or after all.
#[derive(Clone, Debug, Default)]
pub(super) struct Incr {
    /// By location: the write in memory.
    memory: Vec<u32>,
    /// The stores that wait, oldest first.
    waiting: Vec<u32>,
    /// By event: the points from which on it is performed, and from which on what it writes is in memory.
    performed: Vec<u32>,
    visible: Vec<u32>,
    /// By event: the write that it finds when the guide is played.
    found: Vec<u32>,
    /// The events that find a store that still waits.
    forwarded: BitSet,
    /// By point: the write that the new event finds there.
    offered: Vec<u32>,
    /// The events that find a good write, or do not read.
    fits: BitSet,
    /// The events for which the new event's write is good.
    takes_new: BitSet,
    /// The writes that are good for the new event.
    good: BitSet,
    /// The points behind which the rest can be played.
    open: BitSet,
}

/// Not in the guide.
const NEVER: u32 = u32::MAX;

impl Incr {
    /// As [`incr`].
    pub(super) fn find(&mut self, instance: &Instance, guide: &[Move], witness: &mut Vec<Move>) -> bool {
        self.play(instance, guide);
        self.judge(instance);
        self.find_open(instance, guide);
        let Some(point) = self.first_point(instance, guide) else { return false };
        witness.extend_from_slice(&guide[..point]);
        witness.push(Move::Perform(instance.items.len() - 1));
        witness.extend_from_slice(&guide[point..]);
        true
    }

    fn start(&mut self, instance: &Instance) {
        let n = instance.items.len();
        self.waiting.clear();
        self.offered.clear();
        for (list, len, fill) in [
            (&mut self.memory, instance.locs, INIT),
            (&mut self.found, n, INIT),
            (&mut self.performed, n, NEVER),
            (&mut self.visible, n, NEVER),
        ] {
            list.clear();
            list.resize(len, fill);
        }
        for set in [&mut self.forwarded, &mut self.fits, &mut self.takes_new, &mut self.good] {
            set.reset(n);
        }
    }

    /// Plays the guide, whatever its reads find.
    fn play(&mut self, instance: &Instance, guide: &[Move]) {
        self.start(instance);
        let new = instance.items[instance.items.len() - 1];
        for (point, &step) in guide.iter().enumerate() {
            self.offered.push(self.view(instance, new.thread, new.loc).0);
            match step {
                Move::Perform(event) => self.perform(instance, event, point as u32 + 1),
                Move::Flush(store) => {
                    self.waiting.retain(|&other| other as usize != store);
                    self.reach_memory(instance, store, point as u32 + 1);
                }
            }
        }
        self.offered.push(self.view(instance, new.thread, new.loc).0);
    }

    fn perform(&mut self, instance: &Instance, event: usize, point: u32) {
        let item = &instance.items[event];
        self.performed[event] = point;
        if item.reads {
            let (found, own) = self.view(instance, item.thread, item.loc);
            self.found[event] = found;
            if own {
                self.forwarded.insert(event);
            }
        }
        if item.buffered {
            self.waiting.push(event as u32);
        } else if item.writes {
            self.reach_memory(instance, event, point);
        }
    }

    fn reach_memory(&mut self, instance: &Instance, write: usize, point: u32) {
        self.memory[instance.items[write].loc.0 as usize] = write as u32;
        self.visible[write] = point;
    }

    /// The write that a thread finds, and whether it is a store of its own that waits.
    fn view(&self, instance: &Instance, thread: ThreadId, loc: LocId) -> (u32, bool) {
        let own = |&&store: &&u32| {
            let other = &instance.items[store as usize];
            other.thread == thread && other.loc == loc
        };
        match self.waiting.iter().rfind(own) {
            Some(&store) => (store, true),
            None => (self.memory[loc.0 as usize], false),
        }
    }

    /// Finds the events that find a good write, those for which the new event's write is good, and the writes that are
    /// good for the new event.
    fn judge(&mut self, instance: &Instance) {
        let new = instance.items.len() - 1;
        for (event, item) in instance.items.iter().enumerate() {
            if !item.reads || (self.found[event] == INIT && instance.init_good[event]) {
                self.fits.insert(event);
            }
        }
        for &(read, write) in &instance.goods {
            if self.found[read as usize] == write {
                self.fits.insert(read as usize);
            }
            if write as usize == new {
                self.takes_new.insert(read as usize);
            }
            if read as usize == new {
                self.good.insert(write as usize);
            }
        }
    }

    /// Finds the points behind which the rest can be played.
    fn find_open(&mut self, instance: &Instance, guide: &[Move]) {
        let new = instance.items[instance.items.len() - 1];
        self.open.reset(guide.len() + 1);
        self.open.insert(guide.len());
        // Whether the rest can be played where the new event has not changed memory, and where it has.
        let (mut as_it_was, mut changed) = (true, true);
        for (point, &step) in guide.iter().enumerate().rev() {
            let (event, reads) = match step {
                Move::Perform(event) => (event, instance.items[event].reads),
                Move::Flush(store) => (store, false),
            };
            let item = &instance.items[event];
            let from_new = reads && item.loc == new.loc && !self.forwarded.contains(event);
            let fits = !reads || self.fits.contains(event);
            let fits_changed = if from_new { self.takes_new.contains(event) } else { fits };
            let overwrites = item.loc == new.loc && self.visible[event] == point as u32 + 1;
            changed = fits_changed && if overwrites { as_it_was } else { changed };
            as_it_was &= fits;
            let open = if new.writes { changed } else { as_it_was };
            if open {
                self.open.insert(point);
            }
        }
    }

    /// The first point at which the new event can be put in.
    fn first_point(&self, instance: &Instance, guide: &[Move]) -> Option<usize> {
        let new = instance.items.len() - 1;
        let of_new = |list: &[(u32, u32)], points: &[u32]| {
            let before = list.iter().filter(|&&(_, after)| after as usize == new);
            before.map(|&(before, _)| points[before as usize]).max().unwrap_or(0)
        };
        let from = of_new(&instance.edges, &self.performed).max(of_new(&instance.fences, &self.visible));
        let fails = |&step: &Move| matches!(step, Move::Perform(event) if !self.fits.contains(event));
        let to = guide.iter().position(fails).unwrap_or(guide.len());
        let finds_good = |&point: &usize| match self.offered[point] {
            _ if !instance.items[new].reads => true,
            INIT => instance.init_good[new],
            write => self.good.contains(write as usize),
        };
        (from as usize..=to).filter(|&point| self.open.contains(point)).find(finds_good)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::mix;
    use crate::consistency::{Shape, check_witness};
    use crate::model::MemoryModel;

    /// A random run under TSO of three threads on two locations, one new read or update, and good writes that the run
    /// mostly, but not always, finds.
    fn draw(seed: u64) -> (Instance, Vec<Move>) {
        let mut state = seed;
        let mut below = |bound: u64| {
            state = mix(state, seed + 1);
            state % bound
        };
        let (mut instance, mut guide) = (Instance::default(), Vec::new());
        let mut threads: [(Option<usize>, Vec<usize>, Vec<usize>); 3] = Default::default();
        let mut memory = [None; 2];
        let count = 3 + below(8) as usize;
        while instance.len() <= count {
            let at = below(3) as usize;
            let is_new = instance.len() == count;
            let (last, waiting, stored) = &mut threads[at];
            if !is_new && !waiting.is_empty() && below(2) == 0 {
                let store = waiting.remove(0);
                memory[instance.items[store].loc.0 as usize] = Some(store);
                guide.push(Move::Flush(store));
                continue;
            }
            let kind = if is_new { 2 + below(2) } else { below(if waiting.is_empty() { 4 } else { 3 }) };
            let loc = LocId(below(2) as u32);
            // A buffered store, a store, a read or an update.
            let shape = Shape { buffered: kind == 0, ..Shape::direct(loc, kind >= 2, kind != 2) };
            let shape = if kind == 1 && !waiting.is_empty() { Shape { buffered: true, ..shape } } else { shape };
            let number = instance.push(Shape { thread: ThreadId(at as u32), ..shape });
            last.replace(number).into_iter().for_each(|last| instance.edge(last, number));
            if shape.writes && !shape.buffered {
                stored.drain(..).for_each(|store| instance.fence(store, number));
            }
            if shape.reads {
                let own = waiting.iter().copied().rfind(|&store| instance.items[store].loc == loc);
                let found = own.or(memory[loc.0 as usize]);
                if is_new || below(8) > 0 {
                    instance.good(number, found);
                }
            }
            if is_new {
                break;
            }
            guide.push(Move::Perform(number));
            if shape.buffered {
                waiting.push(number);
                stored.push(number);
            } else if shape.writes {
                memory[loc.0 as usize] = Some(number);
            }
        }
        guide.extend(threads.iter().flat_map(|(_, waiting, _)| waiting.iter().map(|&store| Move::Flush(store))));
        for read in (0..instance.len()).filter(|&read| instance.items[read].reads).collect::<Vec<_>>() {
            let of_loc = |&write: &usize| {
                write != read && instance.items[write].writes && instance.items[write].loc == instance.items[read].loc
            };
            for write in (0..instance.len()).filter(of_loc).collect::<Vec<_>>() {
                if below(3) == 0 {
                    instance.good(read, Some(write));
                }
            }
        }
        (instance, guide)
    }

    #[test]
    fn takes_the_first_point_that_makes_a_witness() {
        let (mut incr, mut found) = (Incr::default(), 0);
        for seed in 0..20_000 {
            let (instance, guide) = draw(seed);
            let with_new = |point: usize| {
                let mut moves = guide.clone();
                moves.insert(point, Move::Perform(instance.len() - 1));
                moves
            };
            let is_witness = |moves: &Vec<Move>| check_witness(&instance, MemoryModel::Tso, moves).is_ok();
            let expected = (0..=guide.len()).map(with_new).find(is_witness);
            let mut witness = Vec::new();
            let answer = incr.find(&instance, &guide, &mut witness);
            assert_eq!(answer.then_some(witness), expected, "seed {seed}: {instance:?} {guide:?}");
            found += usize::from(answer);
        }
        assert!((4_000..16_000).contains(&found), "{found} of 20000 have a witness");
    }
}
