//! The arguments of `#[rsmc::spec]`: settings of the specification, those of each check, and values of parameters.

use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::Parser;
use syn::{Error, LitStr, Result};

use crate::args::Args;
use crate::errors::all_or_errors;
use crate::known::{Attribute, CRITERIA, SPEC, names};
use crate::spec::clause::{Clause, EXPECTED, Sign, clauses};
use crate::suggest::hint;
use crate::value::{self, Asked};

/// The parsed arguments.
#[derive(Default)]
pub(crate) struct Header {
    /// The configuration of each check.
    pub(crate) args: Args,
    /// Calls of methods of the builder.
    pub(crate) setters: TokenStream,
    /// The name of the criterion, if it is given.
    criterion: Option<LitStr>,
    /// Parameters with their values.
    pub(crate) values: Vec<(Ident, TokenStream)>,
    /// The settings that were seen.
    seen: Vec<String>,
}

impl Header {
    /// Reads the arguments. Reports every mistake.
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        let mut header = Self::default();
        let mut errors = Vec::new();
        for clause in clauses.parse2(tokens)? {
            errors.extend(header.add(clause).err());
        }
        all_or_errors(header, errors)
    }

    fn add(&mut self, Clause { name, sign, expr }: Clause) -> Result<()> {
        let text = name.to_string();
        if sign == Sign::Alone {
            return Err(Error::new(name.span(), EXPECTED));
        }
        if sign == Sign::In {
            if self.values.iter().any(|(other, _)| *other == name) {
                return Err(Error::new(name.span(), format!("`{name}` is given twice")));
            }
            self.values.push((name, expr));
            return Ok(());
        }
        if text == "replay" {
            let message = "a seed is of one scenario: run it by `RSMC_SCENARIO` and `RSMC_REPLAY`, as its report says";
            return Err(Error::new(name.span(), message));
        }
        let Some(known) = SPEC.iter().find(|known| known.name == text) else {
            let all = SPEC
                .iter()
                .map(|known| known.name)
                .chain(Attribute::Test.argument_names().filter(|name| *name != "replay"));
            if !Attribute::Test.argument_names().any(|known| known == text) {
                return Err(Error::new(name.span(), format!("unknown argument `{text}`{}", hint(&text, all))));
            }
            return self.args.add(&name, Some(syn::parse2(expr)?));
        };
        if self.seen.contains(&text) {
            return Err(Error::new(name.span(), format!("`{name}` is given twice")));
        }
        self.seen.push(text);
        if let Asked::Setter(setter) = value::read(known, &name, &syn::parse2(expr.clone())?)? {
            self.setters.extend(setter);
        }
        if known.name == "criterion" {
            self.criterion = Some(syn::parse2(expr)?);
        }
        Ok(())
    }

    /// The name of the test: the criterion.
    pub(crate) fn test_name(&self) -> Ident {
        let first = names(CRITERIA).next().expect("there are criteria").to_owned();
        let text = self.criterion.as_ref().map_or(first, LitStr::value);
        Ident::new(&text.replace('-', "_"), Span::call_site())
    }
}
