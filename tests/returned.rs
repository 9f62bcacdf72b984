//! What tests return: an error, and an exit code that is not success, fail the check, at the line of the test.
//!
//! The tests run this executable again for the checks of `inner`.

// What the attribute writes needs no permission.
#![forbid(unused_imports, clippy::unit_arg)]

use std::process::Command;

/// Says that the tests of `inner` are to fail.
const FAIL: &str = "RETURNED_FAIL";

fn fails() -> bool {
    std::env::var_os(FAIL).is_some()
}

mod inner {
    use std::process::ExitCode;

    use super::fails;

    pub(super) const ERROR: u32 = line!() + 2;
    #[rsmc::test]
    fn error() -> Result<(), &'static str> {
        if fails() { Err("no number") } else { Ok(()) }
    }

    pub(super) const CODE: u32 = line!() + 2;
    #[rsmc::test]
    fn code() -> ExitCode {
        if fails() { ExitCode::from(3) } else { ExitCode::SUCCESS }
    }

    pub(super) const CODES: u32 = line!() + 2;
    #[rsmc::test(memory = ["sc", "c11"])]
    fn codes() -> ExitCode {
        if fails() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

#[track_caller]
fn check(test: &str, line: u32, says: &str) {
    let run = |fail: bool| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([test, "--exact", "--nocapture"]).env_remove(FAIL).env("RUST_BACKTRACE", "0");
        let output = if fail { command.env(FAIL, "1") } else { &mut command }.output().unwrap();
        (
            output.status.success(),
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (passed, text) = run(false);
    assert!(passed && text.contains("1 passed"), "{text}");
    let (passed, text) = run(true);
    assert!(!passed && text.contains(says), "{text}");
    let at = format!("in main at tests/returned.rs:{line}");
    assert!(text.contains(&at), "expected {at}: {text}");
    assert!(!text.contains("src/"), "a file of rsmc is named: {text}");
}

#[test]
fn an_error_is_told_where_the_test_is() {
    check("returned::inner::error", inner::ERROR, "the test returned an error: \"no number\"");
}

#[test]
fn an_exit_code_is_one_of_success_or_fails_the_check() {
    check("returned::inner::code", inner::CODE, "which is not success");
    check("returned::inner::codes::c11", inner::CODES, "which is not success");
}
