//! The texts of values: by the type of their location, and without addresses.
//!
//! An address changes from run to run, so a report shows a letter instead: `&A` is the same address throughout one
//! report. An integer of address size is taken as an address from 2^40 to 2^48; below that it is more likely two
//! numbers packed into one, which the reader needs to see.

use rustc_hash::FxHashMap;

use crate::trace::{Action, Event, Trace};

/// The low bits that are zero in an address, and that code uses to tag pointers.
const TAG: u64 = 7;

/// The letters of the addresses.
pub(super) struct Values {
    addresses: FxHashMap<u64, usize>,
}

impl Values {
    /// Gives letters to the addresses of an execution, in the order in which a report mentions them.
    pub(super) fn new(trace: &Trace) -> Self {
        let mut values = Self { addresses: FxHashMap::default() };
        for loc in trace.locs.values() {
            values.learn(loc.kind, loc.init);
        }
        for event in &trace.events {
            let kind = trace.locs[event.op.loc].kind;
            mentioned(event).into_iter().flatten().for_each(|value| values.learn(kind, value));
        }
        values
    }

    fn learn(&mut self, kind: &str, value: u64) {
        if is_address(kind, value) {
            let next = self.addresses.len();
            self.addresses.entry(value & !TAG).or_insert(next);
        }
    }

    /// Whether letters are in use.
    pub(super) fn has_addresses(&self) -> bool {
        !self.addresses.is_empty()
    }

    /// A value of a location of this type.
    pub(super) fn show(&self, kind: &str, value: u64) -> String {
        if is_address(kind, value) {
            return self.address(value);
        }
        match kind {
            "AtomicBool" | "thread end" => (value != 0).to_string(),
            "AtomicPtr" if value == 0 => "null".to_owned(),
            // std's `Arc` holds this value while it checks whether a reference is the only one.
            "Weak" if value == u64::MAX => "locked".to_owned(),
            "AtomicPtr" => unsigned(value, 64, 1),
            _ if kind.starts_with("AtomicI") => signed(value, bits(kind)),
            _ => unsigned(value, bits(kind), 10_000_000),
        }
    }

    /// An address that the report mentions.
    pub(super) fn known(&self, address: u64) -> Option<String> {
        self.addresses.contains_key(&address).then(|| self.address(address))
    }

    fn address(&self, value: u64) -> String {
        let letter = self.addresses.get(&(value & !TAG)).map_or("?".to_owned(), |number| letters(*number));
        match value & TAG {
            0 => format!("&{letter}"),
            tag => format!("&{letter}+{tag}"),
        }
    }
}

/// The values that the row of an event may mention.
fn mentioned(event: &Event) -> [Option<u64>; 3] {
    let read = event.op.action.reads().then_some(event.read);
    let expected = match event.op.action {
        Action::Cas { expected, .. } | Action::Fail { expected, .. } => Some(expected),
        _ => None,
    };
    [read, expected, event.written]
}

fn is_address(kind: &str, value: u64) -> bool {
    match kind {
        "AtomicPtr" => (4096..u64::MAX - 4096).contains(&value),
        "AtomicUsize" | "AtomicIsize" | "AtomicU64" | "AtomicI64" => (1 << 40..1 << 48).contains(&value),
        _ => false,
    }
}

/// A, B, …, Z, AA, AB, …
fn letters(number: usize) -> String {
    let last = char::from(b'A' + (number % 26) as u8);
    let before = if number < 26 { String::new() } else { letters(number / 26 - 1) };
    format!("{before}{last}")
}

/// The width of an integer type in bits; 64 if the name has none.
fn bits(kind: &str) -> u32 {
    kind.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(64)
}

fn signed(value: u64, bits: u32) -> String {
    let unused = 64_u32.saturating_sub(bits);
    let number = (value << unused).cast_signed() >> unused;
    match number {
        i64::MIN => "MIN".to_owned(),
        i64::MAX => "MAX".to_owned(),
        _ => number.to_string(),
    }
}

/// Decimal below `hex_from`, and relative to the largest value close to it: an underflow is then easy to see.
fn unsigned(value: u64, bits: u32, hex_from: u64) -> String {
    let max = u64::MAX >> 64_u32.saturating_sub(bits);
    match max.wrapping_sub(value) {
        0 if bits >= 32 => "MAX".to_owned(),
        below @ 1..100 if bits >= 32 => format!("MAX-{below}"),
        _ if value >= hex_from => format!("{value:#x}"),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_look_like_their_types() {
        let values = Values { addresses: FxHashMap::from_iter([(0x5555_0000_1230, 0), (0x7fff_0000_0000, 1)]) };
        let show = |kind, value| values.show(kind, value);
        assert_eq!(show("AtomicBool", 1), "true");
        assert_eq!(show("AtomicI8", 0xff), "-1");
        assert_eq!(show("AtomicI64", u64::MAX), "-1");
        assert_eq!(show("AtomicU8", 0xff), "255");
        assert_eq!(show("AtomicUsize", u64::MAX - 1), "MAX-1");
        assert_eq!(show("AtomicU64", (3 << 32) | 1), "0x300000001");
        assert_eq!(show("AtomicPtr", 0), "null");
        assert_eq!(show("AtomicPtr", 1), "0x1");
        assert_eq!(show("AtomicPtr", 0x7fff_0000_0000), "&B");
        assert_eq!(show("AtomicPtr", 0x5555_0000_1231), "&A+1");
        assert_eq!(show("AtomicUsize", 0x5555_0000_1230), "&A");
    }

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 25, 26, 27, 52].map(letters), ["A", "Z", "AA", "AB", "BA"]);
    }
}
