//! Reads statements and expressions by recursive descent.

use std::sync::atomic::Ordering;

use crate::litmus::program::is_name;
use crate::litmus::text::{ORDERS, failure_order, rmw_kind};
use crate::litmus::token::Token;
use crate::litmus::{Error, Expr, Line, Operator, Stmt, StmtKind};

/// The largest depth of blocks and parentheses, so that no text overflows the stack.
const DEPTH: u32 = 64;

/// The statements of one thread, as tokens.
pub(super) struct Statements<'a> {
    tokens: Vec<(Token, u32)>,
    at: usize,
    depth: u32,
    is_location: &'a dyn Fn(&str) -> bool,
}

impl<'a> Statements<'a> {
    pub(super) fn new(tokens: Vec<(Token, u32)>, is_location: &'a dyn Fn(&str) -> bool) -> Self {
        Self { tokens, at: 0, depth: 0, is_location }
    }

    /// Reads all statements.
    pub(super) fn all(mut self) -> Result<Vec<Stmt>, Error> {
        let body = self.statements()?;
        if self.peek() == &Token::End { Ok(body) } else { Err(self.unexpected("a statement")) }
    }

    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |(_, line)| *line)
    }

    fn unexpected(&self, expected: &'static str) -> Error {
        Error::Unexpected { line: self.line(), expected, found: self.peek().to_string() }
    }

    /// Takes the mark if it is next.
    fn accept(&mut self, mark: &'static str) -> bool {
        let found = self.peek() == &Token::Mark(mark);
        self.at += usize::from(found);
        found
    }

    fn need(&mut self, mark: &'static str, expected: &'static str) -> Result<(), Error> {
        if self.accept(mark) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Takes the word if it is next.
    fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(next) if next == word);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, expected: &'static str) -> Result<String, Error> {
        let Token::Word(word) = self.peek() else { return Err(self.unexpected(expected)) };
        let word = word.clone();
        self.at += 1;
        Ok(word)
    }

    fn name(&mut self, expected: &'static str) -> Result<String, Error> {
        let line = self.line();
        let name = self.word(expected)?;
        if is_name(&name) { Ok(name) } else { Err(Error::Name { line, name }) }
    }

    fn register(&mut self) -> Result<String, Error> {
        let line = self.line();
        let name = self.name("a register")?;
        if (self.is_location)(&name) { Err(Error::NotARegister { line, name }) } else { Ok(name) }
    }

    fn location(&mut self) -> Result<String, Error> {
        let line = self.line();
        let name = self.name("a location")?;
        if (self.is_location)(&name) { Ok(name) } else { Err(Error::NotALocation { line, name }) }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth == DEPTH {
            return Err(Error::TooDeep { line: self.line(), limit: DEPTH });
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn statements(&mut self) -> Result<Vec<Stmt>, Error> {
        let mut body = Vec::new();
        loop {
            while self.peek() == &Token::Separator {
                self.at += 1;
            }
            if matches!(self.peek(), Token::End | Token::Mark("}")) {
                return Ok(body);
            }
            let line = Line(self.line());
            let kind = self.statement()?;
            body.push(Stmt { line, kind });
            if !matches!(self.peek(), Token::Separator | Token::End | Token::Mark("}")) {
                return Err(self.unexpected("`;` or the end of the line"));
            }
        }
    }

    fn block(&mut self) -> Result<Vec<Stmt>, Error> {
        self.need("{", "`{`")?;
        let body = self.deeper(Self::statements)?;
        self.need("}", "`}`")?;
        Ok(body)
    }

    fn statement(&mut self) -> Result<StmtKind, Error> {
        let start = self.at;
        let word = self.word("a statement")?;
        match word.as_str() {
            "fence" => Ok(StmtKind::Fence(self.order()?.unwrap_or(Ordering::SeqCst))),
            "lock" => Ok(StmtKind::Lock(self.name("a lock")?)),
            "unlock" => Ok(StmtKind::Unlock(self.name("a lock")?)),
            "read" => Ok(StmtKind::CellRead(self.name("a cell")?)),
            "write" => Ok(StmtKind::CellWrite(self.name("a cell")?)),
            "poke" => Ok(StmtKind::Poke { cell: self.name("a cell")?, value: self.expression()? }),
            "park" => Ok(StmtKind::Park),
            "unpark" => Ok(StmtKind::Unpark(self.name("a thread")?)),
            "spin" => Ok(StmtKind::Spin),
            "assert" => Ok(StmtKind::Assert(self.expression()?)),
            "spawn" => Ok(StmtKind::Spawn(self.name("a thread")?)),
            "join" => Ok(StmtKind::Join(self.name("a thread")?)),
            "if" => self.if_else(),
            "while" => {
                let condition = self.expression()?;
                let bound = if self.accept_word("upto") { Some(self.number()?) } else { None };
                Ok(StmtKind::While { condition, bound, body: self.block()? })
            }
            _ if self.peek() == &Token::Mark("(") => self.call(&word, None, None),
            _ => {
                self.at = start;
                self.assignment(&word)
            }
        }
    }

    fn if_else(&mut self) -> Result<StmtKind, Error> {
        let condition = self.expression()?;
        let then = self.block()?;
        let mut otherwise = Vec::new();
        let end = self.at;
        while self.peek() == &Token::Separator {
            self.at += 1;
        }
        if !self.accept_word("else") {
            self.at = end;
        } else if matches!(self.peek(), Token::Word(word) if word == "if") {
            let line = Line(self.line());
            self.at += 1;
            let kind = self.deeper(Self::if_else)?;
            otherwise.push(Stmt { line, kind });
        } else {
            otherwise = self.block()?;
        }
        Ok(StmtKind::If { condition, then, otherwise })
    }

    fn assignment(&mut self, first: &str) -> Result<StmtKind, Error> {
        if (self.is_location)(first) {
            let loc = self.location()?;
            let order = self.order()?.unwrap_or(Ordering::SeqCst);
            self.need("=", "`=`")?;
            return Ok(StmtKind::Store { loc, value: self.expression()?, order });
        }
        let to = self.target()?;
        let old = if self.accept(",") { self.target()? } else { None };
        if self.peek() == &Token::Mark(".") {
            return Err(Error::NotALocation { line: self.line(), name: first.to_owned() });
        }
        self.need("=", "`=`")?;
        self.assigned(to, old)
    }

    fn target(&mut self) -> Result<Option<String>, Error> {
        if self.accept_word("_") { Ok(None) } else { self.register().map(Some) }
    }

    fn assigned(&mut self, to: Option<String>, old: Option<String>) -> Result<StmtKind, Error> {
        let start = self.at;
        if let Token::Word(word) = self.peek().clone() {
            self.at += 1;
            match self.peek() {
                Token::Mark("(") => return self.call(&word, to, old),
                Token::Mark(".") if !(self.is_location)(&word) => {
                    return Err(Error::NotALocation { line: self.line(), name: word });
                }
                _ => self.at = start,
            }
        }
        let (Some(to), None) = (to, old) else { return Err(self.unexpected("a read-modify-write")) };
        if self.accept_word("trylock") {
            return Ok(StmtKind::TryLock { to, lock: self.name("a lock")? });
        }
        if self.accept_word("peek") {
            return Ok(StmtKind::Peek { to, cell: self.name("a cell")? });
        }
        if self.accept_word("choose") {
            return Ok(StmtKind::Choose { to, of: Some(self.number()?.max(1)) });
        }
        if self.accept_word("maybe") {
            return Ok(StmtKind::Choose { to, of: None });
        }
        match self.peek().clone() {
            Token::Word(word) if (self.is_location)(&word) => {
                let line = self.line();
                let loc = self.location()?;
                let order = self.order()?.unwrap_or(Ordering::SeqCst);
                if matches!(self.peek(), Token::Mark(mark) if *mark != "}") {
                    return Err(Error::NotARegister { line, name: loc });
                }
                Ok(StmtKind::Load { to, loc, order })
            }
            _ => Ok(StmtKind::Assign { to, value: self.expression()? }),
        }
    }

    fn call(&mut self, function: &str, to: Option<String>, old: Option<String>) -> Result<StmtKind, Error> {
        let kind = rmw_kind(function);
        if kind.is_none() && function != "cas" && function != "wcas" {
            self.at -= 1;
            return Err(self.unexpected("`cas` or a read-modify-write such as `add`"));
        }
        self.need("(", "`(`")?;
        let loc = self.location()?;
        let order = self.order()?.unwrap_or(Ordering::SeqCst);
        let failure = self.order()?;
        self.need(",", "`,`")?;
        let operand = self.expression()?;
        let Some(kind) = kind else {
            self.need(",", "`,`")?;
            let new = self.expression()?;
            self.need(")", "`)`")?;
            let failure = failure.unwrap_or(failure_order(order));
            let weak = function == "wcas";
            return Ok(StmtKind::Cas { weak, success: to, old, loc, expected: operand, new, order, failure });
        };
        if old.is_some() || failure.is_some() {
            return Err(self.unexpected("a second register or ordering for `cas` only"));
        }
        self.need(")", "`)`")?;
        Ok(StmtKind::Rmw { to, kind, loc, operand, order })
    }

    /// `.acq` and the like, if there is one.
    fn order(&mut self) -> Result<Option<Ordering>, Error> {
        if !self.accept(".") {
            return Ok(None);
        }
        let line = self.line();
        let found = self.word("an ordering")?;
        match ORDERS.iter().find(|(_, name)| *name == found) {
            Some((order, _)) => Ok(Some(*order)),
            None => Err(Error::Word { line, found, allowed: "rlx, acq, rel, acqrel, sc".to_owned() }),
        }
    }

    fn number(&mut self) -> Result<u32, Error> {
        let Token::Number(number) = self.peek() else { return Err(self.unexpected("a number")) };
        let number = u32::try_from(*number).unwrap_or(u32::MAX);
        self.at += 1;
        Ok(number)
    }

    fn expression(&mut self) -> Result<Expr, Error> {
        self.deeper(|this| this.binary(1))
    }

    /// Reads an expression of operators that bind at least so strongly; equal ones group to the left.
    fn binary(&mut self, strength: u8) -> Result<Expr, Error> {
        let mut left = self.operand()?;
        for _ in 0..DEPTH {
            let Token::Mark(mark) = *self.peek() else { return Ok(left) };
            let found = Operator::ALL.iter().find(|(_, text, binds)| *text == mark && *binds >= strength);
            let Some(&(operator, _, binds)) = found else { return Ok(left) };
            self.at += 1;
            let right = self.binary(binds + 1)?;
            left = Expr::binary(operator, left, right);
        }
        Err(Error::TooDeep { line: self.line(), limit: DEPTH })
    }

    fn operand(&mut self) -> Result<Expr, Error> {
        match self.peek() {
            Token::Number(_) => Ok(Expr::Number(u64::from(self.number()?))),
            Token::Word(_) => Ok(Expr::Register(self.register()?)),
            _ => {
                self.need("(", "an expression")?;
                let inner = self.expression()?;
                self.need(")", "`)`")?;
                Ok(inner)
            }
        }
    }
}
