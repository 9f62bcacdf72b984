//! Changes of bytes, as accidents and attackers make them.

use rsmc_core::base::mix;

/// Numbers that look random.
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(mix(seed, 77))
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 = mix(self.0, 5);
        (self.0 >> 11) as usize % end.max(1)
    }

    /// A range within so many bytes; a short one, mostly.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let most = if self.below(4) > 0 { 4.min(length - start) } else { length - start };
        start..start + self.below(most + 1)
    }
}

/// One to four changes; `others` are what it is spliced with.
pub fn bytes(mut bytes: Vec<u8>, others: &[Vec<u8>], draw: &mut Draw) -> Vec<u8> {
    for _ in 0..=draw.below(4) {
        change(&mut bytes, others, draw);
    }
    bytes
}

/// One to three bytes are others: most of what is coded by them is as long as before.
pub fn values(mut bytes: Vec<u8>, draw: &mut Draw) -> Vec<u8> {
    for _ in 0..=draw.below(3) {
        let at = draw.below(bytes.len());
        // Some do not make a number longer or shorter.
        bytes[at] = match draw.below(3) {
            0 => bytes[at] & 0x80 | draw.below(128) as u8,
            1 => bytes[at] & 0x80 | (bytes[at] & 0x7f).wrapping_add([1, 0x7f][draw.below(2)]) & 0x7f,
            _ => draw.below(4) as u8,
        };
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, others: &[Vec<u8>], draw: &mut Draw) {
    let at = draw.below(bytes.len());
    match draw.below(8) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << draw.below(8),
        1 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][draw.below(5)],
        2 if !bytes.is_empty() => bytes[at] = bytes[at].wrapping_add([1, 0xff][draw.below(2)]),
        3 => drop(bytes.drain(draw.range(bytes.len()))),
        4 => {
            let new: Vec<u8> = (0..=draw.below(6)).map(|_| draw.below(256) as u8).collect();
            drop(bytes.splice(at..at, new));
        }
        5 => {
            let again = bytes[draw.range(bytes.len())].to_vec();
            drop(bytes.splice(at..at, again));
        }
        6 => bytes.truncate(draw.below(bytes.len() + 1)),
        7 => {
            let other = &others[draw.below(others.len())];
            bytes.truncate(at);
            bytes.extend_from_slice(&other[draw.below(other.len() + 1)..]);
        }
        _ => bytes.push(draw.below(256) as u8),
    }
}

/// Some changes of letters.
pub fn text(text: String, draw: &mut Draw) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=draw.below(3) {
        let at = draw.below(letters.len());
        let new = ['A', '_', '-', '=', ' ', '\n', '\0', 'é', '🦀'][draw.below(9)];
        match draw.below(4) {
            0 if !letters.is_empty() => letters[at] = new,
            1 if !letters.is_empty() => drop(letters.remove(at)),
            2 => letters.truncate(at),
            _ => letters.insert(at, new),
        }
    }
    letters.into_iter().collect()
}
