//! The door for the shim: every modelled operation enters the runtime here.
//!
//! Functions that return an `Option` return `None` where the calling OS thread is in no execution; the shim then
//! does what std does. All of them take the place of the user's call from their caller.

use std::any::Any;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::base::{LocId, ThreadId};
use crate::machine::{Begun, Outcome};
use crate::runtime::arena;
use crate::runtime::births::Birth;
use crate::runtime::current::in_current;
use crate::runtime::execution::Execution;
use crate::runtime::foreign;
use crate::runtime::locals::Gone;
use crate::runtime::locations::Tag;
use crate::runtime::slots::{PutBack, Slot};
use crate::runtime::state::clear_below;
use crate::runtime::teardown::Teardown;
use crate::step::End;
use crate::trace::{Action, FREE, NoteKind, Op, POISONED, Rmw, RmwKind, Site};

pub use crate::runtime::atomics::{Done, Kind, atomic};
pub use crate::runtime::choices::choose;
pub use crate::runtime::current::in_run;
pub use crate::runtime::loops::{begins_to_wait, changes, hint, stand, waits};

/// What an object tells about itself when an execution meets it first.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    /// Where executions keep their location of it.
    pub tag: &'a Tag,
    /// Its type, as the user wrote it.
    pub kind: &'static str,
    /// Where it was created, if that is known.
    pub created: Option<&'static Location<'static>>,
}

/// Access to a tracked cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellAccess {
    /// A read.
    Read,
    /// A write.
    Write,
}

impl CellAccess {
    fn note(self, cell: LocId) -> NoteKind {
        match self {
            CellAccess::Read => NoteKind::CellRead(cell),
            CellAccess::Write => NoteKind::CellWrite(cell),
        }
    }
}

#[track_caller]
pub(super) fn here() -> Site {
    Site::Code(Location::caller())
}

/// Acts in the execution in progress, if there is one. What we allocate is none of the user's memory.
#[inline]
pub(super) fn enter<R>(act: impl FnOnce(&Execution) -> R) -> Option<R> {
    in_current(|execution| {
        let ours = arena::outside();
        if ours.has_news() {
            execution.learn_of_memory();
        }
        execution.watched.go_on();
        let result = act(execution);
        if execution.compares_states.get() {
            clear_below::<2048>();
        }
        result
    })
}

/// An atomic operation, or one on a lock: a scheduling point. `init` is the value the object has outside.
///
/// `failure` is the ordering of a failed compare-exchange, and equal to `order` elsewhere.
#[inline]
#[track_caller]
pub fn access(
    object: Object<'_>,
    init: impl FnOnce() -> u64,
    action: Action,
    order: Ordering,
    failure: Ordering,
) -> Option<Outcome> {
    access_at(Location::caller(), object, init, action, order, failure)
}

/// As [`access`], at a place that is not the caller's: a destructor has no line of its own.
///
/// It is a call, so that none of what is done here lies in the frame of the user's function: what that holds would depend on
/// whether the object is new in the execution.
#[inline(never)]
pub fn access_at(
    place: &'static Location<'static>,
    object: Object<'_>,
    init: impl FnOnce() -> u64,
    action: Action,
    order: Ordering,
    failure: Ordering,
) -> Option<Outcome> {
    let site = Site::Code(place);
    meet(place, object, |execution| {
        let loc = execution.locate(object, init, site);
        execution.operate(Op { action, loc, order, failure, site })
    })
}

/// Whether the object is used in an execution. If it is not, but belongs to one that goes on elsewhere, that check fails, and
/// so does this thread.
#[inline]
#[track_caller]
pub fn meets(object: Object<'_>) -> bool {
    let meets = in_run();
    if !meets {
        foreign_use(object.tag.execution(), object, Some(Location::caller()), true);
    }
    meets
}

/// As [`enter`], with an object, of which [`meets`] tells more.
#[inline(always)]
pub(super) fn meet<R>(
    place: &'static Location<'static>,
    object: Object<'_>,
    act: impl FnOnce(&Execution) -> R,
) -> Option<R> {
    let done = enter(act);
    if done.is_none() {
        foreign_use(object.tag.execution(), object, Some(place), true);
    }
    done
}

/// As [`meets`], for what was made for this execution, which may not have used it as an object: it is no static. Without a
/// place it is dropped.
#[inline]
pub fn meets_of(execution: u64, object: Object<'_>, place: Option<&'static Location<'static>>) {
    if !in_run() {
        foreign_use(execution, object, place, false);
    }
}

/// An object is used outside executions. If it belongs to one that goes on elsewhere, that check fails, and so does this
/// thread, unless it is unwinding or drops the object.
#[inline(never)]
fn foreign_use(execution: u64, object: Object<'_>, place: Option<&'static Location<'static>>, may_be_static: bool) {
    let what = || {
        let created = object.created.map(|created| format!(" created at {}", Site::Code(created))).unwrap_or_default();
        let does = place.map_or("dropped it".to_owned(), |place| format!("used it at {}", Site::Code(place)));
        format!(
            "the {}{created} belongs to a check that goes on, and a thread that the check does not know {does}: \
             start threads by `rsmc_shim::thread`",
            object.kind
        )
    };
    let message = foreign::notice(execution, std::ptr::from_ref(object.tag).addr(), may_be_static, what);
    if let Some(message) = message.filter(|_| place.is_some() && !std::thread::panicking()) {
        panic!("{message}");
    }
}

/// Something that was created outside, and is std's own, is used. Nothing outside executions.
pub fn unmodelled() {
    enter(|execution| execution.core.borrow_mut().unmodelled = true);
}

/// Something that has to be gone at the end of the execution was created; `None` outside executions, and where one is over.
#[track_caller]
pub fn born(kind: &'static str) -> Option<Birth> {
    let site = here();
    enter(|execution| {
        let core = &mut *execution.core.borrow_mut();
        let number = core.locations.execution();
        (!execution.unwinding.get()).then(|| core.births.born(number, kind, site))
    })
    .flatten()
}

/// Whether it is still there, as far as the running execution knows.
pub fn is_alive(birth: Birth) -> bool {
    enter(|execution| {
        let core = execution.core.borrow();
        core.locations.execution() != birth.execution || core.births.is_alive(birth)
    })
    .unwrap_or(true)
}

/// It is gone; false if it was gone before.
pub fn died(birth: Birth) -> bool {
    in_current(|execution| {
        let core = &mut *execution.core.borrow_mut();
        core.locations.execution() != birth.execution || core.births.died(birth)
    })
    .unwrap_or(true)
}

/// A thread gives back a lock that `holder` took at `place`: if that is another one, the execution ends.
pub fn gives_back_of(lock: Object<'_>, holder: ThreadId, place: &'static Location<'static>) {
    enter(|execution| {
        let thread = execution.running.get();
        if thread == holder || execution.unwinding.get() {
            return;
        }
        let site = Site::Code(place);
        let lock = execution.locate(lock, || FREE, site);
        execution.core.borrow_mut().machine.finish(End::WrongThread { lock, holder, thread, site });
    });
}

/// Gives an object a name for reports, in this execution. `init` is the value it has outside.
#[track_caller]
pub fn label(object: Object<'_>, init: impl FnOnce() -> u64, name: &str) {
    let site = here();
    meet(Location::caller(), object, |execution| {
        if !execution.unwinding.get() {
            let loc = execution.locate(object, init, site);
            execution.core.borrow_mut().machine.label(loc, name);
        }
    });
}

/// A fence: what it does depends on the memory model, and it counts for data races. True if in an execution.
#[track_caller]
pub fn fence(order: Ordering) -> bool {
    let site = here();
    enter(|execution| execution.fence(order, site)).is_some()
}

/// An access to a tracked cell. No scheduling point: races are found by happens-before.
#[inline]
#[track_caller]
pub fn cell(object: Object<'_>, access: CellAccess) {
    let site = here();
    meet(Location::caller(), object, |execution| {
        if execution.unwinding.get() {
            return;
        }
        execution.comes_to_cell();
        let loc = execution.locate(object, || 0, site);
        execution.core.borrow_mut().machine.access(execution.running.get(), access.note(loc), site);
    });
}

/// As [`cell`], for an access that lasts until [`cell_ends`]. `None` where no check sees it.
#[inline]
#[track_caller]
pub fn cell_begins(object: Object<'_>, access: CellAccess) -> Option<Begun> {
    let site = here();
    let begun = meet(Location::caller(), object, |execution| {
        if execution.unwinding.get() {
            return None;
        }
        execution.comes_to_cell();
        let loc = execution.locate(object, || 0, site);
        execution.core.borrow_mut().machine.access_begins(execution.running.get(), access.note(loc), site)
    });
    begun.flatten()
}

/// An access of a cell ends.
pub fn cell_ends(begun: Begun) {
    enter(|execution| {
        if !execution.unwinding.get() {
            execution.core.borrow_mut().machine.access_ends(execution.running.get(), begun);
        }
    });
}

/// A count of references is about to change: an update, so what the thread has stored becomes visible first. No
/// scheduling point.
#[track_caller]
pub fn counting() {
    let site = here();
    if in_current(Execution::has_buffers) == Some(true) {
        enter(|execution| execution.count(site));
    }
}

/// Whether the counting of references of an `Arc` of this type consists of steps, since the program was seen to observe it.
#[inline]
pub fn counts_are_steps(type_name: &'static str) -> bool {
    let are_steps =
        |execution: &Execution| !execution.unwinding.get() && execution.core.borrow().observed.has_counts_of(type_name);
    in_current(are_steps) == Some(true)
}

/// The program observes how many references there are of an `Arc` of this type. If another thread could change that now, the
/// exploration starts again with their counting as steps.
pub fn counts_observed(type_name: &'static str) {
    enter(|execution| {
        if !execution.unwinding.get() {
            execution.core.borrow_mut().see_counts(execution.running.get(), type_name);
        }
    });
}

/// Drops a value since the last reference of an `Arc` of this type is dropped. If that performs visible operations, which
/// thread does so is observed.
pub fn dropping(type_name: &'static str, drop: impl FnOnce()) {
    struct Until(Option<&'static str>);
    impl Drop for Until {
        fn drop(&mut self) {
            set_dropping(self.0);
        }
    }
    let _until = Until(set_dropping(Some(type_name)));
    drop();
}

fn set_dropping(now: Option<&'static str>) -> Option<&'static str> {
    in_current(|execution| {
        let me = execution.running.get();
        std::mem::replace(&mut execution.core.borrow_mut().fibers[me].dropping, now)
    })
    .flatten()
}

/// A reference to a shared value is dropped; `last` says that no other is left. Gives happens-before edges only.
#[track_caller]
pub fn reference_dropped(object: Object<'_>, last: bool) {
    let site = here();
    enter(|execution| {
        if execution.unwinding.get() {
            return;
        }
        let loc = execution.locate(object, || 0, site);
        let (thread, machine) = (execution.running.get(), &mut execution.core.borrow_mut().machine);
        machine.note(thread, NoteKind::ArcRelease(loc), site);
        if last {
            machine.note(thread, NoteKind::ArcAcquire(loc), site);
        }
    });
}

/// Starts a modelled thread. `main` must not unwind; wrap the user's code in [`catch`].
#[track_caller]
pub fn spawn(name: Option<String>, main: Box<dyn FnOnce()>) -> ThreadId {
    let site = here();
    enter(|execution| execution.spawn(name, site, main)).expect("called in an execution")
}

/// Waits for the end of a modelled thread.
#[track_caller]
pub fn join(target: ThreadId) {
    let site = here();
    enter(|execution| execution.join(target, site)).expect("called in an execution");
}

/// Whether the modelled thread whose end is `tag` has ended, without waiting. The first use starts the exploration
/// again, with the end of every thread as a visible operation.
#[track_caller]
pub fn is_finished(tag: &Tag) -> bool {
    let site = here();
    enter(|execution| {
        if !execution.core.borrow().observed.ends {
            execution.core.borrow_mut().observed.ends = true;
            execution.start_over();
        }
        let object = Object { tag, kind: "thread end", created: None };
        let loc = execution.locate(object, || 0, site);
        let order = Ordering::Acquire;
        execution.operate(Op { action: Action::Load, loc, order, failure: order, site }).read == 1
    })
    .expect("called in an execution")
}

/// The last act of a thread's code: visible only where some thread asks whether others have ended.
#[track_caller]
pub fn ending(tag: &Tag) {
    let site = here();
    let is_seen = |execution: &Execution| execution.core.borrow().observed.ends && !execution.unwinding.get();
    if in_current(is_seen) == Some(true) {
        enter(|execution| {
            let loc = execution.locate(Object { tag, kind: "thread end", created: None }, || 0, site);
            // Behind all stores of the thread, and for all to see at once: this store waits in no buffer.
            let order = Ordering::SeqCst;
            execution.operate(Op { action: Action::Store(1), loc, order, failure: order, site });
        });
    }
}

/// The caller receives the panic that ended `target`; whether there was one that nobody had received.
pub fn receive_panic(target: ThreadId) -> bool {
    enter(|execution| execution.core.borrow_mut().machine.receive_panic(target)).unwrap_or(false)
}

/// What names the execution: no other in this process has the same.
pub fn execution() -> Option<u64> {
    enter(|execution| execution.core.borrow().locations.execution())
}

/// The modelled thread that runs.
pub fn current() -> Option<ThreadId> {
    enter(|execution| execution.running.get())
}

/// The name that a modelled thread was given.
pub fn thread_name(thread: ThreadId) -> Option<String> {
    with_thread_name(thread, |name| name.map(str::to_owned))
}

/// Whether a modelled thread was given this name, or none.
pub fn has_name(thread: ThreadId, name: Option<&str>) -> bool {
    with_thread_name(thread, |known| known == name)
}

fn with_thread_name<R>(thread: ThreadId, look: impl Fn(Option<&str>) -> R) -> R {
    let found = enter(|execution| {
        let core = execution.core.borrow();
        look(core.machine.run().trace.threads.get(thread).and_then(|thread| thread.name.as_deref()))
    });
    found.unwrap_or_else(|| look(None))
}

/// Waits for the token of the calling thread, which is `tag`, and takes it.
#[track_caller]
pub fn park(tag: &Tag) {
    access(Object { tag, kind: "park token", created: None }, || 0, Action::Park, Ordering::Acquire, Ordering::Acquire);
}

/// As [`park`], by a thread that waits for an object that others have, which is `object` and was used before.
#[track_caller]
pub fn park_for(tag: &Tag, object: &Tag) {
    let site = here();
    enter(|execution| {
        let token = execution.locate(Object { tag, kind: "park token", created: None }, || 0, site);
        let core = &mut *execution.core.borrow_mut();
        let object = core.locations.find(object).expect("the object was used before");
        core.holders.waits(token, object);
    });
    park(tag);
}

/// The running thread has just got the object `tag`, for which others may wait by [`park_for`]. Returns what to say to
/// [`gives_back`].
pub fn takes(tag: &Tag) -> usize {
    enter(|execution| execution.takes(tag)).expect("called in an execution")
}

/// The running thread gives back the object `tag`.
pub fn gives_back(tag: &Tag, since: usize) {
    enter(|execution| execution.gives_back(tag, since));
}

/// Takes the token of the calling thread, which is `tag`, if it is available; whether it was.
#[track_caller]
pub fn try_park(tag: &Tag) -> bool {
    let take = Action::Rmw(Rmw { kind: RmwKind::Swap, operand: 0, bits: 1 });
    let token = Object { tag, kind: "park token", created: None };
    access(token, || 0, take, Ordering::Acquire, Ordering::Acquire).is_some_and(|outcome| outcome.read == 1)
}

/// The time on the clock of the running thread, which is asked for it; see [`ORIGIN`](crate::runtime::ORIGIN).
pub fn now() -> Option<Duration> {
    enter(Execution::now)
}

/// Time passes for the running thread.
pub fn pass_time(time: Duration) {
    enter(|execution| execution.pass_time(time));
}

/// Makes the token `tag` available.
#[track_caller]
pub fn unpark(tag: &Tag) {
    unpark_at(Location::caller(), tag);
}

/// As [`unpark`], at a place that is not the caller's.
pub fn unpark_at(place: &'static Location<'static>, tag: &Tag) {
    let order = Ordering::Release;
    access_at(place, Object { tag, kind: "park token", created: None }, || 0, Action::Unpark, order, order);
}

/// The running thread's value of a key, made by `init` if this is its first use; [`Gone`] if the thread is dropping its
/// values and this one is dropped. The value stays where it is until the thread ends.
pub fn local<T: 'static>(key: usize, init: impl FnOnce() -> T) -> Option<Result<NonNull<T>, Gone>> {
    in_current(|execution| execution.local(key, init))
}

/// The value that an object has in this execution, if it was given one.
pub fn slot(tag: &Tag) -> Option<Slot> {
    enter(|execution| {
        let core = execution.core.borrow();
        core.slots.get(core.locations.find(tag)?)
    })
    .flatten()
}

/// Gives an object, which was used before, a value in this execution. It had none.
pub fn fill(tag: &Tag, slot: Slot) {
    enter(|execution| {
        let core = &mut *execution.core.borrow_mut();
        let loc = core.locations.find(tag).expect("the object was used before");
        core.slots.fill(loc, slot);
    });
}

/// Takes the value of an object out, to drop or keep it.
pub fn empty(tag: &Tag) -> Option<Slot> {
    enter(|execution| {
        let core = &mut *execution.core.borrow_mut();
        core.slots.empty(core.locations.find(tag)?)
    })
    .flatten()
}

/// Runs `put_back` when all threads of the execution have ended or were left. Asked for again while values are dropped
/// thereafter, it runs again.
pub fn at_end(put_back: PutBack) {
    enter(|execution| execution.put_back_at_end(put_back));
}

/// Runs code of the shim that allocates for itself: what is none of the memory of the thread that runs, and may outlive the
/// execution.
pub fn aside<R>(act: impl FnOnce() -> R) -> R {
    let _ours = arena::outside();
    act()
}

/// Runs a thread's code and catches its panic. One that leaves the thread is on record for the report.
pub fn catch<T>(code: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    in_current(|execution| execution.catch(execution.running.get(), code)).expect("called in an execution")
}

/// Whether the modelled thread that runs is unwinding.
pub fn panicking() -> bool {
    enter(Execution::is_panicking).unwrap_or_else(std::thread::panicking)
}

/// Whether a payload belongs to the unwinding of a finished execution, and must be passed on.
pub fn is_teardown(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Teardown>()
}

/// Whether the execution is over and its threads are being unwound.
pub fn is_unwinding() -> bool {
    enter(|execution| execution.unwinding.get()).unwrap_or(false)
}

/// The value of a lock that is free.
pub fn lock_value(poisoned: bool) -> u64 {
    if poisoned { POISONED } else { FREE }
}
