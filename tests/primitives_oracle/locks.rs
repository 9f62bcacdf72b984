//! Mixes of what threads exclude each other with: `Mutex`, `RwLock`, `Condvar`, `Barrier`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::TryLockError;
use std::time::Duration;

use rsmc::sync::atomic::Ordering::Relaxed;
use rsmc::sync::{Barrier, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::program::{Me, Mix, Operation, operations};

pub struct Mutexes;

/// The result of an attempt: the value and whether it is poisoned, or nothing.
type Found = Option<(u8, bool)>;

impl<'a> Me<'a, Mutexes> {
    /// Takes a lock and keeps it.
    fn lock(&mut self, which: usize) -> (u8, bool) {
        let result = self.all[which].lock();
        let poisoned = result.is_err();
        self.keep(result.unwrap_or_else(|error| error.into_inner()), poisoned)
    }

    fn try_lock(&mut self, which: usize) -> Found {
        match self.all[which].try_lock() {
            Ok(guard) => Some(self.keep(guard, false)),
            Err(TryLockError::Poisoned(error)) => Some(self.keep(error.into_inner(), true)),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn keep(&mut self, mut guard: MutexGuard<'a, u8>, poisoned: bool) -> (u8, bool) {
        *guard += 1;
        let value = *guard;
        self.held.push(guard);
        (value, poisoned)
    }

    fn poison(&self) -> bool {
        let poison = || {
            let _guard = self.all[0].lock();
            panic!("with the lock");
        };
        catch_unwind(AssertUnwindSafe(poison)).is_err()
    }
}

impl Mix for Mutexes {
    type Objects = [Mutex<u8>; 2];
    type Given = ();
    type Held<'a> = Vec<MutexGuard<'a, u8>>;
    const LENGTH: usize = 6;

    fn objects(_: usize) -> Self::Objects {
        [Mutex::new(0), Mutex::new(10)]
    }

    fn given(_: &Self::Objects, _: usize, _: usize) {}

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            me.lock(0);
            me.lock(1);
            me.try_lock(0);
            me.try_lock(1);
            me.held.pop().is_some();
            me.held.clear();
            me.poison();
            me.all[0].is_poisoned();
            me.all[0].clear_poison();
            *me.all[0].lock().unwrap();
            if me.x.load(Relaxed) == 0 { panic!("x is 0") };
        }
    }
}

pub struct RwLocks;

#[allow(dead_code, reason = "guards are kept to be dropped")]
pub enum Guard<'a> {
    Read(RwLockReadGuard<'a, u8>),
    Write(RwLockWriteGuard<'a, u8>),
}

impl Me<'_, RwLocks> {
    fn read(&mut self, which: usize) -> (u8, bool) {
        let result = self.all[which].read();
        let poisoned = result.is_err();
        let guard = result.unwrap_or_else(|error| error.into_inner());
        let value = *guard;
        self.held.push(Guard::Read(guard));
        (value, poisoned)
    }

    fn try_read(&mut self, which: usize) -> Found {
        let (guard, poisoned) = match self.all[which].try_read() {
            Ok(guard) => (guard, false),
            Err(TryLockError::Poisoned(error)) => (error.into_inner(), true),
            Err(TryLockError::WouldBlock) => return None,
        };
        let value = *guard;
        self.held.push(Guard::Read(guard));
        Some((value, poisoned))
    }

    fn write(&mut self, which: usize) -> (u8, bool) {
        let result = self.all[which].write();
        let poisoned = result.is_err();
        let mut guard = result.unwrap_or_else(|error| error.into_inner());
        *guard += 1;
        let value = *guard;
        self.held.push(Guard::Write(guard));
        (value, poisoned)
    }

    fn try_write(&mut self, which: usize) -> Found {
        let (mut guard, poisoned) = match self.all[which].try_write() {
            Ok(guard) => (guard, false),
            Err(TryLockError::Poisoned(error)) => (error.into_inner(), true),
            Err(TryLockError::WouldBlock) => return None,
        };
        *guard += 1;
        let value = *guard;
        self.held.push(Guard::Write(guard));
        Some((value, poisoned))
    }

    /// The last guard reads from now on, if it writes.
    fn downgrade(&mut self) -> Option<u8> {
        let guard = match self.held.pop()? {
            Guard::Write(guard) => RwLockWriteGuard::downgrade(guard),
            Guard::Read(guard) => guard,
        };
        let value = *guard;
        self.held.push(Guard::Read(guard));
        Some(value)
    }

    fn poison(&self) -> bool {
        let poison = || {
            let _guard = self.all[0].write();
            panic!("while it writes");
        };
        catch_unwind(AssertUnwindSafe(poison)).is_err()
    }
}

impl Mix for RwLocks {
    type Objects = [RwLock<u8>; 2];
    type Given = ();
    type Held<'a> = Vec<Guard<'a>>;
    const LENGTH: usize = 6;

    fn objects(_: usize) -> Self::Objects {
        [RwLock::new(0), RwLock::new(10)]
    }

    fn given(_: &Self::Objects, _: usize, _: usize) {}

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            me.read(0);
            me.read(0);
            me.write(0);
            me.write(0);
            me.write(1);
            me.read(1);
            me.try_read(0);
            me.try_write(0);
            me.downgrade();
            me.downgrade();
            me.held.pop().is_some();
            me.held.clear();
            me.poison();
            me.poison();
            me.all[0].is_poisoned();
            me.all[0].is_poisoned();
            me.all[0].clear_poison();
            *me.all[0].read().unwrap();
        }
    }
}

pub struct Condvars;

pub struct Condition {
    lock: Mutex<u8>,
    changed: Condvar,
}

impl Condition {
    fn wait(&self) -> u8 {
        *self.changed.wait(self.lock.lock().unwrap()).unwrap()
    }

    /// Waits until there is one, and takes it.
    fn wait_in_loop(&self) -> u8 {
        let mut there = self.lock.lock().unwrap();
        while *there == 0 {
            there = self.changed.wait(there).unwrap();
        }
        *there -= 1;
        *there
    }

    fn wait_while(&self) -> u8 {
        let mut there = self.changed.wait_while(self.lock.lock().unwrap(), |there| *there == 0).unwrap();
        *there -= 1;
        *there
    }

    fn wait_timeout(&self) -> (u8, bool) {
        let (there, result) = self.changed.wait_timeout(self.lock.lock().unwrap(), Duration::from_secs(1)).unwrap();
        (*there, result.timed_out())
    }

    fn wait_timeout_while(&self) -> (u8, bool) {
        let (there, second) = (self.lock.lock().unwrap(), Duration::from_secs(1));
        let (there, result) = self.changed.wait_timeout_while(there, second, |there| *there == 0).unwrap();
        (*there, result.timed_out())
    }

    /// Adds one, and notifies while it holds the lock.
    fn add_and_notify(&self) {
        let mut there = self.lock.lock().unwrap();
        *there += 1;
        self.changed.notify_one();
    }

    fn add(&self) {
        *self.lock.lock().unwrap() += 1;
    }

    fn notify_all_under_the_lock(&self) {
        let _there = self.lock.lock().unwrap();
        self.changed.notify_all();
    }
}

impl Mix for Condvars {
    type Objects = Condition;
    type Given = ();
    type Held<'a> = ();
    const LENGTH: usize = 4;

    fn objects(_: usize) -> Condition {
        Condition { lock: Mutex::new(0), changed: Condvar::new() }
    }

    fn given(_: &Condition, _: usize, _: usize) {}

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            me.all.wait();
            me.all.wait_in_loop();
            me.all.wait_while();
            me.all.wait_timeout();
            me.all.wait_timeout_while();
            me.all.changed.notify_one();
            me.all.changed.notify_all();
            me.all.add_and_notify();
            me.all.add();
            me.all.notify_all_under_the_lock();
        }
    }
}

pub struct Barriers;

impl Mix for Barriers {
    type Objects = Barrier;
    type Given = ();
    type Held<'a> = ();
    const LENGTH: usize = 6;
    const VARIANTS: usize = 3;

    fn objects(variant: usize) -> Barrier {
        // Half of the programs have as many threads as most programs have.
        Barrier::new([2, 2, 1][variant])
    }

    fn given(_: &Barrier, _: usize, _: usize) {}

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            me.all.wait().is_leader();
            me.all.wait().is_leader();
            me.x.fetch_add(1, Relaxed);
        }
    }
}
