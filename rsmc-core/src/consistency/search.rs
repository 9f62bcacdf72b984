//! The common part of VerifyTSO and VerifyPSO: a prefix of a witness that grows and shrinks, and the search over
//! prefixes.

use rustc_hash::FxHashSet;

use crate::base::{BitSet, Cycle, Digest, Poset};
use crate::consistency::closure_buffers::{Nodes, close_nodes};
use crate::consistency::instance::INIT;
use crate::consistency::{Instance, Move};
use crate::model::MemoryModel;

/// The beginning of a witness, as a set of nodes.
///
/// A write reaches memory only when no read that is still to be performed needs what its location holds (the
/// location is not *held*). So a read finds its good write as soon as all that is before it in the order is there.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefix {
    pub(super) nodes: Nodes,
    pub(super) order: Poset,
    pub(super) done: BitSet,
    /// The nodes in the order in which they are tried.
    pub(super) ranked: Vec<u32>,
    /// By location: the write in memory.
    current: Vec<u32>,
    /// By event: the number of reads to be performed that take it.
    wanted: Vec<u32>,
    /// By location: the number of reads to be performed that take the initial value.
    init_wanted: Vec<u32>,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    node: u32,
    /// The write that the location held before.
    before: u32,
}

impl Prefix {
    /// The empty prefix of an instance, or proof that there is no witness.
    pub(super) fn start(
        &mut self,
        instance: &Instance,
        model: MemoryModel,
        closure: bool,
        rank: &dyn Fn(usize) -> u32,
    ) -> Result<(), Cycle> {
        close_nodes(instance, model, closure, &mut self.nodes, &mut self.order)?;
        let nodes = &self.nodes;
        self.done.reset(nodes.len());
        self.ranked.clear();
        self.ranked.extend(0..nodes.len() as u32);
        self.ranked.sort_unstable_by_key(|&node| (rank(nodes.event[node as usize] as usize), node));
        self.current.clear();
        self.current.resize(instance.locs, INIT);
        self.wanted.clear();
        self.wanted.resize(nodes.events, 0);
        self.init_wanted.clear();
        self.init_wanted.resize(instance.locs, 0);
        self.steps.clear();
        for (read, item) in instance.items.iter().enumerate().filter(|(_, item)| item.reads) {
            match self.nodes.source[read] {
                INIT => self.init_wanted[item.loc.0 as usize] += 1,
                write => self.wanted[write as usize] += 1,
            }
        }
        Ok(())
    }

    /// The number of reads to be performed that take the write of a node.
    pub(super) fn wanted(&self, node: usize) -> u32 {
        self.wanted[self.nodes.event[node] as usize]
    }

    /// Whether everything before a node is done, and the node is not.
    pub(super) fn is_ready(&self, node: usize) -> bool {
        let (before, done) = (self.order.before(node), self.done.words());
        !self.done.contains(node) && before.iter().zip(done).all(|(before, done)| before & !done == 0)
    }

    /// Whether a node can be next.
    pub(super) fn is_executable(&self, instance: &Instance, node: usize) -> bool {
        self.is_ready(node) && (!self.nodes.is_write(instance, node) || !self.is_held(instance, node))
    }

    /// Whether a read other than that of the node needs what its location holds.
    fn is_held(&self, instance: &Instance, node: usize) -> bool {
        let item = &instance.items[self.nodes.event[node] as usize];
        self.holders(item.loc.0 as usize) > u32::from(item.reads)
    }

    /// The number of reads to be performed that take what a location holds.
    fn holders(&self, loc: usize) -> u32 {
        match self.current[loc] {
            INIT => self.init_wanted[loc],
            write => self.wanted[write as usize],
        }
    }

    /// The reads to be performed that take what a location holds.
    pub(super) fn readers<'a>(&'a self, instance: &'a Instance, loc: usize) -> impl Iterator<Item = usize> + 'a {
        let none = self.holders(loc) == 0;
        let reads = if none { 0 } else { self.nodes.events };
        (0..reads).filter(move |&read| {
            let item = &instance.items[read];
            let takes = item.reads && item.loc.0 as usize == loc && self.nodes.source[read] == self.current[loc];
            takes && !self.done.contains(read)
        })
    }

    pub(super) fn execute(&mut self, instance: &Instance, node: usize) {
        let event = self.nodes.event[node] as usize;
        let item = &instance.items[event];
        let loc = item.loc.0 as usize;
        self.steps.push(Step { node: node as u32, before: self.current[loc] });
        self.done.insert(node);
        if item.reads {
            *self.demand(event, loc) -= 1;
        }
        if self.nodes.is_write(instance, node) {
            self.current[loc] = event as u32;
        }
    }

    /// Performs the steps that can only help: events that wait for nothing, and writes to memory that no pending read
    /// takes. In any witness that goes on from here these can come first, since nothing in it needs what their
    /// locations hold.
    fn execute_safe_steps(&mut self, instance: &Instance) {
        let mut grew = true;
        while grew {
            grew = false;
            for i in 0..self.ranked.len() {
                let node = self.ranked[i] as usize;
                let helps = !self.nodes.is_write(instance, node) || self.wanted(node) == 0;
                if helps && self.is_executable(instance, node) {
                    self.execute(instance, node);
                    grew = true;
                }
            }
        }
    }

    fn undo(&mut self, instance: &Instance) {
        let Step { node, before } = self.steps.pop().expect("something was executed");
        let event = self.nodes.event[node as usize] as usize;
        let item = &instance.items[event];
        let loc = item.loc.0 as usize;
        self.done.remove(node as usize);
        self.current[loc] = before;
        if item.reads {
            *self.demand(event, loc) += 1;
        }
    }

    /// The count to which a read belongs.
    fn demand(&mut self, read: usize, loc: usize) -> &mut u32 {
        match self.nodes.source[read] {
            INIT => &mut self.init_wanted[loc],
            write => &mut self.wanted[write as usize],
        }
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Takes back everything after the first `len` steps.
    pub(super) fn shrink_to(&mut self, instance: &Instance, len: usize) {
        while self.steps.len() > len {
            self.undo(instance);
        }
    }

    fn is_complete(&self) -> bool {
        self.steps.len() == self.nodes.len()
    }

    /// The set of nodes that are done, below a bound.
    pub(super) fn done_below(&self, bound: usize) -> Digest {
        let mut digest = Digest::EMPTY;
        let masked = |(i, &word): (usize, &u64)| {
            let kept = bound.saturating_sub(i * 64).min(64) as u32;
            if kept == 0 { 0 } else { word & (u64::MAX >> (64 - kept)) }
        };
        digest.add_words(0, self.done.words().iter().enumerate().map(masked));
        digest
    }

    pub(super) fn moves(&self) -> impl Iterator<Item = Move> + '_ {
        self.steps.iter().map(|step| self.nodes.as_move(step.node as usize))
    }
}

/// The difference between VerifyTSO and VerifyPSO.
pub(super) trait Strategy {
    /// Collects the nodes of which one must be next.
    fn options(&self, instance: &Instance, prefix: &Prefix, options: &mut Vec<u32>);
    /// Performs an option, after what has to go first. Returns false where that is impossible; the prefix is then in
    /// any state.
    fn take(&self, instance: &Instance, prefix: &mut Prefix, option: usize) -> bool;
    /// A name of all that decides how the prefix can go on.
    fn state(&self, instance: &Instance, prefix: &Prefix) -> Digest;
}

/// A point where one of several nodes must be next.
#[derive(Clone, Copy, Debug)]
struct Branch {
    length: usize,
    options_from: usize,
    next: usize,
}

/// The memory of the search, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    branches: Vec<Branch>,
    options: Vec<u32>,
    seen: FxHashSet<Digest>,
}

impl Search {
    /// Extends the prefix to a witness; false if there is none. Depth first; no state is entered twice.
    pub(super) fn run(&mut self, instance: &Instance, prefix: &mut Prefix, strategy: &impl Strategy) -> bool {
        self.branches.clear();
        self.options.clear();
        self.seen.clear();
        loop {
            prefix.execute_safe_steps(instance);
            if prefix.is_complete() {
                return true;
            }
            if self.seen.insert(strategy.state(instance, prefix)) {
                let from = self.options.len();
                strategy.options(instance, prefix, &mut self.options);
                self.branches.push(Branch { length: prefix.len(), options_from: from, next: from });
            }
            if !self.next_option(instance, prefix, strategy) {
                return false;
            }
        }
    }

    fn next_option(&mut self, instance: &Instance, prefix: &mut Prefix, strategy: &impl Strategy) -> bool {
        while let Some(branch) = self.branches.last_mut() {
            prefix.shrink_to(instance, branch.length);
            if let Some(&option) = self.options.get(branch.next) {
                branch.next += 1;
                if strategy.take(instance, prefix, option as usize) {
                    return true;
                }
            } else {
                self.options.truncate(branch.options_from);
                self.branches.pop();
            }
        }
        false
    }
}
