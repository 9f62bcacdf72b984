//! Names in messages. "Did you mean …?" suggests the nearest known name by edit distance, as the attribute does for its
//! arguments.

use strsim::levenshtein;

/// The known name nearest to `given`, if it is near enough. Case, and `_` for `-`, make no difference.
///
/// ```
/// use rsmc_core::session::nearest;
///
/// assert_eq!(nearest("PTC", ["random", "pct"]), None);
/// assert_eq!(nearest("read_from", ["reads-from", "view"]), Some("reads-from"));
/// ```
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = normal(given);
    let distances = known.into_iter().map(|name| (levenshtein(&given, &normal(name)), name));
    let (distance, name) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= name.len().min(given.len()) / 3).then_some(name)
}

/// A name in lower case, with `-` for `_`.
fn normal(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// The text before the list of known names: `, did you mean …?`, or `; `.
pub(super) fn then_known(given: &str, known: &[&str]) -> String {
    match nearest(given, known.iter().copied()) {
        Some(name) => format!(", did you mean `{name}`? Known are"),
        None => "; known are".to_owned(),
    }
}

/// Several names as a list in a sentence.
pub(super) fn list(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
