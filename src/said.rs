//! What is said on stderr although a test passes: to stderr itself and not through `eprintln`, because libtest keeps what tests
//! print until one fails.

use std::io::Write;
use std::panic::Location;

use rsmc_core::report::visible;

/// Who it is about: the test, or the place of the check.
pub(crate) fn who(test: Option<&str>, place: &Location<'_>) -> String {
    test.map_or_else(|| format!("the check at {}:{}", place.file(), place.line()), str::to_owned)
}

/// Says something in one write, so that the lines of tests that run at once do not mix. If nobody hears it, the test goes on.
pub(crate) fn say(who: &str, what: &str) {
    drop(std::io::stderr().write_all(visible(&format!("rsmc: {who}: {what}\n")).as_bytes()));
}
