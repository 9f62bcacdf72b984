//! Widths, padding and wrapping of text in columns.
//!
//! Every character counts as one column: the reports use no wider ones, and a wide letter in a user's name of a thread
//! only shifts its row.

/// The number of columns of text that is no table, for every width of the terminal.
const WIDTH: usize = 80;

/// The number of columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}

/// The largest width of some texts.
pub(super) fn widest<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    texts.into_iter().map(width).max().unwrap_or(0)
}

/// Fills a text with blanks on the right.
pub(super) fn pad(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(blanks))
}

/// Cuts a text off at its end, if it is too long.
pub(super) fn clip(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Cuts a text off at its beginning, if it is too long: the end of a path says more than its beginning.
pub(super) fn clip_start(text: &str, columns: usize) -> String {
    let surplus = width(text).saturating_sub(columns);
    if surplus == 0 {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(surplus + 1).collect();
    format!("…{kept}")
}

/// Cuts out the middle of a text, if it is too long: names often differ at the end only.
pub(super) fn clip_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let head = columns.saturating_sub(1) / 2;
    let head: String = text.chars().take(head).collect();
    format!("{head}{}", clip_start(text, columns.saturating_sub(width(&head))))
}

/// Breaks the lines of a text between words, at 80 columns. Each further line begins with `indent`.
///
/// ```
/// use rsmc_core::report::wrap;
///
/// let lines = wrap(&"word ".repeat(20), "  ");
/// assert_eq!(lines.lines().map(str::len).collect::<Vec<_>>(), [79, 22]);
/// ```
pub fn wrap(text: &str, indent: &str) -> String {
    text.lines().map(|line| wrap_line(line, indent)).collect::<Vec<_>>().join("\n")
}

fn wrap_line(text: &str, indent: &str) -> String {
    let mut lines = Vec::new();
    let mut line = String::new();
    for (at, word) in text.split(' ').enumerate() {
        let begins = at == 0 || line.trim().is_empty();
        if !begins && width(&line) + 1 + width(word) > WIDTH {
            lines.push(std::mem::replace(&mut line, format!("{indent}{word}")));
            continue;
        }
        if at > 0 {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.join("\n")
}

/// The text without characters that act on the terminal or on the text around them: control characters, and the
/// characters of Unicode that turn the direction of writing or break lines, are spelt as in Rust (`\u{1b}`, `\0`). Ends
/// of lines and tabs stay.
///
/// ```
/// use rsmc_core::report::visible;
///
/// assert_eq!(visible("\u{1b}[31mred\n"), "\\u{1b}[31mred\n");
/// ```
pub fn visible(text: &str) -> String {
    spelt(text, |c| is_unseen(c) && !matches!(c, '\n' | '\t'))
}

/// As [`visible`], for text within a line: ends of lines and tabs are spelt, too.
pub(super) fn visible_in_line(text: &str) -> String {
    spelt(text, is_unseen)
}

fn spelt(text: &str, is_spelt: impl Fn(char) -> bool) -> String {
    let mut spelt = String::with_capacity(text.len());
    for c in text.chars() {
        if is_spelt(c) { spelt.extend(c.escape_debug()) } else { spelt.push(c) }
    }
    spelt
}

/// Whether a character acts on the text instead of being shown.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A number with its noun: `1 row`, `2 rows`.
pub(super) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_lose_one_end() {
        assert_eq!(clip("producer", 5), "prod…");
        assert_eq!(clip_start("src/queue.rs", 9), "…queue.rs");
        assert_eq!(clip_middle("worker-number-12", 12), "worke…ber-12");
        assert_eq!(clip("short", 5), "short");
        assert_eq!(clip_start("short", 5), "short");
    }

    #[test]
    fn what_acts_on_the_text_is_spelt() {
        assert_eq!(
            visible("a\u{1b}[2J\0\r\u{7f}\u{9b}\u{202e}z\u{2066}\u{200e}\u{61c}\u{2028}"),
            r"a\u{1b}[2J\0\r\u{7f}\u{9b}\u{202e}z\u{2066}\u{200e}\u{61c}\u{2028}"
        );
        let plain = "one\n\ttwo \\ 'é' \"→\" 🦀 e\u{301}";
        assert_eq!(visible(plain), plain);
        assert_eq!(visible_in_line("one\n\ttwo"), r"one\n\ttwo");
    }

    #[test]
    fn text_is_broken_between_words_and_long_words_stay_whole() {
        let text = format!("one {} two\n  three  four", "x".repeat(90));
        let wrapped = wrap(&text, "    ");
        let lines: Vec<&str> = wrapped.lines().collect();
        assert_eq!(lines, ["one", &format!("    {}", "x".repeat(90)), "    two", "  three  four"]);
    }
}
