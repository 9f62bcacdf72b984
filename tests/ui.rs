//! The attributes `#[rsmc::test]` and `#[rsmc::spec]` from a user's side: what they say to mistakes.
//! `TRYBUILD=overwrite` rewrites the messages in `ui/fail_*.stderr`.
//!
//! What they accept is in `ui/pass_*.rs`. They are compiled twice: into `all.rs`, where their tests run, and into
//! `ui/ordinary.rs`, an ordinary program, where nothing of the tests may be left.

#[test]
fn ui() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail_*.rs");
}
