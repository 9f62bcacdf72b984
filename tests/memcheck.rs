//! The modules of `all` that `.ci/memcheck` runs under valgrind, and counts the lines of code marked `unsafe` that they
//! run: the whole of `all`, with counters in it, takes minutes to compile.

mod accesses;
mod arc;
mod arc_counts;
mod choices;
mod ends;
mod failures;
mod futures;
mod hints;
mod labels;
mod newer;
mod outcomes;
mod primitives;
mod rwlock;
mod seldom;
mod statics;
#[allow(dead_code, reason = "other modules of `all` use the rest")]
mod support;
