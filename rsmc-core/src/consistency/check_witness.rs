//! Checks a witness by playing it with explicit buffers: the independent judge of the verifiers.

use crate::consistency::verifier::refusal;
use crate::consistency::{Instance, Move, Shape};
use crate::model::{MemoryModel, StoreBuffers};

/// The reason why a sequence is no witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A move is missing, stands there twice, or is no move of the instance.
    NotAPermutation,
    /// Program order is broken between these two.
    ProgramOrder(usize, usize),
    /// This read finds a write that is not good for it (`None` is the initial value).
    BadWrite(usize, Option<usize>),
    /// This store is still to be flushed when the event that is fenced on it is performed.
    Fence(usize, usize),
    /// This store is flushed before it is performed, or before another store that must go first.
    BufferOrder(usize),
    /// This event writes to memory at once while a store of its own thread still waits in the buffer.
    NotDrained(usize),
}

/// Whether `witness` is an execution of the instance under the model. The flaw is the first one in the order of the
/// witness; a missing move is found last.
///
/// # Panics
///
/// If there is a buffered store, but the model has no buffers; and if executions of the model are graphs.
pub fn check_witness(instance: &Instance, model: MemoryModel, witness: &[Move]) -> Result<(), Flaw> {
    let items = &instance.items;
    assert!(!model.is_graph(), "{}", refusal(model));
    assert!(model.has_buffers() || items.iter().all(|item| !item.buffered), "{model:?} has no store buffers");
    let mut played = Played {
        instance,
        model,
        performed: vec![false; items.len()],
        flushed: vec![false; items.len()],
        waiting: Vec::new(),
        memory: vec![None; instance.locs],
    };
    for &step in witness {
        match step {
            Move::Perform(event) => played.perform(event)?,
            Move::Flush(store) => played.flush(store)?,
        }
    }
    let complete = played.performed.iter().all(|&done| done) && played.waiting.is_empty();
    if complete { Ok(()) } else { Err(Flaw::NotAPermutation) }
}

/// The state after some moves.
struct Played<'a> {
    instance: &'a Instance,
    model: MemoryModel,
    performed: Vec<bool>,
    flushed: Vec<bool>,
    /// The stores of all threads that are performed and not flushed, oldest first.
    waiting: Vec<usize>,
    memory: Vec<Option<usize>>,
}

impl Played<'_> {
    fn perform(&mut self, event: usize) -> Result<(), Flaw> {
        let Self { instance, performed, flushed, waiting, memory, .. } = self;
        let items = &instance.items;
        if event >= items.len() || performed[event] {
            return Err(Flaw::NotAPermutation);
        }
        let item = items[event];
        for &(a, b) in &instance.edges {
            if b as usize == event && !performed[a as usize] {
                return Err(Flaw::ProgramOrder(a as usize, event));
            }
        }
        for &(store, b) in &instance.fences {
            if b as usize == event && !flushed[store as usize] {
                return Err(Flaw::Fence(store as usize, event));
            }
        }
        let own = |store: &&usize| items[**store].thread == item.thread;
        if item.writes && !item.buffered && waiting.iter().filter(own).count() > 0 {
            return Err(Flaw::NotDrained(event));
        }
        if item.reads {
            let forwarded = waiting.iter().filter(own).rfind(|&&store| items[store].loc == item.loc);
            let found = forwarded.copied().or(memory[item.loc.0 as usize]);
            let good = match found {
                None => instance.init_good[event],
                Some(write) => instance.goods.contains(&(event as u32, write as u32)),
            };
            if !good {
                return Err(Flaw::BadWrite(event, found));
            }
        }
        if item.buffered {
            waiting.push(event);
        } else if item.writes {
            memory[item.loc.0 as usize] = Some(event);
        }
        performed[event] = true;
        Ok(())
    }

    fn flush(&mut self, store: usize) -> Result<(), Flaw> {
        let items = &self.instance.items;
        if store >= items.len() || !items[store].buffered || self.flushed[store] {
            return Err(Flaw::NotAPermutation);
        }
        let Some(at) = self.waiting.iter().position(|&other| other == store) else {
            return Err(Flaw::BufferOrder(store));
        };
        let blocked = self.waiting.iter().enumerate().any(|(i, &other)| {
            let (other, store) = (items[other], items[store]);
            other.thread == store.thread && goes_first(self.model, other, store, i < at)
        });
        if blocked {
            return Err(Flaw::BufferOrder(store));
        }
        self.waiting.remove(at);
        self.memory[items[store].loc.0 as usize] = Some(store);
        self.flushed[store] = true;
        Ok(())
    }
}

/// Whether a waiting store is flushed before another one of its thread; `older`: it was performed before it.
fn goes_first(model: MemoryModel, first: Shape, second: Shape, older: bool) -> bool {
    match model.store_buffers() {
        StoreBuffers::PerThreadAndLocation => first.epoch < second.epoch || (older && first.loc == second.loc),
        StoreBuffers::PerThread | StoreBuffers::None => older,
    }
}
