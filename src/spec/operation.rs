//! Operations of a specification, without the types of their arguments and results.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The values that an argument of an operation may have.
///
/// Any array or vector of values is one. The functions of this module make others, of values of which rsmc may know
/// more.
#[derive(Clone, Debug)]
pub struct Values<A> {
    pub(crate) values: Arc<Vec<A>>,
    pub(crate) kind: Kind,
}

/// The knowledge about values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing: every value counts.
    Plain,
    /// They are compared with each other at most. Values of this number belong together.
    Symmetric(usize),
    /// They are passed on at most: every call has a value of its own.
    Opaque(usize),
}

fn number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Relaxed)
}

impl<A> Values<A> {
    fn new(values: Vec<A>, kind: Kind) -> Self {
        Self { values: Arc::new(values), kind }
    }
}

impl<A> From<Vec<A>> for Values<A> {
    fn from(values: Vec<A>) -> Self {
        Self::new(values, Kind::Plain)
    }
}

impl<A, const N: usize> From<[A; N]> for Values<A> {
    fn from(values: [A; N]) -> Self {
        Self::new(values.into(), Kind::Plain)
    }
}

/// Values of which the structure and its model only ask whether two are equal, as keys of an unordered map: exchanging
/// two of them everywhere changes nothing. Of the scenarios that differ in this only one is run.
///
/// Operations that have such values in common get clones of one `Values`. Do not say this of values that are ordered,
/// hashed, or used as numbers: scenarios in which these would matter are left out.
///
/// ```
/// use rsmc::spec::symmetric;
///
/// let keys = symmetric(["a", "b"]);
/// let (of_insert, of_remove) = (keys.clone(), keys);
/// # drop((of_insert, of_remove));
/// ```
///
/// # Panics
/// If there are more than five: scenarios are compared under all permutations of them.
#[track_caller]
pub fn symmetric<A>(values: impl IntoIterator<Item = A>) -> Values<A> {
    let values: Vec<A> = values.into_iter().take(MOST_SYMMETRIC + 1).collect();
    assert!(values.len() <= MOST_SYMMETRIC, "there are at most {MOST_SYMMETRIC} symmetric values");
    Values::new(values, Kind::Symmetric(number()))
}

/// The largest number of symmetric values.
const MOST_SYMMETRIC: usize = 5;

/// Values that the structure and its model only pass on, as the elements of a queue. Each call in a scenario then has a
/// value of its own, the first call the first value, and so on: what goes wrong with equal values goes wrong with
/// different ones. A scenario has no more such calls than there are values.
///
/// Do not say this of values that are compared, ordered, hashed, or used as numbers: scenarios in which these would
/// matter are left out.
pub fn opaque<A>(values: impl IntoIterator<Item = A>) -> Values<A> {
    Values::new(values.into_iter().take(MOST_VALUES).collect(), Kind::Opaque(number()))
}

/// The largest number of values that are taken from an iterator, which may go on for ever.
const MOST_VALUES: usize = 16;

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
    pub(crate) kind: Kind,
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

    #[test]
    fn values_without_end_are_cut() {
        assert_eq!(opaque(1_u8..).values.len(), MOST_VALUES);
        assert_ne!(symmetric([1]).kind, symmetric([1]).kind);
        assert!(std::panic::catch_unwind(|| symmetric(1..)).is_err());
    }
}
