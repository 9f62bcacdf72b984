//! One execution of real code: the loop that resumes threads, and what a thread does at a scheduling point.
//!
//! A thread stands before its operation, asks the machine which thread goes on, and performs the operation at once if
//! it is that thread; otherwise it names the next thread and suspends. No switch happens while the plan stays on a
//! thread.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use crate::base::{IdVec, LocId, ThreadId};
use crate::machine::{Machine, Next, Outcome, Rules};
use crate::model::MemoryModel;
use crate::runtime::arena::{self, Arena};
use crate::runtime::births::Births;
use crate::runtime::call_paths::Captures;
use crate::runtime::candidates::Candidates;
use crate::runtime::coroutine::{Returned, Suspender};
use crate::runtime::fibers::{Fibers, Job};
use crate::runtime::foreign::{Notice, Registered};
use crate::runtime::frame::ARE_SEEN;
use crate::runtime::hash_keys::HashKeys;
use crate::runtime::holders::Holders;
use crate::runtime::liveness::Registers;
use crate::runtime::locations::Locations;
use crate::runtime::observing::Observing;
use crate::runtime::pieces::{self, Addresses};
use crate::runtime::reclaim;
use crate::runtime::slots::{PutBack, Slots};
use crate::step::{End, Knowledge, Plan, Run, Watcher};
use crate::trace::{Act, Op, Site, Weakened};

/// The part of an execution that is borrowed for a moment at a time, never across a switch.
pub(super) struct Core {
    pub(super) machine: Machine,
    pub(super) fibers: Fibers,
    pub(super) locations: Locations,
    /// The addresses of the objects, with all bits the other way round: they must not look like pointers.
    pub(super) places: IdVec<LocId, usize>,
    pub(super) slots: Slots,
    pub(super) births: Births,
    /// Something of the shim was used in a way that the execution does not see.
    pub(super) unmodelled: bool,
    pub(super) holders: Holders,
    /// A thread that goes on after an operation of its own does so at once.
    pub(super) in_place: bool,
    /// While call paths are captured: whether threads go on in place otherwise.
    pub(super) captures: Option<bool>,
    /// The observations that the program was seen to make.
    pub(super) observed: Observing,
    pub(super) arena: Arena,
    pub(super) freed: Freed,
    pub(super) candidates: Candidates,
    /// By return address of a call: the registers that the code behind it may still read.
    pub(super) needed: FxHashMap<u64, Registers>,
}

/// The memory that was freed, and wrong uses of it.
#[derive(Default)]
pub(super) struct Freed {
    /// The objects whose memory was freed in the execution, in order.
    pub(super) in_order: Vec<LocId>,
    /// The address of the memory that was used in a wrong way, with all bits the other way round.
    pub(super) bad_address: usize,
    /// By place: the number of times that a use there was tried in vain after its memory was freed.
    pub(super) tried_in_vain: FxHashMap<Site, u32>,
}

/// The test body.
pub(super) struct Body {
    pub(super) main: Rc<dyn Fn()>,
    /// A place on the stack of the check's caller: what is behind it belongs to the caller.
    pub(super) caller: usize,
}

/// The panics of modelled threads, as far as std's count of panics does not tell.
pub(super) struct Panics {
    /// A thread was left for good while it unwound, so that std's count of panics never falls to 0 again.
    pub(super) left_behind: Cell<bool>,
    /// Threads may be on record as unwinding.
    pub(super) some_unwind: Cell<bool>,
}

/// The state of the end of an execution.
#[derive(Default)]
pub(super) struct Ending {
    /// The running thread must never be resumed.
    pub(super) abandoned: Cell<bool>,
    pub(super) aside_left: Cell<u32>,
    /// The functions of the shim that run then, by which it puts data back.
    pub(super) at_end: RefCell<Vec<PutBack>>,
}

/// The memory that user code allocates.
pub(super) struct Heap {
    /// The heap is seen.
    pub(super) is_seen: Cell<bool>,
    /// The names that stand for the addresses in it.
    pub(super) addresses: Cell<Addresses>,
}

/// A number that changes whenever a thread asks something of the runtime.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress(Arc<AtomicU64>);

impl Progress {
    /// Notes that a thread asks something.
    #[inline]
    pub(super) fn go_on(&self) {
        self.0.store(self.now().wrapping_add(1), Ordering::Relaxed);
    }

    /// The number.
    #[inline]
    pub(super) fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// An execution in progress; see the module.
pub(super) struct Execution {
    pub(super) core: RefCell<Core>,
    body: Body,
    /// The thread that runs now.
    pub(super) running: Cell<ThreadId>,
    /// The thread to resume next, if any.
    pub(super) next: Cell<Option<ThreadId>>,
    /// The run is over and its threads are being ended.
    pub(super) unwinding: Cell<bool>,
    pub(super) broken: Cell<bool>,
    pub(super) ending: Ending,
    pub(super) panics: Panics,
    pub(super) suspender: Cell<Option<Suspender>>,
    pub(super) heap: Heap,
    /// States of threads are compared.
    pub(super) compares_states: Cell<bool>,
    pub(super) registered: Registered,
    pub(super) captures: RefCell<Captures>,
    pub(super) progress: Progress,
    hash_keys: HashKeys,
}

impl Execution {
    pub(super) fn new(body: Body, rules: Rules, stack_size: usize) -> Self {
        let mut arena = new_arena();
        arena.reuse(rules.reuse);
        let core = Core {
            machine: Machine::new(rules),
            fibers: Fibers::new(stack_size),
            locations: Locations::default(),
            places: IdVec::new(),
            slots: Slots::default(),
            births: Births::default(),
            unmodelled: false,
            holders: Holders::default(),
            in_place: true,
            captures: None,
            observed: Observing::default(),
            arena,
            freed: Freed::default(),
            candidates: Candidates::default(),
            needed: FxHashMap::default(),
        };
        let heap = Heap { is_seen: Cell::new(core.arena.sees_all()), addresses: Cell::default() };
        Self {
            core: RefCell::new(core),
            body,
            running: Cell::new(ThreadId::MAIN),
            next: Cell::new(None),
            unwinding: Cell::new(false),
            broken: Cell::new(false),
            ending: Ending::default(),
            panics: Panics { left_behind: Cell::new(std::thread::panicking()), some_unwind: Cell::new(false) },
            suspender: Cell::new(None),
            heap,
            compares_states: Cell::new(false),
            registered: Registered::new(),
            captures: RefCell::default(),
            progress: Progress::default(),
            hash_keys: HashKeys::find(),
        }
    }

    /// Pools stacks or not, and lets threads go on in place or not.
    pub(super) fn save(&mut self, pools_stacks: bool, in_place: bool) {
        let core = self.core.get_mut();
        (core.fibers.pools_stacks, core.in_place) = (pools_stacks, in_place);
    }

    /// Says where the stack of the check's caller begins.
    pub(super) fn set_caller(&mut self, place: usize) {
        self.body.caller = place;
    }

    pub(super) fn is_broken(&self) -> bool {
        self.broken.get()
    }

    /// The number of bytes of the stack of each modelled thread.
    pub(super) fn stack_size(&self) -> usize {
        self.core.borrow().fibers.stack_size
    }

    pub(super) fn stacks_allocated(&self) -> usize {
        self.core.borrow().fibers.allocated
    }

    pub(super) fn knowledge(&self) -> Knowledge {
        let core = self.core.borrow();
        Knowledge { observed: core.observed.clone(), ..core.machine.knowledge() }
    }

    pub(super) fn know(&self, knowledge: &Knowledge) {
        let mut core = self.core.borrow_mut();
        core.machine.know(knowledge);
        core.observed.clone_from(&knowledge.observed);
    }

    pub(super) fn follow(&self, memory: MemoryModel) {
        self.core.borrow_mut().machine.follow(memory);
    }

    pub(super) fn strengthen(&self, changes: &[(Site, Ordering)]) {
        self.core.borrow_mut().machine.strengthen(changes);
    }

    pub(super) fn weaken(&self, changes: &[Weakened]) {
        self.core.borrow_mut().machine.weaken(changes);
    }

    pub(super) fn unused(&self) -> Vec<Weakened> {
        self.core.borrow().machine.unused()
    }

    pub(super) fn watch(&self, watcher: Option<Watcher>) {
        self.core.borrow_mut().machine.watch(watcher);
    }

    /// Runs one execution.
    pub(super) fn execute(&self, plan: &Plan, run: &mut Run) {
        self.execute_until_it_counts(plan, run);
        let doubts = self.core.try_borrow_mut().ok().and_then(|mut core| core.machine.doubts(run));
        if let Some(doubts) = doubts.filter(|_| !self.broken.get()) {
            let mut again = Run::default();
            self.execute_until_it_counts(&Plan::again(run), &mut again);
            if !self.broken.get() {
                self.core.borrow_mut().machine.resolve(doubts, run, &again);
            }
        }
        if !self.sees_drops(run) {
            self.try_to_use_freed(run);
        }
    }

    pub(super) fn execute_until_it_counts(&self, plan: &Plan, run: &mut Run) {
        loop {
            let takes_first_keys = self.execute_once(plan, run);
            let again = self.core.try_borrow_mut().is_ok_and(|mut core| core.machine.is_to_run_again());
            if !(again || takes_first_keys) || self.broken.get() {
                return;
            }
        }
    }

    /// Makes everything as it is at the beginning of an execution.
    fn begin(&self, plan: &Plan) {
        self.progress.go_on();
        self.hash_keys.begin();
        self.unwinding.set(false);
        self.next.set(Some(ThreadId::MAIN));
        let mut core = self.core.borrow_mut();
        core.machine.begin(plan);
        core.observed.join(&plan.observed);
        core.locations.begin();
        core.begin_arena();
        core.places.clear();
        core.freed.in_order.clear();
        core.candidates.by_cells.clear();
        self.heap.addresses.set(core.arena.addresses());
        self.compares_states.set(core.machine.compares_states());
        core.births.clear();
        core.unmodelled = false;
        self.registered.begin(core.locations.execution(), core.arena.memory());
        core.holders.clear();
        core.fibers.admit(ThreadId::MAIN, Job::Body(Rc::clone(&self.body.main)));
    }

    /// Runs the plan. Returns whether the run does not count since it has taken the first keys for hash maps.
    fn execute_once(&self, plan: &Plan, run: &mut Run) -> bool {
        self.begin(plan);
        loop {
            while let Some(thread) = self.next.take() {
                match self.resume(thread) {
                    Returned::Suspended => {}
                    Returned::Finished => self.retire(thread),
                    Returned::Overflowed => self.overflowed(thread, run),
                }
            }
            if !self.goes_on_unrecorded() {
                break;
            }
        }
        self.tear_down();
        let takes_first_keys = self.hash_keys.end();
        // Where destructors cannot run any more, what they would drop is leaked.
        self.put_back();
        if let Ok(mut core) = self.core.try_borrow_mut() {
            core.machine.take_run(run);
            if core.captures.is_some() {
                self.captures.borrow_mut().finish(&mut run.trace, core.births.places());
            }
            run.hiding.iter().for_each(|&site| core.observed.note_hiding(site));
            core.observed.learn();
            run.observed.clone_from(&core.observed);
            if matches!(run.end, End::Complete) {
                core.births.add_left(&mut run.leaks);
                if core.arena.has_alive() {
                    let lost = core.lost(run, self.registered.stacks(), self.body.caller);
                    run.leaks.extend(lost);
                }
            }
            run.unmodelled = core.unmodelled;
            run.is_blind = !(ARE_SEEN && self.heap.is_seen.get());
            match self.registered.end() {
                Some(Notice::Misuse(message)) => run.end = End::Misused { message },
                Some(Notice::Meanwhile) => run.unmodelled = true,
                None => {}
            }
            core.holders.explain(&mut run.waiting);
        }
        takes_first_keys
    }

    /// Lets a thread run until it suspends itself or ends.
    pub(super) fn resume(&self, thread: ThreadId) -> Returned {
        let mut coroutine = {
            let mut core = self.core.borrow_mut();
            core.arena.turn(thread);
            if self.hash_keys.are_used() {
                self.hash_keys.turn(core.fibers[thread].hash_keys);
            }
            core.fibers.coroutine_for(thread)
        };
        self.running.set(thread);
        let before = self.suspender.replace(Some(coroutine.suspender()));
        let returned = coroutine.resume();
        self.suspender.set(before);
        if returned == Returned::Overflowed || self.ending.abandoned.get() {
            // It stood in user code, which allocates from the arena.
            std::mem::forget(arena::outside());
            // Its frames may be half unwound: it can neither be resumed nor freed, nor can what they refer to.
            std::mem::forget(coroutine);
            if let Ok(mut core) = self.core.try_borrow_mut() {
                std::mem::forget(std::mem::take(&mut core.fibers[thread].locals));
            }
        } else if let Ok(mut core) = self.core.try_borrow_mut() {
            if self.hash_keys.are_used() {
                core.fibers[thread].hash_keys = self.hash_keys.taken();
            }
            core.fibers.suspended(thread, coroutine);
        }
        returned
    }

    /// Ends a thread whose job is done: its coroutine is free for another, and another thread goes on.
    fn retire(&self, thread: ThreadId) {
        if self.core.borrow().arena.has_news() {
            self.learn_of_memory();
        }
        let mut core = self.core.borrow_mut();
        core.machine.end(thread);
        core.fibers.release(thread);
        let next = core.machine.who_next();
        self.next.set(whom(next));
    }

    fn overflowed(&self, thread: ThreadId, run: &mut Run) {
        match self.core.try_borrow_mut() {
            Ok(mut core) => core.machine.breaks_off(End::StackOverflow { thread }),
            Err(_) => {
                // It overflowed inside the machine, which cannot be used any more; only the verdict is left.
                self.broken.set(true);
                run.clear();
                run.end = End::StackOverflow { thread };
            }
        }
    }

    /// A thread performs a visible operation: a scheduling point.
    pub(super) fn operate(&self, op: Op) -> Outcome {
        if self.unwinding.get() {
            return self.operate_aside(op);
        }
        let me = self.running.get();
        let mut core = self.core.borrow_mut();
        core.see_destructor(me);
        core.marks_memory(me);
        if core.in_place
            && let Some(outcome) = core.machine.go_on(me, &op)
        {
            return outcome;
        }
        if core.captures.is_some() {
            self.capture(&core, Act::Operation);
        }
        core.machine.arrive(me, op);
        match core.machine.who_next() {
            Next::Step(thread) if thread == me && core.in_place => return core.machine.perform(me),
            next => self.next.set(whom(next)),
        }
        let freed_before = core.freed.in_order.len();
        drop(core);
        self.suspend();
        if self.unwinding.get() {
            self.end_from(me);
            return self.operate_aside(op);
        }
        let mut core = self.core.borrow_mut();
        if core.freed.in_order.len() > freed_before && core.freed.in_order[freed_before..].contains(&op.loc) {
            core.uses_freed(me, op.loc, op.site, None);
        }
        core.machine.perform(me)
    }

    /// A thread waits for the end of another.
    #[inline]
    pub(super) fn join(&self, target: ThreadId, site: Site) {
        let me = self.running.get();
        if !self.unwinding.get() {
            self.core.borrow_mut().see_destructor(me);
        }
        self.drain(me);
        self.wait_unless(|machine| machine.join(me, target, site));
        {
            let fibers = &mut self.core.borrow_mut().fibers;
            let ended = fibers[target].clock;
            fibers[me].clock.join(ended);
        }
        if self.unwinding.get() {
            self.join_aside(target);
        }
    }

    /// A thread comes to a fence.
    pub(super) fn fence(&self, order: Ordering, site: Site) {
        let me = self.running.get();
        self.core.borrow_mut().births.has_fence = true;
        self.wait_unless(|machine| machine.fence(me, order, site));
    }

    /// Waits until all stores of the running thread are in memory.
    #[inline(always)]
    fn drain(&self, me: ThreadId) {
        if self.has_buffers() {
            self.drain_buffers(me);
        }
    }

    #[cold]
    fn drain_buffers(&self, me: ThreadId) {
        self.wait_unless(|machine| machine.drain(me));
    }

    /// Whether stores may wait in buffers, so that also a change of a count of references matters.
    #[inline]
    pub(super) fn has_buffers(&self) -> bool {
        !self.unwinding.get() && self.core.borrow().machine.has_buffers()
    }

    /// Notes that a thread is about to change a count of references, where that matters.
    pub(super) fn count(&self, site: Site) {
        let me = self.running.get();
        self.drain(me);
        if !self.unwinding.get() {
            self.core.borrow_mut().machine.counted(me, site);
        }
    }

    /// Makes the running thread wait, unless it turns out that it need not.
    pub(super) fn wait_unless(&self, ready: impl FnOnce(&mut Machine) -> bool) {
        if self.unwinding.get() {
            return;
        }
        let me = self.running.get();
        {
            let mut core = self.core.borrow_mut();
            if core.captures.is_some() {
                self.capture(&core, Act::Operation);
            }
            core.marks_memory(me);
            let machine = &mut core.machine;
            if ready(machine) {
                return;
            }
            match machine.who_next() {
                Next::Continue(thread) if thread == me => return,
                next => self.next.set(whom(next)),
            }
        }
        self.suspend();
        if self.unwinding.get() {
            self.end_from(me);
        }
    }

    /// Suspends the running thread.
    pub(super) fn suspend(&self) {
        let suspender = self.suspender.get().expect("a modelled thread runs");
        let me = self.running.get();
        if !self.broken.get() {
            // The flag must be exact while the thread is suspended.
            self.is_panicking();
        }
        let here = 0_u64;
        let low = (&raw const here).expose_provenance();
        if let Ok(mut core) = self.core.try_borrow_mut() {
            let fiber = &mut core.fibers[me];
            (fiber.base, fiber.low) = (suspender.base(), low);
        }
        let compares_states = self.compares_states.get();
        if compares_states {
            self.note_changes(false);
        }
        suspender.suspend();
        if compares_states {
            self.note_changes(true);
        }
        debug_assert_eq!(self.running.get(), me, "whoever resumes a thread says so");
    }

    #[inline]
    pub(super) fn spawn(&self, name: Option<String>, site: Site, main: Box<dyn FnOnce()>) -> ThreadId {
        let me = self.running.get();
        self.drain(me);
        let mut core = self.core.borrow_mut();
        if core.captures.is_some() {
            self.capture(&core, Act::Operation);
        }
        core.marks_memory(me);
        let child = core.machine.spawn(me, name, site);
        core.fibers.admit(child, Job::Thread(main));
        core.fibers[child].clock = core.fibers[me].clock.inherited();
        child
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        let core = self.core.get_mut();
        if self.broken.get() {
            // The threads that have not ended can be neither resumed nor freed.
            for fiber in core.fibers.values_mut() {
                std::mem::forget(std::mem::take(fiber));
            }
        }
        core.fibers.retire();
    }
}

/// The thread that a decision names. The one named performs its operation, or continues, when it is resumed.
pub(super) fn whom(next: Next) -> Option<ThreadId> {
    match next {
        Next::Continue(thread) | Next::Step(thread) => Some(thread),
        Next::Over => None,
    }
}

/// An arena. If there is no room for one, memory that was left behind is taken back first.
fn new_arena() -> Arena {
    let arena = Arena::new();
    if arena.sees_all() || !pieces::is_anything_new_left() {
        return arena;
    }
    reclaim::collect();
    Arena::new()
}

impl Core {
    /// Begins an execution in the arena, with memory in which nothing is in use.
    fn begin_arena(&mut self) {
        if pieces::is_much_left() {
            reclaim::collect();
        }
        if !self.arena.begin() {
            if pieces::is_something_left() {
                reclaim::collect();
            }
            self.arena.begin_anyhow();
        }
    }
}
