//! Conversions into an `Arc`.

use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc as StdArc;

use crate::model::arc::Arc;

/// Conversions that std's `Arc` has, too.
macro_rules! from {
    ($([$($param:tt)*] $from:ty => $to:ty;)+) => {
        $(
            impl<$($param)*> From<$from> for Arc<$to> {
                #[track_caller]
                fn from(value: $from) -> Self {
                    Self::fresh(value.into())
                }
            }
        )+
    };
}

from! {
    [T] T => T;
    [T: ?Sized] Box<T> => T;
    [T] Vec<T> => [T];
    [T: Clone] &[T] => [T];
    [T: Clone] &mut [T] => [T];
    [T, const N: usize] [T; N] => [T];
    [] &str => str;
    [] &mut str => str;
    [] String => str;
    [] &CStr => CStr;
    [] &mut CStr => CStr;
    [] CString => CStr;
    [] &OsStr => OsStr;
    [] &mut OsStr => OsStr;
    [] OsString => OsStr;
    [] &Path => Path;
    [] &mut Path => Path;
    [] PathBuf => Path;
}

impl<'a, B: ?Sized + ToOwned> From<Cow<'a, B>> for Arc<B>
where
    Arc<B>: From<&'a B> + From<B::Owned>,
{
    #[track_caller]
    fn from(value: Cow<'a, B>) -> Self {
        match value {
            Cow::Borrowed(value) => Self::from(value),
            Cow::Owned(value) => Self::from(value),
        }
    }
}

impl From<Arc<str>> for Arc<[u8]> {
    fn from(text: Arc<str>) -> Self {
        let (value, shared) = text.into_parts();
        Self::of(value.into(), shared)
    }
}

impl<T, const N: usize> TryFrom<Arc<[T]>> for Arc<[T; N]> {
    type Error = Arc<[T]>;

    fn try_from(values: Arc<[T]>) -> Result<Self, Arc<[T]>> {
        let (value, shared) = values.into_parts();
        match value.try_into() {
            Ok(value) => Ok(Self::of(value, shared)),
            Err(value) => Err(Arc::of(value, shared)),
        }
    }
}

impl<T> FromIterator<T> for Arc<[T]> {
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let values: StdArc<[T]> = values.into_iter().collect();
        Self::fresh(values)
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Default for Arc<[T]> {
    #[track_caller]
    fn default() -> Self {
        Self::from_std(StdArc::default())
    }
}

impl Default for Arc<str> {
    #[track_caller]
    fn default() -> Self {
        Self::from_std(StdArc::default())
    }
}

impl Default for Arc<CStr> {
    #[track_caller]
    fn default() -> Self {
        Self::from_std(StdArc::default())
    }
}
