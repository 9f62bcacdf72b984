//! What the registers and the stack of a thread hold when it calls us.
//!
//! Problem. Whether a thread is where it was depends on its local variables. They are in its stack, from the caller's stack
//! pointer to the base, and in the registers that a call preserves. Nothing of ours may be among them: our temporaries differ
//! from call to call.
//!
//! Method. What user code calls is a few instructions that push these registers and go on to the real function with the place
//! where they are. So the caller's frame ends right above them. Arguments and results are in registers.
//!
//! Limits. x86-64 on Unix. Elsewhere there is no [`Frame`], and loops that wait are bounded only (`trace::spin`).

use crate::machine::Glimpse;

/// The registers that a call preserves, and where the call returns to. The caller's stack pointer is behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    registers: [u64; 6],
    returns_to: u64,
}

/// A result in two registers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The first.
    pub low: u64,
    /// The second.
    pub high: u64,
}

impl Frame {
    /// Where the caller's frame ends, given where this is.
    #[inline]
    pub(super) fn stack_pointer(&self) -> usize {
        std::ptr::from_ref(self).addr() + size_of::<Self>()
    }

    /// The place of the call.
    #[inline]
    pub(super) fn place(&self) -> u64 {
        self.returns_to
    }

    /// The registers.
    #[inline]
    pub(super) fn registers(&self) -> [u64; 6] {
        self.registers
    }

    /// What is seen at a glance.
    #[inline]
    pub(super) fn glimpse(&self) -> Glimpse {
        let calls = self.returns_to ^ (self.stack_pointer() as u64).rotate_left(32);
        Glimpse { calls, registers: self.registers }
    }
}

/// Whether frames are seen on this platform.
pub(super) const ARE_SEEN: bool = cfg!(all(target_arch = "x86_64", unix));

/// Defines a function that pushes a [`Frame`] and calls another one with its place as a last argument, behind six that are in
/// registers.
macro_rules! framed {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty = $target:path;) => {
        $(#[$doc])*
        #[cfg(all(target_arch = "x86_64", unix))]
        #[unsafe(naked)]
        $vis extern "C-unwind" fn $name($($arg: $type),*) -> $result {
            std::arch::naked_asm!(
                ".cfi_startproc",
                "push rbp",
                ".cfi_adjust_cfa_offset 8",
                "push rbx",
                ".cfi_adjust_cfa_offset 8",
                "push r12",
                ".cfi_adjust_cfa_offset 8",
                "push r13",
                ".cfi_adjust_cfa_offset 8",
                "push r14",
                ".cfi_adjust_cfa_offset 8",
                "push r15",
                ".cfi_adjust_cfa_offset 8",
                "mov rax, rsp",
                "push rax",
                ".cfi_adjust_cfa_offset 8",
                "call {target}",
                "add rsp, 56",
                ".cfi_adjust_cfa_offset -56",
                "ret",
                ".cfi_endproc",
                target = sym $target,
            )
        }

        $(#[$doc])*
        #[cfg(not(all(target_arch = "x86_64", unix)))]
        $vis fn $name($($arg: $type),*) -> $result {
            $target($($arg),*, None)
        }
    };
}

pub(super) use framed;
