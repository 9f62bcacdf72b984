//! Brute force: what the events of a draft can do, by explicit store buffers. Shares no code with the library.

use std::collections::HashSet;

use rsmc_core::consistency::{Move, Shape};
use rsmc_core::model::MemoryModel::{self, Pso};

use crate::dice::Dice;
use crate::drafts::Draft;

/// The initial value among the sources; otherwise a source is the number of a write.
pub const INIT: u8 = 31;

/// The events that are performed and flushed, and by location the write in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    performed: u32,
    flushed: u32,
    memory: [u8; 4],
}

impl State {
    const START: State = State { performed: 0, flushed: 0, memory: [INIT; 4] };
}

/// A step: the state behind it, the move, and what an event finds that reads.
type Step = (State, Move, Option<u8>);

/// A visitor of the moves of a play, with the write that each event finds, if it reads.
pub type Visit<'a> = dyn FnMut(&[Move], &[Option<u8>]) + 'a;

/// The first `count` events of a draft, whose numbers ascend along program order.
pub struct Machine<'a> {
    pub draft: &'a Draft,
    pub count: usize,
    pub model: MemoryModel,
}

impl Machine<'_> {
    /// Every way in which the events can happen, whatever the reads find.
    pub fn plays(&self, visit: &mut Visit) {
        self.extend(State::START, &mut Vec::new(), &mut vec![None; self.count], visit);
    }

    fn extend(&self, state: State, moves: &mut Vec<Move>, found: &mut Vec<Option<u8>>, visit: &mut Visit) {
        if self.is_complete(state) {
            return visit(moves, found);
        }
        for event in 0..self.count {
            let Some((next, step, source)) = self.step(state, event) else { continue };
            moves.push(step);
            found[event] = source.or(found[event]);
            self.extend(next, moves, found, visit);
            moves.pop();
        }
    }

    /// Whether they can happen so that every read finds one of its good writes: by event, a bit for each source.
    pub fn is_possible(&self, goods: &[u32]) -> bool {
        let (mut seen, mut open) = (HashSet::new(), vec![State::START]);
        while let Some(state) = open.pop() {
            if self.is_complete(state) {
                return true;
            }
            if seen.insert(state) {
                let steps = (0..self.count).filter_map(|event| Some((event, self.step(state, event)?)));
                let good =
                    |event: usize, source: Option<u8>| source.is_none_or(|source| goods[event] >> source & 1 == 1);
                open.extend(steps.filter(|&(event, (_, _, source))| good(event, source)).map(|(_, step)| step.0));
            }
        }
        false
    }

    /// One of the plays.
    pub fn random_play(&self, dice: &mut Dice) -> (Vec<Move>, Vec<Option<u8>>) {
        let (mut state, mut moves, mut found) = (State::START, Vec::new(), vec![None; self.count]);
        while !self.is_complete(state) {
            let event = dice.below(self.count);
            if let Some((next, step, source)) = self.step(state, event) {
                state = next;
                moves.push(step);
                found[event] = source.or(found[event]);
            }
        }
        (moves, found)
    }

    fn waits(&self, state: State, event: usize) -> bool {
        self.draft.shapes[event].buffered && (state.performed & !state.flushed) >> event & 1 == 1
    }

    fn is_complete(&self, state: State) -> bool {
        state.performed.count_ones() as usize == self.count && !(0..self.count).any(|event| self.waits(state, event))
    }

    /// An event is performed, and then, if it is buffered, flushed.
    fn step(&self, state: State, event: usize) -> Option<Step> {
        let shape = self.draft.shapes[event];
        if state.performed >> event & 1 == 0 {
            self.perform(state, event, shape)
        } else if self.waits(state, event) {
            self.flush(state, event, shape)
        } else {
            None
        }
    }

    fn perform(&self, mut state: State, event: usize, shape: Shape) -> Option<Step> {
        let Draft { shapes, edges, fences } = self.draft;
        let is = |mask: u32, other: usize| mask >> other & 1 == 1;
        let own: Vec<usize> =
            (0..event).filter(|&other| shapes[other].thread == shape.thread && self.waits(state, other)).collect();
        let stays = edges.iter().any(|&(a, b)| b == event && !is(state.performed, a))
            || fences.iter().any(|&(store, b)| b == event && !is(state.flushed, store))
            || (shape.writes && !shape.buffered && !own.is_empty());
        if stays {
            return None;
        }
        let newest = own.iter().rfind(|&&store| shapes[store].loc == shape.loc);
        let memory = &mut state.memory[shape.loc.0 as usize];
        let found = newest.map_or(*memory, |&store| store as u8);
        if shape.writes && !shape.buffered {
            *memory = event as u8;
        }
        state.performed |= 1 << event;
        Some((state, Move::Perform(event), shape.reads.then_some(found)))
    }

    fn flush(&self, mut state: State, store: usize, shape: Shape) -> Option<Step> {
        let goes_first = |&older: &usize| {
            let other = self.draft.shapes[older];
            let ordered = self.model != Pso || other.loc == shape.loc || other.epoch < shape.epoch;
            other.thread == shape.thread && ordered && self.waits(state, older)
        };
        if (0..store).any(|older| goes_first(&older)) {
            return None;
        }
        state.flushed |= 1 << store;
        state.memory[shape.loc.0 as usize] = store as u8;
        Some((state, Move::Flush(store), None))
    }
}
