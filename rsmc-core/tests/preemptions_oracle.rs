//! The fewest preemptions of given events against brute force, which tries all orders.
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many lists of events each kind gets, `RSMC_ORACLE_SEED` shifts them.

use std::sync::atomic::Ordering;

use rsmc_core::base::{LocId, ThreadId};
use rsmc_core::consistency::{Member, Preemptions, Takes};
use rsmc_core::trace::{Action, Op, Rmw, RmwKind, Site};

use crate::dice::Dice;
use crate::oracle;

/// An event, and the events of other threads right before it.
type Given = (Member, Vec<usize>);

/// The locations 0 and 1 are atomics, 2 is a lock, and each thread has a token.
const LOCK: u32 = 2;

/// How the lists of a kind are drawn.
#[derive(Clone, Copy)]
struct Kind {
    threads: usize,
    events: usize,
    /// The chance in percent that a load takes a write that is not the last.
    old: usize,
    /// The chance that a thread may wait in a loop before a load or an update.
    waits: usize,
    /// The chance that it gives a hint before one.
    hints: usize,
    /// The chance that an operation is one of the lock or of a token.
    blocks: usize,
}

/// A list of events in an order in which they can happen.
fn draw(dice: &mut Dice, kind: Kind) -> Vec<Given> {
    let mut list: Vec<Given> = Vec::new();
    for _ in 0..kind.events {
        let thread = dice.below(kind.threads) as u32;
        let (loc, action, source) = if dice.chance(kind.blocks / 2) {
            of_token(dice, &list, thread, kind.threads)
        } else if dice.chance(kind.blocks) {
            of_lock(dice, &list, thread)
        } else {
            of_atomic(dice, &list, kind.old)
        };
        let is_held = source.is_some_and(|source| list[source].0.op.action.locks());
        let writes = action != Action::Load && !(action == Action::TryAcquire && is_held);
        let may_wait = matches!(action, Action::Load | Action::Rmw(_));
        let (waits, hinted) = (may_wait && dice.chance(kind.waits), may_wait && dice.chance(kind.hints));
        let takes = match source {
            _ if !action.reads() => Takes::Nothing,
            None => Takes::Initial,
            Some(source) => Takes::From(source as u32),
        };
        let [order, failure] = [(); 2].map(|()| if dice.chance(60) { Ordering::SeqCst } else { Ordering::Relaxed });
        let op = Op { action, loc: LocId(loc), order, failure, site: Site::default() };
        let member = Member { thread: ThreadId(thread), op, takes, writes, waits, hinted };
        let preds = if list.is_empty() || dice.chance(85) { Vec::new() } else { vec![dice.below(list.len())] };
        list.push((member, preds));
    }
    list
}

/// An operation: its location, and the write that it finds there.
type Drawn = (u32, Action, Option<usize>);

/// The writes of a location, in order.
fn writes(list: &[Given], loc: u32) -> Vec<usize> {
    (0..list.len()).filter(|&at| list[at].0.op.loc == LocId(loc) && list[at].0.writes).collect()
}

/// A thread takes its token if it is there; otherwise it makes one available.
fn of_token(dice: &mut Dice, list: &[Given], thread: u32, threads: usize) -> Drawn {
    let own = LOCK + 1 + thread;
    let last = writes(list, own).pop();
    if last.is_some_and(|last| list[last].0.op.action == Action::Unpark) {
        return (own, Action::Park, last);
    }
    let loc = LOCK + 1 + dice.below(threads) as u32;
    (loc, Action::Unpark, writes(list, loc).pop())
}

fn of_lock(dice: &mut Dice, list: &[Given], thread: u32) -> Drawn {
    let last = writes(list, LOCK).pop();
    let holder = last.map(|last| &list[last].0).filter(|last| last.op.action.locks()).map(|last| last.thread.0);
    let action = match holder {
        None => [Action::Acquire, Action::TryAcquire][dice.below(2)],
        Some(holder) if holder == thread => Action::Release { poisoned: false },
        Some(_) => Action::TryAcquire,
    };
    (LOCK, action, last)
}

fn of_atomic(dice: &mut Dice, list: &[Given], old: usize) -> Drawn {
    let loc = dice.below(2) as u32;
    let rmw = Rmw { kind: RmwKind::Add, operand: 1, bits: 32 };
    let action = [Action::Load, Action::Load, Action::Store(1), Action::Rmw(rmw)][dice.below(4)];
    let writes = writes(list, loc);
    let is_old = action == Action::Load && dice.chance(old);
    let source = if is_old { dice.below(writes.len() + 1) } else { writes.len() };
    (loc, action, source.checked_sub(1).map(|which| writes[which]))
}

/// Some reads, each with another write of its location; with a chance of `percent` each.
fn draw_outdated(dice: &mut Dice, list: &[Given], percent: usize) -> Vec<(usize, usize)> {
    let all = (0..list.len()).flat_map(|read| (0..list.len()).map(move |write| (read, write)));
    let fits = |&(read, write): &(usize, usize)| {
        let (reader, writer) = (&list[read].0, &list[write].0);
        let others = read != write && reader.takes != Takes::From(write as u32);
        others && reader.takes != Takes::Nothing && writer.writes && reader.op.loc == writer.op.loc
    };
    all.filter(|pair| fits(pair) && dice.chance(percent)).collect()
}

/// Brute force: an order so far.
struct Orders<'a> {
    list: &'a [Given],
    delays: Option<u32>,
    /// The model is one of graphs.
    is_graph: bool,
    /// By thread: whether nothing can follow its last event.
    over: &'a [bool],
    /// Reads, each with a write behind which it counts like a preemption.
    outdated: &'a [(usize, usize)],
    order: Vec<usize>,
    fewest: Option<u32>,
}

impl Orders<'_> {
    /// The write of a location that happened last.
    fn last(&self, loc: LocId) -> Option<usize> {
        let mut writes = self.order.iter().rev().filter(|&&at| self.list[at].0.writes);
        writes.find(|&&at| self.list[at].0.op.loc == loc).copied()
    }

    fn last_action(&self, loc: LocId) -> Option<Action> {
        self.last(loc).map(|at| self.list[at].0.op.action)
    }

    fn next_of(&self, thread: ThreadId) -> Option<usize> {
        (0..self.list.len()).find(|at| self.list[*at].0.thread == thread && !self.order.contains(at))
    }

    fn is_held(&self, at: usize) -> bool {
        let Op { action, loc, .. } = self.list[at].0.op;
        action == Action::Acquire && self.last_action(loc).is_some_and(Action::locks)
    }

    fn is_reached(&self, at: usize) -> bool {
        self.list[at].1.iter().all(|pred| self.order.contains(pred))
    }

    /// Whether a thread could go on with this event, whatever it would take.
    fn could_happen(&self, at: usize) -> bool {
        let member = &self.list[at].0;
        !member.waits && !member.hinted && self.is_enabled(at)
    }

    fn is_enabled(&self, at: usize) -> bool {
        let member = &self.list[at].0;
        let lacks_token = member.op.action == Action::Park && self.last_action(member.op.loc) != Some(Action::Unpark);
        self.is_reached(at) && !self.is_held(at) && !lacks_token
    }

    /// Whether this thread refuses what it offered by a hint: another one could go on. Not where a thread has no event
    /// left, and something may follow its last one.
    fn refuses(&self, next: usize) -> bool {
        let member = &self.list[next].0;
        let others = || (0..self.over.len()).filter(|&thread| thread as u32 != member.thread.0);
        let next_of = |thread: usize| self.next_of(ThreadId(thread as u32));
        member.hinted
            && others().all(|thread| next_of(thread).is_some() || self.over[thread])
            && others().filter_map(next_of).any(|next| !self.list[next].0.waits && self.is_enabled(next))
    }

    /// Whether a `SeqCst` read takes a `SeqCst` write, or the initial value, behind a later `SeqCst` write.
    fn is_out_of_order(&self, at: usize) -> bool {
        let list = self.list;
        let is_ordered = |at: usize| {
            let member = &list[at].0;
            let order = if member.writes { member.op.order } else { member.op.failure };
            order == Ordering::SeqCst
        };
        let since = match list[at].0.takes {
            Takes::Nothing => return false,
            Takes::Initial => 0,
            Takes::From(source) if is_ordered(source as usize) => {
                1 + self.order.iter().position(|&other| other == source as usize).expect("it has happened")
            }
            Takes::From(_) => return false,
        };
        let is_later = |&&other: &&usize| list[other].0.writes && is_ordered(other);
        let mut later = self.order[since..].iter().filter(is_later);
        self.is_graph && is_ordered(at) && later.any(|&other| list[other].0.op.loc == list[at].0.op.loc)
    }

    /// Tries all ways to go on after so many preemptions and delays.
    fn extend(&mut self, preemptions: u32, late: u32) {
        if self.fewest.is_some_and(|fewest| fewest <= preemptions) {
            return;
        }
        if self.order.len() == self.list.len() {
            self.fewest = Some(preemptions);
            return;
        }
        let current = self.order.last().map(|&at| self.list[at].0.thread);
        let could_go_on = current.and_then(|thread| self.next_of(thread)).is_some_and(|next| self.could_happen(next));
        let threads = 0..=self.list.iter().map(|(member, _)| member.thread.0).max().unwrap_or(0);
        for next in threads.filter_map(|thread| self.next_of(ThreadId(thread))).collect::<Vec<_>>() {
            let member = &self.list[next].0;
            let is_there = match member.takes {
                Takes::From(source) => self.order.contains(&(source as usize)),
                Takes::Initial | Takes::Nothing => true,
            };
            let is_last = match member.takes {
                Takes::From(source) => self.last(member.op.loc) == Some(source as usize),
                Takes::Initial => self.last(member.op.loc).is_none(),
                Takes::Nothing => true,
            };
            let late = late + u32::from(!is_last);
            if !is_there || !self.is_reached(next) || self.is_held(next) || self.delays.is_some_and(|most| late > most)
            {
                continue;
            }
            let is_outdated = self.outdated.iter().any(|&(read, write)| read == next && self.order.contains(&write));
            let is_taken = is_outdated
                || self.is_out_of_order(next)
                || if current == Some(member.thread) { self.refuses(next) } else { current.is_some() && could_go_on };
            self.order.push(next);
            self.extend(preemptions + u32::from(is_taken), late);
            self.order.pop();
        }
    }
}

fn compare(kind: Kind, programs: u64) {
    let mut search = Preemptions::default();
    let mut with_some = 0;
    let (programs, first) = (oracle::number("RSMC_ORACLE_PROGRAMS", programs), oracle::number("RSMC_ORACLE_SEED", 0));
    for seed in first..first + programs {
        let mut dice = Dice(seed);
        let list = draw(&mut dice, kind);
        let over: Vec<bool> = (0..kind.threads).map(|_| dice.chance(70)).collect();
        let outdated = draw_outdated(&mut dice, &list, kind.hints);
        for delays in [None, Some(0), Some(1)] {
            let (order, fewest) = (Vec::new(), None);
            let is_graph = dice.chance(60);
            let mut orders = Orders { list: &list, delays, is_graph, over: &over, outdated: &outdated, order, fewest };
            orders.extend(0, 0);
            let limit = [100, dice.below(3) as u32][dice.below(2)];
            search.clear(delays, is_graph);
            for (member, preds) in &list {
                search.push(member, preds.iter().map(|&pred| pred as u32));
            }
            for (thread, &is_over) in over.iter().enumerate() {
                search.ends(ThreadId(thread as u32), is_over);
            }
            outdated.iter().for_each(|&(read, write)| search.outdates(write as u32, read as u32));
            let found = search.fewest(limit);
            let is_right = match orders.fewest {
                Some(fewest) if fewest <= limit => found == Some(fewest),
                Some(_) => found == Some(limit + 1),
                None => found.is_none_or(|found| found == limit + 1),
            };
            assert!(
                is_right,
                "seed {seed}, {delays:?}, limit {limit}: {:?}, found {found:?}, over {over:?}: {list:#?}",
                orders.fewest
            );
            with_some += usize::from(orders.fewest.is_some_and(|fewest| fewest > 0));
        }
    }
    assert!(with_some > 0, "no list needs a preemption");
}

#[test]
fn of_atomics() {
    compare(Kind { threads: 3, events: 9, old: 0, waits: 0, hints: 0, blocks: 0 }, 400);
    compare(Kind { threads: 3, events: 9, old: 25, waits: 30, hints: 0, blocks: 0 }, 400);
}

#[test]
fn of_hints() {
    compare(Kind { threads: 2, events: 11, old: 25, waits: 0, hints: 40, blocks: 0 }, 400);
    compare(Kind { threads: 3, events: 9, old: 25, waits: 10, hints: 40, blocks: 0 }, 400);
    compare(Kind { threads: 3, events: 9, old: 25, waits: 10, hints: 40, blocks: 30 }, 400);
}

#[test]
fn of_locks_and_tokens() {
    compare(Kind { threads: 3, events: 9, old: 10, waits: 20, hints: 0, blocks: 40 }, 400);
    compare(Kind { threads: 2, events: 12, old: 10, waits: 20, hints: 0, blocks: 60 }, 400);
}

#[test]
fn of_four_threads() {
    compare(Kind { threads: 4, events: 9, old: 20, waits: 40, hints: 0, blocks: 20 }, 200);
}
