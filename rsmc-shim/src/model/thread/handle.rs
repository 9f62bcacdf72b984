//! Handles of threads, and the one of the running thread.
//!
//! The threads of a check share one OS thread, so a `thread_local!` cannot say which of them runs; the check can. Its
//! ids are small and mean the same thread in every execution, so a table maps them to handles. A handle is made at the
//! first request for it and serves every later execution on the OS thread: its token starts anew in each.

use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicU64, Ordering};

use rsmc_core::base::ThreadId as ModelId;
use rsmc_core::runtime::{Object, Tag, hook};

/// A handle to a thread; mirrors [`std::thread::Thread`]. In a check it is one of a modelled thread.
#[derive(Clone)]
pub struct Thread(Kind);

#[derive(Clone)]
enum Kind {
    Std(std::thread::Thread),
    Model(StdArc<Handle>),
}

/// A thread of a check.
pub(super) struct Handle {
    id: ModelId,
    name: Option<String>,
    token: Tag,
    /// The execution in which it was last asked for: its thread is one of that.
    execution: AtomicU64,
}

impl Handle {
    pub(super) fn token(&self) -> &Tag {
        &self.token
    }
}

/// Names a running thread; mirrors [`std::thread::ThreadId`].
///
/// In a check it is unique within the execution, and the same thread has the same id in every execution.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Id {
    Std(std::thread::ThreadId),
    Model(u32),
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Id::Std(id) => id.fmt(f),
            // As in std, the first thread is number 1.
            Id::Model(id) => f.debug_tuple("ThreadId").field(&(u64::from(id) + 1)).finish(),
        }
    }
}

impl Thread {
    pub(super) fn of_std(thread: std::thread::Thread) -> Self {
        Self(Kind::Std(thread))
    }

    /// The handle of a thread of a check.
    pub(super) fn of_check(id: ModelId) -> Self {
        Self(Kind::Model(handle_of(id)))
    }

    /// The id of the thread.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        match &self.0 {
            Kind::Std(thread) => ThreadId(Id::Std(thread.id())),
            Kind::Model(handle) => ThreadId(Id::Model(handle.id.0)),
        }
    }

    /// The name of the thread, if it was given one. The body of a check has that of the OS thread it runs on.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Std(thread) => thread.name(),
            Kind::Model(handle) => handle.name.as_deref(),
        }
    }

    /// Makes the token of the thread available, for which [`park`](super::park) waits.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            Kind::Std(thread) => thread.unpark(),
            Kind::Model(handle) => {
                let token = Object { tag: &handle.token, kind: "park token", created: None };
                let execution = handle.execution.load(Ordering::Relaxed);
                hook::objects::meets_of(execution, token, Some(Location::caller()));
                hook::tokens::unpark(&handle.token);
            }
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Thread");
        shown.field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// The handle of the calling thread; mirrors [`std::thread::current`]. In a check it is that of the modelled thread.
#[must_use]
pub fn current() -> Thread {
    match current_in_run() {
        Some(handle) => Thread(Kind::Model(handle)),
        None => Thread::of_std(std::thread::current()),
    }
}

thread_local! {
    /// By id: the handle of the thread. All of them stay, for the executions that follow.
    static HANDLES: RefCell<Vec<Option<StdArc<Handle>>>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn current_in_run() -> Option<StdArc<Handle>> {
    hook::threads::current().map(handle_of)
}

/// The handle of a thread of a check.
fn handle_of(id: ModelId) -> StdArc<Handle> {
    let (at, is_body) = (id.0 as usize, id == ModelId(0));
    let execution = hook::executions::execution().unwrap_or(0);
    HANDLES.with_borrow_mut(|handles| {
        let known = handles.get(at).and_then(Option::as_ref);
        // In another execution a thread with this id may have another name.
        if let Some(handle) = known.filter(|handle| is_body || hook::threads::has_name(id, handle.name.as_deref())) {
            handle.execution.store(execution, Ordering::Relaxed);
            return StdArc::clone(handle);
        }
        hook::executions::aside(|| {
            let name =
                if is_body { std::thread::current().name().map(str::to_owned) } else { hook::threads::thread_name(id) };
            let handle = StdArc::new(Handle { id, name, token: Tag::new(), execution: AtomicU64::new(execution) });
            handles.resize(handles.len().max(at + 1), None);
            handles[at] = Some(StdArc::clone(&handle));
            handle
        })
    })
}
