//! Closure under TSO and PSO: the orderings that every witness must have, or proof that there is none.
//!
//! Problem. As [`super::close`], for instances with store buffers and one good write per read. The order is over
//! [`Nodes`]: every event, and for each buffered store the moment at which it is flushed.
//!
//! Algorithm. Program order, the order of the buffers and the fences, and then until nothing changes, for a read `r`
//! that takes `w`: (1) if `w` is of another thread, it is in memory before `r`, and so are, before `w`, the stores to
//! the location that the thread of `r` performed before `r`; (2) another thread's write that is in memory before `r`
//! is there before `w`; (3) one that is there after `w` is there after `r`. (4) and (5) say that an atomic block is
//! before or after an event as a whole.
//!
//! Cost. As [`super::close`], on up to twice as many nodes.
//!
//! Source. Toman, "Improved Verification Techniques for Concurrent Systems" (thesis, ISTA 2021), 5.2.3 and 5.2.4.
//!
//! Deviations. (1) Rules 4 and 5 need no code: a block is one node. (2) The initial value is a write before
//! everything, without being an event: a read that takes it is before every other thread's write, and after none of its
//! own. (3) What rule 1 says follows from the instance alone and is part of the order from the start, with or
//! without closure; so the verifiers' condition that a write reaches memory after the older stores of its readers'
//! threads (2b in the definition of an executable event) is part of the order, too.

use crate::base::{Cycle, Poset, ThreadId};
use crate::consistency::instance::INIT;
use crate::consistency::{Instance, Move};
use crate::model::{MemoryModel, StoreBuffers};

/// The nodes of an instance with buffers. Events keep their numbers; the flushes of buffered stores come after them.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    /// The number of events.
    pub(super) events: usize,
    /// By event: the node at which what it writes reaches memory.
    pub(super) memory: Vec<u32>,
    /// By node: its event.
    pub(super) event: Vec<u32>,
    /// By event: the write it takes, if it reads.
    pub(super) source: Vec<u32>,
    /// By location: the events that write it.
    pub(super) writes: Vec<Vec<u32>>,
    /// Whether store-store fences order stores that nothing else orders.
    pub(super) store_fences: bool,
}

impl Nodes {
    /// Numbers the nodes.
    fn number(&mut self, instance: &Instance) {
        let n = instance.items.len();
        self.events = n;
        self.event.clear();
        self.event.extend(0..n as u32);
        self.memory.clear();
        self.writes.iter_mut().for_each(Vec::clear);
        self.writes.resize_with(self.writes.len().max(instance.locs), Vec::new);
        for (number, item) in instance.items.iter().enumerate() {
            let node = if item.buffered { self.event.len() } else { number };
            self.memory.push(node as u32);
            if item.buffered {
                self.event.push(number as u32);
            }
            if item.writes {
                self.writes[item.loc.0 as usize].push(number as u32);
            }
        }
    }

    /// Takes the good writes as sources.
    ///
    /// # Panics
    /// If some read has not exactly one.
    fn take_sources(&mut self, instance: &Instance) {
        self.source.clear();
        self.source.resize(self.events, INIT);
        let mut sources = instance.goods.len();
        for &(read, write) in &instance.goods {
            self.source[read as usize] = write;
        }
        for (read, item) in instance.items.iter().enumerate().filter(|(_, item)| item.reads) {
            let one = instance.init_good[read] != (self.source[read] != INIT);
            assert!(one, "event {read} at {:?} needs exactly one good write", item.loc);
            sources -= usize::from(!instance.init_good[read]);
        }
        assert_eq!(sources, 0, "every read needs exactly one good write");
    }

    pub(super) fn len(&self) -> usize {
        self.event.len()
    }

    /// Whether a node is the moment at which a write reaches memory.
    pub(super) fn is_write(&self, instance: &Instance, node: usize) -> bool {
        let item = &instance.items[self.event[node] as usize];
        node >= self.events || (item.writes && !item.buffered)
    }

    pub(super) fn as_move(&self, node: usize) -> Move {
        let event = self.event[node] as usize;
        if node < self.events { Move::Perform(event) } else { Move::Flush(event) }
    }

    fn memory_of(&self, write: u32) -> usize {
        self.memory[write as usize] as usize
    }
}

/// Extends `order` to the orderings that every witness of an instance with buffers has: those of program order,
/// buffers, fences and rule 1 alone, or the whole closure.
pub(super) fn close_nodes(
    instance: &Instance,
    model: MemoryModel,
    whole: bool,
    nodes: &mut Nodes,
    order: &mut Poset,
) -> Result<(), Cycle> {
    close_base(instance, model, nodes, order)?;
    nodes.take_sources(instance);
    let reads = || (0..instance.items.len()).filter(|&read| instance.items[read].reads);
    for read in reads() {
        rule_1(instance, read, nodes, order)?;
    }
    let mut changed = whole;
    while changed {
        changed = false;
        for read in reads() {
            changed |= rules_2_and_3(instance, read, nodes, order)?;
        }
    }
    Ok(())
}

/// Numbers the nodes, and sets `order` to what program order, buffers and fences say.
pub(super) fn close_base(
    instance: &Instance,
    model: MemoryModel,
    nodes: &mut Nodes,
    order: &mut Poset,
) -> Result<(), Cycle> {
    nodes.number(instance);
    let mut edges = instance.edges.clone();
    edges.extend((nodes.events..nodes.len()).map(|node| (nodes.event[node], node as u32)));
    edges.extend(instance.fences.iter().map(|&(store, event)| (nodes.memory[store as usize], event)));
    order.rebuild(nodes.len(), &edges)?;
    nodes.store_fences = false;
    if nodes.len() == nodes.events {
        return Ok(()); // No store is buffered.
    }
    let (queues, fenced) = buffer_order(instance, model, nodes, order);
    edges.extend(queues);
    order.rebuild(nodes.len(), &edges)?;
    nodes.store_fences = fenced.iter().any(|&(earlier, later)| !order.lt(earlier as usize, later as usize));
    fenced.iter().try_for_each(|&(earlier, later)| order.add(earlier as usize, later as usize))
}

/// Whether the closure finds the instance possible.
pub fn close_buffers(instance: &Instance, model: MemoryModel) -> Result<(), Cycle> {
    close_nodes(instance, model, true, &mut Nodes::default(), &mut Poset::default())
}

/// Pairs of flushes.
type Flushes = Vec<(u32, u32)>;

/// The order in which the stores of a thread leave its buffers: that of the queues, and that of store-store fences.
fn buffer_order(instance: &Instance, model: MemoryModel, nodes: &Nodes, order: &Poset) -> (Flushes, Flushes) {
    let (mut queues, mut fenced) = (Vec::new(), Vec::new());
    let has_one_queue = model.store_buffers() == StoreBuffers::PerThread;
    let mut stores: Vec<(ThreadId, usize, u32)> = (nodes.events..nodes.len())
        .map(|node| {
            let event = nodes.event[node] as usize;
            // The number of nodes before it grows along a thread.
            let place = order.before(event).iter().map(|word| word.count_ones() as usize).sum();
            (instance.items[event].thread, place, node as u32)
        })
        .collect();
    stores.sort_unstable();
    for same in stores.chunk_by(|a, b| a.0 == b.0) {
        let item = |at: usize| &instance.items[nodes.event[same[at].2 as usize] as usize];
        for later in 1..same.len() {
            let in_queue = |&earlier: &usize| has_one_queue || item(earlier).loc == item(later).loc;
            let first = (0..later).rev().find(in_queue);
            queues.extend(first.map(|earlier| (same[earlier].2, same[later].2)));
            if !has_one_queue && item(later).epoch > 0 {
                let behind = (0..later).filter(|&earlier| item(earlier).epoch < item(later).epoch);
                fenced.extend(behind.map(|earlier| (same[earlier].2, same[later].2)));
            }
        }
    }
    (queues, fenced)
}

/// The writes of the location of a read, except itself: those of its own thread, or those of the others.
fn other_writes<'a>(
    instance: &'a Instance,
    read: usize,
    nodes: &'a Nodes,
    own: bool,
) -> impl Iterator<Item = u32> + 'a {
    let item = &instance.items[read];
    let writes = &nodes.writes[item.loc.0 as usize];
    let same = move |write: u32| instance.items[write as usize].thread == item.thread;
    writes.iter().copied().filter(move |&write| write as usize != read && same(write) == own)
}

fn rule_1(instance: &Instance, read: usize, nodes: &Nodes, order: &mut Poset) -> Result<(), Cycle> {
    let source = nodes.source[read];
    let newest_own = |order: &Poset| {
        let earlier = other_writes(instance, read, nodes, true).filter(|&own| order.lt(own as usize, read));
        earlier.reduce(|a, b| if order.lt(a as usize, b as usize) { b } else { a })
    };
    if source == INIT {
        if newest_own(order).is_some() {
            return Err(Cycle);
        }
        return other_writes(instance, read, nodes, false)
            .try_for_each(|write| order.add(read, nodes.memory_of(write)));
    }
    if instance.items[source as usize].thread == instance.items[read].thread {
        return if newest_own(order) == Some(source) { Ok(()) } else { Err(Cycle) };
    }
    order.add(nodes.memory_of(source), read)?;
    match newest_own(order) {
        Some(own) => order.add(nodes.memory_of(own), nodes.memory_of(source)),
        None => Ok(()),
    }
}

/// Applies rules 2 and 3. Returns whether the order grew.
fn rules_2_and_3(instance: &Instance, read: usize, nodes: &Nodes, order: &mut Poset) -> Result<bool, Cycle> {
    let source = nodes.source[read];
    if source == INIT {
        return Ok(false);
    }
    let taken = nodes.memory_of(source);
    let mut grew = false;
    for write in other_writes(instance, read, nodes, false).filter(|&write| write != source) {
        let other = nodes.memory_of(write);
        if order.lt(other, read) && !order.lt(other, taken) {
            order.add(other, taken)?;
            grew = true;
        }
        if order.lt(taken, other) && !order.lt(read, other) {
            order.add(read, other)?;
            grew = true;
        }
    }
    Ok(grew)
}
