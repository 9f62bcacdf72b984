//! The form of a text: its width, its colours, and its letters.

use crate::report::source::Sources;
use crate::report::text::visible;

/// The form of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderOptions<'a> {
    /// The path of the test as `cargo test` takes it, or [`DOC_TEST`](crate::report::DOC_TEST), for the replay line.
    pub name: Option<&'a str>,
    /// The file that has the seed, if the seed is too long for the replay line.
    pub seed_file: Option<&'a str>,
    /// The number of columns that the schedule may take. Other text keeps to 80, which reads better. Default: 80.
    pub columns: usize,
    /// Whether the steps of which a call consists are shown below it. Default: no.
    pub full: bool,
    /// Whether the headline, failing rows and the command have a colour, by the escape sequences of ANSI terminals.
    /// Default: no.
    pub colour: bool,
    /// Whether to use only ASCII letters, for terminals without others. Names and messages of the user change as far as
    /// they have the same letters. Default: no.
    pub ascii: bool,
}

/// The form of a schedule; see [`RenderOptions`].
#[derive(Clone, Copy, Debug)]
pub struct Form<'a> {
    /// The number of columns that it may take.
    pub columns: usize,
    /// Whether the steps of which a call consists are shown below it.
    pub full: bool,
    /// The source, from which it takes the names of objects and functions.
    pub sources: Sources<'a>,
}

impl Default for RenderOptions<'_> {
    fn default() -> Self {
        Self { name: None, seed_file: None, columns: 80, full: false, colour: false, ascii: false }
    }
}

impl<'a> RenderOptions<'a> {
    /// The default, for a test with this name.
    pub fn of_test(name: Option<&'a str>) -> Self {
        Self { name, ..Self::default() }
    }

    /// The form of a schedule.
    pub(super) fn form<'s>(&self, sources: Sources<'s>) -> Form<'s> {
        Form { columns: self.columns, full: self.full, sources }
    }

    /// Sets the number of columns that the schedule may take.
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }

    /// Sets whether the steps of which a call consists are shown.
    pub fn full(mut self, on: bool) -> Self {
        self.full = on;
        self
    }

    /// Sets whether there are colours.
    pub fn colour(mut self, on: bool) -> Self {
        self.colour = on;
        self
    }

    /// Sets whether to use ASCII only.
    pub fn ascii(mut self, on: bool) -> Self {
        self.ascii = on;
        self
    }

    /// Names the file that has the seed.
    pub fn seed_file(mut self, file: Option<&'a str>) -> Self {
        self.seed_file = file;
        self
    }

    /// Puts a finished text into the letters and colours. Text of a user cannot colour anything.
    pub(super) fn put(&self, text: String) -> String {
        let text = visible(&text);
        let text = if self.ascii { text.chars().map(plain).collect() } else { text };
        if self.colour { text.split_inclusive('\n').enumerate().map(coloured).collect() } else { text }
    }
}

/// The ASCII letter of the same width for a letter that reports use.
fn plain(letter: char) -> char {
    match letter {
        '→' => '>',
        '✗' => 'X',
        '●' => '*',
        '│' => '|',
        '─' => '-',
        '┼' => '+',
        '…' => '~',
        '–' => '-',
        other => other,
    }
}

const RED: &str = "\u{1b}[1;31m";
const BOLD: &str = "\u{1b}[1m";
const OFF: &str = "\u{1b}[0m";

/// The headline and the failing rows are red, the command is bold.
fn coloured((number, line): (usize, &str)) -> String {
    let (words, end) = line.split_at(line.trim_end_matches('\n').len());
    let start = match words {
        _ if number == 0 => RED,
        _ if words.starts_with(['✗', 'X']) => RED,
        _ if words.starts_with("RSMC_REPLAY=") => BOLD,
        _ => return line.to_owned(),
    };
    format!("{start}{words}{OFF}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reports_have_colours() {
        let colour = RenderOptions { colour: true, ..RenderOptions::default() };
        let put = colour.put("panic: \u{1b}[32mfine\u{202e}\n".to_owned());
        assert_eq!(put, "\u{1b}[1;31mpanic: \\u{1b}[32mfine\\u{202e}\u{1b}[0m\n");
    }

    #[test]
    fn what_matters_has_a_colour() {
        let text = "panic: it fails\n  in main\n✗   3 panic\n\nRSMC_REPLAY=x cargo test\n".to_owned();
        let colour = RenderOptions { colour: true, ..RenderOptions::default() };
        let expected = "\u{1b}[1;31mpanic: it fails\u{1b}[0m\n  in main\n\u{1b}[1;31m✗   3 panic\u{1b}[0m\n\n\
                        \u{1b}[1mRSMC_REPLAY=x cargo test\u{1b}[0m\n";
        assert_eq!(colour.put(text.clone()), expected);
        assert_eq!(RenderOptions::default().put(text.clone()), text);
        let ascii = RenderOptions { ascii: true, ..RenderOptions::default() };
        assert_eq!(ascii.put("✗ ● │ load → 1 …".to_owned()), "X * | load > 1 ~");
    }
}
