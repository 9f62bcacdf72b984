//! What user code does with its memory, as an execution learns of it.

use crate::base::{LocId, ThreadId};
use crate::machine::suspects;
use crate::runtime::arena::News;
use crate::runtime::execution::{Core, Execution};
use crate::step::{BadMemory, Run};
use crate::trace::Site;

/// After so many executions in vain a use at one place is not tried any more: something orders it that is not seen.
const TRIES: u32 = 16;

impl Execution {
    /// The running thread may have freed memory since it was asked last.
    #[cold]
    pub(super) fn learn_of_memory(&self) {
        let core = &mut *self.core.borrow_mut();
        let me = self.running.get();
        for news in core.arena.news() {
            match news {
                _ if self.unwinding.get() => {}
                News::Freed(loc) => {
                    core.freed.push(loc);
                    core.machine.freed(me, loc);
                }
                News::Twice(loc) => {
                    let events = core.machine.run().trace.count(me);
                    core.machine.uses_badly(BadMemory::FreedTwice { thread: me, events, loc });
                    loc.into_iter().for_each(|loc| core.machine.freed(me, loc));
                }
            }
        }
    }

    /// The running thread comes to the access of a cell. If that is to be tried after memory was freed, it waits.
    #[inline]
    pub(super) fn comes_to_cell(&self) {
        if self.core.borrow().machine.has_hold() {
            let me = self.running.get();
            self.wait_unless(|machine| !machine.is_held(me));
        }
    }

    /// An execution has ended well: was it luck that memory was used before another thread freed it? Runs the other order, and
    /// writes down if that happens.
    pub(super) fn try_to_use_freed(&self, run: &mut Run) {
        if self.broken.get() || run.bad_memory.is_some() {
            return;
        }
        for suspect in suspects(run) {
            let tried = self.core.borrow().tried_in_vain.get(&suspect.site).copied().unwrap_or(0);
            if tried == TRIES {
                continue;
            }
            let before = self.knowledge();
            let mut other = Run::default();
            self.execute_until_it_counts(&suspect.plan, &mut other);
            if self.broken.get() {
                return;
            }
            self.know(&before);
            if other.bad_memory.is_some() {
                run.bad_memory = Some(suspect.bad);
                return;
            }
            self.core.borrow_mut().tried_in_vain.insert(suspect.site, tried + 1);
        }
    }
}

impl Core {
    /// A thread is about to use an object whose memory was freed: a cell, or an object with operations.
    #[cold]
    pub(super) fn uses_freed(&mut self, thread: ThreadId, loc: LocId, site: Site) {
        let is_cell = self.machine.run().trace.locs[loc].kind.contains("Cell");
        self.machine.uses_freed(thread, loc, site, is_cell);
    }
}
