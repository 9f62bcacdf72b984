//! The loop over scenarios: the smallest first, each with the orders that a client can add.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rsmc_core::session::{Config, ConfigError, Failure, Limit, Report, Seen as SeenByCheck, Verdict, check_body};
use rsmc_core::step::Run;
use xxhash_rust::xxh3::xxh3_64;

use crate::ends;
use crate::spec::coverage::{Covered, Extent, SpecReport};
use crate::spec::enumerate::{Alphabet, Size, Word, alike, words};
use crate::spec::execute::{Prepared, Seen};
use crate::spec::history::explanations;
use crate::spec::operation::Advance;
use crate::spec::order::{Calls, Order, contradictions};
use crate::spec::scenario::{Call, Scenario, Suspended};
use crate::spec::values::Kind;
use crate::spec::{Criterion, Spec, text};

/// A specification without its types, as the entry of checks takes it.
pub(crate) trait Specified: Sync {
    /// Runs the scenarios of up to so many calls, and no more than the specification asks for. Shows `see` the
    /// executions.
    ///
    /// # Errors
    /// If the configuration cannot be carried out.
    fn run_up_to(
        &self,
        config: &Config,
        calls: usize,
        see: &mut (dyn FnMut(&Run) + Send),
    ) -> Result<SpecReport, ConfigError>;

    /// The body of a check of one scenario.
    ///
    /// # Errors
    /// Why the text is no scenario.
    fn body(&self, scenario: &str) -> Result<Box<dyn Fn() + Sync + '_>, String>;

    /// Completes the message of a failure of this scenario.
    fn explain(&self, config: &Config, scenario: &str, failure: &mut Failure);
}

/// The largest number of scenarios with the same number of calls, before symmetry, that are listed. More would take
/// longer than a test should.
const MOST_SCENARIOS: usize = 500_000;

/// The number of scenarios that are run without orders of a client before those with them.
const CHUNK: usize = 256;

/// The call that a letter stands for. The value of an opaque argument depends on the calls before it.
type Letters = Vec<Call>;

impl<T: Sync, M: Clone + PartialEq> Specified for Spec<T, M> {
    #[track_caller]
    fn run_up_to(
        &self,
        config: &Config,
        calls: usize,
        see: &mut (dyn FnMut(&Run) + Send),
    ) -> Result<SpecReport, ConfigError> {
        config.validate()?;
        let mut tour = Tour::new(self, config);
        tour.see = Some(see);
        // Parts have none.
        let random = if calls < usize::MAX { 0 } else { self.random };
        if random > 0 {
            tour.until /= 2;
        }
        for calls in 1..=self.size.calls.min(calls) {
            if !tour.level(calls)? {
                break;
            }
            tour.extent.levels.push(tour.begun.elapsed());
        }
        if random > 0 && tour.failing.is_none() {
            tour.random(random)?;
        }
        Ok(tour.over())
    }

    fn body(&self, scenario: &str) -> Result<Box<dyn Fn() + Sync + '_>, String> {
        let prepared = Prepared::new(self, self.read(scenario)?);
        Ok(Box::new(move || prepared.execute(None)))
    }

    fn explain(&self, config: &Config, scenario: &str, failure: &mut Failure) {
        if let Ok(scenario) = self.read(scenario) {
            self.tell(config, &scenario, failure);
        }
    }
}

impl<T: Sync, M: Clone + PartialEq> Spec<T, M> {
    /// Says in a failure what the calls of the scenario have returned. The failing execution is run once more to know
    /// that, if it did not end its process.
    fn tell(&self, config: &Config, scenario: &Scenario, failure: &mut Failure) {
        if failure.trace.notes.is_empty() {
            return;
        }
        let prepared = Prepared::to_tell(self, scenario.clone());
        let config = config.clone().jobs(1).allow_trivial(true).shrink(0).replay(failure.seed.clone());
        let again = check_body(&config, &|| prepared.execute(None), |body| body.check().run());
        if again.is_ok_and(|again| matches!(again.verdict, Verdict::Failed(again) if again.kind == failure.kind)) {
            failure.trace.scenario = prepared.told();
            self.tell_progress(&prepared, failure);
        }
    }
}

/// A check of a specification so far.
pub(crate) struct Tour<'s, T, M> {
    pub(crate) spec: &'s Spec<T, M>,
    pub(crate) config: &'s Config,
    pub(crate) letters: Letters,
    pub(crate) alphabet: Alphabet,
    pub(crate) begun: Instant,
    pub(crate) budget: Duration,
    /// The time from the beginning after which nothing is begun.
    pub(crate) until: Duration,
    see: Option<&'s mut (dyn FnMut(&Run) + Send)>,
    /// The sum of the reports so far.
    pub(crate) sum: Option<Report>,
    /// The limit that stopped a scenario.
    pub(crate) limit: Option<Limit>,
    /// The text of the scenario that fails, and the test that keeps it.
    failing: Option<(String, String)>,
    pub(crate) extent: Extent,
}

/// The end of the check of a scenario.
pub(crate) enum Ended {
    /// Every execution was explored; these are their results.
    Verified(Seen),
    /// A limit stopped it.
    Stopped,
    Failed,
}

impl<'s, T: Sync, M: Clone + PartialEq> Tour<'s, T, M> {
    pub(crate) fn new(spec: &'s Spec<T, M>, config: &'s Config) -> Self {
        let letters = spec.letters();
        let budget = if config.max_duration_chosen { config.max_duration } else { spec.budget };
        Self {
            alphabet: spec.alphabet(&letters),
            letters,
            budget,
            until: budget,
            begun: Instant::now(),
            spec,
            config,
            see: None,
            sum: None,
            limit: None,
            failing: None,
            extent: Extent::default(),
        }
    }

    /// Runs all scenarios with this number of calls. False if there is no need to go on.
    fn level(&mut self, calls: usize) -> Result<bool, ConfigError> {
        let size = Size { calls, ..self.spec.size };
        if bound(self.alphabet.letters, size) > MOST_SCENARIOS {
            self.extent.too_many = Some(format!("those with {calls} calls are too many to list"));
            self.limit = Some(Limit::Duration(self.budget));
            return Ok(false);
        }
        let mut scenarios: Vec<Scenario> =
            words(&self.alphabet, size).iter().map(|word| self.scenario_of(word)).collect();
        let all = scenarios.len();
        scenarios.retain(|scenario| !self.spec.may_wait_for_ever(scenario));
        // A check that is stopped has then seen scenarios of all sorts.
        let place = |it: &Scenario| (it.threads.len(), xxh3_64(self.text(it).as_bytes()));
        scenarios.sort_by_cached_key(place);
        let waiting = all - scenarios.len();
        self.extent.covered.push(Covered { calls, scenarios: scenarios.len(), verified: 0, waiting });
        for some in scenarios.chunks(CHUNK) {
            if !self.some(some)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs some scenarios, first without orders of a client: the first scenario that fails has none if it can. False
    /// if there is no need to go on.
    fn some(&mut self, scenarios: &[Scenario]) -> Result<bool, ConfigError> {
        let mut ordered = Vec::new();
        for scenario in scenarios {
            match self.plain(scenario)? {
                (Ended::Verified(_), orders) => ordered.push((scenario, orders)),
                (Ended::Stopped, _) if self.may_go_on() => {}
                (Ended::Stopped, _) => break,
                (Ended::Failed, _) => return Ok(false),
            }
        }
        for (scenario, orders) in ordered {
            let ended = match self.ordered(&orders)? {
                Ended::Verified(_) => self.progress(scenario)?,
                other => other,
            };
            self.level_so_far().waiting += std::mem::take(&mut self.extent.waiting);
            match ended {
                Ended::Verified(_) => self.level_so_far().verified += 1,
                Ended::Stopped if self.may_go_on() => {}
                Ended::Stopped | Ended::Failed => return Ok(false),
            }
        }
        Ok(!matches!(self.limit, Some(Limit::Duration(_) | Limit::Memory(_))))
    }

    /// Whether the limit that a scenario reached says nothing of the others.
    fn may_go_on(&self) -> bool {
        matches!(self.limit, Some(Limit::Executions(_) | Limit::Steps(_)))
    }

    fn level_so_far(&mut self) -> &mut Covered {
        self.extent.covered.last_mut().expect("a level")
    }

    /// Runs a scenario. The second value has it with the orders of a client that its results need.
    pub(crate) fn plain(&mut self, scenario: &Scenario) -> Result<(Ended, Vec<Scenario>), ConfigError> {
        let ended = self.run(scenario)?;
        let seen = match &ended {
            Ended::Verified(seen) if self.spec.criterion != Criterion::SequentiallyConsistent => seen,
            _ => return Ok((ended, Vec::new())),
        };
        let Some(orders) = self.orders(scenario, seen) else {
            self.limit = Some(Limit::Duration(self.budget));
            return Ok((Ended::Stopped, Vec::new()));
        };
        Ok((ended, orders))
    }

    /// Runs a scenario with orders of a client.
    pub(crate) fn ordered(&mut self, orders: &[Scenario]) -> Result<Ended, ConfigError> {
        let mut ended = Ended::Verified(Seen::default());
        for ordered in orders {
            if self.spec.may_wait_for_ever(ordered) {
                self.extent.waiting += 1;
                continue;
            }
            self.extent.ordered += 1;
            match self.run(ordered)? {
                Ended::Verified(_) => {}
                Ended::Stopped if self.may_go_on() => ended = Ended::Stopped,
                other => return Ok(other),
            }
        }
        Ok(ended)
    }

    /// Runs a scenario again with threads suspended in their last calls, after each number of operations.
    pub(crate) fn progress(&mut self, scenario: &Scenario) -> Result<Ended, ConfigError> {
        let mut ended = Ended::Verified(Seen::default());
        for calls in self.spec.suspended_calls(scenario) {
            match self.suspended(scenario, &calls, &mut Vec::new())? {
                Ended::Verified(_) => {}
                Ended::Stopped if self.may_go_on() => ended = Ended::Stopped,
                other => return Ok(other),
            }
        }
        Ok(ended)
    }

    /// Runs a scenario with threads suspended at these points, and in these further calls after each number of
    /// operations. What is seen says whether all were suspended in some execution.
    fn suspended(
        &mut self,
        scenario: &Scenario,
        calls: &[usize],
        points: &mut Vec<Suspended>,
    ) -> Result<Ended, ConfigError> {
        let Some((&call, further)) = calls.split_first() else {
            self.extent.suspended += 1;
            return self.run(&scenario.suspended(points));
        };
        let (all, mut seen) = (points.len() + calls.len(), Seen::default());
        for after in 1.. {
            points.push(Suspended { call, after });
            let ended = self.suspended(scenario, further, points)?;
            points.pop();
            match ended {
                Ended::Verified(now) if now.suspended == all => seen = now,
                Ended::Verified(_) => break,
                other => return Ok(other),
            }
        }
        Ok(Ended::Verified(seen))
    }

    /// The scenario with each order of a client that leaves a result without explanation, one of those that are alike,
    /// and the smallest of those that contain each other: an execution with more order is one with less, too. `None` if
    /// the time is over.
    fn orders(&self, scenario: &Scenario, seen: &Seen) -> Option<Vec<Scenario>> {
        let prepared = Prepared::new(self.spec, scenario.clone());
        let (base, kept) = (scenario.order().expect("it has no signals"), self.spec.criterion.kept());
        let explained = |results| explanations(&prepared.history(results), &prepared.order);
        let goes_on = || self.begun.elapsed() < self.until;
        let mut orders: HashSet<Order> = HashSet::new();
        for results in &seen.known {
            orders.extend(contradictions(&base, &explained(results), kept, &goes_on)?);
        }
        let mut ordered: Vec<Scenario> = orders.iter().map(|order| scenario.under(&base, order)).collect();
        let mut keys = HashSet::new();
        ordered.sort_by_key(|ordered| (ordered.signals.len(), ordered.signals.clone()));
        ordered.retain(|ordered| {
            let images = ordered.images();
            keys.insert(images.into_iter().map(|image| self.spec.renumbered(image)).min())
        });
        Some(ordered)
    }

    /// Explores the executions of a scenario.
    pub(crate) fn run(&mut self, scenario: &Scenario) -> Result<Ended, ConfigError> {
        let left = self.until.saturating_sub(self.begun.elapsed());
        if left.is_zero() && self.sum.is_some() {
            self.limit = Some(Limit::Duration(self.budget));
            return Ok(Ended::Stopped);
        }
        let prepared = Prepared::new(self.spec, scenario.clone());
        let mut config =
            self.config.clone().jobs(1).allow_trivial(true).max_duration(left.max(Duration::from_millis(1)));
        // A seed is of one scenario.
        config.pinned.clear();
        let seen = Mutex::new(Seen::default());
        let body = || prepared.execute(Some(&seen));
        ends::SCENARIOS.set(config.test.as_deref(), Some(self.text(scenario)));
        let mut see = self.see.as_deref_mut();
        let keep = |of_check: SeenByCheck<'_>| {
            if let (Some(see), SeenByCheck::Run(run, _)) = (&mut see, &of_check) {
                see(run);
            }
            seen.lock().unwrap_or_else(PoisonError::into_inner).keep(of_check);
        };
        let mut report = check_body(&config, &body, |body| body.check().watch(keep).run())?;
        ends::SCENARIOS.set(config.test.as_deref(), None);
        let ended = match &mut report.verdict {
            Verdict::Verified => Ended::Verified(seen.into_inner().unwrap_or_else(PoisonError::into_inner)),
            Verdict::Incomplete(limit) => {
                self.limit = Some(if let Limit::Duration(_) = limit { Limit::Duration(self.budget) } else { *limit });
                Ended::Stopped
            }
            verdict => {
                if let Verdict::Failed(failure) = verdict {
                    self.spec.tell(&config, scenario, failure);
                }
                let text = self.text(scenario);
                let to_keep = text::test_to_keep(&text, &self.spec.names(scenario));
                self.failing = Some((text, to_keep));
                Ended::Failed
            }
        };
        self.add(report);
        Ok(ended)
    }

    /// Adds the check of a scenario to the sum; the last one is that of the verdict.
    fn add(&mut self, mut report: Report) {
        if let Some(sum) = self.sum.take() {
            report.executions += sum.executions;
            report.runs += sum.runs;
            report.blocked += sum.blocked;
            report.threads = report.threads.max(sum.threads);
            report.events = report.events.max(sum.events);
            report.shares |= sum.shares;
            report.unmodelled |= sum.unmodelled;
            let new: Vec<String> = sum.notes.into_iter().filter(|note| !report.notes.contains(note)).collect();
            report.notes.extend(new);
        }
        report.elapsed = self.begun.elapsed();
        self.sum = Some(report);
    }

    fn over(self) -> SpecReport {
        let Some(mut report) = self.sum else {
            panic!(
                "no scenario was run: in each the model could wait for ever, or `op_where` does not say whether it \
                 could; add an operation that lets the others go on"
            );
        };
        let (scenario, to_keep) = self.failing.unzip();
        let Extent { covered, levels, drawn, ordered, suspended, too_many, .. } = self.extent;
        match (&mut report.verdict, self.limit) {
            (Verdict::Failed(failure), _) => failure.scenario.clone_from(&scenario),
            (verdict, Some(limit)) => *verdict = Verdict::Incomplete(limit),
            // A random scenario that was stopped takes nothing from what was verified.
            (verdict, None) => *verdict = Verdict::Verified,
        }
        SpecReport { report, scenario, covered, drawn, ordered, suspended, levels, too_many, to_keep }
    }

    fn text(&self, scenario: &Scenario) -> String {
        scenario.text(&|call| self.spec.label(call))
    }

    pub(crate) fn scenario_of(&self, word: &Word) -> Scenario {
        let calls = |letters: &Vec<usize>| letters.iter().map(|&letter| self.letters[letter]).collect::<Vec<_>>();
        let threads = word.threads.iter().map(calls).collect();
        let scenario = Scenario { init: calls(&word.init), threads, end: calls(&word.end), ..Scenario::default() };
        self.spec.numbered(scenario)
    }
}

/// At least the number of scenarios before symmetry.
fn bound(letters: usize, size: Size) -> usize {
    let calls = letters.saturating_pow(u32::try_from(size.calls).expect("few calls"));
    // The ways to divide calls among threads of which some may have none.
    let ways = (1..size.threads).fold(1, |ways, at| ways * (size.calls + at) / at);
    calls.saturating_mul(ways).saturating_mul((size.init + 1) * (size.end + 1))
}

impl<T: Sync, M: Clone + PartialEq> Spec<T, M> {
    /// The letters: a call for each value, but one for all values that differ in opaque parts.
    fn letters(&self) -> Letters {
        let of = |(operation, it): (usize, &crate::spec::Operation<T, M>)| {
            let is_first = |(kind, at)| at == 0 || !matches!(kind, Kind::Opaque(_));
            let values = (0..it.labels.len()).filter(|&value| it.parts.of(value).all(is_first));
            values.map(|value| Call { operation, value }).collect::<Vec<_>>()
        };
        let letters: Letters = self.operations.iter().enumerate().flat_map(of).collect();
        assert!(!letters.is_empty(), "a specification needs an operation, and an operation values for its argument");
        letters
    }

    fn alphabet(&self, letters: &Letters) -> Alphabet {
        let parts = |letter: usize| self.operations[letters[letter].operation].parts.of(letters[letter].value);
        let (mut kinds, mut classes, mut at_most) = (Vec::new(), Vec::new(), Vec::new());
        for part in self.operations.iter().flat_map(|operation| operation.parts.iter()) {
            if part.kind == Kind::Plain || kinds.contains(&part.kind) {
                continue;
            }
            kinds.push(part.kind);
            let with = |wanted| (0..letters.len()).filter(|&it| parts(it).any(|part| part == wanted)).collect();
            match part.kind {
                Kind::Plain => {}
                Kind::Opaque(_) => at_most.push((with((part.kind, 0)), part.values)),
                Kind::Symmetric(_) => classes.push((0..part.values).map(|value| with((part.kind, value))).collect()),
            }
        }
        let is_of =
            |names: &Vec<String>, letter: usize| names.contains(&self.operations[letters[letter].operation].name);
        let of_names = |names: &Vec<String>| (0..letters.len()).filter(|&letter| is_of(names, letter)).collect();
        let exclusive = self.exclusive.iter().map(of_names).collect();
        Alphabet { letters: letters.len(), exclusive, alike: alike(letters.len(), &classes), at_most }
    }

    /// The scenario in which the first opaque argument has the first value, the next the next, and so on.
    fn numbered(&self, mut scenario: Scenario) -> Scenario {
        let mut used: Vec<Kind> = Vec::new();
        for call in scenario.calls_mut() {
            call.value = self.operations[call.operation].parts.with(call.value, |kind, at| match kind {
                Kind::Opaque(_) => {
                    used.push(kind);
                    used.iter().filter(|&&other| other == kind).count() - 1
                }
                Kind::Plain | Kind::Symmetric(_) => at,
            });
        }
        scenario
    }

    /// The scenario with the values that make no difference in the order of their first use.
    pub(crate) fn renumbered(&self, mut scenario: Scenario) -> Scenario {
        let mut used: Vec<(Kind, usize)> = Vec::new();
        for call in scenario.calls_mut() {
            call.value = self.operations[call.operation].parts.with(call.value, |kind, at| {
                if kind == Kind::Plain {
                    return at;
                }
                if !used.contains(&(kind, at)) {
                    used.push((kind, at));
                }
                let mut of_kind = used.iter().filter(|(other, _)| *other == kind);
                of_kind.position(|(_, other)| *other == at).expect("it was put there")
            });
        }
        scenario
    }

    /// Whether some order of the calls leaves all threads that go on waiting, in the model. Also if that is not known.
    pub(crate) fn may_wait_for_ever(&self, scenario: &Scenario) -> bool {
        if !scenario.calls().any(|call| self.operations[call.operation].may_wait) {
            return false;
        }
        let (calls, order) = (scenario.calls().collect::<Vec<_>>(), scenario.order().expect("no circle"));
        let mut seen: Vec<(Calls, M)> = Vec::new();
        let mut open = vec![(0, (self.model)())];
        while let Some((done, state)) = open.pop() {
            if seen.iter().any(|(other, known)| *other == done && *known == state) {
                continue;
            }
            let (mut is_over, mut goes_on) = (true, false);
            for call in order.next(done) {
                let (mut next, Call { operation, value }) = (state.clone(), calls[call]);
                is_over = false;
                match (self.operations[operation].ahead)(&mut next, value) {
                    Advance::Returns => open.push((done | 1 << call, next)),
                    Advance::Waits => continue,
                    Advance::Unknown => return true,
                }
                goes_on = true;
            }
            if !is_over && !goes_on {
                return true;
            }
            seen.push((done, state));
        }
        false
    }

    /// The names of the operations of each thread.
    fn names(&self, scenario: &Scenario) -> Vec<Vec<&str>> {
        let name = |call: &Call| &*self.operations[call.operation].name;
        scenario.threads.iter().map(|thread| thread.iter().map(name).collect()).collect()
    }
}
