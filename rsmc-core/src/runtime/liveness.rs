//! Which registers the code behind a call may still read.
//!
//! Problem. The registers that a call preserves hold old values of variables that are over: what a look returned in the last
//! iteration. A thread that differs from what it was in nothing else has the same future ([`Frame`](super::frame::Frame)).
//!
//! Method. Liveness, forwards: the machine code behind the call is decoded along every path. A register is needed if there is a
//! path that reads it before all of it is overwritten. What is not understood needs every register: an indirect jump, a return
//! (the caller has its values back), an unknown instruction, a path that is too long. A call preserves the registers
//! and reads none of them, but it may unwind: the paths go on behind it and at its landing pad, which the language-specific data of
//! the function says (the table that personality routines read).
//!
//! Cost. Linear in the code of the function, once a check and place at which a thread is seen again.
//!
//! Source. A. V. Aho, M. S. Lam, R. Sethi, J. D. Ullman, "Compilers", 2nd edition, section 9.2.5; the table as in LLVM's "Exception
//! Handling in LLVM" and the Itanium C++ ABI.
//!
//! Limits. x86-64 on Unix. On AArch64, where there are frames, too, every register is needed.

use std::ffi::{c_int, c_void};
use std::ops::Range;

use iced_x86::{
    Code, Decoder, DecoderError, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory,
    InstructionInfoOptions, OpAccess, Register,
};
use rustc_hash::FxHashMap;

/// A set of the registers that a call preserves, as they are in a frame.
pub(super) type Registers = u8;

/// All of them.
pub(super) const ALL: Registers = (1 << ORDER.len()) - 1;

/// In which order they are in a frame.
const ORDER: [Register; 6] = [Register::R15, Register::R14, Register::R13, Register::R12, Register::RBX, Register::RBP];

/// So many instructions are looked at.
const INSTRUCTIONS: usize = 4_000;

/// The longest instruction has so many bytes.
const LONGEST: usize = 15;

/// Which registers the code at this address, where a call from a function in progress returns to, may read before it overwrites
/// them.
pub(super) fn needed_at(returns_to: u64) -> Registers {
    let Some(pads) = landing_pads(returns_to) else { return ALL };
    let mut paths = Paths::new(pads);
    paths.call_before(returns_to, ALL);
    paths.all_from(returns_to);
    paths.needed
}

/// The paths behind a call.
struct Paths {
    /// Where calls go on that unwind.
    pads: Vec<(Range<u64>, u64)>,
    /// Instructions to look at, and which registers neither were read nor overwritten before.
    left: Vec<(u64, Registers)>,
    /// With which registers each was looked at.
    seen: FxHashMap<u64, Registers>,
    needed: Registers,
    infos: InstructionInfoFactory,
}

impl Paths {
    fn new(pads: Vec<(Range<u64>, u64)>) -> Self {
        let infos = InstructionInfoFactory::new();
        Self { pads, left: Vec::new(), seen: FxHashMap::default(), needed: 0, infos }
    }

    /// Follows all paths from an address.
    fn all_from(&mut self, at: u64) {
        self.follow(at, ALL);
        while let Some((at, open)) = self.left.pop() {
            self.step(at, open);
        }
    }

    /// A path comes to an instruction.
    fn follow(&mut self, at: u64, open: Registers) {
        if self.seen.len() >= INSTRUCTIONS {
            self.needed |= open;
            return;
        }
        let seen = self.seen.entry(at).or_default();
        let new = open & !*seen & !self.needed;
        *seen |= open;
        if new != 0 {
            self.left.push((at, new));
        }
    }

    /// The call that returns to this address may unwind.
    fn call_before(&mut self, returns_to: u64, open: Registers) {
        let pad = self.pads.iter().find(|(calls, _)| calls.contains(&(returns_to - 1))).map(|&(_, pad)| pad);
        if let Some(pad) = pad {
            self.follow(pad, open);
        }
    }

    fn step(&mut self, at: u64, open: Registers) {
        let Some(instruction) = decode(at) else {
            self.needed |= open;
            return;
        };
        let open = self.pass(&instruction, open);
        let (next, target) = (instruction.next_ip(), instruction.near_branch_target());
        match instruction.flow_control() {
            FlowControl::Next => self.follow(next, open),
            FlowControl::UnconditionalBranch => self.follow(target, open),
            FlowControl::ConditionalBranch => {
                self.follow(next, open);
                self.follow(target, open);
            }
            FlowControl::Call | FlowControl::IndirectCall => {
                self.follow(next, open);
                self.call_before(next, open);
            }
            // No path goes on behind a trap.
            FlowControl::Exception => {}
            FlowControl::Interrupt if instruction.code() == Code::Int3 => {}
            FlowControl::Return
            | FlowControl::IndirectBranch
            | FlowControl::Interrupt
            | FlowControl::XbeginXabortXend => self.needed |= open,
        }
    }

    /// Takes in what an instruction reads and overwrites; what is left to follow.
    fn pass(&mut self, instruction: &Instruction, open: Registers) -> Registers {
        let info = self.infos.info_options(instruction, InstructionInfoOptions::NO_MEMORY_USAGE);
        let (mut read, mut overwritten) = (0, 0);
        for used in info.used_registers() {
            let Some(number) = ORDER.iter().position(|&register| register == used.register().full_register()) else {
                continue;
            };
            match used.access() {
                OpAccess::None | OpAccess::NoMemAccess => {}
                // Half a register: the other half is cleared.
                OpAccess::Write if used.register().size() >= 4 => overwritten |= 1 << number,
                _ => read |= 1 << number,
            }
        }
        self.needed |= read & open;
        open & !read & !overwritten
    }
}

/// The instruction at an address that a path leads to.
fn decode(at: u64) -> Option<Instruction> {
    const PAGE: u64 = 4096;
    let on_page = (PAGE - at % PAGE).min(LONGEST as u64) as usize;
    [on_page, LONGEST].into_iter().find_map(|length| {
        // SAFETY: code that a path leads to is mapped and readable, and so is the next page if its instruction goes on there.
        let bytes = unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(at as usize), length) };
        let mut decoder = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE);
        let instruction = decoder.decode();
        match decoder.last_error() {
            DecoderError::None => Some(Some(instruction)),
            DecoderError::NoMoreBytes => None,
            _ => Some(None),
        }
    })?
}

/// What unwinding says of a function in progress.
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

/// The calls of the function in progress that has this address, with where they go on if they unwind. `None` if that is not
/// known.
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
        // SAFETY: the table ends where its own lengths say, and nobody reads further.
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

    const RBX: Registers = 1 << 4;
    const RBP: Registers = 1 << 5;

    /// Which of `rbx` and `rbp` the code needs that begins like a function.
    macro_rules! needs {
        ($($line:literal)*) => {{
            #[unsafe(naked)]
            extern "C" fn code() {
                std::arch::naked_asm!($($line),*)
            }
            let mut paths = Paths::new(Vec::new());
            paths.all_from(code as extern "C" fn() as usize as u64);
            paths.needed & (RBX | RBP)
        }};
    }

    #[test]
    fn a_register_is_needed_where_it_is_read_before_it_is_overwritten() {
        assert_eq!(needs!("mov rbx, 1" "ret"), RBP, "a return needs what was not overwritten");
        assert_eq!(needs!("pop rbx" "pop rbp" "ret"), 0);
        assert_eq!(needs!("mov rax, rbx" "pop rbx" "pop rbp" "ret"), RBX);
        assert_eq!(needs!("mov rax, [rbp - 8]" "pop rbx" "pop rbp" "ret"), RBP);
        assert_eq!(needs!("add rbx, 1" "pop rbx" "pop rbp" "ret"), RBX);
        assert_eq!(needs!("push rbx" "pop rbx" "pop rbp" "ret"), RBX);
        assert_eq!(needs!("xchg rbx, rax" "pop rbx" "pop rbp" "ret"), RBX);
    }

    #[test]
    fn a_part_of_a_register_is_not_all_of_it() {
        assert_eq!(needs!("mov ebx, eax" "pop rbp" "ret"), 0, "the upper half is cleared");
        assert_eq!(needs!("mov bl, 1" "pop rbp" "ret"), RBX);
        assert_eq!(needs!("mov bx, 1" "pop rbp" "ret"), RBX);
        assert_eq!(needs!("cmovz rbx, rax" "pop rbp" "ret"), RBX);
        assert_eq!(needs!("cmovz ebx, eax" "pop rbp" "ret"), RBX);
        assert_eq!(needs!("mov eax, ebx" "pop rbx" "pop rbp" "ret"), RBX);
    }

    #[test]
    fn all_paths_count() {
        assert_eq!(needs!("jz 2f" "pop rbx" "pop rbp" "ret" "2:" "mov rax, rbx" "pop rbx" "pop rbp" "ret"), RBX);
        assert_eq!(needs!("2:" "mov rbx, 1" "dec rax" "jnz 2b" "pop rbp" "ret"), 0);
        assert_eq!(needs!("2:" "dec rax" "jnz 2b" "mov rax, rbp" "pop rbx" "pop rbp" "ret"), RBP);
        assert_eq!(needs!("jmp 2f" "mov rax, rbx" "2:" "pop rbx" "pop rbp" "ret"), 0);
        assert_eq!(needs!("jmp rax"), RBX | RBP, "nobody knows what is there");
        assert_eq!(needs!("call rax" "pop rbx" "pop rbp" "ret"), 0, "a call preserves it, and reads nothing of it");
        assert_eq!(needs!("call rbx" "pop rbx" "pop rbp" "ret"), RBX);
        assert_eq!(needs!("ud2"), 0, "nothing is behind a trap");
        assert_eq!(needs!(".byte 0x06"), RBX | RBP, "no instruction");
    }

    #[test]
    fn a_path_that_is_too_long_needs_all() {
        assert_eq!(needs!(".rept 5000" "nop" ".endr" "pop rbx" "pop rbp" "ret"), RBX | RBP);
    }

    #[test]
    fn a_call_may_go_on_at_its_landing_pad() {
        #[unsafe(naked)]
        extern "C" fn code() {
            // A call of five bytes, what is behind it, and a landing pad three bytes further.
            std::arch::naked_asm!(
                "call 2f",
                "pop rbx",
                "pop rbp",
                "ret",
                "2:",
                "mov rax, rbx",
                "pop rbx",
                "pop rbp",
                "ret"
            )
        }
        let start = code as extern "C" fn() as usize as u64;
        let with = |pads| {
            let mut paths = Paths::new(pads);
            paths.all_from(start);
            paths.needed & (RBX | RBP)
        };
        assert_eq!(with(Vec::new()), 0);
        assert_eq!(with(vec![(start..start + 5, start + 8)]), RBX);
        assert_eq!(with(vec![(start + 5..start + 8, start + 8)]), 0, "no call is there");
    }

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
