//! An audit as a page for a browser, in the style of the pages of failures: one file, which fetches nothing.

use std::collections::BTreeMap;

use rsmc_core::report::{Sources, escape, page};

use crate::audit::cost::{Saving, savings};
use crate::audit::merged::Tests;
use crate::audit::text::{self, INCOMPLETE, NO_DIFFERENCE};
use crate::audit::{Audit, AuditedOrdering, position};

/// The number of lines that are shown before and after that of an ordering.
const AROUND: usize = 2;
/// The length at which lines are cut.
const WIDTH: usize = 160;

/// The page. `tests` is there for an audit of several tests.
pub(super) fn html(audit: &Audit, tests: Option<Tests>, sources: Sources<'_>) -> String {
    let name = audit.test.as_deref().map_or_else(|| "orderings".to_owned(), |test| format!("orderings of {test}"));
    let orderings = if audit.failure.is_none() { &audit.orderings[..] } else { &[] };
    let saved = savings(orderings);
    let mut files: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let mut articles = String::new();
    for (number, ordering) in orderings.iter().enumerate() {
        let file = position(&ordering.place).0;
        let text = files.entry(file).or_insert_with(|| (sources.0)(file)).as_deref();
        articles += &one(number, orderings, text, saved_at(&saved, ordering));
    }
    let body = format!("{}<main>\n{}{articles}</main>\n", header(audit, tests), overview(orderings, &saved));
    page(&format!("audit: {name}"), include_str!("page.css"), &body)
}

/// The summary, and the command with all that is weaker.
fn header(audit: &Audit, tests: Option<Tests>) -> String {
    let mut facts = vec![("checks", audit.checks.to_string())];
    match tests {
        Some(tests) => facts.insert(0, ("tests", tests.to_string())),
        None => facts.insert(0, ("test", audit.test.clone().unwrap_or_else(|| "–".to_owned()))),
    }
    let facts = facts.iter().map(|(name, value)| format!("<div><dt>{name}</dt><dd>{}</dd></div>", escape(value)));
    let is_told = audit.failure.is_none();
    let notes = [
        (is_told && !audit.is_complete).then_some(INCOMPLETE),
        (is_told && text::makes_no_difference(audit)).then_some(NO_DIFFERENCE),
    ];
    let others = audit.notes.iter().map(String::as_str);
    let notes =
        notes.into_iter().flatten().chain(others).map(|note| format!("<p class=\"note\">{}</p>\n", escape(note)));
    let together = text::together(audit).map(|it| command("the check verifies with all that is weaker together", &it));
    format!(
        "<header>\n<p class=\"kind\">audit of orderings</p>\n<h1>{}</h1>\n<dl class=\"facts\">{}</dl>\n{}{}</header>\n",
        escape(text::summary(audit)),
        facts.collect::<String>(),
        notes.collect::<String>(),
        together.unwrap_or_default()
    )
}

/// A table of all orderings, with links to them.
fn overview(orderings: &[AuditedOrdering], saved: &[Saving<'_>]) -> String {
    if orderings.is_empty() {
        return String::new();
    }
    let row = |(number, ordering): (usize, &AuditedOrdering)| {
        let saving = saved_at(saved, ordering).map(Saving::changes).unwrap_or_default();
        let class = class(ordering);
        format!(
            "<tr class=\"{class}\"><td><a href=\"#o{number}\">{}</a></td><td>{}</td><td class=\"verdict\">{}</td>\
             <td>{:?}</td><td>{:?}</td><td>{}</td></tr>\n",
            escape(&ordering.place),
            escape(text::title(ordering)),
            ordering.standing().name(),
            ordering.alone,
            ordering.together,
            escape(saving)
        )
    };
    format!(
        "<div class=\"scroll\"><table class=\"overview\">\n<tr><th>place</th><th>written</th><th>verdict</th>\
         <th>enough alone</th><th>together</th><th>saves</th></tr>\n{}</table></div>\n",
        orderings.iter().enumerate().map(row).collect::<String>()
    )
}

/// One of all orderings with its lines of the source, its verdict, and what fails with a weaker one.
fn one(number: usize, all: &[AuditedOrdering], file: Option<&str>, saving: Option<&Saving<'_>>) -> String {
    let ordering = &all[number];
    let paragraph = |class: &str, text: String| format!("<p{class}>{}</p>\n", escape(text));
    let verdict = text::verdict(ordering).map(|verdict| paragraph("", verdict)).unwrap_or_default();
    let needed = ordering.needed.as_ref().map(|needed| {
        let reason = paragraph("", text::reason(ordering, needed));
        reason + &command("this shows it", &text::replay(needed))
    });
    let comment = ordering.comment().map(|comment| command("a comment for it", &comment));
    let pairs = text::pairs(ordering, all).map(|pairs| paragraph("", pairs)).unwrap_or_default();
    let saving = saving.map(|saving| paragraph(" class=\"note\"", format!("together: {}", saving.changes())));
    format!(
        "<article class=\"{}\" id=\"o{number}\">\n<h2><span class=\"verdict\">{}</span> {} <span class=\"place\">{}</span>\
         </h2>\n{}{verdict}{pairs}{}{}{}</article>\n",
        class(ordering),
        ordering.standing().name(),
        escape(text::title(ordering)),
        escape(&ordering.place),
        file.and_then(|file| excerpt(ordering, file)).unwrap_or_default(),
        needed.unwrap_or_default(),
        comment.unwrap_or_default(),
        saving.unwrap_or_default()
    )
}

fn command(what: &str, command: &str) -> String {
    format!("<div class=\"replay\"><span>{}</span><code>{}</code></div>\n", escape(what), escape(command))
}

/// `too strong` → `too-strong`
fn class(ordering: &AuditedOrdering) -> String {
    ordering.standing().name().replace(' ', "-")
}

/// The saving at the place of an ordering; it is shown with one of two orderings of a place.
fn saved_at<'s, 'a>(saved: &'s [Saving<'a>], ordering: &AuditedOrdering) -> Option<&'s Saving<'a>> {
    saved.iter().find(|saving| saving.is_of(ordering))
}

/// The lines around a place, with the name of the operation marked.
fn excerpt(ordering: &AuditedOrdering, text: &str) -> Option<String> {
    let (_, line, column) = position(&ordering.place);
    let (at, column) = ((line as usize).checked_sub(1)?, (column as usize).checked_sub(1)?);
    let lines: Vec<&str> = text.lines().collect();
    lines.get(at)?;
    let shown = at.saturating_sub(AROUND)..lines.len().min(at + AROUND + 1);
    let filled = lines[shown.clone()].iter().filter(|line| !line.trim().is_empty());
    let indent = filled.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let row = |number: usize| {
        let (before, name, after) = match lines[number].chars().collect::<Vec<char>>() {
            line if number == at => marked(&line, indent, column),
            line => (part(&line, indent, line.len()), String::new(), String::new()),
        };
        let class = if number == at { " class=\"line\"" } else { "" };
        let mark = if name.is_empty() { name } else { format!("<b>{name}</b>") };
        format!("<div{class}><span class=\"digits\">{}</span>{before}{mark}{after}</div>", number + 1)
    };
    Some(format!("<div class=\"excerpt\">{}</div>\n", shown.map(row).collect::<String>()))
}

/// A line in three parts, the second of which is the name at a column.
fn marked(line: &[char], indent: usize, column: usize) -> (String, String, String) {
    let is_name = |c: &&char| c.is_alphanumeric() || matches!(**c, '_' | ':' | '!');
    let column = column.min(line.len());
    let end = column + line[column..].iter().take_while(is_name).count();
    (part(line, indent, column), part(line, column, end), part(line, end, line.len()))
}

/// Some characters of a line, made harmless, as far as a line is shown.
fn part(line: &[char], begin: usize, end: usize) -> String {
    let (begin, end) = (begin.min(line.len()), end.min(WIDTH).min(line.len()));
    let text: String = line[begin.min(end)..end].iter().collect();
    escape(text.replace('\t', "    "))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::{Relaxed, SeqCst};

    use rsmc_core::session::FailureKind;

    use crate::audit::Needed;

    use super::*;

    /// An audit with text that looks like HTML wherever a user's text is.
    fn hostile() -> Audit {
        let place = "src/<a>.rs:3:7".to_owned();
        let weakened = vec![format!("{place}=Relaxed").parse().unwrap()];
        let (message, test) = ("</p><script>\"&\u{7}".to_owned(), Some("tests::<t>".to_owned()));
        let seed = "rsmc3-PmfoNc5GnBYITeVY".parse().unwrap();
        let needed = Needed { weakened, kind: FailureKind::Panic, message, seed, scenario: None, test: test.clone() };
        let ordering = AuditedOrdering {
            place,
            operation: "store",
            is_failure: false,
            written: SeqCst,
            is_exercised: true,
            alone: SeqCst,
            together: SeqCst,
            pairs: vec!["src/<a>.rs:4:1".to_owned()],
            needed: Some(needed),
        };
        let weaker = AuditedOrdering { alone: Relaxed, together: Relaxed, ..ordering.clone() };
        let together = vec!["src/<a>.rs:3:7=Relaxed".parse().unwrap()];
        let orderings = vec![ordering, weaker];
        Audit { orderings, together, checks: 3, is_complete: false, failure: None, notes: Vec::new(), test }
    }

    const FILE: &str = "fn f() {\n\n    x<>.store(\"<i>\");\n}\n";

    #[test]
    fn nothing_of_a_user_is_read_as_html() {
        let text = html(&hostile(), None, Sources(&|file| (file == "src/<a>.rs").then(|| FILE.to_owned())));
        let all = ["<a>", "<t>", "<script", "<>", "<i>", "\u{7}"];
        assert_eq!(all.map(|what| text.contains(what)), [false; 6], "{text}");
        for shown in [
            "<h1>2 orderings are stronger than Relaxed: 1 needed as written, 1 too strong, 0 not exercised</h1>",
            "<p class=\"note\">not complete: the time was over;",
            "<dd>tests::&lt;t&gt;</dd>",
            "<article class=\"needed\" id=\"o0\">\n<h2><span class=\"verdict\">needed</span> store: SeqCst",
            "<article class=\"too-strong\" id=\"o1\">",
            "<p>with Relaxed it fails: &lt;/p&gt;&lt;script&gt;&quot;&amp;\\u{7}</p>",
            "<p>too strong: Relaxed is enough</p>",
            "<p>pairs with src/&lt;a&gt;.rs:4:1</p>",
            "RSMC_REPLAY=rsmc3-PmfoNc5GnBYITeVY cargo test tests::&lt;t&gt; -- --exact</code>",
            "x86-64 mov in place of xchg",
        ] {
            assert!(text.contains(shown), "{shown} is not in\n{text}");
        }
    }

    #[test]
    fn the_lines_around_a_place_are_shown() {
        let at = |place: &str| {
            let ordering = AuditedOrdering { place: place.to_owned(), ..hostile().orderings[0].clone() };
            excerpt(&ordering, FILE)
        };
        let row = |number: u32, text: &str| format!("<div><span class=\"digits\">{number}</span>{text}</div>");
        let marked = "<div class=\"line\"><span class=\"digits\">3</span>    x&lt;&gt;.<b>store</b>(&quot;&lt;i&gt;&quot;);</div>";
        let rows = [row(1, "fn f() {"), row(2, ""), marked.to_owned(), row(4, "}")].concat();
        assert_eq!(at("a.rs:3:9"), Some(format!("<div class=\"excerpt\">{rows}</div>\n")));
        assert_eq!([at("a.rs:0:1"), at("a.rs:5:1"), at("a.rs")], [None, None, None]);
        assert!(at("a.rs:3:999").unwrap().contains("(&quot;&lt;i&gt;&quot;);</div>"));
    }

    #[test]
    fn what_was_not_audited_has_a_reason() {
        let audit = Audit { failure: Some("it fails as it is: <b>".to_owned()), ..hostile() };
        let text = html(&audit, None, Sources::NONE);
        assert!(
            text.contains("<h1>no audit of a check that does not verify: it fails as it is: &lt;b&gt;</h1>"),
            "{text}"
        );
        assert!(!text.contains("<table"), "{text}");
    }
}
