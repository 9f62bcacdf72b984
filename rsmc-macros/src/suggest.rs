//! "Did you mean …?": the nearest known name by edit distance. `session::nearest` of rsmc-core does the same for names
//! in the environment.

use strsim::levenshtein;

/// The known name nearest to `given`, if it is near enough to be what was meant. Upper case and `_` for `-` cost
/// nothing.
fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = normal(given);
    known
        .into_iter()
        .map(|name| (levenshtein(&given, &normal(name)), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= name.len().min(given.len()) / 3)
        .map(|(_, name)| name)
}

/// The names in backquotes, with commas.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The hint for an unknown name: the nearest known one, and all of them.
pub(crate) fn hint<'a>(given: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let nearest = nearest(given, known.clone());
    let nearest = nearest.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default();
    format!("{nearest}\nknown: {}", list(known))
}

/// A name without the differences that people mix up most: case and the two kinds of dash.
fn normal(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let known = ["memory", "explorer", "max_executions", "max_duration"];
        assert_eq!(nearest("memroy", known), Some("memory"));
        assert_eq!(nearest("max_execution", known), Some("max_executions"));
        assert_eq!(nearest("MAX-DURATION", known), Some("max_duration"));
        assert_eq!(nearest("threads", known), None);
        assert_eq!(nearest("x", ["sc", "tso"]), None);
        assert_eq!(nearest("SC", ["sc", "tso"]), Some("sc"));
        assert_eq!(nearest("tos", ["sc", "tso"]), None);
        assert_eq!(nearest("tsoo", ["sc", "tso"]), Some("tso"));
    }
}
