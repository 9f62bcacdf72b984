//! loom's variables of the environment.

use std::ffi::OsString;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use crate::MAX_THREADS;
use crate::model::Builder;

/// The settings that the variables ask for; `value` is that of a variable.
///
/// # Errors
/// The variable whose value cannot be read, and the reason.
pub(super) fn read(value: &dyn Fn(&str) -> Option<OsString>) -> Result<Builder, String> {
    let variables = Variables(value);
    let log = variables.text("LOOM_LOG")?;
    Ok(Builder {
        max_threads: MAX_THREADS - 1,
        max_branches: variables.number("LOOM_MAX_BRANCHES")?.unwrap_or(1_000),
        max_permutations: variables.number("LOOM_MAX_PERMUTATIONS")?,
        max_duration: variables.number("LOOM_MAX_DURATION")?.map(Duration::from_secs),
        preemption_bound: variables.number("LOOM_MAX_PREEMPTIONS")?,
        checkpoint_file: value("LOOM_CHECKPOINT_FILE").map(Into::into),
        checkpoint_interval: variables.number("LOOM_CHECKPOINT_INTERVAL")?.unwrap_or(20_000),
        expect_explicit_explore: false,
        location: value("LOOM_LOCATION").is_some(),
        log: log.as_ref().is_some_and(|log| ["trace", "debug"].iter().any(|word| log.contains(word))),
        counts: log.is_some(),
    })
}

struct Variables<'a>(&'a dyn Fn(&str) -> Option<OsString>);

impl Variables<'_> {
    fn text(&self, name: &str) -> Result<Option<String>, String> {
        let value = (self.0)(name).map(OsString::into_string).transpose();
        value.map_err(|value| format!("`{name}` is not Unicode: {}", value.display()))
    }

    fn number<N: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<N>, String> {
        let read = |text: String| text.parse().map_err(|error| format!("invalid value `{text}` for `{name}`: {error}"));
        self.text(name)?.map(read).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &'static str, value: &'static str) -> Result<Builder, String> {
        read(&move |asked| (asked == name).then(|| value.into()))
    }

    #[test]
    fn each_variable_sets_its_field() {
        assert_eq!(of("LOOM_MAX_BRANCHES", "7").map(|b| b.max_branches), Ok(7));
        assert_eq!(of("LOOM_MAX_PERMUTATIONS", "8").map(|b| b.max_permutations), Ok(Some(8)));
        assert_eq!(of("LOOM_MAX_DURATION", "9").map(|b| b.max_duration), Ok(Some(Duration::from_secs(9))));
        assert_eq!(of("LOOM_MAX_PREEMPTIONS", "2").map(|b| b.preemption_bound), Ok(Some(2)));
        assert_eq!(of("LOOM_CHECKPOINT_FILE", "a.json").map(|b| b.checkpoint_file), Ok(Some("a.json".into())));
        assert_eq!(of("LOOM_LOG", "loom=trace").map(|b| b.log), Ok(true));
        assert_eq!(of("LOOM_LOG", "info").map(|b| b.log), Ok(false));
        assert_eq!(of("LOOM_LOCATION", "1").map(|b| b.location), Ok(true));
    }

    #[test]
    fn a_value_that_is_no_number_is_an_error() {
        let error = of("LOOM_MAX_PREEMPTIONS", "two").expect_err("it is no number");
        assert_eq!(error, "invalid value `two` for `LOOM_MAX_PREEMPTIONS`: invalid digit found in string");
    }
}
