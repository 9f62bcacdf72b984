//! The results: `results.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::list::{Checker, Crate};
use crate::{Error, Options, here};

/// The results of every crate that has run.
#[derive(Default, Deserialize, Serialize)]
pub struct Results {
    pub crates: BTreeMap<String, CrateResult>,
}

/// The results of a crate.
#[derive(Default, Deserialize, Serialize)]
pub struct CrateResult {
    pub version: String,
    /// The seconds that a test was allowed.
    pub limit: u64,
    pub tests: Vec<TestResult>,
}

/// The results of a test.
#[derive(Deserialize, Serialize)]
pub struct TestResult {
    pub name: String,
    pub loom: Option<Ended>,
    pub rsmc: Option<Ended>,
}

/// How a test ended.
#[derive(Clone, Deserialize, Serialize)]
pub struct Ended {
    pub outcome: Outcome,
    /// Of the processor.
    pub seconds: f64,
    /// Of all models of the test, where the checker says it.
    pub executions: Option<u64>,
    /// The kind of failure that rsmc names.
    pub kind: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Passed,
    Failed,
    Unfinished,
}

impl Outcome {
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }

    pub fn is_failed(self) -> bool {
        self == Self::Failed
    }
}

impl TestResult {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), loom: None, rsmc: None }
    }

    pub fn get(&self, checker: Checker) -> Option<&Ended> {
        match checker {
            Checker::Loom => self.loom.as_ref(),
            Checker::Rsmc => self.rsmc.as_ref(),
        }
    }

    pub fn set(&mut self, checker: Checker, ended: Ended) {
        match checker {
            Checker::Loom => self.loom = Some(ended),
            Checker::Rsmc => self.rsmc = Some(ended),
        }
    }
}

impl Results {
    fn file() -> PathBuf {
        here().join("results.toml")
    }

    pub fn read() -> Result<Self, Error> {
        let file = Self::file();
        if !file.exists() {
            return Ok(Self::default());
        }
        Ok(toml::from_str(&fs::read_to_string(file)?)?)
    }

    pub fn write(&self) -> Result<(), Error> {
        Ok(fs::write(Self::file(), toml::to_string(self)?)?)
    }

    /// Takes the results of a run. Where only some tests or one checker ran, the results of others stay.
    pub fn put(&mut self, one: &Crate, options: &Options, found: Vec<TestResult>) {
        let kept = self.crates.entry(one.name.clone()).or_default();
        if kept.version != one.version {
            kept.tests.clear();
        }
        kept.version.clone_from(&one.version);
        kept.limit = options.limit.as_secs();
        for result in found {
            match kept.tests.iter_mut().find(|kept| kept.name == result.name) {
                Some(kept) => {
                    for checker in [Checker::Loom, Checker::Rsmc] {
                        if let Some(ended) = result.get(checker) {
                            kept.set(checker, ended.clone());
                        }
                    }
                }
                None => kept.tests.push(result),
            }
        }
    }
}
