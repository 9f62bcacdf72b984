//! Preemption bounds against brute force: every class that has an execution with few preemptions is run, none twice.
//!
//! Brute force runs every interleaving and counts the preemptions of each by its rows alone. The fewest of a class is
//! the minimum over its executions. An exploration in which the bound rises runs every class once.
//! `RSMC_ORACLE_PROGRAMS` and `RSMC_ORACLE_SEED` choose programs, as in `rf_smc_oracle`.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::{self, SeqCst};

use rsmc_core::base::{Digest, EventId, LocId, ThreadId};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::session::{Check, Config, ExplorerKind, PreemptionBound, Seen};
use rsmc_core::step::{Choice, End, Executor, Pending, Plan, Run, Step, Why};
use rsmc_core::trace::spin::{Watched, Writer};
use rsmc_core::trace::{Action, Effect, Event, Note, NoteKind, Source, reads_from_class};
use rsmc_testkit::litmus::{Interpreter, Program, Size, Stmt, StmtKind, Weights, parse};

use crate::c11_axioms::{self, Kind};
use crate::loops;
use crate::oracle::{self, mixes};
use crate::spinning;

/// The number of preemptions of an execution: of switches from a thread that could go on, of hints that others could
/// have taken up and did not, of reads of an old value that was seen before a hint, of `SeqCst` reads against the order
/// of `SeqCst` writes, and of spurious outcomes. What is more than one of all but the last counts once. `newer` has the
/// writes that are newer than others in this class.
fn preemptions(run: &Run, newer: &Newer) -> u32 {
    let events = &run.trace.events;
    let of_events = |choice: &&Choice| !choice.left_out && !matches!(choice.taken, Step::Flush(_));
    let choices: Vec<&Choice> = run.choices.iter().filter(of_events).collect();
    assert_eq!(choices.len(), events.len(), "each event is a choice");
    let is_preemption = |at: usize| {
        let thread = events[at].id.thread;
        let is_its = |step: &Step| step.thread() == thread && !matches!(step, Step::Flush(_));
        let is_draining = || choices[at + 1].possible.iter().any(|step| step.thread() == thread);
        thread != events[at + 1].id.thread
            && (choices[at + 1].possible.iter().any(is_its) || is_draining())
            && could_go_on(run, thread, at, true)
    };
    let spurious = events.iter().filter(|event| event.op.action.is_spurious());
    let refuses = |at: usize| refuses(run, at, &choices[at + 1].possible);
    let counts = |at: &usize| {
        is_preemption(*at) || refuses(*at) || is_outdated(run, *at + 1, newer) || is_out_of_order(run, *at + 1)
    };
    ((0..events.len().saturating_sub(1)).filter(counts).count() + spurious.count()) as u32
}

/// Writes of one class, each with a newer one; `None` is an initial value.
type Newer = BTreeSet<(Option<EventId>, EventId)>;

/// The newer writes in an execution, by the axioms of C11. Under other models no read counts as outdated.
fn newer_writes(run: &Run, memory: MemoryModel) -> Newer {
    // The axioms are for few events. In a longer run no read counts, so more classes have to be found.
    if !memory.is_graph() || run.trace.events.len() + run.trace.notes.len() > 64 {
        return Newer::default();
    }
    let events = &run.trace.events;
    let node = |event: &Event| c11_axioms::Event {
        thread: event.id.thread.0 as usize,
        kind: match (event.source != Source::None, event.written.is_some()) {
            (true, true) => Kind::Update,
            (true, false) => Kind::Read,
            _ => Kind::Write,
        },
        loc: event.op.loc.0 as usize,
        order: match event.op.action {
            Action::Cas { .. } if event.written.is_none() => event.op.failure,
            _ => event.op.order,
        },
        source: if let Source::At(at) = event.source { Some(at as usize) } else { None },
    };
    let mut graph = c11_axioms::Graph { events: events.iter().map(node).collect(), sb: Vec::new() };
    // By thread: the nodes with the place of each in the trace.
    let mut threads: BTreeMap<ThreadId, Vec<(u32, usize)>> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        threads.entry(event.id.thread).or_default().push((2 * at as u32 + 1, at));
    }
    for note in &run.trace.notes {
        if let NoteKind::Fence(order) = note.kind {
            let thread = note.thread.0 as usize;
            threads.entry(note.thread).or_default().push((2 * note.at, graph.events.len()));
            graph.events.push(c11_axioms::Event { thread, kind: Kind::Fence, loc: 0, order, source: None });
        }
    }
    for nodes in threads.values_mut() {
        nodes.sort_by_key(|(place, _)| *place);
        graph.sb.extend(nodes.windows(2).map(|pair| (pair[0].1, pair[1].1)));
    }
    let writes = events.iter().filter(|event| event.written.is_some());
    let initial = writes.map(|event| (None, event.id));
    let others = c11_axioms::newer(&graph).into_iter().map(|(a, b)| (Some(events[a].id), events[b].id));
    initial.chain(others).collect()
}

/// Whether an event takes a write that its thread has made or taken before a hint, though a newer one has happened.
fn is_outdated(run: &Run, at: usize, newer: &Newer) -> bool {
    let (events, event) = (&run.trace.events, &run.trace.events[at]);
    let source = run.trace.source_id(event);
    let mut own = (0..at).filter(|&other| events[other].id.thread == event.id.thread);
    let is_seen = |other: usize| {
        let other = &events[other];
        let takes = other.source != Source::None && run.trace.source_id(other) == source;
        other.op.loc == event.op.loc && (takes || Some(other.id) == source)
    };
    let mut before = events[..at].iter().filter(|other| other.op.loc == event.op.loc);
    event.source != Source::None
        && own.any(|other| is_seen(other) && gives_hint(run, event.id.thread, other, at))
        && before.any(|other| newer.contains(&(source, other.id)))
}

/// Whether, under C11, a `SeqCst` read takes a `SeqCst` write or the initial value, and another `SeqCst` write of the
/// location has happened since.
fn is_out_of_order(run: &Run, at: usize) -> bool {
    let (events, event) = (&run.trace.events, &run.trace.events[at]);
    let since = match event.source {
        Source::At(write) if events[write as usize].order() == SeqCst => write as usize + 1,
        Source::Init => 0,
        Source::At(_) | Source::None => return false,
    };
    let mut since = events[since..at].iter().filter(|other| other.op.loc == event.op.loc && other.written.is_some());
    run.model.is_graph() && event.order() == SeqCst && since.any(|other| other.order() == SeqCst)
}

/// Whether a thread gives a hint between two of its events.
fn gives_hint(run: &Run, thread: ThreadId, first: usize, second: usize) -> bool {
    let mut own = run.trace.notes.iter().filter(|note| note.thread == thread && note.kind == NoteKind::Hint);
    own.any(|note| (first + 1..=second).contains(&(note.at as usize)))
}

/// Whether a thread goes on with the next event right after a hint, though another thread could go on.
fn refuses(run: &Run, at: usize, possible: &[Step]) -> bool {
    let events = &run.trace.events;
    let thread = events[at].id.thread;
    if events[at + 1].id.thread != thread || !gives_hint(run, thread, at, at + 1) {
        return false;
    }
    let could_be_next = |step: &Step| {
        let other = step.thread();
        let next = run.trace.of_thread(other).iter().map(|&next| next as usize).find(|&next| next > at);
        other != thread && next.is_some() && could_go_on(run, other, at, false)
    };
    possible.iter().any(could_be_next)
}

/// Whether a thread has not ended right behind this event, and waits for no other thread, by the rows alone. With
/// `hints`, it waits at a hint.
fn could_go_on(run: &Run, thread: ThreadId, at: usize, hints: bool) -> bool {
    let (trace, events) = (&run.trace, &run.trace.events);
    let own = || trace.of_thread(thread).iter().map(|&own| own as usize);
    let next = own().find(|&own| own > at);
    let since = own().rev().find(|&own| own <= at).map_or(0, |last| last + 1);
    let until = next.unwrap_or(events.len());
    let waits = |note: &Note| match note.kind {
        NoteKind::Join(child) => trace.of_thread(child).last().is_some_and(|&last| last as usize > at),
        NoteKind::Hint => hints,
        _ => false,
    };
    let mut own = trace.notes.iter().filter(|note| note.thread == thread);
    if own.any(|note| (since..=until).contains(&(note.at as usize)) && waits(note)) {
        return false;
    }
    let last = |loc: LocId| events[..=at].iter().rev().find(|event| event.op.loc == loc && event.written.is_some());
    let value = |loc: LocId| last(loc).map_or(trace.locs[loc].init, |write| write.written.expect("it writes"));
    let pending = run.waiting.iter().find(|pending| pending.id.thread == thread);
    let op = match (next, pending) {
        (Some(next), _) => events[next].op,
        // It waits in a loop at the end, but not yet if it would have seen something else.
        (None, Some(Pending { why: Why::Spin { watched, .. }, .. })) => {
            let is_there = |watched: &Watched| match watched.writer {
                Writer::One(writer) => last(watched.loc).map(|write| write.id) == writer,
                Writer::Any | Writer::Known(_) => value(watched.loc) == watched.value,
            };
            return !watched.iter().all(is_there);
        }
        (None, Some(Pending { op: Some(op), .. })) => *op,
        (None, _) => return false,
    };
    op.action.with_alternative(0).effect(value(op.loc)) != Effect::Blocked
}

/// The number of runs after which brute force gives up. Under C11 it has each read take each write in each order.
fn longest(memory: MemoryModel) -> u32 {
    if memory.is_graph() { 20_000 } else { 200_000 }
}

/// An interpreter that gives up after so many runs.
struct Patient(Interpreter, u32);

impl Executor for Patient {
    fn execute(&mut self, plan: &Plan, run: &mut Run) {
        self.1 -= 1;
        self.0.execute(plan, run);
    }

    fn is_broken(&self) -> bool {
        self.1 == 0
    }
}

/// The classes of a check, by `see` of all their executions; `None` if it takes too many runs, or if one goes on for
/// ever.
fn classes<T: Default>(program: &Program, config: &Config, see: impl Fn(&mut T, &Run)) -> Option<BTreeMap<Digest, T>> {
    let rules = Rules::new(config.effective_memory(), 1_000);
    let interpreter = Interpreter::new(program, rules).expect("a generated program is well formed");
    let (mut executor, mut classes) =
        (Patient(interpreter, longest(config.effective_memory())), BTreeMap::<Digest, T>::new());
    let mut is_endless = false;
    Check::new(&config.clone().keep_going(true).shrink(0), &mut executor)
        .watch(|seen| {
            let Seen::Run(run, counted) = seen else {
                classes.clear();
                return;
            };
            is_endless |= matches!(run.end, End::StepLimit { .. } | End::Endless { .. });
            if counted {
                see(classes.entry(reads_from_class(&run.trace)).or_default(), run);
            }
        })
        .run();
    (executor.1 > 0 && !is_endless).then_some(classes)
}

/// The number of delays of an execution: of reads that take another write than the one that happened last.
fn delays(run: &Run) -> u32 {
    let events = &run.trace.events;
    let is_late = |(at, event): (usize, &Event)| {
        let is_write = |other: &Event| other.op.loc == event.op.loc && other.written.is_some();
        let last = events[..at].iter().rposition(is_write).map_or(Source::Init, |last| Source::At(last as u32));
        event.source != Source::None && event.source != last
    };
    events.iter().enumerate().filter(|&event| is_late(event)).count() as u32
}

/// The preemptions and delays of the executions of each class.
fn costs(program: &Program, memory: MemoryModel) -> Option<BTreeMap<Digest, BTreeSet<(u32, u32)>>> {
    let config = Config::default().memory(memory).explorer(ExplorerKind::Exhaustive);
    let see = |(newer, costs): &mut (Option<Newer>, BTreeSet<_>), run: &Run| {
        let newer = newer.get_or_insert_with(|| newer_writes(run, memory));
        costs.insert((preemptions(run, newer), delays(run)));
    };
    let classes = classes(program, &config, see)?;
    Some(classes.into_iter().map(|(class, (_, costs))| (class, costs)).collect())
}

/// The fewest preemptions of each class.
pub fn fewest(program: &Program, memory: MemoryModel) -> Option<BTreeMap<Digest, u32>> {
    let fewest = |costs: BTreeSet<(u32, u32)>| costs.first().expect("a class has an execution").0;
    Some(costs(program, memory)?.into_iter().map(|(class, costs)| (class, fewest(costs))).collect())
}

/// The number of programs of each mix, unless the environment has another one. Each is explored six times.
const PROGRAMS: u64 = 6;

/// The bounds that are compared.
const BOUNDS: [Option<u32>; 5] = [Some(0), Some(1), Some(2), Some(3), None];

/// The bounds of delays that are compared, each with every bound of preemptions.
const DELAYS: [Option<u32>; 3] = [None, Some(0), Some(1)];

/// Figures of a comparison: by bound, the number of classes that are within it, and of those that were run.
type Figures = [Cell<(u64, u64)>; BOUNDS.len() * DELAYS.len()];

/// The difference between explorations under a bound and brute force, if there is one. `off` is added to the bound of
/// the explorer.
fn difference(program: &Program, memory: MemoryModel, off: i32, figures: &Figures) -> Option<String> {
    let all = costs(program, memory)?;
    // Under SC no read is late.
    let delays = &DELAYS[..if memory.is_sequential() { 1 } else { DELAYS.len() }];
    let bounds = delays.iter().flat_map(|&delays| BOUNDS.map(|bound| (bound, delays)));
    for (figure, (bound, delays)) in figures.iter().zip(bounds) {
        let mut config = Config::default().memory(memory);
        let explored = bound.map(|bound| bound.saturating_add_signed(off));
        (config.preemption_bound, config.delay_bound) = (explored.map(PreemptionBound::AtMost), delays);
        let found = classes(program, &config, Runs::add)?;
        let fits =
            |cost: &(u32, u32)| bound.is_none_or(|most| cost.0 <= most) && delays.is_none_or(|most| cost.1 <= most);
        let within = || all.iter().filter(|(_, costs)| costs.iter().any(fits));
        let missed = within().filter(|(class, _)| !found.contains_key(class)).count();
        let extra = found.iter().filter(|(class, runs)| !all.contains_key(class) && !runs.is_late).count();
        let twice = found.values().filter(|runs| runs.count > 1).count();
        let (of, all) = (within().count(), all.len());
        if missed + extra + twice > 0 {
            let counts = format!("{missed} missed, {extra} extra, {twice} twice, of {of} within, {all} in all");
            return Some(format!("bound {bound:?}, delays {delays:?}: {counts}"));
        }
        let (before, run) = figure.get();
        figure.set((before + of as u64, run + found.len() as u64));
    }
    risen_difference(program, memory, &all.into_keys().collect())
}

/// The difference of an exploration in which the bound rises: it runs each of these classes once.
fn risen_difference(program: &Program, memory: MemoryModel, all: &BTreeSet<Digest>) -> Option<String> {
    let config = Config::default().memory(memory).rising_preemption_bound();
    let found = classes(program, &config, Runs::add)?;
    let missed = all.iter().filter(|class| !found.contains_key(class)).count();
    let twice = found.values().filter(|runs| runs.count > 1).count();
    (missed + twice > 0).then(|| format!("rising: {missed} missed, {twice} twice, of {}", all.len()))
}

/// The runs of a class: their number, and whether brute force may not have it. It does not try which write may be the
/// newest at the end though another happened later.
#[derive(Default)]
struct Runs {
    count: u32,
    is_late: bool,
}

impl Runs {
    fn add(&mut self, run: &Run) {
        self.count += 1;
        self.is_late |= !run.newest.is_empty();
    }
}

/// The comparison on random programs, for [`mixes`].
struct Bounded;

const BOUNDED: Bounded = Bounded;

impl Bounded {
    fn compare(&self, name: &str, memory: MemoryModel, size: Size, weights: &Weights) {
        let figures = Figures::default();
        let difference = |program: &Program, _| difference(program, memory, 0, &figures);
        oracle::compare_some(PROGRAMS, &format!("{name} under {memory}"), size, weights, &difference);
        report(name, memory, &figures);
    }
}

/// Prints how many classes were within each bound, and how many were run.
#[allow(clippy::print_stdout, reason = "how much was compared, for who asks with --nocapture")]
fn report(name: &str, memory: MemoryModel, figures: &Figures) {
    let figures = figures.iter().map(|figure| format!("{}/{}", figure.get().0, figure.get().1));
    println!("{name} under {memory}: {}", figures.collect::<Vec<_>>().join(", "));
}

mixes!(BOUNDED);
mixes!(BOUNDED, C11);

#[test]
fn updates_of_two_threads() {
    BOUNDED.compare("updates_of_two_threads", MemoryModel::Sc, oracle::TWO_THREADS, &Weights::UPDATES);
}

#[test]
fn everything_of_two_threads() {
    BOUNDED.compare("everything_of_two_threads", MemoryModel::Sc, oracle::TWO_THREADS, &Weights::EVERYTHING);
}

#[test]
fn hints() {
    BOUNDED.compare("hints", MemoryModel::Sc, oracle::SMALL, &Weights::HINTS);
    BOUNDED.compare("hints_of_two_threads", MemoryModel::Sc, oracle::TWO_THREADS, &Weights::HINTS);
}

#[test]
fn tso_hints() {
    BOUNDED.compare("tso_hints", MemoryModel::Tso, oracle::BUFFERED, &Weights::HINTS);
}

#[test]
fn pso_hints() {
    BOUNDED.compare("pso_hints", MemoryModel::Pso, oracle::BUFFERED, &Weights::HINTS);
}

/// A thread may take an old value again behind a hint.
#[test]
fn c11_hints() {
    BOUNDED.compare("c11_hints", MemoryModel::C11, oracle::BUFFERED, &Weights::HINTS);
    BOUNDED.compare("c11_hints_of_two_threads", MemoryModel::C11, oracle::BUFFERED_OF_TWO, &Weights::HINTS);
}

/// Programs in which most accesses are `SeqCst`, or all: of those, classes are as under SC.
#[test]
fn c11_sequential() {
    for (name, all) in [("c11_mostly_sequential", false), ("c11_sequential", true)] {
        for size in [oracle::BUFFERED, oracle::BUFFERED_OF_TWO] {
            let figures = Figures::default();
            let difference = |program: &Program, _| {
                let mut program = program.clone();
                program.threads.iter_mut().flat_map(|thread| &mut thread.body).for_each(|stmt| make_seq_cst(stmt, all));
                difference(&program, MemoryModel::C11, 0, &figures)
            };
            for weights in [&Weights::ATOMICS, &Weights::UPDATES] {
                oracle::compare_some(PROGRAMS, name, size, weights, &difference);
            }
            report(name, MemoryModel::C11, &figures);
        }
    }
}

/// Makes accesses `SeqCst`, relaxed ones too if `all`.
fn make_seq_cst(stmt: &mut Stmt, all: bool) {
    let stronger = |order: &mut Ordering| {
        if all || *order != Ordering::Relaxed {
            *order = SeqCst;
        }
    };
    match &mut stmt.kind {
        StmtKind::Load { order, .. } | StmtKind::Store { order, .. } | StmtKind::Rmw { order, .. } => stronger(order),
        StmtKind::Cas { order, failure, .. } => [order, failure].into_iter().for_each(stronger),
        StmtKind::If { then, otherwise, .. } => {
            then.iter_mut().chain(otherwise).for_each(|stmt| make_seq_cst(stmt, all));
        }
        _ => {}
    }
}

/// Random programs in which a thread waits in a loop.
fn compare_waiting(memory: MemoryModel) {
    let (programs, first) = (oracle::number("RSMC_ORACLE_PROGRAMS", PROGRAMS), oracle::number("RSMC_ORACLE_SEED", 0));
    let figures = Figures::default();
    for seed in first..first + programs {
        let program = match seed % 2 {
            0 => spinning::program(seed, memory),
            _ => loops::small(seed, memory),
        };
        let found = difference(&program, memory, 0, &figures);
        assert_eq!(found, None, "seed {seed} under {memory}:\n{program}");
    }
    report("waiting", memory, &figures);
}

#[test]
fn waiting() {
    compare_waiting(MemoryModel::Sc);
}

#[test]
fn tso_waiting() {
    compare_waiting(MemoryModel::Tso);
}

#[test]
fn pso_waiting() {
    compare_waiting(MemoryModel::Pso);
}

#[test]
fn c11_waiting() {
    compare_waiting(MemoryModel::C11);
}

/// In the first, threads with an update each come to a class by way of runs in which one of them is interrupted once
/// more. In the second, an update must be reversed with three others of one thread, one after the other.
#[test]
fn classes_behind_updates_that_are_reversed() {
    let interrupted = "init y = 0, z = 0
t1: y = 1; a, b = cas(z, 1, 1); c, d = cas(y, 1, 2)
t2: e = or(z, 1); f = add(y, 1); g = or(y, 2)
t3: z = 1; h = swap(y, 1); i = swap(y, 2)
";
    let one_by_one = "init x = 0, z = 1
t1: a = or(z, 1); b, c = cas(x, 0, a + 1)
t2: d = swap(z, 1); e = swap(x, 1); f = swap(x, e + 1); g = add(x, 2)
t3: h = add(x, 1)
";
    for program in [interrupted, one_by_one] {
        let program = parse(program).unwrap();
        assert_eq!(difference(&program, MemoryModel::Sc, 0, &Figures::default()), None, "{program}");
    }
}

/// A decision makes a thread stay before an update. At one below, that update must not be reversed with another: the
/// exploration ended with a plan that no execution has, as soon as the bound rose.
#[test]
fn a_thread_that_stays_is_not_reversed() {
    let program = "init z = 0, x = 0, y = 0
t1: z = 1; a = 1
    while a == 1 { b = x; while b == 1 { spin; b = x }; a = swap(x, 1); if a == 1 { spin } }
    x = 0; c = z
t2: x = 0; d1 = add(x, 1); d2 = add(x, 1)
t3: d0 = y; d1 = add(z, 1); d2 = add(x, 1); x = 1; y = 1
";
    let program = parse(program).unwrap();
    let figures = Figures::default();
    assert_eq!(difference(&program, MemoryModel::Sc, 0, &figures), None, "{program}");
    assert!(figures.iter().any(|figure| figure.get().0 > 0), "brute force gave up");
}

/// A loop around a weak compare-exchange: an iteration that fails without cause changes nothing, and its thread waits
/// for nobody; one that fails because another thread was there waits, where it does not take the value that it found.
#[test]
fn loops_around_weak_exchanges() {
    let retries = "t1: while a == 0 { b = x; a, c = wcas(x, b, b + 1) }
t2: while a == 0 { b = x; a, c = wcas(x, b, b + 2) }
t3: y = 1; d = x
";
    let takes_what_it_found = "t1: b = x; while a == 0 { c = b; a, b = wcas(x, c, c + 1) }
t2: b = x; while a == 0 { c = b; a, b = wcas(x, c, c + 2) }
t3: x = 8; y = 1
";
    let spins = "t1: while a == 0 { a, b = wcas(x, 0, 1); spin }; y = 1; x = 0
t2: while a == 0 { a, b = wcas(x, 0, 1); spin }; c = y; x = 0
t3: d = x
";
    // t1 can wait for ever behind the failure, in each order in which the lock is taken.
    let waits_behind_it = "t1: while s == 0 { s = wcas(x, 0, 1); a = 1 - s; while a == 1 { a = x; spin } }; x = 0
t2: g = trylock m; if g { unlock m }
t3: lock m; y = 1; unlock m; x = 1
";
    for program in [retries, takes_what_it_found, spins, waits_behind_it] {
        let program = parse(program).unwrap();
        for memory in [MemoryModel::Sc, MemoryModel::Tso] {
            let figures = Figures::default();
            assert_eq!(difference(&program, memory, 0, &figures), None, "{program}");
            let compared: u64 = figures.iter().map(|figure| figure.get().0).sum();
            assert!(compared > 0, "brute force gave up on {program}");
        }
    }
}

/// Each round of the loop takes a flag and gives it back, so it is part of the execution. An old value that is taken
/// once more has a price, so there are few within a bound.
#[test]
fn a_loop_that_writes_in_each_round_ends_within_a_bound() {
    let program = parse(
        "t1: while a == 0 { b = cas(y, 0, 1); a = x.acq; y.rel = 0; if a == 0 { spin } }
t2: x.rel = 1
",
    );
    let program = program.unwrap();
    let found = |bound: u32| {
        let config = Config::default().memory(MemoryModel::C11).preemption_bound(bound);
        let found = classes(&program, &config, Runs::add).expect("it ends, and no run is endless");
        assert!(found.values().all(|runs| runs.count == 1), "each class once");
        found.len()
    };
    let least = |bound: u32| bound as usize + 2; // It looks in vain once for each preemption, and once more or not.
    for bound in [0, 1, 2] {
        assert!((least(bound)..least(bound) + 3).contains(&found(bound)), "{} within {bound}", found(bound));
    }
}

/// Agreement that cannot fail proves nothing: a bound that is too small by one is noticed.
#[test]
fn a_bound_that_is_too_small_is_noticed() {
    let program = parse("t1: x = 1; x = 2\nt2: a = x; b = x\n").unwrap();
    let (memory, figures) = (MemoryModel::Sc, Figures::default());
    assert_eq!(difference(&program, memory, 0, &figures), None);
    let found = difference(&program, memory, -1, &figures);
    assert_eq!(found.as_deref(), Some("bound Some(1), delays None: 1 missed, 0 extra, 0 twice, of 4 within, 6 in all"));
}

/// So is a bound of delays: with 0 of them no thread reads an old value.
#[test]
fn a_bound_of_delays_that_is_too_small_is_noticed() {
    let program = parse("t1: x.rlx = 1; y.rlx = 1\nt2: a = y.rlx; b = x.rlx\n").unwrap();
    let all = costs(&program, MemoryModel::C11).expect("it has few runs");
    let late = |most: u32| all.values().filter(|costs| costs.iter().all(|(_, delays)| *delays > most)).count();
    assert_eq!((all.len(), late(0), late(1)), (4, 1, 0));
    let found = |most: u32| {
        let config = Config::default().memory(MemoryModel::C11).delay_bound(most);
        classes(&program, &config, Runs::add).expect("it has few runs").len()
    };
    assert_eq!((found(0), found(1)), (3, 4));
}
