//! shuttle's part of the crate `rand` 0.8: [`thread_rng`], and the traits of that crate.
//!
//! Values belong to the execution: a seed brings them back with the schedule. Each thread has a stream of its own, from
//! its first value on.
//!
//! - With `check_random`, `check_pct` and their schedulers the check chooses the stream, one of 2³⁶, in each
//!   execution anew. The choice is a step of the execution, so the seed of a failure has it.
//! - With `check_dfs` asking for a value panics, as in shuttle. With `DfsScheduler::new(…, true)` each thread has the
//!   same stream in every execution: schedules are explored, and values are not.
//!   To explore all values of a small choice, use `rsmc_shim::choose`.
//!
//! An exhaustive explorer that `RSMC_EXPLORER` puts in the place of the random one goes through all streams, and so it
//! comes to no end where values are drawn.

use rsmc_core::base::mix;
use rsmc_core::runtime::hook;

use crate::run::running;

pub use rand::{Rng, RngCore};

/// The source of the random values of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draws {
    /// The check chooses a stream for each thread, as one of its steps.
    Chosen,
    /// Each thread has the same stream in every execution.
    Fixed,
    /// There is none.
    Refused,
}

/// The number of streams.
const STREAMS: u64 = 1 << 36;

/// A place in a stream of random values.
#[derive(Clone, Copy)]
struct Place {
    stream: u64,
    next: u64,
}

impl Place {
    /// The beginning of the running thread's stream.
    fn first() -> Self {
        let thread = hook::threads::current();
        let thread = thread.expect("a value of `shuttle::rand` is drawn outside of a check").0;
        let stream = match running().map_or(Draws::Chosen, |running| running.draws) {
            Draws::Chosen => hook::choices::choose(STREAMS, false).expect("a thread of a check runs"),
            Draws::Fixed => STREAMS,
            Draws::Refused => panic!(
                "`check_dfs` has no random values: use `DfsScheduler::new(…, true)`, which has the same ones in each \
                 execution, or `check_random`"
            ),
        };
        Self { stream: mix(stream, thread.into()), next: 0 }
    }

    fn value(self) -> u64 {
        mix(self.stream, self.next)
    }

    fn following(self) -> Self {
        Self { next: self.next + 1, ..self }
    }
}

/// Random number generators.
pub mod rngs {
    use std::cell::Cell;

    use rand::{CryptoRng, Error, RngCore};
    use rsmc_core::runtime::hook;

    use super::Place;

    rsmc_shim::thread_local! {
        static PLACE: Cell<Place> = Cell::new(Place::first());
    }

    /// The generator of the running thread.
    #[derive(Clone, Debug, Default)]
    pub struct ThreadRng {
        pub(super) _private: (),
    }

    impl RngCore for ThreadRng {
        fn next_u32(&mut self) -> u32 {
            self.next_u64() as u32
        }

        /// # Panics
        /// Outside of a check, and where the check has no random values.
        fn next_u64(&mut self) -> u64 {
            let next = PLACE.try_with(|place| {
                // A loop that draws does not wait.
                hook::loops::draws();
                place.replace(place.get().following())
            });
            // A thread that ends has lost its place.
            next.unwrap_or_else(|_| Place::first()).value()
        }

        fn fill_bytes(&mut self, bytes: &mut [u8]) {
            for part in bytes.chunks_mut(8) {
                let value = self.next_u64().to_le_bytes();
                part.copy_from_slice(&value[..part.len()]);
            }
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
            self.fill_bytes(bytes);
            Ok(())
        }
    }

    impl CryptoRng for ThreadRng {}
}

/// The generator of the running thread.
///
/// ```
/// use rsmc_shuttle as shuttle;
/// use shuttle::rand::{Rng, thread_rng};
///
/// shuttle::check_random(|| assert!(thread_rng().gen_range(1..=6) < 7), 10);
/// ```
#[must_use]
pub fn thread_rng() -> rngs::ThreadRng {
    rngs::ThreadRng { _private: () }
}
