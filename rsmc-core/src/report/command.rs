//! The command by which cargo runs one test.

/// The name of a doc test whose name is not known: rustdoc does not pass it to the test.
pub const DOC_TEST: &str = "--doc";

/// The command by which cargo runs one test and no other; `name` is the path of the test, or [`DOC_TEST`].
///
/// For a doc test it runs all doc tests whose names contain the documented item: rustdoc breaks names at blanks, and
/// all of its names have some.
///
/// ```
/// use rsmc_core::report::command;
///
/// assert_eq!(command("tests::push"), "cargo test tests::push -- --exact");
/// assert_eq!(command("src/lib.rs - queue::push (line 3)"), "cargo test --doc queue::push");
/// ```
pub fn command(name: &str) -> String {
    match documented(name) {
        Some("") => "cargo test --doc".to_owned(),
        Some(item) => format!("cargo test --doc {}", quoted(item)),
        None => format!("cargo test {} -- --exact", quoted(name)),
    }
}

/// The item that a doc test is about, as a word of its name; empty for all doc tests. `None` if it is another test.
fn documented(name: &str) -> Option<&str> {
    if name == DOC_TEST {
        return Some("");
    }
    let (_, rest) = name.split_once(" - ")?;
    let (item, _) = rest.split_once("(line ")?;
    Some(Some(item.trim()).filter(|item| !item.contains(' ')).unwrap_or_default())
}

/// A word, quoted for shells.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_:-./".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_run_one_test() {
        let commands = [
            ("a::b", "cargo test a::b -- --exact"),
            ("case 1: it's", r"cargo test 'case 1: it'\''s' -- --exact"),
            (DOC_TEST, "cargo test --doc"),
            ("src/lib.rs - (line 3)", "cargo test --doc"),
            ("src/a.rs - a::Queue<T>::push (line 13) - compile", "cargo test --doc 'a::Queue<T>::push'"),
            ("src/a.rs - a::<impl A for B>::c (line 13)", "cargo test --doc"),
        ];
        for (name, expected) in commands {
            assert_eq!(command(name), expected);
        }
    }
}
