//! The effects of x86-64 instructions on the registers that a call preserves.

use iced_x86::{
    Code, Decoder as Iced, DecoderError, DecoderOptions, FlowControl, InstructionInfoFactory, InstructionInfoOptions,
    OpAccess, Register,
};

use super::{Decode, Flow, Instruction, Registers, code};

/// The registers that a call preserves, in their order in a frame.
const ORDER: [Register; 6] = [Register::R15, Register::R14, Register::R13, Register::R12, Register::RBX, Register::RBP];

/// The number of bytes of the longest instruction.
const LONGEST: usize = 15;

pub(super) struct Decoder(InstructionInfoFactory);

impl Decode for Decoder {
    const ALL: Registers = (1 << ORDER.len()) - 1;

    fn new() -> Self {
        Self(InstructionInfoFactory::new())
    }

    fn decode(&mut self, at: u64) -> Option<Instruction> {
        let instruction = decode(at)?;
        let info = self.0.info_options(&instruction, InstructionInfoOptions::NO_MEMORY_USAGE);
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
        let flow = match instruction.flow_control() {
            FlowControl::Next => Flow::Behind,
            FlowControl::UnconditionalBranch => Flow::Jump(instruction.near_branch_target()),
            FlowControl::ConditionalBranch => Flow::Branch(instruction.near_branch_target()),
            FlowControl::Call | FlowControl::IndirectCall => Flow::Call(None),
            FlowControl::Exception => Flow::Nowhere,
            FlowControl::Interrupt if instruction.code() == Code::Int3 => Flow::Nowhere,
            FlowControl::Return
            | FlowControl::IndirectBranch
            | FlowControl::Interrupt
            | FlowControl::XbeginXabortXend => Flow::Away,
        };
        Some(Instruction { read, overwritten, flow, makes_frame: false, behind: instruction.next_ip() })
    }
}

fn decode(at: u64) -> Option<iced_x86::Instruction> {
    const PAGE: u64 = 4096;
    let on_page = (PAGE - at % PAGE).min(LONGEST as u64) as usize;
    // The next page is mapped if the instruction goes on there.
    [on_page, LONGEST].into_iter().find_map(|length| {
        let mut decoder = Iced::with_ip(64, code(at, length), at, DecoderOptions::NONE);
        let instruction = decoder.decode();
        match decoder.last_error() {
            DecoderError::None => Some(Some(instruction)),
            DecoderError::NoMoreBytes => None,
            _ => Some(None),
        }
    })?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::liveness::Paths;

    const RBX: Registers = 1 << 4;
    const RBP: Registers = 1 << 5;

    /// Those of `rbx` and `rbp` that the code needs, which begins like a function.
    macro_rules! needs {
        ($($line:literal)*) => {{
            #[unsafe(naked)]
            extern "C" fn code() {
                std::arch::naked_asm!($($line),*)
            }
            let mut paths = Paths::<Decoder>::new(Vec::new());
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
            let mut paths = Paths::<Decoder>::new(pads);
            paths.all_from(start);
            paths.needed & (RBX | RBP)
        };
        assert_eq!(with(Vec::new()), 0);
        assert_eq!(with(vec![(start..start + 5, start + 8)]), RBX);
        assert_eq!(with(vec![(start + 5..start + 8, start + 8)]), 0, "no call is there");
    }
}
