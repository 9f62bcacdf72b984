//! What the terminal can show.

use std::io::{IsTerminal, stderr, stdout};

use rsmc_core::report::RenderOptions;

use crate::env;

/// Narrower terminals break lines themselves; on wider ones a table is hard to follow.
const COLUMNS: std::ops::RangeInclusive<usize> = 60..=160;

/// How to write the report of a test. What cargo shows goes to the terminal, if there is one: libtest prints it there.
pub(crate) fn render_options(name: Option<&str>) -> RenderOptions<'_> {
    let options = RenderOptions::of_test(name).ascii(env::is_ascii());
    if !(stdout().is_terminal() && stderr().is_terminal()) {
        return options;
    }
    let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let columns = columns.unwrap_or(options.columns).clamp(*COLUMNS.start(), *COLUMNS.end());
    options.columns(columns).colour(env::allows_colour())
}
