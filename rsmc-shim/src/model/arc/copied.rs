//! The types that `Arc::make_mut` can copy. std's trait for them is not stable.

use std::ffi::{CStr, OsStr};
use std::path::Path;
use std::sync::Arc as StdArc;

/// Types whose shared values can be copied, which is no step of a check.
pub trait Copied {
    /// A copy.
    fn copied(&self) -> StdArc<Self>;

    /// The value, for writing, where there is no other strong reference.
    fn unshared(arc: &mut StdArc<Self>) -> &mut Self;
}

impl<T: Clone> Copied for T {
    fn copied(&self) -> StdArc<Self> {
        StdArc::new(self.clone())
    }

    fn unshared(arc: &mut StdArc<Self>) -> &mut Self {
        StdArc::make_mut(arc)
    }
}

macro_rules! unsized_too {
    ($([$($param:tt)*] $name:ty;)+) => {
        $(
            impl<$($param)*> Copied for $name {
                fn copied(&self) -> StdArc<Self> {
                    self.into()
                }

                fn unshared(arc: &mut StdArc<Self>) -> &mut Self {
                    StdArc::make_mut(arc)
                }
            }
        )+
    };
}

unsized_too! {
    [T: Clone] [T];
    [] str;
    [] CStr;
    [] OsStr;
    [] Path;
}
