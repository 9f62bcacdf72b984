//! The registers that the code behind a call may still read.
//!
//! Problem. The registers that a call preserves hold old values of variables that are over, such as the result of a
//! look in the last iteration. A thread that differs from what it was in nothing else has the same future
//! ([`Frame`](super::frame::Frame)).
//!
//! Method. Liveness, forwards: the machine code behind the call is decoded along every path. A register is needed if
//! there is a path that reads it before all of it is overwritten. What is not understood needs every register: an
//! indirect jump, a return (the caller has its values back), an unknown instruction, a path that is too long. A call
//! preserves the registers and reads none of them, but it may unwind: the paths go on behind it and at its landing pad,
//! which the language-specific data of the function says (the table that personality routines read). `x86_64` and
//! `aarch64` know the instructions.
//!
//! Cost. Linear in the code of the function, once a check and place at which a thread is seen again.
//!
//! Source. A. V. Aho, M. S. Lam, R. Sethi, J. D. Ullman, "Compilers", 2nd edition, section 9.2.5; the table as in
//! LLVM's "Exception Handling in LLVM" and the Itanium C++ ABI.
//!
//! Limits. x86-64 and AArch64, on Unix, as frames.

use std::ffi::{c_int, c_void};
use std::ops::Range;

use rustc_hash::FxHashMap;

#[cfg(target_arch = "aarch64")]
use self::aarch64::Decoder;
#[cfg(target_arch = "x86_64")]
use self::x86_64::Decoder;

// Its tests run everywhere.
#[cfg(any(target_arch = "aarch64", test))]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

/// A set of the registers that a call preserves, as they are in a frame.
pub(super) type Registers = u32;

/// The largest number of instructions that are looked at.
const INSTRUCTIONS: usize = 4_000;

/// The registers that the code at this address, where a call from a function in progress returns to, may read before it
/// overwrites them.
pub(super) fn needed_at(returns_to: u64) -> Registers {
    let Some(pads) = landing_pads(returns_to) else { return Decoder::ALL };
    let mut paths = Paths::<Decoder>::new(pads);
    paths.call_before(returns_to, Decoder::ALL);
    paths.all_from(returns_to);
    paths.needed
}

/// A decoder, which knows the instructions of a platform.
trait Decode {
    /// All registers.
    const ALL: Registers;

    fn new() -> Self;

    /// The instruction at an address that a path leads to.
    fn decode(&mut self, at: u64) -> Option<Instruction>;
}

/// The effects of an instruction.
#[derive(Debug, PartialEq, Eq)]
struct Instruction {
    /// The registers that it reads, or of which it leaves a part.
    read: Registers,
    /// The registers that it overwrites altogether.
    overwritten: Registers,
    flow: Flow,
    /// Whether it makes room on the stack for a function that has just begun.
    makes_frame: bool,
    /// The address behind it.
    behind: u64,
}

/// The ways in which paths go on.
#[derive(Debug, Default, PartialEq, Eq)]
enum Flow {
    #[default]
    Behind,
    Jump(u64),
    /// Paths go on behind it, and at this address.
    Branch(u64),
    /// A call. What is called may be a piece of its caller if it is here.
    Call(Option<u64>),
    /// A trap.
    Nowhere,
    /// A return, or a jump to an unknown address.
    Away,
}

/// The code in which a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum In {
    /// The function.
    Function,
    /// Code that the function calls, which has made no frame yet.
    Called,
}

/// The paths behind a call.
struct Paths<D> {
    /// The calls, with the addresses at which they go on if they unwind.
    pads: Vec<(Range<u64>, u64)>,
    /// The instructions to look at, with the registers that were neither read nor overwritten before.
    left: Vec<(u64, In, Registers)>,
    /// By instruction: the registers with which it was looked at.
    seen: FxHashMap<(u64, In), Registers>,
    needed: Registers,
    decoder: D,
}

impl<D: Decode> Paths<D> {
    fn new(pads: Vec<(Range<u64>, u64)>) -> Self {
        Self { pads, left: Vec::new(), seen: FxHashMap::default(), needed: 0, decoder: D::new() }
    }

    /// Follows all paths from an address.
    fn all_from(&mut self, at: u64) {
        self.follow(at, In::Function, D::ALL);
        while let Some((at, within, open)) = self.left.pop() {
            self.step(at, within, open);
        }
    }

    /// A path comes to an instruction.
    fn follow(&mut self, at: u64, within: In, open: Registers) {
        if self.seen.len() >= INSTRUCTIONS {
            self.needed |= open;
            return;
        }
        let seen = self.seen.entry((at, within)).or_default();
        let new = open & !*seen & !self.needed;
        *seen |= open;
        if new != 0 {
            self.left.push((at, within, new));
        }
    }

    /// The call that returns to this address may unwind.
    fn call_before(&mut self, returns_to: u64, open: Registers) {
        let pad = self.pads.iter().find(|(calls, _)| calls.contains(&(returns_to - 1))).map(|&(_, pad)| pad);
        if let Some(pad) = pad {
            self.follow(pad, In::Function, open);
        }
    }

    fn step(&mut self, at: u64, within: In, open: Registers) {
        let Some(instruction) = self.decoder.decode(at) else {
            self.needed |= open;
            return;
        };
        if within == In::Called && instruction.makes_frame {
            return; // It gives back what it found.
        }
        self.needed |= instruction.read & open;
        let open = open & !instruction.read & !instruction.overwritten;
        let behind = instruction.behind;
        match instruction.flow {
            Flow::Behind => self.follow(behind, within, open),
            Flow::Jump(target) => self.follow(target, within, open),
            Flow::Branch(target) => {
                self.follow(behind, within, open);
                self.follow(target, within, open);
            }
            Flow::Call(called) => {
                if let Some(called) = called {
                    self.follow(called, In::Called, open);
                }
                self.follow(behind, within, open);
                self.call_before(behind, open);
            }
            Flow::Nowhere => {}
            Flow::Away if within == In::Called => {} // The path behind the call goes on.
            Flow::Away => self.needed |= open,
        }
    }
}

/// The first `length` bytes of the code at an address that a path leads to.
fn code<'a>(at: u64, length: usize) -> &'a [u8] {
    // SAFETY: code that a path leads to is mapped and readable; no caller asks for more than an instruction may have.
    unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(at as usize), length) }
}

/// A function in progress, as unwinding finds it.
struct Function {
    returns_to: u64,
    found: bool,
    start: u64,
    /// The language-specific data, or null.
    data: *const u8,
}

// SAFETY: as the Itanium C++ ABI declares them; std links the library that has them.
unsafe extern "C" {
    fn _Unwind_Backtrace(frame: extern "C" fn(*mut c_void, *mut c_void) -> c_int, argument: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    fn _Unwind_GetRegionStart(context: *mut c_void) -> usize;
    fn _Unwind_GetLanguageSpecificData(context: *mut c_void) -> *const u8;
}

extern "C" fn look_at(context: *mut c_void, argument: *mut c_void) -> c_int {
    const GO_ON: c_int = 0;
    const STOP: c_int = 4;
    // SAFETY: the argument of the backtrace, which is on, and the context that it hands out.
    unsafe {
        let function = &mut *argument.cast::<Function>();
        if _Unwind_GetIP(context) as u64 != function.returns_to {
            return GO_ON;
        }
        function.found = true;
        function.start = _Unwind_GetRegionStart(context) as u64;
        function.data = _Unwind_GetLanguageSpecificData(context);
    }
    STOP
}

/// The calls of the function in progress that has this address, with where they go on if they unwind. `None` if that is
/// not known.
fn landing_pads(returns_to: u64) -> Option<Vec<(Range<u64>, u64)>> {
    let mut function = Function { returns_to, found: false, start: 0, data: std::ptr::null() };
    // SAFETY: the function gets what it expects.
    unsafe { _Unwind_Backtrace(look_at, (&raw mut function).cast()) };
    if !function.found {
        return None;
    }
    if function.data.is_null() { Some(Vec::new()) } else { Table(function.data).pads(function.start) }
}

/// A reader of the language-specific data of a function.
struct Table(*const u8);

impl Table {
    fn byte(&mut self) -> u8 {
        // SAFETY: the table ends where its own lengths say, and nothing reads further.
        unsafe {
            let byte = self.0.read();
            self.0 = self.0.add(1);
            byte
        }
    }

    fn fixed(&mut self, bytes: u32) -> u64 {
        (0..bytes).fold(0, |number, byte| number | u64::from(self.byte()) << (8 * byte))
    }

    fn uleb128(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 || shift >= 64 {
                return number;
            }
        }
    }

    fn number(&mut self, encoding: u8) -> Option<u64> {
        match encoding {
            0x01 => Some(self.uleb128()),
            0x02 => Some(self.fixed(2)),
            0x03 => Some(self.fixed(4)),
            0x00 | 0x04 => Some(self.fixed(8)),
            _ => None,
        }
    }

    /// The table of calls, relative to the start of the function.
    fn pads(mut self, start: u64) -> Option<Vec<(Range<u64>, u64)>> {
        const OMITTED: u8 = 0xff;
        if self.byte() != OMITTED {
            return None; // The base of the landing pads is somewhere else: no compiler does that here.
        }
        if self.byte() != OMITTED {
            self.uleb128(); // Where the types end.
        }
        let encoding = self.byte();
        let length = self.uleb128();
        let end = self.0.wrapping_add(length as usize);
        let mut pads = Vec::new();
        while self.0 < end {
            let first = start + self.number(encoding)?;
            let length = self.number(encoding)?;
            let pad = self.number(encoding)?;
            self.uleb128(); // What is done there.
            if pad != 0 {
                pads.push((first..first + length, start + pad));
            }
        }
        Some(pads)
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;
    use crate::runtime::frame::{Frame, Pair, framed};

    extern "C-unwind" fn pads_of_caller(_: u64, _: u64, _: u64, _: u64, _: u64, _: u64, frame: Option<&Frame>) -> Pair {
        let place = frame.expect("it is framed").place();
        let pads = landing_pads(place).expect("the function is in progress");
        let covers = pads.iter().any(|(calls, pad)| calls.contains(&(place - 1)) && *pad != 0);
        Pair { low: u64::from(covers), high: 0 }
    }

    framed! {
        /// Whether the caller has a landing pad for this call.
        fn has_pad(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> Pair = pads_of_caller;
    }

    #[inline(never)]
    fn with_a_guard() -> bool {
        struct Guard<'a>(&'a std::cell::Cell<u32>);
        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        let count = std::cell::Cell::new(0);
        let guard = Guard(black_box(&count));
        let has = has_pad(0, 0, 0, 0, 0, 0).low == 1;
        drop(black_box(guard));
        has
    }

    #[inline(never)]
    fn without_a_guard() -> bool {
        black_box(has_pad(0, 0, 0, 0, 0, 0).low == 1)
    }

    #[test]
    fn landing_pads_are_found() {
        assert!(with_a_guard());
        assert!(!without_a_guard());
    }
}
