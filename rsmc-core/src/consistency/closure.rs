//! Closure: the orderings that every witness must have, or proof that there is none.
//!
//! Problem. Given events, program order and good writes, find the weakest order that every sequentially consistent
//! execution refines, at low cost, before any search.
//!
//! Algorithm. Start with program order and apply to every read, until nothing changes, the four rules of the source.
//! With `Cl(r)` the good writes that `r` can still see: (1) `Cl(r)` is not empty; (2) its least element is before
//! `r`; (3) a bad write before `r` is before its greatest element; (4) a bad write after all of `Cl(r)` is after `r`.
//!
//! Cost. Each round is O(reads × writes) bit operations on whole words; each new edge costs O(n²/64), and there are
//! at most n² edges.
//!
//! Source. Toman, "Improved Verification Techniques for Concurrent Systems" (thesis, ISTA 2021), 4.2.2; the same rules
//! in the CAV 2021 paper.
//!
//! Deviations. (1) An update (read-modify-write) is one event: it is a read for the rules, and a bad write for
//! every other read. Sound, since it reads and writes at one point of every execution. (2) The initial value is a
//! write before everything, without being an event.

use crate::base::{BitSet, Cycle, LocId, Poset, ones};
use crate::consistency::Instance;

/// Buffers of [`close`], kept from call to call.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub(super) writes: Vec<BitSet>,
    /// Good writes by read: the ends of each read's part of `good_writes`.
    good_ends: Vec<u32>,
    good_writes: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    edges: Vec<(usize, usize)>,
    visible: Vec<usize>,
}

impl Scratch {
    pub(super) fn prepare(&mut self, instance: &Instance) {
        instance.writes_by_loc(&mut self.writes);
        let goods = &mut self.pairs;
        goods.clear();
        goods.extend_from_slice(&instance.goods);
        goods.sort_unstable();
        self.good_writes.clear();
        self.good_ends.clear();
        let mut rest = goods.iter().peekable();
        for read in 0..instance.items.len() as u32 {
            while let Some(&(_, write)) = rest.next_if(|(r, _)| *r == read) {
                self.good_writes.push(write);
            }
            self.good_ends.push(self.good_writes.len() as u32);
        }
    }

    /// The good writes of a read, in ascending order.
    pub(super) fn good(&self, read: usize) -> &[u32] {
        let start = if read == 0 { 0 } else { self.good_ends[read - 1] as usize };
        &self.good_writes[start..self.good_ends[read] as usize]
    }

    /// Whether a write is good for a read.
    pub(super) fn is_good(&self, read: usize, write: u32) -> bool {
        self.good(read).binary_search(&write).is_ok()
    }

    pub(super) fn writes(&self, loc: LocId) -> &[u64] {
        self.writes[loc.0 as usize].words()
    }
}

/// Extends `order` (reset to the instance's size by this call) to the closure of the instance.
pub fn close(instance: &Instance, order: &mut Poset) -> Result<(), Cycle> {
    let mut scratch = Scratch::default();
    scratch.prepare(instance);
    close_with(instance, order, &mut scratch)
}

pub(super) fn close_with(instance: &Instance, order: &mut Poset, scratch: &mut Scratch) -> Result<(), Cycle> {
    order.rebuild(instance.items.len(), &instance.edges)?;
    loop {
        let mut changed = false;
        for read in (0..instance.items.len()).filter(|&i| instance.items[i].reads) {
            changed |= apply_rules(instance, read, order, scratch)?;
        }
        if !changed {
            return Ok(());
        }
    }
}

/// Applies the rules to one read. Returns whether the order grew.
fn apply_rules(instance: &Instance, read: usize, order: &mut Poset, scratch: &mut Scratch) -> Result<bool, Cycle> {
    let item = instance.items[read];
    let init_visible = instance.init_good[read] && !overwritten(None, read, order, scratch.writes(item.loc));
    let mut visible = std::mem::take(&mut scratch.visible);
    visible.clear();
    let sees = |w: usize| !order.lt(read, w) && !overwritten(Some(w), read, order, scratch.writes(item.loc));
    visible.extend(scratch.good(read).iter().map(|&w| w as usize).filter(|&w| sees(w)));
    let mut edges = std::mem::take(&mut scratch.edges);
    edges.clear();
    let possible = init_visible || !visible.is_empty();
    if possible {
        rule_2(read, init_visible, &visible, order, &mut edges);
        let good = |w: usize| scratch.is_good(read, w as u32);
        rules_3_and_4(read, init_visible, &visible, order, scratch.writes(item.loc), good, &mut edges);
    }
    let result = if possible { add_all(&edges, order) } else { Err(Cycle) };
    scratch.visible = visible;
    scratch.edges = edges;
    result
}

fn add_all(edges: &[(usize, usize)], order: &mut Poset) -> Result<bool, Cycle> {
    let mut grew = false;
    for &(a, b) in edges {
        grew |= !order.lt(a, b);
        order.add(a, b)?;
    }
    Ok(grew)
}

/// Whether some other write must come between `write` and `read`.
fn overwritten(write: Option<usize>, read: usize, order: &Poset, writes: &[u64]) -> bool {
    let between = writes.iter().zip(order.before(read)).enumerate();
    match write {
        None => between.into_iter().any(|(_, (w, before))| w & before != 0),
        Some(write) => {
            let after = order.after(write);
            between.into_iter().any(|(i, (w, before))| w & before & after[i] != 0)
        }
    }
}

fn rule_2(read: usize, init_visible: bool, visible: &[usize], order: &Poset, edges: &mut Vec<(usize, usize)>) {
    if init_visible {
        return;
    }
    if let Some(least) = extreme(visible, |a, b| order.lt(a, b)) {
        edges.push((least, read));
    }
}

/// The element that is related to all others, if there is one.
fn extreme(set: &[usize], related: impl Fn(usize, usize) -> bool) -> Option<usize> {
    set.iter().copied().find(|&a| set.iter().all(|&b| a == b || related(a, b)))
}

fn rules_3_and_4(
    read: usize,
    init_visible: bool,
    visible: &[usize],
    order: &Poset,
    writes: &[u64],
    good: impl Fn(usize) -> bool,
    edges: &mut Vec<(usize, usize)>,
) {
    // The initial value is below every write, so it is the greatest only where it stands alone; then a write before
    // the read would have hidden it, and rule 3 has nothing to do.
    let greatest = extreme(visible, |a, b| order.lt(b, a));
    for bad in ones(writes).filter(|&w| w != read && !good(w)) {
        if let Some(greatest) = greatest
            && order.lt(bad, read)
            && !order.lt(bad, greatest)
        {
            edges.push((bad, greatest));
        }
        let after_all = visible.iter().all(|&w| order.lt(w, bad)) && (init_visible || !visible.is_empty());
        if after_all && !order.lt(read, bad) {
            edges.push((read, bad));
        }
    }
}
