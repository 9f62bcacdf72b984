//! One body on every tool: rsmc, loom, shuttle and the floor.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use loom::model::Builder;
use rsmc::{Config, Explorer, MemoryModel, Report};
use shuttle::Runner;
use shuttle::scheduler::{DfsScheduler, Scheduler};

use crate::explorations::{Program, explore};
use crate::floor::Floor;

/// The threads that loom can have, main among them.
pub const LOOM_THREADS: usize = 5;
/// Operations that one iteration may have on loom.
const LOOM_BRANCHES: usize = 10_000;
/// Limits are looked at after so many iterations of loom.
const LOOM_INTERVAL: usize = 100;

/// The results of an exhaustive tool.
#[derive(Clone, Copy, Debug)]
pub struct Exhausted {
    /// Executions, or what the tool calls them.
    pub iterations: u64,
    /// The time that they took.
    pub time: Duration,
    /// Whether these are all.
    pub done: bool,
}

/// A whole check by `reads-from` under SC.
pub fn reads_from(program: &Program, n: usize) -> Report {
    explore(program.body, n, Explorer::ReadsFrom)
}

/// So many random executions under SC.
pub fn random(program: &Program, n: usize, executions: u64) -> Report {
    let config = Config::default().explorer(Explorer::Random).memory(MemoryModel::Sc).max_executions(executions);
    let body = program.body;
    rsmc::explore(&config, move || body(n))
}

/// The body so many times, on bare coroutines.
pub fn floor(program: &Program, n: usize, executions: u64) {
    let (mut floor, body) = (Floor::default(), program.floor);
    (0..executions).for_each(|_| floor.run(move || body(n)));
}

/// So many random iterations of shuttle.
pub fn shuttle_random(program: &Program, n: usize, iterations: u64) {
    let body = program.shuttle;
    shuttle::check_random(move || body(n), iterations as usize);
}

/// Shuttle's depth-first search, up to so many iterations.
pub fn shuttle_dfs(program: &Program, n: usize, most: u64) -> Exhausted {
    let body = program.shuttle;
    let start = Instant::now();
    let iterations = iterations_of(DfsScheduler::new(Some(most as usize), false), move || body(n));
    Exhausted { iterations, time: start.elapsed(), done: iterations < most }
}

fn iterations_of(scheduler: impl Scheduler + 'static, body: impl Fn() + Send + Sync + 'static) -> u64 {
    Runner::new(scheduler, shuttle::Config::default()).run(body) as u64
}

/// Loom, without a bound on preemptions, until it is done or this much time or this many iterations have passed.
///
/// # Panics
/// If the body has more than [`LOOM_THREADS`] threads, or waits in a loop.
pub fn loom(program: &Program, n: usize, limit: Duration, most: u64) -> Exhausted {
    let (iterations, body) = (Arc::new(AtomicU64::new(0)), program.loom);
    let counter = Arc::clone(&iterations);
    let mut builder = Builder::new();
    builder.max_branches = LOOM_BRANCHES;
    builder.max_duration = Some(limit);
    builder.max_permutations = Some(most as usize);
    builder.preemption_bound = None;
    builder.checkpoint_file = None;
    builder.checkpoint_interval = LOOM_INTERVAL;
    builder.location = false;
    builder.log = false;
    let time = quietly(|| {
        let start = Instant::now();
        builder.check(move || {
            counter.fetch_add(1, Relaxed);
            body(n);
        });
        start.elapsed()
    });
    let iterations = iterations.load(Relaxed);
    Exhausted { iterations, time, done: time < limit && iterations < most }
}

/// Loom ends each thread by a panic, which shuttle's hook would report once shuttle has been used.
fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        if !info.payload().is::<generator::Error>() {
            eprintln!("{info}");
        }
    }));
    let result = work();
    panic::set_hook(hook);
    result
}
