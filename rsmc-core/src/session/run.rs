//! A check from its first run to its verdict. This process explores; after some time, workers do.

use std::time::Duration;

use crate::explore::{Divisible, SavedLooks};
use crate::session::checkpoint::Checkpoint;
use crate::session::course::Course;
use crate::session::driver::{Driver, Ended, Limits, Sink};
use crate::session::jobs::{Begin, Crew, Left, Nobody, Shared, Team, Then};
use crate::session::progress::Clock;
use crate::session::tally::Tally;
use crate::session::{Limit, Verdict};
use crate::step::Executor;

/// The limits of a check that this process explores.
struct Here<'h, 'c> {
    clock: &'h mut Clock<'c>,
    /// The workers to which this process hands the exploration over.
    team: Option<&'h mut Team<'c>>,
}

impl Limits for Here<'_, '_> {
    fn most_executions(&self) -> Option<u64> {
        self.clock.config.enough_executions()
    }

    fn stops(&mut self, counted: &Tally, explorer: &dyn Divisible) -> Option<Limit> {
        self.clock.stops(counted, Some(explorer), || 0)
    }

    /// Pauses when a worker is ready, or there can be none.
    fn pauses(&mut self, _counted: &Tally) -> bool {
        let Some(team) = self.team.as_mut().filter(|_| self.clock.is_time_to_divide()) else { return false };
        team.is_ready(self.clock.config.divide_after == Duration::ZERO) || team.is_gone().is_some()
    }
}

impl<'c> Course<'c> {
    /// Explores until there is a verdict: from a checkpoint if there is one, and with workers if the explorer can be
    /// divided.
    pub(super) fn explore(
        &mut self,
        executor: &mut dyn Executor,
        crew: Option<&'c mut dyn Crew>,
        resume: Option<Checkpoint>,
    ) -> Verdict {
        let config = self.findings.config;
        let is_replay = config.replay.is_some();
        if !is_replay && self.findings.run_pinned(executor) {
            return Verdict::Verified;
        }
        let mut team = crew.filter(|_| !is_replay && config.is_divided()).map(Team::new);
        let mut explorer = match resume.filter(|_| !is_replay).map(|checkpoint| self.resume(checkpoint, executor)) {
            None => config.new_explorer(),
            Some(Begin::Explorer(explorer)) => explorer,
            Some(Begin::Shared(shared)) => match self.go_on(shared, team.as_mut(), executor) {
                Then::Over(verdict) => return verdict,
                Then::StartOver(looks) => self.start_over(&looks),
            },
        };
        loop {
            let limits = &mut Here { clock: &mut self.clock, team: team.as_mut() };
            let sink = &mut self.findings;
            match (Driver { config, executor, limits, sink, may_probe: !is_replay }).explore(&mut *explorer) {
                Ended::Complete if is_replay => return Verdict::Incomplete(Limit::Replay),
                Ended::Complete | Ended::Enough => return Verdict::Verified,
                Ended::At(limit) => return self.stop(limit, &mut *explorer, executor),
                Ended::Unknown => explorer = self.start_over(&SavedLooks::default()),
                Ended::Paused => match self.divide(&mut team, &*explorer, executor) {
                    None => {}
                    Some(Then::Over(verdict)) => return verdict,
                    Some(Then::StartOver(looks)) => explorer = self.start_over(&looks),
                },
            }
        }
    }

    /// Restores the state of a checkpoint.
    fn resume(&mut self, checkpoint: Checkpoint, executor: &mut dyn Executor) -> Begin {
        checkpoint.resume(&mut self.findings, &mut self.clock, executor)
    }

    fn start_over(&mut self, looks: &SavedLooks) -> Box<dyn Divisible> {
        self.findings.start_over();
        let mut explorer = self.findings.config.new_explorer();
        explorer.know(looks);
        explorer
    }

    /// Ends a check at a limit. If the check has a pulse, a checkpoint keeps the plan that was not run, and the rest.
    fn stop(&mut self, limit: Limit, explorer: &mut dyn Divisible, executor: &dyn Executor) -> Verdict {
        self.findings.estimate = explorer.estimate_after(self.findings.tally.runs);
        self.findings.level = explorer.level();
        if self.clock.is_long() && limit.leaves_the_rest() {
            explorer.retract();
            let left = explorer.save().map(Left::Explorer);
            self.checkpoint = left.map(|left| Checkpoint::new(&self.findings, &self.clock, left, executor.knowledge()));
        }
        Verdict::Incomplete(limit)
    }

    /// Goes on with an exploration that workers shared, with workers or without.
    fn go_on(&mut self, shared: Shared, team: Option<&mut Team<'_>>, executor: &mut dyn Executor) -> Then {
        let Some(team) = team else { return Team::new(&mut Nobody).explore(shared, self, executor) };
        team.is_ready(false);
        let then = team.explore(shared, self, executor);
        if let (Then::Over(_), Some(why)) = (&then, team.is_gone()) {
            self.findings.note(alone(why));
        }
        then
    }

    /// Hands the rest out to workers, if there are any.
    fn divide(
        &mut self,
        team: &mut Option<Team<'c>>,
        explorer: &dyn Divisible,
        executor: &mut dyn Executor,
    ) -> Option<Then> {
        let workers = team.as_mut()?;
        let mut then = None;
        if workers.is_gone().is_none() {
            let shared = Shared::new(explorer.divide()?, self.findings.config.enough_executions())?;
            then = Some(workers.explore(shared, self, executor));
        }
        if !matches!(then, Some(Then::Over(_)))
            && let Some(why) = workers.is_gone()
        {
            self.findings.note(alone(why));
            *team = None;
        }
        then
    }
}

/// The reason for which there are no workers, as a note.
fn alone(why: &str) -> String {
    format!("explored by one process: {why}")
}
