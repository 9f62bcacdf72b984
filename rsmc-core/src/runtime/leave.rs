//! Leaving a function without unwinding it.
//!
//! Problem. When an execution is over, some threads are in the middle of their code. Unwinding them would run the
//! user's destructors in states that no execution has: those of a guard that must not be dropped before its thread was
//! woken, say.
//!
//! Method. [`call`] writes down where the stack was when it was called, and [`leave`] goes back there: the frames in
//! between are gone without unwinding. What they own is not dropped.
//!
//! Cost. A few instructions.
//!
//! Limits. x86-64 and AArch64, on Linux, where what was left is taken back (`reclaim`). Elsewhere threads are unwound
//! (`teardown`).

/// Whether a function can be left on this platform.
pub(super) const IS_POSSIBLE: bool =
    cfg!(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"));

/// Calls `function`, which must not unwind, with `data`. Returns 0 when it returns, and 1 when it was left. Until then
/// [`leave`] can leave it by `mark`.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn call(mark: *mut usize, function: unsafe extern "C" fn(*mut ()), data: *mut ()) -> u64 {
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
        "mov [rdi], rsp",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "mov rdi, rdx",
        "call rsi",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "xor eax, eax",
        "pop r15",
        ".cfi_adjust_cfa_offset -8",
        "pop r14",
        ".cfi_adjust_cfa_offset -8",
        "pop r13",
        ".cfi_adjust_cfa_offset -8",
        "pop r12",
        ".cfi_adjust_cfa_offset -8",
        "pop rbx",
        ".cfi_adjust_cfa_offset -8",
        "pop rbp",
        ".cfi_adjust_cfa_offset -8",
        "ret",
        ".cfi_endproc",
    )
}

/// Leaves the function that [`call`] called with this mark, on whose stack this runs.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn leave(mark: usize) -> ! {
    std::arch::naked_asm!(
        "mov rsp, rdi",
        "mov eax, 1",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// Takes back what [`call`] has put on the stack on AArch64, but for the register pair with the return address.
#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
macro_rules! taken_back {
    () => {
        "ldp x19, x20, [sp, #16]
        ldp x21, x22, [sp, #32]
        ldp x23, x24, [sp, #48]
        ldp x25, x26, [sp, #64]
        ldp x27, x28, [sp, #80]
        ldp d8, d9, [sp, #96]
        ldp d10, d11, [sp, #112]
        ldp d12, d13, [sp, #128]
        ldp d14, d15, [sp, #144]"
    };
}

/// As on x86-64. A call preserves the lower halves of eight vector registers, too.
#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn call(mark: *mut usize, function: unsafe extern "C" fn(*mut ()), data: *mut ()) -> u64 {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-160]!",
        ".cfi_adjust_cfa_offset 160",
        ".cfi_offset 29, -160",
        ".cfi_offset 30, -152",
        "stp x19, x20, [sp, #16]",
        "stp x21, x22, [sp, #32]",
        "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]",
        "stp x27, x28, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mov x9, sp",
        "str x9, [x0]",
        "mov x0, x2",
        "blr x1",
        "mov x0, #0",
        taken_back!(),
        "ldp x29, x30, [sp], #160",
        ".cfi_adjust_cfa_offset -160",
        ".cfi_restore 29",
        ".cfi_restore 30",
        "ret",
        ".cfi_endproc",
    )
}

/// As on x86-64.
#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn leave(mark: usize) -> ! {
    std::arch::naked_asm!("mov sp, x0", "mov x0, #1", taken_back!(), "ldp x29, x30, [sp], #160", "ret",)
}

/// The stand-in where no function can be left.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux")))]
pub(super) unsafe extern "C" fn call(_: *mut usize, function: unsafe extern "C" fn(*mut ()), data: *mut ()) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { function(data) };
    0
}

/// The stand-in where no function can be left; it is never called.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux")))]
pub(super) unsafe extern "C" fn leave(_: usize) -> ! {
    unreachable!("this is a bug in rsmc: a function cannot be left on this platform")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    struct Inner {
        mark: Cell<usize>,
        leaves: bool,
        dropped: Cell<bool>,
    }

    /// Leaves from two frames further down, if `leaves` says so.
    unsafe extern "C" fn function(data: *mut ()) {
        #[inline(never)]
        fn deeper(inner: &Inner) {
            if inner.leaves {
                // SAFETY: it runs in the function that was called with this mark.
                unsafe { leave(inner.mark.get()) };
            }
        }
        struct Drops<'a>(&'a Cell<bool>);
        impl Drop for Drops<'_> {
            fn drop(&mut self) {
                self.0.set(true);
            }
        }
        // SAFETY: the test passes it.
        let inner = unsafe { &*data.cast::<Inner>() };
        let _drops = Drops(&inner.dropped);
        deeper(inner);
    }

    #[test]
    fn a_function_returns_or_is_left_without_destructors() {
        for leaves in [false, true, true, false].map(|leaves| leaves && IS_POSSIBLE) {
            let mut inner = Inner { mark: Cell::new(0), leaves, dropped: Cell::new(false) };
            let numbers: [u64; 8] = std::array::from_fn(|at| std::hint::black_box(at as u64));
            // SAFETY: the function gets what it expects, and does not unwind.
            let was_left = unsafe { call(inner.mark.as_ptr(), function, (&raw mut inner).cast()) };
            assert_eq!(was_left, u64::from(leaves));
            assert_eq!(inner.dropped.get(), !leaves);
            assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7], "what the registers held is there");
        }
    }
}
