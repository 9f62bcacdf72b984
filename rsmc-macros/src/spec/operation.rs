//! An operation: a function of the model with `#[op]`, `#[op_where]` or `#[blocking]`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Error, LitStr, Meta, Result, Token, Type};

use crate::errors::all_or_errors;
use crate::function::Function;
use crate::spec::clause::{Clause, EXPECTED, Sign, clauses};
use crate::suggest;

/// The names of the attributes of operations.
pub(crate) const FORMS: &[&str] = &["op", "op_where", "blocking"];

/// An operation, as its function says.
pub(crate) struct Operation {
    /// One of [`FORMS`], which is also the method of the builder.
    pub(crate) form: Ident,
    /// The attributes that say where there is this operation.
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) name: Ident,
    /// The type of the model.
    pub(crate) model: Type,
    pub(crate) arguments: Vec<Argument>,
    /// The function that makes the call of the structure, if it is not the method of this name.
    pub(crate) call: Option<TokenStream>,
    /// The group of operations of one thread.
    pub(crate) on_one_thread: Option<LitStr>,
    pub(crate) is_lock_free: bool,
}

/// A parameter that is an argument of the call.
pub(crate) struct Argument {
    /// The name, if it is no other pattern.
    pub(crate) name: Option<Ident>,
    /// The type, as the function has it.
    pub(crate) ty: Type,
    /// The expression for its values.
    pub(crate) values: Option<TokenStream>,
}

/// A parameter of a function.
struct Parameter {
    pattern: TokenStream,
    ty: Type,
}

impl Operation {
    /// Reads the operation that `attribute` makes of this function. Reports every mistake.
    pub(crate) fn new(attribute: &Attribute, function: &Function) -> Result<Self> {
        let form = attribute.path().require_ident()?.clone();
        all_or_errors((), function.unsuitable("an operation of the model"))?;
        let mut parameters = parameters.parse2(function.sig.parameters.stream())?.into_iter();
        let expected = format!("the first parameter of `#[{form}]` is the model: `model: &mut …`");
        let first = parameters.next().ok_or_else(|| Error::new(function.sig.parameters.span(), &expected))?;
        let model = match &first.ty {
            Type::Reference(reference) if reference.mutability.is_some() => (*reference.elem).clone(),
            other => return Err(Error::new_spanned(other, expected)),
        };
        let mut parameters: Vec<Parameter> = parameters.collect();
        if form == "op_where" {
            let result = parameters.pop().filter(|result| matches!(result.ty, Type::Reference(_)));
            let expected = "the last parameter of `#[op_where]` is the result: `result: &…`";
            result.ok_or_else(|| Error::new(function.sig.parameters.span(), expected))?;
        }
        let mut operation = Self {
            form,
            cfgs: function.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect(),
            name: function.sig.ident.clone(),
            model,
            arguments: Vec::new(),
            call: None,
            on_one_thread: None,
            is_lock_free: false,
        };
        let mut errors = Vec::new();
        for parameter in parameters {
            match argument(parameter) {
                Ok(argument) => operation.arguments.push(argument),
                Err(error) => errors.push(error),
            }
        }
        for clause in clauses_of(attribute)? {
            errors.extend(operation.add(clause).err());
        }
        all_or_errors(operation, errors)
    }

    fn add(&mut self, clause: Clause) -> Result<()> {
        let Clause { name, sign, expr } = clause;
        let twice = Error::new(name.span(), format!("`{name}` is given twice"));
        if sign == Sign::In {
            let argument = self.arguments.iter_mut().find(|argument| argument.name.as_ref() == Some(&name));
            let known = argument.ok_or_else(|| Error::new(name.span(), format!("there is no parameter `{name}`")))?;
            return known.values.replace(expr).map_or(Ok(()), |_| Err(twice));
        }
        let is_twice = match name.to_string().as_str() {
            "lock_free" if sign == Sign::Alone && self.form == "blocking" => {
                return Err(Error::new(name.span(), "a call that may wait for others is not lock-free"));
            }
            "lock_free" if sign == Sign::Alone => std::mem::replace(&mut self.is_lock_free, true),
            "lock_free" => return Err(Error::new(name.span(), "`lock_free` has no value")),
            _ if sign == Sign::Alone => return Err(Error::new(name.span(), EXPECTED)),
            "call" => self.call.replace(expr).is_some(),
            "on_one_thread" => self.on_one_thread.replace(group(expr)?).is_some(),
            other => {
                let known = ["call", "on_one_thread", "lock_free"];
                let hint = suggest::hint(other, known.into_iter());
                let hint = match self.arguments.iter().any(|argument| argument.name.as_ref() == Some(&name)) {
                    true => format!(": values of a parameter are written `{name} in …`"),
                    false => hint,
                };
                return Err(Error::new(name.span(), format!("unknown argument `{other}`{hint}")));
            }
        };
        if is_twice { Err(twice) } else { Ok(()) }
    }

    /// The name of the operation in scenarios.
    pub(crate) fn text(&self) -> String {
        self.name.unraw().to_string()
    }
}

impl Argument {
    /// The type that a reference of the parameter points to. A reference that lives for ever is a value.
    pub(crate) fn referent(&self) -> Option<&Type> {
        match &self.ty {
            Type::Reference(it) if it.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident != "static") => {
                Some(&it.elem)
            }
            _ => None,
        }
    }

    /// The type of the values.
    pub(crate) fn owned(&self) -> TokenStream {
        match self.referent() {
            Some(referent) => quote!(<#referent as ::std::borrow::ToOwned>::Owned),
            None => self.ty.to_token_stream(),
        }
    }
}

fn argument(Parameter { pattern, ty }: Parameter) -> Result<Argument> {
    let name = syn::parse2(pattern.clone()).ok().or_else(|| binding.parse2(pattern).ok());
    match &ty {
        Type::Reference(it) if it.mutability.is_some() => {
            Err(Error::new_spanned(&ty, "an argument is a value or a shared reference"))
        }
        _ => Ok(Argument { name, ty, values: None }),
    }
}

/// The name in `mut name`.
fn binding(input: ParseStream) -> Result<Ident> {
    input.parse::<Token![mut]>()?;
    input.parse()
}

fn parameters(input: ParseStream) -> Result<Vec<Parameter>> {
    let all = Punctuated::<Parameter, Token![,]>::parse_terminated_with(input, parameter)?;
    Ok(all.into_iter().collect())
}

fn parameter(input: ParseStream) -> Result<Parameter> {
    let ahead = input.fork();
    let receiver = ahead.call(|input| {
        input.parse::<Option<Token![&]>>()?;
        input.parse::<Option<Token![mut]>>()?;
        input.parse::<Token![self]>()
    });
    if let Ok(receiver) = receiver {
        return Err(Error::new(receiver.span(), "the model is a parameter with a type: `model: &mut …`"));
    }
    let mut pattern = TokenStream::new();
    while !input.peek(Token![:]) || input.peek(Token![::]) {
        let tokens = if input.peek(Token![::]) {
            input.parse::<Token![::]>()?.to_token_stream()
        } else {
            input.parse::<proc_macro2::TokenTree>()?.into()
        };
        pattern.extend(tokens);
    }
    input.parse::<Token![:]>()?;
    Ok(Parameter { pattern, ty: input.parse()? })
}

/// The arguments of the attribute.
fn clauses_of(attribute: &Attribute) -> Result<Vec<Clause>> {
    match &attribute.meta {
        Meta::Path(_) => Ok(Vec::new()),
        Meta::List(list) => list.parse_args_with(clauses),
        Meta::NameValue(other) => Err(Error::new(other.eq_token.span(), "arguments are written in parentheses")),
    }
}

fn group(expr: TokenStream) -> Result<LitStr> {
    let wrong = Error::new(expr.span(), "`on_one_thread` takes a name for the group: `on_one_thread = \"producer\"`");
    syn::parse2(expr).map_err(|_| wrong)
}
