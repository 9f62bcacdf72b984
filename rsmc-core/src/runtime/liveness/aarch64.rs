//! The effects of AArch64 instructions on the registers that a call preserves: x19 to x29, and the lower halves of v8
//! to v15.
//!
//! Method. All instructions have four bytes, and the registers in the same places of them. They are distinguished by
//! classes of the encoding. Where the instructions of a class do different things with their registers, and in vector
//! and floating-point arithmetic, all of them count as read and none as overwritten. An instruction in no class here is
//! not understood.
//!
//! Pieces of functions. Where size counts most (`opt-level = "z"`), LLVM moves equal pieces of functions out into
//! functions of their own, which read and write what their callers have in these registers. A piece saves nothing for
//! them, but for the address to return to (x30). So a call goes on in what it calls, until that makes a frame.
//!
//! Source. Arm Architecture Reference Manual for A-profile, C4.1 "A64 instruction set encoding"; LLVM's
//! `AArch64InstrInfo` (`buildOutlinedFrame`).

use super::{Decode, Flow, Instruction, Registers, code};

/// The stack pointer, as a base of addresses and where it is added to.
const SP: u32 = 31;
/// The register with the address to which a call returns.
const LINK: u32 = 30;

pub(super) struct Decoder;

impl Decode for Decoder {
    /// Eight of vectors, and eleven others.
    const ALL: Registers = (1 << 19) - 1;

    fn new() -> Self {
        Self
    }

    fn decode(&mut self, at: u64) -> Option<Instruction> {
        let word = u32::from_le_bytes(code(at, 4).try_into().expect("so many were asked for"));
        understand(Word(word), at)
    }
}

/// An instruction.
#[derive(Clone, Copy)]
struct Word(u32);

impl Word {
    /// Its bits from `high` to `low`, both included.
    fn bits(self, high: u32, low: u32) -> u32 {
        self.0 << (31 - high) >> (31 - high + low)
    }

    fn bit(self, at: u32) -> bool {
        self.bits(at, at) == 1
    }

    /// The number of the register that it writes, loads or stores.
    fn d(self) -> u32 {
        self.bits(4, 0)
    }

    /// The number of its first operand, or of the base of an address.
    fn n(self) -> u32 {
        self.bits(9, 5)
    }

    /// The number of its second operand.
    fn m(self) -> u32 {
        self.bits(20, 16)
    }

    /// The number of its third operand, or of the second register of a pair.
    fn a(self) -> u32 {
        self.bits(14, 10)
    }

    /// A distance from the instruction, in these bits.
    fn target(self, at: u64, high: u32, low: u32) -> u64 {
        let unused = 63 - (high - low);
        let distance = (u64::from(self.bits(high, low)) << unused) as i64 >> unused;
        at.wrapping_add_signed(distance * 4)
    }
}

/// The register x of this number, if a call preserves it.
fn general(number: u32) -> Registers {
    if (19..=29).contains(&number) { 1 << (number - 11) } else { 0 }
}

/// The lower half of the register v of this number, if a call preserves it.
fn vector(number: u32) -> Registers {
    if (8..=15).contains(&number) { 1 << (number - 8) } else { 0 }
}

/// One register of either kind.
fn either(number: u32, is_vector: bool) -> Registers {
    if is_vector { vector(number) } else { general(number) }
}

fn understand(word: Word, at: u64) -> Option<Instruction> {
    let effect = match word.bits(28, 25) {
        0b0000 if word.bits(31, 16) == 0 => Effect { flow: Flow::Nowhere, ..Effect::default() },
        0b1000 | 0b1001 => by_immediate(word),
        0b1010 | 0b1011 => branch_or_system(word, at)?,
        0b0100 | 0b0110 | 0b1100 | 0b1110 => load_or_store(word)?,
        0b0101 | 0b1101 => by_registers(word)?,
        0b0111 | 0b1111 => of_vectors(word),
        _ => return None,
    };
    let Effect { read, overwritten, flow, makes_frame } = effect;
    Some(Instruction { read, overwritten, flow, makes_frame, behind: at + 4 })
}

/// The effects of an instruction.
#[derive(Default)]
struct Effect {
    read: Registers,
    overwritten: Registers,
    flow: Flow,
    makes_frame: bool,
}

/// The effect of an instruction that reads some registers and overwrites others.
fn moves(read: Registers, overwritten: Registers) -> Effect {
    Effect { read, overwritten, ..Effect::default() }
}

fn by_immediate(word: Word) -> Effect {
    let (d, n, m) = (general(word.d()), general(word.n()), general(word.m()));
    let is_partial = match word.bits(25, 23) {
        0b101 => word.bits(30, 29) == 0b11, // movk
        0b110 => word.bits(30, 29) == 0b01, // bfm
        _ => false,
    };
    let kept = if is_partial { d } else { 0 };
    let effect = match word.bits(25, 23) {
        0b000 | 0b001 | 0b101 => moves(kept, d), // adr, adrp; moves of numbers
        0b111 => moves(n | m, d),                // extr
        _ => moves(n | kept, d),
    };
    let makes_frame = word.bits(30, 23) == 0b10100010 && word.d() == SP && word.n() == SP;
    Effect { makes_frame, ..effect }
}

fn branch_or_system(word: Word, at: u64) -> Option<Effect> {
    let goes = |read, flow| Some(Effect { read, flow, ..Effect::default() });
    let (d, n) = (general(word.d()), general(word.n()));
    if word.bits(30, 26) == 0b00101 {
        let target = word.target(at, 25, 0);
        return goes(0, if word.bit(31) { Flow::Call(Some(target)) } else { Flow::Jump(target) });
    }
    match word.bits(31, 24) {
        0b0101_0100 => return goes(0, Flow::Branch(word.target(at, 23, 5))), // b.cond
        0b1101_0100 if word.bits(23, 21) == 0b001 => return goes(0, Flow::Nowhere), // brk
        _ => {}
    }
    match word.bits(30, 25) {
        0b01_1010 => return goes(d, Flow::Branch(word.target(at, 23, 5))), // cbz, cbnz
        0b01_1011 => return goes(d, Flow::Branch(word.target(at, 18, 5))), // tbz, tbnz
        _ => {}
    }
    if word.bits(31, 22) == 0b11_0101_0100 {
        return Some(if word.bit(21) { moves(0, d) } else { moves(d, 0) }); // mrs and msr, hints, barriers
    }
    match (word.bits(31, 25), word.bits(24, 21)) {
        (0b110_1011, 0b0001 | 0b1001) => goes(d | n, Flow::Call(None)), // blr
        (0b110_1011, _) => goes(d | n, Flow::Away),                     // br, ret
        _ => None,
    }
}

fn load_or_store(word: Word) -> Option<Effect> {
    let (is_vector, n, m) = (word.bit(26), general(word.n()), general(word.m()));
    let size = word.bits(31, 30);
    match (word.bits(29, 28), word.bit(24)) {
        // Exclusive, acquiring and releasing ones, and compare-and-swap. Only the plain acquiring load is distinguished
        // from the rest.
        (0b00, false) if !is_vector => {
            let t = general(word.d());
            if word.bits(23, 21) == 0b110 {
                return Some(moves(n, t)); // ldar
            }
            Some(moves(t | general(word.d() + 1) | general(word.a()) | n | m | general(word.m() + 1), 0))
        }
        // Up to four vectors, one after another.
        (0b00, _) if is_vector && !word.bit(31) => {
            let vectors = (0..4).fold(0, |all, number| all | vector((word.d() + number) % 32));
            Some(moves(vectors | n | m, 0))
        }
        // From beside the code.
        (0b01, false) => match (is_vector, size) {
            (true, 0b11) => None,
            (false, 0b11) => Some(moves(0, 0)), // prfm
            _ => Some(moves(0, either(word.d(), is_vector))),
        },
        // Pairs.
        (0b10, _) if size != 0b11 => {
            let values = either(word.d(), is_vector) | either(word.a(), is_vector);
            if word.bit(22) {
                return Some(moves(n, values));
            }
            let makes_frame = word.bits(24, 23) == 0b11 && word.n() == SP && word.bit(21);
            Some(Effect { makes_frame, ..moves(n | values, 0) })
        }
        (0b11, _) => single(word),
        _ => None,
    }
}

/// A load or store of one register.
fn single(word: Word) -> Option<Effect> {
    let (is_vector, n, m) = (word.bit(26), general(word.n()), general(word.m()));
    let (size, opc) = (word.bits(31, 30), word.bits(23, 22));
    let (mut address, mut makes_frame) = (n, false);
    match (word.bit(24), word.bit(21), word.bits(11, 10)) {
        (true, ..) => {}
        (false, false, form) => {
            let is_link = !is_vector && word.d() == LINK;
            makes_frame = form == 0b11 && word.n() == SP && word.bit(20) && !is_link;
        }
        (false, true, 0b10) => address |= m,
        // An atomic update.
        (false, true, 0b00) if !is_vector && (!word.bit(15) || word.bits(14, 12) == 0) => {
            return Some(moves(n | m | general(word.d()), 0));
        }
        _ => return None,
    }
    let value = either(word.d(), is_vector);
    match (is_vector, opc) {
        (true, 0b10 | 0b11) if size != 0 => None,
        (false, 0b10) if size == 0b11 => Some(moves(address, 0)), // prfm
        (false, 0b11) if size >= 0b10 => None,
        (_, 0b00) | (true, 0b10) => Some(Effect { makes_frame, ..moves(address | value, 0) }),
        _ => Some(moves(address, value)),
    }
}

fn by_registers(word: Word) -> Option<Effect> {
    let (d, n, m) = (general(word.d()), general(word.n()), general(word.m()));
    match (word.bits(28, 24), word.bits(23, 21)) {
        (0b01010 | 0b01011, _) => Some(moves(n | m, d)), // logical; add, sub
        (0b11010, 0b000) if word.bits(15, 10) == 0 => Some(moves(n | m, d)), // adc, sbc
        (0b11010, 0b010) if word.bit(11) => Some(moves(n, 0)), // ccmp with a number
        (0b11010, 0b010) => Some(moves(n | m, 0)),       // ccmp
        (0b11010, 0b100) => Some(moves(n | m, d)),       // csel
        (0b11010, 0b110) if !word.bit(30) => Some(moves(n | m, d)), // div, shifts
        (0b11010, 0b110) if word.bits(20, 16) == 0 => Some(moves(n, d)), // clz, rev
        (0b11011, _) => Some(moves(n | m | general(word.a()), d)), // madd
        _ => None,
    }
}

fn of_vectors(word: Word) -> Effect {
    let table = (1..4).fold(0, |all, number| all | vector((word.n() + number) % 32));
    let has_third = word.bits(28, 24) == 0b11111 || (word.bit(31) && word.bits(28, 24) == 0b01110);
    let third = if has_third { word.a() } else { SP };
    // Where an element of a vector is an operand, the uppermost bit of its field may belong to the number of the
    // element.
    let fields = [word.d(), word.n(), word.m(), word.m() % 16, third];
    moves(fields.into_iter().fold(table, |all, number| all | general(number) | vector(number)), 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::liveness::Paths;

    /// The set of the registers with these names.
    fn set(names: &str) -> Registers {
        let one = |name: &str| either(name[1..].parse().unwrap(), name.starts_with('v'));
        names.split_whitespace().map(one).fold(0, |all, register| all | register)
    }

    fn understood(word: u32) -> Option<Instruction> {
        understand(Word(word), 0x1000)
    }

    #[test]
    fn what_is_read_and_what_is_overwritten() {
        #[rustfmt::skip]
        let rows = [
            (0xaa1403f3, "mov x19, x20", "x20", "x19"),
            (0x528000f3, "mov w19, #7", "", "x19"),
            (0xf2a000f3, "movk x19, #7, lsl #16", "x19", "x19"),
            (0x8b150293, "add x19, x20, x21", "x20 x21", "x19"),
            (0x910043f3, "add x19, sp, #16", "", "x19"),
            (0x90000013, "adrp x19, .", "", "x19"),
            (0xd3431a93, "ubfx x19, x20, #3, #4", "x20", "x19"),
            (0xb37d0e93, "bfi x19, x20, #3, #4", "x19 x20", "x19"),
            (0x93d50e93, "extr x19, x20, x21, #3", "x20 x21", "x19"),
            (0x9a950293, "csel x19, x20, x21, eq", "x20 x21", "x19"),
            (0xfa430a60, "ccmp x19, #3, #0, eq", "x19", ""),
            (0xfa540260, "ccmp x19, x20, #0, eq", "x19 x20", ""),
            (0x9ad50a93, "udiv x19, x20, x21", "x20 x21", "x19"),
            (0xdac01293, "clz x19, x20", "x20", "x19"),
            (0x9b155a93, "madd x19, x20, x21, x22", "x20 x21 x22", "x19"),
            (0x9a150293, "adc x19, x20, x21", "x20 x21", "x19"),
            (0xf9400293, "ldr x19, [x20]", "x20", "x19"),
            (0xf8756a93, "ldr x19, [x20, x21]", "x20 x21", "x19"),
            (0xf8408693, "ldr x19, [x20], #8", "x20", "x19"),
            (0xb9800a93, "ldrsw x19, [x20, #8]", "x20", "x19"),
            (0xb85f8293, "ldur w19, [x20, #-8]", "x20", "x19"),
            (0xf8356a93, "str x19, [x20, x21]", "x19 x20 x21", ""),
            (0x39000693, "strb w19, [x20, #1]", "x19 x20", ""),
            (0xa94052b3, "ldp x19, x20, [x21]", "x21", "x19 x20"),
            (0xa8c17bfd, "ldp x29, x30, [sp], #16", "", "x29"),
            (0xa9014ff4, "stp x20, x19, [sp, #16]", "x19 x20", ""),
            (0xfd400288, "ldr d8, [x20]", "x20", "v8"),
            (0x3cf56a89, "ldr q9, [x20, x21]", "x20 x21", "v9"),
            (0x6d0123e9, "stp d9, d8, [sp, #16]", "v8 v9", ""),
            (0x6d4123e9, "ldp d9, d8, [sp, #16]", "", "v8 v9"),
            (0xbd000288, "str s8, [x20]", "v8 x20", ""),
            (0x58000013, "ldr x19, .", "", "x19"),
            (0x5c000008, "ldr d8, .", "", "v8"),
            (0xf9800280, "prfm pldl1keep, [x20]", "x20", ""),
            (0xc8dffe93, "ldar x19, [x20]", "x20", "x19"),
            (0xc89ffe93, "stlr x19, [x20]", "x19 x20", ""),
            (0xc85ffe93, "ldaxr x19, [x20]", "x19 x20", ""),
            (0xc813feb4, "stlxr w19, x20, [x21]", "x19 x20 x21", ""),
            (0xf8f302b4, "ldaddal x19, x20, [x21]", "x19 x20 x21", ""),
            (0xf8f382b4, "swpal x19, x20, [x21]", "x19 x20 x21", ""),
            (0xc8f3feb4, "casal x19, x20, [x21]", "x19 x20 x21", ""),
            (0x48347f16, "casp x20, x21, x22, x23, [x24]", "x20 x21 x22 x23 x24", ""),
            (0xd53bd053, "mrs x19, tpidr_el0", "", "x19"),
            (0xd51bd053, "msr tpidr_el0, x19", "x19", ""),
            (0xd503201f, "nop", "", ""),
            (0xd503245f, "bti c", "", ""),
            (0xd5033bbf, "dmb ish", "", ""),
            (0xd503233f, "paciasp", "", ""),
            (0xdac00e93, "rev x19, x20", "x20", "x19"),
            (0x9ad52293, "lsl x19, x20, x21", "x20 x21", "x19"),
            (0x694052b3, "ldpsw x19, x20, [x21]", "x21", "x19 x20"),
            (0xa80052b3, "stnp x19, x20, [x21]", "x19 x20 x21", ""),
        ];
        for (word, text, read, overwritten) in rows {
            let instruction = understood(word).expect(text);
            assert_eq!((instruction.read, instruction.overwritten), (set(read), set(overwritten)), "{text}");
            assert_eq!((instruction.flow, instruction.makes_frame), (Flow::Behind, false), "{text}");
        }
    }

    #[test]
    fn vectors_are_read_and_not_overwritten() {
        let rows = [
            (0x4c407288, "ld1 {v8.16b}, [x20]", "v8 x20"),
            (0x4c95ae88, "st1 {v8.2d, v9.2d}, [x20], x21", "v8 v9 x20 x21"),
            (0x9e670268, "fmov d8, x19", "v8 x19"),
            (0x9e660113, "fmov x19, d8", "v8 x19"),
            (0x1e6a2928, "fadd d8, d9, d10", "v8 v9 v10"),
            (0x1f4a2d28, "fmadd d8, d9, d10, d11", "v8 v9 v10 v11"),
            (0x6f9ac07c, "fmlsl2 v28.4s, v3.4h, v10.h[1]", "v10"),
            (0x4e012100, "tbl v0.16b, {v8.16b, v9.16b}, v1.16b", "v8 v9"),
            (0x0e033d13, "umov w19, v8.b[1]", "v8 x19"),
        ];
        for (word, text, read) in rows {
            let instruction = understood(word).expect(text);
            assert_eq!(instruction.read & set(read), set(read), "{text}");
            assert_eq!((instruction.overwritten, instruction.flow), (0, Flow::Behind), "{text}");
        }
    }

    #[test]
    fn where_paths_go_on() {
        let rows = [
            (0xb4000053, "cbz x19, .+8", "x19", Flow::Branch(0x1008)),
            (0x371fffd3, "tbnz x19, #3, .-8", "x19", Flow::Branch(0xff8)),
            (0x54000040, "b.eq .+8", "", Flow::Branch(0x1008)),
            (0x17ffffff, "b .-4", "", Flow::Jump(0xffc)),
            (0x94000003, "bl .+12", "", Flow::Call(Some(0x100c))),
            (0xd63f0260, "blr x19", "x19", Flow::Call(None)),
            (0xd61f0200, "br x16", "", Flow::Away),
            (0xd65f03c0, "ret", "", Flow::Away),
            (0xd4200020, "brk #1", "", Flow::Nowhere),
            (0x00000000, "udf #0", "", Flow::Nowhere),
        ];
        for (word, text, read, flow) in rows {
            let instruction = understood(word).expect(text);
            assert_eq!((instruction.read, instruction.overwritten, instruction.flow), (set(read), 0, flow), "{text}");
        }
        for (word, text) in [(0xd4000001, "svc #0"), (0xdac10293, "pacia x19, x20")] {
            assert_eq!(understood(word), None, "{text}");
        }
    }

    const SUB_SP_32: u32 = 0xd10083ff;
    const STR_LINK: u32 = 0xf81f0ffe;
    const BL_12: u32 = 0x94000003;
    const RET: u32 = 0xd65f03c0;
    const MOV_19_20: u32 = 0xaa1403f3;
    const MOV_19_7: u32 = 0x528000f3;
    const NOP: u32 = 0xd503201f;
    const BRK: u32 = 0xd4200020;

    #[test]
    fn what_makes_a_frame() {
        let makes_frame = |word| understood(word).expect("known").makes_frame;
        assert!(makes_frame(SUB_SP_32));
        assert!(makes_frame(0xa9be7bfd), "stp x29, x30, [sp, #-32]!");
        assert!(makes_frame(0xf81f0ff3), "str x19, [sp, #-16]!");
        assert!(!makes_frame(STR_LINK), "a piece of a function saves where it returns to");
        assert!(!makes_frame(0x910083ff), "add sp, sp, #32");
    }

    /// The registers that this code needs, from its beginning.
    fn needs(code: &[u32]) -> Registers {
        let mut paths = Paths::<Decoder>::new(Vec::new());
        paths.all_from(code.as_ptr().expose_provenance() as u64);
        paths.needed
    }

    #[test]
    fn all_paths_count() {
        assert_eq!(needs(&[MOV_19_20, BRK]), set("x20"));
        assert_eq!(needs(&[MOV_19_7, BRK]), 0);
        assert_eq!(needs(&[MOV_19_7, RET]), Decoder::ALL & !set("x19"), "a return needs what was not overwritten");
        assert_eq!(needs(&[0]), 0, "nothing is behind a trap");
        assert_eq!(needs(&[0xd4000001]), Decoder::ALL, "svc #0 is not looked into");
        let cbz = 0xb4000053;
        assert_eq!(needs(&[cbz, BRK, MOV_19_20, BRK]), set("x19 x20"));
    }

    #[test]
    fn a_call_goes_on_in_a_piece_of_the_function_and_in_nothing_else() {
        assert_eq!(needs(&[BL_12, BRK, NOP, MOV_19_20, RET]), set("x20"), "a piece");
        assert_eq!(needs(&[BL_12, BRK, NOP, STR_LINK, MOV_19_20, RET]), set("x20"), "a piece that calls");
        assert_eq!(needs(&[BL_12, BRK, NOP, SUB_SP_32, MOV_19_20, RET]), 0, "a function");
        assert_eq!(needs(&[BL_12, BRK, NOP, NOP, RET]), 0, "it does nothing");
        assert_eq!(needs(&[BL_12, MOV_19_20, BRK, MOV_19_7, RET]), set("x20"));
    }
}
