//! The attribute `#[rsmc::test]` from a user's side: what it accepts, and what it says to mistakes.
//!
//! The files `ui/pass_*.rs` are used twice: as modules here, where their tests run, and by `trybuild` as ordinary programs,
//! where nothing of the tests may be left. `TRYBUILD=overwrite` rewrites the messages in `ui/fail_*.stderr`.

#[path = "ui/pass_arguments.rs"]
mod pass_arguments;
#[path = "ui/pass_forms.rs"]
mod pass_forms;
#[path = "ui/pass_models.rs"]
mod pass_models;

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail_*.rs");
    cases.pass("tests/ui/pass_*.rs");
}
