//! `lazy_static!`, and the error that loom has in this module as well.

pub use rsmc_shim::thread::AccessError;

/// Declares statics that are made at their first use in an execution, and dropped at its end; as the crate of that
/// name.
///
/// ```
/// use rsmc_loom as loom;
///
/// loom::lazy_static! {
///     /// A name.
///     pub static ref NAME: String = "loom".to_owned();
/// }
/// loom::model(|| assert_eq!(NAME.len(), 4));
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
        $crate::lazy_static! { $($rest)* }
    };
}
