//! VerifySC: can these reads take these good writes under sequential consistency?
//!
//! Problem. Given events, program order and per read its good writes: is there an interleaving in which every read
//! takes one of them, and which?
//!
//! Algorithm. Grow a prefix by one executable event at a time. An event is executable if all before it in the
//! closure are in the prefix; a read, if the active write of its location is good for it; a write, if no pending
//! read still needs the active write (holds the location). Two prefixes with the same events and the same active
//! writes can be continued alike, so a state that failed once is not entered again. Greedy rules first: a read that
//! is executable is executed; a write that no pending read wants over a write that none wants is executed.
//! Otherwise the executable events are tried in the order of the auxiliary trace.
//!
//! Cost. O(n^(k+1) · k^(d+1)) for n events, k threads, d locations; the closure decides almost every instance of a
//! run, and the search is then a single pass.
//!
//! Source. Agarwal, Chatterjee, Pathak, Pavlogiannis, Toman, "Stateless model checking under a reads-value-from
//! equivalence", CAV 2021, algorithm 1; Toman, thesis 2021, 4.2 to 4.4.
//!
//! Deviations. (1) An update is one event that is executable if both halves are. (2) States are kept only where
//! there was a choice: a forced step cannot lead to a state worth remembering that its own source would not.

use rustc_hash::FxHashSet;

use crate::base::{BitSet, Digest, Poset};
use crate::consistency::closure::{Scratch, close_with};
use crate::consistency::instance::INIT;
use crate::consistency::{Instance, Move};

/// Answers instances; keeps its memory from one to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct VerifySc {
    without_closure: bool,
    order: Poset,
    scratch: Scratch,
    /// Event by rank in the auxiliary trace.
    ranked: Vec<u32>,
    done: BitSet,
    active: Vec<u32>,
    /// Per read: the number of its good writes that are not in the prefix.
    missing: Vec<u32>,
    /// Per location: the number of pending reads that need the active write.
    holders: Vec<u32>,
    /// Per write: the number of pending reads that it is good for.
    wanted: Vec<u32>,
    readers_of: Vec<Vec<u32>>,
    prefix: Vec<Step>,
    branches: Vec<Branch>,
    options: Vec<u32>,
    failed: FxHashSet<Digest>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    event: u32,
    before: u32,
}

/// A point where several events could be next.
#[derive(Clone, Copy, Debug)]
struct Branch {
    length: usize,
    options_from: usize,
    next: usize,
    state: Digest,
}

impl VerifySc {
    /// A verifier whose search is restricted by program order alone.
    pub(super) fn without_closure(self) -> Self {
        Self { without_closure: true, ..self }
    }

    /// As [`super::Verifier::verify`].
    pub(super) fn verify(&mut self, instance: &Instance, rank: &dyn Fn(usize) -> u32, witness: &mut Vec<Move>) -> bool {
        self.close(instance) && self.search(instance, rank, witness)
    }

    /// Finds the order that every witness must have; false if there can be none.
    pub(super) fn close(&mut self, instance: &Instance) -> bool {
        self.scratch.prepare(instance);
        let ordered = match self.without_closure {
            true => self.order.rebuild(instance.items.len(), &instance.edges),
            false => close_with(instance, &mut self.order, &mut self.scratch),
        };
        ordered.is_ok()
    }

    /// As [`Self::verify`], from the order that [`Self::close`] has found for the same instance.
    pub(super) fn search(&mut self, instance: &Instance, rank: &dyn Fn(usize) -> u32, witness: &mut Vec<Move>) -> bool {
        self.start(instance, rank);
        let found = self.grow(instance);
        if found {
            witness.extend(self.prefix.iter().map(|step| Move::Perform(step.event as usize)));
        }
        found
    }

    fn start(&mut self, instance: &Instance, rank: &dyn Fn(usize) -> u32) {
        let n = instance.items.len();
        self.ranked.clear();
        self.ranked.extend(0..n as u32);
        self.ranked.sort_unstable_by_key(|&event| (rank(event as usize), event));
        self.done.reset(n);
        self.active.clear();
        self.active.resize(instance.locs, INIT);
        self.missing.clear();
        self.missing.resize(n, 0);
        self.holders.clear();
        self.holders.resize(instance.locs, 0);
        self.wanted.clear();
        self.wanted.resize(n, 0);
        self.readers_of.resize_with(self.readers_of.len().max(n), Vec::new);
        self.readers_of[..n].iter_mut().for_each(Vec::clear);
        for &(read, write) in &instance.goods {
            self.missing[read as usize] += 1;
            self.wanted[write as usize] += 1;
            self.readers_of[write as usize].push(read);
        }
        for (read, item) in instance.items.iter().enumerate().filter(|(_, item)| item.reads) {
            self.holders[item.loc.0 as usize] += u32::from(self.missing[read] == 0);
        }
        self.prefix.clear();
        self.branches.clear();
        self.options.clear();
        self.failed.clear();
    }

    /// Extends the prefix to all events.
    fn grow(&mut self, instance: &Instance) -> bool {
        while self.prefix.len() < instance.items.len() {
            let from = self.options.len();
            match self.next_event(instance) {
                Some(event) => self.execute(instance, event),
                None if self.options.len() > from && self.open_branch(from) => {
                    let event = self.options[from];
                    self.execute(instance, event);
                }
                None => {
                    self.options.truncate(from);
                    if !self.try_next_option(instance) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// The event that a greedy rule or the lack of a choice dictates; otherwise pushes the events that could be next on
    /// `options`.
    fn next_event(&mut self, instance: &Instance) -> Option<u32> {
        let from = self.options.len();
        for i in 0..self.ranked.len() {
            let event = self.ranked[i];
            if !self.is_executable(instance, event as usize) {
                continue;
            }
            if !instance.items[event as usize].writes || self.nobody_cares(instance, event as usize) {
                self.options.truncate(from);
                return Some(event);
            }
            self.options.push(event);
        }
        if self.options.len() == from + 1 { self.options.pop() } else { None }
    }

    fn is_executable(&self, instance: &Instance, event: usize) -> bool {
        if self.done.contains(event) || !subset(self.order.before(event), self.done.words()) {
            return false;
        }
        let item = instance.items[event];
        let active = self.active[item.loc.0 as usize];
        let finds_good = || match active {
            INIT => instance.init_good[event],
            write => self.scratch.is_good(event, write),
        };
        if item.reads && !finds_good() {
            return false;
        }
        let own_hold = u32::from(item.reads && self.missing[event] == 0);
        !item.writes || self.holders[item.loc.0 as usize] == own_hold
    }

    /// A plain write that no pending read wants, over a write that none wants.
    fn nobody_cares(&self, instance: &Instance, event: usize) -> bool {
        let item = instance.items[event];
        let active = self.active[item.loc.0 as usize];
        !item.reads && self.wanted[event] == 0 && active != INIT && self.wanted[active as usize] == 0
    }

    fn execute(&mut self, instance: &Instance, event: u32) {
        let item = instance.items[event as usize];
        let loc = item.loc.0 as usize;
        let step = Step { event, before: self.active[loc] };
        self.done.insert(event as usize);
        if item.reads {
            self.holders[loc] -= u32::from(self.missing[event as usize] == 0);
            self.count_wants(event, false);
        }
        if item.writes {
            self.active[loc] = event;
            for &read in &self.readers_of[event as usize] {
                self.missing[read as usize] -= 1;
                let holds = self.missing[read as usize] == 0 && !self.done.contains(read as usize);
                self.holders[loc] += u32::from(holds);
            }
        }
        self.prefix.push(step);
    }

    fn undo(&mut self, instance: &Instance) {
        let Step { event, before } = self.prefix.pop().expect("something was executed");
        let item = instance.items[event as usize];
        let loc = item.loc.0 as usize;
        if item.writes {
            self.active[loc] = before;
            for &read in &self.readers_of[event as usize] {
                let held = self.missing[read as usize] == 0 && !self.done.contains(read as usize);
                self.holders[loc] -= u32::from(held);
                self.missing[read as usize] += 1;
            }
        }
        if item.reads {
            self.holders[loc] += u32::from(self.missing[event as usize] == 0);
            self.count_wants(event, true);
        }
        self.done.remove(event as usize);
    }

    fn count_wants(&mut self, read: u32, wants: bool) {
        for &write in self.scratch.good(read as usize) {
            let wanted = &mut self.wanted[write as usize];
            *wanted = if wants { *wanted + 1 } else { *wanted - 1 };
        }
    }

    /// Remembers a choice among the options from `from` on; false if its state has failed before.
    fn open_branch(&mut self, from: usize) -> bool {
        let state = self.state();
        if self.failed.contains(&state) {
            return false;
        }
        self.branches.push(Branch { length: self.prefix.len(), options_from: from, next: from + 1, state });
        true
    }

    fn try_next_option(&mut self, instance: &Instance) -> bool {
        while let Some(branch) = self.branches.last_mut() {
            let branch_now = *branch;
            branch.next += 1;
            while self.prefix.len() > branch_now.length {
                self.undo(instance);
            }
            // Options of deeper branches are gone by now; those of this one end the list.
            if branch_now.next < self.options.len() {
                let event = self.options[branch_now.next];
                self.execute(instance, event);
                return true;
            }
            self.failed.insert(branch_now.state);
            self.options.truncate(branch_now.options_from);
            self.branches.pop();
        }
        false
    }

    /// A digest of the events of the prefix and the active writes.
    fn state(&self) -> Digest {
        let mut digest = Digest::EMPTY;
        digest.add_words(0, self.done.words().iter().copied());
        digest.add_words(1, self.active.iter().map(|&write| u64::from(write)));
        digest
    }
}

fn subset(small: &[u64], large: &[u64]) -> bool {
    small.iter().zip(large).all(|(s, l)| s & !l == 0)
}
