//! The annotated module: the functions in it that matter. All else is left as it is.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Error, LitStr, Result, Token, Visibility};

use crate::function::Function;
use crate::spec::operation::{FORMS, Operation};

/// A module that is a specification.
pub(crate) struct Module {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    keyword: Token![mod],
    pub(crate) ident: Ident,
    /// The items in it, without our attributes.
    pub(crate) items: TokenStream,
    /// The function that makes the structure.
    pub(crate) new: Option<Function>,
    /// The function that makes the first state of the model.
    pub(crate) model: Option<Ident>,
    pub(crate) validate: Option<Ident>,
    pub(crate) operations: Vec<Operation>,
    /// The mistakes in its functions.
    pub(crate) errors: Vec<Error>,
}

impl Parse for Module {
    fn parse(input: ParseStream) -> Result<Module> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let keyword = input.parse()?;
        let ident = input.call(Ident::parse_any)?;
        let body: Group = input.parse()?;
        if body.delimiter() != Delimiter::Brace {
            return Err(Error::new(body.span(), "expected `{`"));
        }
        let mut module = Module {
            attrs,
            vis,
            keyword,
            ident,
            items: TokenStream::new(),
            new: None,
            model: None,
            validate: None,
            operations: Vec::new(),
            errors: Vec::new(),
        };
        (|input: ParseStream| module.read(input)).parse2(body.stream())?;
        Ok(module)
    }
}

impl Module {
    fn read(&mut self, input: ParseStream) -> Result<()> {
        while !input.is_empty() {
            if input.peek(Token![#]) && input.peek2(Token![!]) {
                self.items.extend([input.parse::<TokenTree>()?, input.parse()?, input.parse()?]);
                continue;
            }
            let attrs = input.call(Attribute::parse_outer)?;
            let (ours, others): (Vec<Attribute>, Vec<Attribute>) = attrs.into_iter().partition(is_ours);
            self.items.extend(others.iter().map(ToTokens::to_token_stream));
            if !is_function(input) {
                let told = |attr| Error::new_spanned(attr, "this goes on a function");
                self.errors.extend(ours.iter().map(told));
                self.items.extend(input.parse::<TokenTree>().map(TokenStream::from).unwrap_or_default());
                continue;
            }
            let tokens = function_tokens(input)?;
            self.items.extend(tokens.clone());
            if let Ok(mut function) = syn::parse2::<Function>(tokens) {
                function.attrs = others;
                self.function(&ours, function);
            }
        }
        Ok(())
    }

    /// Takes note of a function with these attributes of ours.
    fn function(&mut self, ours: &[Attribute], function: Function) {
        if let [_, second, ..] = ours {
            self.errors.push(Error::new_spanned(second, "a function has one of these attributes"));
        }
        let name = function.sig.ident.clone();
        match ours.first() {
            Some(attr) if attr.path().is_ident("validate") => self.validate(attr, name),
            Some(attr) => match Operation::new(attr, &function) {
                Ok(operation) => self.operations.push(operation),
                Err(error) => self.errors.push(error),
            },
            None if name == "new" => self.new = Some(function),
            None if name == "model" => self.model = Some(name),
            None => {}
        }
    }

    fn validate(&mut self, attr: &Attribute, name: Ident) {
        if let Err(error) = attr.meta.require_path_only() {
            self.errors.push(error);
        }
        if self.validate.replace(name).is_some() {
            self.errors.push(Error::new_spanned(attr, "there is a function with `#[validate]` already"));
        }
    }

    /// The module with `more` at its end.
    pub(crate) fn with(&self, attrs: &[Attribute], more: &TokenStream) -> TokenStream {
        let Module { vis, keyword, ident, items, .. } = self;
        quote!(#(#attrs)* #vis #keyword #ident { #items #more })
    }
}

fn is_ours(attr: &Attribute) -> bool {
    let is = |name: &&str| attr.path().is_ident(name);
    FORMS.iter().chain(&["validate"]).any(is)
}

/// True before a function. The word `fn` is in types, too, but no name follows it there.
fn is_function(input: ParseStream) -> bool {
    let function = |input: ParseStream| -> Result<()> {
        input.parse::<Visibility>()?;
        while !input.peek(Token![fn]) {
            if input.parse::<Option<LitStr>>()?.is_none() {
                let word = input.call(Ident::parse_any)?;
                if !["const", "async", "unsafe", "safe", "extern"].iter().any(|known| word == known) {
                    return Err(input.error("no function"));
                }
            }
        }
        input.parse::<Token![fn]>()?;
        input.parse::<Ident>().map(|_| ())
    };
    function(&input.fork()).is_ok()
}

/// The tokens of the next function, which ends with its body.
fn function_tokens(input: ParseStream) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() {
        let next: TokenTree = input.parse()?;
        let is_body = matches!(&next, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        tokens.extend([next]);
        if is_body {
            break;
        }
    }
    Ok(tokens)
}
