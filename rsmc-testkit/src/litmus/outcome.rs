//! Outcomes: the observable results of an execution.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The final registers of all threads, and whether the execution went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Outcome {
    /// The registers: `a`, or `t1.a` where several threads have an `a`.
    pub registers: BTreeMap<String, u64>,
    /// Whether some thread waits for good.
    pub stuck: bool,
    /// Whether some thread panicked.
    pub panicked: bool,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registers = self.registers.iter().map(|(name, value)| format!("{name}={value}"));
        let stuck = self.stuck.then(|| "stuck".to_owned());
        let panicked = self.panicked.then(|| "panic".to_owned());
        let words: Vec<String> = registers.chain(stuck).chain(panicked).collect();
        f.write_str(if words.is_empty() { "ok" } else { "" })?;
        f.write_str(&words.join(" "))
    }
}

/// A word that belongs in no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` belongs in no outcome: write `a=1`, `stuck`, `panic` or `ok`")]
pub struct BadWord(pub String);

impl FromStr for Outcome {
    type Err = BadWord;

    fn from_str(text: &str) -> Result<Self, BadWord> {
        let mut outcome = Outcome::default();
        for word in text.split_whitespace() {
            match word {
                "ok" => {}
                "stuck" => outcome.stuck = true,
                "panic" => outcome.panicked = true,
                _ => {
                    let (name, value) = register(word).ok_or_else(|| BadWord(word.to_owned()))?;
                    outcome.registers.insert(name.to_owned(), value);
                }
            }
        }
        Ok(outcome)
    }
}

fn register(word: &str) -> Option<(&str, u64)> {
    let (name, value) = word.split_once('=')?;
    Some((name, u64::from(value.parse::<u32>().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_read_back_as_printed() {
        for text in ["ok", "stuck", "a=1", "a=0 b=3 stuck", "t1.a=0 t2.a=1 panic", "stuck panic"] {
            assert_eq!(text.parse::<Outcome>().unwrap().to_string(), text);
        }
        assert_eq!("a=1 b".parse::<Outcome>(), Err(BadWord("b".to_owned())));
    }
}
