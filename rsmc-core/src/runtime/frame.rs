//! The registers and the stack of a thread when it calls us.
//!
//! Problem. Whether a thread is where it was depends on its local variables. They are in its stack, from the caller's
//! stack pointer to the base, and in the registers that a call preserves. None of our temporaries may be among them:
//! these differ from call to call.
//!
//! Method. User code calls a few instructions that save these registers and go on to the real function with the place
//! where they are. So the caller's frame ends right above them. Arguments and results are in registers.
//!
//! Limits. x86-64 and AArch64, on Unix. Elsewhere there is no [`Frame`], and loops that wait are bounded only
//! (`trace::spin`).

use crate::machine::{Glimpse, Preserved};

/// The registers that a call preserves, and where the call returns to. The caller's stack pointer is behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    registers: Preserved,
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
    /// The end of the caller's frame, which follows from the place of this.
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
    pub(super) fn registers(&self) -> Preserved {
        self.registers
    }

    /// The part of the thread's state that is seen at a glance.
    #[inline]
    pub(super) fn glimpse(&self) -> Glimpse {
        let calls = self.returns_to ^ (self.stack_pointer() as u64).rotate_left(32);
        Glimpse { calls, registers: self.registers }
    }
}

/// Whether frames are seen on this platform.
pub(super) const ARE_SEEN: bool = cfg!(all(any(target_arch = "x86_64", target_arch = "aarch64"), unix));

/// The body of a function that makes a [`Frame`] and calls another one with its place as the seventh argument. That is
/// on the stack. Unwinding finds the registers as they are: the function called preserves them.
#[cfg(all(target_arch = "x86_64", unix))]
macro_rules! call_with_frame {
    ($target:path) => {
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
    };
}

/// The body of such a function where the seventh argument is in a register, and so is the return address (x30). Of the
/// vector registers a call preserves the lower halves.
#[cfg(all(target_arch = "aarch64", unix))]
macro_rules! call_with_frame {
    ($target:path) => {
        std::arch::naked_asm!(
            ".cfi_startproc",
            "sub sp, sp, #160",
            ".cfi_adjust_cfa_offset 160",
            "stp d8, d9, [sp]",
            "stp d10, d11, [sp, #16]",
            "stp d12, d13, [sp, #32]",
            "stp d14, d15, [sp, #48]",
            "stp x19, x20, [sp, #64]",
            "stp x21, x22, [sp, #80]",
            "stp x23, x24, [sp, #96]",
            "stp x25, x26, [sp, #112]",
            "stp x27, x28, [sp, #128]",
            "stp x29, x30, [sp, #144]",
            ".cfi_offset 30, -8",
            "mov x6, sp",
            "bl {target}",
            "ldr x30, [sp, #152]",
            ".cfi_restore 30",
            "add sp, sp, #160",
            ".cfi_adjust_cfa_offset -160",
            "ret",
            ".cfi_endproc",
            target = sym $target,
        )
    };
}

/// Defines a function that makes a [`Frame`] and calls another one with its place as a last argument, behind six that
/// are in registers.
macro_rules! framed {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty = $target:path;) => {
        $(#[$doc])*
        #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), unix))]
        #[unsafe(naked)]
        $vis extern "C-unwind" fn $name($($arg: $type),*) -> $result {
            $crate::runtime::frame::call_with_frame!($target)
        }

        $(#[$doc])*
        #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), unix)))]
        $vis fn $name($($arg: $type),*) -> $result {
            $target($($arg),*, None)
        }
    };
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), unix))]
pub(super) use call_with_frame;
pub(super) use framed;

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64"), unix))]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// Whether the registers hold 1, 2, 3 and so on, the word at the caller's stack pointer is 99, and arguments
    /// arrive.
    extern "C-unwind" fn are_numbers_at(
        start: u64,
        b: u64,
        c: u64,
        d: u64,
        e: u64,
        f: u64,
        frame: Option<&Frame>,
    ) -> Pair {
        let frame = frame.expect("it is framed");
        let registers = frame.registers();
        // SAFETY: the stack of a function in progress.
        let top = unsafe { std::ptr::with_exposed_provenance::<u64>(frame.stack_pointer()).read() };
        let are_numbers = registers.iter().zip(1..).all(|(&register, number)| register == number);
        let is_called_there = (1..400).contains(&(frame.place() - start));
        let result = are_numbers && top == 99 && [b, c, d, e, f] == [12, 13, 14, 15, 16];
        Pair { low: u64::from(result), high: u64::from(is_called_there) }
    }

    framed! {
        fn are_numbers(start: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> Pair = are_numbers_at;
    }

    /// Fills the registers, and asks.
    #[cfg(target_arch = "x86_64")]
    #[unsafe(naked)]
    extern "C" fn ask(start: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> Pair {
        std::arch::naked_asm!(
            "push rbp",
            "push rbx",
            "push r12",
            "push r13",
            "push r14",
            "push r15",
            "mov r15d, 1",
            "mov r14d, 2",
            "mov r13d, 3",
            "mov r12d, 4",
            "mov ebx, 5",
            "mov ebp, 6",
            "push 99",
            "call {are_numbers}",
            "pop rcx",
            // The call has preserved them.
            "cmp r15d, 1",
            "jne 2f",
            "cmp ebp, 6",
            "je 3f",
            "2:",
            "xor eax, eax",
            "3:",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "ret",
            are_numbers = sym are_numbers,
        )
    }

    /// Fills the registers, and asks.
    #[cfg(target_arch = "aarch64")]
    #[unsafe(naked)]
    extern "C" fn ask(start: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> Pair {
        std::arch::naked_asm!(
            "sub sp, sp, #176",
            "stp d8, d9, [sp, #16]",
            "stp d10, d11, [sp, #32]",
            "stp d12, d13, [sp, #48]",
            "stp d14, d15, [sp, #64]",
            "stp x19, x20, [sp, #80]",
            "stp x21, x22, [sp, #96]",
            "stp x23, x24, [sp, #112]",
            "stp x25, x26, [sp, #128]",
            "stp x27, x28, [sp, #144]",
            "stp x29, x30, [sp, #160]",
            "mov x19, #1",
            "fmov d8, x19",
            "mov x19, #2",
            "fmov d9, x19",
            "mov x19, #3",
            "fmov d10, x19",
            "mov x19, #4",
            "fmov d11, x19",
            "mov x19, #5",
            "fmov d12, x19",
            "mov x19, #6",
            "fmov d13, x19",
            "mov x19, #7",
            "fmov d14, x19",
            "mov x19, #8",
            "fmov d15, x19",
            "mov x19, #9",
            "mov x20, #10",
            "mov x21, #11",
            "mov x22, #12",
            "mov x23, #13",
            "mov x24, #14",
            "mov x25, #15",
            "mov x26, #16",
            "mov x27, #17",
            "mov x28, #18",
            "mov x29, #19",
            "mov x9, #99",
            "str x9, [sp]",
            "bl {are_numbers}",
            // The call has preserved them.
            "cmp x19, #9",
            "csel x0, x0, xzr, eq",
            "cmp x29, #19",
            "csel x0, x0, xzr, eq",
            "ldp d8, d9, [sp, #16]",
            "ldp d10, d11, [sp, #32]",
            "ldp d12, d13, [sp, #48]",
            "ldp d14, d15, [sp, #64]",
            "ldp x19, x20, [sp, #80]",
            "ldp x21, x22, [sp, #96]",
            "ldp x23, x24, [sp, #112]",
            "ldp x25, x26, [sp, #128]",
            "ldp x27, x28, [sp, #144]",
            "ldp x29, x30, [sp, #160]",
            "add sp, sp, #176",
            "ret",
            are_numbers = sym are_numbers,
        )
    }

    #[test]
    fn a_frame_is_what_the_caller_has() {
        let start = ask as extern "C" fn(u64, u64, u64, u64, u64, u64) -> Pair as usize as u64;
        let Pair { low, high } = ask(start, 12, 13, 14, 15, 16);
        assert_eq!((low, high), (1, 1));
    }

    extern "C-unwind" fn panic_at(_: u64, _: u64, _: u64, _: u64, _: u64, _: u64, _: Option<&Frame>) {
        std::panic::resume_unwind(Box::new("through the frame"));
    }

    framed! {
        fn panics(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> () = panic_at;
    }

    #[test]
    fn a_panic_goes_through() {
        struct Guard<'a>(&'a Cell<u32>);
        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        let dropped = Cell::new(0);
        for number in 1..=100 {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let _guard = Guard(&dropped);
                panics(0, 0, 0, 0, 0, 0);
            }));
            assert!(caught.is_err_and(|panic| panic.is::<&str>()));
            assert_eq!(dropped.get(), number);
        }
    }
}
