//! Mixes of what threads share values with: `Once`, `OnceLock`, `LazyLock`, `Arc`, locals of threads, threads within
//! threads, and choices.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex as StdMutex;

use rsmc::sync::atomic::AtomicU32;
use rsmc::sync::atomic::Ordering::*;
use rsmc::sync::{Arc, LazyLock, Mutex, Once, OnceLock, Weak};
use rsmc::{choose, nondet, thread};

use super::program::{Me, Mix, Operation, operations};

pub struct Onces;

pub struct SetOnce {
    once: Once,
    cell: OnceLock<u32>,
    lazy: LazyLock<u32>,
}

/// The number of lazy values made, and of shared or local ones dropped, in this execution.
static MADE: AtomicU32 = AtomicU32::new(0);
static SHARED_DROPPED: AtomicU32 = AtomicU32::new(0);
static LOCAL_DROPPED: AtomicU32 = AtomicU32::new(0);

fn caught<T>(code: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(code)).ok()
}

impl Mix for Onces {
    type Objects = SetOnce;
    type Given = ();
    type Held<'a> = ();
    const LENGTH: usize = 4;

    fn objects(_: usize) -> SetOnce {
        SetOnce { once: Once::new(), cell: OnceLock::new(), lazy: LazyLock::new(|| MADE.fetch_add(1, Relaxed)) }
    }

    fn given(_: &SetOnce, _: usize, _: usize) {}

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            caught(|| me.all.once.call_once(|| me.x.store(3, Relaxed)));
            caught(|| me.all.once.call_once(|| panic!("the first time")));
            me.all.once.call_once_force(|state| me.x.store(u32::from(state.is_poisoned()), Relaxed));
            me.all.once.is_completed();
            caught(|| me.all.once.wait());
            me.all.cell.set(1).is_ok();
            me.all.cell.get();
            me.all.cell.get_or_init(|| 2);
            me.all.cell.get_or_init(|| me.x.load(Relaxed));
            caught(|| me.all.cell.get_or_init(|| panic!("no value")));
            me.all.cell.wait();
            *me.all.lazy;
            MADE.load(Relaxed);
        }
    }
}

pub struct Arcs;

/// Tells when it is dropped.
pub struct Loud(u32);

impl Drop for Loud {
    fn drop(&mut self) {
        SHARED_DROPPED.fetch_add(self.0, Relaxed);
    }
}

#[derive(Default, Clone)]
pub struct References {
    quiet: Vec<Arc<u32>>,
    quiet_weak: Vec<Weak<u32>>,
    loud: Vec<Arc<Loud>>,
    loud_weak: Vec<Weak<Loud>>,
}

impl Me<'_, Arcs> {
    fn upgrade(&mut self) -> Option<bool> {
        let strong = self.given.quiet_weak.last()?.upgrade();
        let upgraded = strong.is_some();
        self.given.quiet.extend(strong);
        Some(upgraded)
    }

    fn upgrade_loud(&mut self) -> Option<bool> {
        let strong = self.given.loud_weak.last()?.upgrade();
        let upgraded = strong.is_some();
        self.given.loud.extend(strong);
        Some(upgraded)
    }

    fn try_unwrap(&mut self) -> Option<bool> {
        let result = Arc::try_unwrap(self.given.quiet.pop()?);
        let unwrapped = result.is_ok();
        self.given.quiet.extend(result.err());
        Some(unwrapped)
    }
}

impl Mix for Arcs {
    type Objects = StdMutex<References>;
    type Given = References;
    type Held<'a> = ();
    const LENGTH: usize = 6;
    const VARIANTS: usize = 2;

    fn objects(variant: usize) -> Self::Objects {
        let mut all = References::default();
        if variant == 0 {
            let shared = Arc::new(7);
            all.quiet_weak.push(Arc::downgrade(&shared));
            all.quiet.push(shared);
        } else {
            let shared = Arc::new(Loud(1));
            all.loud_weak.push(Arc::downgrade(&shared));
            all.loud.push(shared);
        }
        StdMutex::new(all)
    }

    fn given(objects: &Self::Objects, thread: usize, _: usize) -> References {
        let all = &mut *objects.lock().expect("nothing panics here");
        if thread == 0 { std::mem::take(all) } else { all.clone() }
    }

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            me.given.quiet.extend_from_within(..me.given.quiet.len().min(1));
            me.given.quiet.pop().is_some();
            me.given.quiet_weak.pop().is_some();
            me.given.quiet.last().map(Arc::strong_count);
            me.given.quiet.last().map(Arc::weak_count);
            me.given.quiet.last_mut().map(|shared| Arc::get_mut(shared).is_some());
            me.given.quiet.last_mut().map(|shared| { *Arc::make_mut(shared) += 1; **shared });
            me.given.quiet.last().map(|shared| **shared);
            me.given.quiet.pop().map(Arc::into_inner);
            me.try_unwrap();
            me.upgrade();
            me.given.quiet_weak.last().map(Weak::strong_count);
            me.given.quiet_weak.extend(me.given.quiet.last().map(Arc::downgrade));
            me.given.loud.pop().is_some();
            me.given.loud.extend_from_within(..me.given.loud.len().min(1));
            me.given.loud_weak.pop().is_some();
            me.given.loud.last_mut().map(|shared| Arc::get_mut(shared).is_some());
            me.upgrade_loud();
            me.given.loud.pop().map(|shared| Arc::into_inner(shared).is_some());
            SHARED_DROPPED.load(Relaxed);
        }
    }
}

pub struct Locals;

/// Notices its end in several ways.
struct AtEnd(u32);

impl Drop for AtEnd {
    fn drop(&mut self) {
        LOCAL_DROPPED.fetch_add(self.0, Relaxed);
        if self.0 > 1 {
            drop(SHARED.lock());
            SMALL.with(|small| LOCAL_DROPPED.fetch_add(small.0, Relaxed));
        }
    }
}

static SHARED: Mutex<()> = Mutex::new(());

rsmc::thread_local! {
    static SMALL: AtEnd = const { AtEnd(1) };
    static LARGE: AtEnd = AtEnd(10 + LOCAL_DROPPED.load(Relaxed));
}

impl Mix for Locals {
    type Objects = ();
    type Given = ();
    type Held<'a> = ();
    const LENGTH: usize = 5;

    fn objects(_: usize) {}

    fn given((): &(), _: usize, _: usize) {}

    fn operations(thread: usize) -> &'static [Operation<Self>] {
        let all: [&[Operation<Self>]; 2] = [
            operations! { |me|
                SMALL.with(|small| small.0);
                LARGE.with(|large| large.0);
                LOCAL_DROPPED.load(Relaxed);
                SHARED.try_lock().is_ok();
                thread::spawn(|| SMALL.with(|small| small.0)).join().unwrap();
                me.is_second_finished();
            },
            operations! { |me|
                SMALL.with(|small| small.0 + me.x.load(Relaxed));
                LARGE.with(|large| large.0);
                LARGE.with(|large| large.0);
                LOCAL_DROPPED.load(Relaxed);
            },
        ];
        all[thread.min(1)]
    }
}

pub struct Threads;

pub struct Counters {
    lock: Mutex<u32>,
    count: AtomicU32,
}

impl Counters {
    /// One thread within, which adds; says what is there before and after.
    fn within(&self) -> (u32, u32) {
        thread::scope(|scope| {
            let within = scope.spawn(|| self.count.fetch_add(1, Relaxed));
            let before = self.count.load(Relaxed);
            (before, within.join().unwrap())
        })
    }

    /// A thread within that nobody joins but the scope.
    fn left_to_the_scope(&self) -> u32 {
        thread::scope(|scope| {
            scope.spawn(|| *self.lock.lock().unwrap() += 1);
        });
        *self.lock.lock().unwrap()
    }

    fn asks_whether_it_ended(&self) -> (bool, u32) {
        thread::scope(|scope| {
            let within = scope.spawn(|| self.count.swap(9, Relaxed));
            (within.is_finished(), self.count.load(Relaxed))
        })
    }

    fn panics_within(&self) -> (bool, u32) {
        let result = thread::scope(|scope| {
            let within = scope.spawn(|| {
                let _guard = self.lock.lock();
                assert_eq!(self.count.load(Relaxed), 0, "it is used");
            });
            within.join()
        });
        (result.is_err(), self.count.load(Relaxed))
    }
}

impl Mix for Threads {
    type Objects = Counters;
    type Given = ();
    type Held<'a> = ();
    const LENGTH: usize = 3;

    fn objects(_: usize) -> Counters {
        Counters { lock: Mutex::new(0), count: AtomicU32::new(0) }
    }

    fn given(_: &Counters, _: usize, _: usize) {}

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            me.all.within();
            me.all.left_to_the_scope();
            me.all.asks_whether_it_ended();
            me.all.panics_within();
            drop(thread::spawn(|| MADE.store(1, Relaxed)));
            MADE.load(Relaxed);
            me.all.count.fetch_add(1, Relaxed);
        }
    }
}

pub struct Choices;

impl Mix for Choices {
    type Objects = ();
    type Given = ();
    type Held<'a> = ();
    const LENGTH: usize = 5;

    fn objects(_: usize) {}

    fn given((): &(), _: usize, _: usize) {}

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            choose(2);
            me.x.store(choose(3) as u32, Relaxed);
            nondet::<bool>();
            nondet::<Option<bool>>();
            me.x.compare_exchange_weak(0, 1, Relaxed, Relaxed);
            me.x.compare_exchange_weak(1, 2, AcqRel, Acquire);
            me.x.compare_exchange(0, 3, SeqCst, SeqCst);
            me.y.fetch_update(Release, Relaxed, |old| (old < 2).then_some(old + 1));
            while me.y.compare_exchange_weak(0, 5, Release, Relaxed) == Err(0) {};
            if me.x.load(Acquire) > 0 && nondet() { me.y.store(7, Relaxed) };
        }
    }
}
