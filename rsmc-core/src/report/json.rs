//! Plain data as JSON.

use serde::Serialize;

/// The size of the first buffer; most failures fit.
const FIRST: usize = 1 << 16;

/// A value as JSON, in one line.
pub fn to_json(value: &impl Serialize) -> String {
    let mut buffer = vec![0; FIRST];
    loop {
        match serde_json_core::to_slice(value, &mut buffer) {
            Ok(length) => {
                buffer.truncate(length);
                return String::from_utf8(buffer).expect("this is a bug in rsmc: JSON is text");
            }
            Err(_) => buffer.resize(2 * buffer.len(), 0), // it is full; there is no other error
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_texts_come_back() {
        let text: String = (0..0x300).filter_map(char::from_u32).chain("\u{2028}✗🦀".chars()).collect();
        let values = vec![(text.repeat(80), 1, None::<u32>), (String::new(), u64::MAX, Some(2))];
        let json = to_json(&values);
        assert!(json.len() > FIRST && !json.contains('\n'), "it is longer than what is tried first");
        assert_eq!(serde_json::from_str::<Vec<(String, u64, Option<u32>)>>(&json).unwrap(), values);
    }
}
