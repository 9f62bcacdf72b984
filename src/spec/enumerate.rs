//! All scenarios of a given number of calls, one of each set that symmetry makes alike.
//!
//! Problem. Letters are the calls that threads may make. Which scenarios are there with `calls` of them in at most
//! `threads` threads, where it makes no difference which thread is which, nor, for values that a structure only
//! compares with each other, which value is which?
//!
//! Algorithm. Threads are sequences of letters, the longer before the shorter and equally long ones in alphabetical
//! order: so each multiset of sequences is made once. Of the scenarios that permutations of values make of one another
//! the smallest is kept: it is compared with all its images.
//!
//! Cost. The number of scenarios before they are compared, times the permutations of values.
//!
//! Not done: a scenario whose threads are beginnings of those of another need not be run if the other was verified by
//! linearizability, since the rest of the calls may come last. But the smallest scenarios come first, so that the first
//! one that fails is as small as can be, and the small ones are cheap beside those that would make up for them.

use crate::spec::scenario::permutations;

/// The calls that threads may make, by number, and what is known of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alphabet {
    pub(crate) letters: usize,
    /// Letters that only one thread of a scenario may use, for each such set.
    pub(crate) exclusive: Vec<Vec<usize>>,
    /// Permutations of the letters that make no difference. The identity is among them.
    pub(crate) alike: Vec<Vec<usize>>,
    /// For each set of letters: how often a scenario may use them.
    pub(crate) at_most: Vec<(Vec<usize>, usize)>,
}

/// The number of calls in each part of a scenario, and of threads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    pub(crate) calls: usize,
    pub(crate) threads: usize,
    /// The largest number of calls before the threads start.
    pub(crate) init: usize,
    /// The largest number of calls after they have ended.
    pub(crate) end: usize,
}

/// A scenario in letters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word {
    pub(crate) threads: Vec<Vec<usize>>,
    pub(crate) init: Vec<usize>,
    pub(crate) end: Vec<usize>,
}

/// The letters of a full alphabet, with all permutations of the values of each class. A class has, for each value, the
/// letters that have it as argument, in the same order of operations.
pub(crate) fn alike(letters: usize, classes: &[Vec<Vec<usize>>]) -> Vec<Vec<usize>> {
    let identity = vec![(0..letters).collect::<Vec<usize>>()];
    classes.iter().fold(identity, |all, class| {
        let permuted = |old: &Vec<usize>| {
            let old = old.clone();
            let replaced = move |values: Vec<usize>| {
                let mut images: Vec<usize> = (0..letters).collect();
                for (value, &other) in values.iter().enumerate() {
                    class[value].iter().zip(&class[other]).for_each(|(&letter, &image)| images[letter] = image);
                }
                old.iter().map(|&letter| images[letter]).collect()
            };
            permutations(class.len()).into_iter().map(replaced).collect::<Vec<_>>()
        };
        all.iter().flat_map(permuted).collect()
    })
}

/// The scenarios of exactly this number of calls. Calls before and after the threads are only there where there are two
/// threads at least: one thread is a beginning itself.
pub(crate) fn words(alphabet: &Alphabet, size: Size) -> Vec<Word> {
    let mut found = Vec::new();
    for init in 0..=size.init.min(size.calls) {
        for end in 0..=size.end.min(size.calls - init) {
            let between = size.calls - init - end;
            let mut fixed = Vec::new();
            let mut threads = Vec::new();
            multisets(alphabet, between, size.threads, &mut threads, &mut fixed);
            if init + end > 0 {
                fixed.retain(|threads| threads.len() > 1);
            }
            for (init, end) in sequences(alphabet.letters, init)
                .iter()
                .flat_map(|init| sequences(alphabet.letters, end).into_iter().map(move |end| (init.clone(), end)))
            {
                let with =
                    |threads: &Vec<Vec<usize>>| Word { threads: threads.clone(), init: init.clone(), end: end.clone() };
                found.extend(fixed.iter().map(with).filter(|word| alphabet.has(word)));
            }
        }
    }
    found
}

impl Alphabet {
    /// Whether a scenario keeps to the rules, and is the smallest of those that are alike.
    fn has(&self, word: &Word) -> bool {
        self.allows(word) && self.alike.iter().all(|image| word.mapped(image) >= *word)
    }

    /// The smallest of the scenarios that are alike.
    pub(crate) fn smallest(&self, word: &Word) -> Word {
        self.alike.iter().map(|image| word.mapped(image)).min().expect("the identity is among them")
    }

    /// Whether a scenario keeps to the rules.
    pub(crate) fn allows(&self, word: &Word) -> bool {
        let count = |letters: &[usize]| {
            let all = word.init.iter().chain(word.threads.iter().flatten()).chain(&word.end);
            all.filter(|letter| letters.contains(letter)).count()
        };
        let users = |letters: &Vec<usize>| {
            word.threads.iter().filter(|thread| thread.iter().any(|letter| letters.contains(letter))).count()
        };
        self.exclusive.iter().all(|letters| users(letters) <= 1)
            && self.at_most.iter().all(|(letters, most)| count(letters) <= *most)
    }
}

impl Word {
    /// The scenario with other letters, and its threads in order.
    fn mapped(&self, image: &[usize]) -> Self {
        let all = |letters: &Vec<usize>| letters.iter().map(|&letter| image[letter]).collect::<Vec<_>>();
        let mut threads: Vec<Vec<usize>> = self.threads.iter().map(all).collect();
        threads.sort_by(|a, b| rank(a).cmp(&rank(b)));
        Self { threads, init: all(&self.init), end: all(&self.end) }
    }
}

impl Word {
    /// The scenarios with one call less, then those in which one thread makes the calls of two, then those with one
    /// value replaced by the one before it, where there is one.
    pub(crate) fn smaller(&self, is_value_before: &[bool]) -> Vec<Self> {
        let parts = self.threads.len() + 2;
        let (mut shorter, mut lower) = (Vec::new(), Vec::new());
        for part in 0..parts {
            for at in 0..self.part(part).len() {
                let mut without = self.clone();
                without.part_mut(part).remove(at);
                without.threads.retain(|thread| !thread.is_empty());
                shorter.extend((!without.threads.is_empty()).then_some(without));
                if is_value_before[self.part(part)[at]] {
                    let mut other = self.clone();
                    other.part_mut(part)[at] -= 1;
                    lower.push(other);
                }
            }
        }
        let last = self.threads.len() - 1;
        let joined = |at: usize| {
            let mut other = self.clone();
            let calls = other.threads.remove(last);
            other.threads[at].extend(calls);
            other
        };
        [shorter, (0..last).map(joined).collect(), lower].concat()
    }

    /// The calls of a thread, by its number; behind them the beginning and the end.
    fn part(&self, part: usize) -> &Vec<usize> {
        let threads = self.threads.len();
        match part {
            _ if part == threads => &self.init,
            _ if part == threads + 1 => &self.end,
            _ => &self.threads[part],
        }
    }

    fn part_mut(&mut self, part: usize) -> &mut Vec<usize> {
        let threads = self.threads.len();
        match part {
            _ if part == threads => &mut self.init,
            _ if part == threads + 1 => &mut self.end,
            _ => &mut self.threads[part],
        }
    }
}

/// The order of threads in a scenario.
fn rank(thread: &[usize]) -> (std::cmp::Reverse<usize>, &[usize]) {
    (std::cmp::Reverse(thread.len()), thread)
}

/// Adds all ways to go on from `threads` with up to `most` further threads that have `calls` calls together.
fn multisets(
    alphabet: &Alphabet,
    calls: usize,
    most: usize,
    threads: &mut Vec<Vec<usize>>,
    found: &mut Vec<Vec<Vec<usize>>>,
) {
    if calls == 0 {
        if !threads.is_empty() {
            found.push(threads.clone());
        }
        return;
    }
    if most == 0 {
        return;
    }
    for length in 1..=calls {
        for thread in sequences(alphabet.letters, length) {
            if threads.last().is_some_and(|last| rank(&thread) < rank(last)) {
                continue;
            }
            threads.push(thread);
            multisets(alphabet, calls - length, most - 1, threads, found);
            threads.pop();
        }
    }
}

/// All sequences of letters of this length.
fn sequences(letters: usize, length: usize) -> Vec<Vec<usize>> {
    (0..length).fold(vec![Vec::new()], |all, _| {
        all.iter().flat_map(|old| (0..letters).map(move |letter| [&old[..], &[letter]].concat())).collect()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn plain(letters: usize) -> Alphabet {
        Alphabet { letters, alike: alike(letters, &[]), ..Alphabet::default() }
    }

    fn parallel(calls: usize, threads: usize) -> Size {
        Size { calls, threads, ..Size::default() }
    }

    /// All tuples of threads, which may be empty.
    fn tuples(letters: usize, calls: usize, threads: usize) -> Vec<Vec<Vec<usize>>> {
        if threads == 0 {
            return if calls == 0 { vec![Vec::new()] } else { Vec::new() };
        }
        let first = |length: usize| {
            let rest = tuples(letters, calls - length, threads - 1);
            let with =
                move |first: Vec<usize>| rest.clone().into_iter().map(move |rest| [vec![first.clone()], rest].concat());
            sequences(letters, length).into_iter().flat_map(with).collect::<Vec<_>>()
        };
        (0..=calls).flat_map(first).collect()
    }

    /// The number of orbits of tuples of threads, by Burnside's lemma: the mean number of tuples that a permutation of
    /// threads and letters leaves as they are. A cycle of `c` threads is fixed by its first thread, whose letters the
    /// `c`-th power of the permutation of letters must leave.
    fn burnside(alphabet: &Alphabet, calls: usize, threads: usize) -> usize {
        let (mut sum, all) = (0, permutations(threads));
        for places in &all {
            let mut cycles = Vec::new();
            let mut seen = HashSet::new();
            for start in 0..threads {
                let (mut at, mut length) = (start, 0);
                while seen.insert(at) {
                    at = places[at];
                    length += 1;
                }
                cycles.extend((length > 0).then_some(length));
            }
            for image in &alphabet.alike {
                let power = |letter: usize, times: usize| (0..times).fold(letter, |letter, _| image[letter]);
                let mut ways = vec![0; calls + 1];
                ways[0] = 1;
                for &cycle in &cycles {
                    let fixed = (0..alphabet.letters).filter(|&letter| power(letter, cycle) == letter).count();
                    let mut next = vec![0; calls + 1];
                    for so_far in 0..=calls {
                        for length in 0..=(calls - so_far) / cycle {
                            next[so_far + cycle * length] += ways[so_far] * fixed.pow(length as u32);
                        }
                    }
                    ways = next;
                }
                sum += ways[calls];
            }
        }
        assert_eq!(sum % (all.len() * alphabet.alike.len()), 0);
        sum / (all.len() * alphabet.alike.len())
    }

    /// Alphabets: without symmetry, with two values of one operation, with three, and with two values of two operations
    /// beside another letter, with two values of each of two operations, and with pairs of two values.
    fn alphabets() -> Vec<Alphabet> {
        let of = |letters, classes: &[Vec<Vec<usize>>]| Alphabet { alike: alike(letters, classes), ..plain(letters) };
        vec![
            plain(1),
            plain(2),
            plain(3),
            of(3, &[vec![vec![0], vec![1]]]),
            of(4, &[vec![vec![0], vec![1], vec![2]]]),
            of(5, &[vec![vec![0, 2], vec![1, 3]]]),
            of(4, &[vec![vec![0], vec![1]], vec![vec![2], vec![3]]]),
            of(4, &[vec![vec![0, 1], vec![2, 3]], vec![vec![0, 2], vec![1, 3]]]),
        ]
    }

    #[test]
    fn as_many_as_burnside_counts() {
        let most = if cfg!(debug_assertions) { 4 } else { 5 };
        for alphabet in alphabets() {
            for (calls, threads) in (1..=most).flat_map(|calls| (1..=3).map(move |threads| (calls, threads))) {
                let found = words(&alphabet, parallel(calls, threads)).len();
                assert_eq!(found, burnside(&alphabet, calls, threads), "{alphabet:?} {calls} {threads}");
            }
        }
    }

    /// Each tuple of threads is alike to exactly one scenario.
    #[test]
    fn one_of_each_orbit() {
        for alphabet in alphabets() {
            for (calls, threads) in [(1, 3), (2, 2), (3, 2), (3, 3), (4, 2)] {
                let orbits = |tuple: &Vec<Vec<usize>>| {
                    let images = alphabet.alike.iter().map(|image| {
                        let letters =
                            |thread: &Vec<usize>| thread.iter().map(|&letter| image[letter]).collect::<Vec<_>>();
                        let mut threads: Vec<_> = tuple.iter().filter(|it| !it.is_empty()).map(letters).collect();
                        threads.sort();
                        threads
                    });
                    images.min().unwrap()
                };
                let expected: HashSet<_> = tuples(alphabet.letters, calls, threads).iter().map(orbits).collect();
                let words = words(&alphabet, parallel(calls, threads));
                let found: HashSet<_> = words.iter().map(|word| orbits(&word.threads)).collect();
                assert_eq!(found, expected);
                assert_eq!(found.len(), words.len(), "none twice");
            }
        }
    }

    #[test]
    fn rules_leave_scenarios_out() {
        let all = words(&plain(2), parallel(3, 2));
        let exclusive = Alphabet { exclusive: vec![vec![0]], ..plain(2) };
        let users = |word: &Word| word.threads.iter().filter(|thread| thread.contains(&0)).count();
        let expected: Vec<&Word> = all.iter().filter(|word| users(word) <= 1).collect();
        assert_eq!(words(&exclusive, parallel(3, 2)).iter().collect::<Vec<_>>(), expected);
        let at_most = Alphabet { at_most: vec![(vec![0], 1)], ..plain(2) };
        let uses = |word: &Word| word.threads.iter().flatten().filter(|&&letter| letter == 0).count();
        let expected: Vec<&Word> = all.iter().filter(|word| uses(word) <= 1).collect();
        assert_eq!(words(&at_most, parallel(3, 2)).iter().collect::<Vec<_>>(), expected);
        assert!(!expected.is_empty() && expected.len() < all.len());
    }

    /// With one letter: a beginning, an end and the lengths of threads are all there is to a scenario.
    #[test]
    fn beginnings_and_ends_are_counted() {
        let size = Size { calls: 4, threads: 2, init: 2, end: 1 };
        let found: HashSet<Word> = words(&plain(1), size).into_iter().collect();
        // 4; 3+1, 2+2; one before or after: 2+1 each; two before, or one before and one after: 1+1 each.
        assert_eq!(found.len(), 3 + 2 + 2);
        assert!(found.iter().all(|word| word.init.len() <= 2 && word.end.len() <= 1));
    }
}
