//! The rules of an execution: its memory model and its bounds.

use crate::model::MemoryModel;

/// The rules of an execution: its memory model and its bounds.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The memory model.
    pub memory: MemoryModel,
    /// The largest number of visible operations.
    pub max_steps: u32,
    /// The number of times in a row that a loop whose state never repeats may do the same before it counts as one that
    /// waits.
    pub spin_bound: u32,
    /// The number of spurious outcomes that an execution may have.
    pub spurious: u32,
    /// Whether threads wait in loops. If not, loops run as they are: with a fair choice of the thread that goes on, and
    /// a limit of steps, that shows what the waiting must not hide.
    pub waiting: bool,
    /// The parts of a thread's state that count.
    pub sees: Sees,
    /// Whether a thread gets memory again that it has freed.
    pub reuse: bool,
    /// The number by which a thread is drawn for each step that an explorer leaves open, instead of the one that ran
    /// last. For tests: only bounds of preemptions may rely on who goes on.
    pub stirred: Option<u64>,
    /// Whether a panic that another thread receives by `join` is no failure.
    pub pardons: bool,
}

/// The parts of a thread's state that count. Anything but all is wrong, and is there for tests, which have to notice
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sees {
    /// All, and whether that is enough is tested (`machine::ahead`).
    #[default]
    All,
    /// All, without these tests.
    Untested,
    /// The heap and the stacks of others, but not the thread's own.
    Heap,
    /// The thread's own stack and registers only.
    Stack,
    /// The heap and all stacks, but no registers.
    Memory,
}

impl Rules {
    /// The default rules under a memory model, with this number of visible operations.
    pub fn new(memory: MemoryModel, max_steps: u32) -> Self {
        let (waiting, sees, stirred) = (true, Sees::All, None);
        Self { memory, max_steps, spin_bound: 32, spurious: 1, waiting, sees, reuse: false, stirred, pardons: true }
    }
}

/// The number of times in a row that a loop that takes back what it changes may do the same before it waits, where the
/// bound of loops that count is `spin_bound`. Others can see each of these rounds, so they are fewer.
pub fn rounds(spin_bound: u32) -> u32 {
    (spin_bound / 8).max(1)
}
