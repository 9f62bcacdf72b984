//! The expansion of the attributes.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, Error};

use crate::args::Args;
use crate::errors::all_or_errors;
use crate::function::{Function, Sorted};
use crate::known;
use crate::value::Model;

/// Expands `#[rsmc::test(args)] item` or `#[rsmc::audit(args)] item`. After an error the item is still there, so that
/// nothing else seems to be missing.
pub(crate) fn expand(attribute: known::Attribute, args: TokenStream, item: TokenStream) -> TokenStream {
    let function = match syn::parse2::<Function>(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let message = format!("`#[{}]` goes on a function with a body: {error}", attribute.path());
            let error = Error::new(error.span(), message).into_compile_error();
            return quote!(#error #item);
        }
    };
    match checked(attribute, args, &function) {
        Ok(args) if args.models().is_empty() => one_test(&args, &function),
        Ok(args) => one_test_per_model(&args, &function),
        Err(error) => {
            let error = error.into_compile_error();
            let function = function.as_written();
            quote!(#error #function)
        }
    }
}

/// The arguments, if neither they nor the function have errors.
fn checked(attribute: known::Attribute, args: TokenStream, function: &Function) -> syn::Result<Args> {
    match (Args::parse(attribute, args), function.check(attribute)) {
        (Err(args), Err(function)) => all_or_errors(Args::default(), [args, function]),
        (Err(error), Ok(())) | (Ok(_), Err(error)) => Err(error),
        (Ok(args), Ok(())) => Ok(args),
    }
}

/// A test of the function's name. Inside is a function of the same name with the body: the same name, so that no name
/// is added that the body could run into; a function rather than a closure, so that `-> impl Trait`, `#![…]` at its
/// start and a body that only panics mean what they mean in a test.
fn one_test(args: &Args, function: &Function) -> TokenStream {
    let Function { attrs, vis, sig, body } = function;
    let (name, output) = (&sig.ident, &sig.output);
    let mut inner = name.clone();
    inner.set_span(function.span());
    let call = call(function, &name.to_string(), &args.config(None), args.assertion(), quote!());
    quote_spanned! {function.span()=>
        #(#attrs)*
        #[::core::prelude::v1::test]
        #vis fn #name() {
            fn #inner() #output #body
            #call;
        }
    }
}

/// A module of the function's name with one test per model, beside the function itself, which they share. It stays
/// outside of the module, so that every path in it means what it meant.
fn one_test_per_model(args: &Args, function: &Function) -> TokenStream {
    let Function { attrs, vis, sig, body } = function;
    let Sorted { body: body_attrs, module: module_attrs, tests: test_attrs } = Sorted::new(attrs);
    let (name, output) = (&sig.ident, &sig.output);
    let mut module = name.clone();
    module.set_span(function.span());
    let tests = args.models().iter().map(|model| model_test(args, function, &test_attrs, model));
    quote_spanned! {function.span()=>
        #(#body_attrs)*
        #[cfg(test)]
        fn #name() #output #body

        #(#module_attrs)*
        #[cfg(test)]
        #vis mod #module {
            #(#tests)*
        }
    }
}

/// The test for one model, inside of the module.
fn model_test(args: &Args, function: &Function, attrs: &[Attribute], model: &Model) -> TokenStream {
    let (vis, name) = (&function.vis, &model.ident);
    let call = call(function, &name.to_string(), &args.config(Some(model)), None, quote!(super::));
    quote_spanned! {function.span()=>
        #(#attrs)*
        #[::core::prelude::v1::test]
        #vis fn #name() {
            #call;
        }
    }
}

/// The call that runs the check, and the one that looks at what the body returned, bear the span of the function's
/// name: a `#[track_caller]` callee gets that line, not the attribute's. The rest is the macro's own, so lints of
/// the user's crate do not apply to it: the trait is not used where the result is a `Result`. Call paths leave out the
/// function with this name.
fn call(
    function: &Function,
    name: &str,
    config: &TokenStream,
    assertion: Option<TokenStream>,
    path: TokenStream,
) -> TokenStream {
    let body = &function.sig.ident;
    let full_name = quote!(::core::concat!(::core::module_path!(), "::", #name));
    let returned = quote!(::rsmc::__private::returned(#path #body()));
    let assert_success = quote_spanned!(body.span()=> assert_success());
    let code = quote! {
        {
            fn __rsmc_body() {
                use ::rsmc::__private::ByTermination as _;
                #returned.#assert_success;
            }
            __rsmc_body
        }
    };
    match assertion {
        None => quote_spanned!(body.span()=> ::rsmc::__private::run_test(#full_name, #config, #code)),
        Some(assertion) => {
            quote_spanned!(body.span()=> ::rsmc::__private::run_audit(#full_name, #config, #assertion, #code))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(args: TokenStream, item: TokenStream) -> TokenStream {
        expand(known::Attribute::Test, args, item)
    }

    /// Expects the expansion of `args` on `item` to be `expected`, token by token.
    #[track_caller]
    fn check(args: TokenStream, item: TokenStream, expected: TokenStream) {
        assert_eq!(test(args, item).to_string(), expected.to_string());
    }

    #[test]
    fn one_test_keeps_attributes_visibility_and_return_type() {
        check(
            quote!(seed = 7),
            quote! {
                #[doc = "Doc."]
                #[ignore]
                pub(crate) fn f() -> Result<(), E> { g()?; Ok(()) }
            },
            quote! {
                #[doc = "Doc."]
                #[ignore]
                #[::core::prelude::v1::test]
                pub(crate) fn f() {
                    fn f() -> Result<(), E> { g()?; Ok(()) }
                    ::rsmc::__private::run_test(
                        ::core::concat!(::core::module_path!(), "::", "f"),
                        ::rsmc::Config::default().seed(7),
                        {
                            fn __rsmc_body() {
                                use ::rsmc::__private::ByTermination as _;
                                ::rsmc::__private::returned(f()).assert_success();
                            }
                            __rsmc_body
                        }
                    );
                }
            },
        );
    }

    #[test]
    fn an_audit_is_a_test_with_an_assertion() {
        let expansion = expand(
            known::Attribute::Audit,
            quote!(seed = 7),
            quote!(
                fn f() {}
            ),
        );
        let expected = quote! {
            #[::core::prelude::v1::test]
            fn f() {
                fn f() {}
                ::rsmc::__private::run_audit(
                    ::core::concat!(::core::module_path!(), "::", "f"),
                    ::rsmc::Config::default().seed(7),
                    ::rsmc::__private::Assertion { within: ::core::option::Option::None, allow: &[] },
                    {
                        fn __rsmc_body() {
                            use ::rsmc::__private::ByTermination as _;
                            ::rsmc::__private::returned(f()).assert_success();
                        }
                        __rsmc_body
                    }
                );
            }
        };
        assert_eq!(expansion.to_string(), expected.to_string());
    }

    #[test]
    fn a_list_of_models_is_a_module() {
        check(
            quote!(memory = ["tso"]),
            quote! {
                #[cfg(unix)]
                #[cfg_attr(miri, ignore, allow(unused))]
                #[should_panic(expected = "no")]
                #[expect(dead_code)]
                pub fn queue() { g() }
            },
            quote! {
                #[cfg(unix)]
                #[cfg_attr(miri, allow(unused))]
                #[expect(dead_code)]
                #[cfg(test)]
                fn queue() { g() }

                #[cfg(unix)]
                #[cfg_attr(miri, allow(unused))]
                #[cfg(test)]
                pub mod queue {
                    #[cfg_attr(miri, ignore)]
                    #[should_panic(expected = "no")]
                    #[::core::prelude::v1::test]
                    pub fn tso() {
                        ::rsmc::__private::run_test(
                            ::core::concat!(::core::module_path!(), "::", "tso"),
                            ::rsmc::Config::default().memory(::rsmc::MemoryModel::Tso),
                            {
                                fn __rsmc_body() {
                                    use ::rsmc::__private::ByTermination as _;
                                    ::rsmc::__private::returned(super::queue()).assert_success();
                                }
                                __rsmc_body
                            }
                        );
                    }
                }
            },
        );
    }

    #[test]
    fn after_an_error_the_function_is_still_there() {
        let expansion = test(
            quote!(max_steps = 0),
            quote!(
                #[test]
                async fn f(x: u8) {
                    x
                }
            ),
        );
        let [number, twice, asynchronous, parameter] = [
            "`max_steps` must be at least 1",
            "`#[rsmc::test]` makes this a test already, this would run it twice: remove one of them",
            "rsmc::test cannot run async functions yet",
            "rsmc::test runs functions without parameters: nothing would pass these",
        ];
        let expected = quote! {
            ::core::compile_error! { #number }
            ::core::compile_error! { #twice }
            ::core::compile_error! { #asynchronous }
            ::core::compile_error! { #parameter }
            #[allow(dead_code, unused_attributes)]
            async fn f(x: u8) { x }
        };
        assert_eq!(expansion.to_string(), expected.to_string());
    }

    #[test]
    fn what_is_no_function_is_left_as_it_was() {
        let message = "`#[rsmc::test]` goes on a function with a body: expected `fn`";
        check(
            quote!(),
            quote!(
                struct S;
            ),
            quote!(::core::compile_error! { #message } struct S;),
        );
    }
}
