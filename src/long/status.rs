//! Lines at the end of a terminal that are drawn again and again, one for each check that takes long.

use std::io::{Write, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::terminal::columns;

/// The width that is assumed where the terminal does not tell its own.
const COLUMNS: usize = 80;

/// A line of the terminal, until it is dropped.
pub(super) struct Status(u64);

impl Status {
    /// A line below those of other checks, with nothing in it.
    pub(super) fn new() -> Self {
        let mut screen = screen();
        if screen.lines.is_empty() {
            // libtest may have begun a line with the name of the test.
            drop(writeln!(stderr()));
        }
        screen.next += 1;
        let number = screen.next;
        screen.lines.push((number, String::new()));
        Self(number)
    }

    /// Changes the line.
    pub(super) fn show(&self, text: String) {
        let mut screen = screen();
        if let Some(line) = screen.lines.iter_mut().find(|line| line.0 == self.0) {
            line.1 = text;
        }
        screen.draw();
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        let mut screen = screen();
        screen.lines.retain(|line| line.0 != self.0);
        screen.draw();
    }
}

/// The lines of all checks that run.
struct Screen {
    /// The number of the line that came last.
    next: u64,
    lines: Vec<(u64, String)>,
    /// The number of lines on the terminal.
    drawn: usize,
}

fn screen() -> MutexGuard<'static, Screen> {
    static SCREEN: Mutex<Screen> = Mutex::new(Screen { next: 0, lines: Vec::new(), drawn: 0 });
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Screen {
    /// Draws all lines. If the write fails, the checks go on.
    fn draw(&mut self) {
        let text = self.drawing(columns().unwrap_or(COLUMNS));
        drop(stderr().write_all(text.as_bytes()));
        self.drawn = self.lines.len();
    }

    /// The characters that replace the lines on the terminal by the present ones. The cursor stays in the last line.
    fn drawing(&self, columns: usize) -> String {
        let up = match self.drawn {
            0 | 1 => String::new(),
            drawn => format!("\x1b[{}A", drawn - 1),
        };
        // A terminal breaks a line when its last column is filled, or when more comes; so that one stays free.
        let cut = |(_, text): &(u64, String)| text.chars().take(columns - 1).collect::<String>();
        let lines: Vec<String> = self.lines.iter().map(cut).collect();
        format!("\r{up}\x1b[J{}", lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_replace_those_before() {
        let mut screen = Screen { next: 0, lines: Vec::new(), drawn: 0 };
        screen.lines.push((1, "one".to_owned()));
        assert_eq!(screen.drawing(80), "\r\x1b[Jone");
        screen.drawn = 1;
        screen.lines.push((2, "a second".to_owned()));
        assert_eq!(screen.drawing(6), "\r\x1b[Jone\na sec");
        screen.drawn = 2;
        screen.lines.clear();
        assert_eq!(screen.drawing(80), "\r\x1b[1A\x1b[J");
    }
}
