//! Random scenarios, with more calls than those that are enumerated.
//!
//! Problem. There are too many large scenarios to run all. Some mistakes show in large ones only, and a large one that
//! fails says little.
//!
//! Method. Scenarios are drawn: a number of calls, and for each call a letter and a thread. If only one thread may use
//! the letter, it is that of the call before with such a letter. What breaks another rule, or was drawn before, is
//! drawn again. Each scenario has an equal part of the time that is left, so one that does not end leaves time for
//! others. One that fails is made smaller as long as it fails, in whatever way: a call less, a thread less, or a value
//! before its value. The smallest is the one that is reported.
//!
//! Cost. A smaller failure takes at most the number of calls and values, squared, in runs.
//!
//! The numbers come from the seed of the configuration, so the same scenarios are drawn each time.

use std::collections::HashSet;

use rsmc_core::machine::Stream;
use rsmc_core::session::ConfigError;

use crate::spec::enumerate::{Alphabet, Size, Word};
use crate::spec::explore::{Ended, Tour};

/// The number of calls that a random scenario has more than the largest that is enumerated.
const MORE_CALLS: usize = 4;
/// The largest number of calls of a random scenario, unless as many are enumerated: the orders that explain a result
/// are listed, and there are tens of thousands of twelve calls.
const MOST_CALLS: usize = 12;
/// The number of draws after which there seem to be no further scenarios.
const MOST_DRAWS: usize = 1_000;

/// The random scenarios of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drawn {
    /// The scenarios that were begun.
    pub scenarios: usize,
    /// Those of which every execution was explored, as [`Covered::verified`](super::Covered::verified) says.
    pub verified: usize,
    /// The smallest number of calls that they may have.
    pub fewest_calls: usize,
    /// The largest number of calls that they may have.
    pub most_calls: usize,
}

/// A stream of scenarios, each of which comes once.
struct Draws<'a> {
    alphabet: &'a Alphabet,
    size: Size,
    stream: Stream,
    seen: HashSet<Word>,
}

impl Draws<'_> {
    /// The next scenario that `accepts`; `None` if there seems to be none.
    fn next(&mut self, fewest: usize, accepts: &dyn Fn(&Word) -> bool) -> Option<Word> {
        for _ in 0..MOST_DRAWS {
            let calls = fewest + self.stream.below(self.size.calls - fewest + 1);
            let Some(word) = self.draw(calls) else { continue };
            let word = self.alphabet.smallest(&word);
            if self.alphabet.allows(&word) && !self.seen.contains(&word) && accepts(&word) {
                self.seen.insert(word.clone());
                return Some(word);
            }
        }
        None
    }

    /// A scenario of so many calls; `None` if a thread has none.
    fn draw(&mut self, calls: usize) -> Option<Word> {
        let Size { threads: most, init, end, .. } = self.size;
        let threads = 1 + if most > 1 { 1 + self.stream.below(most - 1) } else { 0 };
        let (init, end) = if threads > 1 { (self.stream.below(init + 1), self.stream.below(end + 1)) } else { (0, 0) };
        let between = calls.checked_sub(init + end)?;
        let letters = self.alphabet.letters;
        let mut word = Word { threads: vec![Vec::new(); threads], init: Vec::new(), end: Vec::new() };
        for _ in 0..between {
            let letter = self.stream.below(letters);
            let groups = self.alphabet.exclusive.iter().filter(|letters| letters.contains(&letter));
            let is_user = |thread: &Vec<usize>, group: &Vec<usize>| thread.iter().any(|it| group.contains(it));
            let owner = groups.filter_map(|group| word.threads.iter().position(|thread| is_user(thread, group))).next();
            let thread = owner.unwrap_or_else(|| self.stream.below(threads));
            word.threads[thread].push(letter);
        }
        word.init.extend((0..init).map(|_| self.stream.below(letters)));
        word.end.extend((0..end).map(|_| self.stream.below(letters)));
        word.threads.iter().all(|thread| !thread.is_empty()).then_some(word)
    }
}

impl<T: Sync, M: Clone + PartialEq> Tour<'_, T, M> {
    /// Runs so many random scenarios, as far as there is time.
    pub(crate) fn random(&mut self, scenarios: usize) -> Result<(), ConfigError> {
        let enumerated = self.spec.size;
        let calls = (enumerated.calls + MORE_CALLS).min(MOST_CALLS).max(enumerated.calls);
        let size = Size { calls, ..enumerated };
        let fewest = (enumerated.calls + 1).min(size.calls);
        let alphabet = self.alphabet.clone();
        let stream = Stream(self.config.seed);
        let mut draws = Draws { alphabet: &alphabet, size, stream, seen: HashSet::new() };
        let mut drawn = Drawn { fewest_calls: fewest, most_calls: size.calls, ..Drawn::default() };
        let limit = self.limit.take();
        for left in (1..=scenarios).rev() {
            let now = self.begun.elapsed();
            let is_run = |word: &Word| !self.spec.may_wait_for_ever(&self.scenario_of(word));
            let Some(word) = draws.next(fewest, &is_run).filter(|_| now < self.budget) else { break };
            let part = (self.budget - now) / u32::try_from(left).unwrap_or(u32::MAX);
            self.until = now + part;
            drawn.scenarios += 1;
            match self.whole(&word)? {
                Ended::Verified(_) => drawn.verified += 1,
                Ended::Stopped => {}
                Ended::Failed => {
                    self.shrink(word)?;
                    break;
                }
            }
        }
        self.limit = limit;
        self.extent.drawn = Some(drawn);
        Ok(())
    }

    /// Runs a scenario with all that belongs to it.
    fn whole(&mut self, word: &Word) -> Result<Ended, ConfigError> {
        let scenario = self.scenario_of(word);
        let (ended, orders) = self.plain(&scenario)?;
        Ok(match ended {
            Ended::Verified(_) => match self.ordered(&orders)? {
                Ended::Verified(_) => self.progress(&scenario)?,
                other => other,
            },
            other => other,
        })
    }

    /// Looks for a smaller scenario than one that has just failed, for as long again as the check may take. The report
    /// is that of the smallest.
    fn shrink(&mut self, mut word: Word) -> Result<(), ConfigError> {
        self.until = self.begun.elapsed() + self.budget;
        let is_value_before =
            |letter: usize| letter > 0 && self.letters[letter - 1].operation == self.letters[letter].operation;
        let is_value_before: Vec<bool> = (0..self.letters.len()).map(is_value_before).collect();
        let verdict = |tour: &Self| {
            let report = tour.sum.as_ref().expect("a scenario was run");
            (report.verdict.clone(), report.failures)
        };
        let mut failed = verdict(self);
        loop {
            let mut smaller = None;
            for other in word.smaller(&is_value_before) {
                let is_run = self.alphabet.allows(&other) && !self.spec.may_wait_for_ever(&self.scenario_of(&other));
                if is_run && matches!(self.whole(&other)?, Ended::Failed) {
                    smaller = Some(other);
                    break;
                }
            }
            let Some(smaller) = smaller else { break };
            word = smaller;
            failed = verdict(self);
        }
        let report = self.sum.as_mut().expect("a scenario was run");
        (report.verdict, report.failures) = failed;
        Ok(())
    }
}
