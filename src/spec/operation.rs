//! Operations of a specification, without the types of their arguments and results.

use std::any::Any;
use std::fmt::Debug;

use crate::spec::values::Parts;

/// A result of a call.
pub(crate) trait Value: Send {
    fn text(&self) -> String;
    fn is_same(&self, other: &dyn Value) -> bool;
    fn copy(&self) -> Box<dyn Value>;
    fn as_any(&self) -> &dyn Any;
}

impl<R: Debug + PartialEq + Clone + Send + 'static> Value for R {
    fn text(&self) -> String {
        format!("{self:?}")
    }

    fn is_same(&self, other: &dyn Value) -> bool {
        other.as_any().downcast_ref::<R>() == Some(self)
    }

    fn copy(&self) -> Box<dyn Value> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The answer of a model to a call whose result is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advance {
    /// The call returns.
    Returns,
    /// The call waits until another call has changed the state.
    Waits,
    /// It depends on the result.
    Unknown,
}

pub(crate) type Run<T> = dyn Fn(&T, usize) -> Box<dyn Value> + Send + Sync;
type Step<M> = dyn Fn(&mut M, usize, &dyn Value) -> Result<(), String> + Send + Sync;
type Ahead<M> = dyn Fn(&mut M, usize) -> Advance + Send + Sync;

/// An operation on a structure `T` with a model `M`. Values of its argument have numbers.
pub(crate) struct Operation<T, M> {
    pub(crate) name: String,
    /// The texts of calls, by value.
    pub(crate) labels: Vec<String>,
    pub(crate) parts: Parts,
    /// Whether a call may wait for others.
    pub(crate) may_wait: bool,
    /// Makes the call.
    pub(crate) run: Box<Run<T>>,
    /// Makes the call in the model. An error has what the model says instead of the result.
    pub(crate) step: Box<Step<M>>,
    /// Makes the call in the model without a result.
    pub(crate) ahead: Box<Ahead<M>>,
}

/// The text of a call: `push(1)`, or `insert(1, 2)` for a pair.
pub(crate) fn label(name: &str, argument: Option<&dyn Debug>) -> String {
    let argument = argument.map(|argument| format!("{argument:?}")).unwrap_or_default();
    if argument.starts_with('(') { format!("{name}{argument}") } else { format!("{name}({argument})") }
}

/// The result of a call as what its operation returns.
pub(crate) fn known<R: 'static>(result: &dyn Value) -> &R {
    result.as_any().downcast_ref().expect("a call has the result of its operation")
}

/// An error for a result that the model does not have, if it is another.
pub(crate) fn expect<R: Debug + PartialEq + 'static>(expected: &R, result: &dyn Value) -> Result<(), String> {
    if known::<R>(result) == expected { Ok(()) } else { Err(format!("{expected:?}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_read_as_in_rust() {
        assert_eq!(label("pop", None), "pop()");
        assert_eq!(label("push", Some(&1)), "push(1)");
        assert_eq!(label("insert", Some(&("a", 2))), "insert(\"a\", 2)");
    }

    #[test]
    fn results_are_compared_with_their_types() {
        let (one, other): (Box<dyn Value>, Box<dyn Value>) = (Box::new(1_u8), Box::new(1_u16));
        assert!(!one.is_same(&*other) && one.is_same(&*one.copy()));
        assert_eq!(expect(&2_u8, &*one), Err("2".to_owned()));
        assert_eq!(expect(&1_u8, &*one), Ok(()));
    }
}
