//! A tiny language for concurrent programs: data, text, an interpreter, and programs made by machine.
//!
//! It exists so that explorers can be tested on programs that are values: read from files (`tests/litmus`), drawn
//! at random, enumerated, shrunk. The [`Interpreter`] is a second executor beside `runtime`: it drives the same
//! machine but has no coroutines, so a difference between the two points at one of them.
//!
//! # The text
//!
//! ```text
//! # a comment
//! name SB                              # optional
//! init x = 0, count = 7                # optional; locations that are not listed start at 0
//! t1: x = 1; a = y                     # a thread; statements are separated by `;` or the end of the line
//! t2: y.rlx = 1                        # the lines up to the next thread or directive belong to it
//!     b = x.acq
//! expect outcomes sc: a=0 b=1 | a=1 b=0 | a=1 b=1
//! expect classes rf/sc: 3
//! ```
//!
//! Statements, with `a`, `b` registers, `x` a location, `e` an expression, `m` a lock, `c` a cell:
//!
//! ```text
//! a = x           x = e           a = e                            load, store, local assignment
//! a = add(x, e)   swap(x, e)                                       read-modify-write; also sub, and, nand, or,
//!                                                                  xor, umax, umin, smax, smin
//! a = cas(x, e, e)                a, b = cas(x, e, e)              a: 1 if it succeeded, b: the value it read;
//!                                                                  `_` leaves one out; `wcas` is a weak one
//! a = choose 3    a = maybe                                        any of 0, 1, 2; 0 or, without cause, 1
//! fence           fence.acq                                        the first is SeqCst
//! lock m          unlock m        a = trylock m                    a: 1 if it took the lock
//! read c          write c                                          accesses of a tracked cell, without a value;
//!                                                                  of a location: no atomic operations
//! a = peek c      poke c e                                         plain memory, which no model sees
//! park            unpark t1       spin                             spin: `hint::spin_loop`
//! if e { … } else { … }           while e { … }                    while e upto 3 { … }: at most 3 iterations
//! assert e        spawn t1        join t1
//! ```
//!
//! An access may carry an ordering, `x.rlx`, `x.acq`, `x.rel`, `x.acqrel`, `x.sc` (the default); a `cas` may carry a
//! second one for failure, `cas(x.acqrel.acq, 0, 1)`. Expressions have numbers, registers, parentheses and
//! `+ - == != < && ||`, with the precedence of Rust. All numbers are unsigned, have 32 bits and wrap.
//!
//! A name is a *location* if it is one of `u` to `z`, alone or before a number (`x`, `y2`), or is listed under `init`,
//! and a *register* otherwise.
//! Registers belong to their thread and start at 0. An outcome lists the final value of every register; one that
//! several threads have is listed as `t1.a`. It ends in `stuck` for a deadlock and in `panic` where an assertion
//! failed, and is `ok` if there is nothing to say.
//!
//! Without a thread `main:`, main spawns in order all threads that no other thread spawns, and joins them. With
//! one, it runs that, and every thread must be spawned somewhere.
//!
//! # The meaning of statements where it is not obvious
//!
//! - A failed `assert` ends its thread. The locks it holds are released poisoned, in the order in which they were
//!   acquired, as visible operations. So does an `unlock` of a lock that is not held, and a `join` of a thread that
//!   was not spawned. No `join` receives the panic.
//! - `lock` takes a poisoned lock like any other, and `unlock` leaves it poisoned, as in std.
//! - A cell is an `UnsafeCell` as the shim has it. Its accesses are no visible operations: they count for data races
//!   only. No value is read or written, since that of a racy read would depend on what no class fixes.
//! - `peek` and `poke` are accesses of plain memory, as through a raw pointer: they happen at once and are no events.
//!   Where threads race for them, executions of one class may differ.
//! - A thread that ends without `unlock` keeps the lock for good.
//! - A spin loop is recognised by its lines, so a loop that waits should share none with other accesses.

mod check;
mod compile;
mod draw;
mod enumerate;
mod error;
mod expr;
mod generate;
mod interpret;
mod names;
mod outcome;
mod parse;
mod program;
mod shrink;
mod statement;
mod states;
mod text;
mod token;

pub use enumerate::enumerate;
pub use error::Error;
pub use expr::{Expr, Operator};
pub use generate::{Size, Weights, random};
pub use interpret::Interpreter;
pub use outcome::Outcome;
pub use parse::parse;
pub use program::{Expectation, Expected, Line, Location, Program, Stmt, StmtKind, ThreadProgram};
pub use shrink::shrink;
pub use states::States;
