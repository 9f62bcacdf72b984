//! The width and the abilities of the terminal.

use std::io::{IsTerminal, stderr, stdout};

use rsmc_core::report::RenderOptions;

use crate::env;

/// Narrower terminals break lines themselves; on wider ones a table is hard to follow.
const COLUMNS: std::ops::RangeInclusive<usize> = 60..=160;

/// The options for the report of a test. What cargo shows goes to the terminal, if there is one: libtest prints it
/// there.
pub(crate) fn render_options(name: Option<&str>) -> RenderOptions<'_> {
    let options = RenderOptions::of_test(name).ascii(env::is_ascii()).full(env::wants_full_report());
    if !(stdout().is_terminal() && stderr().is_terminal()) {
        return options;
    }
    let columns = columns().unwrap_or(options.columns).clamp(*COLUMNS.start(), *COLUMNS.end());
    options.columns(columns).colour(env::allows_colour())
}

/// The width of the terminal, if stdout, stderr or stdin is one.
#[cfg(unix)]
pub(crate) fn columns() -> Option<usize> {
    [libc::STDOUT_FILENO, libc::STDERR_FILENO, libc::STDIN_FILENO].into_iter().find_map(|file| {
        let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: the call writes the size of a terminal into `size`, or fails.
        let is_known = unsafe { libc::ioctl(file, libc::TIOCGWINSZ, &raw mut size) } == 0;
        (is_known && size.ws_col > 0).then_some(usize::from(size.ws_col))
    })
}

/// The width of the terminal, if stdout, stderr or stdin is one.
#[cfg(windows)]
pub(crate) fn columns() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

/// Other systems do not say how wide a terminal is.
#[cfg(not(any(unix, windows)))]
pub(crate) fn columns() -> Option<usize> {
    None
}
