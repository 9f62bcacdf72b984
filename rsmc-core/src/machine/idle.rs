//! Threads that give hints and do nothing else.
//!
//! Problem. A loop with hints that waits for something that a check does not see, as an atomic or a lock of std, comes
//! to no operation. Other threads run only at operations, so the loop has no end.
//!
//! Method. Hints are counted from one operation to the next. Where there are more than an execution may have steps, and
//! more than [`FEWEST`], the execution ends ([`End::Idle`]).

use crate::base::ThreadId;
use crate::machine::Machine;
use crate::step::End;
use crate::trace::Site;

/// So many hints may always come one after the other.
const FEWEST: u32 = 100_000;

/// After so many hints in a row the executor does not report the thread's state at further ones.
const A_FEW: u32 = 100;

/// The hints since the last operation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Idle {
    hints: u32,
    /// The number of steps then, and of operations that a thread may still perform in silence.
    when: (usize, u32),
}

impl Machine {
    /// Whether the running thread has given so many hints since the last operation that its state is not reported.
    pub fn idles(&self) -> bool {
        self.idle.hints > A_FEW && self.idle.when == (self.steps, self.left_in_silence())
    }

    /// Counts a hint of a thread. If there were too many since the last operation, the execution ends.
    pub(super) fn count_hint(&mut self, thread: ThreadId, site: Site) {
        let when = (self.steps, self.left_in_silence());
        if self.idle.when != when {
            self.idle = Idle { hints: 0, when };
        }
        self.idle.hints += 1;
        if self.idle.hints > self.rules.max_steps.max(FEWEST) {
            self.finish(End::Idle { thread, site, hints: self.idle.hints - 1 });
        }
    }
}
