//! The checks of an audit: by this process one after the other, or by worker processes side by side.

use std::time::{Duration, Instant};

use rsmc_core::report::command;
use rsmc_core::session::jobs::Death;
use rsmc_core::session::{Config, ConfigError, FailureKind, Verdict};
use rsmc_core::step::Run;
use rsmc_core::trace::Weakened;

use crate::audit::answers::{Answer, Answers, Failing, Question};
use crate::audit::pairs::Pairs;
use crate::audit::places::{Place, Places, name};
use crate::audit::record::Record;
use crate::audit::subject::{Part, Parts, Subject};
use crate::audit::walk::Walk;
use crate::audit::{Audit, AuditedOrdering, NotAudited, sort};
use crate::ends;
use crate::jobs::{self, Pool, Which};

/// The audit of a check, and what it may cost.
pub(crate) struct Order<'a> {
    pub(crate) which: &'a Which,
    pub(crate) config: &'a Config,
    /// The time that the audit may take.
    pub(crate) longest: Duration,
    /// The parts of the check that are worth an audit. Of several, the largest is taken that leaves time for all
    /// questions.
    pub(crate) parts: Parts,
    /// Whether the audit goes on from its checkpoint; `None` for one that leaves none.
    pub(crate) resumes: Option<bool>,
    pub(crate) subject: &'a dyn Subject,
}

/// The number of workers that may be killed by others before a question stays open.
const MOST_DEATHS: u32 = 3;
/// The interval between two looks at the time.
const LOOK: Duration = Duration::from_millis(100);

/// The questions about one check.
struct Search<'a> {
    which: &'a Which,
    config: Config,
    subject: &'a dyn Subject,
    part: Part,
    until: Instant,
    answers: Answers,
    record: Record,
    pool: Option<Pool<'a, Question, Answer>>,
    /// The number of workers that were killed.
    deaths: u32,
    checks: u64,
    notes: Vec<String>,
}

/// The places of a check, and its orderings as they are written.
struct Seen {
    places: Vec<Place>,
    orderings: Vec<AuditedOrdering>,
    failure: Option<String>,
}

/// The configuration of the questions about a check.
fn for_questions(which: &Which, config: &Config) -> Config {
    let mut config = config.clone().test(which.test());
    (config.replay, config.keep_going, config.explains, config.jobs) = (None, false, false, 1);
    config.pinned.clear();
    config
}

/// In a worker that is there to answer questions about this check: does so until the process ends.
pub(crate) fn answer_if_asked(which: &Which, config: &Config, subject: &dyn Subject) {
    jobs::answer_if_asked(which, config, &|question: Question| {
        answer(&for_questions(which, config), subject, &question).expect("the coordinator has run the check")
    });
}

/// Answers a question in this process.
#[track_caller]
fn answer(config: &Config, subject: &dyn Subject, question: &Question) -> Result<Answer, ConfigError> {
    let mut config = config.clone().max_duration(config.max_duration.min(Duration::from_millis(question.millis)));
    let weakened = question.weakened.split(',').map(|one| one.parse().expect("an audit has written it"));
    config.weakened.extend(weakened.collect::<Vec<Weakened>>());
    // Code that is unsafe may end the process in an execution that its orderings rule out.
    ends::WEAKENED.set(config.test.as_deref(), Some(Weakened::list(&config.weakened)));
    let report = subject.check(&config, question.part, &mut |_| {});
    ends::WEAKENED.set(config.test.as_deref(), None);
    report.map(Answer::of)
}

/// Audits a check.
#[track_caller]
pub(crate) fn audit(order: Order<'_>) -> Result<Audit, NotAudited> {
    let Order { which, config, longest, parts, resumes, subject } = order;
    let ours = for_questions(which, config);
    let record = Record::new(which, &ours, resumes.is_some());
    let saved = if resumes == Some(true) { record.read()? } else { None };
    let mut search = Search {
        which,
        config: ours,
        subject,
        part: parts.first().map_or(Part::Whole, |(part, _)| *part),
        until: Instant::now() + longest,
        answers: Answers::default(),
        record,
        pool: None,
        deaths: 0,
        checks: 0,
        notes: Vec::new(),
    };
    let jobs = if jobs::is_worker() { 1 } else { config.jobs };
    let seen = match saved {
        Some(saved) => {
            search.notes.push(format!("resumed after {} answers", saved.answers.len()));
            (search.part, search.answers) = (saved.part, saved.answers.into_iter().collect());
            search.see()?
        }
        None => search.see_part(&parts, longest * u32::try_from(jobs).unwrap_or(u32::MAX))?,
    };
    if seen.failure.is_none() && jobs > 1 {
        search.pool = Some(Pool::start(which, config));
    }
    search.finish(seen, jobs)
}

impl Search<'_> {
    /// Sees the places of the largest part that leaves time for all questions, if they may take so long together. The
    /// smallest part tells how many these are.
    #[track_caller]
    fn see_part(&mut self, parts: &Parts, longest: Duration) -> Result<Seen, ConfigError> {
        let seen = self.see()?;
        let questions: usize = seen.places.iter().map(|place| place.weaker().len()).sum();
        let each = longest / u32::try_from(questions.max(1)).unwrap_or(u32::MAX);
        match parts.iter().rev().find(|(_, took)| *took <= each) {
            Some(&(part, _)) if part != self.part && seen.failure.is_none() => {
                self.part = part;
                self.see()
            }
            _ => Ok(seen),
        }
    }

    /// Runs the check as it is.
    #[track_caller]
    fn see(&mut self) -> Result<Seen, ConfigError> {
        let (mut places, mut pairs) = (Places::default(), Pairs::default());
        let mut see = |run: &Run| {
            places.see(run);
            pairs.see(run);
        };
        // It has verified before, maybe in almost all of its time.
        let left = self.until.saturating_duration_since(Instant::now());
        let config = self.config.clone().max_duration(self.config.max_duration.max(left));
        let report = self.subject.check(&config, self.part, &mut see)?;
        self.checks += 1;
        let failure = match report.verdict {
            Verdict::Verified => None,
            Verdict::Failed(failure) => Some(format!("it fails as it is: {}", failure.message)),
            _ => Some("it ends at a limit, so it verifies nothing".to_owned()),
        };
        let places: Vec<Place> = places.all().into_iter().filter(|place| !place.weaker().is_empty()).collect();
        let orderings = places.iter().map(|place| as_written(place, &pairs)).collect();
        Ok(Seen { places, orderings, failure })
    }

    /// Asks all questions.
    #[track_caller]
    fn finish(mut self, seen: Seen, jobs: usize) -> Result<Audit, NotAudited> {
        let Seen { places, orderings: as_written, failure } = seen;
        let test = self.which.for_cargo();
        let (mut orderings, mut together) = (as_written.clone(), Vec::new());
        while failure.is_none() {
            orderings.clone_from(&as_written);
            let walk = Walk { places: &places, answers: &self.answers, test };
            match walk.complete(&mut orderings, jobs) {
                Ok(weaker) => {
                    together = weaker;
                    break;
                }
                Err(questions) => self.ask(&questions)?,
            }
        }
        let is_complete = self.answers.is_complete();
        // The answers of an earlier audit stay where this one does not come to them.
        if failure.is_none() {
            self.keep(is_complete);
        }
        if let (Part::Calls(calls), None) = (self.part, &failure) {
            self.notes.insert(0, format!("audited with the scenarios of up to {calls} calls"));
        }
        let Self { checks, notes, .. } = self;
        Ok(Audit { orderings, together, checks, is_complete, failure, notes, test: test.map(str::to_owned) })
    }

    /// Deletes the checkpoint, or writes the last one.
    fn keep(&mut self, is_complete: bool) {
        if is_complete {
            return self.record.forget();
        }
        self.notes.extend(match self.record.save(self.part, &self.answers) {
            Ok(true) => {
                let again = self.which.for_cargo().map_or("… in front of the same command".to_owned(), command);
                Some(format!("to go on from here: RSMC_RESUME=1 RSMC_AUDIT=1 {again}"))
            }
            Ok(false) => None,
            Err(why) => Some(format!("it cannot be resumed: {why}")),
        });
    }

    /// Asks questions, the first of which is needed, and takes in at least one answer if there is one soon.
    #[track_caller]
    fn ask(&mut self, questions: &[Vec<Weakened>]) -> Result<(), ConfigError> {
        let left = self.until.saturating_duration_since(Instant::now());
        let millis = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        if millis == 0 {
            questions.iter().for_each(|weakened| self.answers.insert(Weakened::list(weakened), Answer::Open));
            return Ok(());
        }
        if let Some(why) = self.pool.as_ref().and_then(Pool::is_gone) {
            self.notes.push(format!("{why}; this process has asked alone"));
            self.pool = None;
        }
        let part = self.part;
        let question = |weakened: &Vec<Weakened>| Question { weakened: Weakened::list(weakened), part, millis };
        let Some(pool) = &mut self.pool else {
            let first = question(&questions[0]);
            let answer = answer(&self.config, self.subject, &first)?;
            self.take(first.weakened, answer);
            return Ok(());
        };
        for weakened in questions {
            pool.ask(question(weakened));
        }
        match pool.hear(left.min(LOOK)) {
            Some((question, Ok(answer))) => self.take(question.weakened, answer),
            Some((question, Err(death))) => self.mourn(question.weakened, death),
            None => {}
        }
        Ok(())
    }

    fn take(&mut self, weakened: String, answer: Answer) {
        self.checks += 1;
        self.answers.insert(weakened, answer);
        self.record.save_now_and_then(self.part, &self.answers);
    }

    /// A worker has ended with a question: that is an answer, if it ended by itself.
    fn mourn(&mut self, weakened: String, death: Death) {
        let Death { how, by_itself, at, scenario, .. } = death;
        match at.filter(|_| by_itself) {
            Some(seed) => {
                let message = format!("the process {how} in this execution");
                let seed = seed.to_string();
                let failing = Failing { kind: FailureKind::Crash, message, seed, scenario };
                self.take(weakened, Answer::Fails(failing));
            }
            None => {
                self.deaths += 1;
                if self.deaths >= MOST_DEATHS {
                    self.answers.insert(weakened, Answer::Open);
                }
            }
        }
    }
}

/// The ordering of a place of which nothing is known.
pub(super) fn as_written(place: &Place, pairs: &Pairs) -> AuditedOrdering {
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
