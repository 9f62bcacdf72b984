//! Names of objects in Rust expressions, read from right to left.

use crate::report::source::Name;

/// Methods that lead to the object before them, or to what it holds.
const TRANSPARENT: [&str; 14] = [
    "as_ref",
    "as_mut",
    "as_deref",
    "borrow",
    "clone",
    "deref",
    "expect",
    "get",
    "get_mut",
    "lock",
    "read",
    "unwrap",
    "write",
    "get_unchecked",
];

/// The object before the last dot of a text: `tail` of `x = self.tail.`, `slots` of `q.slots[i % 2].`, `self.0` of
/// `self.0.`.
pub(super) fn object(text: &str) -> Option<Name> {
    let chars: Vec<char> = text.trim_end().chars().collect();
    let mut rest = chars.strip_suffix(&['.'])?;
    let (mut is_element, mut field) = (false, None);
    loop {
        rest = trim_end(rest, |c| c == '?' || c.is_whitespace());
        match rest.last()? {
            ']' => {
                rest = before_bracket(rest)?;
                is_element = true;
            }
            ')' => {
                let before = before_bracket(rest)?;
                let (name, left) = last_word(before);
                if name.is_empty() {
                    // `(*self.next).` is what is in the brackets.
                    let inner: String = rest[before.len() + 1..rest.len() - 1].iter().collect();
                    let inner = inner.split(" as ").next().unwrap_or_default().to_owned();
                    return object(&format!("{inner}."))
                        .map(|name| Name { is_element: name.is_element || is_element, ..name });
                }
                let (is_method, is_index) = (left.last() == Some(&'.'), matches!(&*name, "get" | "get_unchecked"));
                if !is_method || !TRANSPARENT.contains(&&*name) {
                    return None;
                }
                is_element |= is_index && before.len() + 2 < rest.len();
                rest = &left[..left.len() - 1];
            }
            _ => {
                let (name, left) = last_word(rest);
                if name.is_empty() || left.last() == Some(&':') {
                    return None;
                }
                if name == "self" {
                    let name = format!("self.{}", field?);
                    return Some(Name { name, is_element });
                }
                if name.chars().all(|c| c.is_ascii_digit()) {
                    // A field of a tuple is named after what it is a field of.
                    rest = left.strip_suffix(&['.'])?;
                    field = Some(name);
                    continue;
                }
                return Some(Name { name, is_element });
            }
        }
    }
}

/// The variable or field to which the expression that follows a text is bound: `x` of `let x = Arc::new(`, `head` of
/// `head: `, `b` of `let (a, b) = (Mutex::new(0), `.
pub(super) fn binding(text: &str) -> Option<Name> {
    let chars: Vec<char> = text.trim_end().chars().collect();
    let (mut rest, mut is_element) = (&chars[..], false);
    loop {
        rest = trim_end(rest, char::is_whitespace);
        match rest.last()? {
            '=' if !matches!(rest.get(rest.len().wrapping_sub(2)), Some('=' | '!' | '<' | '>')) => {
                let name = bound(&rest[..rest.len() - 1], None)?;
                return Some(Name { name, is_element });
            }
            ':' if rest.get(rest.len().wrapping_sub(2)) != Some(&':') => {
                let (name, _) = last_word(&rest[..rest.len() - 1]);
                return Some(Name { name, is_element }).filter(|name| !name.name.is_empty());
            }
            // The argument of a function or macro, the first of a tuple, or what a closure returns.
            '(' | '[' => {
                is_element |= rest.last() == Some(&'[');
                rest = &rest[..rest.len() - 1];
                if let Some(name) = first_of_tuple(rest, is_element) {
                    return Some(name);
                }
                rest = trim_end(rest, |c| c == '!');
                let before = path(rest);
                if is_of_object(&rest[before.len()..]) {
                    return None;
                }
                rest = before;
            }
            '|' => {
                let opens = rest[..rest.len() - 1].iter().rposition(|&c| c == '|')?;
                rest = trim_word(&rest[..opens], "move");
                is_element = true;
            }
            // A later part of a tuple or an array.
            ',' => {
                let opens = opening(rest)?;
                let number = commas(&rest[opens + 1..]);
                let before = trim_end(&rest[..opens], char::is_whitespace);
                match rest[opens] {
                    '(' if before.last() == Some(&'=') => {
                        let name = bound(&before[..before.len() - 1], Some(number))?;
                        return Some(Name { name, is_element });
                    }
                    '[' => rest = &rest[..=opens],
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
}

/// The first name of the pattern, if a tuple begins behind these characters and is bound to one.
fn first_of_tuple(rest: &[char], is_element: bool) -> Option<Name> {
    let before = trim_end(rest, char::is_whitespace).strip_suffix(&['='])?;
    let name = bound(before, Some(0)).filter(|_| trim_end(before, char::is_whitespace).last() == Some(&')'))?;
    Some(Name { name, is_element })
}

/// The name that is bound by the pattern before a `=`; of a tuple, the one of this number.
fn bound(before: &[char], number: Option<usize>) -> Option<String> {
    let text: String = before.iter().collect();
    let pattern =
        ["let ", "static ", "const "].iter().filter_map(|word| text.rsplit_once(word)).map(|(_, pattern)| pattern);
    let pattern = pattern.min_by_key(|pattern| pattern.len())?;
    let pattern = pattern.trim().trim_start_matches("mut ").trim_start_matches("ref ");
    let name = match pattern.strip_prefix('(') {
        Some(tuple) => {
            let parts = tuple.split(')').next()?.split(',');
            parts.map(|part| part.trim().trim_start_matches("mut ")).nth(number?)?
        }
        None => pattern.split(':').next()?.trim(),
    };
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') && name != "_";
    is_name.then(|| name.to_owned())
}

/// The text before the bracket that the last one closes.
fn before_bracket(chars: &[char]) -> Option<&[char]> {
    let mut depth = 0;
    for (at, c) in chars.iter().enumerate().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&chars[..at]);
        }
    }
    None
}

/// The place of the innermost bracket that is open at the end.
fn opening(chars: &[char]) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in chars.iter().enumerate().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth == 0 => return Some(at),
            '(' | '[' | '{' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The number of commas outside of brackets.
fn commas(chars: &[char]) -> usize {
    let (mut depth, mut number) = (0, 0);
    for c in chars {
        match c {
            ')' | ']' | '}' => depth -= 1,
            '(' | '[' | '{' => depth += 1,
            ',' if depth == 0 => number += 1,
            _ => {}
        }
    }
    number
}

/// The word at the end, and what is before it.
fn last_word(chars: &[char]) -> (String, &[char]) {
    let rest = trim_end(chars, |c| c.is_alphanumeric() || c == '_');
    (chars[rest.len()..].iter().collect(), rest)
}

/// The text before the path at the end: `Arc::new`, `vec`, `CachePadded::<T>::new`.
fn path(chars: &[char]) -> &[char] {
    trim_end(chars, |c| c.is_alphanumeric() || matches!(c, '_' | ':' | '<' | '>'))
}

/// Whether a path is one of a type that is an object itself: what it holds has no name of its own.
fn is_of_object(path: &[char]) -> bool {
    let path: String = path.iter().collect();
    let types = ["Atomic", "Mutex", "RwLock", "Cell", "OnceLock", "LazyLock"];
    path.split("::").any(|part| types.iter().any(|kind| part.starts_with(kind) || part == "UnsafeCell"))
}

fn trim_word<'a>(chars: &'a [char], word: &str) -> &'a [char] {
    let rest = trim_end(chars, char::is_whitespace);
    let word: Vec<char> = word.chars().collect();
    rest.strip_suffix(&word[..]).unwrap_or(rest)
}

fn trim_end(chars: &[char], is_gone: impl Fn(char) -> bool) -> &[char] {
    let kept = chars.iter().rposition(|&c| !is_gone(c)).map_or(0, |last| last + 1);
    &chars[..kept]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(text: &str) -> Option<String> {
        object(text).map(|name| if name.is_element { format!("{}[]", name.name) } else { name.name })
    }

    fn made(text: &str) -> Option<String> {
        binding(text).map(|name| if name.is_element { format!("{}[]", name.name) } else { name.name })
    }

    #[test]
    fn the_last_field_or_variable_is_the_object() {
        for (text, name) in [
            ("let x = self.tail.", "tail"),
            ("if ready.", "ready"),
            ("q.slots[i % 2].", "slots[]"),
            ("self.buffer[self.mask(i)].state.", "state"),
            ("self.slots.get(i).unwrap().", "slots[]"),
            ("{ (*ptr).next.", "next"),
            ("(*self.head).", "head"),
            ("(&self.0.flag).", "flag"),
            ("pair.0.", "pair"),
            ("assert_eq!(count.", "count"),
            ("!self.closed.", "closed"),
            ("Self::head(x)?.seq.", "seq"),
            ("self.waker.lock().unwrap().", "waker"),
            ("HEAD.", "HEAD"),
            ("self.0.", "self.0"),
            ("self.0 .1.get(i).", "self.0[]"),
        ] {
            assert_eq!(used(text).as_deref(), Some(name), "{text}");
        }
        for text in ["self.", "head().", "Queue::shared().", "drop(", "", "Self::HEAD::"] {
            assert_eq!(used(text), None, "{text}");
        }
    }

    #[test]
    fn a_binding_or_a_field_names_what_is_created() {
        for (text, name) in [
            ("    let x = ", "x"),
            ("let mut x: Arc<Mutex<u32>> = Arc::new(", "x"),
            ("static COUNT: AtomicUsize = ", "COUNT"),
            ("    Self { head: ", "head"),
            ("Self { head: AtomicPtr::new(null), tail: CachePadded::new(", "tail"),
            ("let (a, b) = (", "a"),
            ("let (a, mut b) = (AtomicBool::new(f(1, 2)), ", "b"),
            ("let locks = [Mutex::new(1), ", "locks[]"),
            ("let slots: [AtomicU32; 2] = from_fn(|_| ", "slots[]"),
            ("let all = vec![", "all[]"),
            ("let counter = Counter(", "counter"),
            ("let pair = Arc::new((", "pair"),
        ] {
            assert_eq!(made(text).as_deref(), Some(name), "{text}");
        }
        for text in
            ["let p = AtomicPtr::new(Box::into_raw(", "", "f(1, ", "return ", "x == ", "Some(Node::", "let _ = "]
        {
            assert_eq!(made(text), None, "{text}");
        }
    }
}
