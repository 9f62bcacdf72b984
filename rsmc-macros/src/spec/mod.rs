//! The attribute `#[rsmc::spec]`: a module with the functions of a model becomes a specification and its test.
//!
//! `clause` reads arguments of attributes, `header` those of the module, `operation` a function that is an operation,
//! `module` finds the functions. This file writes the function `spec` and the tests.

mod clause;
mod header;
mod module;
mod operation;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Error, LitStr, Result};

use crate::errors::all_or_errors;
use crate::function::{Sorted, one_each};
use crate::spec::header::Header;
use crate::spec::module::Module;
use crate::spec::operation::{Argument, Operation};

/// Expands `#[rsmc::spec(args)] mod …`. After an error the module is still there, so that nothing else seems to be
/// missing.
pub(crate) fn spec(args: TokenStream, item: TokenStream) -> TokenStream {
    let module = match syn::parse2::<Module>(item.clone()) {
        Ok(module) => module,
        Err(error) => {
            let message = format!("`#[rsmc::spec]` goes on a module with a body: {error}");
            let error = Error::new(error.span(), message).into_compile_error();
            return quote!(#error #item);
        }
    };
    let (attrs, of_tests) = sorted(&module.attrs);
    match checked(args, &module).and_then(|header| Ok((function(&header, &module)?, header))) {
        Ok((function, header)) => {
            let tests = tests(&header, &module, &of_tests);
            module.with(&attrs, &quote!(#function #tests))
        }
        Err(error) => {
            let error = error.into_compile_error();
            let module = module.with(&attrs, &TokenStream::new());
            quote!(#error #[allow(dead_code, unused_imports)] #module)
        }
    }
}

/// The attributes of the module, and those that its tests have instead.
fn sorted(attrs: &[Attribute]) -> (Vec<Attribute>, Vec<Attribute>) {
    attrs.iter().flat_map(one_each).partition(|attr| !Sorted::is_for_tests(attr))
}

/// The arguments, if neither they nor the functions have errors.
fn checked(args: TokenStream, module: &Module) -> Result<Header> {
    let mut errors = module.errors.clone();
    if module.operations.is_empty() && errors.is_empty() {
        let message = "a specification has operations: functions of the model with `#[op]`, `#[op_where]` or \
                       `#[blocking]`";
        errors.push(Error::new(module.ident.span(), message));
    }
    if module.new.is_none() {
        let message = "a specification has a function `new` that makes the structure: `fn new() -> Queue { … }`";
        errors.push(Error::new(module.ident.span(), message));
    }
    let header = Header::parse(args).unwrap_or_else(|error| {
        errors.push(error);
        Header::default()
    });
    for (name, _) in &header.values {
        let mut arguments = module.operations.iter().flat_map(|operation| &operation.arguments);
        if errors.is_empty() && !arguments.any(|argument| argument.name.as_ref() == Some(name)) {
            errors.push(Error::new(name.span(), format!("no operation has a parameter `{name}`")));
        }
    }
    all_or_errors(header, errors)
}

/// A name of ours, which no name of the user's is.
fn ours(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// A place for generated code: reads as if these tokens stood there, but resolves and lints as generated.
fn at(tokens: &impl Spanned) -> Span {
    Span::mixed_site().located_at(tokens.span())
}

/// The function `spec`, as visible as `new`.
fn function(header: &Header, module: &Module) -> Result<TokenStream> {
    let new = module.new.as_ref().expect("it was looked for");
    let structure = new
        .result()
        .ok_or_else(|| Error::new(new.sig.ident.span(), "`new` returns the structure: `fn new() -> Queue { … }`"))?;
    let model = &module.operations[0].model;
    let of_model = module.model.as_ref().map_or_else(
        || quote_spanned!(at(model)=> <#model as ::core::default::Default>::default),
        ToTokens::to_token_stream,
    );
    let (vis, name, spec) = (&new.vis, &new.sig.ident, ours("spec"));
    let mut domains = Domains::default();
    let operations: Vec<TokenStream> =
        module.operations.iter().map(|operation| call(header, operation, &structure, &mut domains)).collect();
    let domains = domains.lets;
    let groups = groups(&module.operations);
    let validate = module.validate.iter().map(|name| quote!(.validate(#name)));
    let (setters, config) = (&header.setters, header.args.config(None));
    let doc = "The specification: the structure, its model and their operations.";
    Ok(quote! {
        #[doc = #doc]
        #[allow(dead_code)]
        #vis fn spec() -> ::rsmc::spec::Spec<#structure, #model> {
            #(#domains)*
            let #spec = ::rsmc::spec::Spec::<#structure, #model>::new(#name, #of_model);
            #(#operations)*
            #spec #(#groups)* #(#validate)* #setters .config(#config)
        }
    })
}

/// The calls that keep operations of a group on one thread.
fn groups(operations: &[Operation]) -> Vec<TokenStream> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for operation in operations {
        let Some(group) = operation.on_one_thread.as_ref().map(LitStr::value) else { continue };
        match groups.iter_mut().find(|(other, _)| *other == group) {
            Some((_, names)) => names.push(operation.text()),
            None => groups.push((group, vec![operation.text()])),
        }
    }
    groups.into_iter().map(|(_, names)| quote!(.on_one_thread([#(#names),*]))).collect()
}

/// The statement that adds an operation.
fn call(header: &Header, operation: &Operation, structure: &TokenStream, domains: &mut Domains) -> TokenStream {
    let Operation { form, cfgs, name, arguments, .. } = operation;
    let spec = ours("spec");
    let names: Vec<Ident> = (0..arguments.len()).map(|at| ours(&format!("argument_{at}"))).collect();
    let passed: Vec<TokenStream> =
        arguments.iter().zip(&names).map(|(argument, name)| passed(argument, name)).collect();
    let values: Vec<Ident> = arguments.iter().map(|argument| domains.of(header, argument)).collect();
    let (pattern, values) = match (&names[..], &values[..]) {
        ([], _) => (quote!(_), quote!([()])),
        ([name], [values]) => (quote!(#name), quote!(::core::clone::Clone::clone(&#values))),
        _ => (quote!((#(#names),*)), quote!((#(::core::clone::Clone::clone(&#values)),*))),
    };
    let run = run(operation, structure, &pattern, &passed);
    let model = ours("model");
    let result = (form == "op_where").then(|| ours("result")).into_iter().map(|result| quote!(, #result));
    let result = &TokenStream::from_iter(result);
    let model = quote_spanned!(at(name)=> |#model, #pattern #result| #name(#model #(, #passed)* #result));
    let text = operation.text();
    let progress = operation.is_lock_free.then(|| quote!(.lock_free([#text])));
    let adds = quote_spanned!(at(name)=> #spec.#form(#text, #values, #run, #model) #progress);
    quote!(#(#cfgs)* let #spec = #adds;)
}

/// The function that makes the call of the structure.
fn run(operation: &Operation, structure: &TokenStream, pattern: &TokenStream, passed: &[TokenStream]) -> TokenStream {
    let name = &operation.name;
    let it = Ident::new("structure", at(name));
    let Some(call) = &operation.call else {
        return quote_spanned!(at(name)=> |#it: &#structure, #pattern| #it.#name(#(#passed),*));
    };
    let types = operation.arguments.iter().map(|argument| &argument.ty);
    let (function, run) = (ours("typed"), ours("run"));
    quote_spanned! {at(call)=>
        {
            fn #function<R, F: ::core::ops::Fn(&#structure #(, #types)*) -> R>(function: F) -> F {
                function
            }
            let #run = #function(#call);
            move |#it: &#structure, #pattern| #run(#it #(, #passed)*)
        }
    }
}

/// An argument, from a reference to its value.
fn passed(argument: &Argument, name: &Ident) -> TokenStream {
    match argument.referent() {
        Some(referent) => quote_spanned!(at(&argument.ty)=> ::core::borrow::Borrow::<#referent>::borrow(#name)),
        None => {
            let ty = &argument.ty;
            quote_spanned!(at(ty)=> <#ty as ::core::clone::Clone>::clone(#name))
        }
    }
}

/// The values of parameters. Those with the same expression belong together, whatever their types are: symmetric values
/// are equal in all operations then.
#[derive(Default)]
struct Domains {
    /// The expressions, with the variable of the first parameter that has it.
    known: Vec<(String, Ident)>,
    /// The variables.
    lets: Vec<TokenStream>,
}

impl Domains {
    /// The variable with the values of this argument.
    fn of(&mut self, header: &Header, argument: &Argument) -> Ident {
        let (name, owned) = (ours(&format!("values_{}", self.lets.len())), argument.owned());
        let of_name = || header.values.iter().find(|(name, _)| argument.name.as_ref() == Some(name));
        let values = match argument.values.as_ref().or_else(|| of_name().map(|(_, values)| values)) {
            Some(values) => self.said(values, &name),
            None => quote_spanned! {at(&argument.ty)=>
                ::core::convert::Into::into(<#owned as ::rsmc::spec::DefaultValues>::default_values())
            },
        };
        self.lets.push(quote!(let #name: ::rsmc::spec::Values<#owned> = #values;));
        name
    }

    /// The values of an expression, which become those of a variable.
    fn said(&mut self, values: &TokenStream, name: &Ident) -> TokenStream {
        let text = values.to_string();
        let into = quote_spanned!(at(values)=> ::core::convert::Into::into(#values));
        if let Some((_, first)) = self.known.iter().find(|(known, _)| *known == text) {
            return quote!(::rsmc::__private::alike(#into, &#first));
        }
        self.known.push((text, name.clone()));
        into
    }
}

/// The test, or a module of its name with a test for each memory model. Its line is that of the module's name.
fn tests(header: &Header, module: &Module, attrs: &[Attribute]) -> TokenStream {
    let (name, span) = (header.test_name(), at(&module.ident));
    if header.args.models().is_empty() {
        return quote_spanned! {span=>
            #(#attrs)*
            #[::core::prelude::v1::test]
            fn #name() {
                spec().check();
            }
        };
    }
    let tests = header.args.models().iter().map(|model| {
        let (ident, config) = (&model.ident, header.args.config(Some(model)));
        quote_spanned! {span=>
            #(#attrs)*
            #[::core::prelude::v1::test]
            fn #ident() {
                super::spec().config(#config).check();
            }
        }
    });
    quote_spanned!(span=> #[cfg(test)] mod #name { #(#tests)* })
}
