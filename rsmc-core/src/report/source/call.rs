//! The call at a place: its text, however it is broken into lines, and the function around it.

use crate::report::source::{LONGEST_CHAIN, function_around, left_of, without_comment};

/// The largest number of lines over which the arguments of a call are followed.
const LONGEST_ARGUMENTS: usize = 20;

/// A call in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The name of the function around it.
    pub function: Option<String>,
    /// Its text in one line: `self.tail.store(tail, Release)`.
    pub code: String,
}

impl Call {
    /// The call whose method's name, or path, begins at a line and column of a source text, both from 1 on.
    ///
    /// ```
    /// use rsmc_core::report::Call;
    ///
    /// let text = "fn close(queue: &Queue) {\n    let old = queue.tail.swap(\n        CLOSED, AcqRel,\n    );\n}\n";
    /// let call = Call::at(text, 2, 26).unwrap();
    /// assert_eq!((call.function.as_deref(), &*call.code), (Some("close"), "queue.tail.swap(CLOSED, AcqRel)"));
    /// assert!(call.is("queue.tail.swap(CLOSED,AcqRel)"));
    /// ```
    pub fn at(text: &str, line: u32, column: u32) -> Option<Self> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let at = (line as usize).checked_sub(1).filter(|&at| at < lines.len())?;
        let before = left_of(&lines[at], column)?;
        let code = format!("{}{}", receiver(&lines, at, before), arguments(&lines, at, column)?);
        Some(Self { function: function_around(&lines, at).map(str::to_owned), code })
    }

    /// Whether a text is that of the call, but for its blanks and the comma behind the last argument.
    pub fn is(&self, code: &str) -> bool {
        bare(&self.code) == bare(code)
    }
}

/// The object whose method is called behind a text, with the dot; nothing if it is a path. `.store(…)` alone on its
/// line belongs to the lines before.
fn receiver(lines: &[String], at: usize, mut before: String) -> String {
    for line in lines[..at].iter().rev().take(LONGEST_CHAIN) {
        if !before.trim_start().starts_with('.') {
            break;
        }
        before = format!("{}{}", without_comment(line).trim_end(), before.trim_start());
    }
    let chars: Vec<char> = before.chars().collect();
    let (mut begin, mut depth) = (chars.len(), 0);
    for (at, &c) in chars.iter().enumerate().rev() {
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' if depth == 0 => break,
            '(' | '[' => depth -= 1,
            _ if depth > 0 || c.is_alphanumeric() || matches!(c, '_' | '.' | '?' | ':') => {}
            _ => break,
        }
        begin = at;
    }
    chars[begin..].iter().collect()
}

/// The name at a column of a line, and the text up to the bracket that ends the call.
fn arguments(lines: &[String], at: usize, column: u32) -> Option<String> {
    let mut text = String::new();
    let mut depth = 0;
    let first: String = lines[at].chars().skip(column as usize - 1).collect();
    let rest = lines[at + 1..].iter().map(|line| line.trim().to_owned());
    for line in [first].into_iter().chain(rest).take(LONGEST_ARGUMENTS) {
        let line = without_comment(&line).trim_end();
        let is_tight = text.is_empty() || text.ends_with(['(', '[']) || line.starts_with([')', ']', '.']);
        text += if is_tight { "" } else { " " };
        for c in line.chars() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            text.push(c);
            if depth <= 0 && matches!(c, ')' | ']' | '}') {
                return (c != '}').then(|| text.replace(",)", ")"));
            }
        }
    }
    None
}

/// A call without blanks and without the comma behind the last argument.
fn bare(code: &str) -> String {
    code.split_whitespace().collect::<String>().replace(",)", ")")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
impl Queue {
    fn push(&self) {
        let i = 2 * self.slots[i % 2].seq.load(Acquire);
        self.q // the queue
            .state()?
            .compare_exchange(
                old, // as read
                (new, 1),
                AcqRel,
                Relaxed,
            );
        atomic::fence(SeqCst); if !(*p).next.swap(f(a, b), SeqCst).is_null() {}
        bump!(self.tail);
        x.load(
    }
}
";

    /// The call at the first place of a word.
    fn at(word: &str) -> Option<Call> {
        let number = FILE.lines().position(|line| line.contains(word)).expect("it is there");
        let column = FILE.lines().nth(number).and_then(|line| line.find(word)).unwrap();
        Call::at(FILE, number as u32 + 1, column as u32 + 1)
    }

    #[test]
    fn a_call_is_read_with_its_object_and_arguments() {
        for (word, code) in [
            ("load(Acq", "self.slots[i % 2].seq.load(Acquire)"),
            ("compare_", "self.q.state()?.compare_exchange(old, (new, 1), AcqRel, Relaxed)"),
            ("atomic::", "atomic::fence(SeqCst)"),
            ("swap", "(*p).next.swap(f(a, b), SeqCst)"),
            ("bump", "bump!(self.tail)"),
        ] {
            let call = at(word).unwrap();
            assert_eq!((call.function.as_deref(), &*call.code), (Some("push"), code));
            assert!(call.is(&code.replace(' ', "")) && !call.is(&code.replacen('(', "[", 1)), "{code}");
        }
    }

    #[test]
    fn what_is_no_call_has_no_text() {
        for (line, column) in [(14, 11), (3, 0), (0, 1), (90, 1)] {
            assert_eq!(Call::at(FILE, line, column), None);
        }
    }
}
