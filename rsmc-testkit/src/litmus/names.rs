//! Numbers for the names of locations, locks, threads and cells.

use std::collections::BTreeMap;

use crate::litmus::{Error, Program, StmtKind, ThreadProgram};
use rsmc_core::trace::CHOICE;

/// A place in the table of locations: variables, then locks, then one park token for each thread, then one place for
/// the choices of each thread, then cells.
pub(super) type Place = usize;

/// The kind of a place, and its initial value.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaceInfo {
    pub(super) kind: &'static str,
    pub(super) init: u64,
}

/// The numbers of all names.
pub(super) struct Names<'p> {
    locations: BTreeMap<&'p str, usize>,
    locks: BTreeMap<&'p str, usize>,
    threads: BTreeMap<&'p str, usize>,
    cells: BTreeMap<&'p str, usize>,
}

impl<'p> Names<'p> {
    /// Numbers the names of a program, whose threads begin with main.
    pub(super) fn of(program: &'p Program, threads: &[&'p ThreadProgram]) -> Self {
        let (mut locks, mut cells) = (BTreeMap::new(), BTreeMap::new());
        let is_location = |name: &String| program.locations.iter().any(|location| location.name == *name);
        program.visit(|stmt| {
            let (names, name) = match &stmt.kind {
                StmtKind::Lock(lock) | StmtKind::Unlock(lock) | StmtKind::TryLock { lock, .. } => (&mut locks, lock),
                StmtKind::CellRead(cell)
                | StmtKind::CellWrite(cell)
                | StmtKind::Peek { cell, .. }
                | StmtKind::Poke { cell, .. }
                    if !is_location(cell) =>
                {
                    (&mut cells, cell)
                }
                _ => return,
            };
            let number = names.len();
            names.entry(name.as_str()).or_insert(number);
        });
        let locations = program.locations.iter().enumerate().map(|(i, location)| (location.name.as_str(), i));
        let threads = threads.iter().enumerate().map(|(i, thread)| (thread.name.as_str(), i));
        Self { locations: locations.collect(), locks, threads: threads.collect(), cells }
    }

    /// The kinds and initial values of all places.
    pub(super) fn places(&self, program: &Program) -> Vec<PlaceInfo> {
        let atomics = program.locations.iter().map(|location| PlaceInfo { kind: "AtomicU32", init: location.init });
        let locks = self.locks.keys().map(|_| PlaceInfo { kind: "Mutex", init: 0 });
        let tokens = self.threads.keys().map(|_| PlaceInfo { kind: "park token", init: 0 });
        let cells = self.cells.keys().map(|_| PlaceInfo { kind: "UnsafeCell", init: 0 });
        let choices = self.threads.keys().map(|_| PlaceInfo { kind: CHOICE, init: 0 });
        atomics.chain(locks).chain(tokens).chain(choices).chain(cells).collect()
    }

    /// The place of a variable.
    pub(super) fn location(&self, name: &str, line: u32) -> Result<Place, Error> {
        self.locations.get(name).copied().ok_or_else(|| Error::UnknownLocation { line, name: name.to_owned() })
    }

    /// The place of a lock.
    pub(super) fn lock(&self, name: &str) -> Place {
        self.locations.len() + self.locks[name]
    }

    /// The place of a park token.
    pub(super) fn token(&self, thread: usize) -> Place {
        self.locations.len() + self.locks.len() + thread
    }

    /// The place of a thread's choices.
    pub(super) fn choice(&self, thread: usize) -> Place {
        self.token(self.threads.len()) + thread
    }

    /// The place of a cell, or of a variable that is accessed like one.
    pub(super) fn cell(&self, name: &str) -> Place {
        let cell = || self.choice(self.threads.len()) + self.cells[name];
        self.locations.get(name).copied().unwrap_or_else(cell)
    }

    /// The number of a thread.
    pub(super) fn thread(&self, name: &str, line: u32) -> Result<usize, Error> {
        self.threads.get(name).copied().ok_or_else(|| Error::UnknownThread { line, name: name.to_owned() })
    }
}
