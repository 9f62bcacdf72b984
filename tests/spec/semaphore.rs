//! A semaphore that begins without permits, and a set behind a lock for readers and writers.

use std::collections::BTreeSet;

use rsmc::sync::{Condvar, Mutex, RwLock};

#[derive(Default)]
pub struct Semaphore {
    permits: Mutex<u32>,
    more: Condvar,
}

impl Semaphore {
    pub fn acquire(&self) {
        let permits = self.permits.lock().unwrap();
        let mut permits = self.more.wait_while(permits, |permits| *permits == 0).unwrap();
        *permits -= 1;
    }

    pub fn release(&self) {
        *self.permits.lock().unwrap() += 1;
        self.more.notify_one();
    }

    /// Broken: the first of two waiting threads need not have run since the first release.
    pub fn release_waking_the_first(&self) {
        let mut permits = self.permits.lock().unwrap();
        *permits += 1;
        if *permits == 1 {
            self.more.notify_one();
        }
    }
}

#[derive(Default)]
pub struct Set(RwLock<BTreeSet<u8>>);

impl Set {
    pub fn insert(&self, key: u8) -> bool {
        self.0.write().unwrap().insert(key)
    }

    /// Broken: another thread may insert between the two locks.
    pub fn insert_if_absent(&self, key: u8) -> bool {
        let is_new = !self.contains(key);
        if is_new {
            self.0.write().unwrap().insert(key);
        }
        is_new
    }

    pub fn remove(&self, key: u8) -> bool {
        self.0.write().unwrap().remove(&key)
    }

    pub fn contains(&self, key: u8) -> bool {
        self.0.read().unwrap().contains(&key)
    }
}
