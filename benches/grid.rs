//! Bodies of any shape: so many threads, locations and operations.

use rsmc::sync::Arc;
use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
use rsmc::thread::spawn;

/// The shape of a body.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Threads besides main.
    pub threads: usize,
    /// Locations, visited in turn by each thread.
    pub locations: usize,
    /// Operations of each thread: loads and stores in turn, of values that are all different.
    pub operations: usize,
}

impl Grid {
    /// All operations.
    pub fn events(self) -> usize {
        self.threads * self.operations
    }

    /// Runs it in a check.
    pub fn run(self) {
        let x: Arc<Vec<AtomicU32>> = Arc::new((0..self.locations).map(|_| AtomicU32::new(0)).collect());
        let thread = |me: usize| {
            let x = Arc::clone(&x);
            spawn(move || (0..self.operations).for_each(|i| self.operation(&x, me, i)))
        };
        let threads: Vec<_> = (0..self.threads).map(thread).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    fn operation(self, x: &[AtomicU32], me: usize, i: usize) {
        // Both a load and a store of each location, whether their number is even or odd.
        let location = &x[(me + i / 2) % self.locations];
        if i.is_multiple_of(2) {
            location.load(SeqCst);
        } else {
            location.store((me * self.operations + i) as u32, SeqCst);
        }
    }
}
