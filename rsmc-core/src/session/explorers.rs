//! The explorers by their kinds. No other module of a session distinguishes them.

use std::cmp::Reverse;
use std::fmt;

use crate::explore::view_xplore::Traversal;
use crate::explore::{Divisible, Exhaustive, Pct, Random, RfSmc, RvfSmc, Saved, Settings, Twice, ViewXplore};
use crate::model::MemoryModel;
use crate::session::nearest::list;

/// The algorithm that chooses the executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExplorerKind {
    /// One execution per reads-from class: RF-SMC. Exhaustive and optimal.
    ReadsFrom,
    /// At most one execution per reads-value-from class: RVF-SMC. Exhaustive; under SC only.
    ReadsValueFrom,
    /// One execution per view class (ViewXplore): exhaustive, with the fewest executions.
    View,
    /// Every interleaving of visible operations, without any reduction. For tiny programs and as an oracle.
    Exhaustive,
    /// Uniformly random scheduling, until a limit is reached. Proves nothing.
    Random,
    /// Probabilistic concurrency testing, until a limit is reached. Proves nothing.
    Pct,
}

/// Every kind, in the order of [`NAMES`].
const ALL: [ExplorerKind; NAMES.len()] = [
    ExplorerKind::ReadsFrom,
    ExplorerKind::ReadsValueFrom,
    ExplorerKind::View,
    ExplorerKind::Exhaustive,
    ExplorerKind::Random,
    ExplorerKind::Pct,
];

/// The names of explorers in configurations.
pub(super) const NAMES: [&str; 6] = ["reads-from", "reads-value-from", "view", "exhaustive", "random", "pct"];

impl fmt::Display for ExplorerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The models that each explorer is implemented for, as the end of a sentence.
pub(super) fn implemented() -> String {
    let models = |kind: ExplorerKind| list(kind.models().map(|memory| memory.description().name));
    let (all, mut some): (Vec<_>, Vec<_>) =
        ALL.into_iter().partition(|kind| kind.models().count() == MemoryModel::ALL.len());
    some.sort_by_key(|kind| Reverse(kind.models().count()));
    let mut text = format!("{}, each for {}", list(all.iter().map(|kind| kind.name())), models(all[0]));
    for (number, &kind) in some.iter().enumerate() {
        let and = if number + 1 == some.len() { "and " } else { "" };
        text += &format!(", {and}{kind} for {}", models(kind));
    }
    text
}

impl ExplorerKind {
    /// The explorer that a configuration names.
    pub(super) fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|kind| kind.name() == name)
    }

    fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// True if it explores the executions of a model.
    pub(super) fn is_implemented_for(self, memory: MemoryModel) -> bool {
        match self {
            ExplorerKind::ReadsFrom | ExplorerKind::Exhaustive | ExplorerKind::Random | ExplorerKind::Pct => true,
            ExplorerKind::View => !memory.is_graph(),
            ExplorerKind::ReadsValueFrom => memory.is_sequential(),
        }
    }

    /// The models that it explores, the strongest first.
    fn models(self) -> impl DoubleEndedIterator<Item = MemoryModel> {
        MemoryModel::ALL.into_iter().filter(move |&memory| self.is_implemented_for(memory))
    }

    /// The weakest model that it explores.
    pub(super) fn weakest(self) -> MemoryModel {
        self.models().next_back().expect("an explorer is implemented for some model")
    }

    /// True if it draws samples, and proves nothing.
    pub(crate) fn is_random(self) -> bool {
        matches!(self, ExplorerKind::Random | ExplorerKind::Pct)
    }

    /// True if several processes can share it.
    pub(super) fn is_divided(self) -> bool {
        matches!(self, ExplorerKind::ReadsFrom | ExplorerKind::Random)
    }

    /// True if an explorer of this kind is saved as such a state.
    pub(super) fn saves_as(self, saved: &Saved) -> bool {
        match saved {
            Saved::Tree(_) => self == ExplorerKind::ReadsFrom,
            Saved::Samples(_) => self == ExplorerKind::Random,
            Saved::Pct(..) => self == ExplorerKind::Pct,
        }
    }
}

/// The explorer of a check that begins.
pub(super) fn explorer(kind: ExplorerKind, settings: &Settings) -> Box<dyn Divisible> {
    match kind {
        ExplorerKind::ReadsFrom => Box::new(RfSmc::new(settings.memory).with_settings(settings)),
        ExplorerKind::ReadsValueFrom => Box::new(RvfSmc::new()),
        ExplorerKind::View => {
            Box::new(ViewXplore::new(settings.memory, Traversal::default()).with_spill(settings.spill.clone()))
        }
        ExplorerKind::Exhaustive => Box::new(Exhaustive::new()),
        ExplorerKind::Random if settings.twice => Box::new(Twice::new(Random::new(settings.seed))),
        ExplorerKind::Random => Box::new(Random::new(settings.seed)),
        ExplorerKind::Pct if settings.twice => {
            Box::new(Twice::new(Pct::new(settings.seed).with_depth(settings.pct_depth)))
        }
        ExplorerKind::Pct => Box::new(Pct::new(settings.seed).with_depth(settings.pct_depth)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_the_order_of_their_names() {
        assert!(ALL.iter().enumerate().all(|(number, &kind)| kind as usize == number));
    }

    #[test]
    fn what_is_implemented_is_listed() {
        let listed = "reads-from, exhaustive, random and pct, each for sc, tso, pso and c11, view for sc, tso and pso, and \
                      reads-value-from for sc";
        assert_eq!(implemented(), listed);
    }
}
