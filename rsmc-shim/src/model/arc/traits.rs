//! What an `Arc` is besides a reference.

use std::any::Any;
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::error::Error;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc as StdArc;

use crate::model::arc::Arc;

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Unpin for Arc<T> {}

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
    [T, const N: usize] [T; N] => [T];
    [] &str => str;
    [] String => str;
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

impl Arc<dyn Any + Send + Sync> {
    /// The reference with its type, if that is `T`.
    ///
    /// # Errors
    /// The reference, if its type is another.
    pub fn downcast<T: Any + Send + Sync>(self) -> Result<Arc<T>, Self> {
        let (value, shared) = self.into_parts();
        match value.downcast() {
            Ok(value) => Ok(Arc::of(value, shared)),
            Err(value) => Err(Self::of(value, shared)),
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Pointer for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&*self.value, f)
    }
}

impl<T: ?Sized + Error> Error for Arc<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        (**self).source()
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}
