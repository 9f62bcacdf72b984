//! The errors of a program.

use crate::litmus::outcome::BadWord;

/// The reason why a program cannot be read or run. Every message begins with the line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are what the message shows")]
pub enum Error {
    /// A character that begins no token.
    #[error("line {line}: `{found}` means nothing here; comments begin with `#`")]
    Character { line: u32, found: char },
    /// A number that does not fit.
    #[error("line {line}: {text} is not a number of 32 bits")]
    Number { line: u32, text: String },
    /// Something else was due.
    #[error("line {line}: expected {expected}, found {found}")]
    Unexpected { line: u32, expected: &'static str, found: String },
    /// A statement that belongs to no thread.
    #[error("line {line}: this belongs to no thread; begin one with its name and a colon, `t1:`")]
    OutsideThread { line: u32 },
    /// Blocks or parentheses are nested too deeply.
    #[error("line {line}: nested more than {limit} deep")]
    TooDeep { line: u32, limit: u32 },
    /// A register where a location is needed.
    #[error("line {line}: `{name}` is a register; list it under `init` to make it a location")]
    NotALocation { line: u32, name: String },
    /// A location inside an expression, or where a register is needed.
    #[error("line {line}: `{name}` is a location; load it into a register first, in a statement of its own")]
    NotARegister { line: u32, name: String },
    /// A name that is none.
    #[error("line {line}: `{name}` cannot be a name; take letters and digits, and no word of the language")]
    Name { line: u32, name: String },
    /// A register that would be read back as a location.
    #[error(
        "line {line}: `{name}` is a location's name; name the register unlike `x` or `y2`, and nothing under `init`"
    )]
    LooksLikeLocation { line: u32, name: String },
    /// A location that is not declared.
    #[error("line {line}: there is no location `{name}`")]
    UnknownLocation { line: u32, name: String },
    /// An ordering that the operation cannot have.
    #[error("line {line}: a {operation} cannot be `{found}`; it can be one of {allowed}")]
    Order { line: u32, operation: &'static str, found: String, allowed: &'static str },
    /// A thread that does not exist.
    #[error("line {line}: there is no thread `{name}`")]
    UnknownThread { line: u32, name: String },
    /// Two things of one name.
    #[error("line {line}: `{name}` was already there")]
    Twice { line: u32, name: String },
    /// A thread that could be started more than once.
    #[error("line {line}: `{name}` may be spawned once only, and not in a loop; write another thread")]
    SpawnedTwice { line: u32, name: String },
    /// A thread that no thread starts.
    #[error("line {line}: nobody spawns `{name}`; with a thread `main` every thread must be spawned")]
    NeverSpawned { line: u32, name: String },
    /// An unknown model or equivalence.
    #[error("line {line}: expected one of {allowed}, found `{found}`")]
    Word { line: u32, found: String, allowed: String },
    /// An outcome with a word that means nothing.
    #[error("line {line}: {source}")]
    Outcome { line: u32, source: BadWord },
    /// An outcome without, or with too many, registers.
    #[error("line {line}: outcome `{outcome}` must list exactly the registers {registers}")]
    Registers { line: u32, outcome: String, registers: String },
}

impl Error {
    /// The line it is about; 0 if the program was not made from text.
    pub fn line(&self) -> u32 {
        match self {
            Error::Character { line, .. }
            | Error::Number { line, .. }
            | Error::Unexpected { line, .. }
            | Error::OutsideThread { line }
            | Error::TooDeep { line, .. }
            | Error::NotALocation { line, .. }
            | Error::NotARegister { line, .. }
            | Error::Name { line, .. }
            | Error::LooksLikeLocation { line, .. }
            | Error::UnknownLocation { line, .. }
            | Error::Order { line, .. }
            | Error::UnknownThread { line, .. }
            | Error::Twice { line, .. }
            | Error::SpawnedTwice { line, .. }
            | Error::NeverSpawned { line, .. }
            | Error::Word { line, .. }
            | Error::Outcome { line, .. }
            | Error::Registers { line, .. } => *line,
        }
    }
}
