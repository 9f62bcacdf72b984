//! Random programs whose instances keep the rules of all verifiers: fences stand where the models put them.

use rsmc_core::base::{LocId, ThreadId};
use rsmc_core::consistency::{Instance, Shape};
use rsmc_core::model::MemoryModel::{self, Pso, Tso};

use crate::dice::Dice;

/// The size of random programs.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// At most so many threads (at least 2).
    pub threads: usize,
    /// At most so many statements in a thread.
    pub ops: usize,
    /// The number of locations (at most 16).
    pub locs: usize,
    /// Whether many statements are fences.
    pub fenced: bool,
}

/// An instance in the making, without good writes. Events are numbered in an order in which they could be performed.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub shapes: Vec<Shape>,
    pub edges: Vec<(usize, usize)>,
    pub fences: Vec<(usize, usize)>,
}

impl Draft {
    /// The instance in which event `i` has the number `names[i]`; no read has a good write yet.
    pub fn instance(&self, names: &[usize]) -> Instance {
        let mut instance = Instance::default();
        let mut events: Vec<usize> = (0..names.len()).collect();
        events.sort_by_key(|&event| names[event]);
        events.iter().for_each(|&event| _ = instance.push(self.shapes[event]));
        self.edges.iter().for_each(|&(a, b)| instance.edge(names[a], names[b]));
        self.fences.iter().for_each(|&(store, event)| instance.fence(names[store], names[event]));
        instance
    }
}

/// The state of a thread while its program is drawn.
#[derive(Clone, Debug, Default)]
struct Thread {
    left: usize,
    last: Option<usize>,
    epoch: u32,
    /// The stores since the last full fence.
    open: Vec<usize>,
    /// The stores that are flushed before the next event.
    fenced: Vec<usize>,
}

/// A random program. Without store buffers, all writes are direct.
pub fn draw(dice: &mut Dice, model: MemoryModel, size: Size) -> Draft {
    let mut draft = Draft::default();
    let count = 2 + dice.below(size.threads - 1);
    let mut threads: Vec<Thread> =
        (0..count).map(|_| Thread { left: 1 + dice.below(size.ops), ..Thread::default() }).collect();
    while threads.iter().any(|thread| thread.left > 0) {
        let number = dice.below(count);
        let thread = &mut threads[number];
        if thread.left == 0 {
            continue;
        }
        thread.left -= 1;
        let drawn = if size.fenced && dice.chance(25) { 86 + dice.below(14) } else { dice.below(100) };
        let (reads, writes, buffered, fence) = match drawn {
            0..35 => (true, false, false, false),
            35..70 => (false, true, true, false),
            70..75 => (false, true, false, true),
            75..82 => (true, true, false, true),
            82..86 => (true, false, false, true),
            86..93 => {
                thread.fenced.append(&mut thread.open);
                continue;
            }
            _ => {
                thread.epoch += u32::from(model == Pso);
                continue;
            }
        };
        let buffered = buffered && matches!(model, Tso | Pso);
        let event = draft.shapes.len();
        let loc = LocId(dice.below(size.locs) as u32);
        draft.shapes.push(Shape { thread: ThreadId(number as u32), loc, reads, writes, buffered, epoch: thread.epoch });
        draft.edges.extend(thread.last.replace(event).map(|last| (last, event)));
        if fence {
            thread.fenced.append(&mut thread.open);
        }
        draft.fences.extend(thread.fenced.drain(..).map(|store| (store, event)));
        thread.open.extend(buffered.then_some(event));
    }
    if draft.shapes.len() > 1 && dice.chance(25) {
        // One event waits for another of any thread, as the first event of a thread waits for its parent; or also for
        // the flush of all stores until there, as the parent waits for a thread that it joins.
        let b = 1 + dice.below(draft.shapes.len() - 1);
        let a = dice.below(b);
        draft.edges.push((a, b));
        if dice.chance(50) {
            let shapes = &draft.shapes;
            let stores = (0..=a).filter(|&store| shapes[store].buffered && shapes[store].thread == shapes[a].thread);
            draft.fences.extend(stores.map(|store| (store, b)));
        }
    }
    draft
}
