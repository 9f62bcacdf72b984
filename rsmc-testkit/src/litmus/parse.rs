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

/// The name of a thread, where it begins, and its tokens with their lines.
type Section = (String, Line, Vec<(Token, u32)>);

/// The program so far; threads are kept as tokens until all locations are known.
#[derive(Default)]
struct Sections {
    program: Program,
    threads: Vec<Section>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::litmus::{Size, Weights, random};

    #[track_caller]
    fn check_error(text: &str, message: &str) {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
    }

    #[track_caller]
    fn check_print(text: &str, printed: &str) {
        let program = parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(program.to_string(), printed);
        assert_eq!(parse(printed).as_ref(), Ok(&program));
    }

    #[test]
    fn directives_and_threads() {
        let text = "name SB # why\ninit x = 3\nt1: x.rlx=1;a=y.acq\n  b = a\nt2: skip = 1\nexpect outcomes sc: a=0 b=0 skip=1\nexpect classes rf/tso: 4\n";
        let printed = "name SB\ninit x = 3, y = 0\nt1:\n    x.rlx = 1\n    a = y.acq\n    b = a\nt2:\n    skip = 1\nexpect outcomes sc: a=0 b=0 skip=1\nexpect classes rf/tso: 4\n";
        check_print(text, printed);
    }

    #[test]
    fn statements_of_every_kind() {
        let text = "main: spawn t1; join t1\nt1: a = add(x, 1); swap(x.acqrel, a); a, b = cas(x.acq.rlx, 0, a - 1)\n_, b = cas(x, 0, 1)\ncas(x.rel, 1, 0)\nfence; fence.rel; lock m; c = trylock m; unlock m; read c; write x; park; unpark main; spin\nassert (a)\n";
        let printed = "init x = 0\nmain:\n    spawn t1\n    join t1\nt1:\n    a = add(x, 1)\n    swap(x.acqrel, a)\n    a, b = cas(x.acq.rlx, 0, a - 1)\n    _, b = cas(x, 0, 1)\n    cas(x.rel, 1, 0)\n    fence\n    fence.rel\n    lock m\n    c = trylock m\n    unlock m\n    read c\n    write x\n    park\n    unpark main\n    spin\n    assert a\n";
        check_print(text, printed);
    }

    #[test]
    fn blocks_and_expressions() {
        let text = "t1: if a == 1 && b { a = 1 }\nelse if (a - 1) - 1 == a - (1 - 1) { while a < 2 || b upto 3 { x = a\n y1 = 2 } } else { }";
        let printed = "init x = 0, y1 = 0\nt1:\n    if a == 1 && b {\n        a = 1\n    } else {\n        if a - 1 - 1 == a - (1 - 1) {\n            while a < 2 || b upto 3 {\n                x = a\n                y1 = 2\n            }\n        }\n    }\n";
        check_print(text, printed);
    }

    #[test]
    fn errors_name_line_and_remedy() {
        check_error("x = 1", "line 1: this belongs to no thread; begin one with its name and a colon, `t1:`");
        check_error(
            "t1: x = 1\n  a = x + 1",
            "line 2: `x` is a location; load it into a register first, in a statement of its own",
        );
        check_error("t1: count.rlx = 1", "line 1: `count` is a register; list it under `init` to make it a location");
        check_error("t1: x = 1 y = 1", "line 1: expected `;` or the end of the line, found `y`");
        check_error("t1: if a { x = 1", "line 1: expected `}`, found the end of the thread");
        check_error("t1: x = 1 }", "line 1: expected a statement, found `}`");
        check_error("t1: a = x.rel", "line 1: a load cannot be `rel`; it can be one of rlx, acq, sc");
        check_error("t1: x.quick = 1", "line 1: expected one of rlx, acq, rel, acqrel, sc, found `quick`");
        check_error("t1: a = inc(x, 1)", "line 1: expected `cas` or a read-modify-write such as `add`, found `inc`");
        check_error("t1: x = 4294967296", "line 1: 4294967296 is not a number of 32 bits");
        check_error("t1: unpark t2", "line 1: there is no thread `t2`");
        check_error("t1: a = x\nt1: x = 1", "line 2: `t1` was already there");
        check_error("init x, x", "line 1: `x` was already there");
        check_error(
            "main: x = 1\nt1: x = 1",
            "line 2: nobody spawns `t1`; with a thread `main` every thread must be spawned",
        );
        check_error(
            "t1: spawn t2; spawn t2\nt2:",
            "line 1: `t2` may be spawned once only, and not in a loop; write another thread",
        );
        check_error(
            "t1: while 1 { spawn t2 }\nt2:",
            "line 1: `t2` may be spawned once only, and not in a loop; write another thread",
        );
        check_error("expect outcomes arm: ok", "line 1: expected one of sc, tso, pso, c11, found `arm`");
        check_error("t1: a = x\nexpect outcomes sc: b=1", "line 2: outcome `b=1` must list exactly the registers `a`");
        check_error(
            "expect outcomes sc: fine",
            "line 1: `fine` belongs in no outcome: write `a=1`, `stuck`, `panic` or `ok`",
        );
        check_error("t1: lock = 1", "line 1: expected a lock, found `=`");
        check_error("t1: read = 1", "line 1: expected a cell, found `=`");
        check_error(
            "t1: a = write",
            "line 1: `write` cannot be a name; take letters and digits, and no word of the language",
        );
        check_error("t1: a, b = x", "line 1: expected a read-modify-write, found `x`");
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_crash() {
        for text in ["(".repeat(100_000), "if 1 {".repeat(100_000), "if 1 {} else ".repeat(100_000)] {
            assert!(matches!(
                parse(&format!("t1: a = 1; {text}")),
                Err(Error::TooDeep { .. } | Error::Unexpected { .. })
            ));
        }
        let sum = format!("t1: a = 1{}", " + 1".repeat(100_000));
        assert_eq!(parse(&sum), Err(Error::TooDeep { line: 1, limit: 64 }));
    }

    #[test]
    fn random_programs_read_back_with_their_lines() {
        for seed in 0..500 {
            let program = random(seed, Size::default(), &Weights::EVERYTHING);
            let read = parse(&program.to_string()).unwrap_or_else(|error| panic!("{error}\n{program}"));
            assert_eq!(read, program);
            assert_eq!(lines(&read), lines(&program), "{program}");
        }
    }

    fn lines(program: &Program) -> Vec<u32> {
        let mut lines: Vec<u32> = program.all_threads().map(|thread| thread.line.0).collect();
        program.visit(|stmt| lines.push(stmt.line.0));
        lines
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "([a-z0-9_.:;,=+<&|!(){}# \n-]|init |if |while |cas|x|t1:|lock |expect |else ){0,60}") {
            if let Ok(program) = parse(&text) {
                let printed = program.to_string();
                assert_eq!(parse(&printed).as_ref(), Ok(&program), "{printed}");
            }
        }
    }
}
