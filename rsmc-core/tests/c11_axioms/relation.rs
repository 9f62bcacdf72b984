//! Relations between at most 64 events, as boolean matrices.

/// A relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// For each event the events it is related to, one bit each.
    rows: Vec<u64>,
}

/// `a ∪ b ∪ …`
pub fn union(relations: &[&Relation]) -> Relation {
    let row = |a: usize| relations.iter().fold(0, |row, relation| row | relation.rows[a]);
    Relation { rows: (0..relations[0].rows.len()).map(row).collect() }
}

/// `a;b;…`: a step of each, one after the other.
pub fn seq(relations: &[&Relation]) -> Relation {
    let (first, rest) = relations.split_first().expect("nothing to compose");
    rest.iter().fold((*first).clone(), |all, next| all.then(next))
}

impl Relation {
    /// The pairs of the first `size` events that a condition picks.
    pub fn of(size: usize, related: impl Fn(usize, usize) -> bool) -> Self {
        assert!(size <= 64, "no graph here is so large");
        let row = |a| (0..size).filter(|&b| related(a, b)).fold(0, |row, b| row | 1 << b);
        Self { rows: (0..size).map(row).collect() }
    }

    pub fn has(&self, a: usize, b: usize) -> bool {
        self.rows[a] >> b & 1 == 1
    }

    pub fn and(&self, other: &Relation) -> Self {
        Self { rows: self.rows.iter().zip(&other.rows).map(|(a, b)| a & b).collect() }
    }

    pub fn inverse(&self) -> Self {
        Self::of(self.rows.len(), |a, b| self.has(b, a))
    }

    /// `r?`
    pub fn or_equal(&self) -> Self {
        Self::of(self.rows.len(), |a, b| a == b || self.has(a, b))
    }

    fn then(&self, next: &Relation) -> Self {
        let reached =
            |row: &u64| (0..self.rows.len()).filter(|b| row >> b & 1 == 1).fold(0, |all, b| all | next.rows[b]);
        Self { rows: self.rows.iter().map(reached).collect() }
    }

    /// `r⁺`
    pub fn closure(&self) -> Self {
        let mut all = self.clone();
        loop {
            let longer = union(&[&all, &all.then(&all)]);
            if longer == all {
                return all;
            }
            all = longer;
        }
    }

    pub fn is_irreflexive(&self) -> bool {
        (0..self.rows.len()).all(|event| !self.has(event, event))
    }

    pub fn is_acyclic(&self) -> bool {
        self.closure().is_irreflexive()
    }
}
