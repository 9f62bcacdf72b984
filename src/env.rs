//! The environment: `RSMC_*` variables, read in this one place, which override what a test says.

use std::path::PathBuf;
use std::time::Duration;

use rsmc_core::seed::{Seed, SeedError};
use rsmc_core::session::{Config, ConfigError, nearest, parse_memory};
use rsmc_core::trace::WeakenedError;
use thiserror::Error;

use crate::files;
use crate::jobs::VARIABLE;

/// A variable of the environment that cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnvError {
    /// A name that starts like those of rsmc's variables, but is none of them.
    #[error("there is no variable `{0}`{nearest} {known}", nearest = then_known(.0), known = KNOWN.join(", "))]
    Unknown(String),
    /// A value that is no number.
    #[error("`{name}` must be a whole number, not `{value}`")]
    NotANumber {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// A value that is no number of processes.
    #[error("`RSMC_JOBS` must be a whole number from 1 on, or `all`, not `{value}`")]
    NotJobs {
        /// Its value.
        value: String,
    },
    /// A value that is no bound of preemptions.
    #[error("`RSMC_PREEMPTION_BOUND` must be a whole number, `rising`, or `none`, not `{value}`")]
    NotABound {
        /// Its value.
        value: String,
    },
    /// A value that is no bound of delays.
    #[error("`RSMC_DELAY_BOUND` must be a whole number, or `none`, not `{value}`")]
    NotABoundOfDelays {
        /// Its value.
        value: String,
    },
    /// A value that is neither yes nor no.
    #[error("`{name}` must be 1, or 0, not `{value}`")]
    NotASwitch {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// A value that is no duration.
    #[error("`{name}` must be a duration such as `500ms`, `30s`, `10m` or `1h`, not `{value}`")]
    NotADuration {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// A value that is no amount of memory.
    #[error("`RSMC_MAX_MEMORY` must be an amount of memory such as `512MiB` or `4GiB`, not `{value}`")]
    NotMemory {
        /// The value.
        value: String,
    },
    /// A name that no memory model or explorer has.
    #[error("`{name}`: {error}")]
    Config {
        /// The variable.
        name: &'static str,
        /// The error.
        error: ConfigError,
    },
    /// A value that names nothing to print.
    #[error("`RSMC_LOG` must be `trace`, which prints every operation while it happens, not `{0}`")]
    NotALog(String),
    /// A value that names no form of reports.
    #[error("`RSMC_REPORT` must be `full`, which shows the steps within each call, or `folded`, not `{0}`")]
    NotAReport(String),
    /// A value that does not say what to do about incomplete checks.
    #[error("`RSMC_INCOMPLETE` must be `fail`, which makes every check fail that is not complete, not `{0}`")]
    NotIncomplete(String),
    /// A value that names no pipeline.
    #[error("`RSMC_ANNOTATE` must be `github`, which prints each problem for GitHub to show at its place, not `{0}`")]
    NotAnnotated(String),
    /// A value that names no ordering to weaken.
    #[error("`RSMC_WEAKEN`: {0}")]
    NotWeakened(WeakenedError),
    /// A seed that cannot be read.
    #[error("`RSMC_REPLAY`: {0}")]
    Seed(SeedError),
    /// A file with a seed that cannot be read.
    #[error("`RSMC_REPLAY`: cannot read {file}: {error}")]
    SeedFile {
        /// The file.
        file: String,
        /// The reason why it cannot be read.
        error: String,
    },
    /// A value that is not Unicode.
    #[error("`{0}` is not Unicode")]
    NotUnicode(String),
    /// A value that names no folder.
    #[error("`RSMC_REPORT_DIR` must name a folder, such as `target/rsmc`; it is empty")]
    NoFolder,
    /// A value that names no file.
    #[error("`RSMC_SUMMARY` must name a file, such as `target/rsmc.jsonl`; it is empty")]
    NoFile,
}

/// The prefix of the names of our variables.
const PREFIX: &str = "RSMC_";

/// The variable that has a seed to replay.
pub(crate) const REPLAY: &str = "RSMC_REPLAY";
/// The variable that has a scenario of a specification, the only one to run.
pub(crate) const SCENARIO: &str = "RSMC_SCENARIO";
/// The variable that has orderings to weaken.
pub(crate) const WEAKEN: &str = "RSMC_WEAKEN";
/// The variable that asks for an audit.
const AUDIT: &str = "RSMC_AUDIT";
/// The variable that asks for every operation to be printed.
pub(crate) const LOG: &str = "RSMC_LOG";

/// The variable that asks for the steps within each call.
const REPORT: &str = "RSMC_REPORT";

/// The variables that rsmc reads.
const KNOWN: [&str; 22] = [
    REPLAY,
    SCENARIO,
    "RSMC_MEMORY",
    "RSMC_EXPLORER",
    "RSMC_MAX_EXECUTIONS",
    "RSMC_MAX_DURATION",
    "RSMC_MAX_MEMORY",
    "RSMC_STUCK_AFTER",
    "RSMC_JOBS",
    "RSMC_PREEMPTION_BOUND",
    "RSMC_DELAY_BOUND",
    "RSMC_SPURIOUS",
    LOG,
    "RSMC_SHRINK",
    REPORT,
    "RSMC_REPORT_DIR",
    "RSMC_RESUME",
    "RSMC_INCOMPLETE",
    "RSMC_SUMMARY",
    "RSMC_ANNOTATE",
    WEAKEN,
    AUDIT,
];

/// The words before the list of known variables. The prefix that all of them have does not make any of them near.
fn then_known(given: &str) -> String {
    let ends = KNOWN.iter().filter_map(|name| name.strip_prefix(PREFIX));
    match nearest(given.strip_prefix(PREFIX).unwrap_or(given), ends) {
        Some(end) => format!(", did you mean `{PREFIX}{end}`? Known are"),
        None => "; known are".to_owned(),
    }
}

/// The flags that the user gave to the compiler by the environment, which a command that runs a test again needs, too.
pub(crate) fn rustflags() -> Option<String> {
    std::env::var("RUSTFLAGS").ok().filter(|flags| !flags.trim().is_empty())
}

/// The variables that start with `RSMC_`, except those of the project's own tests, and the one that makes a process a
/// worker.
pub(crate) fn read() -> Result<Vec<(String, String)>, EnvError> {
    let ours = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_str()?.to_owned();
        let other = ["RSMC_BLESS", VARIABLE].contains(&name.as_str());
        (name.starts_with(PREFIX) && !other).then_some((name, value))
    });
    ours.map(|(name, value)| match value.into_string() {
        Ok(value) => Ok((name, value)),
        Err(_) => Err(EnvError::NotUnicode(name)),
    })
    .collect()
}

/// Overrides a configuration.
pub(crate) fn apply(mut config: Config, variables: &[(String, String)]) -> Result<Config, EnvError> {
    for (name, value) in variables {
        config = match name.as_str() {
            REPLAY => config.replay(seed(value)?),
            "RSMC_MEMORY" => config.memory(named("RSMC_MEMORY", value)?),
            "RSMC_EXPLORER" => config.explorer(named("RSMC_EXPLORER", value)?),
            "RSMC_MAX_EXECUTIONS" => config.max_executions(number("RSMC_MAX_EXECUTIONS", value)?),
            "RSMC_MAX_DURATION" => config.max_duration(duration("RSMC_MAX_DURATION", value)?),
            "RSMC_MAX_MEMORY" => {
                let bad = || EnvError::NotMemory { value: value.clone() };
                config.max_memory(parse_memory(value).filter(|&bytes| bytes > 0).ok_or_else(bad)?)
            }
            "RSMC_STUCK_AFTER" => config.stuck_after(duration("RSMC_STUCK_AFTER", value)?),
            "RSMC_JOBS" => config.jobs(jobs(value)?),
            "RSMC_PREEMPTION_BOUND" => bounded(config, value)?,
            "RSMC_DELAY_BOUND" => delayed(config, value)?,
            "RSMC_SPURIOUS" => config.spurious(u32::try_from(number("RSMC_SPURIOUS", value)?).unwrap_or(u32::MAX)),
            LOG if value == "trace" => config,
            LOG => return Err(EnvError::NotALog(value.clone())),
            "RSMC_SHRINK" => config.shrink(u32::try_from(number("RSMC_SHRINK", value)?).unwrap_or(u32::MAX)),
            WEAKEN => value.split(',').try_fold(config, |config, one| match one.trim().parse() {
                Ok(weakened) => Ok(config.weaken(weakened)),
                Err(error) => Err(EnvError::NotWeakened(error)),
            })?,
            REPORT if ["full", "folded"].contains(&&**value) => config,
            REPORT => return Err(EnvError::NotAReport(value.clone())),
            // Not of the configuration: see `scenario`, `report_dir`, `resumes`, `fails_incomplete`, `summary`,
            // `annotates` and `audits`.
            SCENARIO | AUDIT | "RSMC_REPORT_DIR" | "RSMC_RESUME" | "RSMC_INCOMPLETE" | "RSMC_SUMMARY"
            | "RSMC_ANNOTATE" => config,
            _ => return Err(EnvError::Unknown(name.clone())),
        };
    }
    Ok(config)
}

/// Whether colours may be used: not if `NO_COLOR` is set to something, nor if the terminal says that it can do nothing.
pub(crate) fn allows_colour() -> bool {
    let is =
        |name: &str, what: fn(&str) -> bool| std::env::var_os(name).is_some_and(|value| what(&value.to_string_lossy()));
    !is("NO_COLOR", |value| !value.is_empty()) && !is("TERM", |value| value == "dumb")
}

/// Whether the locale says that there are no letters but those of ASCII. A locale that says nothing does not.
pub(crate) fn is_ascii() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    set.is_some_and(|locale| ["C", "POSIX"].contains(&&*locale.to_string_lossy()))
}

/// A seed, or a file with one.
fn seed(value: &str) -> Result<Seed, EnvError> {
    let unread = |error: std::io::Error| EnvError::SeedFile { file: value.to_owned(), error: error.to_string() };
    files::seed_text(value).map_err(unread)?.parse().map_err(EnvError::Seed)
}

/// The only scenario to run, if there is one.
pub(crate) fn scenario(variables: &[(String, String)]) -> Option<String> {
    variables.iter().find(|(name, _)| name == SCENARIO).map(|(_, scenario)| scenario.clone())
}

/// Whether every operation is to be printed while it happens.
pub(crate) fn wants_trace(variables: &[(String, String)]) -> bool {
    variables.iter().any(|(name, _)| name == LOG)
}

/// Whether reports show the steps within each call.
pub(crate) fn wants_full_report() -> bool {
    std::env::var_os(REPORT).is_some_and(|value| value == "full")
}

/// The folder for the files of failures, if one is asked for.
pub(crate) fn report_dir(variables: &[(String, String)]) -> Result<Option<PathBuf>, EnvError> {
    match variables.iter().find(|(name, _)| name == "RSMC_REPORT_DIR") {
        Some((_, folder)) if folder.is_empty() => Err(EnvError::NoFolder),
        folder => Ok(folder.map(|(_, folder)| PathBuf::from(folder))),
    }
}

/// Whether a check fails that is not complete.
pub(crate) fn fails_incomplete(variables: &[(String, String)]) -> Result<bool, EnvError> {
    match variables.iter().find(|(name, _)| name == "RSMC_INCOMPLETE").map(|(_, value)| value.as_str()) {
        None => Ok(false),
        Some("fail") => Ok(true),
        Some(value) => Err(EnvError::NotIncomplete(value.to_owned())),
    }
}

/// Whether the problems of a check that fails are printed for GitHub.
pub(crate) fn annotates(variables: &[(String, String)]) -> Result<bool, EnvError> {
    match variables.iter().find(|(name, _)| name == "RSMC_ANNOTATE").map(|(_, value)| value.as_str()) {
        None => Ok(false),
        Some("github") => Ok(true),
        Some(value) => Err(EnvError::NotAnnotated(value.to_owned())),
    }
}

/// The file that gets a line for each check, if one is asked for.
pub(crate) fn summary(variables: &[(String, String)]) -> Result<Option<PathBuf>, EnvError> {
    match variables.iter().find(|(name, _)| name == "RSMC_SUMMARY") {
        Some((_, file)) if file.is_empty() => Err(EnvError::NoFile),
        file => Ok(file.map(|(_, file)| PathBuf::from(file))),
    }
}

/// The checks that are audited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audits {
    /// Those whose tests assert something of their orderings.
    Asserted,
    /// All, for at most so long, or as long as usual.
    All(Option<Duration>),
    /// None.
    None,
}

/// The checks that are audited.
pub(crate) fn audits(variables: &[(String, String)]) -> Result<Audits, EnvError> {
    match variables.iter().find(|(name, _)| name == AUDIT).map(|(_, value)| value.as_str()) {
        None => Ok(Audits::Asserted),
        Some("0") => Ok(Audits::None),
        Some("1") => Ok(Audits::All(None)),
        Some(value) => duration(AUDIT, value).map(|time| Audits::All(Some(time))),
    }
}

/// Whether a check goes on from its checkpoint.
pub(crate) fn resumes(variables: &[(String, String)]) -> Result<bool, EnvError> {
    let name = "RSMC_RESUME";
    match variables.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str()) {
        None | Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(value) => Err(EnvError::NotASwitch { name, value: value.to_owned() }),
    }
}

fn named<T: std::str::FromStr<Err = ConfigError>>(name: &'static str, value: &str) -> Result<T, EnvError> {
    value.parse().map_err(|error| EnvError::Config { name, error })
}

fn number(name: &'static str, value: &str) -> Result<u64, EnvError> {
    value.replace('_', "").parse().map_err(|_| EnvError::NotANumber { name, value: value.to_owned() })
}

/// A configuration with this bound of preemptions, or without one.
fn bounded(mut config: Config, value: &str) -> Result<Config, EnvError> {
    if value == "none" {
        config.preemption_bound = None;
        return Ok(config);
    }
    if value == "rising" {
        return Ok(config.rising_preemption_bound());
    }
    let most = value.replace('_', "").parse();
    most.map(|most| config.preemption_bound(most)).map_err(|_| EnvError::NotABound { value: value.to_owned() })
}

/// A configuration with this bound of delays, or without one.
fn delayed(mut config: Config, value: &str) -> Result<Config, EnvError> {
    let bad = |_| EnvError::NotABoundOfDelays { value: value.to_owned() };
    config.delay_bound = if value == "none" { None } else { Some(value.replace('_', "").parse().map_err(bad)?) };
    Ok(config)
}

/// A number of processes, or `all`: one for each core.
fn jobs(value: &str) -> Result<usize, EnvError> {
    if value == "all" {
        return Ok(std::thread::available_parallelism().map_or(1, usize::from));
    }
    let bad = || EnvError::NotJobs { value: value.to_owned() };
    value.parse().ok().filter(|&jobs| jobs > 0).ok_or_else(bad)
}

/// One or several numbers with units, as in the attribute: `30s`, `1m30s`.
fn duration(name: &'static str, value: &str) -> Result<Duration, EnvError> {
    let bad = || EnvError::NotADuration { name, value: value.to_owned() };
    let (mut rest, mut total) = (value, Duration::ZERO);
    while !rest.is_empty() || value.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(bad)?;
        let (count, tail) = rest.split_at(digits);
        let (unit, tail) = tail.split_at(tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len()));
        let millis: u64 = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            _ => return Err(bad()),
        };
        let part = count.parse::<u64>().ok().and_then(|count| count.checked_mul(millis)).ok_or_else(bad)?;
        total = total.checked_add(Duration::from_millis(part)).ok_or_else(bad)?;
        rest = tail;
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use rsmc_core::session::{ExplorerKind, MemoryModel};

    use super::*;

    fn with(name: &str, value: &str) -> Result<Config, EnvError> {
        apply(Config::default(), &[(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn variables_override() {
        assert_eq!(with("RSMC_MAX_EXECUTIONS", "1_000").unwrap().max_executions, Some(1000));
        assert_eq!(with("RSMC_MAX_MEMORY", "3GiB").unwrap().max_memory, Some(3 << 30));
        assert_eq!(with("RSMC_MAX_DURATION", "90s").unwrap().max_duration, Duration::from_secs(90));
        assert_eq!(with("RSMC_MAX_DURATION", "1m30s").unwrap().max_duration, Duration::from_secs(90));
        assert_eq!(with("RSMC_STUCK_AFTER", "2m").unwrap().stuck_after, Duration::from_secs(120));
        assert_eq!(with("RSMC_STUCK_AFTER", "0s").unwrap().stuck_after, Duration::ZERO);
        assert_eq!(with("RSMC_EXPLORER", "pct").unwrap().explorer, ExplorerKind::Pct);
        assert_eq!(with("RSMC_JOBS", "3").unwrap().jobs, 3);
        assert_eq!(with("RSMC_SHRINK", "0").unwrap().shrink, 0);
        assert!(with("RSMC_JOBS", "all").unwrap().jobs >= 1);
        assert_eq!(with("RSMC_MEMORY", "tso").unwrap().memory, Some(MemoryModel::Tso));
    }

    #[test]
    fn files_go_where_they_should() {
        let dir = |value: &str| report_dir(&[("RSMC_REPORT_DIR".to_owned(), value.to_owned())]);
        assert_eq!(dir("target/rsmc").unwrap(), Some(PathBuf::from("target/rsmc")));
        assert_eq!(dir("").unwrap_err(), EnvError::NoFolder);
        assert_eq!(report_dir(&[]).unwrap(), None);
        assert!(with("RSMC_REPORT_DIR", "target/rsmc").is_ok());
    }

    #[test]
    fn resuming_is_switched_on_and_off() {
        let of = |value: &str| resumes(&[("RSMC_RESUME".to_owned(), value.to_owned())]);
        assert_eq!((resumes(&[]), of("0"), of("1")), (Ok(false), Ok(false), Ok(true)));
        assert_eq!(of("yes").unwrap_err().to_string(), "`RSMC_RESUME` must be 1, or 0, not `yes`");
    }

    #[test]
    fn what_a_pipeline_asks_for() {
        let of = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        assert_eq!(fails_incomplete(&[]), Ok(false));
        assert_eq!(fails_incomplete(&of("RSMC_INCOMPLETE", "fail")), Ok(true));
        let error = fails_incomplete(&of("RSMC_INCOMPLETE", "1")).unwrap_err().to_string();
        assert!(error.starts_with("`RSMC_INCOMPLETE` must be `fail`") && error.ends_with("not `1`"), "{error}");
        assert_eq!(annotates(&[]), Ok(false));
        assert_eq!(annotates(&of("RSMC_ANNOTATE", "github")), Ok(true));
        for wrong in ["gitlab", "1", ""] {
            let error = annotates(&of("RSMC_ANNOTATE", wrong)).unwrap_err().to_string();
            assert!(
                error.starts_with("`RSMC_ANNOTATE` must be `github`") && error.ends_with(&format!("not `{wrong}`"))
            );
        }
        assert_eq!(summary(&[]), Ok(None));
        assert_eq!(summary(&of("RSMC_SUMMARY", "a.jsonl")), Ok(Some(PathBuf::from("a.jsonl"))));
        assert_eq!(summary(&of("RSMC_SUMMARY", "")), Err(EnvError::NoFile));
    }

    #[test]
    fn the_page_has_every_variable() {
        let page = include_str!("../docs/configuration.md");
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `RSMC_")).collect();
        for name in KNOWN {
            assert!(
                rows.iter().any(|row| row.contains(&format!("`{name}`"))),
                "{name} has no row in docs/configuration.md"
            );
        }
    }

    #[test]
    fn mistakes_are_named() {
        let message = |name, value| with(name, value).unwrap_err().to_string();
        assert_eq!(with("RSMC_EXECUTIONS", "1").unwrap_err(), EnvError::Unknown("RSMC_EXECUTIONS".into()));
        assert!(message("RSMC_EXPLORER", "rf").contains("there is no explorer `rf`; known are reads-from"));
        let near = "there is no explorer `Read_from`, did you mean `reads-from`? Known are reads-from, ";
        assert!(message("RSMC_EXPLORER", "Read_from").contains(near));
        assert!(
            message("RSMC_MEMORY", "TSO")
                .contains("there is no memory model `TSO`, did you mean `tso`? Known are sc, ")
        );
        for (wrong, meant) in [
            ("RSMC_REPLY", "REPLAY"),
            ("RSMC_ANOTATE", "ANNOTATE"),
            ("RSMC_MAX_EXECUTION", "MAX_EXECUTIONS"),
            ("RSMC_replay", "REPLAY"),
        ] {
            let expected =
                format!("there is no variable `{wrong}`, did you mean `RSMC_{meant}`? Known are RSMC_REPLAY, ");
            assert!(message(wrong, "1").starts_with(&expected), "{}", message(wrong, "1"));
        }
        let far = "there is no variable `RSMC_THREADS`; known are RSMC_REPLAY, ";
        assert!(message("RSMC_THREADS", "1").starts_with(far));
        for wrong in ["90", "", "s", "1x", "1m30", "99999999999999999999h"] {
            assert!(message("RSMC_MAX_MEMORY", wrong).contains("such as `512MiB`"), "{wrong}");
            assert!(message("RSMC_MAX_DURATION", wrong).contains("such as `500ms`"), "{wrong}");
            assert!(message("RSMC_STUCK_AFTER", wrong).contains("such as `500ms`"), "{wrong}");
        }
        for wrong in ["0", "many", "-1"] {
            assert!(message("RSMC_JOBS", wrong).contains("from 1 on, or `all`"), "{wrong}");
        }
        assert!(message("RSMC_REPORT", "long").contains("must be `full`"));
        assert!(with("RSMC_REPORT", "full").is_ok());
        assert!(message("RSMC_LOG", "debug").contains("must be `trace`"));
        assert!(message("RSMC_MAX_EXECUTIONS", "many").contains("whole number"));
        assert!(message("RSMC_SHRINK", "-1").contains("whole number"));
        assert!(message("RSMC_REPLAY", "x").contains("a seed starts with"));
        assert!(message("RSMC_REPLAY", "no/such.seed").contains("cannot read no/such.seed"));
    }
}
