//! Loops that wait, with what they remember elsewhere than in locals: in cells, on the heap, in a closure, in a
//! thread-local.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32 as StdAtomicU32, Ordering::Relaxed};

use rsmc::sync::Mutex;
use rsmc::sync::atomic::AtomicU32;

use super::body::{END, How, Shape, Shared, shapes};

pub const SHAPES: &[(&str, Shape)] = shapes! {
    maximum_in_cell, counter_in_cell, maximum_in_box, counter_in_box, saturating_in_box, unbounded_in_box,
    behind_mut_self, counter_behind_mut_self, log, log_of_changes, set_in_vec, maximum_in_closure,
    counter_in_closure, last_in_ref_cell, shared_cell, thread_local_maximum, thread_local_counter, text,
    counts_of_values, new_box_each_time, list, last_in_deque, reset_by_change, box_at_second, private_mutex,
    private_mutex_counter, plain_atomic, private_atomic, swapped_boxes, boxed_trait, vec_of_flags, capacity,
};

fn maximum_in_cell(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let max = Cell::new(0);
    let note = |value: u32| max.set(max.get().max(value));
    while x.load(h.order) == 0 {
        note(y.load(h.order));
        h.pause();
    }
    max.get()
}

fn counter_in_cell(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let tries = Cell::new(0);
    let count = || tries.replace(tries.get() + 1) < h.n;
    while x.load(h.order) == 0 && count() {
        h.pause();
    }
    tries.get()
}

fn maximum_in_box(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut max = std::hint::black_box(Box::new(0));
    while x.load(h.order) == 0 {
        *max = (*max).max(y.load(h.order));
        h.pause();
    }
    *max
}

fn counter_in_box(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut tries = std::hint::black_box(Box::new(0));
    while x.load(h.order) == 0 && *tries < h.n {
        **std::hint::black_box(&mut tries) += 1;
        h.pause();
    }
    *tries
}

fn saturating_in_box(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut tries = std::hint::black_box(Box::new(0));
    while x.load(h.order) == 0 {
        *tries = h.n.min(*tries + 1);
        h.pause();
    }
    *tries
}

/// Its state never repeats.
fn unbounded_in_box(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut tries = std::hint::black_box(Box::new(0_u32));
    while x.load(h.order) == 0 {
        **std::hint::black_box(&mut tries) += 1;
        h.pause();
    }
    (*tries).min(2)
}

struct Backoff {
    step: u32,
    max: u32,
}

impl Backoff {
    fn new() -> Box<Self> {
        Box::new(Self { step: 0, max: 0 })
    }

    #[inline(never)]
    fn note(&mut self, value: u32, h: How) {
        self.max = self.max.max(value);
        h.pause();
    }

    /// False if it has waited enough.
    #[inline(never)]
    fn snooze(&mut self, h: How) -> bool {
        self.step += 1;
        h.pause();
        self.step < h.n
    }
}

fn behind_mut_self(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut backoff = Backoff::new();
    while x.load(h.order) != END {
        backoff.note(y.load(h.order), h);
    }
    backoff.max
}

fn counter_behind_mut_self(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut backoff = Backoff::new();
    while x.load(h.order) == 0 && backoff.snooze(h) {}
    backoff.step
}

/// A number for a sequence of small values.
fn number(values: &[u32]) -> u32 {
    values.iter().fold(1, |sum, value| (10 * sum + value) % 1_000_000)
}

fn log(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut log = Vec::new();
    while log.len() < h.n as usize && log.last() != Some(&END) {
        log.push(x.load(h.order));
        h.pause();
    }
    number(&log)
}

fn log_of_changes(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut log = vec![];
    loop {
        let value = x.load(h.order);
        if log.last() != Some(&value) {
            log.push(value);
        }
        if value == END || log.len() > 4 {
            return number(&log);
        }
        h.pause();
    }
}

fn set_in_vec(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut seen = Vec::with_capacity(16);
    while x.load(h.order) == 0 {
        let value = y.load(h.order);
        if !seen.contains(&value) {
            seen.push(value);
        }
        h.pause();
    }
    number(&seen)
}

fn run(step: &mut dyn FnMut() -> Option<u32>) -> u32 {
    loop {
        if let Some(result) = step() {
            return result;
        }
    }
}

fn maximum_in_closure(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut max = 0;
    let mut step: Box<dyn FnMut() -> Option<u32> + '_> = Box::new(move || {
        max = max.max(y.load(h.order));
        h.pause();
        (x.load(h.order) != 0).then_some(max)
    });
    run(&mut *step)
}

fn counter_in_closure(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut tries = 0;
    let mut step: Box<dyn FnMut() -> Option<u32> + '_> = Box::new(move || {
        tries += 1;
        h.pause();
        (x.load(h.order) != 0 || tries == h.n).then_some(tries)
    });
    run(&mut *step)
}

fn last_in_ref_cell(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let values = RefCell::new((0, 0));
    while x.load(h.order) == 0 {
        let value = y.load(h.order);
        let mut values = values.borrow_mut();
        *values = (values.1, value);
        h.pause();
    }
    let (before, last) = values.into_inner();
    10 * before + last
}

fn shared_cell(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let sum = Rc::new(Cell::new(0));
    let other = Rc::clone(&sum);
    while x.load(h.order) == 0 {
        other.set((sum.get() + y.load(h.order)).min(5));
        h.pause();
    }
    sum.get()
}

rsmc::thread_local! {
    static LOCAL: Cell<u32> = const { Cell::new(0) };
}

fn thread_local_maximum(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    while x.load(h.order) == 0 {
        let value = y.load(h.order);
        LOCAL.with(|local| local.set(local.get().max(value)));
        h.pause();
    }
    LOCAL.with(Cell::get)
}

fn thread_local_counter(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let count = || LOCAL.with(|local| local.replace(local.get() + 1)) < h.n;
    while x.load(h.order) == 0 && count() {
        h.pause();
    }
    LOCAL.with(Cell::get)
}

fn text(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut text = String::new();
    loop {
        let value = x.load(h.order);
        let letter = char::from(b'0' + value as u8 % 10);
        if !text.ends_with(letter) {
            text.push(letter);
        }
        if value == END || text.len() as u32 > h.n {
            return text.parse().unwrap();
        }
        h.pause();
    }
}

fn counts_of_values(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    while x.load(h.order) == 0 {
        let count = counts.entry(y.load(h.order)).or_default();
        *count = (*count + 1).min(2);
        h.pause();
    }
    counts.iter().fold(0, |sum, (value, count)| (sum * 7 + value * 3 + count) % 10_007)
}

fn new_box_each_time(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut max = Box::new(0);
    while x.load(h.order) == 0 {
        max = std::hint::black_box(Box::new((*max).max(y.load(h.order))));
        h.pause();
    }
    *max
}

struct Link(u32, Option<Box<Link>>);

fn list(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut first: Option<Box<Link>> = None;
    while x.load(h.order) == 0 {
        let value = y.load(h.order);
        if first.as_ref().is_none_or(|link| link.0 != value) {
            first = Some(Box::new(Link(value, first.take())));
        }
        h.pause();
    }
    let mut sum = 1;
    while let Some(link) = first {
        sum = (10 * sum + link.0) % 1_000_000;
        first = link.1;
    }
    sum
}

fn last_in_deque(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut last = VecDeque::from([0, 0]);
    while x.load(h.order) == 0 {
        last.pop_front();
        last.push_back(y.load(h.order));
        h.pause();
    }
    10 * last[0] + last[1]
}

fn reset_by_change(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut state = Box::new((0, 0));
    while state.0 < END && state.1 < h.n {
        let value = x.load(h.order);
        *state = if value == state.0 { (value, state.1 + 1) } else { (value, 0) };
        h.pause();
    }
    10 * state.0 + state.1
}

fn box_at_second(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let (mut was_here, mut kept) = (false, None);
    while x.load(h.order) == 0 {
        if was_here && kept.is_none() {
            kept = Some(Box::new(y.load(h.order)));
        }
        was_here = true;
        h.pause();
    }
    kept.map_or(9, |kept| *kept)
}

/// Under a lock that no other thread knows.
fn private_mutex(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let max = Mutex::new(0);
    while x.load(h.order) == 0 {
        let value = y.load(h.order);
        let mut max = max.lock().unwrap();
        *max = value.max(*max);
        drop(max);
        h.pause();
    }
    max.into_inner().unwrap()
}

fn private_mutex_counter(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let tries = Box::new(Mutex::new(0));
    while x.load(h.order) == 0 {
        let mut tries = tries.lock().unwrap();
        *tries += 1;
        if *tries == h.n {
            return 10 * h.n;
        }
        drop(tries);
        h.pause();
    }
    *tries.lock().unwrap()
}

/// An atomic that is not modelled.
fn plain_atomic(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let max = Box::new(StdAtomicU32::new(0));
    while x.load(h.order) == 0 {
        max.fetch_max(y.load(h.order), Relaxed);
        h.pause();
    }
    max.load(Relaxed)
}

/// An atomic that no other thread knows.
fn private_atomic(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let tries = AtomicU32::new(0);
    while x.load(h.order) == 0 && tries.fetch_add(1, h.order_rmw) < h.n.min(3) {
        h.pause();
    }
    tries.load(h.order)
}

/// Two boxes change places, so pointers differ where values do not.
fn swapped_boxes(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let (mut one, mut other) = (Box::new(0), Box::new(0));
    while x.load(h.order) == 0 {
        *one = y.load(h.order);
        std::mem::swap(&mut one, &mut other);
        h.pause();
    }
    10 * *one + *other
}

trait Keeps {
    /// False if it has enough.
    fn keep(&mut self, value: u32) -> bool;
    fn kept(&self) -> u32;
}

impl Keeps for Vec<u32> {
    fn keep(&mut self, value: u32) -> bool {
        self.push(value);
        self.len() < 3
    }

    fn kept(&self) -> u32 {
        number(self)
    }
}

impl Keeps for Cell<u32> {
    fn keep(&mut self, value: u32) -> bool {
        self.set(self.get() | 1 << value.min(7));
        true
    }

    fn kept(&self) -> u32 {
        self.get()
    }
}

fn boxed_trait(s: &Shared, h: How) -> u32 {
    let [x, y, _] = s.chosen(h);
    let mut keeps: Box<dyn Keeps> = if h.n.is_multiple_of(2) { Box::new(Vec::new()) } else { Box::new(Cell::new(0)) };
    while x.load(h.order) == 0 && keeps.keep(y.load(h.order)) {
        h.pause();
    }
    keeps.kept()
}

fn vec_of_flags(s: &Shared, h: How) -> u32 {
    let mut seen = vec![false; 3];
    while !seen.iter().all(|&seen| seen) {
        for (x, seen) in s.x.iter().zip(&mut seen) {
            *seen |= x.load(h.order) != 0;
        }
        h.pause();
        if seen[h.a] {
            break;
        }
    }
    seen.iter().fold(0, |sum, &seen| 2 * sum + u32::from(seen))
}

/// Only the room of a vector tells how often it was here.
fn capacity(s: &Shared, h: How) -> u32 {
    let [x, ..] = s.chosen(h);
    let mut room: Vec<u32> = Vec::new();
    while x.load(h.order) == 0 {
        if room.capacity() < 4 {
            room.reserve_exact(room.capacity() + 1);
        }
        h.pause();
    }
    room.capacity() as u32
}
