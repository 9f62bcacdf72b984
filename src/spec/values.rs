//! The values of arguments, and what is known of them.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The values that an argument of an operation may have.
///
/// An array, a vector or a range of values is one. The functions of this module make others, of values of which rsmc
/// may know more. A tuple of `Values` is one, too: all tuples of values, for an operation with several arguments.
///
/// ```
/// use rsmc::spec::{Values, opaque, symmetric};
///
/// let keys = symmetric(["a", "b"]);
/// let (of_insert, of_remove): (Values<(&str, u32)>, Values<&str>) = ((keys.clone(), opaque(1..)).into(), keys);
/// # drop((of_insert, of_remove));
/// ```
#[derive(Clone, Debug)]
pub struct Values<A> {
    pub(crate) values: Arc<Vec<A>>,
    pub(crate) parts: Parts,
}

/// The parts of values: one, or those of a tuple. The values are all tuples of parts, of which the last one changes
/// first.
#[derive(Clone, Debug)]
pub(crate) struct Parts(Vec<Part>);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) kind: Kind,
    /// The number of values that the part may have.
    pub(crate) values: usize,
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

impl Parts {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Part> {
        self.0.iter()
    }

    /// The kind of each part, with the number of its value in the value of this number.
    pub(crate) fn of(&self, value: usize) -> impl Iterator<Item = (Kind, usize)> {
        let mut later: usize = self.0.iter().map(|part| part.values).product();
        self.0.iter().map(move |part| {
            later /= part.values;
            (part.kind, value / later % part.values)
        })
    }

    /// The number of the value with other values of its parts.
    pub(crate) fn with(&self, value: usize, mut other: impl FnMut(Kind, usize) -> usize) -> usize {
        self.of(value).zip(&self.0).fold(0, |number, ((kind, at), part)| number * part.values + other(kind, at))
    }
}

fn number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Relaxed)
}

impl<A> Values<A> {
    fn new(values: Vec<A>, kind: Kind) -> Self {
        let part = Part { kind, values: values.len() };
        Self { values: Arc::new(values), parts: Parts(vec![part]) }
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

impl<A> From<Range<A>> for Values<A>
where
    Range<A>: Iterator<Item = A>,
{
    fn from(values: Range<A>) -> Self {
        Self::new(values.collect(), Kind::Plain)
    }
}

impl<A> From<RangeInclusive<A>> for Values<A>
where
    RangeInclusive<A>: Iterator<Item = A>,
{
    fn from(values: RangeInclusive<A>) -> Self {
        Self::new(values.collect(), Kind::Plain)
    }
}

macro_rules! tuples {
    ($($type:ident $part:ident),*) => {
        /// All tuples of these values.
        ///
        /// # Panics
        /// If two parts are the same symmetric or opaque values: write an array of tuples then.
        impl<$($type: Clone),*> From<($(Values<$type>,)*)> for Values<($($type,)*)> {
            fn from(($($part,)*): ($(Values<$type>,)*)) -> Self {
                let count: usize = [$($part.values.len()),*].iter().product();
                let value = |number: usize| {
                    let mut later = count;
                    ($({
                        later /= $part.values.len();
                        $part.values[number / later % $part.values.len()].clone()
                    },)*)
                };
                let parts = [$($part.parts.0.as_slice()),*].concat();
                let is_twice = |(at, part): (usize, &Part)| {
                    part.kind != Kind::Plain && parts[..at].iter().any(|other| other.kind == part.kind)
                };
                assert!(
                    !parts.iter().enumerate().any(is_twice),
                    "the same symmetric or opaque values cannot be two arguments of one operation: use an array"
                );
                Self { values: Arc::new((0..count).map(value).collect()), parts: Parts(parts) }
            }
        }
    };
}

tuples!(A a, B b);
tuples!(A a, B b, C c);
tuples!(A a, B b, C c, D d);

/// A type with values that an argument has where none are said: few and ordinary ones, of which nothing is known.
///
/// Integers are 1 and 2, characters and texts `a` and `b`, and of `bool` and `Option` there are all forms. Implement it
/// for a type of your own, or say which values there are:
///
/// ```
/// use rsmc::spec::DefaultValues;
///
/// #[derive(Clone, Debug)]
/// enum Side {
///     Left,
///     Right,
/// }
///
/// impl DefaultValues for Side {
///     fn default_values() -> Vec<Self> {
///         vec![Side::Left, Side::Right]
///     }
/// }
/// # assert_eq!(Side::default_values().len(), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "no values of `{Self}` are known to call an operation with",
    label = "the values of this argument are not said",
    note = "say them: `#[op(argument in [first, second])]`, or implement `rsmc::spec::DefaultValues`"
)]
pub trait DefaultValues: Sized {
    /// The values.
    fn default_values() -> Vec<Self>;
}

macro_rules! default_values {
    ($($type:ty)*: $values:expr) => {
        $(impl DefaultValues for $type {
            fn default_values() -> Vec<Self> {
                $values.into()
            }
        })*
    };
}

default_values!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize: [1, 2]);
default_values!(bool: [false, true]);
default_values!(char: ['a', 'b']);
default_values!(&'static str: ["a", "b"]);
default_values!(String: ["a".to_owned(), "b".to_owned()]);
default_values!((): [()]);

impl<A: DefaultValues> DefaultValues for Option<A> {
    fn default_values() -> Vec<Self> {
        std::iter::once(None).chain(A::default_values().into_iter().map(Some)).collect()
    }
}

/// Values that are the same as `others`, but for their type: what is known of them is known of both together.
///
/// # Panics
/// If there are not as many.
pub fn alike<A, B>(values: Values<A>, others: &Values<B>) -> Values<A> {
    let counts = |parts: &Parts| parts.iter().map(|part| part.values).collect::<Vec<_>>();
    assert_eq!(counts(&values.parts), counts(&others.parts), "one expression makes as many values everywhere");
    Values { parts: others.parts.clone(), ..values }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_end_are_cut() {
        assert_eq!(opaque(1_u8..).values.len(), MOST_VALUES);
        assert_ne!(symmetric([1]).parts.0[0].kind, symmetric([1]).parts.0[0].kind);
        assert!(std::panic::catch_unwind(|| symmetric(1..)).is_err());
    }

    #[test]
    fn tuples_are_all_tuples() {
        let (keys, sides) = (symmetric(['a', 'b', 'c']), Values::from(1..=2));
        let all: Values<(char, i32, bool)> = (keys.clone(), sides, bool::default_values().into()).into();
        assert_eq!(all.values.len(), 12);
        assert_eq!(all.values[7], ('b', 2, true));
        assert_eq!(all.parts.of(7).map(|(_, at)| at).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(all.parts.with(7, |kind, at| if kind == Kind::Plain { at } else { 2 }), 11);
        assert!((0..12).all(|value| all.parts.with(value, |_, at| at) == value));
        let twice = move || Values::from((keys.clone(), keys));
        assert!(std::panic::catch_unwind(twice).is_err());
    }
}
