//! Rates of several tools that take turns on one core, so that what else happens on the machine hits them alike.

use std::thread;
use std::time::Instant;

/// So often each tool has its turn, after one that does not count.
const ROUNDS: usize = 9;
/// As often, if a turn takes longer than [`LONG`] seconds.
const LONG_ROUNDS: usize = 2;
const LONG: f64 = 1.0;
/// A turn takes at least so many seconds.
const TURN: f64 = 0.1;

/// Does some work; how many executions it was.
pub type Tool<'a> = Box<dyn FnMut() -> u64 + Send + 'a>;

/// The executions per second of each tool in its best turn, all of them on one core where the system allows that: a
/// check has an OS thread of its own, and to wake another core for it takes longer than the check of a small program.
pub fn best_rates<const N: usize>(tools: [Tool; N]) -> [f64; N] {
    let core = core_affinity::get_core_ids().and_then(|cores| cores.last().copied());
    thread::scope(|scope| {
        // The threads that it starts stay on its core.
        let pinned = scope.spawn(move || {
            if let Some(core) = core {
                core_affinity::set_for_current(core);
            }
            take_turns(tools)
        });
        pinned.join().expect("the tools do not panic")
    })
}

fn take_turns<const N: usize>(mut tools: [Tool; N]) -> [f64; N] {
    let longest = tools.iter_mut().map(|tool| turn(tool).1).fold(0.0, f64::max);
    let mut best = [0.0_f64; N];
    for _ in 0..if longest > LONG { LONG_ROUNDS } else { ROUNDS } {
        for (tool, best) in tools.iter_mut().zip(&mut best) {
            *best = best.max(turn(tool).0);
        }
    }
    best
}

/// The rate of one turn, and its seconds.
fn turn(tool: &mut Tool) -> (f64, f64) {
    let (start, mut executions) = (Instant::now(), 0);
    loop {
        executions += tool();
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= TURN {
            return (executions as f64 / seconds, seconds);
        }
    }
}
