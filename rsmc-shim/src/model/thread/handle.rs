//! Handles of threads, and which one is running.
//!
//! The threads of a check share one OS thread, so a `thread_local!` cannot say which of them runs; the check can.
//! Its ids are small and mean the same thread in every execution, so a table maps them to handles. A spawn writes
//! its child's entry. The test body has one handle for all executions on an OS thread: its token starts anew in each.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rsmc_core::base::ThreadId as ModelId;
use rsmc_core::runtime::{Slot, Tag, hook};

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
    /// Its id, once it is started.
    id: AtomicU32,
    name: Option<String>,
    token: Tag,
    /// Its end, where that is a step.
    pub(super) end: Tag,
    /// It left a panic that nobody has received.
    pub(super) panicked: AtomicBool,
}

impl Handle {
    /// The handle of a thread that is about to be started.
    pub(super) fn new(name: Option<String>) -> StdArc<Self> {
        let (token, end, panicked) = (Tag::new(), Tag::new(), AtomicBool::new(false));
        StdArc::new(Self { id: AtomicU32::new(0), name, token, end, panicked })
    }

    pub(super) fn id(&self) -> ModelId {
        ModelId(self.id.load(Ordering::Relaxed))
    }

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

    /// That of a thread which a check is about to start.
    pub(super) fn of_check(name: Option<String>) -> Self {
        Self(Kind::Model(Handle::new(name)))
    }

    /// Makes it known as that of a thread which a check has just started.
    pub(super) fn register(&self, id: ModelId) {
        enter(id, self.handle());
    }

    /// What a thread of a check has.
    pub(super) fn handle(&self) -> &StdArc<Handle> {
        match &self.0 {
            Kind::Model(handle) => handle,
            Kind::Std(_) => unreachable!("this is a bug in rsmc: a thread of std in a check"),
        }
    }

    /// The id of the thread.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        match &self.0 {
            Kind::Std(thread) => ThreadId(Id::Std(thread.id())),
            Kind::Model(handle) => ThreadId(Id::Model(handle.id().0)),
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
            Kind::Model(handle) => hook::unpark(&handle.token),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Thread");
        shown.field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// The calling thread; mirrors [`std::thread::current`]. In a check it is the modelled one.
#[must_use]
pub fn current() -> Thread {
    match current_in_run() {
        Some(handle) => Thread(Kind::Model(handle)),
        None => Thread::of_std(std::thread::current()),
    }
}

thread_local! {
    /// By id: the handle of the thread in this execution.
    static HANDLES: RefCell<Vec<Option<StdArc<Handle>>>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn current_in_run() -> Option<StdArc<Handle>> {
    let id = hook::current()?;
    let known = HANDLES.with_borrow(|handles| handles.get(id.0 as usize).cloned().flatten());
    Some(known.unwrap_or_else(|| {
        let handle = hook::aside(|| Handle::new(std::thread::current().name().map(str::to_owned)));
        enter(id, &handle);
        handle
    }))
}

fn enter(id: ModelId, handle: &StdArc<Handle>) {
    handle.id.store(id.0, Ordering::Relaxed);
    let at = id.0 as usize;
    HANDLES.with_borrow_mut(|handles| {
        if handles.len() < 2 {
            hook::at_end(forget_children);
        }
        while handles.len() <= at {
            hook::aside(|| handles.push(None));
        }
        handles[at] = Some(StdArc::clone(handle));
    });
}

/// The execution is over. The test body's handle, which is the first, stays.
fn forget_children() -> Vec<Slot> {
    HANDLES.with_borrow_mut(|handles| handles.truncate(1));
    Vec::new()
}
