//! Mixes of what threads access without synchronisation: `UnsafeCell`, `Cell`, `Track`, and atomics that are accessed
//! like cells. Races are outcomes.

use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex as StdMutex;

use rsmc::alloc::Track;
use rsmc::cell::{Cell, ConstPtr, MutPtr, UnsafeCell};
use rsmc::sync::atomic::Ordering::*;
use rsmc::sync::atomic::{AtomicU32, fence};
use rsmc::sync::{Arc, Mutex};

use super::program::{Me, Mix, Operation, Unordered, operations};

fn caught<T>(code: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(code)).ok()
}

/// Without loops that wait: of their rounds explorers show more or fewer.
/// The oracle of rsmc-core for loops is about those.
pub struct Cells;

pub struct Shared {
    number: UnsafeCell<u32>,
    copied: Cell<u32>,
    /// A thread may move this cell out.
    slot: Mutex<Option<UnsafeCell<u32>>>,
    count: AtomicU32,
}

// SAFETY: not sound in itself. A check runs one thread at a time, and whether accesses are ordered is what is compared.
unsafe impl Sync for Shared {}

#[allow(dead_code, reason = "pointers are kept to be dropped")]
pub enum Pointer<'a> {
    Const(ConstPtr<'a, u32>),
    Mut(MutPtr<'a, u32>),
}

/// What a thread reads from a cell.
fn read(cell: &UnsafeCell<u32>) -> Unordered<u32> {
    // SAFETY: threads run one at a time, and none of them keeps a reference.
    cell.with(|value| Unordered(unsafe { *value }))
}

fn add(cell: &UnsafeCell<u32>) -> Unordered<u32> {
    cell.with_mut(|value| {
        // SAFETY: as in `read`.
        unsafe { *value += 1 };
        // SAFETY: as in `read`.
        Unordered(unsafe { *value })
    })
}

impl<'a> Me<'a, Cells> {
    fn hold_to_read(&mut self) -> Unordered<u32> {
        let pointer = self.all.number.ptr();
        // SAFETY: as in `read`.
        let value = unsafe { *pointer.deref() };
        self.held.push(Pointer::Const(pointer));
        Unordered(value)
    }

    fn hold_to_write(&mut self) {
        let pointer = self.all.number.ptr_mut();
        // SAFETY: as in `read`.
        pointer.with(|value| unsafe { *value += 1 });
        self.held.push(Pointer::Mut(pointer));
    }

    /// Writes, and tells others so before the access has ended.
    fn tells_while_it_writes(&self) {
        self.all.number.with_mut(|value| {
            // SAFETY: as in `read`.
            unsafe { *value += 1 };
            self.x.store(1, Release);
        });
    }

    fn take_out(&mut self) -> bool {
        self.given = self.all.slot.lock().unwrap().take();
        self.given.is_some()
    }

    fn put_back(&mut self) -> bool {
        let Some(cell) = self.given.take() else { return false };
        *self.all.slot.lock().unwrap() = Some(cell);
        true
    }
}

impl Mix for Cells {
    type Objects = Shared;
    type Given = Option<UnsafeCell<u32>>;
    type Held<'a> = Vec<Pointer<'a>>;
    const LENGTH: usize = 6;

    fn objects(_: usize) -> Shared {
        Shared {
            number: UnsafeCell::new(0),
            copied: Cell::new(10),
            slot: Mutex::new(Some(UnsafeCell::new(20))),
            count: AtomicU32::new(0),
        }
    }

    fn given(_: &Shared, _: usize, _: usize) -> Self::Given {
        None
    }

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            read(&me.all.number);
            add(&me.all.number);
            caught(|| me.all.number.with_mut(|_| panic!("while it writes")));
            me.hold_to_read();
            me.hold_to_write();
            me.held.pop().is_some();
            me.held.clear();
            // One within the other.
            me.all.number.with(|_| read(&me.all.number));
            me.all.number.with(|_| add(&me.all.number));
            me.all.number.with_mut(|_| read(&me.all.number));
            me.tells_while_it_writes();
            me.tells_while_it_writes();
            // Synchronised, if the other thread is so as well.
            { add(&me.all.number); me.x.store(1, Release) };
            { add(&me.all.number); fence(Release); me.x.store(1, Relaxed) };
            { add(&me.all.number); me.x.fetch_add(1, Relaxed) };
            (me.x.load(Acquire) == 1).then(|| read(&me.all.number));
            (me.x.load(Acquire) == 1).then(|| add(&me.all.number));
            (me.x.load(Relaxed) == 1).then(|| { fence(Acquire); add(&me.all.number) });
            { let _guard = me.all.slot.lock(); add(&me.all.number) };
            { let _guard = me.all.slot.lock(); read(&me.all.number) };
            Unordered(me.all.copied.get());
            me.all.copied.set(11);
            Unordered(me.all.copied.replace(12));
            Unordered(me.all.copied.take());
            me.all.copied.update(|old| old + 1);
            me.all.copied.swap(&Cell::new(13));
            me.take_out();
            me.take_out();
            me.put_back();
            me.given.as_ref().map(add);
            me.given.as_mut().map(|cell| { *cell.get_mut() += 5; read(cell) });
            me.given.take().map(|cell| Unordered(cell.into_inner()));
            me.all.slot.lock().unwrap().as_ref().map(add);
            // Not `Relaxed` loads alone: they race with every store.
            // SAFETY: the function needs none.
            unsafe { me.all.count.unsync_load() };
            me.all.count.fetch_add(1, AcqRel);
            me.all.count.load(Acquire);
        }
    }
}

pub struct Tracks;

/// A program has `place` or `shared`, not both: who drops the last reference of an `Arc` is no part of a class, and
/// rsmc takes what that thread accesses later for ordered after the accesses of those that have dropped theirs.
pub struct Tracked {
    /// A thread may drop this where it is, and others may do so again.
    place: Option<UnsafeCell<ManuallyDrop<Track<u32>>>>,
    slot: Mutex<Option<Track<u32>>>,
    /// What each thread gets a reference to; the first one takes this.
    shared: StdMutex<Option<Arc<Track<u32>>>>,
}

// SAFETY: as for `Shared`.
unsafe impl Sync for Tracked {}

/// What becomes of a value that was perhaps dropped: nothing if that makes the thread panic.
fn of_place<T>(all: &Tracked, code: impl FnOnce(&mut ManuallyDrop<Track<u32>>) -> T) -> Option<Unordered<Option<T>>> {
    // SAFETY: as in `read`; of a value that was dropped, a `Track` of a number is still there.
    Some(Unordered(all.place.as_ref()?.with_mut(|place| caught(|| code(unsafe { &mut *place })))))
}

/// Ends the life of a value, perhaps again.
fn drops(place: &mut ManuallyDrop<Track<u32>>) {
    // SAFETY: a `Track` notices that it was dropped before, and a number in it has nothing to drop.
    unsafe { ManuallyDrop::drop(place) };
}

impl Me<'_, Tracks> {
    fn put(&mut self, number: u32) -> Option<u32> {
        let before = self.all.slot.lock().unwrap().replace(Track::new(number));
        before.map(Track::into_inner)
    }

    fn take(&mut self) -> Option<u32> {
        let track = self.all.slot.lock().unwrap().take()?;
        let value = *track.get_ref();
        self.held.push(track);
        Some(value)
    }

    fn read_place(&self) -> Option<Unordered<Option<u32>>> {
        // SAFETY: as in `of_place`.
        Some(Unordered(self.all.place.as_ref()?.with(|place| caught(|| *unsafe { &*place }.get_ref()))))
    }
}

impl Mix for Tracks {
    type Objects = Tracked;
    type Given = Option<Arc<Track<u32>>>;
    type Held<'a> = Vec<Track<u32>>;
    const LENGTH: usize = 6;
    const VARIANTS: usize = 2;

    fn objects(variant: usize) -> Tracked {
        Tracked {
            place: (variant == 0).then(|| UnsafeCell::new(ManuallyDrop::new(Track::new(0)))),
            slot: Mutex::new(Some(Track::new(1))),
            shared: StdMutex::new((variant == 1).then(|| Arc::new(Track::new(2)))),
        }
    }

    fn given(all: &Tracked, thread: usize, _: usize) -> Self::Given {
        let shared = &mut *all.shared.lock().expect("nothing panics here");
        if thread == 0 { shared.take() } else { shared.clone() }
    }

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            of_place(me.all, drops);
            of_place(me.all, drops);
            of_place(me.all, |place| *place.get_mut() += 1);
            of_place(me.all, |place| *place = ManuallyDrop::new(Track::new(5)));
            me.read_place();
            { of_place(me.all, drops); me.x.store(1, Release) };
            (me.x.load(Acquire) == 1).then(|| me.read_place());
            (me.x.load(Acquire) == 1).then(|| of_place(me.all, drops));
            { let _guard = me.all.slot.lock(); of_place(me.all, drops) };
            me.put(3);
            me.take();
            me.take();
            me.all.slot.lock().unwrap().as_ref().map(|track| *track.get_ref());
            me.held.pop().map(Track::into_inner);
            me.held.pop().is_some();
            me.held.pop().map(std::mem::forget);
            me.held.last_mut().map(|track| { *track.get_mut() += 1; *track.get_ref() });
            me.given.take().is_some();
            me.given.take().map(Arc::into_inner);
            me.given.as_mut().and_then(Arc::get_mut).map(|track| *track.get_mut() += 1);
            me.given.as_ref().map(|shared| *shared.get_ref());
        }
    }
}

pub struct Borrows;

/// An atomic to which a thread takes a `&mut` though others use it.
#[derive(Default)]
pub struct Borrowed {
    count: std::cell::UnsafeCell<AtomicU32>,
    lock: Mutex<()>,
}

// SAFETY: as for `Shared`.
unsafe impl Sync for Borrowed {}

impl Borrowed {
    fn count(&self) -> &AtomicU32 {
        // SAFETY: threads run one at a time, and the `&mut` of `add` is gone before another one runs.
        unsafe { &*self.count.get() }
    }

    /// By `with_mut`, which races with earlier and with later accesses. `get_mut` races with earlier ones only, and
    /// `reads-from` does not run a load before it and behind it: it may miss that race.
    fn add(&self) -> u32 {
        // SAFETY: as in `count`.
        unsafe { &mut *self.count.get() }.with_mut(|value| {
            *value += 1;
            *value
        })
    }
}

impl Mix for Borrows {
    type Objects = Borrowed;
    type Given = ();
    type Held<'a> = ();
    const LENGTH: usize = 5;
    const RACES_CHANGE_EVENTS: bool = true;

    fn objects(_: usize) -> Borrowed {
        Borrowed::default()
    }

    fn given(_: &Borrowed, _: usize, _: usize) {}

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            { me.all.add(); me.x.store(1, Release) };
            (me.x.load(Acquire) == 1).then(|| me.all.add());
            (me.x.load(Acquire) == 1).then(|| me.all.count().load(Relaxed));
            (me.x.load(Relaxed) == 1).then(|| me.all.add());
            { let _guard = me.all.lock.lock(); me.all.add() };
            { let _guard = me.all.lock.lock(); me.all.add() };
            { let _guard = me.all.lock.lock(); me.all.count().fetch_add(2, Relaxed) };
            { let _guard = me.all.lock.lock(); me.all.count().load(Relaxed) };
            me.all.add();
            me.all.count().fetch_add(4, AcqRel);
        }
    }
}
