//! Durations as text: `500ms`, `30s`, `10m`, `1m30s`.

/// The units, from large to small, with their length in milliseconds.
const UNITS: [(&str, u64); 5] = [("h", 3_600_000), ("min", 60_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// The words that follow "`max_duration` " in the error about a text that is no duration.
pub(crate) const EXPECTED: &str = "takes a time such as \"30s\", \"500ms\", \"10m\", \"2h\" or \"1m30s\": whole numbers, each with a \
     unit (`h`, `m` or `min`, `s`, `ms`), from large to small";

/// Reads a duration, in milliseconds. `None` if the text is not one (see [`EXPECTED`]) or does not fit into 64 bits.
pub(crate) fn millis(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total: u64 = 0;
    let mut smallest = u64::MAX;
    while !rest.is_empty() {
        let number = take_while(&mut rest, |c| c.is_ascii_digit());
        let unit = millis_of(take_while(&mut rest, |c| c.is_ascii_alphabetic()))?;
        if unit >= smallest {
            return None;
        }
        smallest = unit;
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(unit)?)?;
    }
    (!text.is_empty()).then_some(total)
}

/// The length of a unit in milliseconds.
fn millis_of(unit: &str) -> Option<u64> {
    UNITS.iter().find(|(name, _)| *name == unit).map(|(_, millis)| *millis)
}

/// Cuts the longest start of `rest` off of which every character is `wanted`.
fn take_while<'a>(rest: &mut &'a str, wanted: impl Fn(char) -> bool) -> &'a str {
    let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    let (start, after) = rest.split_at(end);
    *rest = after;
    start
}

#[cfg(test)]
mod tests {
    /// Expects `text` to be read as so many milliseconds, or to be refused.
    #[track_caller]
    fn check(text: &str, millis: impl Into<Option<u64>>) {
        assert_eq!(super::millis(text), millis.into(), "{text:?}");
    }

    #[test]
    fn single_units() {
        check("500ms", 500);
        check("30s", 30_000);
        check("10m", 600_000);
        check("10min", 600_000);
        check("2h", 7_200_000);
        check("0s", 0);
    }

    #[test]
    fn combinations_from_large_to_small() {
        check("1m30s", 90_000);
        check("1h2min3s4ms", 3_723_004);
        check("30s1m", None);
        check("1s1s", None);
        check("1m1min", None);
    }

    #[test]
    fn what_is_no_duration() {
        for text in ["", "30", "s", "1.5s", "-1s", " 1s", "1 s", "1S", "1d", "1m30", "ms1", "١s", "1µs"] {
            check(text, None);
        }
    }

    #[test]
    fn what_does_not_fit() {
        check("18446744073709551615ms", u64::MAX);
        check("18446744073709551616ms", None);
        check("18446744073709551615s", None);
        check("1s18446744073709551615ms", None);
    }
}
