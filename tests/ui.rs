//! The attributes `#[rsmc::test]` and `#[rsmc::spec]` from a user's side: what they say to mistakes.
//! `TRYBUILD=overwrite` rewrites the messages in `ui/fail_*.stderr`.
//!
//! What they accept is in `ui/pass_*.rs`. They are compiled twice: into `all.rs`, where their tests run, and into
//! `ui/ordinary.rs`, an ordinary program, where nothing of the tests may be left.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail_*.rs");
    cases.pass("tests/ui/no_std.rs");
}
