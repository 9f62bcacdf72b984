//! The schedules that were seen at a decision, by name.

use rustc_hash::FxHashSet;

use crate::base::Digest;

/// A set of names. The first few need no table: at most decisions few others follow.
#[derive(Debug, Default)]
pub(super) struct Seen {
    first: Option<Digest>,
    few: Vec<Digest>,
    /// At few decisions only.
    others: Option<Box<FxHashSet<Digest>>>,
}

/// The number of names that are compared one after the other.
const FEW: usize = 8;

impl Seen {
    /// The set of one name.
    pub(super) fn one(name: Digest) -> Self {
        Self { first: Some(name), ..Self::default() }
    }

    /// Adds a name. Returns whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, name: Digest) -> bool {
        if self.first.is_none() {
            self.first = Some(name);
            return true;
        }
        if self.is_among_few(name) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(name);
            return true;
        }
        self.others.get_or_insert_default().insert(name)
    }

    /// Whether a name is there.
    pub(super) fn contains(&self, name: Digest) -> bool {
        let is_other = || self.others.as_ref().is_some_and(|others| others.contains(&name));
        self.is_among_few(name) || is_other()
    }

    #[inline]
    fn is_among_few(&self, name: Digest) -> bool {
        self.first == Some(name) || self.few.contains(&name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Digest> + '_ {
        let others = self.others.iter().flat_map(|others| others.iter());
        self.first.iter().chain(&self.few).chain(others).copied()
    }
}

impl FromIterator<Digest> for Seen {
    fn from_iter<I: IntoIterator<Item = Digest>>(names: I) -> Self {
        let mut seen = Self::default();
        for name in names {
            seen.insert(name);
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_new_once() {
        let names = || (0..3 * FEW as u64).map(|word| Digest::of(&[word]));
        let mut seen = Seen::default();
        assert!(names().all(|name| seen.insert(name)));
        assert!(!names().any(|name| seen.insert(name)));
        assert!(names().all(|name| seen.contains(name)) && !seen.contains(Digest::EMPTY));
        assert_eq!(seen.iter().count(), 3 * FEW);
        assert_eq!(seen.iter().chain([Digest::EMPTY]).collect::<Seen>().iter().count(), 3 * FEW + 1);
        assert!(!Seen::one(Digest::EMPTY).insert(Digest::EMPTY));
    }
}
