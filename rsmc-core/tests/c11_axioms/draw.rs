//! Random small graphs.

use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use super::{Event, Graph, Kind};

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) >> 16) as usize % bound
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// A random graph: 2 to 4 threads, 1 to 3 locations, at most `most` events, any orderings, sb ∪ rf acyclic. The same
/// numbers give the same graph.
///
/// Half of them are rings: each thread accesses a location, then the next, where the shapes are that psc forbids. One
/// in four has edges of spawns and joins.
pub fn random_graph(seed: u64, most: usize) -> Graph {
    let mut dice = Dice(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
    let mut threads = if dice.chance(50) { ring(&mut dice, most) } else { anything(&mut dice, most) };
    let (mix, crossing, stale) = (dice.below(6), dice.chance(25), dice.one_of(&[10, 40, 90]));
    let mut graph = Graph::default();
    while threads.iter().any(|accesses| !accesses.is_empty()) {
        let thread = dice.below(threads.len());
        let Some((kind, loc)) = threads[thread].pop() else { continue };
        let number = graph.events.len();
        let before = (0..number).rev().find(|&other| graph.events[other].thread == thread);
        graph.sb.extend(before.map(|before| (before, number)));
        if crossing && number > 0 && dice.chance(20) {
            graph.sb.push((dice.below(number), number));
        }
        let order = random_order(&mut dice, kind, mix);
        let reads = matches!(kind, Kind::Read | Kind::Update);
        let source = if reads { random_source(&mut dice, &graph, loc, stale) } else { None };
        graph.events.push(Event { thread, kind, loc, order, source });
    }
    if dice.chance(50) { by_thread(&graph) } else { graph }
}

/// A random graph whose threads hang together in a circle: what one does last is in communication with what the next
/// does first. It is forbidden if the fences and orderings inside the threads are strong enough, which shows every part
/// of psc. The same number gives the same graph.
pub fn random_necklace(seed: u64) -> Graph {
    let mut dice = Dice(seed.wrapping_mul(0x9E6C_63D0_876A_3F6B));
    let (size, mix, mut graph) = (2 + dice.below(3), dice.below(12).min(6), Graph::default());
    let locs: Vec<usize> = (0..size).map(|own| if dice.chance(15) { dice.below(size) } else { own }).collect();
    // How each thread communicates with the next. With reads-from only, it would be a cycle of sb ∪ rf.
    let links: Vec<Link> = (0..size)
        .map(|own| {
            dice.one_of(if own == 0 {
                &[Link::Missed, Link::Passed]
            } else {
                &[Link::Missed, Link::Passed, Link::Read]
            })
        })
        .collect();
    let mut ends = Vec::new();
    for own in 0..size {
        let previous = (own + size - 1) % size;
        let first = if links[previous] == Link::Missed { Kind::Write } else { Kind::Read };
        let last = if links[own] == Link::Read { Kind::Write } else { Kind::Read };
        fences(&mut dice, &mut graph, own, mix, 20);
        let first = bead(&mut dice, &mut graph, own, (first, locs[previous]), mix);
        fences(&mut dice, &mut graph, own, mix, 45);
        if dice.chance(25) {
            let kind = random_kind(&mut dice);
            let loc = dice.below(size);
            bead(&mut dice, &mut graph, own, (kind, loc), mix);
            fences(&mut dice, &mut graph, own, mix, 20);
        }
        let last = bead(&mut dice, &mut graph, own, (last, locs[own]), mix);
        fences(&mut dice, &mut graph, own, mix, 20);
        ends.push((first, last));
    }
    for own in 0..size {
        let (last, first) = (ends[own].1, ends[(own + 1) % size].0);
        match links[own] {
            Link::Missed => {}
            Link::Read => graph.events[first].source = Some(last),
            Link::Passed => {
                let between = bead(&mut dice, &mut graph, size + own, (Kind::Write, locs[own]), mix);
                graph.events[first].source = Some(between);
            }
        }
    }
    graph
}

/// The relation by which the last access of a thread is before the first of the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    /// It read the initial value, which the other overwrites.
    Missed,
    /// It read the initial value, which another thread overwrites, from which the other reads.
    Passed,
    /// The other reads from it.
    Read,
}

/// Adds an access that reads the initial value, sometimes as an update.
fn bead(dice: &mut Dice, graph: &mut Graph, thread: usize, (kind, loc): (Kind, usize), mix: usize) -> usize {
    let kind = if dice.chance(10) { Kind::Update } else { kind };
    add(dice, graph, thread, kind, loc, mix)
}

/// Adds a fence so often in a hundred.
fn fences(dice: &mut Dice, graph: &mut Graph, thread: usize, mix: usize, percent: usize) {
    if dice.chance(percent) {
        add(dice, graph, thread, Kind::Fence, 0, mix);
    }
}

fn add(dice: &mut Dice, graph: &mut Graph, thread: usize, kind: Kind, loc: usize, mix: usize) -> usize {
    let number = graph.events.len();
    let before = (0..number).rev().find(|&other| graph.events[other].thread == thread);
    graph.sb.extend(before.map(|before| (before, number)));
    // Fences are often the only strong ones.
    let mix = if matches!(kind, Kind::Fence) && dice.chance(50) { 4 } else { mix };
    graph.events.push(Event { thread, kind, loc, order: random_order(dice, kind, mix), source: None });
    number
}

/// The kinds and locations of a thread's events, the last first.
type Accesses = Vec<(Kind, usize)>;

fn random_kind(dice: &mut Dice) -> Kind {
    dice.one_of(&[Kind::Read, Kind::Read, Kind::Read, Kind::Write, Kind::Write, Kind::Write, Kind::Update])
}

/// Any events in any threads.
fn anything(dice: &mut Dice, most: usize) -> Vec<Accesses> {
    let (locations, size) = (1 + dice.below(3), most - dice.below(most).min(dice.below(most)));
    let mut threads = vec![Vec::new(); 2 + dice.below(3)];
    for _ in 0..size {
        let thread = dice.below(threads.len());
        let access = if dice.chance(15) { (Kind::Fence, 0) } else { (random_kind(dice), dice.below(locations)) };
        threads[thread].push(access);
    }
    threads
}

/// Each thread accesses its location and the next, perhaps with a fence between; in the rest of the room, anything.
fn ring(dice: &mut Dice, most: usize) -> Vec<Accesses> {
    let size = (2 + dice.below(2)).min(most / 2);
    let mut threads: Vec<Accesses> =
        (0..size).map(|own| vec![(random_kind(dice), (own + 1) % size), (random_kind(dice), own)]).collect();
    for _ in 2 * size..most {
        let (thread, what) = (dice.below(4).min(threads.len()), dice.below(100));
        match what {
            0..40 if thread < threads.len() => threads[thread].insert(1, (Kind::Fence, 0)),
            0..60 if thread < threads.len() => threads[thread].push((random_kind(dice), dice.below(size))),
            0..80 if thread == threads.len() => threads.push(vec![(random_kind(dice), dice.below(size))]),
            _ => {}
        }
    }
    threads
}

fn random_order(dice: &mut Dice, kind: Kind, mix: usize) -> Ordering {
    // All orderings; the weak ones; Relaxed and SeqCst; SeqCst in most places, or in all; or SeqCst half the time.
    let (loads, stores, both): (&[Ordering], &[Ordering], &[Ordering]) = match mix {
        0 => (&[Relaxed, Acquire, SeqCst], &[Relaxed, Release, SeqCst], &[Acquire, Release, AcqRel, SeqCst]),
        1 => (&[Relaxed, Acquire], &[Relaxed, Release], &[Acquire, Release, AcqRel]),
        2 => (&[Relaxed, SeqCst], &[Relaxed, SeqCst], &[SeqCst]),
        3 => (&[Acquire, SeqCst, SeqCst], &[Release, SeqCst, SeqCst], &[AcqRel, SeqCst, SeqCst]),
        6 => (&[Relaxed, Acquire, SeqCst, SeqCst], &[Relaxed, Release, SeqCst, SeqCst], &[SeqCst]),
        _ => (&[SeqCst], &[SeqCst], &[SeqCst]),
    };
    match kind {
        Kind::Read => dice.one_of(loads),
        Kind::Write => dice.one_of(stores),
        Kind::Update if mix < 4 && dice.chance(30) => Relaxed,
        Kind::Update | Kind::Fence => dice.one_of(both),
    }
}

/// Any earlier write of a location, or the initial value, that at least so often in a hundred.
fn random_source(dice: &mut Dice, graph: &Graph, loc: usize, stale: usize) -> Option<usize> {
    let writes = (0..graph.events.len()).filter(|&e| graph.events[e].writes() && graph.events[e].loc == loc);
    let sources: Vec<Option<usize>> = [None].into_iter().chain(writes.map(Some)).collect();
    if dice.chance(stale) { None } else { dice.one_of(&sources) }
}

/// The graph with its events numbered thread by thread, so that an event can take a write with a larger number.
fn by_thread(graph: &Graph) -> Graph {
    let mut order: Vec<usize> = (0..graph.events.len()).collect();
    order.sort_by_key(|&event| graph.events[event].thread);
    let name = |event: usize| order.iter().position(|&other| other == event).expect("all are listed");
    let event = |&old: &usize| {
        let event = graph.events[old].clone();
        Event { source: event.source.map(name), ..event }
    };
    Graph { events: order.iter().map(event).collect(), sb: graph.sb.iter().map(|&(a, b)| (name(a), name(b))).collect() }
}
