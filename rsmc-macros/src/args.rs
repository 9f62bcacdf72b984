//! The arguments of an attribute: `name = value, …`. All errors are reported, not only the first.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Error, LitStr, Result, Token};

use crate::errors::all_or_errors;
use crate::expr::Expr;
use crate::known::{Attribute, Known};
use crate::suggest::{self, hint};
use crate::value::{self, Asked, Model};

/// The parsed arguments of one attribute.
#[derive(Default)]
pub(crate) struct Args {
    /// The attribute.
    attribute: Attribute,
    /// The names seen, to notice one that comes twice.
    seen: Vec<String>,
    /// Calls of setters, in the order of the arguments.
    setters: TokenStream,
    /// If not empty: a module with one test per model.
    models: Vec<Model>,
    /// The time that an audit may take.
    within: Option<TokenStream>,
    /// The orderings that an audit allows.
    allow: Vec<LitStr>,
}

impl Args {
    /// Reads the arguments.
    pub(crate) fn parse(attribute: Attribute, tokens: TokenStream) -> Result<Args> {
        let mut args = Args { attribute, ..Args::default() };
        let mut errors = Vec::new();
        for part in split(tokens)? {
            let argument = |input: ParseStream| argument(attribute, input);
            errors.extend(argument.parse2(part).and_then(|(name, value)| args.add(&name, value)).err());
        }
        all_or_errors(args, errors)
    }

    /// The models to make one test each for; empty where there is to be only one test.
    pub(crate) fn models(&self) -> &[Model] {
        &self.models
    }

    /// The expression that builds the `Config`, `model` being the test's own memory model.
    pub(crate) fn config(&self, model: Option<&Model>) -> TokenStream {
        let setters = &self.setters;
        let memory = model.map(Model::setter);
        quote!(::rsmc::Config::default() #setters #memory)
    }

    /// The expression for the assertion of an audit; `None` for a test.
    pub(crate) fn assertion(&self) -> Option<TokenStream> {
        let allow = &self.allow;
        let within = match &self.within {
            Some(within) => quote!(::core::option::Option::Some(#within)),
            None => quote!(::core::option::Option::None),
        };
        let assertion = quote!(::rsmc::__private::Assertion { within: #within, allow: &[#(#allow),*] });
        (self.attribute == Attribute::Audit).then_some(assertion)
    }

    /// Adds one argument.
    pub(crate) fn add(&mut self, name: &Ident, value: Option<Expr>) -> Result<()> {
        let known = look_up(self.attribute, name)?;
        if self.seen.iter().any(|seen| seen == known.name) {
            return Err(Error::new(name.span(), format!("argument `{name}` is given twice")));
        }
        self.seen.push(known.name.to_owned());
        let value = value.ok_or_else(|| {
            Error::new(name.span(), format!("`{name}` needs a value, for example `{}`", known.example))
        })?;
        if self.attribute == Attribute::Audit {
            value::refuse_in_audit(known, &value)?;
        }
        match value::read(known, name, &value)? {
            Asked::Setter(setter) => self.setters.extend(setter),
            Asked::Model(model) => self.setters.extend(model.setter()),
            Asked::Models(models) => self.models = models,
            Asked::Within(time) => self.within = Some(time),
            Asked::Allow(entries) => self.allow = entries,
        }
        Ok(())
    }
}

/// The known argument of this name.
fn look_up(attribute: Attribute, name: &Ident) -> Result<&'static Known> {
    let text = name.to_string();
    let named = |attribute: Attribute| attribute.arguments().find(|known| known.name == text);
    if let Some(known) = named(attribute) {
        return Ok(known);
    }
    let message = match named(Attribute::Audit) {
        Some(_) => format!("`{text}` is an argument of `#[{}]`", Attribute::Audit.path()),
        None => format!("unknown argument `{text}`{}", hint(&text, attribute.argument_names())),
    };
    Err(Error::new(name.span(), message))
}

/// Parses `name`, `name =` or `name = value`; without a value, [`Args::add`] knows what to ask for.
fn argument(attribute: Attribute, input: ParseStream) -> Result<(Ident, Option<Expr>)> {
    let Ok(name) = Ident::parse_any(input) else {
        let message = format!("expected `name = value`, the names are {}", suggest::list(attribute.argument_names()));
        return Err(consuming(input, message));
    };
    if input.is_empty() {
        return Ok((name, None));
    }
    if input.parse::<Option<Token![=]>>()?.is_none() {
        return Err(consuming(input, format!("expected `=`: arguments are written `{name} = value`")));
    }
    if input.is_empty() {
        return Ok((name, None));
    }
    let value = input.parse()?;
    if !input.is_empty() {
        return Err(consuming(input, "expected `,` between arguments"));
    }
    Ok((name, Some(value)))
}

/// An error at the next token. Consumes the rest of `input`, so that no parser complains about that, too.
fn consuming(input: ParseStream, message: impl std::fmt::Display) -> Error {
    let error = input.error(message);
    while input.parse::<TokenTree>().is_ok() {}
    error
}

/// Splits at the commas; one after the last argument is allowed.
fn split(tokens: TokenStream) -> Result<Vec<TokenStream>> {
    let mut parts = Vec::new();
    let mut part = TokenStream::new();
    for token in tokens {
        match token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => {
                if part.is_empty() {
                    return Err(Error::new(comma.span(), "expected an argument before this comma"));
                }
                parts.push(std::mem::take(&mut part));
            }
            token => part.extend([token]),
        }
    }
    parts.extend((!part.is_empty()).then_some(part));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expects these arguments to give `Config::default()` with these setter calls.
    #[track_caller]
    fn check(args: &str, setters: &str) {
        let args = Args::parse(Attribute::Test, args.parse().unwrap()).unwrap();
        let expected: TokenStream = format!("::rsmc::Config::default(){setters}").parse().unwrap();
        assert_eq!(args.config(None).to_string(), expected.to_string());
        assert!(args.models().is_empty());
    }

    /// Expects these arguments to be refused with these messages, of each its first line.
    #[track_caller]
    fn refuse(args: &str, messages: &[&str]) {
        refuse_in(Attribute::Test, args, messages);
    }

    /// As [`refuse`], in this attribute.
    #[track_caller]
    fn refuse_in(attribute: Attribute, args: &str, messages: &[&str]) {
        let error = Args::parse(attribute, args.parse().unwrap()).err().expect("an error");
        let found: Vec<String> = error.into_iter().map(|error| error.to_string()).collect();
        let found: Vec<&str> = found.iter().filter_map(|text| text.lines().next()).collect();
        assert_eq!(found, messages);
    }

    #[test]
    fn every_argument_is_a_setter() {
        check("", "");
        check("memory = \"tso\"", ".memory(::rsmc::MemoryModel::Tso)");
        check("max_executions = 1_000_000", ".max_executions(1_000_000)");
        check("max_duration = \"1m30s\",", ".max_duration(::core::time::Duration::from_millis(90000u64))");
        check("max_memory = \"512MiB\"", ".max_memory(536870912u64)");
        check("stuck_after = \"0s\"", ".stuck_after(::core::time::Duration::from_millis(0u64))");
        check("max_steps = 0xff, spin_bound = 3u32", ".max_steps(0xff).spin_bound(3u32)");
        check("stack_size = 65536", ".stack_size(65536)");
        check("keep_going = true, check_races = false", ".keep_going(true).check_races(false)");
        check("allow_trivial = true", ".allow_trivial(true)");
        check("reuse = true", ".reuse(true)");
        check("seed = 0, jobs = 2", ".seed(0).jobs(2)");
        check("shrink = 0", ".shrink(0)");
        check("pct_depth = 3", ".pct_depth(3)");
        check("preemption_bound = 0", ".preemption_bound(0)");
        check("delay_bound = 0", ".delay_bound(0)");
        check("preemption_bound = \"rising\"", ".rising_preemption_bound()");
        check("replay = \"r1-3f\"", ".pin(::rsmc::__private::parse_seed(\"r1-3f\"))");
    }

    #[test]
    fn every_explorer() {
        for (name, variant) in [
            ("reads-from", "ReadsFrom"),
            ("reads-value-from", "ReadsValueFrom"),
            ("view", "View"),
            ("exhaustive", "Exhaustive"),
            ("random", "Random"),
            ("pct", "Pct"),
        ] {
            check(&format!("explorer = \"{name}\""), &format!(".explorer(::rsmc::Explorer::{variant})"));
        }
    }

    #[test]
    fn a_list_of_models_is_not_part_of_the_common_config() {
        let args = Args::parse(Attribute::Test, quote!(memory = ["sc", "c11"], seed = 1)).unwrap();
        assert_eq!(args.models().iter().map(|model| model.ident.to_string()).collect::<Vec<_>>(), ["sc", "c11"]);
        let expected = quote!(::rsmc::Config::default().seed(1).memory(::rsmc::MemoryModel::C11));
        assert_eq!(args.config(Some(&args.models()[1])).to_string(), expected.to_string());
    }

    #[test]
    fn all_errors_are_reported() {
        refuse(
            "memroy = \"sc\", seed, seed = 1, max_steps = 0",
            &[
                "unknown argument `memroy`, did you mean `memory`?",
                "`seed` needs a value, for example `seed = 42`",
                "argument `seed` is given twice",
                "`max_steps` must be at least 1",
            ],
        );
        refuse(
            "memory = [\"sc\", 1, \"sc\"]",
            &[
                "`memory` takes names of memory models, for example `memory = \"tso\"`",
                "memory model `sc` is listed twice",
            ],
        );
    }

    #[test]
    fn an_audit_has_a_time_and_a_list() {
        let assertion = |args: &str| {
            let args = Args::parse(Attribute::Audit, args.parse().unwrap()).unwrap();
            assert!(!args.config(None).to_string().contains("allow"));
            args.assertion().unwrap().to_string()
        };
        let none = quote!(::rsmc::__private::Assertion { within: ::core::option::Option::None, allow: &[] });
        assert_eq!(assertion("memory = \"c11\", explorer = \"exhaustive\""), none.to_string());
        let time = quote!(::core::time::Duration::from_millis(2000u64));
        let both = quote! {
            ::rsmc::__private::Assertion { within: ::core::option::Option::Some(#time), allow: &["a.rs: f()", "b.rs: g()"] }
        };
        assert_eq!(assertion("allow = [\"a.rs: f()\", \"b.rs: g()\",], within = \"2s\""), both.to_string());
        assert!(Args::parse(Attribute::Test, quote!(seed = 1)).unwrap().assertion().is_none());
        refuse("within = \"2s\"", &["`within` is an argument of `#[rsmc::audit]`"]);
        refuse_in(
            Attribute::Audit,
            "within = 3, allow = [\"a.rs\", 4, \"a.rs: f()\", \"a.rs: f()\"], memory = [\"sc\"], explorer = \"pct\"",
            &[
                "`within` takes a time as text, for example `within = \"5m\"`",
                "an entry names a file, maybe a function, and a call, for example \
                 `\"src/queue.rs: push: self.tail.store(tail, SeqCst)\"`",
                "`allow` takes texts, for example `allow = [\"src/queue.rs: push: self.tail.store(tail, SeqCst)\"]`",
                "`a.rs: f()` is listed twice",
                "an audit is of `memory = \"c11\"`, the default: only there orderings make a difference",
                "an audit needs an explorer that covers all executions under `c11`: `reads-from`, the default, or \
                 `exhaustive`",
            ],
        );
        refuse_in(
            Attribute::Audit,
            "allow = \"a.rs: f()\"",
            &["`allow` takes a list of texts, for example \
               `allow = [\"src/queue.rs: push: self.tail.store(tail, SeqCst)\"]`"],
        );
    }

    #[test]
    fn malformed_lists() {
        refuse(",", &["expected an argument before this comma"]);
        refuse("seed = 1,,", &["expected an argument before this comma"]);
        refuse("seed = 1 memory = \"sc\"", &["expected `,` between arguments"]);
        refuse("seed(1)", &["expected `=`: arguments are written `seed = value`"]);
        refuse("seed =", &["`seed` needs a value, for example `seed = 42`"]);
    }

    #[test]
    fn numbers_out_of_range() {
        refuse("max_executions = 0", &["`max_executions` must be at least 1"]);
        refuse("max_executions = 18446744073709551616", &["`max_executions` must be at most 18446744073709551615"]);
        refuse("spin_bound = 4294967296", &["`spin_bound` must be at most 4294967295"]);
        refuse("seed = -1", &["`seed` takes a whole number, for example `seed = 42`"]);
        refuse("seed = 1u8", &["`seed` takes a whole number of type `u64`, for example `seed = 42`"]);
        for wrong in ["0MiB", "4", "4GB", "+4GiB", "1.5GiB", ""] {
            let error = "`max_memory` takes an amount of memory such as \"512MiB\" or \"4GiB\": a whole number, \
                         at least 1, with a unit (`KiB`, `MiB`, `GiB`)";
            refuse(&format!("max_memory = {wrong:?}"), &[error]);
        }
        refuse("max_duration = \"0s\"", &["`max_duration` must be at least 1ms"]);
    }
}
