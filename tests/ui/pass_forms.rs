//! Without arguments the attribute is what `#[test]` is.
#![deny(warnings)]

#[rsmc::test]
fn plain() {
    assert_eq!(1 + 1, 2);
}

/// Documentation stays.
#[rsmc::test]
pub(crate) fn documented_and_visible() {}

#[rsmc::test]
fn result() -> Result<(), std::num::ParseIntError> {
    assert_eq!("7".parse::<u8>()?, 7);
    Ok(())
}

#[rsmc::test]
fn exit_code() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}

#[rsmc::test]
#[should_panic(expected = "which is not success")]
fn exit_code_of_a_failure() -> std::process::ExitCode {
    std::process::ExitCode::from(3)
}

#[rsmc::test]
fn result_of_an_exit_code() -> Result<std::process::ExitCode, String> {
    Ok(std::process::ExitCode::SUCCESS)
}

#[rsmc::test]
#[should_panic(expected = "which is not success")]
fn result_of_an_exit_code_of_a_failure() -> Result<std::process::ExitCode, String> {
    Ok(std::process::ExitCode::FAILURE)
}

#[rsmc::test]
fn whatever_main_may_return() -> impl std::process::Termination {}

#[rsmc::test]
#[should_panic(expected = "which is not success")]
fn of_the_user() -> Verdict {
    Verdict
}

#[cfg(test)]
struct Verdict;

#[cfg(test)]
impl std::process::Termination for Verdict {
    fn report(self) -> std::process::ExitCode {
        std::process::ExitCode::FAILURE
    }
}

#[rsmc::test]
fn explicit_unit() -> () {
    return;
}

#[rsmc::test]
#[should_panic(expected = "as it should")]
fn panics() {
    panic!("as it should");
}

#[rsmc::test]
#[should_panic(expected = "no number")]
fn returns_an_error() -> Result<(), &'static str> {
    Err("no number")
}

#[rsmc::test]
#[ignore = "shows that this attribute is kept"]
fn ignored() {
    panic!("this was to be ignored");
}

#[cfg(any())]
#[rsmc::test]
fn configured_out_before() {
    there_is_no_such_function();
}

#[rsmc::test]
#[cfg(any())]
fn configured_out_after() {
    there_is_no_such_function();
}

#[rsmc::test]
#[allow(unused_variables)]
fn lint_level_of_the_function() {
    let unused = 1;
}

#[rsmc::test]
#[expect(unused_variables)]
fn lint_expectation() {
    let unused = 1;
}

#[rsmc::test]
fn lint_level_at_the_start_of_the_body() {
    #![allow(unused_variables)]
    let unused = 1;
}

#[rsmc::test]
#[allow(non_snake_case)]
fn Name_In_Bad_Style() {}

#[rsmc::test]
fn r#match() {}

/// What the body calls is what stands around it, whatever the expansion is made of.
#[cfg(test)]
mod names {
    mod std {}
    mod core {}
    mod rsmc {}
    fn run_test() {}
    fn body() {}

    #[::rsmc::test]
    fn are_not_captured() {
        run_test();
        body();
    }
}

/// A macro of the user's can write the test.
#[cfg(test)]
macro_rules! written_by_a_macro {
    ($name:ident, $limit:literal, $time:expr, $body:block) => {
        #[rsmc::test(max_executions = $limit, max_duration = $time)]
        fn $name() $body
    };
}
#[cfg(test)]
written_by_a_macro!(by_macro, 1_000, "1m", { assert_eq!(1 + 1, 2) });
