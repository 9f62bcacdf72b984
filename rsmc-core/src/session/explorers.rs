//! The explorers by their kinds: the one place of a session that tells them apart.

use crate::explore::view_xplore::Traversal;
use crate::explore::{Divisible, Exhaustive, OnePlan, Pct, Random, RfSmc, RvfSmc, Saved, Settings, ViewXplore};
use crate::model::MemoryModel;
use crate::session::{Config, ExplorerKind};

/// The number of executions after which a random explorer stops, unless another one is set.
const RANDOM_EXECUTIONS: u64 = 10_000;

impl ExplorerKind {
    /// True if it explores the executions of a model.
    pub(super) fn is_implemented_for(self, memory: MemoryModel) -> bool {
        match self {
            ExplorerKind::ReadsFrom | ExplorerKind::Exhaustive | ExplorerKind::Random | ExplorerKind::Pct => true,
            ExplorerKind::View => !memory.is_graph(),
            ExplorerKind::ReadsValueFrom => memory.is_sequential(),
        }
    }

    /// The models that it explores, the strongest first.
    pub(super) fn models(self) -> impl DoubleEndedIterator<Item = MemoryModel> {
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

impl Config {
    /// The settings that explorers need. If several processes explore, the sets of RF-SMC are not bounded.
    pub(super) fn for_explorers(&self) -> Settings {
        let sets = if self.jobs > 1 { Some(usize::MAX) } else { self.sets };
        Settings { memory: self.effective_memory(), seed: self.seed, sets }
    }

    /// The number of executions that are enough.
    pub(super) fn enough_executions(&self) -> Option<u64> {
        self.max_executions.or(self.explorer.is_random().then_some(RANDOM_EXECUTIONS))
    }

    /// The explorer of a check that begins.
    pub(super) fn new_explorer(&self) -> Box<dyn Divisible> {
        if let Some(seed) = &self.replay {
            return Box::new(OnePlan::new(seed.plan()));
        }
        let settings = self.for_explorers();
        match self.explorer {
            ExplorerKind::ReadsFrom => Box::new(RfSmc::new(settings.memory).with_settings(&settings)),
            ExplorerKind::ReadsValueFrom => Box::new(RvfSmc::new()),
            ExplorerKind::View => Box::new(ViewXplore::new(settings.memory, Traversal::default())),
            ExplorerKind::Exhaustive => Box::new(Exhaustive::new()),
            ExplorerKind::Random => Box::new(Random::new(settings.seed)),
            ExplorerKind::Pct => Box::new(Pct::new(settings.seed)),
        }
    }
}
