//! The configuration as names and values.

use std::time::Duration;

use crate::report::diagram::Setting;
use crate::session::{Config, memory_text};

/// Every setting, in the order of the documentation.
pub(super) fn of(config: &Config) -> Vec<Setting> {
    let (now, usual) = (values(config), values(&Config::default()));
    let setting =
        |((name, value), (_, usual)): ((_, String), (_, String))| Setting { name, changed: value != usual, value };
    now.into_iter().zip(usual).map(setting).collect()
}

fn values(config: &Config) -> Vec<(&'static str, String)> {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    vec![
        ("memory", config.effective_memory().to_string()),
        ("explorer", config.explorer.to_string()),
        ("max_executions", or_none(config.max_executions.map(|number| number.to_string()))),
        ("max_duration", duration(config.max_duration)),
        ("max_memory", config.max_memory.map_or_else(|| "3/4 of all".to_owned(), memory_text)),
        ("stuck_after", duration(config.stuck_after)),
        ("max_steps", config.max_steps.to_string()),
        ("spin_bound", config.spin_bound.to_string()),
        ("spurious", config.spurious.to_string()),
        ("stack_size", config.stack_size.to_string()),
        ("keep_going", config.keep_going.to_string()),
        ("check_races", config.check_races.to_string()),
        ("check_leaks", config.check_leaks.to_string()),
        ("check_joins", config.check_joins.to_string()),
        ("allow_trivial", config.allow_trivial.to_string()),
        ("reuse", config.reuse.to_string()),
        ("shrink", config.shrink.to_string()),
        ("seed", config.seed.to_string()),
        ("jobs", config.jobs.to_string()),
        ("replay", or_none(config.replay.as_ref().or(config.pinned.first()).map(ToString::to_string))),
    ]
}

fn duration(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (0, millis) => format!("{millis}ms"),
        (seconds, 0) if seconds.is_multiple_of(60) => format!("{}m", seconds / 60),
        (seconds, 0) => format!("{seconds}s"),
        (seconds, millis) => format!("{seconds}s{millis}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_the_default_is_known() {
        let settings = of(&Config::default().max_steps(20).max_duration(Duration::from_millis(1_500)));
        let changed: Vec<_> = settings.iter().filter(|s| s.changed).map(|s| (s.name, s.value.as_str())).collect();
        assert_eq!(changed, [("max_duration", "1s500ms"), ("max_steps", "20")]);
        assert_eq!(settings.iter().find(|s| s.name == "max_executions").unwrap().value, "none");
    }
}
