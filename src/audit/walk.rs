//! The way from answers to an audit.
//!
//! Problem. Which orderings can be weaker alone, and which together? Each answer takes a check, so checks run side by
//! side, and an audit that was stopped goes on.
//!
//! Method. The audit is a function of the answers. It is computed from the beginning after each one, and ends at the
//! questions that have none yet; a checkpoint is the answers. What is asked of one place alone does not depend on other
//! places, so these questions can be asked at once. Then orderings are made weaker together, one after the other, and
//! each question depends on the answer before it. To have more than one to ask, both answers to it are assumed.
//!
//! Cost. At most six checks for a place, and those whose assumption turns out wrong.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use rsmc_core::trace::Weakened;

use crate::audit::answers::{Answer, Answers, Failing};
use crate::audit::places::Place;
use crate::audit::{AuditedOrdering, Needed};

/// The places of a body, and the answers so far.
#[derive(Clone, Copy)]
pub(super) struct Walk<'a> {
    pub(super) places: &'a [Place],
    pub(super) answers: &'a Answers,
    /// The name of the test, for commands.
    pub(super) test: Option<&'a str>,
}

/// An answer that is not known yet, as it is assumed.
type Assumed = (Vec<Weakened>, bool);

/// A question without an answer.
struct Unknown(Vec<Weakened>);

impl Walk<'_> {
    /// Completes the orderings, each of which is as written; returns those that can be weaker together. As an error,
    /// the next questions, up to `most` of them: the first one is needed whatever the others say.
    pub(super) fn complete(
        &self,
        orderings: &mut [AuditedOrdering],
        most: usize,
    ) -> Result<Vec<Weakened>, Vec<Vec<Weakened>>> {
        let mut asked = Vec::new();
        for (place, ordering) in self.places.iter().zip(&mut *orderings).filter(|(place, _)| place.is_shared) {
            asked.extend(self.alone(place, ordering).err().map(|unknown| unknown.0));
        }
        if !asked.is_empty() {
            asked.truncate(most);
            return Err(asked);
        }
        let first = match self.together(orderings, &[]) {
            Ok(together) => return Ok(together),
            Err(Unknown(first)) => first,
        };
        let mut open: VecDeque<Vec<Assumed>> = VecDeque::from([Vec::new()]);
        asked.push(first);
        while let Some(assumed) = open.pop_front().filter(|_| asked.len() < most) {
            let Err(Unknown(next)) = self.together(&mut orderings.to_vec(), &assumed) else { continue };
            for answer in [true, false] {
                open.push_back([&assumed[..], &[(next.clone(), answer)]].concat());
            }
            if !asked.contains(&next) {
                asked.push(next);
            }
        }
        Err(asked)
    }

    /// Looks for the weakest ordering of a place, if all others are as written.
    fn alone(&self, place: &Place, ordering: &mut AuditedOrdering) -> Result<(), Unknown> {
        for most in place.weaker() {
            let weakened = vec![place.weakened(most)];
            match self.answers.get(&weakened) {
                Some(Answer::Holds) => {
                    ordering.alone = most;
                    break;
                }
                Some(Answer::Fails(failing)) => ordering.needed = Some(self.needed(weakened, failing)),
                Some(Answer::Open) => break,
                None => return Err(Unknown(weakened)),
            }
        }
        Ok(())
    }

    /// Makes the orderings weaker together, one after the other.
    fn together(&self, orderings: &mut [AuditedOrdering], assumed: &[Assumed]) -> Result<Vec<Weakened>, Unknown> {
        let mut together = Vec::new();
        for at in costliest_first(orderings) {
            self.beside(&self.places[at], &mut orderings[at], &mut together, assumed)?;
        }
        Ok(together)
    }

    /// Looks for the weakest ordering of a place beside those of `together`, and adds it.
    fn beside(
        &self,
        place: &Place,
        ordering: &mut AuditedOrdering,
        together: &mut Vec<Weakened>,
        assumed: &[Assumed],
    ) -> Result<(), Unknown> {
        // What fails alone fails with others, too.
        let weaker = place.weaker();
        let first = weaker.iter().position(|&most| most == ordering.alone).unwrap_or(weaker.len());
        for &most in &weaker[first..] {
            together.push(place.weakened(most));
            let is_assumed = || assumed.iter().find(|(question, _)| question == together).map(|(_, answer)| *answer);
            let holds = match self.answers.get(together) {
                Some(Answer::Fails(failing)) => {
                    ordering.needed.get_or_insert_with(|| self.needed(together.clone(), failing));
                    false
                }
                Some(answer) => *answer == Answer::Holds,
                None => is_assumed().ok_or_else(|| Unknown(together.clone()))?,
            };
            if holds {
                ordering.together = most;
                return Ok(());
            }
            together.pop();
        }
        Ok(())
    }

    fn needed(&self, weakened: Vec<Weakened>, failing: &Failing) -> Needed {
        let Failing { kind, message, seed, scenario } = failing.clone();
        let seed = seed.parse().expect("a check has written it");
        Needed { weakened, kind, message, seed, scenario, test: self.test.map(str::to_owned) }
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::panic::Location;
    use std::sync::atomic::Ordering::{AcqRel, Acquire, Release, SeqCst};

    use proptest::collection::vec;
    use proptest::prelude::*;
    use rsmc_core::trace::{Site, strongest};

    use super::*;
    use crate::audit::pairs::Pairs;
    use crate::audit::search::as_written;

    const SEED: &str = "rsmc3-PmfoNc5GnBYITeVY";

    /// The orderings of which a check needs at least one to be as strong as this, by the number of the place.
    type Needs = Vec<Vec<(usize, Ordering)>>;

    #[track_caller]
    fn place(operation: &'static str, written: Ordering) -> Place {
        let site = Site::Code(Location::caller());
        Place { site, operation, is_failure: false, written, is_shared: true }
    }

    #[rustfmt::skip]
    fn places() -> Vec<Place> {
        vec![
            place("store", SeqCst),
            place("update", SeqCst),
            place("load", SeqCst),
            place("fence", SeqCst),
        ]
    }

    /// Whether a check with these needs verifies, as an answer.
    fn answer(places: &[Place], needs: &Needs, weakened: &[Weakened]) -> Answer {
        let order = |at: usize| {
            let found = weakened.iter().find(|one| one.is_at(places[at].site));
            found.map_or(places[at].written, |one| one.most)
        };
        let is_met =
            |any: &Vec<(usize, Ordering)>| any.iter().any(|&(at, least)| strongest(order(at), least) == order(at));
        match needs.iter().all(is_met) {
            true => Answer::Holds,
            false => Answer::Fails(Failing {
                kind: rsmc_core::session::FailureKind::Panic,
                message: Weakened::list(weakened),
                seed: SEED.to_owned(),
                scenario: None,
            }),
        }
    }

    /// The audit when `jobs` questions are asked at once, and answered in an order that `draw` chooses.
    fn audit(
        places: &[Place],
        needs: &Needs,
        jobs: usize,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> (Vec<AuditedOrdering>, Vec<Weakened>, usize) {
        let as_written: Vec<_> = places.iter().map(|place| as_written(place, &Pairs::default())).collect();
        let (mut answers, mut asked) = (Answers::default(), HashSet::new());
        loop {
            let mut orderings = as_written.clone();
            let walk = Walk { places, answers: &answers, test: None };
            match walk.complete(&mut orderings, jobs) {
                Ok(together) => return (orderings, together, asked.len()),
                Err(mut questions) => {
                    assert!(!questions.is_empty() && questions.len() <= jobs);
                    let question = questions.swap_remove(draw(questions.len()));
                    assert!(asked.insert(Weakened::list(&question)), "asked twice");
                    answers.insert(Weakened::list(&question), answer(places, needs, &question));
                }
            }
        }
    }

    /// Needs of up to five sorts; each ordering is one that an operation can have.
    fn needs() -> impl Strategy<Value = Needs> {
        let order = prop_oneof![Just(Acquire), Just(Release), Just(AcqRel), Just(SeqCst)];
        vec(vec((0..places().len(), order), 1..3), 0..5)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever is asked at once, and answered in whatever order, the audit is the same: the weakest orderings
        /// alone, and together none that could be weaker.
        #[test]
        fn the_order_of_answers_makes_no_difference(
            needs in needs(),
            jobs in 1_usize..6,
            draws in vec(any::<usize>(), 1..20),
        ) {
            let places = places();
            let mut draws = draws.into_iter().cycle();
            let (orderings, together, asked) = audit(&places, &needs, jobs, &mut |most| draws.next().unwrap() % most);
            let (one_by_one, the_same, fewest) = audit(&places, &needs, 1, &mut |_| 0);
            prop_assert_eq!((format!("{orderings:?}"), &together), (format!("{one_by_one:?}"), &the_same));
            prop_assert!(fewest <= 24 && asked >= fewest && (jobs > 1 || asked == fewest));
            let holds = |weakened: &[Weakened]| answer(&places, &needs, weakened) == Answer::Holds;
            prop_assert!(holds(&together));
            for (place, ordering) in places.iter().zip(&orderings) {
                let alone = place.weaker().into_iter().find(|&most| holds(&[place.weakened(most)]));
                prop_assert_eq!(ordering.alone, alone.unwrap_or(place.written));
                let others: Vec<_> = together.iter().filter(|one| !one.is_at(place.site)).cloned().collect();
                let is_weaker = |most: &Ordering| {
                    *most != ordering.together && strongest(*most, ordering.together) == ordering.together
                };
                for most in place.weaker().into_iter().filter(is_weaker) {
                    prop_assert!(!holds(&[&others[..], &[place.weakened(most)]].concat()));
                }
            }
        }
    }
}
