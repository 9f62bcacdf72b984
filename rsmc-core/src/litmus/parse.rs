//! Reads the text of a program: directives and threads. `statement` reads what is inside a thread.
//!
//! Every error names its line. A program that parses also runs: all its names exist and all its orderings are
//! possible.

use std::collections::BTreeSet;

use crate::litmus::compile::compile;
use crate::litmus::program::{is_name, names_location};
use crate::litmus::statement::Statements;
use crate::litmus::token::{Token, tokens};
use crate::litmus::{Error, Expectation, Expected, Line, Location, Outcome, Program, ThreadProgram};

/// Reads a program; the grammar is in the module's documentation.
pub fn parse(text: &str) -> Result<Program, Error> {
    let mut sections = Sections::default();
    for (number, line) in text.lines().enumerate() {
        let number = u32::try_from(number + 1).unwrap_or(u32::MAX);
        let content = line.split('#').next().unwrap_or_default().trim();
        sections.line(content, number)?;
    }
    let program = sections.finish()?;
    compile(&program)?;
    Ok(program)
}

/// The program so far; threads are kept as tokens until all locations are known.
#[derive(Default)]
struct Sections {
    program: Program,
    threads: Vec<(String, Line, Vec<(Token, u32)>)>,
}

impl Sections {
    fn line(&mut self, text: &str, line: u32) -> Result<(), Error> {
        let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match first {
            "" => Ok(()),
            "name" => {
                self.program.name = rest.trim().to_owned();
                Ok(())
            }
            "init" => self.init(rest, line),
            "expect" => self.expect(rest, line),
            _ => self.thread(text, line),
        }
    }

    fn thread(&mut self, text: &str, line: u32) -> Result<(), Error> {
        let mut rest = text;
        if let Some((name, body)) = text.split_once(':') {
            let name = name.trim();
            if !is_name(name) {
                return Err(Error::Name { line, name: name.to_owned() });
            }
            if self.threads.iter().any(|(other, ..)| other == name) {
                return Err(Error::Twice { line, name: name.to_owned() });
            }
            self.threads.push((name.to_owned(), Line(line), Vec::new()));
            rest = body;
        }
        let Some((.., found)) = self.threads.last_mut() else { return Err(Error::OutsideThread { line }) };
        tokens(rest, line, found)
    }

    fn init(&mut self, text: &str, line: u32) -> Result<(), Error> {
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, value) = item.split_once('=').unwrap_or((item, "0"));
            let (name, value) = (name.trim().to_owned(), value.trim());
            if !is_name(&name) {
                return Err(Error::Name { line, name });
            }
            if self.program.locations.iter().any(|location| location.name == name) {
                return Err(Error::Twice { line, name });
            }
            let init = value.parse::<u32>().map_err(|_| Error::Number { line, text: value.to_owned() })?;
            self.program.locations.push(Location { name, init: u64::from(init) });
        }
        Ok(())
    }

    fn expect(&mut self, text: &str, line: u32) -> Result<(), Error> {
        let (head, tail) = text.split_once(':').ok_or_else(|| Error::Unexpected {
            line,
            expected: "a colon after what is expected",
            found: format!("`{text}`"),
        })?;
        let (what, which) = head.trim().split_once(char::is_whitespace).unwrap_or((head.trim(), ""));
        let (model, expected) = match what {
            "outcomes" => (which.trim(), outcomes(tail, line)?),
            "classes" => {
                let (equivalence, model) = which.trim().split_once('/').unwrap_or((which, ""));
                let equivalence = one_of(&Expectation::EQUIVALENCES, equivalence, line)?;
                let text = tail.trim().to_owned();
                let count = text.parse().map_err(|_| Error::Number { line, text })?;
                (model, Expected::Classes { equivalence, count })
            }
            _ => return Err(one_of(&["outcomes", "classes"], what, line).unwrap_err()),
        };
        let model = one_of(&Expectation::MODELS, model, line)?;
        self.program.expectations.push(Expectation { model, expected, line: Line(line) });
        Ok(())
    }

    fn finish(mut self) -> Result<Program, Error> {
        let declared: Vec<String> = self.program.locations.iter().map(|location| location.name.clone()).collect();
        let is_location = |name: &str| names_location(name) || declared.iter().any(|other| other == name);
        for (name, line, found) in self.threads {
            let body = Statements::new(found, &is_location).all()?;
            let thread = ThreadProgram { name, body, line };
            if thread.name == "main" {
                self.program.main = Some(thread);
            } else {
                self.program.threads.push(thread);
            }
        }
        declare_rest(&mut self.program);
        Ok(self.program)
    }
}

fn outcomes(text: &str, line: u32) -> Result<Expected, Error> {
    let parse = |outcome: &str| outcome.parse::<Outcome>().map_err(|source| Error::Outcome { line, source });
    Ok(Expected::Outcomes(text.split('|').map(parse).collect::<Result<BTreeSet<_>, _>>()?))
}

fn one_of(allowed: &[&str], found: &str, line: u32) -> Result<String, Error> {
    if allowed.contains(&found) {
        return Ok(found.to_owned());
    }
    Err(Error::Word { line, found: found.to_owned(), allowed: allowed.join(", ") })
}

/// Adds the locations that are used but not listed.
fn declare_rest(program: &mut Program) {
    let mut names: Vec<String> = Vec::new();
    program.visit(|stmt| names.extend(stmt.location().map(str::to_owned)));
    for name in names {
        if !program.locations.iter().any(|location| location.name == name) {
            program.locations.push(Location { name, init: 0 });
        }
    }
}
