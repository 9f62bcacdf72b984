//! What must hold of the figures.

use std::fmt::Write;

/// Something that must hold, with what was measured.
pub struct Promise {
    /// The page with the details, without `.md`.
    pub page: &'static str,
    /// What was promised.
    pub what: String,
    /// What was found.
    pub measured: String,
    /// Whether that is enough.
    pub holds: bool,
}

/// As a table.
pub fn table(promises: &[Promise]) -> String {
    let mut text = "| promise | measured | holds | page |\n| --- | --- | --- | --- |\n".to_owned();
    for Promise { page, what, measured, holds } in promises {
        let holds = if *holds { "yes" } else { "**no**" };
        writeln!(text, "| {what} | {measured} | {holds} | [{page}]({page}.md) |").expect("a string grows");
    }
    text
}
