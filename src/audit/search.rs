//! The checks of an audit.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rsmc_core::session::{Config, ConfigError, Failure, Verdict, check_body};
use rsmc_core::step::Run;
use rsmc_core::trace::Weakened;

use crate::audit::pairs::Pairs;
use crate::audit::places::{Place, Places, name};
use crate::audit::{Audit, AuditedOrdering, Needed, sort};
use crate::ends;

/// The questions about one body.
pub(super) struct Search<'b> {
    config: Config,
    body: &'b (dyn Fn() + Sync),
    until: Instant,
    /// The name of the test, for commands.
    test: Option<String>,
    checks: u64,
    is_complete: bool,
}

/// The answer of a check.
enum Answer {
    Holds,
    Fails(Box<Failure>),
    /// The time is over.
    Open,
}

impl<'b> Search<'b> {
    pub(super) fn new(config: &Config, longest: Duration, test: Option<&str>, body: &'b (dyn Fn() + Sync)) -> Self {
        let mut config = config.clone();
        (config.replay, config.keep_going, config.explains, config.jobs) = (None, false, false, 1);
        config.pinned.clear();
        let (until, test) = (Instant::now() + longest, test.map(str::to_owned));
        Self { config, body, until, test, checks: 0, is_complete: true }
    }

    #[track_caller]
    pub(super) fn audit(mut self) -> Result<Audit, ConfigError> {
        let (mut places, mut pairs) = (Places::default(), Pairs::default());
        let config = &self.config;
        let mut see = |run: &Run| {
            places.see(run);
            pairs.see(run);
        };
        let report = check_body(config, self.body, |body| body.check().observe(|run, _| see(run)).run())?;
        self.checks += 1;
        let failure = match report.verdict {
            Verdict::Verified => None,
            Verdict::Failed(failure) => Some(format!("it fails as it is: {}", failure.message)),
            _ => Some("it ends at a limit, so it verifies nothing".to_owned()),
        };
        let places: Vec<Place> = places.all().into_iter().filter(|place| !place.weaker().is_empty()).collect();
        let mut orderings: Vec<AuditedOrdering> = places.iter().map(|place| as_written(place, &pairs)).collect();
        let mut together = Vec::new();
        if failure.is_none() {
            for (place, ordering) in places.iter().zip(&mut orderings).filter(|(place, _)| place.is_shared) {
                self.weaken_alone(place, ordering)?;
            }
            for at in costliest_first(&orderings) {
                self.weaken_together(&places[at], &mut orderings[at], &mut together)?;
            }
        }
        let Self { checks, is_complete, test, .. } = self;
        Ok(Audit { orderings, together, checks, is_complete, failure, test })
    }

    /// Looks for the weakest ordering of a place, if all others are as written.
    #[track_caller]
    fn weaken_alone(&mut self, place: &Place, ordering: &mut AuditedOrdering) -> Result<(), ConfigError> {
        for most in place.weaker() {
            let weakened = vec![place.weakened(most)];
            match self.ask(&weakened)? {
                Answer::Holds => {
                    ordering.alone = most;
                    break;
                }
                Answer::Fails(failure) => ordering.needed = Some(self.needed(weakened, *failure)),
                Answer::Open => break,
            }
        }
        Ok(())
    }

    /// Looks for the weakest ordering of a place beside those of `together`, and adds it.
    #[track_caller]
    fn weaken_together(
        &mut self,
        place: &Place,
        ordering: &mut AuditedOrdering,
        together: &mut Vec<Weakened>,
    ) -> Result<(), ConfigError> {
        // What fails alone fails with others, too.
        let weaker = place.weaker();
        let first = weaker.iter().position(|&most| most == ordering.alone).unwrap_or(weaker.len());
        for &most in &weaker[first..] {
            together.push(place.weakened(most));
            // A single one is known to hold.
            match if together.len() == 1 { Answer::Holds } else { self.ask(together)? } {
                Answer::Holds => {
                    ordering.together = most;
                    return Ok(());
                }
                Answer::Fails(failure) => {
                    ordering.needed.get_or_insert_with(|| self.needed(together.clone(), *failure));
                }
                Answer::Open => {}
            }
            together.pop();
        }
        Ok(())
    }

    fn needed(&self, weakened: Vec<Weakened>, failure: Failure) -> Needed {
        let Failure { kind, message, seed, .. } = failure;
        Needed { weakened, kind, message, seed, test: self.test.clone() }
    }

    /// Whether the check verifies with these orderings.
    #[track_caller]
    fn ask(&mut self, weakened: &[Weakened]) -> Result<Answer, ConfigError> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            self.is_complete = false;
            return Ok(Answer::Open);
        }
        let mut config = self.config.clone();
        config.max_duration = config.max_duration.min(left);
        config.weakened.extend_from_slice(weakened);
        // Code that is unsafe may end the process in an execution that its orderings rule out.
        ends::WEAKENED.set(config.test.as_deref(), Some(Weakened::list(&config.weakened)));
        let report = check_body(&config, self.body, |body| body.check().run());
        ends::WEAKENED.set(config.test.as_deref(), None);
        let report = report?;
        self.checks += 1;
        Ok(match report.verdict {
            Verdict::Verified => Answer::Holds,
            Verdict::Failed(failure) => Answer::Fails(failure),
            _ => {
                self.is_complete = false;
                Answer::Open
            }
        })
    }
}

fn as_written(place: &Place, pairs: &Pairs) -> AuditedOrdering {
    let &Place { site, operation, is_failure, written, is_shared } = place;
    let mut pairs = pairs.of((site, is_failure)).filter_map(|(site, _)| name(site)).collect();
    sort(&mut pairs);
    AuditedOrdering {
        place: name(site).unwrap_or_default(),
        operation,
        is_failure,
        written,
        is_exercised: is_shared,
        alone: written,
        together: written,
        pairs,
        needed: None,
    }
}

/// The orderings that can be made weaker alone, those first that cost most on usual machines: fences, then what is
/// `SeqCst`, then updates.
fn costliest_first(orderings: &[AuditedOrdering]) -> Vec<usize> {
    let mut weaker: Vec<usize> =
        (0..orderings.len()).filter(|&at| orderings[at].alone != orderings[at].written).collect();
    let cost = |ordering: &AuditedOrdering| {
        let is_update = matches!(ordering.operation, "update" | "compare_exchange") && !ordering.is_failure;
        (ordering.operation == "fence", ordering.written == Ordering::SeqCst, is_update)
    };
    weaker.sort_by_key(|&at| std::cmp::Reverse(cost(&orderings[at])));
    weaker
}
