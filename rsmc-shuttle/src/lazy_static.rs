//! `lazy_static!`, and what the crate of that name has besides.

/// `use shuttle::lazy_static::lazy_static` works as `use lazy_static::lazy_static` does.
pub use crate::lazy_static;

/// A static of [`lazy_static!`].
pub trait LazyStatic {
    #[doc(hidden)]
    fn initialize(lazy: &Self);
}

/// Makes the value of a static of [`lazy_static!`], unless it is there.
pub fn initialize<T: LazyStatic>(lazy: &T) {
    LazyStatic::initialize(lazy);
}

/// Declares statics that are made at their first use in an execution, and dropped at its end; as the crate of that
/// name.
///
/// ```
/// use rsmc_shuttle as shuttle;
///
/// shuttle::lazy_static! {
///     /// A name.
///     pub static ref NAME: String = "shuttle".to_owned();
/// }
/// shuttle::check_random(|| assert_eq!(NAME.len(), 7), 1);
/// ```
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attr:meta])* $vis:vis static ref $name:ident: $ty:ty = $make:expr; $($rest:tt)*) => {
        #[allow(non_camel_case_types, missing_copy_implementations, dead_code)]
        $(#[$attr])*
        $vis struct $name {
            __private: (),
        }
        $(#[$attr])*
        $vis static $name: $name = $name { __private: () };
        impl ::core::ops::Deref for $name {
            type Target = $ty;
            fn deref(&self) -> &$ty {
                static VALUE: $crate::__private::LazyLock<$ty> = $crate::__private::LazyLock::new(|| $make);
                $crate::__private::LazyLock::force(&VALUE)
            }
        }
        impl $crate::lazy_static::LazyStatic for $name {
            fn initialize(lazy: &Self) {
                let _ = &**lazy;
            }
        }
        $crate::lazy_static! { $($rest)* }
    };
}
