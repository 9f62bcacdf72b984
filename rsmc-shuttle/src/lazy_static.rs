//! `lazy_static!`, and what the crate of that name has besides.

/// `use shuttle::lazy_static::lazy_static` works as `use lazy_static::lazy_static` does.
pub use crate::lazy_static;
pub use rsmc_shim::__private::LazyStatic;

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
    ($($statics:tt)*) => {
        $crate::__private::__lazy_static! { $($statics)* }
    };
}
