//! The expressions that arguments have: literals, and lists of them. Anything else is kept for the error message.
//!
//! The parser of syn for all of Rust's expressions takes as long to build as the rest of syn.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Lit, Result, Token};

/// An expression, without the invisible groups around what a `macro_rules!` macro passed on.
pub(crate) enum Expr {
    /// A literal without a sign.
    Literal(Lit),
    /// Expressions in brackets.
    List {
        /// The brackets and what is in them.
        group: Group,
        /// The expressions.
        elements: Vec<Expr>,
    },
    /// Anything else.
    Other(TokenStream),
}

impl Parse for Expr {
    fn parse(input: ParseStream) -> Result<Expr> {
        let tokens = extent(input)?;
        let mut trees = tokens.clone().into_iter();
        let (Some(first), None) = (trees.next(), trees.next()) else { return Ok(Expr::Other(tokens)) };
        match first {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => syn::parse2(group.stream()),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                let elements =
                    syn::parse::Parser::parse2(Punctuated::<Expr, Token![,]>::parse_terminated, group.stream())?;
                Ok(Expr::List { group, elements: elements.into_iter().collect() })
            }
            _ => Ok(syn::parse2(tokens.clone()).map_or(Expr::Other(tokens), Expr::Literal)),
        }
    }
}

/// The tokens up to a comma, or to where no expression goes on: a word or a literal that follows no operator.
fn extent(input: ParseStream) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    let mut goes_on = true;
    while !input.is_empty() && !input.peek(Token![,]) {
        let next: TokenTree = input.fork().parse()?;
        if !goes_on && matches!(next, TokenTree::Ident(_) | TokenTree::Literal(_)) {
            break;
        }
        goes_on = matches!(next, TokenTree::Punct(_));
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    if tokens.is_empty() { Err(input.error("expected an expression")) } else { Ok(tokens) }
}

impl ToTokens for Expr {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Expr::Literal(literal) => literal.to_tokens(tokens),
            Expr::List { group, .. } => group.to_tokens(tokens),
            Expr::Other(other) => other.to_tokens(tokens),
        }
    }
}
