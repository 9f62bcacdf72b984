//! The checkpoint of an audit: the answers so far, `<target>/rsmc/<executable>.<test>.audit-checkpoint`.
//!
//! It is written at most once a second and at the end, so that an audit whose process is killed goes on as well.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rsmc_core::session::Config;
use serde::{Deserialize, Serialize};

use crate::audit::answers::{Answer, Answers, Part};
use crate::jobs::Which;
use crate::long::file::{self, Refused};
use crate::long::place;

/// The least time between two checkpoints.
const EVERY: Duration = Duration::from_secs(1);

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Saved {
    /// A hash of what makes it another check, if it changes.
    settings: u64,
    pub(super) part: Part,
    pub(super) answers: Vec<(String, Answer)>,
}

/// The place of a checkpoint, if the audit has one.
pub(super) struct Record {
    path: Option<PathBuf>,
    check: String,
    settings: u64,
    saved: Instant,
}

impl Record {
    /// The checkpoint of the audit of a check. `keeps` is false for one that leaves none.
    pub(super) fn new(which: &Which, config: &Config, keeps: bool) -> Self {
        let path = keeps.then(|| place::of(which.short_name(), "audit-checkpoint")).flatten();
        // More time or memory makes no difference to what a check says that ends.
        let mut config = config.clone().max_duration(Duration::ZERO);
        (config.max_executions, config.max_memory, config.jobs) = (None, None, 1);
        let mut hasher = DefaultHasher::new();
        format!("{config:?}").hash(&mut hasher);
        Self { path, check: format!("{} (audit)", which.name()), settings: hasher.finish(), saved: Instant::now() }
    }

    /// The checkpoint, if there is a file.
    pub(super) fn read(&self) -> Result<Option<Saved>, Refused> {
        let Some(path) = &self.path else { return Ok(None) };
        let saved: Option<Saved> = file::read(path, &self.check)?;
        match saved {
            Some(saved) if saved.settings != self.settings => {
                Err(Refused::settings(path, "it was made with other settings".to_owned()))
            }
            saved => Ok(saved),
        }
    }

    /// Writes a checkpoint if the last one is old.
    pub(super) fn save_now_and_then(&mut self, part: Part, answers: &Answers) {
        if self.saved.elapsed() >= EVERY {
            self.saved = Instant::now();
            // The next one may succeed.
            drop(self.save(part, answers));
        }
    }

    /// Writes a checkpoint; says why not as the end of a sentence. False if the audit has none.
    pub(super) fn save(&self, part: Part, answers: &Answers) -> Result<bool, String> {
        let Some(path) = &self.path else { return Ok(false) };
        let saved = Saved { settings: self.settings, part, answers: answers.closed() };
        match file::write(path, &self.check, &saved) {
            Ok(()) => Ok(true),
            Err(error) => Err(format!("{} cannot be written: {error}", path.display())),
        }
    }

    /// Deletes the checkpoint of an audit that is over.
    pub(super) fn forget(&self) {
        if let Some(path) = &self.path {
            // Usually there is none. One that stays is replaced by the next.
            drop(std::fs::remove_file(path));
        }
    }
}
