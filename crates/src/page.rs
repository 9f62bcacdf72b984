//! The page `docs/crates.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::list::{Checker, Crate, List};
use crate::results::{CrateResult, Ended, Outcome, Results, TestResult};
use crate::{Error, here};

const HEAD: &str = "\
# Loom suites of published crates

The loom suites of published crates, unchanged, under loom and under rsmc. Only their manifests differ:
`[patch.crates-io]` puts rsmc-loom in loom's place, and dev-dependencies that a suite does not use are left out.
Each test runs in a process of its own, in release mode, with the bounds that the crate's own CI sets for loom.

This page is written by

```sh
cargo run --release --manifest-path crates/Cargo.toml                    # every crate: some hours
cargo run --release --manifest-path crates/Cargo.toml -- parking st3     # some of them
```

from `crates/crates.toml` and `crates/results.toml`. rsmc's figures are of 2026-11-30 or 2026-12-01, and loom's of
these days or of 2026-11-25, with limits of 2 to 20 s. Others used the machine at the same time, so seconds say little.

*Unfinished* is a test that its checker had not finished within the limit of time that the crate's section says.
rsmc has the same limit for each model of a test. *Executions* are those of all models in a test; loom does not
print their number for tests that make a `Builder` of their own. Of an unfinished test they are those that were done
in time. *Seconds* are those of the processor. rsmc explores classes of executions under C11, with the same bound on
preemptions. Tests that are `#[ignore]`d do not run.

The published packages of these crates have no suite for loom: arc-swap, async-broadcast, atomic-waker,
crossbeam-utils, flume, kanal, once_cell, spin, try-lock, want. crossbeam-utils has loom's types only for those that
depend on it. These have one that does not run here. With loom these do not compile either: lfqueue, nolock,
nure-queue, parcoll, ph-eventing, read-write-store, rust-tango, smr-swap, swmr-cell, waitx. nuclei and kovan (which
uses shuttle) need a newer Rust, and tokio_rcu a nightly one. arcstr and ptab assert that an atomic has the size of
its value, which is so in loom by chance. char_str's tests have a global allocator of their own, which `rsmc-loom`
allows without its feature `allocator` only.

";

/// Writes the page.
pub fn write(list: &List, results: &Results) -> Result<(), Error> {
    Ok(fs::write(file(), text(list, results)?)?)
}

fn file() -> PathBuf {
    here().join("../docs/crates.md")
}

fn text(list: &List, results: &Results) -> Result<String, Error> {
    let mut page = HEAD.to_owned();
    let found: Vec<(&Crate, &CrateResult)> =
        list.crates.iter().filter_map(|one| Some((one, results.crates.get(&one.name)?))).collect();
    bugs(&mut page, &found)?;
    overview(&mut page, &found)?;
    for (one, result) in found {
        section(&mut page, one, result)?;
    }
    Ok(page)
}

/// The bugs of the crates that rsmc has found.
fn bugs(page: &mut String, found: &[(&Crate, &CrateResult)]) -> Result<(), Error> {
    page.push_str("The failures under rsmc that are bugs of the crates:\n\n");
    for (one, _) in found {
        for explained in one.explained.iter().filter(|explained| !explained.bug.is_empty()) {
            writeln!(page, "- [{} {}](#{}): {}", one.name, one.version, anchor(one), explained.bug)?;
        }
    }
    page.push('\n');
    Ok(())
}

fn overview(page: &mut String, found: &[(&Crate, &CrateResult)]) -> Result<(), Error> {
    page.push_str(
        "| crate | tests | loom: passed | failed | unfinished | seconds | rsmc: passed | failed | unfinished | seconds \
         |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut all = Vec::new();
    for (one, result) in found {
        let tests: Vec<&TestResult> = result.tests.iter().collect();
        let name = format!("[{} {}](#{})", one.name, one.version, anchor(one));
        line(page, &name, &tests)?;
        all.extend(tests);
    }
    line(page, "all", &all)
}

fn line(page: &mut String, name: &str, tests: &[&TestResult]) -> Result<(), Error> {
    write!(page, "| {name} | {} |", tests.len())?;
    for checker in [Checker::Loom, Checker::Rsmc] {
        let ended: Vec<&Ended> = tests.iter().filter_map(|test| test.get(checker)).collect();
        let count = |outcome| ended.iter().filter(|ended| ended.outcome == outcome).count();
        if ended.is_empty() {
            page.push_str(" – | – | – | – |");
            continue;
        }
        let [passed, failed, unfinished] = [Outcome::Passed, Outcome::Failed, Outcome::Unfinished].map(count);
        let time: f64 = ended.iter().map(|ended| ended.seconds).sum();
        write!(page, " {passed} | {failed} | {unfinished} | {time:.1} |")?;
    }
    page.push('\n');
    Ok(())
}

/// The anchor of the heading of a crate.
fn anchor(one: &Crate) -> String {
    format!("{} {}", one.name, one.version).replace('.', "").replace(' ', "-")
}

fn section(page: &mut String, one: &Crate, result: &CrateResult) -> Result<(), Error> {
    write!(page, "\n## {} {}\n\n", one.name, one.version)?;
    let targets: Vec<String> =
        one.targets.iter().map(|name| if name == "lib" { "--lib".into() } else { format!("--test {name}") }).collect();
    write!(page, "`cargo test --release {}", targets.join(" "))?;
    if !one.features.is_empty() {
        write!(page, " --features {}", one.features.join(","))?;
    }
    let flags: Vec<String> = one.cfgs.iter().map(|cfg| format!("--cfg {cfg}")).collect();
    write!(page, "` with `RUSTFLAGS=\"{}\"`", flags.join(" "))?;
    if one.debug_assertions {
        page.push_str(", debug assertions");
    }
    for (name, value) in &one.env {
        write!(page, " `{name}={value}`")?;
    }
    write!(page, "; at most {} s for a test", result.limit)?;
    page.push_str(
        ".\n\n| test | loom | executions | seconds | rsmc | executions | seconds |\n\
         | --- | --- | ---: | ---: | --- | ---: | ---: |\n",
    );
    for test in &result.tests {
        write!(page, "| `{}` |", test.name)?;
        for checker in [Checker::Loom, Checker::Rsmc] {
            cells(page, test.get(checker))?;
        }
        page.push('\n');
    }
    if !one.note.is_empty() {
        write!(page, "\n{}\n", one.note.trim())?;
    }
    explanations(page, one, result)
}

fn cells(page: &mut String, ended: Option<&Ended>) -> Result<(), Error> {
    let Some(ended) = ended else {
        page.push_str(" – | – | – |");
        return Ok(());
    };
    let kind = ended.kind.as_ref().map(|kind| format!(": {kind}")).unwrap_or_default();
    let executions = ended.executions.map_or_else(|| "–".to_owned(), grouped);
    write!(page, " {}{kind} | {executions} | {:.2} |", ended.outcome.word(), ended.seconds)?;
    Ok(())
}

/// Explanations of failures; a failure that has none is named.
fn explanations(page: &mut String, one: &Crate, result: &CrateResult) -> Result<(), Error> {
    for explained in &one.explained {
        let under = explained.under.map_or_else(|| "both".to_owned(), |checker| checker.to_string());
        let names: Vec<String> = explained.tests.iter().map(|test| format!("`{test}`")).collect();
        write!(page, "\n**Under {under}**, {}: {}\n", names.join(", "), explained.text.trim())?;
    }
    for test in &result.tests {
        for checker in [Checker::Loom, Checker::Rsmc] {
            let is_failed = test.get(checker).is_some_and(|ended| ended.outcome.is_failed());
            if is_failed && one.explanation(&test.name, checker).is_none() {
                write!(page, "\n**Under {checker}**, `{}`: not explained yet.\n", test.name)?;
            }
        }
    }
    Ok(())
}

/// A number with commas between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_the_list_and_the_results() {
        let page = text(&List::read().unwrap(), &Results::read().unwrap()).unwrap();
        assert!(fs::read_to_string(file()).unwrap() == page, "docs/crates.md is not up to date: run this with --page");
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!([7, 1_234, 123_456, 1_234_567].map(grouped), ["7", "1,234", "123,456", "1,234,567"]);
    }
}
