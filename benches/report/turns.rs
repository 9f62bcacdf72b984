//! Rates of several tools that take turns, so that what else happens on the machine hits them alike.

use std::time::Instant;

/// So often each tool has its turn, after one that does not count.
const ROUNDS: usize = 9;
/// As often, if a turn takes longer than [`LONG`] seconds.
const LONG_ROUNDS: usize = 2;
const LONG: f64 = 1.0;
/// A turn takes at least so many seconds.
const TURN: f64 = 0.1;

/// Does some work; how many executions it was.
pub type Tool<'a> = Box<dyn FnMut() -> u64 + 'a>;

/// The executions per second of each tool in its best turn.
pub fn best_rates<const N: usize>(mut tools: [Tool; N]) -> [f64; N] {
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
