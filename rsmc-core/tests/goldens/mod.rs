//! Cases for the goldens, and the comparison with their files.

mod buffered;
pub mod pictures;
pub mod script;

use std::path::Path;
use std::time::Duration;

use rsmc_core::analysis::race::Race;
use rsmc_core::report::{self, Counts, Diagram, Failures, Finding, Replay};
use rsmc_core::session::{Config, ExplorerKind, FailureKind, Fewest, MemoryModel, Needs};
use rsmc_core::step::Run;

/// A failure to report.
pub struct Case<'a> {
    pub kind: FailureKind,
    pub message: &'a str,
    pub run: &'a Run,
    pub race: Option<Race>,
    pub memory: MemoryModel,
    pub fewest: Fewest,
    pub needs: Option<Needs>,
}

impl<'a> Case<'a> {
    pub fn new(kind: FailureKind, message: &'a str, run: &'a Run) -> Self {
        let (race, memory, fewest, needs) = (None, MemoryModel::Sc, Fewest::Unsought, None);
        Self { kind, message, run, race, memory, fewest, needs }
    }

    /// The report, after a check that found it in the third of four runs.
    pub fn text(&self, name: Option<&str>) -> String {
        report::finding_text(&self.finding(), name, &self.counts())
    }

    /// The failure as a diagram.
    pub fn diagram(&self, name: Option<&str>) -> Diagram {
        Diagram::new(&self.finding(), name, &self.counts(), &Config::default().memory(self.memory))
    }

    fn finding(&self) -> Finding<'_> {
        Finding {
            message: self.message,
            replay: Replay { seed: "r1-0a1b2c3d4e5f", scenario: None, weakened: None },
            waiting: &self.run.waiting,
            panics: &self.run.panics,
            race: self.race.as_ref(),
            switches: 2,
            fewest: self.fewest,
            needs: self.needs.as_ref(),
            ..Finding::of(self.kind, &self.run.trace)
        }
    }

    fn counts(&self) -> Counts<'static> {
        let failures = Failures { executions: 1, causes: &[] };
        Counts { runs: 4, failures, memory: self.memory, ..counts(3, 3, 12) }
    }
}

/// Figures of a check.
pub fn counts(executions: u64, threads: usize, events: usize) -> Counts<'static> {
    Counts {
        executions,
        runs: executions,
        blocked: 0,
        failures: Failures::default(),
        threads,
        events,
        shares: true,
        unmodelled: false,
        estimate: None,
        elapsed: Duration::from_millis(210),
        memory: MemoryModel::Sc,
        explorer: ExplorerKind::ReadsFrom,
        preemption_bound: None,
        delay_bound: None,
        level: None,
    }
}

/// Compares a text with its golden file, or rewrites the file if `RSMC_BLESS` is set.
#[track_caller]
pub fn check(name: &str, text: &str) {
    let text = format!("{}\n", text.trim_end());
    let wide: Vec<&str> = text
        .lines()
        .filter(|line| line.chars().count() > 80 && !line.starts_with("RSMC_REPLAY") && !line.starts_with("verified"))
        .collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(format!("{name}.txt"));
    if std::env::var_os("RSMC_BLESS").is_some() {
        std::fs::write(&path, &text).expect("the golden file can be written");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(golden == text, "{name}.txt differs (RSMC_BLESS=1 rewrites it); the report is now\n\n{text}");
    assert!(wide.is_empty(), "{name}.txt: wider than 80 columns: {wide:#?}");
}
