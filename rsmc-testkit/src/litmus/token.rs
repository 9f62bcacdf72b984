//! Splits text into tokens. The end of a line is a token, since it ends a statement.

use std::fmt;

use crate::litmus::Error;

/// The smallest piece of text that means something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Number(u64),
    /// An operator or a bracket.
    Mark(&'static str),
    /// `;` or the end of a line.
    Separator,
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::Mark(mark) => write!(f, "`{mark}`"),
            Token::Separator => write!(f, "the end of the statement"),
            Token::End => write!(f, "the end of the thread"),
        }
    }
}

/// Longer ones first, so that `==` is not taken for two `=`.
const MARKS: [&str; 15] = ["==", "!=", "&&", "||", "<", "+", "-", "=", "(", ")", "{", "}", ",", ".", ":"];

/// Appends the tokens of one line, which has no comment.
pub(super) fn tokens(text: &str, line: u32, tokens: &mut Vec<(Token, u32)>) -> Result<(), Error> {
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (token, length) = if word(first) {
            let length = rest.find(|c| !word(c)).unwrap_or(rest.len());
            (word_or_number(&rest[..length], line)?, length)
        } else if first == ';' {
            (Token::Separator, 1)
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            (Token::Mark(mark), mark.len())
        } else {
            return Err(Error::Character { line, found: first });
        };
        tokens.push((token, line));
        rest = rest[length..].trim_start();
    }
    tokens.push((Token::Separator, line));
    Ok(())
}

fn word_or_number(text: &str, line: u32) -> Result<Token, Error> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(Token::Word(text.to_owned()));
    }
    let number = text.parse::<u32>().map_err(|_| Error::Number { line, text: text.to_owned() })?;
    Ok(Token::Number(u64::from(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<String, Error> {
        let mut found = Vec::new();
        tokens(text, 3, &mut found)?;
        Ok(found.iter().map(|(token, _)| format!("{token:?} ")).collect())
    }

    #[test]
    fn longest_mark_wins() {
        let expected = r#"Word("a") Mark("==") Mark("=") Number(12) Separator Separator "#;
        assert_eq!(words("a===12;").unwrap(), expected);
    }

    #[test]
    fn errors_name_the_line() {
        assert_eq!(words("a = é"), Err(Error::Character { line: 3, found: 'é' }));
        assert_eq!(words("1x").unwrap_err().to_string(), "line 3: 1x is not a number of 32 bits");
        assert!(words("4294967296").is_err());
    }
}
