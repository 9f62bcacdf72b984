//! The rest of a random check that several workers share.
//!
//! Executions have numbers, and jobs are ranges of them. Answers are added up in the order of the numbers, up to the
//! first failure: so the report is the same however many workers there are.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::explore::rf_smc::MOST_COUNTED;
use crate::session::jobs::Problem;
use crate::session::tally::Tally;

/// See the module.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::session) struct Samples {
    /// The ranges that are not handed out, the last first.
    left: Vec<Range<u64>>,
    /// The answers, by the first number of their ranges.
    answered: BTreeMap<u64, (Tally, Option<Problem>)>,
    /// The number before which samples count: the limit, or the end of a range in which an execution fails.
    end: u64,
}

impl Samples {
    /// The rest that consists of these numbers.
    pub(in crate::session) fn new(numbers: Range<u64>) -> Self {
        Self { end: numbers.end, left: vec![numbers], answered: BTreeMap::new() }
    }

    /// Changes the limit to `most`. The answers stay.
    pub(in crate::session) fn until(&mut self, most: u64) {
        for range in &mut self.left {
            range.end = range.end.min(most);
        }
        self.left.retain(|range| !range.is_empty());
        self.give_back(self.end..most.max(self.end));
        self.end = self.end.max(most);
    }

    /// Whether a check can have written them: see [`crate::session::Checkpoint::misfit`].
    pub(in crate::session) fn is_sound(&self) -> bool {
        let ranges = self.left.iter().all(|range| range.start <= range.end && range.end <= MOST_COUNTED);
        let apart = self.left.windows(2).all(|pair| pair[1].end <= pair[0].start);
        ranges
            && apart
            && self.end <= MOST_COUNTED
            && self.answered.iter().all(|(&at, (tally, _))| at < MOST_COUNTED && tally.is_sound())
    }

    /// Whether a number is pending.
    pub(super) fn has_more(&self) -> bool {
        self.left.last().is_some_and(|range| range.start < self.end)
    }

    /// Whether a range was answered.
    pub(super) fn was_given(&self) -> bool {
        !self.answered.is_empty()
    }

    /// Hands out a range: a part of the rest, so small that all `workers` end at about the same time.
    pub(super) fn next(&mut self, workers: usize) -> Option<Range<u64>> {
        if !self.has_more() {
            return None;
        }
        let left: u64 = self.left.iter().map(|range| range.end - range.start).sum();
        let wanted = (left / (4 * workers.max(1) as u64)).clamp(1, LONGEST);
        let range = self.left.last_mut()?;
        let given = range.start..(range.start + wanted).min(range.end);
        range.start = given.end;
        if range.is_empty() {
            self.left.pop();
        }
        Some(given)
    }

    /// Returns a range that was not run.
    pub(super) fn give_back(&mut self, range: Range<u64>) {
        if !range.is_empty() {
            self.left.push(range);
            self.left.sort_unstable_by_key(|range| std::cmp::Reverse(range.start));
        }
    }

    /// Adds the answer for the beginning of a range. If it `is_last`, no later number counts.
    pub(super) fn take_in(&mut self, range: Range<u64>, tally: Tally, problem: Option<Problem>, is_last: bool) {
        if is_last {
            self.end = self.end.min(range.end);
        }
        self.answered.insert(range.start, (tally, problem));
    }

    /// The counts before [`Samples::end`], and the first failure.
    pub(in crate::session) fn sum(&self) -> (Tally, Option<Problem>) {
        let (mut sum, mut first) = (Tally::default(), None);
        for (tally, problem) in self.answered.range(..self.end).map(|(_, answer)| answer) {
            sum.add(tally);
            first = first.or_else(|| problem.clone());
        }
        (sum, first)
    }
}

/// The most executions of one job.
const LONGEST: u64 = 512;

#[cfg(test)]
mod tests {
    use super::*;

    fn all(samples: &mut Samples) -> Vec<u64> {
        std::iter::from_fn(|| samples.next(0)).flatten().collect()
    }

    #[test]
    fn another_limit_leaves_more_or_less() {
        let mut samples = Samples::new(3..20);
        let given = samples.next(1).unwrap();
        let tally = Tally { executions: given.end - given.start, ..Tally::default() };
        samples.take_in(given.clone(), tally, None, false);
        let (mut more, mut fewer, mut none) = (samples.clone(), samples.clone(), samples.clone());
        more.until(25);
        assert_eq!(all(&mut more), (given.end..25).collect::<Vec<_>>());
        fewer.until(12);
        assert_eq!(all(&mut fewer), (given.end..12).collect::<Vec<_>>());
        none.until(1);
        assert!(!none.has_more());
        assert_eq!(none.sum().0.executions, given.end - given.start, "what was run stays");
    }
}
