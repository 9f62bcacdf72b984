//! Every primitive of the shim: random small programs under the explorers that prove, against `exhaustive`.
//!
//! Compared is what the threads of each execution learn, who panics, and who waits at its end. Besides, `reads-from`
//! has to run every reads-from class once, and executions of one class must not differ: then a step would depend on
//! something that no event tells.
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many programs each mix gets, `RSMC_ORACLE_SEED` shifts them, and
//! `RSMC_ORACLE_RUNS` says when brute force gives up on one.

#[path = "primitives_oracle/locks.rs"]
mod locks;
#[path = "primitives_oracle/messages.rs"]
mod messages;
#[path = "primitives_oracle/oracle.rs"]
mod oracle;
#[path = "primitives_oracle/program.rs"]
mod program;
#[path = "primitives_oracle/values.rs"]
mod values;

use oracle::compare;

macro_rules! mixes {
    ($($name:ident: $mix:path;)+) => {
        $(#[test]
        fn $name() {
            compare::<$mix>(stringify!($name));
        })+
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
}
