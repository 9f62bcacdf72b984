//! A recorded execution.

use std::ops::Range;

use crate::base::{EventId, Id, IdVec, LocId, ThreadId};
use crate::trace::{
    CallPaths, Calls, Event, Explore, LocInfo, Making, Note, NoteKind, Rounds, ScenarioCalls, Source, ThreadInfo,
};

/// One execution, in the order in which it happened. Reused from run to run.
#[derive(Debug, Default)]
pub struct Trace {
    /// The visible operations.
    pub events: Vec<Event>,
    /// The notes between them, in order.
    pub notes: Vec<Note>,
    /// The locations, in order of first access.
    pub locs: IdVec<LocId, LocInfo>,
    /// Locations of objects that got a value without an operation, in order, with their first ones.
    pub renewed: Vec<(LocId, LocId)>,
    /// The making of objects behind the first spawn, in order of their locations.
    pub made: Vec<Making>,
    /// The threads; an entry whose `present` is false belongs to another execution.
    pub threads: IdVec<ThreadId, ThreadInfo>,
    /// The user's names of some locations. The last one of a location counts.
    pub labels: Vec<(LocId, String)>,
    /// The calls of the program that consist of several events.
    pub calls: Calls,
    /// The calls of the scenario, if this is an execution of one and they were asked for.
    pub scenario: ScenarioCalls,
    /// The call paths, if the runtime captured them.
    pub paths: CallPaths,
    /// The number of notes that say that memory was freed.
    pub frees: u32,
    /// Whether a note asks for a part not to be explored.
    pub pauses: bool,
    /// The rounds that threads have gone, as far as the machine has found them.
    pub rounds: Rounds,
    by_thread: IdVec<ThreadId, Vec<u32>>,
}

/// An event or a note, in order of happening.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// The event at this position.
    Event(usize, &'a Event),
    /// A note.
    Note(&'a Note),
}

impl Clone for Trace {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Keeps the memory.
    fn clone_from(&mut self, other: &Self) {
        let Self {
            events,
            notes,
            locs,
            renewed,
            made,
            threads,
            labels,
            calls,
            scenario,
            paths,
            frees,
            pauses,
            rounds,
            by_thread,
        } = other;
        self.events.clone_from(events);
        self.notes.clone_from(notes);
        self.locs.clone_from(locs);
        self.renewed.clone_from(renewed);
        self.made.clone_from(made);
        self.threads.clone_from(threads);
        self.labels.clone_from(labels);
        self.calls.clone_from(calls);
        self.scenario.clone_from(scenario);
        self.paths.clone_from(paths);
        self.frees = *frees;
        self.pauses = *pauses;
        self.rounds.clone_from(rounds);
        self.by_thread.clone_from(by_thread);
    }
}

impl Trace {
    /// Forgets the execution and keeps the memory.
    pub fn clear(&mut self) {
        self.events.clear();
        self.notes.clear();
        self.locs.clear();
        self.renewed.clear();
        self.made.clear();
        self.labels.clear();
        self.calls.clear();
        self.scenario.clear();
        self.paths.clear();
        self.frees = 0;
        self.pauses = false;
        self.rounds.clear();
        self.by_thread.values_mut().for_each(Vec::clear);
        for info in self.threads.values_mut() {
            info.present = false;
        }
    }

    /// The first location of the object at a location.
    #[inline]
    pub fn object_at(&self, loc: LocId) -> LocId {
        if self.renewed.is_empty() {
            return loc;
        }
        self.renewed.binary_search_by_key(&loc, |renewed| renewed.0).map_or(loc, |at| self.renewed[at].1)
    }

    /// Appends an event and returns its position.
    #[inline]
    pub fn push(&mut self, event: Event) -> u32 {
        let at = u32::try_from(self.events.len()).expect("fewer than 2^32 events");
        self.by_thread.grow_to(event.id.thread, Vec::new);
        let own = &mut self.by_thread[event.id.thread];
        debug_assert_eq!(own.len(), event.id.index as usize, "events of a thread are numbered from 0");
        own.push(at);
        self.events.push(event);
        at
    }

    /// Forgets everything after the first `events` events and `notes` notes.
    pub fn truncate(&mut self, events: usize, notes: usize) {
        for event in self.events.drain(events..).rev() {
            let own = &mut self.by_thread[event.id.thread];
            own.pop();
            self.calls.cut(event.id.thread, own.len() as u32);
            self.rounds.cut(event.id.thread, own.len() as u32);
        }
        self.notes.truncate(notes);
    }

    /// The positions of the notes of a thread behind the first `notes` notes that a left-out iteration may
    /// have: hints and fences.
    pub fn notes_of_iteration(&self, thread: ThreadId, notes: usize) -> Vec<u32> {
        let is_of = |note: &Note| {
            note.thread == thread && matches!(note.kind, NoteKind::Hint | NoteKind::Fence(_) | NoteKind::Pending)
        };
        (notes..self.notes.len()).filter(|&at| is_of(&self.notes[at])).map(|at| at as u32).collect()
    }

    /// Removes the events at these positions, in ascending order, which are the last ones of one thread, and the notes
    /// at these positions. Events that read from them read from `sources` instead, by removed event. Returns the new
    /// position of every event; removed ones have none.
    pub fn remove_last_of(&mut self, thread: ThreadId, gone: &[u32], notes: &[u32], sources: &[Source]) -> Vec<Source> {
        let mut places = Vec::with_capacity(self.events.len());
        let mut kept = 0;
        for at in 0..self.events.len() as u32 {
            places.push(match gone.binary_search(&at) {
                Ok(number) => match sources[number] {
                    Source::At(other) => places[other as usize],
                    source => source,
                },
                Err(_) => {
                    kept += 1;
                    Source::At(kept - 1)
                }
            });
        }
        let first = gone.first().map_or(self.events.len(), |&at| at as usize);
        let removed_before = |at: u32| gone.partition_point(|&other| other < at) as u32;
        let mut positions = 0..;
        self.notes.retain_mut(|note| {
            let is_gone = positions.next().is_some_and(|position| notes.binary_search(&position).is_ok());
            note.at -= removed_before(note.at);
            if let NoteKind::Flush(store) = &mut note.kind {
                *store -= removed_before(*store);
            }
            !is_gone
        });
        let own = &mut self.by_thread[thread];
        own.truncate(own.len() - gone.len());
        self.calls.cut(thread, own.len() as u32);
        self.rounds.cut(thread, own.len() as u32);
        let mut kept_events = Vec::with_capacity(self.events.len() - first);
        for (at, mut event) in (first as u32..).zip(self.events.drain(first..)) {
            if gone.binary_search(&at).is_err() {
                if let Source::At(source) = event.source {
                    event.source = places[source as usize];
                }
                self.by_thread[event.id.thread][event.id.index as usize] = (first + kept_events.len()) as u32;
                kept_events.push(event);
            }
        }
        self.events.append(&mut kept_events);
        places
    }

    /// The number of events that a thread has performed.
    #[inline]
    pub fn count(&self, thread: ThreadId) -> u32 {
        self.by_thread.get(thread).map_or(0, |own| own.len() as u32)
    }

    /// The positions of a thread's events.
    pub fn of_thread(&self, thread: ThreadId) -> &[u32] {
        self.by_thread.get(thread).map_or(&[], Vec::as_slice)
    }

    /// The position of an event, if it happened.
    #[inline]
    pub fn position(&self, id: EventId) -> Option<usize> {
        self.by_thread.get(id.thread)?.get(id.index as usize).map(|&at| at as usize)
    }

    /// The name of the write an event read from; `None` for the initial value or no read.
    #[inline]
    pub fn source_id(&self, event: &Event) -> Option<EventId> {
        match event.source {
            Source::At(at) => Some(self.events[at as usize].id),
            Source::None | Source::Init => None,
        }
    }

    /// Events and notes in the order in which they happened.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows_since(0, 0)
    }

    /// Events and notes after the first `events` events and `notes` notes.
    pub fn rows_since(&self, events: usize, notes: usize) -> impl Iterator<Item = Row<'_>> {
        let mut notes = self.notes[notes..].iter().peekable();
        let mut at = events;
        std::iter::from_fn(move || {
            if let Some(note) = notes.next_if(|note| note.at as usize <= at) {
                return Some(Row::Note(note));
            }
            let event = self.events.get(at)?;
            at += 1;
            Some(Row::Event(at - 1, event))
        })
    }

    /// The access of a cell that a thread began as this one, counted from 0, and its place in the notes.
    pub fn access(&self, thread: ThreadId, number: u32) -> Option<(usize, &Note)> {
        let begins = |note: &Note| matches!(note.kind, NoteKind::CellRead(_) | NoteKind::CellWrite(_));
        let of_thread = |(_, note): &(usize, &Note)| note.thread == thread && begins(note);
        self.notes.iter().enumerate().filter(of_thread).nth(number as usize)
    }

    /// The positions of events in parts that the program does not want explored.
    #[inline]
    pub fn unexplored(&self) -> Vec<Range<usize>> {
        if self.pauses { self.parts_unexplored() } else { Vec::new() }
    }

    #[cold]
    fn parts_unexplored(&self) -> Vec<Range<usize>> {
        let (mut parts, mut since, mut is_final) = (Vec::new(), None, false);
        for note in &self.notes {
            let NoteKind::Explore(explore) = note.kind else { continue };
            is_final |= explore == Explore::OffForGood;
            if explore != Explore::On {
                since = since.or(Some(note.at as usize));
            } else if !is_final {
                parts.extend(since.take().map(|since| since..note.at as usize));
            }
        }
        parts.extend(since.map(|since| since..usize::MAX));
        parts
    }

    /// The notes that say that memory was freed, with their places.
    pub fn all_freed(&self) -> impl Iterator<Item = (usize, &Note)> {
        let notes = if self.frees == 0 { &[] } else { &*self.notes };
        notes.iter().enumerate().filter(|(_, note)| note.kind.frees())
    }

    /// Whether a thread frees the memory of an object that another one has used.
    pub fn frees_what_others_use(&self) -> bool {
        let is_used = |loc, by: ThreadId| {
            let in_note = |note: &Note| {
                note.thread != by && (note.kind == NoteKind::CellRead(loc) || note.kind == NoteKind::CellWrite(loc))
            };
            self.events.iter().any(|event| event.op.loc == loc && event.id.thread != by)
                || self.notes.iter().any(in_note)
        };
        self.all_freed().any(|(_, note)| note.kind.ends().is_some_and(|loc| is_used(loc, note.thread)))
    }

    /// The note with this number among those of [`all_freed`](Self::all_freed), with its place.
    pub fn freed(&self, nth: u32) -> Option<(usize, &Note)> {
        self.all_freed().nth(nth as usize)
    }

    /// The threads other than the test body, in the order in which they were spawned.
    pub fn spawned(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.notes.iter().filter_map(|note| match note.kind {
            NoteKind::Spawn(child) => Some(child),
            _ => None,
        })
    }

    /// The threads that took part.
    pub fn present(&self) -> impl Iterator<Item = (ThreadId, &ThreadInfo)> {
        self.threads.iter().filter(|(_, info)| info.present)
    }

    /// A bound above every thread id of this execution.
    pub fn thread_bound(&self) -> usize {
        self.threads.ids().next_back().map_or(0, |last| last.index() + 1)
    }
}
