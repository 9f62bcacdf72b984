//! The arguments of the attributes of a specification: `name = expression`, `name in values`, and a name alone.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, Result, Token};

/// One argument.
pub(crate) struct Clause {
    pub(crate) name: Ident,
    pub(crate) sign: Sign,
    /// The tokens behind the sign. They may be any expression.
    pub(crate) expr: TokenStream,
}

/// The sign between the name and the expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// `=`: a setting.
    Is,
    /// `in`: the values of a parameter.
    In,
    /// None: the name says it all.
    Alone,
}

/// The message for a name alone that needs more.
pub(crate) const EXPECTED: &str = "expected `name = value` or `parameter in values`";

/// Reads arguments with commas between them.
pub(crate) fn clauses(input: ParseStream) -> Result<Vec<Clause>> {
    let mut clauses = Vec::new();
    while !input.is_empty() {
        clauses.push(clause(input)?);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(clauses)
}

fn clause(input: ParseStream) -> Result<Clause> {
    let name = input.call(Ident::parse_any).map_err(|error| Error::new(error.span(), EXPECTED))?;
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(Clause { name, sign: Sign::Alone, expr: TokenStream::new() });
    }
    let sign = if input.parse::<Option<Token![in]>>()?.is_some() {
        Sign::In
    } else if input.parse::<Option<Token![=]>>()?.is_some() {
        Sign::Is
    } else {
        return Err(Error::new(name.span(), EXPECTED));
    };
    let expr = expression(input)?;
    if expr.is_empty() {
        return Err(Error::new(name.span(), format!("an expression is missing behind `{name}`")));
    }
    Ok(Clause { name, sign, expr })
}

/// The tokens up to the comma behind an expression. One between the parameters of a closure is in the expression.
fn expression(input: ParseStream) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    let mut pipes = 0;
    while !input.is_empty() && (pipes == 1 || !input.peek(Token![,])) {
        let next: TokenTree = input.parse()?;
        let starts_closure = tokens.clone().into_iter().all(|token| token.to_string() == "move");
        if matches!(&next, TokenTree::Punct(punct) if punct.as_char() == '|') && (starts_closure || pipes == 1) {
            pipes += 1;
        }
        tokens.extend([next]);
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse::Parser;

    use super::*;

    fn read(tokens: TokenStream) -> Result<Vec<String>> {
        let text = |clause: Clause| match clause.sign {
            Sign::Is => format!("{} = {}", clause.name, clause.expr),
            Sign::In => format!("{} in {}", clause.name, clause.expr),
            Sign::Alone => clause.name.to_string(),
        };
        Ok(clauses.parse2(tokens)?.into_iter().map(text).collect())
    }

    #[test]
    fn commas_of_closures_are_in_the_expression() {
        let tokens = quote!(v in [1, 2], call = move |a, b| a.f(b | 1), alone, other = || f(), last = X | Y,);
        let expected =
            ["v in [1 , 2]", "call = move | a , b | a . f (b | 1)", "alone", "other = || f ()", "last = X | Y"];
        assert_eq!(read(tokens).unwrap(), expected);
        assert!(read(quote!()).unwrap().is_empty());
    }

    #[test]
    fn mistakes_are_told() {
        let error = |tokens| read(tokens).unwrap_err().to_string();
        assert_eq!(error(quote!(3)), "expected `name = value` or `parameter in values`");
        assert_eq!(error(quote!(v: [1])), "expected `name = value` or `parameter in values`");
        assert_eq!(error(quote!(v in, call = f)), "an expression is missing behind `v`");
    }
}
