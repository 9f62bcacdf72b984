//! Random programs that free memory, against all orders of their steps: whether one uses what was freed, or frees it
//! twice.
//!
//! In the oracle a use and a freeing are steps like others, and it looks at every order. It knows nothing of causal
//! pasts. `RSMC_ORACLE_PROGRAMS` says how many programs there are, `RSMC_ORACLE_SEED` shifts them.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::sync::atomic::AtomicBool as StdAtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use rsmc::alloc::Track;
use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::AtomicU32;
use rsmc::{Verdict, thread};

use crate::support::dice::Dice;
use crate::support::pairs;

const FLAGS: usize = 2;
const NODES: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Store(usize, u32),
    /// The next operation is performed only if the flag has this value.
    If(usize, u32),
    /// The flag gets another value, and the next operation is performed, only if it has this one.
    Change(usize, u32, u32),
    UseAtomic(usize),
    UseCell(usize),
    UseValue(usize),
    /// The tracked value is dropped where it is.
    Drop(usize),
    Free(usize),
}

type Program = Vec<Vec<Op>>;

fn op(dice: &mut Dice, may_skip: bool) -> Op {
    let (flag, node) = (dice.below(FLAGS), dice.below(NODES));
    let (value, new) = (dice.below(2) as u32, dice.below(2) as u32);
    match dice.below(15) {
        0 | 1 => Op::Store(flag, value),
        2..=4 if may_skip => Op::If(flag, value),
        5 | 6 if may_skip => Op::Change(flag, value, new),
        7 => Op::Free(node),
        8 | 9 => Op::UseCell(node),
        10 | 11 => Op::UseValue(node),
        12 => Op::Drop(node),
        _ => Op::UseAtomic(node),
    }
}

fn program(dice: &mut Dice) -> Program {
    let threads = 2 + dice.below(2);
    let mut thread = |_| {
        let mut ops = Vec::new();
        for _ in 0..2 + dice.below(5 - threads) {
            let first = op(dice, true);
            ops.push(first);
            if matches!(first, Op::If(..) | Op::Change(..)) {
                ops.push(op(dice, false));
            }
        }
        ops
    };
    (0..threads).map(&mut thread).collect()
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    at: Vec<usize>,
    flags: [u32; FLAGS],
    freed: [bool; NODES],
    dropped: [bool; NODES],
}

/// All orders of all steps: what goes wrong first in some of them.
fn wrong(program: &Program) -> BTreeSet<&'static str> {
    let first = State { at: vec![0; program.len()], flags: [0; FLAGS], freed: [false; NODES], dropped: [false; NODES] };
    let (mut seen, mut todo, mut wrong) = (BTreeSet::from([first.clone()]), vec![first], BTreeSet::new());
    while let Some(state) = todo.pop() {
        for (thread, ops) in program.iter().enumerate() {
            let Some(op) = ops.get(state.at[thread]) else { continue };
            let mut next = state.clone();
            next.at[thread] += 1;
            match *op {
                Op::Store(flag, value) => next.flags[flag] = value,
                Op::If(flag, value) => next.at[thread] += usize::from(state.flags[flag] != value),
                Op::Change(flag, value, new) if state.flags[flag] == value => next.flags[flag] = new,
                Op::Change(..) => next.at[thread] += 1,
                Op::UseAtomic(node) | Op::UseCell(node) | Op::UseValue(node) | Op::Drop(node) if state.freed[node] => {
                    wrong.insert("UseAfterFree");
                    continue;
                }
                Op::UseValue(node) | Op::Drop(node) if state.dropped[node] => {
                    wrong.insert("UseAfterFree");
                    continue;
                }
                Op::Drop(node) => next.dropped[node] = true,
                Op::UseAtomic(_) | Op::UseCell(_) | Op::UseValue(_) => {}
                Op::Free(node) if state.freed[node] => {
                    wrong.insert("DoubleFree");
                    continue;
                }
                Op::Free(node) => next.freed[node] = true,
            }
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    wrong
}

struct Node {
    atomic: AtomicU32,
    cell: UnsafeCell<u32>,
    value: ManuallyDrop<Track<u32>>,
}

impl Node {
    fn new() -> Self {
        let value = ManuallyDrop::new(Track::new(0));
        Self { value, atomic: AtomicU32::new(0), cell: UnsafeCell::new(0) }
    }
}

/// The state that the threads share. Its pointers are to boxes of nodes.
struct Shared {
    flags: [AtomicU32; FLAGS],
    nodes: [*mut Node; NODES],
    freed: [StdAtomicBool; NODES],
}

// SAFETY: what the threads do with the nodes is what is tested; memory that was freed keeps its bytes.
unsafe impl Sync for Shared {}

impl Shared {
    fn new() -> Self {
        let node = || Box::into_raw(Box::new(Node::new()));
        Self { flags: Default::default(), nodes: [node(), node()], freed: Default::default() }
    }

    fn free(&self, node: usize) {
        self.freed[node].store(true, SeqCst);
        // SAFETY: it is a box. If it was freed, the check's allocator notices.
        drop(unsafe { Box::from_raw(self.nodes[node]) });
    }

    /// Performs the operations.
    fn perform(&self, ops: &[Op]) {
        let mut ops = ops.iter();
        while let Some(&op) = ops.next() {
            let goes_on = match op {
                Op::Store(flag, value) => {
                    self.flags[flag].store(value, SeqCst);
                    true
                }
                Op::If(flag, value) => self.flags[flag].load(SeqCst) == value,
                Op::Change(flag, value, new) => self.flags[flag].compare_exchange(value, new, SeqCst, SeqCst).is_ok(),
                Op::UseAtomic(node) => {
                    // SAFETY: see above.
                    unsafe { (*self.nodes[node]).atomic.load(SeqCst) };
                    true
                }
                Op::UseCell(node) => {
                    // SAFETY: see above.
                    unsafe { (*self.nodes[node]).cell.with(|_| ()) };
                    true
                }
                Op::UseValue(node) => {
                    // SAFETY: see above.
                    unsafe { (*self.nodes[node]).value.get_ref() };
                    true
                }
                Op::Drop(node) => {
                    // SAFETY: see above; a number can be dropped often.
                    unsafe { ManuallyDrop::drop(&mut (*self.nodes[node]).value) };
                    true
                }
                Op::Free(node) => {
                    self.free(node);
                    true
                }
            };
            if !goes_on {
                ops.next();
            }
        }
    }
}

fn body(program: &Program) {
    let shared = Shared::new();
    thread::scope(|scope| {
        for ops in program {
            let shared = &shared;
            scope.spawn(move || shared.perform(ops));
        }
    });
    for node in 0..NODES {
        if !shared.freed[node].load(SeqCst) {
            shared.free(node);
        }
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "how much was compared, for who asks with --nocapture")]
fn what_goes_wrong_in_some_order_is_found() {
    let number = |name: &str, usual| std::env::var(name).map_or(usual, |n| n.parse().expect("a number"));
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 300), number("RSMC_ORACLE_SEED", 0));
    let (mut failing, mut kinds) = (0, BTreeSet::new());
    for number in first..first + programs {
        let program = program(&mut Dice::new(number));
        let wrong = wrong(&program);
        failing += u64::from(!wrong.is_empty());
        kinds.extend(wrong.iter().copied());
        for config in pairs() {
            let config = config.allow_trivial(true).check_leaks(false).shrink(0);
            let report = rsmc::explore(&config, || body(&program));
            let found = match &report.verdict {
                Verdict::Failed(failure) => Some(format!("{:?}", failure.kind)),
                Verdict::Verified => None,
                other => panic!("{other:?}"),
            };
            let fits = found.as_ref().map_or(wrong.is_empty(), |found| wrong.contains(found.as_str()));
            assert!(
                fits,
                "{wrong:?}, but {:?} under {:?} finds {found:?}: {number} {program:?}",
                config.explorer, config.memory
            );
        }
    }
    println!("{programs} programs, of which {failing} are wrong");
    assert!(failing > programs / 5 && failing < programs * 4 / 5 && kinds.len() == 2);
}
