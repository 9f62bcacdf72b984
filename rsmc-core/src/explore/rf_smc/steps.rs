//! Pending schedules, packed.
//!
//! Problem. Along one path many schedules are pending, each with the steps of a whole execution.
//!
//! Method. Nearly all schedules agree on a step but for its values (what it reads or stores, and its operands), so the
//! rest of the step is kept once, in a table, and has a number. The table has as many steps as threads have places in
//! the program; where a step names a write (what a read takes under C11, what leaves a buffer), that times the writes.
//! A schedule is a row of small numbers, each in as many bytes as it needs: two to four for a step, and two for an
//! entry of `τ`. The names of entries are computed from the run, when there is one.

use std::mem::take;

use rustc_hash::FxHashMap;

use crate::base::{EventId, ThreadId, mix};
use crate::explore::rf_smc::tau::Entry;
use crate::explore::rf_smc::witness::Witness;
use crate::step::{Forced, Step};
use crate::trace::Action;

/// A forced step: its number in the table, and its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbered {
    number: u32,
    /// The value that it reads or stores, or 0.
    value: u64,
    /// Its operands.
    operands: [u64; 2],
}

impl Numbered {
    /// This step of an operation that reads, with another value that it reads.
    pub(super) fn reading(self, value: u64) -> Self {
        Self { value, ..self }
    }
}

/// The table of steps without their values.
#[derive(Debug, Default)]
pub(super) struct Steps {
    known: Vec<Forced>,
    /// The number of a step by its [`name_of`], or by the first one after that which no step before it has.
    numbers: FxHashMap<u64, u32>,
}

/// A hash of most parts of a step, which few other steps share, and which is quick to compute.
fn name_of(forced: &Forced) -> u64 {
    let id = |id: EventId| u64::from(id.thread.0) << 32 | u64::from(id.index);
    let step = match forced.step {
        Step::Run(thread) => u64::from(thread.0),
        Step::Take(thread, write) => mix(u64::from(thread.0) << 2 | 1, write.map_or(u64::MAX, id)),
        Step::Choose { thread, which, takes } => {
            mix(mix(u64::from(thread.0) << 2 | 2, which), takes.flatten().map_or(u64::MAX, id))
        }
        Step::Flush(store) => mix(3, id(store)),
    };
    let Some(expect) = forced.expect else { return step };
    let (line, column) = expect.site.line_and_column();
    mix(step, u64::from(line) << 32 | u64::from(column))
}

impl Steps {
    pub(super) fn number(&mut self, forced: &Forced) -> Numbered {
        let (mut known, mut value, mut operands) = (*forced, 0, [0; 2]);
        if let Some(expect) = &mut known.expect {
            value = expect.read.take().unwrap_or(0);
            match &mut expect.action {
                Action::Store(stored) => value = take(stored),
                Action::Rmw(rmw) => operands[0] = take(&mut rmw.operand),
                Action::Cas { expected, new, .. } | Action::Fail { expected, new } => {
                    operands = [take(expected), take(new)];
                }
                _ => {}
            }
        }
        Numbered { number: self.number_known(&known), value, operands }
    }

    fn number_known(&mut self, known: &Forced) -> u32 {
        let mut name = name_of(known);
        loop {
            let new = self.known.len() as u32;
            let number = *self.numbers.entry(name).or_insert(new);
            if number == new {
                self.known.push(*known);
            }
            if self.known[number as usize] == *known {
                return number;
            }
            name = name.wrapping_add(1);
        }
    }

    /// By event: the step in which it happened; `None` if the step names a write, too.
    pub(super) fn of_events<'a>(&'a self, steps: &'a [Numbered]) -> impl Iterator<Item = Option<Numbered>> + 'a {
        steps.iter().filter_map(|step| match self.known[step.number as usize].step {
            Step::Flush(_) => None,
            Step::Run(_) | Step::Choose { takes: None, .. } => Some(Some(*step)),
            Step::Take(..) | Step::Choose { .. } => Some(None),
        })
    }

    #[inline]
    pub(super) fn forced(&self, Numbered { number, value, operands }: Numbered) -> Forced {
        let mut forced = self.known[number as usize];
        if let Some(expect) = &mut forced.expect {
            match &mut expect.action {
                Action::Store(stored) => *stored = value,
                Action::Rmw(rmw) => rmw.operand = operands[0],
                Action::Cas { expected, new, .. } | Action::Fail { expected, new } => [*expected, *new] = operands,
                _ => {}
            }
            expect.read = expect.action.reads().then_some(value);
        }
        forced
    }

    /// The execution that was packed.
    pub(super) fn witness(&self, packed: &Packed) -> Witness {
        let mut witness = Witness::default();
        packed.for_each_step(|step| witness.steps.push(self.forced(step)), &mut witness.modification);
        witness
    }
}

/// The entries from a decision's place on, and an execution of the whole sequence: lists of numbers of seven bits a
/// byte, the last byte of each below 128.
#[derive(Debug)]
pub(super) struct Packed {
    bytes: Box<[u8]>,
    /// The place at which the execution begins.
    execution: u32,
    /// The number of entries.
    entries: u32,
}

/// Packs; keeps its memory from one schedule to the next.
#[derive(Debug, Default)]
pub(super) struct Packer(Vec<u8>);

impl Packer {
    pub(super) fn pack(
        &mut self,
        suffix: impl Iterator<Item = Entry>,
        steps: &[Numbered],
        modification: &[EventId],
    ) -> Packed {
        self.0.clear();
        let mut entries = 0;
        for Entry { id, is_new } in suffix {
            self.put(u64::from(id.thread.0));
            self.put(u64::from(id.index) << 1 | u64::from(is_new));
            entries += 1;
        }
        let execution = self.0.len() as u32;
        self.put(steps.len() as u64);
        for &Numbered { number, value, operands } in steps {
            let has_operands = operands != [0; 2];
            self.put_pair(u64::from(number) << 1 | u64::from(has_operands), value);
            if has_operands {
                operands.into_iter().for_each(|operand| self.put(operand));
            }
        }
        self.put(modification.len() as u64);
        for write in modification {
            self.put(u64::from(write.thread.0));
            self.put(u64::from(write.index));
        }
        Packed { bytes: self.0.as_slice().into(), execution, entries }
    }

    #[inline]
    fn put_pair(&mut self, one: u64, other: u64) {
        if (one | other) < 1 << 7 {
            self.0.extend_from_slice(&[one as u8, other as u8]);
        } else {
            self.put(one);
            self.put(other);
        }
    }

    #[inline]
    fn put(&mut self, mut number: u64) {
        while number >= 1 << 7 {
            self.0.push(number as u8 | 1 << 7);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

impl Packed {
    /// The numbers of entries and of steps.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.entries as usize, Rest(&self.bytes[self.execution as usize..]).take() as usize)
    }

    /// Visits the entries from the decision's place on.
    #[inline]
    pub(super) fn for_each_entry(&self, mut visit: impl FnMut(Entry)) {
        let mut rest = Rest(&self.bytes[..self.execution as usize]);
        while !rest.0.is_empty() {
            let (thread, last) = rest.take_pair();
            let id = EventId { thread: ThreadId(thread as u32), index: (last >> 1) as u32 };
            visit(Entry { id, is_new: last & 1 == 1 });
        }
    }

    /// Visits the steps of the execution, and adds to the modification order.
    #[inline]
    pub(super) fn for_each_step(&self, mut visit: impl FnMut(Numbered), modification: &mut Vec<EventId>) {
        let mut rest = Rest(&self.bytes[self.execution as usize..]);
        for _ in 0..rest.take() {
            let (number, value) = rest.take_pair();
            let operands = if number & 1 == 1 { [rest.take(), rest.take()] } else { [0; 2] };
            visit(Numbered { number: (number >> 1) as u32, value, operands });
        }
        for _ in 0..rest.take() {
            let thread = ThreadId(rest.take() as u32);
            modification.push(EventId { thread, index: rest.take() as u32 });
        }
    }
}

/// The bytes that are not read yet.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    #[inline]
    fn take_pair(&mut self) -> (u64, u64) {
        match *self.0 {
            [one, other, ref rest @ ..] if (one | other) < 1 << 7 => {
                self.0 = rest;
                (one.into(), other.into())
            }
            _ => (self.take(), self.take()),
        }
    }

    #[inline]
    fn take(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while let Some((&byte, rest)) = self.0.split_first() {
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 1 << 7 {
                break;
            }
            shift += 7;
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_one_number() {
        let mut steps = Steps::default();
        let store = |index| Forced::flush(EventId { thread: ThreadId(1), index });
        let (one, other) = (steps.number(&store(1)), steps.number(&store(2)));
        assert_eq!((steps.number(&store(2)), steps.number(&store(1))), (other, one));
        assert_eq!((steps.forced(one), steps.forced(other)), (store(1), store(2)));
        // Another step has taken the name of this one.
        steps.numbers.insert(name_of(&store(3)), one.number);
        let third = steps.number(&store(3));
        assert_eq!((steps.forced(third), steps.number(&store(3))), (store(3), third));
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        let id = |thread, index| EventId { thread: ThreadId(thread), index };
        let placed = [(id(0, 63), true), (id(900, 64), false), (id(1, u32::MAX >> 1), true)];
        let placed = placed.map(|(id, is_new)| Entry { id, is_new });
        let steps = [(0, 0, [0, 0]), (127, 128, [1, 0]), (u32::MAX, u64::MAX, [0, u64::MAX]), (300, 1 << 47, [128, 1])];
        let steps = steps.map(|(number, value, operands)| Numbered { number, value, operands });
        let modification = [id(3, 0), id(70_000, 5)];
        let packed = Packer::default().pack(placed.into_iter(), &steps, &modification);
        assert_eq!(packed.counts(), (placed.len(), steps.len()));
        let (mut first, mut second, mut third) = (Vec::new(), Vec::new(), Vec::new());
        packed.for_each_entry(|entry| first.push(entry));
        packed.for_each_step(|step| second.push(step), &mut third);
        assert_eq!((first, second, third), (placed.to_vec(), steps.to_vec(), modification.to_vec()));
    }
}
