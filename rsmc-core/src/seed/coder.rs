//! Bits as few bytes: an adaptive arithmetic coder.
//!
//! Problem. A seed mostly repeats itself: the same thread goes on, the same kinds of operations come again. Executions
//! are short, so a table of frequencies would be longer than they are.
//!
//! Method. Every bit has a *context*, which names its meaning. The coder counts the zeros and ones so far in each
//! context, and a bit costs `-log2` of its share in these counts. Writer and reader count the same, so no table is
//! written. One function describes a format in both directions: its argument is written, or replaced by the value that
//! is read.
//!
//! Cost. O(1) per bit. The interval has 64 bits and shares have 16, so the cost of rounding is not noticeable.
//!
//! Sources. The estimate is that of Krichevsky and Trofimov, "The performance of universal encoding", 1981, with 0.4
//! instead of 0.5 for a bit that was not seen. The interval is narrowed as in Mahoney's `fpaq0`: a byte on which both
//! ends agree is written out.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Writes or reads bits, each in a context.
pub(super) struct Coder<C> {
    /// By context, and by place in a number: the zeros and ones so far.
    seen: FxHashMap<(C, u32), [u64; 2]>,
    /// The current interval, both ends included.
    low: u64,
    high: u64,
    way: Way,
}

enum Way {
    Write(Vec<u8>),
    /// The bytes that are not read yet, backwards, and the eight bytes before them. Behind the end are zeros.
    Read(Vec<u8>, u64),
}

/// The largest number of binary digits of a number, plus one.
const DIGITS: u32 = u64::BITS;

impl<C: Copy + Eq + Hash> Coder<C> {
    /// A coder that writes its arguments.
    pub(super) fn writer() -> Self {
        Self { seen: FxHashMap::default(), low: 0, high: u64::MAX, way: Way::Write(Vec::new()) }
    }

    /// A coder that reads these bytes.
    pub(super) fn reader(bytes: &[u8]) -> Self {
        let mut rest: Vec<u8> = bytes.iter().rev().copied().collect();
        let code = (0..8).fold(0, |code, _| code << 8 | u64::from(rest.pop().unwrap_or(0)));
        Self { way: Way::Read(rest, code), ..Self::writer() }
    }

    /// Writes the bit `told` and returns it; or reads a bit, and ignores `told`.
    pub(super) fn bit(&mut self, context: C, told: bool) -> bool {
        self.place(context, 0, told)
    }

    /// As [`Coder::bit`], for a number below the largest: first the number of its digits, then the digits.
    pub(super) fn number(&mut self, context: C, told: u64) -> u64 {
        let told = told + 1;
        let mut digits = 1;
        while digits < DIGITS && self.place(context, digits, told >> digits != 0) {
            digits += 1;
        }
        let mut number = 1;
        for digit in (0..digits - 1).rev() {
            // The place names the number of digits, and which one this is.
            let place = (digits << 6) | (digit + 1);
            number = number << 1 | u64::from(self.place(context, place, told >> digit & 1 != 0));
        }
        number - 1
    }

    fn place(&mut self, context: C, place: u32, told: bool) -> bool {
        let [zeros, ones] = self.seen.entry((context, place)).or_default();
        let share = ((5 * *ones + 2) << 16) / (5 * (*zeros + *ones) + 4);
        let middle = self.low + ((self.high - self.low) >> 16) * share.clamp(1, (1 << 16) - 1);
        let bit = match self.way {
            Way::Write(_) => told,
            Way::Read(_, code) => code <= middle,
        };
        *(if bit { ones } else { zeros }) += 1;
        *(if bit { &mut self.high } else { &mut self.low }) = if bit { middle } else { middle + 1 };
        while (self.low ^ self.high) >> 56 == 0 {
            match &mut self.way {
                Way::Write(bytes) => bytes.push((self.low >> 56) as u8),
                Way::Read(rest, code) => *code = *code << 8 | u64::from(rest.pop().unwrap_or(0)),
            }
            self.low <<= 8;
            self.high = self.high << 8 | 0xff;
        }
        bit
    }

    /// The bytes that were written.
    pub(super) fn finish(self) -> Vec<u8> {
        let Way::Write(mut bytes) = self.way else { return Vec::new() };
        // The first bytes of both ends differ, so this and zeros lie between them.
        if self.low > 0 {
            bytes.push((self.low >> 56) as u8 + 1);
        }
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::mix;

    /// Numbers of all sizes, most of them small, and bits that are nearly always the same.
    fn drawn(seed: u64) -> Vec<(u8, u64)> {
        let mut draw = mix(seed, 1);
        let mut next = || {
            draw = mix(draw, 9);
            draw
        };
        let length = next() % 300;
        (0..length)
            .map(|_| match next() % 4 {
                0 => (0, (next() >> (next() % 64)).min(u64::MAX - 1)),
                context => (context as u8, u64::from(next() % 50 == 0)),
            })
            .collect()
    }

    #[test]
    fn what_is_written_is_read() {
        for seed in 0..300 {
            let told = drawn(seed);
            let mut writer = Coder::writer();
            for &(context, number) in &told {
                match context {
                    0 => assert_eq!(writer.number(context, number), number),
                    _ => assert_eq!(writer.bit(context, number != 0), number != 0),
                }
            }
            let bytes = writer.finish();
            let mut reader = Coder::reader(&bytes);
            for (context, number) in told {
                match context {
                    0 => assert_eq!(reader.number(context, 0), number),
                    _ => assert_eq!(reader.bit(context, false), number != 0),
                }
            }
        }
    }

    #[test]
    fn what_is_always_the_same_costs_nearly_nothing() {
        let mut writer = Coder::writer();
        (0..8_000).for_each(|_| _ = writer.bit(0_u8, true));
        assert!(writer.finish().len() <= 2);
        let mut writer = Coder::writer();
        (0..8_000).for_each(|at| _ = writer.bit(0_u8, mix(at, 3) & 1 > 0));
        let bytes = writer.finish().len();
        assert!((1_000..1_010).contains(&bytes), "{bytes} bytes for 8000 random bits");
    }

    #[test]
    fn anything_can_be_read() {
        let mut reader = Coder::reader(&[0xff; 3]);
        (0..1_000).for_each(|at| _ = reader.number(at % 7, 0));
        assert_eq!(Coder::reader(&[]).number(0_u8, 5), Coder::reader(&[0]).number(0_u8, 7));
    }
}
