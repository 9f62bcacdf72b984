//! What was tried at a decision, by name.

use rustc_hash::FxHashSet;

use crate::base::Digest;

/// A set of names. The first needs no memory of its own: at most decisions no other follows.
#[derive(Debug, Default)]
pub(super) struct Tried {
    first: Option<Digest>,
    others: FxHashSet<Digest>,
}

impl Tried {
    /// Adds a name; whether it was not there.
    pub(super) fn insert(&mut self, name: Digest) -> bool {
        match self.first {
            None => {
                self.first = Some(name);
                true
            }
            Some(first) => first != name && self.others.insert(name),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Digest> + '_ {
        self.first.iter().chain(&self.others).copied()
    }
}

impl FromIterator<Digest> for Tried {
    fn from_iter<I: IntoIterator<Item = Digest>>(names: I) -> Self {
        let mut tried = Self::default();
        for name in names {
            tried.insert(name);
        }
        tried
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_new_once() {
        let name = |word| Digest::of(&[word]);
        let mut tried = Tried::default();
        assert!([name(1), name(2), name(3)].into_iter().all(|name| tried.insert(name)));
        assert!(![name(1), name(2), name(3)].into_iter().any(|name| tried.insert(name)));
        assert_eq!(tried.iter().count(), 3);
        assert_eq!(tried.iter().chain([name(4)]).collect::<Tried>().iter().count(), 4);
    }
}
