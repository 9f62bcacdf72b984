//! Memory that is freed: the uses that may come too late.
//!
//! Problem. A thread frees memory, and in the execution at hand another thread used it before. Could it have been the
//! other way round? Freeing is no step, so no explorer puts it before or after what others do.
//!
//! The same goes for a tracked value that a thread drops: where it lies is no matter.
//!
//! Method. What a thread knows before it frees is its *causal past*: what it did before, the writes that its reads
//! take, threads that it has started or joined, and in a destructor of a shared value the drops of all references to
//! it. A use that is not in the past of the freeing *may* come later: all that does not depend on the use happens as
//! before, and the freeing thread frees; then the other one goes on ([`Suspect::plan`]). An access of a cell is no step
//! either; its thread is held before it ([`Hold`]). A run of that plan shows whether the thread then uses what was
//! freed. So nothing is reported that did not happen: something that no explorer sees may order the two, such as the
//! counts of a std `Arc`.
//!
//! Cost. One pass with vector clocks over executions in which a thread frees what others have used, and one more
//! execution for each use that may come later.
//!
//! Guarantees. Executions of one reads-from class have the same causal pasts, so one execution of each class is enough.

use rustc_hash::FxHashMap;

use crate::base::{EventId, IdVec, LocId, ThreadId, VectorClock};
use crate::machine::{Machine, Status};
use crate::step::{BadMemory, Forced, Hold, Plan, Run, Step, Touch};
use crate::trace::{NoteKind, Row, Site, Source, Trace};

/// A use that may come after the memory was freed.
#[derive(Debug)]
pub struct Suspect {
    /// The wrong use, if it does come after.
    pub bad: BadMemory,
    /// The place of the use.
    pub site: Site,
    /// The plan that lets the use come later.
    pub plan: Plan,
}

impl Machine {
    /// Notes that a thread has freed the memory of an object, or with `None` the memory whose freeing is looked for.
    pub fn freed(&mut self, thread: ThreadId, loc: Option<LocId>) {
        self.ends(thread, loc.map_or(NoteKind::FreedAny, NoteKind::Freed));
    }

    /// Notes that a thread has dropped a tracked value.
    pub fn dropped(&mut self, thread: ThreadId, loc: LocId) {
        self.ends(thread, NoteKind::Dropped(loc));
    }

    fn ends(&mut self, thread: ThreadId, kind: NoteKind) {
        self.run.trace.frees += 1;
        self.note(thread, kind, Site::Unknown);
    }

    /// Notes a wrong use of memory. The run reports the first one.
    fn uses_badly(&mut self, bad: BadMemory) {
        self.run.bad_memory.get_or_insert(bad);
    }

    /// Notes that a thread is about to use an object whose memory was freed.
    pub fn uses_freed(&mut self, thread: ThreadId, loc: LocId, site: Site, is_cell: bool) {
        let freed_at = self.freed_at(Some(loc));
        let access = match is_cell {
            true => Touch::Cell(thread, self.accesses_begun(thread)),
            false => Touch::Event(EventId { thread, index: self.run.trace.count(thread) }),
        };
        self.uses_badly(BadMemory::UsedAfterFree { loc, access, site, freed_at });
    }

    /// Notes that a thread has freed a block that was freed before; `block` is the name of its address.
    pub fn freed_again(&mut self, thread: ThreadId, block: u64) {
        let freed_at = self.freed_at(None);
        let again_at = self.run.trace.frees;
        self.freed(thread, None);
        self.uses_badly(BadMemory::FreedTwice { thread, block, freed_at, again_at });
    }

    /// The number of the last freeing of this object's memory, or with `None` of the memory whose freeing is looked
    /// for.
    fn freed_at(&self, loc: Option<LocId>) -> Option<u32> {
        let is_it = |kind: NoteKind| kind == NoteKind::FreedAny || (loc.is_some() && kind.ends() == loc);
        let numbered = self.run.trace.all_freed().zip(0..);
        numbered.filter(|((_, note), _)| is_it(note.kind)).last().map(|(_, nth)| nth)
    }

    /// Whether the plan wants a thread to wait before the access of a cell.
    #[inline]
    pub fn has_hold(&self) -> bool {
        self.plan.hold.is_some()
    }

    /// Whether the plan wants a thread to wait before the access of a cell to which it comes; then it waits.
    pub fn is_held(&mut self, thread: ThreadId) -> bool {
        let begun = self.accesses_begun(thread);
        let is_held = self.plan.hold == Some(Hold { thread, access: begun }) && !self.over;
        if is_held {
            self.plan.hold = None;
            self.stand(thread, Status::Due);
            self.held = Some(thread);
        }
        is_held
    }
}

/// Whether an execution can have such uses; most have none.
#[inline]
pub fn may_have_suspects(run: &Run) -> bool {
    run.is_maximal() && run.trace.frees_what_others_use()
}

/// The uses, at the places that are wanted, that may come after the memory that they use was freed.
pub fn suspects(run: &Run, is_wanted: impl Fn(Site) -> bool) -> impl Iterator<Item = Suspect> {
    let mut pass = Pass::default();
    pass.threads.grow_to(ThreadId(run.trace.thread_bound() as u32), VectorClock::new);
    let late = pass.late_uses(&run.trace);
    let suspect = move |Late { used, bad }: Late| {
        is_wanted(used.site).then(|| Suspect { bad, site: used.site, plan: pass.plan(run, &used) })
    };
    late.into_iter().filter_map(suspect)
}

/// The last use of an object by a thread.
#[derive(Clone, Copy, Debug)]
struct Used {
    touch: Touch,
    /// The number of rows of the thread up to this use, which is included.
    time: u32,
    site: Site,
}

/// A use that is not in the past of the thread that frees.
struct Late {
    used: Used,
    bad: BadMemory,
}

/// The causal pasts in an execution, as clocks that count rows.
#[derive(Default)]
struct Pass {
    threads: IdVec<ThreadId, VectorClock>,
    /// The past of each event.
    events: Vec<VectorClock>,
    references: FxHashMap<LocId, VectorClock>,
    last: FxHashMap<(LocId, ThreadId), Used>,
    accesses: FxHashMap<ThreadId, u32>,
    /// The destructors that are running: the thread, the value behind the `Arc`, and what the thread knew before.
    destructors: Vec<(ThreadId, LocId, VectorClock)>,
}

impl Pass {
    fn late_uses(&mut self, trace: &Trace) -> Vec<Late> {
        let mut late: Vec<Late> = Vec::new();
        let mut frees = 0;
        for row in trace.rows() {
            let note = match row {
                Row::Event(_, event) => {
                    let thread = event.id.thread;
                    if let Source::At(source) = event.source {
                        self.threads[thread].join(&self.events[source as usize]);
                    }
                    let time = self.threads[thread].tick(thread);
                    self.events.push(self.threads[thread].clone());
                    let used = Used { touch: Touch::Event(event.id), time, site: event.op.site };
                    self.last.insert((event.op.loc, thread), used);
                    continue;
                }
                Row::Note(note) => note,
            };
            let (thread, site) = (note.thread, note.site);
            if matches!(note.kind, NoteKind::Flush(_)) {
                continue;
            }
            let time = self.threads[thread].tick(thread);
            match note.kind {
                NoteKind::Spawn(child) => {
                    let known = self.threads[thread].clone();
                    self.threads[child].join(&known);
                }
                NoteKind::Join(child) => {
                    let known = self.threads[child].clone();
                    self.threads[thread].join(&known);
                }
                NoteKind::ArcRelease(loc) => self.references.entry(loc).or_default().join(&self.threads[thread]),
                NoteKind::ArcAcquire(loc) => {
                    self.destructors.push((thread, loc, self.threads[thread].clone()));
                    if let Some(dropped) = self.references.get(&loc) {
                        self.threads[thread].join(dropped);
                    }
                }
                NoteKind::ArcGone(loc) => self.end_destructor(thread, loc, time),
                NoteKind::CellRead(loc) | NoteKind::CellWrite(loc) => {
                    let accesses = self.accesses.entry(thread).or_default();
                    let used = Used { touch: Touch::Cell(thread, *accesses), time, site };
                    *accesses += 1;
                    self.last.insert((loc, thread), used);
                }
                NoteKind::Freed(loc) | NoteKind::Dropped(loc) => late.extend(self.unknown_uses(thread, loc, frees)),
                _ => {}
            }
            frees += u32::from(note.kind.frees());
        }
        late
    }

    /// A thread has dropped a value that another one could have dropped as well: what it does next does not depend on
    /// that.
    fn end_destructor(&mut self, thread: ThreadId, value: LocId, time: u32) {
        if let Some(at) = self.destructors.iter().rposition(|running| (running.0, running.1) == (thread, value)) {
            self.threads[thread] = self.destructors.remove(at).2;
            self.threads[thread].raise(thread, time);
        }
    }

    /// The last uses of a location that are not in the past of a thread, which frees it as the free of this number.
    fn unknown_uses(&self, thread: ThreadId, loc: LocId, number: u32) -> Vec<Late> {
        let bad =
            |used: &Used| BadMemory::UsedAfterFree { loc, access: used.touch, site: used.site, freed_at: Some(number) };
        let known = &self.threads[thread];
        let uses = self.last.iter().filter(|((other, _), _)| *other == loc);
        let unknown = uses.filter(|((_, user), used)| known.get(*user) < used.time);
        let mut unknown: Vec<_> = unknown.map(|(_, used)| Late { used: *used, bad: bad(used) }).collect();
        unknown.sort_by_key(|late| late.used.touch.thread());
        unknown
    }

    /// The plan that has all that does not depend on a use, and then the use.
    fn plan(&self, run: &Run, used: &Used) -> Plan {
        let user = used.touch.thread();
        let stays = |at: usize| self.events[at].get(user) < used.time;
        let mut steps = run.steps();
        let mut forced = Vec::new();
        for row in run.trace.rows() {
            let (at, expected) = match row {
                Row::Event(at, event) => (at, Forced::of(event, &run.trace.locs[event.op.loc]).expect),
                Row::Note(note) => match note.kind {
                    NoteKind::Flush(store) => (store as usize, None),
                    _ => continue,
                },
            };
            let step = steps.next().expect("each event and each flush is a step");
            if stays(at) {
                forced.push(Forced { step, expect: expected });
            }
        }
        let hold = match used.touch {
            Touch::Cell(thread, access) => Some(Hold { thread, access }),
            Touch::Event(event) => {
                forced.push(Forced { step: Step::Run(event.thread), expect: None });
                None
            }
        };
        Plan { forced, hold, observed: run.observed.clone(), ..Plan::default() }
    }
}
