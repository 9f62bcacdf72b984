//! The acts of user code on its memory, as an execution learns of them.

use crate::base::{LocId, ThreadId};
use crate::machine::{may_have_suspects, suspects};
use crate::runtime::arena::News;
use crate::runtime::execution::{Core, Execution};
use crate::runtime::locations::Tag;
use crate::step::{BadMemory, Plan, Run};
use crate::trace::{Act, Site, TRACKED};

/// The number of executions in vain after which a use at one place is not tried any more: something that is not seen
/// orders it.
const TRIES: u32 = 16;

impl Execution {
    /// Notes what the running thread may have freed since the last call.
    #[cold]
    pub(super) fn learn_of_memory(&self) {
        let Core { arena, machine, freed, captures, .. } = &mut *self.core.borrow_mut();
        let me = self.running.get();
        // Where no other thread can do anything any more, it makes no difference.
        let alone = machine.is_alone(me);
        for news in arena.news().filter(|_| !self.unwinding.get()) {
            if captures.is_some() {
                self.captures.borrow_mut().learn_of_memory(me, &machine.run().trace);
            }
            match news {
                News::Freed(_) if alone => {}
                News::Freed(loc) => {
                    freed.in_order.push(loc);
                    machine.freed(me, Some(loc));
                }
                News::Watched => machine.freed(me, None),
                News::Twice(block) => {
                    if machine.run().bad_memory.is_none() {
                        freed.bad_address = !block;
                    }
                    machine.freed_again(me, self.heap.addresses.get().exchange(block as u64));
                }
            }
        }
    }

    /// A thread comes to a cell, or to a tracked value. Makes it wait before the access, if that is to be tried after
    /// memory was freed.
    #[inline]
    pub(super) fn comes_to_cell(&self) {
        let core = self.core.borrow();
        if core.captures.is_some() {
            self.capture(&core, Act::Operation);
        }
        if core.machine.has_hold() {
            drop(core);
            let me = self.running.get();
            self.wait_unless(|machine| !machine.is_held(me));
        }
    }

    /// Tests, after an execution has ended well, whether it was luck that memory was used before another thread freed
    /// it: runs the other order, and records in `run` if it happens.
    pub(super) fn try_to_use_freed(&self, run: &mut Run) {
        if self.broken.get() {
            return;
        }
        if let Some(bad) = run.bad_memory {
            return self.see_who_freed(bad, run);
        }
        if may_have_suspects(run) {
            self.try_suspects(run);
        }
    }

    #[cold]
    fn try_suspects(&self, run: &mut Run) {
        let tried = |site| self.core.borrow().freed.tried_in_vain.get(&site).copied().unwrap_or(0);
        let mut found = None;
        for suspect in suspects(run, |site| tried(site) < TRIES) {
            let before = self.knowledge();
            let mut other = Run::default();
            self.execute_until_it_counts(&suspect.plan, &mut other);
            if self.broken.get() {
                return;
            }
            self.know(&before);
            if other.bad_memory.is_some() {
                found = Some(suspect.bad);
                break;
            }
            *self.core.borrow_mut().freed.tried_in_vain.entry(suspect.site).or_default() += 1;
        }
        run.bad_memory = found;
    }

    /// Runs an execution with a wrong use of memory again, if the first freeing of that memory was not seen.
    #[cold]
    fn see_who_freed(&self, bad: BadMemory, run: &mut Run) {
        if bad.freed_at().is_some() {
            return;
        }
        let mut again = Run::default();
        {
            let core = &mut *self.core.borrow_mut();
            core.arena.watch(Some(!core.freed.bad_address));
        }
        self.execute_until_it_counts(&Plan::again(run), &mut again);
        if self.broken.get() {
            return;
        }
        self.core.borrow_mut().arena.watch(None);
        if again.bad_memory.is_some_and(|bad| bad.freed_at().is_some()) {
            std::mem::swap(run, &mut again);
        }
    }
}

impl Core {
    /// Notes that a thread is about to use an object whose memory was freed. `tag` is that of the object, or `None` if
    /// the memory was not freed when the thread came to it.
    #[cold]
    pub(super) fn uses_freed(&mut self, thread: ThreadId, loc: LocId, site: Site, tag: Option<&Tag>) {
        if self.machine.run().bad_memory.is_none() {
            self.freed.bad_address = !tag.map_or(0, |tag| std::ptr::from_ref(tag).addr());
        }
        let kind = self.machine.run().trace.locs[loc].kind;
        let is_cell = kind.contains("Cell") || kind == TRACKED;
        self.machine.uses_freed(thread, loc, site, is_cell);
    }
}
