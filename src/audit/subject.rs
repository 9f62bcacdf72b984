//! The check that an audit is of.

use std::time::Duration;

use rsmc_core::session::{Config, ConfigError, Report, check_body};
use rsmc_core::step::Run;

pub(crate) use crate::audit::answers::Part;

/// A check whose orderings are audited.
pub(crate) trait Subject: Sync {
    /// Runs a part of the check, and shows `see` its executions.
    ///
    /// # Errors
    /// If the configuration cannot be carried out.
    fn check(&self, config: &Config, part: Part, see: See<'_>) -> Result<Report, ConfigError>;
}

/// Sees executions.
pub(crate) type See<'a> = &'a mut (dyn FnMut(&Run) + Send);

/// The parts that an audit can choose from, the smallest first, each with the time that it took.
pub(crate) type Parts = Vec<(Part, Duration)>;

/// The check of a body, which has one part.
pub(crate) struct Body<'b>(pub(crate) &'b (dyn Fn() + Sync));

impl Subject for Body<'_> {
    #[track_caller]
    fn check(&self, config: &Config, _part: Part, see: See<'_>) -> Result<Report, ConfigError> {
        check_body(config, self.0, |body| body.check().observe(|run, _| see(run)).run())
    }
}
