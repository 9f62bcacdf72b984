//! Saturation: the order that every execution under SC has, or a proof that there is none.
//!
//! Problem. The given order of the events is not that of any execution. Which of them have to change places?
//!
//! Method. Under SC an event comes after what is before it in program order and after the write that it reads; another
//! write comes before that write if it comes before the reader (closure, rule 3), and after the reader if it comes
//! after that write (rule 4). The least transitive order with all that is found by adding to it. Events enter it one
//! after the other, with the rules for their pairs with those that are there; a pair of which nothing is known stays
//! open, and is tried again until nothing changes. If an event comes before itself, there is no execution.
//!
//! Cost. Pairs of a read and a write of a location, times passes over those that are open. Putting something before an
//! event that has just entered costs the words of a row; before another one, which is rarer, that times the events.
//!
//! Source. The rules of the closure (`consistency::closure`), where every read has one good write.

use crate::base::{BitMatrix, BitSet, Cycle};
use crate::consistency::near_sc::{NOBODY, Part};

/// An order of the events; keeps its memory from one question to the next.
#[derive(Debug, Default)]
pub struct Order {
    /// Row of an event: the events that come before it.
    before: BitMatrix,
    /// By location: the last event of it that entered; by event: the one before it.
    last: Vec<u32>,
    previous: Vec<u32>,
    open: Vec<Pair>,
    /// The events that have happened, as far as [`Order::is_met`] has seen them, and their number.
    done: BitSet,
    counted: usize,
}

/// A read and another write than that which it reads.
#[derive(Clone, Copy, Debug)]
struct Pair {
    read: u32,
    source: u32,
    write: u32,
}

/// The knowledge about a pair.
enum Known {
    /// The sides of the read, and of its source, on which the write is.
    All,
    /// An edge that follows: the first event comes before the second.
    Edge(u32, u32),
    Nothing,
}

impl Order {
    /// Finds the order that every execution under SC has. The parts are in the order of their numbers; the events
    /// before one in program order, `preds`, have smaller numbers.
    pub fn saturate<'a>(
        &mut self,
        (actors, locs): (usize, usize),
        parts: &[Part],
        preds: impl Fn(u32) -> &'a [u32],
    ) -> Result<(), Cycle> {
        self.before.reset(actors);
        self.last.clear();
        self.last.resize(locs, NOBODY);
        self.previous.clear();
        self.open.clear();
        self.counted = 0;
        self.done.reset(actors);
        for entered in 1..=parts.len() {
            self.enter(&parts[..entered], &preds)?;
        }
        for part in parts.iter().filter(|part| part.reads && part.source > part.who && part.source != NOBODY) {
            self.add(part.source, part.who, parts)?;
        }
        let mut before = usize::MAX;
        while !self.open.is_empty() && self.open.len() < before {
            before = self.open.len();
            self.close_open_pairs(parts)?;
        }
        Ok(())
    }

    /// Whether all events that come before an event are among those that happened; these only become more from call to
    /// call.
    pub fn is_met(&mut self, who: u32, happened: &[u32]) -> bool {
        happened[self.counted..].iter().for_each(|&earlier| self.done.insert(earlier as usize));
        self.counted = happened.len();
        self.before.row(who as usize).iter().zip(self.done.words()).all(|(before, done)| before & !done == 0)
    }

    /// Adds the last of these parts, behind the events that it comes after.
    fn enter<'a>(&mut self, parts: &[Part], preds: impl Fn(u32) -> &'a [u32]) -> Result<(), Cycle> {
        let (number, part) = (parts.len() - 1, parts[parts.len() - 1]);
        let source = (part.reads && part.source < part.who).then_some(part.source);
        for &earlier in preds(part.who).iter().chain(&source) {
            self.put_before(earlier, part.who);
        }
        let mut at = std::mem::replace(&mut self.last[part.loc as usize], number as u32);
        self.previous.push(at);
        while at != NOBODY {
            let other = parts[at as usize];
            if other.reads && part.writes {
                self.meet(other, part.who, parts)?;
            }
            if other.writes && part.reads {
                self.meet(part, other.who, parts)?;
            }
            at = self.previous[at as usize];
        }
        Ok(())
    }

    /// Applies the rules to a read and a write, one of which is the last of these parts: nothing is after it.
    fn meet(&mut self, Part { who: read, source, .. }: Part, write: u32, parts: &[Part]) -> Result<(), Cycle> {
        let pair = Pair { read, source, write };
        if write == source {
            return Ok(());
        }
        match self.known(pair) {
            Known::All => {}
            Known::Edge(a, b) if b == parts[parts.len() - 1].who => self.put_before(a, b),
            Known::Edge(a, b) => self.add(a, b, parts)?,
            Known::Nothing => self.open.push(pair),
        }
        Ok(())
    }

    /// Applies the rules to the open pairs.
    fn close_open_pairs(&mut self, parts: &[Part]) -> Result<(), Cycle> {
        let mut kept = 0;
        for i in 0..self.open.len() {
            let pair = self.open[i];
            match self.known(pair) {
                Known::All => {}
                Known::Edge(a, b) => self.add(a, b, parts)?,
                Known::Nothing => {
                    self.open[kept] = pair;
                    kept += 1;
                }
            }
        }
        self.open.truncate(kept);
        Ok(())
    }

    /// The knowledge about a pair, by rules 3 and 4.
    fn known(&self, Pair { read, source, write }: Pair) -> Known {
        let is_initial = source == NOBODY;
        if self.comes_before(write, read) {
            let is_older = !is_initial && self.comes_before(write, source);
            return if is_older { Known::All } else { Known::Edge(write, source) };
        }
        if self.comes_before(read, write) {
            return Known::All;
        }
        let is_newer = is_initial || self.comes_before(source, write);
        if is_newer { Known::Edge(read, write) } else { Known::Nothing }
    }

    fn comes_before(&self, a: u32, b: u32) -> bool {
        self.before.get(b as usize, a as usize)
    }

    /// Puts an event, and all before it, before another one.
    fn put_before(&mut self, a: u32, b: u32) {
        self.before.add_with_row(b as usize, a as usize);
    }

    /// Puts an event, and all before it, before another one and all of these that are after that. Nothing is before the
    /// initial values.
    fn add(&mut self, a: u32, b: u32, parts: &[Part]) -> Result<(), Cycle> {
        if a == b || b == NOBODY || self.comes_before(b, a) {
            return Err(Cycle);
        }
        for who in parts.iter().map(|part| part.who) {
            if who == b || self.comes_before(b, who) {
                self.put_before(a, who);
            }
        }
        Ok(())
    }
}
