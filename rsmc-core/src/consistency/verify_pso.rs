//! VerifyPSO: can these reads take these writes under partial store order?
//!
//! Problem. As VerifyTSO, with one store buffer per thread and location, and store-store fences.
//!
//! Algorithm. Only the order of thread events is searched. A memory-write is *spurious* when no pending read takes
//! it: it goes to memory as soon as it may. All others wait until they must: until their first reader, or an event
//! behind a full fence, is performed, which then flushes them. So two prefixes with the same thread events differ
//! only in the spurious writes that were held back, and all that matters of these is the *fence map*: up to which
//! read of each thread the stores of each thread have to wait that a fence is still to flush.
//!
//! Cost. O(k · n^(k+1) · min(n^(k(k-1)), 2^(kd))) for n events of k threads on d locations, and O(k · n^(k+1))
//! without fences; all lower sets of events and flushes are n^(k(d+1)).
//!
//! Source. Toman, "Improved Verification Techniques for Concurrent Systems" (thesis, ISTA 2021), algorithm 5.2 and
//! 5.2.4.
//!
//! Deviations. (1) *Store-store fences.* A spurious write behind such a fence takes along the writes before the
//! fence, also those that pending reads take. Waiting with it can be wrong (another write to its location may be held
//! for too long), and so can not waiting (it makes the writes before the fence hold their locations). So both are
//! tried. The thesis leaves this open; its map of the last fence alone does not name a state either, since the writes
//! of an earlier fence can be behind it. With store-store fences a state is the set of what is done. (2) A buffered
//! store is performed, and a read whose write is visible, as soon as what is before it is done, without a choice; so
//! is a write straight to memory that no pending read takes. (3) Fences are no events: they put flushes before events
//! in the order.

use crate::base::{Digest, ones};
use crate::consistency::Instance;
use crate::consistency::search::{Prefix, Strategy};

/// The strategy; see the module.
pub(super) struct VerifyPso;

impl Strategy for VerifyPso {
    /// The next event of every thread, and behind store-store fences the spurious writes.
    fn options(&self, _instance: &Instance, prefix: &Prefix, options: &mut Vec<u32>) {
        let events = prefix.nodes.events;
        let is_option = |node: usize| {
            let performed = prefix.done.contains(prefix.nodes.event[node] as usize);
            let spurious = || prefix.nodes.store_fences && performed && prefix.wanted(node) == 0;
            !prefix.done.contains(node) && (node < events || spurious()) && only_flushes_missing(prefix, node)
        };
        options.extend(prefix.ranked.iter().copied().filter(|&node| is_option(node as usize)));
    }

    fn take(&self, instance: &Instance, prefix: &mut Prefix, option: usize) -> bool {
        flush_before(instance, prefix, option) && {
            let executable = prefix.is_executable(instance, option);
            if executable {
                prefix.execute(instance, option);
            }
            executable
        }
    }

    fn state(&self, instance: &Instance, prefix: &Prefix) -> Digest {
        if prefix.nodes.store_fences {
            return prefix.done_below(prefix.nodes.len());
        }
        let mut state = prefix.done_below(prefix.nodes.events);
        add_fence_map(instance, prefix, &mut state);
        state
    }
}

/// Whether only flushes are missing before a node.
fn only_flushes_missing(prefix: &Prefix, node: usize) -> bool {
    missing(prefix, node).all(|before| before >= prefix.nodes.events)
}

fn missing(prefix: &Prefix, node: usize) -> impl Iterator<Item = usize> + '_ {
    ones(prefix.order.before(node)).filter(|&before| !prefix.done.contains(before))
}

/// Flushes what must be flushed before a node; false if it cannot be. A store that no pending read takes goes first,
/// and a store that one takes goes last to its location, where it stays.
fn flush_before(instance: &Instance, prefix: &mut Prefix, node: usize) -> bool {
    let mut left: Vec<usize> = missing(prefix, node).collect();
    while !left.is_empty() {
        let loc = |flush: usize| instance.items[prefix.nodes.event[flush] as usize].loc;
        let alone = |flush: usize| left.iter().filter(|&&other| loc(other) == loc(flush)).count() == 1;
        let may = |&at: &usize| {
            let flush = left[at];
            prefix.is_executable(instance, flush) && (prefix.wanted(flush) == 0 || alone(flush))
        };
        let Some(at) = (0..left.len()).find(may) else { return false };
        prefix.execute(instance, left.swap_remove(at));
    }
    true
}

/// Adds, for every pair of threads, the last read of the second for which a store of the first must wait that is
/// to be flushed before some event.
fn add_fence_map(instance: &Instance, prefix: &Prefix, state: &mut Digest) {
    let nodes = &prefix.nodes;
    let mut map: Vec<(u32, u32, u64)> = Vec::new();
    for flush in nodes.events..nodes.len() {
        let store = &instance.items[nodes.event[flush] as usize];
        let waits = !prefix.done.contains(flush) && prefix.done.contains(nodes.event[flush] as usize);
        let needed =
            || ones(prefix.order.after(flush)).any(|later| later < nodes.events && !prefix.done.contains(later));
        if !waits || !needed() {
            continue;
        }
        for read in prefix.readers(instance, store.loc.0 as usize) {
            // The number of nodes before it grows along a thread.
            let place = prefix.order.before(read).iter().map(|word| u64::from(word.count_ones())).sum();
            let pair = (store.thread.0, instance.items[read].thread.0);
            match map.iter_mut().find(|entry| (entry.0, entry.1) == pair) {
                Some(entry) => entry.2 = entry.2.max(place),
                None => map.push((pair.0, pair.1, place)),
            }
        }
    }
    for (first, second, place) in map {
        state.add(&[1, u64::from(first), u64::from(second), place]);
    }
}
