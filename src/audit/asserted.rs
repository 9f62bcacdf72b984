//! `#[rsmc::audit]`: a test's assertion that its orderings are no stronger than it can tell, but for those of a list.
//!
//! An entry of the list is text of the source: a file, maybe a function, and a call in it. So it is right wherever the
//! lines move, and it is looked at again where the call changes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use rsmc_core::report::{Call, Sources, visible, wrap};

use crate::audit::{Audit, AuditedOrdering, LONGEST, position, text};

/// The assertion of a test.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Assertion<'a> {
    /// The time that the audit may take, if it is not the usual one.
    pub within: Option<Duration>,
    /// The calls whose orderings may be stronger than needed: `src/queue.rs: push: self.tail.store(tail, SeqCst)`.
    pub allow: &'a [&'a str],
}

/// An ordering, and where it is in the source.
struct Found<'a> {
    ordering: &'a AuditedOrdering,
    file: &'a str,
    /// The call, if the file can be read.
    call: Option<Call>,
}

/// An entry of the list, in its parts.
struct Entry<'a> {
    text: &'a str,
    /// The end of the path.
    file: &'a str,
    function: Option<&'a str>,
    code: &'a str,
}

impl Assertion<'_> {
    /// The time that the audit may take.
    pub(crate) fn longest(&self) -> Duration {
        self.within.unwrap_or(LONGEST)
    }

    /// The text about what does not hold of an audit that could take so long; `None` if all does.
    pub(crate) fn complaint(&self, audit: &Audit, longest: Duration, sources: Sources<'_>) -> Option<String> {
        if let Some(why) = &audit.failure {
            return Some(format!("no audit of a check that does not verify: {why}"));
        }
        let found = found(audit, sources);
        let entries: Vec<Entry<'_>> = self.allow.iter().map(|text| Entry::new(text)).collect();
        let is_listed = |one: &Found<'_>| entries.iter().any(|entry| entry.lists(one));
        let unlisted: Vec<_> = found.iter().filter(|one| !one.ordering.is_minimal() && !is_listed(one)).collect();
        let useless = entries.iter().filter_map(|entry| Some((entry.text, entry.is_useless(&found, audit)?)));
        let parts = [too_strong(&unlisted, &audit.orderings), useless_entries(useless.collect()), late(audit, longest)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("\n"))
    }
}

fn found<'a>(audit: &'a Audit, sources: Sources<'_>) -> Vec<Found<'a>> {
    let mut files: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let mut find = |ordering: &'a AuditedOrdering| {
        let (file, line, column) = position(&ordering.place);
        let text = files.entry(file).or_insert_with(|| (sources.0)(file));
        Found { ordering, file, call: text.as_deref().and_then(|text| Call::at(text, line, column)) }
    };
    audit.orderings.iter().map(&mut find).collect()
}

impl Found<'_> {
    /// The entry that lists it.
    fn entry(&self) -> Option<String> {
        let Call { function, code } = self.call.as_ref()?;
        // The folder of a dependency is another one elsewhere.
        let src = self.file.rfind("/src/").filter(|_| Path::new(self.file).is_absolute());
        let file = src.map_or(self.file, |at| &self.file[at + 1..]);
        let function = function.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        Some(format!("{file}: {function}{code}"))
    }
}

impl<'a> Entry<'a> {
    fn new(text: &'a str) -> Self {
        let (file, rest) = text.split_once(": ").unwrap_or((text, ""));
        let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let (function, code) = match rest.split_once(": ") {
            Some((name, code)) if is_name(name.trim()) => (Some(name.trim()), code),
            _ => (None, rest),
        };
        Self { text, file: file.trim(), function, code }
    }

    fn lists(&self, one: &Found<'_>) -> bool {
        let is_around = |call: &Call| self.function.is_none() || call.function.as_deref() == self.function;
        let is_call = |call: &Call| is_around(call) && call.is(self.code);
        Path::new(one.file).ends_with(self.file) && one.call.as_ref().is_some_and(is_call)
    }

    /// The reason why it lists nothing, if it does not.
    fn is_useless(&self, found: &[Found<'_>], audit: &Audit) -> Option<&'static str> {
        let mut listed = found.iter().filter(|one| self.lists(one)).peekable();
        if listed.peek().is_none() {
            let is_unread = |one: &Found<'_>| Path::new(one.file).ends_with(self.file) && one.call.is_none();
            return Some(match found.iter().any(is_unread) {
                true => "the source of a call in this file cannot be read here",
                false => "the test performs no such call with an ordering stronger than `Relaxed`",
            });
        }
        // What was not tried counts as needed.
        let is_needed = audit.is_complete && listed.all(|one| one.ordering.is_minimal());
        is_needed.then_some("its ordering is needed as written")
    }
}

/// The orderings that are too strong or not exercised, and what to do about them.
fn too_strong(unlisted: &[&Found<'_>], all: &[AuditedOrdering]) -> Option<String> {
    if unlisted.is_empty() {
        return None;
    }
    let (number, are) = (unlisted.len(), if unlisted.len() == 1 { "is" } else { "are" });
    let mut text = format!("{number} of {} orderings {are} stronger than this test can tell\n", all.len());
    for one in unlisted {
        text.push('\n');
        let _ = text::one(one.ordering, all, &mut text);
    }
    let what = "Write what is enough, add a check that needs more, or list the calls, with the reason for them:";
    let _ = writeln!(text, "\n{}\n", wrap(what, ""));
    let mut entries: Vec<String> = unlisted.iter().filter_map(|one| one.entry()).collect();
    entries.dedup();
    let unread = entries.is_empty();
    text += "    #[rsmc::audit(allow = [\n";
    entries.iter().for_each(|entry| text += &format!("        {entry:?},\n"));
    text += if unread { "        \"<file>: <function>: <call>\",\n    ])]\n" } else { "    ])]\n" };
    Some(visible(&text))
}

fn useless_entries(entries: Vec<(&str, &str)>) -> Option<String> {
    let line = |(entry, why): (&str, &str)| format!("  {entry:?}\n    {why}\n");
    let lines: String = entries.into_iter().map(line).collect();
    (!lines.is_empty()).then(|| visible(&format!("`allow` has entries that allow nothing: remove them\n{lines}")))
}

fn late(audit: &Audit, longest: Duration) -> Option<String> {
    let text = format!(
        "the audit is not complete after {longest:?}, so it shows nothing of the orderings that it has not tried; \
         `within = \"5m\"` gives it more time, and RSMC_RESUME=1 goes on where it stopped"
    );
    (!audit.is_complete).then(|| wrap(&text, "  ") + "\n")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::{self, Relaxed, SeqCst};

    use super::*;

    const FILE: &str = "\
fn push(&self) {
    self.head.store(1, SeqCst);
    self.tail.swap(1, SeqCst);
}
fn pop(&self) {
    self.head
        .store(1, SeqCst);
}
";

    fn one(place: &str, alone: Ordering) -> AuditedOrdering {
        let (place, operation) = (place.to_owned(), "store");
        AuditedOrdering {
            place,
            operation,
            is_failure: false,
            written: SeqCst,
            is_exercised: true,
            alone,
            together: alone,
            pairs: Vec::new(),
            needed: None,
        }
    }

    /// The orderings of the file: the second is needed.
    fn audit() -> Audit {
        let places = [("q/src/a.rs:2:15", Relaxed), ("q/src/a.rs:3:15", SeqCst), ("q/src/a.rs:7:10", Relaxed)];
        let orderings = places.map(|(place, alone)| one(place, alone)).to_vec();
        Audit {
            orderings,
            together: Vec::new(),
            checks: 1,
            is_complete: true,
            failure: None,
            notes: Vec::new(),
            test: None,
        }
    }

    fn complaint(allow: &[&str], audit: &Audit) -> Option<String> {
        let assertion = Assertion { within: None, allow };
        assertion.complaint(
            audit,
            assertion.longest(),
            Sources(&|file| (file == "q/src/a.rs").then(|| FILE.to_owned())),
        )
    }

    #[test]
    fn what_is_too_strong_is_listed_by_its_call() {
        for allow in [
            &["src/a.rs: push: self.head.store(1, SeqCst)", "q/src/a.rs: pop: self.head.store(1,SeqCst)"][..],
            &["a.rs: self.head.store(1, SeqCst)"],
        ] {
            assert_eq!(complaint(allow, &audit()), None);
        }
        let text = complaint(&["a.rs: pop: self.head.store(1, SeqCst)"], &audit()).unwrap();
        assert!(
            text.starts_with("1 of 3 orderings is stronger than this test can tell\n\nq/src/a.rs:2:15  store"),
            "{text}"
        );
        assert!(text.contains("  too strong: Relaxed is enough\n"), "{text}");
        let entry = "    #[rsmc::audit(allow = [\n        \"q/src/a.rs: push: self.head.store(1, SeqCst)\",\n    ])]\n";
        assert!(text.ends_with(entry), "{text}");
        let both = complaint(&[], &audit()).unwrap();
        assert!(both.starts_with("2 of 3 orderings are stronger") && both.contains("pop: self.head.store(1"), "{both}");
    }

    #[test]
    fn entries_that_list_nothing_are_errors() {
        let all = ["a.rs: self.head.store(1, SeqCst)"];
        for (entry, why) in [
            ("src/a.rs: push: self.tail.swap(1, SeqCst)", "its ordering is needed as written"),
            ("a.rs: pop: self.tail.swap(1, SeqCst)", "the test performs no such call with"),
            ("rc/a.rs: self.head.store(1, SeqCst)", "the test performs no such call with"),
            ("a.rs: self.head.store(1, Release)", "the test performs no such call with"),
        ] {
            let text = complaint(&[all[0], entry], &audit()).unwrap();
            let first = format!("`allow` has entries that allow nothing: remove them\n  {entry:?}\n    {why}");
            assert!(text.starts_with(&first), "{text}");
        }
    }

    #[test]
    fn an_audit_that_is_not_complete_shows_nothing() {
        let needed = "a.rs: self.tail.swap(1, SeqCst)";
        let text = complaint(&["a.rs: self.head.store(1, SeqCst)", needed], &Audit { is_complete: false, ..audit() });
        assert!(text.unwrap().starts_with("the audit is not complete after 60s, "));
        let failure = Some("it fails".to_owned());
        let text = complaint(&[], &Audit { failure, ..audit() }).unwrap();
        assert_eq!(text, "no audit of a check that does not verify: it fails");
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let mut audit = audit();
        audit.orderings = vec![one("/home/x/src/other.rs:1:1", Relaxed)];
        let text = complaint(&["src/other.rs: x.store(1, SeqCst)"], &audit).unwrap();
        assert!(text.contains("the source of a call in this file cannot be read here"), "{text}");
        assert!(text.contains("\"<file>: <function>: <call>\""), "{text}");
    }
}
