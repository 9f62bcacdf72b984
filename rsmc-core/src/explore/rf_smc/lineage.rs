//! The answers of a decision, as a tree: an answer is below the one during which its schedule was found.
//!
//! Problem. Say which part of a decision's answers is explored. While the first ones are explored most of the others
//! are not found yet: where six threads add to one counter, a decision may have 4 schedules pending after 100 answers,
//! and 500 more answers to come. To count answers would say that nearly all are explored.
//!
//! Method. An answer is below the one during which its schedule was found. A schedule that was found long ago stands
//! for more than a new one, as the new one was found below an equal of the old one. So a walk goes down the tree of
//! answers, and chooses at each one among the answer itself and those below it, begun or pending. Pending schedules are
//! a stack, so one path leads to all of them.
//!
//! Example. The first answer finds three, and the first of these finds two. One of these two is explored, the other is
//! begun. The first answer is one of 4 parts, as is each of the three; 2 of the 3 parts of the one that is begun are
//! explored. So the part that is explored is 1/4 + 1/4 * 2/3 = 5/12. Counted, it would be 3 of 6.
//!
//! An answer that is begun early ([`super::suspended`]) interrupts the one above it. That one finds more of its kind,
//! the more of it is explored: if a third of it has found two, six are expected.
//!
//! Memory. A level below which nothing is pending becomes a part of the next one, so there are at most as many levels
//! as pending schedules and suspended paths, and two more.

use serde::{Deserialize, Serialize};

/// No smaller part of an answer says how many more it will find.
const LEAST: f64 = 1e-6;

/// The number of levels for which there is room at first: a decision that has two has more, mostly.
const FIRST_LEVELS: usize = 4;

/// The answers from the first one to the current one, each found during the one before; see the module. Empty while
/// the first answer is the only one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[allow(clippy::box_collection, reason = "most decisions have none, and they are moved often")]
pub(super) struct Lineage(Option<Box<Vec<Level>>>);

/// An answer on the way to the current one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Level {
    /// The number of pending schedules of the decision that were found before this answer was begun.
    before: usize,
    /// The number of answers that were found during this one and begun.
    begun: u32,
    /// It was begun while the one before was not explored yet.
    early: bool,
    /// The part that is explored, as a line: where nothing of this level is explored, and how much more where all is.
    line: (f64, f64),
}

impl Default for Level {
    fn default() -> Self {
        Self { before: 0, begun: 0, early: false, line: (0.0, 1.0) }
    }
}

impl Level {
    /// The part that is explored, if this answer has `below` answers below it and `explored` of all these are.
    fn explored(&self, explored: f64, below: f64) -> f64 {
        self.line.0 + self.line.1 * explored / (1.0 + below)
    }
}

impl Lineage {
    fn levels(&self) -> &[Level] {
        self.0.as_ref().map_or(&[], |levels| &levels[..])
    }

    fn levels_mut(&mut self) -> &mut [Level] {
        self.0.as_mut().map_or(&mut [], |levels| &mut levels[..])
    }

    /// Notes that an answer was begun, and that so many schedules are pending now. `early`: the current answer is not
    /// explored yet.
    pub(super) fn begin(&mut self, pending: usize, early: bool) {
        let levels = self.0.get_or_insert_with(|| {
            let mut levels = Vec::with_capacity(FIRST_LEVELS);
            levels.push(Level::default());
            Box::new(levels)
        });
        while !early && levels.len() > 1 && levels.last().is_some_and(|level| level.before > pending) {
            levels.pop();
        }
        join(levels);
        if let Some(last) = levels.last_mut() {
            last.begun = last.begun.saturating_add(1);
        }
        levels.push(Level { before: pending, early, ..Level::default() });
    }

    /// Notes that the last answer was not begun after all.
    pub(super) fn retract(&mut self) {
        let Some(levels) = &mut self.0 else { return };
        if let [.., level, last] = &mut levels[..] {
            level.begun = level.begun.saturating_sub(1);
            if !last.early {
                levels.pop();
            }
        }
    }

    /// Notes that the answer that was begun early is explored: the one before is the current one again.
    pub(super) fn resume(&mut self) {
        let Some(levels) = &mut self.0 else { return };
        if let Some(early) = levels.iter().rposition(|level| level.early) {
            levels.truncate(early);
        }
    }

    /// Notes that a schedule was found that is explored after all others.
    pub(super) fn add_last(&mut self) {
        self.levels_mut().iter_mut().skip(1).for_each(|level| level.before = level.before.saturating_add(1));
    }

    /// The part of the answers that is explored, if so many schedules are pending and so much of the current answer is
    /// explored. `suspended` says how much is of an answer during which another was begun early, the last one first.
    pub(super) fn explored(&self, pending: usize, own: f64, mut suspended: impl FnMut() -> f64) -> f64 {
        let first = [Level::default()];
        let levels = if self.levels().is_empty() { &first[..] } else { self.levels() };
        // The part of the level's answer that is explored, how much less of those below it, and the pending ones.
        let (mut own, mut missing, mut pending) = (own, 0.0, pending);
        for level in levels.iter().rev() {
            let (begun, waits) = (f64::from(level.begun), pending.saturating_sub(level.before) as f64);
            // Only what is begun early is below an answer that is not explored.
            let grown = if begun > 0.0 && own < 1.0 { own.max(LEAST) } else { 1.0 };
            missing = 1.0 - level.explored(own + begun - missing, (begun + waits) / grown);
            pending = pending.min(level.before);
            own = if level.early { suspended() } else { 1.0 };
        }
        1.0 - missing
    }
}

/// Makes the last level but one a part of the last one, if all that was found there is explored or begun.
fn join(levels: &mut Vec<Level>) {
    let [.., above, last] = &mut levels[..] else { return };
    if !last.early && last.before <= above.before {
        let begun = f64::from(above.begun);
        last.line = (above.explored(begun + last.line.0, begun), above.line.1 * last.line.1 / (1.0 + begun));
        last.early = above.early;
        let joined = levels.len() - 2;
        levels.remove(joined);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_path() -> f64 {
        panic!("nothing is suspended")
    }

    #[track_caller]
    fn assert_near(part: f64, expected: f64) {
        assert!((part - expected).abs() < 1e-9, "{part} instead of {expected}");
    }

    #[test]
    fn the_example_of_the_module() {
        let mut lineage = Lineage::default();
        assert_near(lineage.explored(3, 0.0, no_path), 0.0);
        lineage.begin(2, false);
        assert_near(lineage.explored(4, 0.0, no_path), 1.0 / 4.0);
        lineage.begin(3, false);
        assert_near(lineage.explored(3, 0.0, no_path), 1.0 / 4.0 + 1.0 / 4.0 * 1.0 / 3.0);
        lineage.begin(2, false);
        assert_near(lineage.explored(2, 0.0, no_path), 5.0 / 12.0);
        assert_near(lineage.explored(2, 1.0, no_path), 1.0 / 2.0);
        lineage.begin(1, false);
        lineage.begin(0, false);
        assert_near(lineage.explored(0, 1.0, no_path), 1.0);
    }

    #[test]
    fn a_level_without_pending_schedules_is_no_level() {
        let mut lineage = Lineage::default();
        (0..100).for_each(|_| lineage.begin(0, false));
        assert_eq!(lineage.levels().len(), 2);
        assert_near(lineage.explored(0, 0.0, no_path), 1.0 - 0.5_f64.powi(100));
    }

    #[test]
    fn what_is_retracted_was_not_begun() {
        let mut lineage = Lineage::default();
        lineage.begin(1, false);
        lineage.begin(1, false);
        let before = lineage.explored(2, 0.0, no_path);
        lineage.begin(1, false);
        lineage.retract();
        // The answer before is explored by now.
        assert_near(before, 1.0 / 3.0 + 1.0 / 3.0 * 1.0 / 2.0);
        assert_near(lineage.explored(2, 0.0, no_path), 1.0 / 3.0 + 1.0 / 3.0 * 1.0 / 2.0);
    }

    /// Half of the first answer is explored when it begins another one, which is explored to a third.
    #[test]
    fn an_answer_that_is_begun_early_interrupts_another() {
        let mut lineage = Lineage::default();
        lineage.begin(0, true);
        assert_near(lineage.explored(0, 1.0 / 3.0, || 1.0 / 2.0), (1.0 / 2.0 + 1.0 / 3.0) / 3.0);
        lineage.resume();
        assert_near(lineage.explored(0, 1.0, no_path), 1.0);
        lineage.begin(0, true);
        lineage.retract();
        lineage.resume();
        assert_near(lineage.explored(0, 1.0 / 2.0, no_path), (1.0 / 2.0 + 1.0) / 3.0);
    }
}
