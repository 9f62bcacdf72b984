//! ConstructWitnessComplete: a search that always answers.
//!
//! Problem. As the module. Under SC it is VerifySC with, for every read, all writes of its value as good writes.
//! This file is its counterpart with store buffers.
//!
//! Algorithm. Depth first over prefixes: the events performed, the stores flushed, and for each location the write in
//! memory. Of that write only the reads for which it is good matter, so writes that are good for the same reads are not
//! distinguished. A read that finds a good write now is performed without a choice, and so are buffered stores; a write
//! that no pending read can take goes to memory without a choice where none can take what is there. A write must not
//! overwrite what a pending read needs that has no other good write to come.
//!
//! Cost. Exponential in threads (TSO) or threads and locations (PSO) only.
//!
//! Source. After VerifySC (4.2) and VerifyTSO (5.2.1) in Toman, "Improved Verification Techniques for Concurrent
//! Systems" (thesis, ISTA 2021); for values in place of writers there is none.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::{BitMatrix, BitSet, Digest, Poset};
use crate::consistency::closure_buffers::{Nodes, close_base};
use crate::consistency::instance::INIT;
use crate::consistency::verifier::refusal;
use crate::consistency::verify_sc::VerifySc;
use crate::consistency::{Instance, Move};
use crate::model::MemoryModel;

/// The search; keeps its memory from one question to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Complete {
    model: MemoryModel,
    sc: VerifySc,
    nodes: Nodes,
    order: Poset,
    done: BitSet,
    /// Row of an event that reads: its good writes.
    good: BitMatrix,
    /// By event: the reads for which it is good.
    readers: Vec<Vec<u32>>,
    /// By event: one number for all writes that are good for the same reads.
    color: Vec<u32>,
    /// By event that reads: the number of its good writes that have not reached memory.
    missing: Vec<u32>,
    /// By event that reads: the buffered stores of its thread to its location that come before it, in program order.
    own: Vec<Vec<u32>>,
    /// By location: the write in memory.
    current: Vec<u32>,
    steps: Vec<(u32, u32)>,
    seen: FxHashSet<Digest>,
}

/// A point where one of several nodes must be next.
struct Branch {
    length: usize,
    options: Vec<u32>,
}

impl Complete {
    /// For a model.
    ///
    /// # Panics
    /// If executions of the model are graphs.
    pub(super) fn new(model: MemoryModel) -> Self {
        assert!(!model.is_graph(), "{}", refusal(model));
        Self { model, ..Self::default() }
    }

    /// A witness, appended to `witness`; false if there is none.
    pub(super) fn search(&mut self, instance: &Instance, witness: &mut Vec<Move>) -> bool {
        self.close(instance) && self.search_closed(instance, witness)
    }

    /// Finds the order with which the search begins; false if there can be no witness. Under SC this is the closure.
    pub(super) fn close(&mut self, instance: &Instance) -> bool {
        if !self.model.has_buffers() {
            return self.sc.close(instance);
        }
        close_base(instance, self.model, &mut self.nodes, &mut self.order).is_ok()
    }

    /// As [`Self::search`], from the order that [`Self::close`] has found for the same instance.
    pub(super) fn search_closed(&mut self, instance: &Instance, witness: &mut Vec<Move>) -> bool {
        if !self.model.has_buffers() {
            return self.sc.search(instance, &|event| event as u32, witness);
        }
        self.start(instance);
        let found = self.run(instance);
        if found {
            witness.extend(self.steps.iter().map(|&(node, _)| self.nodes.as_move(node as usize)));
        }
        found
    }

    fn start(&mut self, instance: &Instance) {
        let n = instance.items.len();
        self.done.reset(self.nodes.len());
        self.steps.clear();
        self.seen.clear();
        self.current.clear();
        self.current.resize(instance.locs, INIT);
        self.missing.clear();
        self.missing.resize(n, 0);
        self.readers.clear();
        self.readers.resize(n, Vec::new());
        self.good.reset(n);
        for &(read, write) in &instance.goods {
            self.good.set(read as usize, write as usize);
            self.readers[write as usize].push(read);
            self.missing[read as usize] += 1;
        }
        let mut colors: FxHashMap<(u32, Vec<u32>), u32> = FxHashMap::default();
        self.color.clear();
        for (event, item) in instance.items.iter().enumerate() {
            let mut readers = self.readers[event].clone();
            readers.sort_unstable();
            let next = colors.len() as u32;
            self.color.push(*colors.entry((item.loc.0, readers)).or_insert(next));
        }
        let own = |read: usize| {
            let item = &instance.items[read];
            let is_own = |&store: &usize| {
                let other = &instance.items[store];
                other.buffered && other.loc == item.loc && other.thread == item.thread && self.order.lt(store, read)
            };
            let mut own: Vec<u32> = (0..n).filter(is_own).map(|store| store as u32).collect();
            own.sort_by_key(|&store| {
                self.order.before(store as usize).iter().map(|word| word.count_ones()).sum::<u32>()
            });
            own
        };
        self.own = (0..n).map(|event| if instance.items[event].reads { own(event) } else { Vec::new() }).collect();
    }

    fn run(&mut self, instance: &Instance) -> bool {
        let mut branches: Vec<Branch> = Vec::new();
        loop {
            self.execute_safe_steps(instance);
            if self.steps.len() == self.nodes.len() {
                return true;
            }
            if self.seen.insert(self.state()) {
                let mut options: Vec<u32> =
                    (0..self.nodes.len() as u32).filter(|&node| self.is_possible(instance, node as usize)).collect();
                options.reverse();
                branches.push(Branch { length: self.steps.len(), options });
            }
            loop {
                let Some(branch) = branches.last_mut() else { return false };
                while self.steps.len() > branch.length {
                    self.undo(instance);
                }
                if let Some(option) = branch.options.pop() {
                    self.execute(instance, option as usize);
                    break;
                }
                branches.pop();
            }
        }
    }

    /// Performs the steps that can only help.
    fn execute_safe_steps(&mut self, instance: &Instance) {
        let mut grew = true;
        while grew {
            grew = false;
            for node in 0..self.nodes.len() {
                if !self.done.contains(node) && self.is_possible(instance, node) && self.helps(instance, node) {
                    self.execute(instance, node);
                    grew = true;
                }
            }
        }
    }

    fn helps(&self, instance: &Instance, node: usize) -> bool {
        let event = self.nodes.event[node] as usize;
        if !self.nodes.is_write(instance, node) {
            return true;
        }
        let item = &instance.items[event];
        let pending = |&&read: &&u32| read as usize != event && !self.done.contains(read as usize);
        let nobody = !self.readers[event].iter().any(|read| pending(&read));
        nobody && !self.takers(instance, item.loc.0 as usize).any(|read| read as usize != event)
    }

    /// The pending reads that could take what a location holds.
    fn takers<'a>(&'a self, instance: &'a Instance, loc: usize) -> impl Iterator<Item = u32> + 'a {
        let current = self.current[loc];
        let of_write = if current == INIT { &[][..] } else { &self.readers[current as usize][..] };
        let all = if current == INIT { instance.items.len() } else { 0 };
        let of_init = (0..all as u32).filter(move |&read| {
            instance.init_good[read as usize] && instance.items[read as usize].loc.0 as usize == loc
        });
        of_write.iter().copied().chain(of_init).filter(|&read| !self.done.contains(read as usize))
    }

    /// Whether a node can be next without making a pending read impossible.
    fn is_possible(&self, instance: &Instance, node: usize) -> bool {
        let before = self.order.before(node).iter().zip(self.done.words());
        if self.done.contains(node) || before.into_iter().any(|(before, done)| before & !done != 0) {
            return false;
        }
        let event = self.nodes.event[node] as usize;
        let item = &instance.items[event];
        if node < self.nodes.events && item.reads && !self.fits(instance, event) {
            return false;
        }
        let lost = |read: u32| read as usize != event && self.missing[read as usize] == 0;
        !self.nodes.is_write(instance, node) || !self.takers(instance, item.loc.0 as usize).any(lost)
    }

    fn fits(&self, instance: &Instance, read: usize) -> bool {
        let waits = |&&store: &&u32| !self.done.contains(self.nodes.memory[store as usize] as usize);
        let own = self.own[read].iter().rfind(waits).copied();
        let found = own.unwrap_or(self.current[instance.items[read].loc.0 as usize]);
        if found == INIT { instance.init_good[read] } else { self.good.get(read, found as usize) }
    }

    fn execute(&mut self, instance: &Instance, node: usize) {
        let event = self.nodes.event[node] as usize;
        let loc = instance.items[event].loc.0 as usize;
        self.steps.push((node as u32, self.current[loc]));
        self.done.insert(node);
        if self.nodes.is_write(instance, node) {
            self.current[loc] = event as u32;
            for &read in &self.readers[event] {
                self.missing[read as usize] -= 1;
            }
        }
    }

    fn undo(&mut self, instance: &Instance) {
        let (node, before) = self.steps.pop().expect("something was executed");
        let event = self.nodes.event[node as usize] as usize;
        self.done.remove(node as usize);
        if self.nodes.is_write(instance, node as usize) {
            self.current[instance.items[event].loc.0 as usize] = before;
            for &read in &self.readers[event] {
                self.missing[read as usize] += 1;
            }
        }
    }

    /// A name of all that decides how the prefix can go on.
    fn state(&self) -> Digest {
        let mut digest = Digest::EMPTY;
        let color = |&write: &u32| if write == INIT { INIT } else { self.color[write as usize] };
        digest.add_words(0, self.done.words().iter().copied());
        digest.add_words(1, self.current.iter().map(|write| u64::from(color(write))));
        digest
    }
}
