//! Loops in real code, for a build in which every value has its place on the stack:
//! `cargo test --profile unoptimized --test unoptimized`. An ordinary build has the same tests in `all`.

mod loop_bodies;
