//! 128-bit digests of sets: collisions are out of reach, and the order of insertion does not matter.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

/// The digest of a multiset of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Digest(pub(super) u128);

impl Digest {
    /// The digest of no items.
    pub const EMPTY: Digest = Digest(0);

    /// Adds an item, given as words. Items may come in any order.
    pub fn add(&mut self, item: &[u64]) {
        let mut bytes = [0; 64];
        assert!(item.len() <= 8, "an item has at most eight words");
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(item) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        self.0 = self.0.wrapping_add(xxh3_128(&bytes[..item.len() * 8]));
    }

    /// Adds the words of a list, each with its place and a mark of the list.
    pub fn add_words(&mut self, list: u64, words: impl IntoIterator<Item = u64>) {
        words.into_iter().enumerate().for_each(|(place, word)| self.add(&[list, place as u64, word]));
    }

    /// The digest of one item.
    #[must_use]
    pub fn of<const WORDS: usize>(item: &[u64; WORDS]) -> Digest {
        Digest(xxh3_128(item.map(u64::to_le_bytes).as_flattened()))
    }

    /// The digest of one item of any length; `bytes` is memory.
    #[must_use]
    pub fn of_words(item: &[u32], bytes: &mut Vec<u8>) -> Digest {
        bytes.clear();
        item.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        Digest(xxh3_128(bytes))
    }

    /// The digest with the items whose digest is `part`.
    #[must_use]
    pub fn with(self, part: Digest) -> Digest {
        Digest(self.0.wrapping_add(part.0))
    }

    /// The digest without items whose digest is `part`.
    #[must_use]
    pub fn without(self, part: Digest) -> Digest {
        Digest(self.0.wrapping_sub(part.0))
    }
}

/// Mixes two words into one, for small hashes that never leave a process.
pub const fn mix(a: u64, b: u64) -> u64 {
    let x = (a ^ b.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 29)).wrapping_add(b).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ (x >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_items_does_not_matter_but_content_does() {
        let (mut a, mut b, mut c) = (Digest::EMPTY, Digest::EMPTY, Digest::EMPTY);
        a.add(&[1, 2]);
        a.add(&[3]);
        b.add(&[3]);
        b.add(&[1, 2]);
        c.add(&[3]);
        c.add(&[2, 1]);
        assert_eq!(a, b);
        assert_ne!(a, c);
        let (part, rest) = (Digest::of(&[1, 2]), Digest::of(&[3]));
        assert_eq!(a.without(part), rest);
        assert_eq!(rest.with(part), a);
        c.add(&[1, 2]);
        assert_eq!(c.without(Digest::of(&[2, 1])), a);
    }
}
