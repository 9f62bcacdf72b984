//! The annotated function: its parts, and the reasons why it cannot be a test.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Generics, LitStr, Meta, Path, Result, Token, Visibility};

use crate::errors::all_or_errors;
use crate::known;

/// A function with its body unread, so that syntax newer than ours, or half written in an editor, does no harm.
pub(crate) struct Function {
    /// Its attributes, without ours.
    pub(crate) attrs: Vec<Attribute>,
    /// Its visibility.
    pub(crate) vis: Visibility,
    /// The tokens between the visibility and the body.
    pub(crate) sig: Signature,
    /// Its body in braces.
    pub(crate) body: Group,
}

impl Parse for Function {
    fn parse(input: ParseStream) -> Result<Function> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let sig = input.parse()?;
        let body = braces(input)?;
        Ok(Function { attrs, vis, sig, body })
    }
}

/// The tokens before the body of a function. Those that a test may not have are kept for the error message.
pub(crate) struct Signature {
    constness: Option<Token![const]>,
    asyncness: Option<Token![async]>,
    safety: TokenStream,
    abi: TokenStream,
    keyword: Token![fn],
    /// The name.
    pub(crate) ident: Ident,
    generics: Generics,
    pub(crate) parameters: Group,
    /// The arrow and the type behind it.
    pub(crate) output: TokenStream,
    where_clause: TokenStream,
}

impl Parse for Signature {
    /// Leaves the body, which is the last token.
    fn parse(input: ParseStream) -> Result<Signature> {
        let constness = input.parse()?;
        let asyncness = input.parse()?;
        let safety = safety(input)?;
        let abi = abi(input)?;
        let keyword = input.parse()?;
        let ident = input.parse()?;
        let generics = input.parse()?;
        let parameters = match input.fork().parse() {
            Ok(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => group,
            _ => return Err(input.error("expected `(`")),
        };
        input.parse::<TokenTree>()?;
        let output = until(input, |input| input.peek(Token![where]))?;
        let where_clause = until(input, |_| false)?;
        Ok(Signature { constness, asyncness, safety, abi, keyword, ident, generics, parameters, output, where_clause })
    }
}

impl ToTokens for Signature {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Signature { constness, asyncness, safety, abi, keyword, ident, generics, .. } = self;
        let Signature { parameters, output, where_clause, .. } = self;
        tokens.extend(
            quote!(#constness #asyncness #safety #abi #keyword #ident #generics #parameters #output #where_clause),
        );
    }
}

/// `unsafe` or `safe`, if it is there.
fn safety(input: ParseStream) -> Result<TokenStream> {
    let is_safe = |ident: &Ident| ident == "safe";
    if input.peek(Token![unsafe]) || input.fork().parse().is_ok_and(|ident| is_safe(&ident)) {
        return input.parse::<TokenTree>().map(TokenStream::from);
    }
    Ok(TokenStream::new())
}

/// `extern "C"` or `extern`, if it is there.
fn abi(input: ParseStream) -> Result<TokenStream> {
    let keyword: Option<Token![extern]> = input.parse()?;
    let name: Option<LitStr> = if keyword.is_some() && input.peek(LitStr) { Some(input.parse()?) } else { None };
    Ok(quote!(#keyword #name))
}

/// The next tokens: all but the last, or those before one at which `ends` holds.
fn until(input: ParseStream, ends: impl Fn(ParseStream) -> bool) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    loop {
        let ahead = input.fork();
        if ahead.parse::<TokenTree>().is_err() || ahead.is_empty() || ends(input) {
            return Ok(tokens);
        }
        tokens.extend([input.parse::<TokenTree>()?]);
    }
}

/// The braces next in `input`, taken out of the invisible group around a block that a `macro_rules!` macro passed on.
fn braces(input: ParseStream) -> Result<Group> {
    let error = input.error("expected `{`");
    let mut next = input.parse().ok();
    while let Some(TokenTree::Group(group)) = next {
        match group.delimiter() {
            Delimiter::Brace => return Ok(group),
            Delimiter::None => next = group.stream().into_iter().next(),
            Delimiter::Parenthesis | Delimiter::Bracket => break,
        }
    }
    Err(error)
}

impl Function {
    /// Refuses a function that cannot be run as a test; reports every reason.
    pub(crate) fn check(&self, attribute: known::Attribute) -> Result<()> {
        let path = attribute.path();
        let twice = self.attrs.iter().filter(|attr| is_test(attr)).map(|attr| {
            let message = format!("`#[{path}]` makes this a test already, this would run it twice: remove one of them");
            Error::new_spanned(attr, message)
        });
        all_or_errors((), twice.chain(self.unsuitable_signature(path)))
    }

    /// The reasons why the signature is not that of a test.
    fn unsuitable_signature(&self, path: &str) -> impl Iterator<Item = Error> {
        let Signature { constness, asyncness, safety, abi, generics, parameters, where_clause, .. } = &self.sig;
        let reasons = [
            (tokens(constness), "cannot run const functions: remove `const`"),
            (tokens(asyncness), "cannot run async functions yet"),
            (tokens(safety), "cannot run unsafe functions: put an `unsafe` block into the body"),
            (tokens(abi), "cannot run extern functions: remove `extern`"),
            (tokens(generics), "cannot run generic functions: nothing would choose the arguments"),
            (tokens(where_clause), "cannot run generic functions: remove the `where` clause"),
            (parameters.stream(), "runs functions without parameters: nothing would pass these"),
        ];
        let given = reasons.into_iter().filter(|(at, _)| !at.is_empty());
        given.map(move |(at, reason)| Error::new_spanned(at, format!("{path} {reason}")))
    }

    /// The reasons why `what`, which is called as any function, cannot be this one.
    pub(crate) fn unsuitable(&self, what: &str) -> Vec<Error> {
        let Signature { asyncness, safety, generics, where_clause, .. } = &self.sig;
        let words = [
            (tokens(asyncness), "async"),
            (tokens(safety), "unsafe"),
            (tokens(generics), "generic"),
            (tokens(where_clause), "generic"),
        ];
        let reason = |(at, word)| Error::new_spanned(at, format!("{what} cannot be {word}"));
        words.into_iter().filter(|(at, _)| !at.is_empty()).map(reason).collect()
    }

    /// The type that it returns, if it is written.
    pub(crate) fn result(&self) -> Option<TokenStream> {
        let mut tokens = self.sig.output.clone().into_iter();
        let arrow: TokenStream = tokens.by_ref().take(2).collect();
        (!arrow.is_empty()).then(|| tokens.collect())
    }

    /// The function as it was, for the compiler to go on with after an error of ours, without complaints that follow
    /// from it.
    pub(crate) fn as_written(&self) -> TokenStream {
        let Function { attrs, vis, sig, body } = self;
        let attrs = attrs.iter().filter(|attr| !is_test(attr));
        quote!(#(#attrs)* #[allow(dead_code, unused_attributes)] #vis #sig #body)
    }

    /// A place for generated code: reads as if the function's name stood there, but resolves and lints as generated.
    pub(crate) fn span(&self) -> Span {
        Span::call_site().located_at(self.sig.ident.span())
    }
}

/// The tokens of a part of the signature that may be missing.
fn tokens(part: &impl ToTokens) -> TokenStream {
    part.to_token_stream()
}

/// Whether an attribute makes a test of its own: `#[test]`, `#[rsmc::test]`, `#[tokio::test]`, …, `#[rsmc::audit]`.
fn is_test(attr: &Attribute) -> bool {
    let segments: Vec<String> = attr.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
    segments.last().is_some_and(|last| last == "test") || segments.ends_with(&["rsmc".to_owned(), "audit".to_owned()])
}

/// A function's attributes by where they go when the function becomes a module with one test per model.
#[derive(Default)]
pub(crate) struct Sorted {
    /// To the function with the body.
    pub(crate) body: Vec<Attribute>,
    /// To the module.
    pub(crate) module: Vec<Attribute>,
    /// To each test.
    pub(crate) tests: Vec<Attribute>,
}

impl Sorted {
    /// True for an attribute of a module that means the tests in it: that they are ignored, or panic.
    pub(crate) fn is_for_tests(attr: &Attribute) -> bool {
        let path = path(attr);
        path.is_ident("ignore") || path.is_ident("should_panic")
    }

    /// Sorts the attributes; a `cfg_attr` goes where what it stands for would go.
    pub(crate) fn new(attrs: &[Attribute]) -> Sorted {
        let mut sorted = Sorted::default();
        for attr in attrs.iter().flat_map(one_each) {
            let [body, module, tests] = places(&attr);
            sorted.body.extend(body.then(|| attr.clone()));
            sorted.module.extend(module.then(|| attr.clone()));
            sorted.tests.extend(tests.then_some(attr));
        }
        sorted
    }
}

/// Whether an attribute belongs on the body, on the module, on the tests.
///
/// Lint levels hold for the body and for the names of the others, but an expectation is met only once, by the body. An
/// attribute that is not known here, say a macro that sets a time limit, goes on the tests, as it would with `#[test]`.
fn places(attr: &Attribute) -> [bool; 3] {
    let path = path(attr);
    let is = |names: &[&str]| names.iter().any(|name| path.is_ident(name));
    if is(&["cfg", "allow", "warn", "deny", "forbid"]) {
        [true, true, false]
    } else if is(&["expect"]) {
        [true, false, false]
    } else if is(&["doc"]) {
        [false, true, true]
    } else {
        [false, false, true]
    }
}

/// The name of an attribute made by [`one_each`].
fn path(attr: &Attribute) -> Path {
    conditional(attr).map_or_else(|| attr.path().clone(), |(_, meta)| meta.path().clone())
}

/// `#[cfg_attr(c, a, b)]` as `#[cfg_attr(c, a)] #[cfg_attr(c, b)]`; any other attribute as it is.
pub(crate) fn one_each(attr: &Attribute) -> Vec<Attribute> {
    let Some(metas) = cfg_attr(attr) else {
        return vec![attr.clone()];
    };
    let mut metas = metas.into_iter();
    let condition = metas.next();
    metas.map(|meta| syn::parse_quote!(#[cfg_attr(#condition, #meta)])).collect()
}

/// The condition and the attribute in a `#[cfg_attr(c, a)]` made by [`one_each`].
fn conditional(attr: &Attribute) -> Option<(Meta, Meta)> {
    let mut metas = cfg_attr(attr)?.into_iter();
    Some((metas.next()?, metas.next()?))
}

/// The parts between the parentheses of a `#[cfg_attr(…)]`.
fn cfg_attr(attr: &Attribute) -> Option<Punctuated<Meta, Token![,]>> {
    let parse = Punctuated::parse_terminated;
    attr.path().is_ident("cfg_attr").then(|| attr.parse_args_with(parse).ok()).flatten()
}
