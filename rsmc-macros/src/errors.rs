//! Several errors at once.

use syn::{Error, Result};

/// `value`, or all errors if there are some.
pub(crate) fn all_or_errors<T>(value: T, errors: impl IntoIterator<Item = Error>) -> Result<T> {
    let all = errors.into_iter().reduce(|mut all, next| {
        all.combine(next);
        all
    });
    all.map_or(Ok(value), Err)
}
