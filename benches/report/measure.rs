//! Times, and numbers as they are written.

pub use crate::rows::thousands;

/// A time is the best of so many runs (of one if it takes more than [`LONG`] seconds), and then of up to this many
/// until [`SECONDS`] have passed.
const RUNS: (usize, usize) = (3, 25);
const LONG: f64 = 4.0;
const SECONDS: f64 = 0.15;

/// What something returns besides the seconds that it took, and how many these are at best.
pub fn best_time<T>(once: impl Fn() -> (f64, T)) -> (T, f64) {
    best_time_below(LONG, once)
}

/// The same with another limit than [`LONG`].
pub fn best_time_below<T>(long: f64, once: impl Fn() -> (f64, T)) -> (T, f64) {
    let (mut best, result) = once();
    let (mut spent, mut runs) = (best, 1);
    while best < long && (runs < RUNS.0 || (runs < RUNS.1 && spent < SECONDS)) {
        let time = once().0;
        (best, spent, runs) = (best.min(time), spent + time, runs + 1);
    }
    (result, best)
}

/// Seconds with as many digits as are worth reading.
pub fn short(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{seconds:.1}"),
        0.01.. => format!("{seconds:.3}"),
        _ => format!("{seconds:.5}"),
    }
}
