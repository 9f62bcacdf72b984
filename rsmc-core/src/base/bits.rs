//! Sets of small numbers, and square tables of bits, in whole words.

/// The number of words that hold `bits` bits.
const fn words_for(bits: usize) -> usize {
    bits.div_ceil(64)
}

/// The members of a set given as words, in ascending order.
#[inline]
pub fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let (mut rest, mut word, mut base) = (words.iter(), 0, 0_usize.wrapping_sub(64));
    std::iter::from_fn(move || {
        while word == 0 {
            word = *rest.next()?;
            base = base.wrapping_add(64);
        }
        let member = base + word.trailing_zeros() as usize;
        word &= word - 1;
        Some(member)
    })
}

/// Adds all members of one set to another, both given as words.
#[inline]
pub fn unite(to: &mut [u64], from: &[u64]) {
    // Mostly there is one word, for which a loop is long.
    if let ([mine], [theirs]) = (&mut *to, from) {
        *mine |= theirs;
        return;
    }
    for (mine, theirs) in to.iter_mut().zip(from) {
        *mine |= theirs;
    }
}

/// A set of numbers below a bound.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct BitSet {
    words: Vec<u64>,
}

impl Clone for BitSet {
    fn clone(&self) -> Self {
        Self { words: self.words.clone() }
    }

    /// Keeps the memory.
    fn clone_from(&mut self, other: &Self) {
        self.words.clone_from(&other.words);
    }
}

impl BitSet {
    /// The empty set of numbers below `bound`.
    pub fn new(bound: usize) -> Self {
        Self { words: vec![0; words_for(bound)] }
    }

    /// Empties the set and sets a new bound, keeping the memory.
    #[inline]
    pub fn reset(&mut self, bound: usize) {
        self.words.clear();
        self.words.resize(words_for(bound), 0);
    }

    /// Makes it the set of all numbers below a bound, keeping the memory.
    #[inline]
    pub fn fill(&mut self, bound: usize) {
        self.words.clear();
        self.words.resize(words_for(bound), u64::MAX);
        if let Some(last) = self.words.last_mut().filter(|_| !bound.is_multiple_of(64)) {
            *last = (1 << (bound % 64)) - 1;
        }
    }

    /// Adds a member; it must be below the bound.
    #[inline]
    pub fn insert(&mut self, member: usize) {
        self.words[member / 64] |= 1 << (member % 64);
    }

    /// Removes a member; it must be below the bound.
    #[inline]
    pub fn remove(&mut self, member: usize) {
        self.words[member / 64] &= !(1 << (member % 64));
    }

    /// Whether `member` is in the set.
    #[inline]
    pub fn contains(&self, member: usize) -> bool {
        self.words.get(member / 64).is_some_and(|word| word >> (member % 64) & 1 == 1)
    }

    /// The members in ascending order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        ones(&self.words)
    }

    /// The members that are not below a bound, in ascending order.
    #[inline]
    pub fn iter_from(&self, bound: usize) -> impl Iterator<Item = usize> + '_ {
        let skipped = (bound / 64).min(self.words.len());
        let rest = ones(&self.words[skipped..]).map(move |member| member + 64 * skipped);
        rest.skip_while(move |&member| member < bound)
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The words of the set, lowest members first.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Removes the members of another set.
    #[inline]
    pub fn subtract(&mut self, other: &BitSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(mine, theirs)| *mine &= !theirs);
    }

    /// Whether there is a member that another set has, too.
    #[inline]
    pub fn meets(&self, other: &BitSet) -> bool {
        self.words.iter().zip(&other.words).any(|(mine, theirs)| mine & theirs != 0)
    }

    /// Adds all members of a set given as words.
    #[inline]
    pub fn union(&mut self, words: &[u64]) {
        unite(&mut self.words, words);
    }
}

/// A table of bits: a row of bits for each number.
#[derive(Clone, Debug, Default)]
pub struct BitMatrix {
    words: Vec<u64>,
    width: usize,
}

impl BitMatrix {
    /// Empties the table and sets a new size, as many rows as columns, keeping the memory.
    #[inline]
    pub fn reset(&mut self, n: usize) {
        self.reset_to(n, n);
    }

    /// Empties the table and sets a new size, keeping the memory.
    pub fn reset_to(&mut self, rows: usize, columns: usize) {
        self.width = words_for(columns);
        self.words.clear();
        self.words.resize(rows * self.width, 0);
    }

    /// The number of words of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// One row.
    #[inline]
    pub fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.width..(row + 1) * self.width]
    }

    /// One row, to change.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [u64] {
        &mut self.words[row * self.width..(row + 1) * self.width]
    }

    /// Whether `column` is set in `row`.
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> bool {
        self.words[row * self.width + column / 64] >> (column % 64) & 1 == 1
    }

    /// Sets `column` in `row`.
    #[inline]
    pub fn set(&mut self, row: usize, column: usize) {
        self.words[row * self.width + column / 64] |= 1 << (column % 64);
    }

    /// Adds everything in row `from` to row `to`, and `from` itself, where all that is in that row is smaller than
    /// `from`, which is smaller than `to`.
    #[inline]
    pub fn add_with_lower_row(&mut self, to: usize, from: usize) {
        match self.width {
            1 => self.words[to] |= self.words[from] | 1 << from,
            width => {
                let (before, behind) = self.words.split_at_mut(to * width);
                unite(&mut behind[..=from / 64], &before[from * width..]);
                behind[from / 64] |= 1 << (from % 64);
            }
        }
    }

    /// Adds everything in row `from` to row `to`, and `from` itself.
    #[inline]
    pub fn add_with_row(&mut self, to: usize, from: usize) {
        match self.width {
            1 => self.words[to] |= self.words[from] | 1 << from,
            _ => {
                self.union_wide_rows(to, from);
                self.set(to, from);
            }
        }
    }

    /// Adds everything in row `from` to row `to`.
    #[inline]
    pub fn union_rows(&mut self, to: usize, from: usize) {
        // Mostly there is one word, for which a loop is long.
        match self.width {
            1 => self.words[to] |= self.words[from],
            _ => self.union_wide_rows(to, from),
        }
    }

    #[inline(never)]
    fn union_wide_rows(&mut self, to: usize, from: usize) {
        let (first, second) = (to.min(from) * self.width, to.max(from) * self.width);
        if first == second {
            return;
        }
        let (before, behind) = self.words.split_at_mut(second);
        let (first, second) = (&mut before[first..first + self.width], &mut behind[..self.width]);
        let (mine, theirs) = if to < from { (first, &*second) } else { (second, &*first) };
        mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine |= theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_put_in() {
        let mut set = BitSet::new(130);
        for member in [0, 63, 64, 129] {
            set.insert(member);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert_eq!(set.len(), 4);
        for (bound, count) in [(0, 4), (1, 3), (63, 3), (64, 2), (65, 1), (129, 1), (130, 0), (1000, 0)] {
            assert_eq!(set.iter_from(bound).count(), count);
        }
        set.remove(64);
        assert!(!set.contains(64) && set.contains(129) && !set.contains(1000));
        let mut other = BitSet::new(130);
        other.insert(64);
        assert!(!set.meets(&other) && !set.meets(&BitSet::new(9)));
        other.insert(129);
        assert!(set.meets(&other) && other.meets(&set));
        for bound in [0, 1, 63, 64, 65, 128] {
            set.fill(bound);
            assert_eq!(set.iter().collect::<Vec<_>>(), (0..bound).collect::<Vec<_>>());
        }
    }

    #[test]
    fn rows_unite() {
        let mut matrix = BitMatrix::default();
        matrix.reset(70);
        matrix.set(1, 69);
        matrix.set(2, 3);
        matrix.union_rows(2, 1);
        assert!(matrix.get(2, 69) && matrix.get(2, 3) && !matrix.get(1, 3));
        for n in [64, 70] {
            matrix.reset(n);
            matrix.set(1, 9);
            matrix.add_with_row(63, 1);
            matrix.union_rows(0, 63);
            assert_eq!(ones(matrix.row(0)).collect::<Vec<_>>(), [1, 9]);
            matrix.add_with_row(2, 63);
            assert_eq!(ones(matrix.row(2)).collect::<Vec<_>>(), [1, 9, 63]);
        }
        for n in [64, 70] {
            matrix.reset(n);
            matrix.set(7, 3);
            matrix.add_with_lower_row(62, 7);
            matrix.add_with_lower_row(n - 1, 62);
            assert_eq!(ones(matrix.row(n - 1)).collect::<Vec<_>>(), [3, 7, 62]);
        }
    }
}
