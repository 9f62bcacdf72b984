//! A check of a specification in a test: what the environment makes of it, and how it is reported.

use rsmc_core::report::visible;
use rsmc_core::session::{Config, ConfigError, Limit, Report, Verdict};

use crate::audit::{Part, See, Subject};
use crate::ends;
use crate::env::{REPLAY, SCENARIO};
use crate::run::{__rust_begin_short_backtrace as fail, Begun, passes};
use crate::spec::coverage::SpecReport;
use crate::spec::explore::Specified;

/// Checks a specification, as overridden by the environment; see [`Spec::check`](super::Spec::check). Its name is for
/// backtraces, as that of [`check_with`](crate::check_with)'s part.
#[inline(never)]
#[track_caller]
pub(crate) fn __rust_end_short_backtrace_of_spec(config: Config, spec: &dyn Specified) {
    check(config, spec);
    std::hint::black_box(());
}

#[track_caller]
fn check(config: Config, spec: &dyn Specified) {
    let Some(begun) = Begun::new(config, None) else { return };
    let (config, replays) = (begun.settings.config.clone(), begun.settings.config.replay.is_some());
    match (begun.settings.scenario.clone(), replays) {
        (Some(scenario), _) => check_scenario(begun, spec, scenario),
        (None, true) => {
            fail(&format!("rsmc: {REPLAY} has an execution of one scenario: set {SCENARIO}, too, as in the report"))
        }
        (None, false) => {
            ends::prepare();
            let subject = Scenarios(spec);
            begun.answer_if_asked(&subject);
            match spec.run_up_to(&config.test(begun.which.test()), usize::MAX, &mut |_| {}) {
                Ok(found) => report_spec(begun, found, &subject),
                Err(error) => fail(&format!("rsmc: {error}")),
            }
        }
    }
}

/// The check of a specification, for an audit.
struct Scenarios<'s>(&'s dyn Specified);

impl Subject for Scenarios<'_> {
    fn check(&self, config: &Config, part: Part, see: See<'_>) -> Result<Report, ConfigError> {
        let Part::Calls(calls) = part else { unreachable!("a specification has numbers of calls") };
        Ok(self.0.run_up_to(config, calls, see)?.report)
    }
}

/// Checks one scenario of a specification, as any other body.
#[track_caller]
fn check_scenario(mut begun: Begun<'_>, spec: &dyn Specified, scenario: String) {
    // A single call of a scenario shares nothing.
    begun.settings.config.allow_trivial = true;
    let body = match spec.body(&scenario) {
        Ok(body) => body,
        Err(error) => fail(&format!("rsmc: {SCENARIO}: {}", visible(&error))),
    };
    ends::SCENARIOS.set(begun.which.test(), Some(scenario.clone()));
    let (mut report, interrupts) = begun.run(false, &body);
    ends::SCENARIOS.set(begun.which.test(), None);
    if let Verdict::Failed(failure) = &mut report.verdict {
        spec.explain(&begun.settings.config, &scenario, failure);
        failure.scenario = Some(scenario);
    }
    begun.report(report, interrupts, &|_, _| {});
}

#[track_caller]
fn report_spec(begun: Begun<'_>, found: SpecReport, subject: &dyn Subject) {
    let passes = passes_spec(&begun.settings.config, &found);
    let mut report = found.report.clone();
    let parts = found.whole().map(|(calls, took)| (Part::Calls(calls), took)).collect::<Vec<_>>();
    // Without an assertion there is nothing to complain of.
    begun.audit(&report, (passes && !parts.is_empty()).then_some(parts), None, subject);
    let text = match &found.scenario {
        Some(_) => {
            let text = begun.text_and_files(&mut report);
            format!("{}\n{}", text.trim_end_matches('\n'), visible(&found.about_failure()))
        }
        None => visible(&found.about(passes)),
    };
    if passes && !found.is_complete() {
        begun.say(&format!("verified in part: {}", found.extent()));
    }
    begun.end(&report, text, passes, None, &|_, _| {});
}

/// A check of a specification is bounded by its time, as its user knows. It passes if it says something.
fn passes_spec(config: &Config, found: &SpecReport) -> bool {
    match &found.report.verdict {
        Verdict::Verified => found.shares_something() || config.allow_trivial,
        Verdict::Incomplete(Limit::Duration(_)) => found.says_something(),
        _ => passes(config, &found.report),
    }
}
