//! Text of users, made harmless in a page.

use std::fmt::Display;

use serde::Serialize;

use crate::report::json::to_json;
use crate::report::text::visible;

/// The text for use as text or in quotes: `<` → `&lt;`. Control characters are no part of HTML; they are spelt, as in
/// [`visible`].
pub fn escape(text: impl Display) -> String {
    let mut escaped = String::new();
    for c in visible(&text.to_string()).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// JSON for a `script` element: nothing in it ends the element, or begins a comment.
pub(super) fn script_json(data: &impl Serialize) -> String {
    to_json(data).replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_html_reads() {
        let escaped = "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;amp;\\u{7}\\u{202e}";
        assert_eq!(escape("<a b='c' d=\"e\">&amp;\u{7}\u{202e}"), escaped);
        let json = script_json(&"</script><!-- & \"");
        assert_eq!(json, r#""\u003c/script\u003e\u003c!-- \u0026 \"""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), "</script><!-- & \"");
    }
}
