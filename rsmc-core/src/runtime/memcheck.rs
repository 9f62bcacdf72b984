//! Requests to valgrind's memcheck: they say where stacks are, and which bytes may be used though they were never
//! written.
//!
//! Problem. Memcheck takes a small change of the stack pointer for a call or a return, and forgets what lies between:
//! so with several stacks it reports what is no error. And fingerprints are made of all bytes of a stack, written or
//! not.
//!
//! Method. Valgrind recognises a sequence of instructions that does nothing by itself as a request ("client requests",
//! `valgrind.h`). It is always compiled in, and used once for each stack; all other requests are made under valgrind
//! only.
//!
//! Limits. Linux on x86-64. Elsewhere no request is made.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the process runs under valgrind; known as soon as there is a stack, or somebody has asked.
static IS_THERE: AtomicBool = AtomicBool::new(false);

/// Asks whether the process runs under valgrind.
pub(super) fn ask() {
    const RUNNING_ON_VALGRIND: usize = 0x1001;
    IS_THERE.store(request(RUNNING_ON_VALGRIND, 0, 0) != 0, Ordering::Relaxed);
}

/// Registers the stack of a coroutine; returns the number that it gets.
pub(super) fn register_stack(stack: Range<usize>) -> usize {
    const STACK_REGISTER: usize = 0x1501;
    ask();
    request(STACK_REGISTER, stack.start, stack.end)
}

/// Whether the process runs under valgrind, as soon as that is known.
#[inline]
pub(super) fn is_there() -> bool {
    IS_THERE.load(Ordering::Relaxed)
}

/// Makes memcheck forget a stack on which nothing runs any more.
pub(super) fn forget_stack(number: usize) {
    const STACK_DEREGISTER: usize = 0x1502;
    request(STACK_DEREGISTER, number, 0);
}

/// Returns the value; memcheck takes it for one that was written.
#[inline]
pub(super) fn defined<T: Copy>(value: T) -> T {
    if is_there() { make_defined(value) } else { value }
}

/// Memcheck takes these bytes for ones that were written.
#[inline]
pub(super) fn define(start: usize, bytes: usize) {
    if is_there() {
        make_bytes_defined(start, bytes);
    }
}

#[cold]
#[inline(never)]
fn make_defined<T: Copy>(value: T) -> T {
    make_bytes_defined((&raw const value).expose_provenance(), size_of::<T>());
    value
}

#[cold]
#[inline(never)]
fn make_bytes_defined(start: usize, bytes: usize) {
    const MAKE_MEM_DEFINED: usize = 0x4d43_0002;
    request(MAKE_MEM_DEFINED, start, bytes);
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[cold]
fn request(code: usize, first: usize, second: usize) -> usize {
    let arguments = [code, first, second, 0, 0, 0];
    let mut answer = 0;
    // SAFETY: the instructions leave all registers as they are; valgrind writes its answer to one of them, and the
    // request changes no memory.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") answer,
            options(nostack),
        );
    }
    answer
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn request(_: usize, _: usize, _: usize) -> usize {
    0
}
