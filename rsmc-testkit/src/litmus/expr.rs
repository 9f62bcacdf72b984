//! Expressions over registers: 32-bit unsigned numbers that wrap.

use std::fmt;

/// Numbers are kept in 64 bits and cut to these.
pub(super) const MASK: u64 = u32::MAX as u64;

/// The function of a binary expression; comparisons and logic give 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Wrapping addition.
    Add,
    /// Wrapping subtraction.
    Sub,
    /// Equality.
    Eq,
    /// Inequality.
    Ne,
    /// Less than.
    Lt,
    /// Both are not 0.
    And,
    /// One is not 0.
    Or,
}

impl Operator {
    /// All operators with their text and the strength with which they bind.
    pub(super) const ALL: &'static [(Operator, &'static str, u8)] = &[
        (Operator::Or, "||", 1),
        (Operator::And, "&&", 2),
        (Operator::Eq, "==", 3),
        (Operator::Ne, "!=", 3),
        (Operator::Lt, "<", 3),
        (Operator::Add, "+", 4),
        (Operator::Sub, "-", 4),
    ];

    fn entry(self) -> &'static (Operator, &'static str, u8) {
        Self::ALL.iter().find(|(operator, ..)| *operator == self).expect("all are listed")
    }

    fn strength(self) -> u8 {
        self.entry().2
    }

    fn apply(self, a: u64, b: u64) -> u64 {
        match self {
            Operator::Add => a.wrapping_add(b) & MASK,
            Operator::Sub => a.wrapping_sub(b) & MASK,
            Operator::Eq => u64::from(a == b),
            Operator::Ne => u64::from(a != b),
            Operator::Lt => u64::from(a < b),
            Operator::And => u64::from(a != 0 && b != 0),
            Operator::Or => u64::from(a != 0 || b != 0),
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry().1)
    }
}

/// An expression; `R` names a register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr<R = String> {
    /// A number.
    Number(u64),
    /// The value of a register.
    Register(R),
    /// Two expressions combined.
    Binary(Operator, Box<Expr<R>>, Box<Expr<R>>),
}

impl<R> Expr<R> {
    /// Combines two expressions.
    pub fn binary(operator: Operator, left: Self, right: Self) -> Self {
        Expr::Binary(operator, Box::new(left), Box::new(right))
    }

    /// The value, given the registers.
    pub fn eval(&self, register: &impl Fn(&R) -> u64) -> u64 {
        match self {
            Expr::Number(number) => number & MASK,
            Expr::Register(name) => register(name),
            Expr::Binary(operator, left, right) => operator.apply(left.eval(register), right.eval(register)),
        }
    }

    /// This expression with other names of registers.
    pub fn map<S>(&self, rename: &mut impl FnMut(&R) -> S) -> Expr<S> {
        match self {
            Expr::Number(number) => Expr::Number(*number),
            Expr::Register(name) => Expr::Register(rename(name)),
            Expr::Binary(operator, left, right) => Expr::binary(*operator, left.map(rename), right.map(rename)),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = |f: &mut fmt::Formatter<'_>, expr: &Expr, weakest: u8| match expr {
            Expr::Binary(operator, ..) if operator.strength() < weakest => write!(f, "({expr})"),
            _ => write!(f, "{expr}"),
        };
        match self {
            Expr::Number(number) => write!(f, "{number}"),
            Expr::Register(name) => f.write_str(name),
            Expr::Binary(operator, left, right) => {
                inner(f, left, operator.strength())?;
                write!(f, " {operator} ")?;
                inner(f, right, operator.strength() + 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_in_32_bits() {
        let minus_one: Expr = Expr::binary(Operator::Sub, Expr::Number(0), Expr::Number(1));
        assert_eq!(minus_one.eval(&|_| 0), u64::from(u32::MAX));
        let zero = Expr::binary(Operator::Add, minus_one, Expr::Register("a".to_owned()));
        assert_eq!(zero.eval(&|_| 1), 0);
        assert_eq!(zero.to_string(), "0 - 1 + a");
    }
}
