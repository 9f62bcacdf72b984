//! The right-hand sides of the arguments, and the setter calls that they turn into.

use std::ops::RangeInclusive;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Error, Lit, LitInt, LitStr, Result};

use crate::duration;
use crate::errors::all_or_errors;
use crate::expr::Expr;
use crate::known::{CRITERIA, EXPLORERS, EXPLORERS_OF_AUDITS, Kind, Known, MODELS, MODELS_OF_AUDITS, names};
use crate::suggest::{self, hint};

/// A memory model that the user named.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// Its name in the attribute, at the place where it stands there. Also the name of its test.
    pub(crate) ident: Ident,
    /// The variant of `MemoryModel`.
    variant: Ident,
}

impl Model {
    /// The setter call that selects this model.
    pub(crate) fn setter(&self) -> TokenStream {
        let variant = &self.variant;
        quote!(.memory(::rsmc::MemoryModel::#variant))
    }
}

/// The request of an argument.
pub(crate) enum Asked {
    /// A call of this setter.
    Setter(TokenStream),
    /// One test under this model.
    Model(Model),
    /// One test under each of these models. Not empty, no model twice.
    Models(Vec<Model>),
    /// An audit within this time.
    Within(TokenStream),
    /// An audit that allows these orderings.
    Allow(Vec<LitStr>),
}

/// Reads the value of the argument `known`, which the user wrote as `name`.
pub(crate) fn read(known: &Known, name: &Ident, value: &Expr) -> Result<Asked> {
    let argument = match &known.kind {
        Kind::Memory => return memory(known, value),
        Kind::Explorer => explorer(known, value)?,
        Kind::Criterion => criterion(known, value)?,
        Kind::Integer(min, max, ty) => integer(known, value, *min..=*max, ty)?,
        Kind::Bound if matches!(literal(value), Some(Lit::Str(_))) => return rising(value, name).map(Asked::Setter),
        Kind::Bound => integer(known, value, 0..=u64::from(u32::MAX), "u32")?,
        Kind::Bool => boolean(known, value)?,
        Kind::Duration(least) => time(known, value, *least)?,
        Kind::Amount => amount(known, value)?,
        Kind::Replay => {
            let (pin, seed) = (Ident::new("pin", name.span()), replay(known, value)?);
            return Ok(Asked::Setter(quote!(.#pin(#seed))));
        }
        Kind::Within(least) => return time(known, value, *least).map(Asked::Within),
        Kind::Allow => return allow(known, value).map(Asked::Allow),
    };
    Ok(Asked::Setter(quote!(.#name(#argument))))
}

/// Refuses the values with which a check says nothing about orderings.
pub(crate) fn refuse_in_audit(known: &Known, value: &Expr) -> Result<()> {
    let text = match literal(value) {
        Some(Lit::Str(text)) => text.value(),
        _ => String::new(),
    };
    let (names, message) = match known.kind {
        Kind::Memory => (
            &MODELS_OF_AUDITS[..],
            "an audit is of `memory = \"c11\"`, the default: only there orderings make a difference",
        ),
        Kind::Explorer => (
            &EXPLORERS_OF_AUDITS[..],
            "an audit needs an explorer that covers all executions under `c11`: `reads-from`, the default, or \
             `exhaustive`",
        ),
        _ => return Ok(()),
    };
    if names.contains(&&*text) { Ok(()) } else { Err(Error::new_spanned(value, message)) }
}

/// Reads a list of orderings; reports all its errors.
fn allow(known: &Known, value: &Expr) -> Result<Vec<LitStr>> {
    let Expr::List { elements, .. } = value else { return Err(wrong_type(known, value, "a list of texts")) };
    let mut entries: Vec<LitStr> = Vec::new();
    let mut errors = Vec::new();
    for element in elements {
        match string(known, element, "texts") {
            Ok(entry) if entries.iter().any(|other| other.value() == entry.value()) => {
                errors.push(Error::new(entry.span(), format!("`{}` is listed twice", entry.value())));
            }
            Ok(entry)
                if entry.value().split_once(": ").is_none_or(|(file, call)| file.is_empty() || call.is_empty()) =>
            {
                let message = "an entry names a file, maybe a function, and a call, for example \
                               `\"src/queue.rs: push: self.tail.store(tail, SeqCst)\"`";
                errors.push(Error::new(entry.span(), message));
            }
            Ok(entry) => entries.push(entry),
            Err(error) => errors.push(error),
        }
    }
    all_or_errors(entries, errors)
}

/// Reads `"sc"` or `["sc", "tso"]`.
fn memory(known: &Known, value: &Expr) -> Result<Asked> {
    match value {
        Expr::List { elements, .. } => models(known, value, elements).map(Asked::Models),
        _ => model(&string(known, value, "the name of a memory model, or a list of them")?).map(Asked::Model),
    }
}

/// Reads the list of memory models; reports all its errors.
fn models(known: &Known, list: &Expr, elements: &[Expr]) -> Result<Vec<Model>> {
    if elements.is_empty() {
        let message = format!("list at least one memory model: {}", suggest::list(names(MODELS)));
        return Err(Error::new_spanned(list, message));
    }
    let mut models: Vec<Model> = Vec::new();
    let mut errors = Vec::new();
    for element in elements {
        match string(known, element, "names of memory models").and_then(|text| model(&text)) {
            Ok(again) if models.iter().any(|model| model.ident == again.ident) => {
                errors.push(Error::new_spanned(element, format!("memory model `{}` is listed twice", again.ident)))
            }
            Ok(model) => models.push(model),
            Err(error) => errors.push(error),
        }
    }
    all_or_errors(models, errors)
}

/// Reads the name of one memory model.
fn model(text: &LitStr) -> Result<Model> {
    let name = text.value();
    let variant = variant("memory model", MODELS, text)?;
    Ok(Model { ident: Ident::new(&name, text.span()), variant })
}

/// Reads the name of an explorer, with a word of its own for a list, which `memory` would take.
fn explorer(known: &Known, value: &Expr) -> Result<TokenStream> {
    if matches!(value, Expr::List { .. }) {
        return Err(Error::new_spanned(
            value,
            "`explorer` takes one name, only `memory` takes a list: write one test per explorer",
        ));
    }
    let variant = variant("explorer", EXPLORERS, &string(known, value, "the name of an explorer")?)?;
    Ok(quote!(::rsmc::Explorer::#variant))
}

/// Reads the name of a criterion.
fn criterion(known: &Known, value: &Expr) -> Result<TokenStream> {
    let variant = variant("criterion", CRITERIA, &string(known, value, "the name of a criterion")?)?;
    Ok(quote!(::rsmc::spec::Criterion::#variant))
}

/// Reads an integer within `range`; `ty` is its type, which may also stand as a suffix.
fn integer(known: &Known, value: &Expr, range: RangeInclusive<u64>, ty: &str) -> Result<TokenStream> {
    let Some(Lit::Int(number)) = literal(value) else {
        return Err(wrong_type(known, value, "a whole number"));
    };
    if !["", ty].contains(&number.suffix()) {
        return Err(wrong_type(known, value, &format!("a whole number of type `{ty}`")));
    }
    if number.base10_parse::<u64>().is_ok_and(|n| range.contains(&n)) {
        return Ok(number.into_token_stream());
    }
    Err(out_of_range(known, number, &range))
}

/// The error for an integer outside of `range`.
fn out_of_range(known: &Known, number: &LitInt, range: &RangeInclusive<u64>) -> Error {
    let bound = match number.base10_parse::<u64>() {
        Ok(n) if n < *range.start() => format!("at least {}", range.start()),
        _ => format!("at most {}", range.end()),
    };
    Error::new(number.span(), format!("`{}` must be {bound}", known.name))
}

/// Reads `true` or `false`.
fn boolean(known: &Known, value: &Expr) -> Result<TokenStream> {
    match literal(value) {
        Some(Lit::Bool(bool)) => Ok(bool.into_token_stream()),
        _ => Err(wrong_type(known, value, "`true` or `false`")),
    }
}

/// Reads the word for a bound that rises.
fn rising(value: &Expr, name: &Ident) -> Result<TokenStream> {
    match literal(value) {
        Some(Lit::Str(text)) if text.value() == "rising" => {
            let setter = Ident::new("rising_preemption_bound", name.span());
            Ok(quote!(.#setter()))
        }
        _ => {
            let message =
                "`preemption_bound` takes a whole number, for example `preemption_bound = 2`, or `\"rising\"`";
            Err(Error::new_spanned(value, message))
        }
    }
}

/// Reads a duration of at least so many milliseconds.
fn time(known: &Known, value: &Expr, least: u64) -> Result<TokenStream> {
    let text = string(known, value, "a time as text")?;
    let error = match duration::millis(&text.value()) {
        None => duration::EXPECTED.to_owned(),
        Some(millis) if millis < least => format!("must be at least {least}ms"),
        Some(millis) => return Ok(quote!(::core::time::Duration::from_millis(#millis))),
    };
    Err(Error::new(text.span(), format!("`{}` {error}", known.name)))
}

/// Reads an amount of memory: a whole number with a unit, as `RSMC_MAX_MEMORY` takes it.
fn amount(known: &Known, value: &Expr) -> Result<TokenStream> {
    let text = string(known, value, "an amount of memory as text")?;
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1_u64 << 10)];
    let parts = text.value();
    let read = units.iter().find_map(|(unit, size)| parts.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(*size));
    match read.filter(|&bytes| bytes > 0 && parts.starts_with(|first: char| first.is_ascii_digit())) {
        Some(bytes) => Ok(quote!(#bytes)),
        None => {
            let error =
                format!("`{}` takes an amount of memory such as \"512MiB\" or \"4GiB\": a whole number", known.name);
            Err(Error::new(text.span(), error + ", at least 1, with a unit (`KiB`, `MiB`, `GiB`)"))
        }
    }
}

/// Reads a seed. The facade checks it when the test runs.
fn replay(known: &Known, value: &Expr) -> Result<TokenStream> {
    let text = string(known, value, "the seed as text")?;
    if text.value().trim().is_empty() {
        return Err(Error::new(text.span(), "`replay` needs the seed that the failing test printed"));
    }
    Ok(quote!(::rsmc::__private::parse_seed(#text)))
}

/// The variant that `text` names in `table`, or an error that lists what is there.
fn variant(what: &str, table: &[(&str, &str)], text: &LitStr) -> Result<Ident> {
    let name = text.value();
    if let Some((_, variant)) = table.iter().find(|(known, _)| *known == name) {
        return Ok(Ident::new(variant, Span::call_site().located_at(text.span())));
    }
    let message = format!("unknown {what} `{name}`{}", hint(&name, names(table)));
    Err(Error::new(text.span(), message))
}

/// The string that `value` is, or an error that says `what` is wanted.
fn string(known: &Known, value: &Expr, what: &str) -> Result<LitStr> {
    match literal(value) {
        Some(Lit::Str(text)) if text.suffix().is_empty() => Ok(text.clone()),
        _ => Err(wrong_type(known, value, what)),
    }
}

/// The literal that `value` is.
fn literal(value: &Expr) -> Option<&Lit> {
    match value {
        Expr::Literal(literal) => Some(literal),
        _ => None,
    }
}

/// The error for a value of the wrong kind.
fn wrong_type(known: &Known, value: &Expr, what: &str) -> Error {
    let message = format!("`{}` takes {what}, for example `{}`", known.name, known.example);
    Error::new_spanned(value, message)
}
