//! The list of crates: `crates.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::str::FromStr;

use serde::Deserialize;

use crate::{Error, here};

/// Everything of `crates.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    #[serde(rename = "crate")]
    pub crates: Vec<Crate>,
}

/// A crate with a suite for loom.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crate {
    pub name: String,
    /// The exact version.
    pub version: String,
    #[serde(default)]
    pub features: Vec<String>,
    /// What `--cfg` sets.
    pub cfgs: Vec<String>,
    /// The crate is compiled with its own `cfgs` only. Others are compiled with those of all, so that rsmc and their
    /// dependencies are compiled once.
    #[serde(default)]
    pub alone: bool,
    /// The suite is compiled with debug assertions, as the crate's own CI does.
    #[serde(default)]
    pub debug_assertions: bool,
    /// `lib`, or the names of integration tests.
    pub targets: Vec<String>,
    /// Only tests whose names contain this.
    #[serde(default)]
    pub filter: String,
    /// Tests that do not use loom, or cannot run here.
    #[serde(default)]
    pub skip: Vec<String>,
    /// Dev-dependencies that the targets do not use.
    #[serde(default)]
    pub cut: Vec<String>,
    /// Variables of the environment: the bounds of the crate's own CI.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The crate belongs to the sample that CI runs.
    #[serde(default)]
    pub sample: bool,
    /// Said below the table of the crate.
    #[serde(default)]
    pub note: String,
    /// The failures, each with its cause.
    #[serde(default)]
    pub explained: Vec<Explained>,
}

/// Failures with one cause.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explained {
    /// The tests that fail.
    pub tests: Vec<String>,
    /// The checker under which they fail; under both if it is absent.
    pub under: Option<Checker>,
    /// If it is a bug of the crate: a sentence about it, for the list of bugs.
    #[serde(default)]
    pub bug: String,
    pub text: String,
}

impl List {
    pub fn read() -> Result<Self, Error> {
        Ok(toml::from_str(&fs::read_to_string(here().join("crates.toml"))?)?)
    }
}

impl List {
    /// The cfgs with which a crate is compiled.
    pub fn cfgs<'a>(&'a self, one: &'a Crate) -> Vec<&'a str> {
        let together = self.crates.iter().filter(|other| !one.alone && !other.alone);
        let all: BTreeSet<&str> = together.chain([one]).flat_map(|other| &other.cfgs).map(String::as_str).collect();
        all.into_iter().collect()
    }
}

impl Crate {
    /// The explanation of the failure of a test.
    pub fn explanation(&self, test: &str, checker: Checker) -> Option<&Explained> {
        self.explained.iter().find(|one| {
            one.under.is_none_or(|under| under == checker) && one.tests.iter().any(|explained| explained == test)
        })
    }
}

/// The checker under which a suite runs.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Checker {
    Loom,
    Rsmc,
}

impl fmt::Display for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Loom => "loom",
            Self::Rsmc => "rsmc",
        })
    }
}

impl FromStr for Checker {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "loom" => Ok(Self::Loom),
            "rsmc" => Ok(Self::Rsmc),
            other => Err(format!("`{other}` is neither `loom` nor `rsmc`")),
        }
    }
}
