//! ViewXplore: one execution per view class.
//!
//! Problem. Run every maximal execution of a program once up to view equivalence: two executions are alike if every
//! read and update returns the same value in both, and the same threads are left blocked. The code cannot tell them
//! apart.
//!
//! Algorithm. A *read-cut* says how far each thread has come, by the values that its reads returned. Every cut of
//! every run is looked at once: for each thread, its next read, and for each value that a write within the cut
//! stores there, the cut that is longer by this read. If no run has had that cut yet, ConstructWitness looks for an
//! execution of it; if there is one it is run, and what it shows to be reachable is new.
//!
//! Cost. One run per class, and one ConstructWitness per cut that is not rejected at once. 16 bytes for each cut that a
//! run has had or that was refuted, in memory or in files (`base::spilled`), and the runs that are not finished with.
//!
//! Source. Stamos, "Optimal Exploration of Sequentially Consistent Executions of Concurrent Programs under View
//! Equivalence" (thesis, NTUA 2025), chapter 4, algorithm 1.
//!
//! Deviations. (1) *What is observed* (`snapshot`). Reads, updates and failed compare-exchanges count by their value;
//! lock operations count by their source, and so does an `AtomicPtr` that is not null. Once two threads have touched
//! one tracked cell, so do reads that acquire and updates: they decide whether that is a data race. A waiting acquire
//! is extended like any read, so a deadlock's cut is never one of a run in which the waiting thread gets on. (2)
//! *Which cuts* (`enumeration`). The plausible cuts of a run are walked from the longest down to known ones, instead
//! of going through all cuts. (3) A negative answer is remembered with the thread whose read was
//! added: what that thread writes later is not in the question, and with it the same cut may be possible. (4) Store
//! buffers: stores count from when they enter a buffer, and the witness says when they leave. (5) *Loops that wait.* A
//! cut in which a thread repeats an iteration of such a loop is not considered. Where threads wait and no other thread
//! can go on, ConstructWitness is asked whether the locations that they watch can end with what they saw: a livelock's
//! cut is one of a run in which they get on, too.
//!
//! Guarantees. Sound, complete and optimal for loads, stores, updates, compare-exchanges, fences, locks, try-locks,
//! park, spawn and join, under SC, TSO and PSO; compared with [`super::Exhaustive`].

mod cuts;
mod enumeration;
mod question;
mod snapshot;

use std::collections::VecDeque;

use crate::base::{Digest, Spill, Spilled};
use crate::consistency::Decided;
use crate::explore::Divisible;
use crate::explore::by_source::BySource;
use crate::explore::looks::{Looks, Way};
use crate::explore::view_xplore::cuts::{Cuts, Extension};
use crate::explore::view_xplore::enumeration::Enumeration;
use crate::explore::view_xplore::question::Asker;
use crate::explore::view_xplore::snapshot::Snapshot;
use crate::model::MemoryModel;
use crate::step::{End, Explorer, Forced, Plan, Purpose, Run};

/// The order in which runs are continued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traversal {
    /// The newest first.
    #[default]
    DepthFirst,
    /// The oldest first.
    BreadthFirst,
}

/// The memory of a cut: its name, and a byte of the table that holds it.
const _: () = assert!(size_of::<Digest>() < 32, "at most 32 bytes for each cut");

/// Counts of what an exploration has looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Cuts of runs that were visited.
    pub cuts: u64,
    /// Longer cuts that were considered.
    pub extensions: u64,
    /// Those of them that an earlier run has had, or that were refuted before.
    pub known: u64,
    /// The largest number of runs that were not finished with at once.
    pub runs_kept: usize,
}

/// The numbers of cuts and of questions after which `analyse` returns, so that its caller decides whether to go on.
const CUTS_AT_ONCE: usize = 1000;
const QUESTIONS_AT_ONCE: usize = 100;

/// The number of frames that are kept for their memory.
const MOST_SPARE: usize = 64;

/// A run, and the cuts that it was the first to have.
#[derive(Debug, Default)]
struct Frame {
    snapshot: Snapshot,
    /// The last of them is looked at, unless `is_new`.
    cuts: Cuts,
    /// None of them was looked at.
    is_new: bool,
    /// There may be more of them, to be found by shortening the others.
    is_unfinished: bool,
    /// The events of that cut, and its extensions.
    inside: Vec<usize>,
    extensions: Vec<Extension>,
    /// Its extensions were looked for, and it was not asked yet whether threads can wait for ever at its end.
    is_open: bool,
    /// The ways in which threads could wait for ever at its end that are still to be asked about.
    ways: Vec<Way>,
}

/// The explorer; see the module.
#[derive(Default)]
pub struct ViewXplore {
    traversal: Traversal,
    frames: VecDeque<Frame>,
    /// Frames that were finished with, for their memory.
    spare: Vec<Frame>,
    /// The cuts of the newest run.
    enumeration: Enumeration,
    started: bool,
    /// Whether there is a next execution, once that is known, and what its plan forces.
    found: Option<bool>,
    forced: Vec<Forced>,
    asks_for: Purpose,
    /// The cuts that some run has had.
    had: Spilled<Digest>,
    /// Cuts without a witness, each mixed with the thread whose read was added last.
    refuted: Spilled<Digest>,
    /// Cuts in which threads are known to wait for ever, and the names of the questions that were asked about others.
    livelocks: Spilled<Digest>,
    asker: Asker,
    /// Of the last plan.
    purpose: Purpose,
    effort: Effort,
    by_source: BySource,
    starts_over: bool,
    looks: Looks,
}

impl ViewXplore {
    /// An exploration under a memory model that has not started.
    pub fn new(model: MemoryModel, traversal: Traversal) -> Self {
        Self { traversal, asker: Asker::new(model), ..Self::default() }
    }

    /// This exploration, with the files of what is too much for memory in a place.
    pub fn with_spill(mut self, spill: Option<Spill>) -> Self {
        self.had.spill_to(spill.clone());
        self.refuted.spill_to(spill.clone());
        self.livelocks.spill_to(spill.clone());
        self.looks.spill_to(spill);
        self
    }

    /// The counts so far.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// The number of times that each step of ConstructWitness decided.
    pub fn decided(&self) -> Decided {
        self.asker.decided()
    }

    /// Looks for a cut that no run has had and that has a witness, among some of the newest run's cuts or by one
    /// question. Returns whether there is one, whose steps go to `forced`; `None` while that is not known.
    fn look(&mut self) -> Option<bool> {
        if let Some(frame) = self.frames.back_mut().filter(|frame| frame.is_unfinished) {
            if self.enumeration.find_more(&frame.snapshot, &mut self.had, &mut frame.cuts, CUTS_AT_ONCE) {
                frame.is_unfinished = false;
                self.effort.cuts += frame.cuts.len() as u64;
            }
            return None;
        }
        let frame = match self.traversal {
            Traversal::DepthFirst => self.frames.back_mut(),
            Traversal::BreadthFirst => self.frames.front_mut(),
        };
        let Some(frame) = frame else { return Some(false) };
        if let Some(extension) = frame.extensions.pop() {
            let cut = frame.cuts.last().expect("extensions belong to a cut");
            let longer = cuts::longer(cut, &extension);
            let by_thread = longer.with(Digest::of(&[u64::from(extension.thread.0)]));
            self.effort.extensions += 1;
            if self.had.contains(longer) || self.refuted.contains(by_thread) {
                self.effort.known += 1;
            } else if self.asker.ask(&frame.snapshot, &frame.inside, &extension, &mut self.forced) {
                return Some(true);
            } else {
                self.refuted.insert(by_thread, ());
            }
            return None;
        }
        if std::mem::take(&mut frame.is_open) {
            // All values were tried, so it is known which of them make threads wait.
            let cut = frame.cuts.last().expect("it is looked at");
            frame.ways = cuts::ways_to_wait(&frame.snapshot, &self.looks, cut, &frame.inside);
        }
        if let Some(way) = frame.ways.pop() {
            let cut = frame.cuts.last().expect("it is looked at");
            let (name, question) = cuts::names(&frame.snapshot, cut, &way);
            if !way.is_seen(&frame.snapshot.trace, |at| frame.inside.contains(&at))
                && !self.livelocks.contains(name)
                && self.livelocks.insert(question, ())
                && self.asker.ask_whether_it_ends(&frame.snapshot, &frame.inside, &way, &mut self.forced)
            {
                self.livelocks.insert(name, ());
                self.asks_for = Purpose::Livelock;
                return Some(true);
            }
            return None;
        }
        if !std::mem::take(&mut frame.is_new) {
            frame.cuts.pop();
        }
        let Some(cut) = frame.cuts.last() else {
            self.drop_frame();
            return None;
        };
        cuts::find_inside(&frame.snapshot, cut, &mut frame.inside);
        cuts::extensions(&frame.snapshot, &self.looks, cut, &frame.inside, &mut frame.extensions);
        frame.is_open = true;
        None
    }

    /// Starts over: more counts by its source than was known.
    fn start_over(&mut self, by_source: BySource) {
        self.frames.clear();
        self.had.clear();
        self.refuted.clear();
        self.livelocks.clear();
        self.started = false;
        self.by_source = by_source;
        self.starts_over = true;
    }

    fn drop_frame(&mut self) {
        let frame = match self.traversal {
            Traversal::DepthFirst => self.frames.pop_back(),
            Traversal::BreadthFirst => self.frames.pop_front(),
        };
        // More than the few in use at a time are not worth their memory.
        self.spare.extend(frame.filter(|_| self.spare.len() < MOST_SPARE));
    }
}

impl Explorer for ViewXplore {
    fn analyse(&mut self) -> bool {
        self.found = self.found.or(if self.started { None } else { Some(true) });
        for _ in 0..QUESTIONS_AT_ONCE {
            if self.found.is_some() {
                return true;
            }
            self.found = self.look();
        }
        self.found.is_some()
    }

    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        while !self.analyse() {}
        self.started = true;
        plan.frozen.clear();
        plan.forced.clear();
        plan.forced.append(&mut self.forced);
        plan.purpose = std::mem::take(&mut self.asks_for);
        self.purpose = plan.purpose;
        self.found.take().unwrap_or(false)
    }

    fn observe(&mut self, run: &Run) {
        self.looks.learn(run);
        if !run.is_maximal() || (run.repeated.is_some() && !run.halfway) || self.purpose == Purpose::Livelock {
            return;
        }
        let by_source = BySource::of(run);
        if by_source > self.by_source {
            self.start_over(by_source);
            return;
        }
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.is_new = true;
        frame.snapshot.take(run, self.by_source);
        self.enumeration.begin(&frame.snapshot, &mut self.had, &mut frame.cuts);
        frame.is_unfinished = true;
        // If it ends in a livelock, that is the class of its longest cut. A thread that was held back halfway through
        // an iteration may wait for ever in another way.
        let is_held_back = run.waits.iter().any(|wait| wait.begun > 0);
        let full = frame.cuts.first().filter(|_| run.end == End::Stuck && !is_held_back);
        if let Some(full) = full {
            self.livelocks.insert(full.name, ());
        }
        self.frames.push_back(frame);
        self.effort.runs_kept = self.effort.runs_kept.max(self.frames.len());
    }

    fn starts_over(&mut self) -> bool {
        std::mem::take(&mut self.starts_over)
    }
}

impl Divisible for ViewXplore {}
