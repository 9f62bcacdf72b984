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
    ($($statics:tt)*) => {
        $crate::__private::__lazy_static! { $($statics)* }
    };
}
