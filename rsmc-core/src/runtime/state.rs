//! The state of a thread as a fingerprint: all that its next steps depend on.
//!
//! Method. The state is the bytes of the thread's stack and of the registers that its code may still read ([`Frame`],
//! [`liveness`]), and what the thread itself has changed of all other memory that is seen: the heap (`arena`) and the
//! stacks of the other threads, which may lend it their variables. What others change there meanwhile does not count: a
//! number of all of it is taken whenever the thread goes on or stops, and the differences in between are the thread's
//! own. A thread that undoes what it did is where it was.
//!
//! Cost. Time linear in the bytes that are seen, at places where a thread was seen with equal registers twice
//! ([`Machine::glance`](crate::machine::Machine::glance)). Nothing elsewhere.
//!
//! Limits. Statics, std's thread-locals and memory from before the execution are not seen.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::base::{ThreadId, mix};
use crate::machine::{Glance, Preserved, Sees, State};
use crate::runtime::coroutine::Suspender;
use crate::runtime::execution::{Core, Execution};
use crate::runtime::frame::Frame;
use crate::runtime::liveness::{self, Registers};
use crate::runtime::memcheck;
use crate::trace::Site;

/// Clears so much of the stack below: the remnants of our own functions would show where a function of the user's has
/// not written to its frame yet.
#[inline(never)]
pub(super) fn clear_below<const BYTES: usize>() {
    let mut space = std::mem::MaybeUninit::<[u8; BYTES]>::uninit();
    // SAFETY: its own bytes.
    unsafe { std::ptr::write_bytes(space.as_mut_ptr(), 0, 1) };
    std::hint::black_box(&mut space);
}

impl Execution {
    /// Notes that the running thread comes to an operation or a hint. `stores` says that this is a store, which is a
    /// change in any case: so the thread is not where it was.
    #[inline(always)]
    pub(super) fn visit(&self, frame: Option<&Frame>, site: Site, stores: bool) {
        if !self.heap.is_seen.get() || self.unwinding.get() {
            return;
        }
        let Some(frame) = frame else { return };
        let me = self.running.get();
        let core = &mut *self.core.borrow_mut();
        let glance =
            if stores { Glance::New } else { core.machine.glance(me, (frame.place(), site), || frame.glimpse()) };
        if glance != Glance::New || core.machine.is_watched() {
            self.look(core, glance, frame, site);
        }
    }

    /// Looks at the running thread, which may be where it was, or whose execution is watched.
    #[inline(never)]
    fn look(&self, core: &mut Core, glance: Glance, frame: &Frame, site: Site) {
        if !core.arena.sees_all() {
            return;
        }
        let me = self.running.get();
        let base = self.suspender.get().expect("a modelled thread runs").base();
        let place = frame.place();
        if core.machine.is_watched() {
            let state = core.state_of(frame, base, true);
            core.fibers[me].stood = std::ptr::from_ref(frame).expose_provenance();
            let around = core.everything_around(me);
            core.machine.is_in(me, state, around);
        }
        let sees = core.machine.sees();
        match glance {
            Glance::New => {}
            Glance::Closer => {
                let needed = if sees == Sees::Heap { 0 } else { core.needed_at(place) };
                core.machine.glance_closer(me, (place, site), frame.glimpse(), needed);
            }
            Glance::Ask => {
                core.catch_up(me);
                let around = State::from(core.fibers[me].changes.own);
                let state = match sees {
                    Sees::All | Sees::Untested => core.state_of(frame, base, true) ^ around,
                    Sees::Heap => State::from(place) ^ around,
                    Sees::Stack => core.state_of(frame, base, true),
                    Sees::Memory => core.state_of(frame, base, false) ^ around,
                };
                let is_left_out = core.machine.visit(me, state, site, (sees == Sees::All).then_some(place));
                core.fibers[me].keep_time(state, is_left_out);
            }
        }
    }

    /// Whether a change at an address shows in the state of the running thread.
    pub(super) fn sees(&self, core: &Core, address: usize) -> bool {
        let here = 0_u8;
        let own = (&raw const here).addr()..self.suspender.get().map_or(0, Suspender::base);
        let others = core.fibers.values().filter(|fiber| fiber.coroutine.is_some() && fiber.low != 0);
        core.arena.contains(address)
            || own.contains(&address)
            || others.map(|fiber| fiber.low..fiber.base).any(|stack| stack.contains(&address))
    }

    /// Notes that the running thread is about to stop, or goes on after it did, in an execution in which states are
    /// compared.
    #[inline(never)]
    pub(super) fn note_changes(&self, goes_on: bool) {
        let me = self.running.get();
        let Ok(mut core) = self.core.try_borrow_mut() else { return };
        match core.machine.remembers(me) {
            false => {}
            true if goes_on => core.pass_over(me),
            true => core.catch_up(me),
        }
    }
}

impl Core {
    /// The registers that the code behind a call of user code may still read.
    fn needed_at(&mut self, place: u64) -> Registers {
        *self.needed.entry(place).or_insert_with(|| liveness::needed_at(place))
    }

    /// The stack above a frame, and those of its registers that are needed, if there are any. Addresses in the check's
    /// memory count by their names, and the tags of objects without the number of the execution: so the state is the
    /// same in all executions.
    fn state_of(&mut self, frame: &Frame, base: usize, has_registers: bool) -> State {
        let needed = if has_registers { self.needed_at(frame.place()) } else { 0 };
        let addresses = self.arena.addresses();
        let name = |word: u64| self.locations.without_number(addresses.named(word));
        let registers = only(frame.registers(), needed).map(name);
        let number = registers.into_iter().fold(frame.place(), mix);
        let above = (std::ptr::from_ref(frame).expose_provenance() + size_of::<Frame>()).min(base);
        let mut hash = Xxh3::with_seed(number);
        let mut memory = [[0; size_of::<u64>()]; 64];
        for part in bytes(above, base).as_chunks().0.chunks(memory.len()) {
            let named = &mut memory[..part.len()];
            named.copy_from_slice(part);
            for word in named.iter_mut() {
                *word = name(u64::from_ne_bytes(memcheck::defined(*word))).to_ne_bytes();
            }
            hash.update(named.as_flattened());
        }
        hash.digest128()
    }

    /// Counts all that was changed until now as a change of the thread's own.
    pub(super) fn catch_up(&mut self, me: ThreadId) {
        let now = self.number_around(me);
        let remembers = self.machine.remembers(me);
        let changes = &mut self.fibers[me].changes;
        let since = now.wrapping_sub(changes.seen);
        changes.own = if remembers { changes.own.wrapping_add(since) } else { 0 };
        changes.seen = now;
    }

    /// Passes over all that was changed until now: it is not the thread's own change.
    pub(super) fn pass_over(&mut self, me: ThreadId) {
        self.fibers[me].changes.seen = self.number_around(me);
    }

    /// A number for the heap and for the stacks of the other threads. The frames of the runtime on the stack of a
    /// thread that came to an operation do not count.
    fn everything_around(&self, me: ThreadId) -> u64 {
        let others =
            self.fibers.iter().filter(|&(thread, fiber)| thread != me && fiber.coroutine.is_some() && fiber.low != 0);
        others.fold(self.arena.number(), |number, (thread, fiber)| {
            let low = if self.machine.is_known(thread) { fiber.stood } else { fiber.low };
            number.wrapping_mul(31).wrapping_add(number_of(low, fiber.base))
        })
    }

    /// A number for all memory that is seen but for a thread's own stack.
    fn number_around(&self, me: ThreadId) -> u64 {
        let mut number = self.arena.number();
        for (thread, fiber) in self.fibers.iter() {
            if thread != me && fiber.coroutine.is_some() && fiber.low != 0 {
                number = number.wrapping_mul(31).wrapping_add(number_of(fiber.low, fiber.base));
            }
        }
        number
    }
}

/// The registers that are needed, with the others cleared.
fn only(mut registers: Preserved, needed: Registers) -> Preserved {
    for (number, register) in registers.iter_mut().enumerate() {
        *register *= u64::from(needed >> number & 1);
    }
    registers
}

/// A number for the stack of a thread.
fn number_of(low: usize, base: usize) -> u64 {
    memcheck::defined(xxh3_64(bytes(low, base)))
}

fn bytes<'a>(low: usize, base: usize) -> &'a [u8] {
    debug_assert!(low < base, "stacks grow downwards");
    // SAFETY: a part of a coroutine's stack that is in use: mapped and readable. All threads of a check share one OS
    // thread, and it runs this, so nothing writes meanwhile.
    unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(low), base.saturating_sub(low)) }
}
