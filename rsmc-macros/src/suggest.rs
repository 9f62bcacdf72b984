//! "Did you mean …?": the nearest known name by edit distance.

/// The known name nearest to `given`, if it is near enough to be what was meant. Upper case and `_` for `-` cost nothing.
fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = normal(given);
    known
        .into_iter()
        .map(|name| (distance(&given, &normal(name)), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= name.len().min(given.len()) / 3)
        .map(|(_, name)| name)
}

/// The names in backquotes, with commas.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// What to say about an unknown name: the nearest known one, and all of them.
pub(crate) fn hint<'a>(given: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let nearest = nearest(given, known.clone());
    let nearest = nearest.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default();
    format!("{nearest}\nknown: {}", list(known))
}

/// A name without what people mix up most: case and the two kinds of dash.
fn normal(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// How many characters to insert, delete or replace to get from `a` to `b` (Levenshtein), one row at a time.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replace = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("memroy", "memory"), 2);
    }

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
