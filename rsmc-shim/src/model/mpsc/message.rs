//! Messages as reports show them.

use std::any::type_name;
use std::mem::size_of;

use rsmc_core::trace::Message;

/// The message, if it is a number, a truth value or a character; all others are unknown, since their types may have
/// nothing that shows them.
pub(super) fn shown<T>(message: &T) -> Message {
    let name = type_name::<T>();
    match name {
        "u8" => copied(message).map(|number: u8| Message::Unsigned(number.into())),
        "u16" => copied(message).map(|number: u16| Message::Unsigned(number.into())),
        "u32" => copied(message).map(|number: u32| Message::Unsigned(number.into())),
        "u64" => copied(message).map(Message::Unsigned),
        "usize" => copied(message).map(|number: usize| Message::Unsigned(number as u64)),
        "i8" => copied(message).map(|number: i8| Message::Signed(number.into())),
        "i16" => copied(message).map(|number: i16| Message::Signed(number.into())),
        "i32" => copied(message).map(|number: i32| Message::Signed(number.into())),
        "i64" => copied(message).map(Message::Signed),
        "isize" => copied(message).map(|number: isize| Message::Signed(number as i64)),
        "bool" => copied(message).map(Message::Bool),
        "char" => copied(message).map(Message::Char),
        _ => None,
    }
    .unwrap_or(Message::Unknown)
}

/// The value as one of type `U`, if that is its type.
fn copied<T, U: Copy>(value: &T) -> Option<U> {
    let is_same = type_name::<T>() == type_name::<U>() && size_of::<T>() == size_of::<U>();
    // SAFETY: `U` is a primitive type, and no other type has its name: names of all others have a path.
    is_same.then(|| unsafe { std::ptr::from_ref(value).cast::<U>().read() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(non_camel_case_types, reason = "a type that could be taken for a primitive one")]
    #[derive(Clone, Copy)]
    struct u64(#[allow(dead_code, reason = "it has the size of the other")] std::primitive::u64);

    #[test]
    fn only_primitive_values_are_shown() {
        assert_eq!(shown(&7_u8), Message::Unsigned(7));
        assert_eq!(shown(&-7_i32), Message::Signed(-7));
        assert_eq!((shown(&true), shown(&'x')), (Message::Bool(true), Message::Char('x')));
        assert_eq!(shown(&u64(7)), Message::Unknown);
        assert_eq!(
            (shown(&"text"), shown(&Some(1)), shown(&())),
            (Message::Unknown, Message::Unknown, Message::Unknown)
        );
    }
}
