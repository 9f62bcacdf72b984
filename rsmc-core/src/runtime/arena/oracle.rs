//! The arena against a map of what is in use.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// An act of a thread on the arena.
#[derive(Clone, Debug)]
enum Act {
    Allocate(Layout),
    /// Frees one of its own blocks, or of another thread's.
    Free(usize),
}

fn acts() -> impl Strategy<Value = Vec<Vec<Act>>> {
    let small = (0_usize..200, 0_u32..7);
    let large = (0_usize..300 << 10, 0_u32..14);
    let layout = prop_oneof![9 => small, 1 => large];
    let layout = layout.prop_map(|(size, align)| Layout::from_size_align(size, 1 << align).unwrap());
    let act = prop_oneof![3 => layout.prop_map(Act::Allocate), 1 => (0_usize..100).prop_map(Act::Free)];
    proptest::collection::vec(proptest::collection::vec(act, 0..40), 1..5)
}

/// The oracle: which memory is in use, and what is in it.
#[derive(Default)]
struct InUse(BTreeMap<usize, (Layout, u8)>);

impl InUse {
    /// A block is filled with a number.
    fn add(&mut self, block: *mut u8, layout: Layout, number: u8) {
        let (start, end) = (block.addr(), block.addr() + layout.size());
        assert_eq!(start % layout.align(), 0, "{layout:?}");
        let before = self.0.range(..start + 1).next_back();
        assert!(before.is_none_or(|(at, (layout, _))| at + layout.size() <= start), "it overlaps one before");
        let behind = self.0.range(start..).next();
        assert!(behind.is_none_or(|(at, _)| *at >= end), "it overlaps one behind");
        // SAFETY: as many bytes were just allocated.
        unsafe { block.write_bytes(number, layout.size()) };
        self.0.insert(start, (layout, number));
    }

    /// A block is freed: it holds what was written.
    fn remove(&mut self, block: *mut u8) {
        let (layout, number) = self.0.remove(&block.addr()).expect("it was in use");
        // SAFETY: it is in use.
        let bytes = unsafe { std::slice::from_raw_parts(block, layout.size()) };
        assert!(bytes.iter().all(|&byte| byte == number), "nobody else writes to it");
        // SAFETY: it comes from there, and nothing uses it any more.
        unsafe { Allocator.dealloc(block, layout) };
    }
}

/// Runs threads in an order that `turns` names. Returns by thread the places of its blocks, and the blocks that are
/// still alive.
fn run(
    inner: &mut Inner,
    in_use: &mut InUse,
    threads: &[Vec<Act>],
    turns: &[usize],
) -> (Vec<Vec<usize>>, Vec<*mut u8>) {
    let mut places = vec![Vec::new(); threads.len()];
    let mut alive = Vec::new();
    let mut todo: Vec<_> = threads.iter().map(|acts| acts.iter()).collect();
    let everybody = (0..threads.len()).flat_map(|thread| std::iter::repeat_n(thread, threads[thread].len()));
    for thread in turns.iter().map(|turn| turn % threads.len()).chain(everybody) {
        inner.thread = thread;
        match todo[thread].next() {
            None => {}
            Some(Act::Allocate(layout)) => {
                let block = inner.allocate(*layout).expect("there is room");
                in_use.add(block, *layout, places[thread].len() as u8);
                places[thread].push(block.addr() - inner.start);
                alive.push(block);
            }
            Some(Act::Free(which)) if alive.is_empty() => {
                let _ = which;
            }
            Some(Act::Free(which)) => in_use.remove(alive.swap_remove(which % alive.len())),
        }
    }
    let seen: Vec<_> = inner.ranges().collect();
    let is_seen = |block: &*mut u8| seen.iter().any(|range| range.contains(&block.addr().saturating_sub(1)));
    assert!(alive.iter().all(is_seen), "all blocks are in the parts that are seen");
    (places, alive)
}

proptest! {
    /// Against a map of what is in use: blocks do not overlap and keep what is in them, also those that outlive their
    /// execution; and each is in the same place, in any order of the threads, with any blocks that outlive.
    #[test]
    fn blocks_are_apart_and_lie_where_their_thread_says(
        threads in acts(),
        executions in proptest::collection::vec((proptest::collection::vec(0_usize..5, 0..100), 0_usize..4), 2..6),
    ) {
        let mut inner = Inner::new().expect("there is address space");
        let mut in_use = InUse::default();
        let mut outlive = Vec::new();
        let mut first = None;
        for (turns, outliving) in executions {
            prop_assert!(inner.begin());
            let (places, mut alive) = run(&mut inner, &mut in_use, &threads, &turns);
            prop_assert_eq!(&places, first.get_or_insert_with(|| places.clone()));
            prop_assert!(!inner.overflowed);
            outlive.extend(alive.drain(..outliving.min(alive.len())));
            alive.into_iter().for_each(|block| in_use.remove(block));
        }
        outlive.into_iter().for_each(|block| in_use.remove(block));
        prop_assert!(in_use.0.is_empty());
        prop_assert_eq!(inner.piece.alive(), 0);
    }
}

#[test]
fn areas_lie_apart_within_a_piece() {
    let mut end = (0, 0);
    for level in &LEVELS {
        assert!(level.start >= end.0 && level.first == end.1);
        end = (level.start + level.count * level.bytes, level.first + level.count);
    }
    assert!(end.0 <= PIECE && end.1 == AREAS);
}

/// A thread that allocates much gets larger areas, and blocks that fit in none are the system's.
#[test]
fn a_thread_has_several_areas() {
    let mut inner = Inner::new().expect("there is address space");
    let layout = Layout::from_size_align(100 << 10, 8).unwrap();
    let blocks: Vec<_> = (0..100).map(|_| inner.allocate(layout).expect("there is room")).collect();
    assert_eq!(inner.ranges().count(), 3);
    let huge = Layout::from_size_align(65 << 20, 8).unwrap();
    assert!(inner.allocate(huge).is_none() && inner.overflowed);
    // SAFETY: they come from there.
    blocks.into_iter().for_each(|block| unsafe { Allocator.dealloc(block, layout) });
    assert!(inner.begin());
    assert!(!inner.overflowed && inner.ranges().count() == 0);
}

/// Where there is no other piece, an execution lies behind the one before, and none of the latter is looked at or left
/// with it.
#[test]
fn an_execution_may_lie_behind_another() {
    let mut inner = Inner::new().expect("there is address space");
    let mut in_use = InUse::default();
    let layout = Layout::from_size_align(50, 8).unwrap();
    let mut make = |inner: &mut Inner, number| {
        let block = inner.allocate(layout).expect("there is room");
        in_use.add(block, layout, number);
        block
    };
    let (first, _) = (make(&mut inner, 1), make(&mut inner, 2));
    let place = first.addr() - inner.start;
    inner.begin_behind();
    assert_eq!(inner.ranges().count(), 0);
    let third = make(&mut inner, 3);
    assert!(inner.ranges().all(|range| range.contains(&third.addr()) && !range.contains(&first.addr())));
    // SAFETY: the header is that of the last block.
    let own = unsafe { blocks(inner.last) }.take_while(|block| block.header() != inner.behind);
    assert_eq!(own.count(), 1);
    assert!(inner.begin(), "there is another piece in truth");
    assert_eq!(make(&mut inner, 4).addr() - inner.start, place, "at the beginning of its area");
}

/// Threads without end share areas, which is no reason to fail.
#[test]
fn a_thousand_threads_allocate() {
    let mut inner = Inner::new().expect("there is address space");
    let mut in_use = InUse::default();
    let layout = Layout::from_size_align(1000, 16).unwrap();
    let blocks: Vec<_> = (0..1000)
        .map(|thread| {
            inner.thread = thread;
            let block = inner.allocate(layout).expect("there is room");
            in_use.add(block, layout, thread as u8);
            block
        })
        .collect();
    blocks.into_iter().for_each(|block| in_use.remove(block));
}
