//! Every primitive of the shim: random small programs under the explorers that prove, against `exhaustive`.
//!
//! Compared is what the threads of each execution learn, who panics, who waits at its end, and which accesses race.
//! Besides, `reads-from` has to run every reads-from class once, and executions of one class must not differ: then a
//! step would depend on something that no event tells.
//!
//! Some programs are explored in parts and by worker processes as well (`divided`).
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many programs each mix gets, a tenth of them also `divided`, `RSMC_ORACLE_SEED`
//! shifts them, and `RSMC_ORACLE_RUNS` says when brute force gives up on one.

mod atomics;
mod cells;
mod divided;
mod locks;
mod messages;
mod oracle;
mod pointers;
mod program;
mod races;
mod times;
mod values;

use oracle::{compare, number};

use crate::support::child;

macro_rules! mixes {
    ($($name:ident: $mix:path;)+) => {
        $(#[test]
        fn $name() {
            compare::<$mix>(stringify!($name));
        })+

        /// In a process for it, explores a program in parts, and with workers.
        #[test]
        fn one_program() {
            let Some(case) = child::case() else { return };
            let (mix, seed) = case.split_once(' ').expect("a mix and a seed");
            let seed = seed.parse().expect("a seed is a number");
            match mix {
                $(stringify!($name) => divided::compare::<$mix>(seed),)+
                mix => panic!("there is no mix {mix}"),
            }
        }

        #[test]
        fn parts_and_workers_make_no_difference() {
            let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 40), number("RSMC_ORACLE_SEED", 0));
            divided::compare_all("primitives_oracle::one_program", &[$(stringify!($name)),+], first, programs.div_ceil(10));
        }
    };
}

mixes! {
    mutexes: locks::Mutexes;
    rw_locks: locks::RwLocks;
    condvars: locks::Condvars;
    barriers: locks::Barriers;
    channels: messages::Channels;
    parks: messages::Parks;
    futures: messages::Futures;
    onces: values::Onces;
    arcs: values::Arcs;
    locals: values::Locals;
    threads: values::Threads;
    choices: values::Choices;
    cells: cells::Cells;
    tracks: cells::Tracks;
    borrows: cells::Borrows;
    ints: atomics::Ints;
    bools: atomics::Bools;
    pointers: pointers::Pointers;
    notifies: times::Notifies;
    times: times::Times;
}
