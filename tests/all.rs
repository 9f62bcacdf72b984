//! The tests of the facade, one module a subject, in one executable: it links once.
//!
//! `cargo test --test all waiting::` runs the tests of `waiting.rs`. Tests of different modules run side by side in one
//! process: who measures or changes the process itself runs in one of its own (`support::child`).

mod accesses;
mod addresses;
mod arc;
mod arc_counts;
mod arc_races;
mod audit;
mod bounds;
mod browser;
mod causes;
mod channels;
mod checkpoint;
mod choices;
mod ci;
mod commands;
mod counts;
mod damage;
mod docs;
mod ends;
mod estimate;
mod exactness;
mod examples;
mod extras;
mod failures;
mod files;
mod futures;
mod hints;
mod hostile;
mod jobs;
mod kinds;
mod labels;
mod left;
mod left_memory;
mod limits;
mod loop_bodies;
mod lost;
mod makings;
mod memory;
mod memory_oracle;
mod misuse;
mod newer;
mod outcomes;
mod polling;
mod primitive_reports;
mod primitives;
mod primitives_oracle;
mod questions;
mod remedy;
mod retries;
mod returned;
mod reuse;
mod rounds;
mod rwlock;
mod seldom;
mod shrink;
mod spec;
mod spinning;
mod statics;
mod support;
mod time;
mod trace_log;
mod trivial;
mod unseen;
mod visible;
mod waiting;
mod waits;

/// The uses of the attribute that compile; those that do not are in `ui.rs`.
mod ui {
    mod pass_arguments;
    mod pass_forms;
    mod pass_models;
    mod pass_spec;
}
