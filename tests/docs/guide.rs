//! The chapters of `docs/guide`: every program in them is compiled here, and every report is what its program prints.

use std::process::Command;

use rsmc::sync::atomic::Ordering::SeqCst;
use rsmc::{Config, Explorer, MemoryModel, Verdict};

use super::{assert_shown, blocks, file, has_lines, seed, source};

mod classes;
mod counter;
mod counter_fixed;
mod counter_of_std;
mod freed;
mod inbox;
mod inbox_lost;
mod inbox_relaxed;
mod letterbox;
mod letterbox_minimal;
mod letters;
mod livelock;
mod lost;
mod lost_fixed;
mod lost_wake;
mod lost_wake_fixed;
mod marks;
mod race;
mod race_fixed;
mod slot;
mod slot_attribute;
mod slot_fixed;
mod spin;
mod spin_count;
#[allow(clippy::missing_spin_loop, reason = "this is the mistake")]
mod spin_of_std;
mod spin_uncounted;
mod status;
mod tally;
mod total;
mod total_fixed;
mod two_flags;
mod unjoined;
mod unnoticed;
mod wakeup;
mod wakeup_fixed;

/// Names the program that `child` runs.
const RUN: &str = "DOCS_RUN_PROGRAM";

/// Text with the path that a file has for its reader.
fn in_a_crate(text: &str, name: &str) -> String {
    text.trim_end().replace(&format!("tests/docs/guide/{name}.rs"), "src/lib.rs")
}

/// The text that a check of a program prints. `test` is the name of its test; its program is the file `name`.
fn printed(name: &str, test: &str, config: &Config, body: fn()) -> String {
    in_a_crate(&rsmc::render(&rsmc::explore(config, body), Some(test)), name)
}

/// The text of a check with the default configuration.
fn by_default(name: &str, test: &str, body: fn()) -> String {
    printed(name, test, &Config::default(), body)
}

/// A chapter shows these programs and this text, and no others. Each block is some whole lines of one of them; of a
/// program that is a small change of another, the changed lines are enough.
#[track_caller]
fn assert_chapter(page: &str, programs: &[&str], texts: &[String]) {
    let text = file(&format!("docs/guide/{page}.md"));
    assert_shown(&blocks(&text, "text"), texts);
    let files: Vec<String> = programs.iter().map(|name| source(&format!("tests/docs/guide/{name}.rs"))).collect();
    let whole = blocks(&text, "rust");
    let changed: Vec<&str> = blocks(&text, "diff").iter().flat_map(|block| block.lines()).collect();
    for block in &whole {
        assert!(files.iter().any(|file| has_lines(file, block)), "{page}: no file has this:\n{block}");
    }
    for line in &changed {
        assert!(
            files.iter().any(|file| file.lines().any(|of_file| of_file == &line[1..])),
            "{page}: no file has {line}"
        );
    }
    for (name, file) in programs.iter().zip(&files) {
        let is_new = |line: &&str| line.starts_with('+') && file.lines().any(|of_file| of_file == &line[1..]);
        let shown = whole.iter().any(|block| has_lines(file, block)) || changed.iter().any(is_new);
        assert!(shown, "{page} does not show {name}");
    }
}

/// The lines that a process of its own prints to stderr when it runs one program.
fn of_child(name: &str, trace: bool) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["docs::guide::tests::example", "--exact", "--nocapture"]).env(RUN, name);
    if trace {
        command.env("RSMC_LOG", "trace");
    }
    let output = String::from_utf8(command.output().unwrap().stderr).unwrap();
    in_a_crate(&output.replace("docs::guide::tests::example", "example"), name)
}

mod tests {
    /// A program in a process of its own.
    #[rsmc::test(stuck_after = "1s")]
    fn example() {
        match std::env::var(super::RUN).as_deref() {
            Ok("spin_of_std") => super::spin_of_std::without_the_shim(),
            Ok("classes") => super::classes::some_letter_or_none(),
            _ => {}
        }
    }
}

#[test]
fn first_test() {
    let test = "tests::nothing_is_lost";
    let texts = [
        by_default("counter", test, counter::tests::nothing_is_lost),
        by_default("counter_fixed", test, counter_fixed::tests::nothing_is_lost),
        by_default("counter_of_std", "nothing_is_lost", counter_of_std::nothing_is_lost),
    ];
    assert_chapter("01-first-test", &["counter", "counter_fixed", "counter_of_std"], &texts);
}

#[test]
fn threads_and_operations() {
    let limit = Config::default().max_executions(1000);
    let texts = [
        by_default("unjoined", "both_names_are_listed", unjoined::both_names_are_listed),
        printed(
            "unnoticed",
            "the_list_is_not_empty",
            &Config::default().check_joins(true),
            unnoticed::the_list_is_not_empty,
        ),
        printed("marks", "the_highest_mark_stays", &limit, marks::the_highest_mark_stays),
    ];
    assert_chapter("02-threads-and-operations", &["unjoined", "unnoticed", "marks", "status"], &texts);
}

/// A number with commas.
fn number(number: u64) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

fn executions(config: &Config, body: impl Fn() + Sync) -> u64 {
    let report = rsmc::explore(config, body);
    assert!(matches!(report.verdict, Verdict::Verified), "{report}");
    report.executions
}

#[track_caller]
fn assert_rows(page: &str, rows: &[(&str, Vec<u64>)]) {
    let text = file(&format!("docs/guide/{page}.md"));
    for (first, numbers) in rows {
        let cells: Vec<String> = numbers.iter().map(|&count| number(count)).collect();
        let row = format!("| {first} | {} |", cells.join(" | "));
        assert!(text.lines().any(|line| line == row), "{page} has no row\n{row}");
    }
}

/// The sizes of tests, and what makes them smaller. Each order of the updates of one location is a class.
#[test]
fn sizes() {
    let page = "02-threads-and-operations";
    let config = Config::default;
    let orders = |threads: u64, times: u64| {
        let factorial = |n: u64| (1..=n).product::<u64>();
        factorial(threads * times) / factorial(times).pow(threads as u32)
    };
    let row = |threads| (1..=3).map(|times| orders(threads, times)).collect::<Vec<u64>>();
    for (threads, times) in [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2)] {
        let found = executions(&config(), || _ = marks::raise(threads, times));
        assert_eq!(found, orders(threads.into(), times.into()), "{threads} threads, {times} times");
    }
    assert_rows(page, &[("2", row(2)), ("3", row(3)), ("4", row(4))]);

    let ways = |config: &Config| {
        vec![executions(config, || _ = marks::raise(3, 3)), executions(config, status::nobody_is_busy_in_the_end)]
    };
    let smaller = [executions(&config(), || _ = marks::raise(2, 3)), executions(&config(), || status::look(2, 2, 3))];
    let rows = [
        ("the test as it is", ways(&config())),
        ("one thread less", smaller.to_vec()),
        ("`preemption_bound = 1`", ways(&config().preemption_bound(1))),
        ("`preemption_bound = 0`", ways(&config().preemption_bound(0))),
        ("`explorer = \"view\"`", ways(&config().explorer(Explorer::View))),
    ];
    assert_rows(page, &rows);
}

#[test]
fn outcomes() {
    rsmc::outcomes(&Config::default(), || two_flags::look(SeqCst)).always("one sees the other", |&(a, b)| a || b);
    let failing = std::panic::catch_unwind(two_flags::one_sees_the_other).unwrap_err();
    let message = failing.downcast_ref::<String>().unwrap().clone();
    let table = rsmc::outcomes(&Config::default(), letters::mailbox).to_string();
    assert_chapter("03-outcomes", &["letters", "two_flags"], &[message, table]);
}

#[test]
fn races_and_cells() {
    let texts = [
        by_default("race", "the_value_arrives", race::the_value_arrives),
        by_default("race_fixed", "the_value_arrives", race_fixed::the_value_arrives),
    ];
    let under_sc = rsmc::explore(&Config::default().memory(MemoryModel::Sc), race::the_value_arrives);
    assert!(matches!(under_sc.verdict, Verdict::Failed(_)), "{under_sc}");
    assert_chapter("04-races-and-cells", &["race", "race_fixed"], &texts);
}

#[test]
fn waiting() {
    let texts = [
        by_default("spin", "without_a_hint", spin::without_a_hint),
        by_default("spin_count", "rounds_are_counted", spin_count::rounds_are_counted),
        by_default("livelock", "both_get_the_lock", livelock::both_get_the_lock),
        by_default("wakeup", "the_waiter_wakes_up", wakeup::the_waiter_wakes_up),
        by_default("wakeup_fixed", "the_waiter_wakes_up", wakeup_fixed::the_waiter_wakes_up),
        of_child("spin_of_std", false),
        by_default("spin_uncounted", "rounds_are_counted", spin_uncounted::rounds_are_counted),
    ];
    let programs = ["spin", "spin_count", "spin_uncounted", "livelock", "wakeup", "wakeup_fixed", "spin_of_std"];
    assert_chapter("05-waiting", &programs, &texts);
}

#[test]
fn allocation() {
    let texts = [
        by_default("freed", "a_reader_and_a_writer", freed::a_reader_and_a_writer),
        by_default("lost", "the_last_letter_counts", lost::the_last_letter_counts),
        by_default("lost_fixed", "the_last_letter_counts", lost_fixed::the_last_letter_counts),
    ];
    assert_chapter("06-allocation", &["freed", "lost", "lost_fixed"], &texts);
}

#[test]
fn tasks() {
    let texts = [
        by_default("lost_wake", "the_task_ends", lost_wake::the_task_ends),
        by_default("lost_wake_fixed", "the_task_ends", lost_wake_fixed::the_task_ends),
    ];
    assert_chapter("07-async", &["lost_wake", "lost_wake_fixed"], &texts);
}

/// A seed that is pinned: before the mistake is mended, and after that.
#[test]
fn continuous_integration() {
    let pinned = |body| Config::default().pin(seed(body));
    let texts = [
        printed("race", "the_value_arrives", &pinned(race::the_value_arrives), race::the_value_arrives),
        printed("race_fixed", "the_value_arrives", &pinned(race::the_value_arrives), race_fixed::the_value_arrives),
    ];
    let attribute = format!("replay = \"{}\"", seed(race::the_value_arrives));
    assert!(file("tests/docs/guide/race_fixed.rs").contains(&attribute), "{attribute}");
    assert_chapter("08-ci", &["race_fixed"], &texts);
}

#[test]
fn lock_free_structure() {
    let test = "tests::every_letter_is_taken_once";
    let texts = [
        by_default("inbox_lost", test, inbox_lost::tests::every_letter_is_taken_once),
        by_default("inbox_relaxed", test, inbox_relaxed::tests::every_letter_is_taken_once),
        by_default("inbox", test, inbox::tests::every_letter_is_taken_once),
        [inbox::tests::letters_of_one_thread_keep_their_order, inbox::tests::two_takers_share_the_letters]
            .map(|body| format!("rsmc: {}", by_default("inbox", test, body)))
            .join("\n"),
    ];
    assert_chapter("09-lock-free-structure", &["inbox_lost", "inbox_relaxed", "inbox"], &texts);
}

#[test]
fn how_it_works() {
    let texts = [by_default("classes", "some_letter_or_none", classes::some_letter_or_none), of_child("classes", true)];
    assert_chapter("10-how-it-works", &["classes"], &texts);
    let under_sc = |explorer| Config::default().memory(MemoryModel::Sc).explorer(explorer);
    let count = |explorer| executions(&under_sc(explorer), classes::some_letter_or_none);
    assert_eq!([count(Explorer::Exhaustive), count(Explorer::ReadsFrom)], [6, 3]);
    let marks = |explorer| executions(&under_sc(explorer), || _ = marks::raise(3, 2));
    let status = |explorer| executions(&under_sc(explorer), || status::look(2, 1, 2));
    let flags = |explorer| executions(&under_sc(explorer), || _ = two_flags::look(SeqCst));
    let row = |explorer| vec![count(explorer), flags(explorer), marks(explorer), status(explorer)];
    let rows = [
        ("`exhaustive`", row(Explorer::Exhaustive)),
        ("`reads-from`", row(Explorer::ReadsFrom)),
        ("`reads-value-from`", row(Explorer::ReadsValueFrom)),
        ("`view`", row(Explorer::View)),
    ];
    assert_rows("10-how-it-works", &rows);
}

/// The programs of the recipes are a workspace of their own, which CI builds and runs.
#[test]
fn recipes() {
    let page = file("docs/guide/recipes.md");
    let tests = ["cases", "drawn", "snapshots", "tasks"].map(|name| file(&format!("recipes/tests/{name}.rs")));
    let others = [file("recipes/src/lib.rs"), file("recipes/speed/benches/permits.rs")];
    assert_shown(&blocks(&page, "rust"), &[tests.as_slice(), &others].concat());
    assert_shown(&blocks(&page, "toml"), &[file("recipes/speed/Cargo.toml")]);
}

/// The manifest of the first chapter is that of README.md, and every variable that the guide names is known.
#[test]
fn manifests_and_variables() {
    let readme = file("README.md");
    for block in blocks(&file("docs/guide/01-first-test.md"), "toml") {
        assert!(has_lines(&readme, block), "README.md does not have this:\n{block}");
    }
    let configuration = file("docs/configuration.md");
    for page in super::book_pages().iter().filter(|page| page.starts_with("guide/")) {
        for rest in file(&format!("docs/{page}")).split("RSMC_").skip(1) {
            let name: String = rest.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
            assert!(configuration.contains(&format!("`RSMC_{name}`")), "{page} names RSMC_{name}");
        }
    }
}

#[test]
fn orderings() {
    let audit = rsmc::audit(&Config::default(), letterbox::tests::letterbox).to_string();
    let text = in_a_crate(&audit.replace("docs::guide::orderings", "tests::letterbox"), "letterbox");
    assert_chapter("12-orderings", &["letterbox", "letterbox_minimal"], &[text]);
}

#[test]
fn specifications() {
    let (failed, fixed, tally) = (slot::tests::spec(), slot_fixed::tests::spec(), tally::tests::spec());
    let (failed, fixed, tally) = (failed.explore(), fixed.calls(5).explore(), tally.explore());
    let (total, total_fixed) = (total::tests::spec().explore(), total_fixed::tests::spec().calls(2).explore());
    let texts = [
        in_a_crate(&rsmc::render(&failed.report, Some("tests::slot")), "slot"),
        format!("rsmc: {fixed}"),
        in_a_crate(&rsmc::render(&tally.report, Some("tests::tally")), "tally"),
        in_a_crate(&rsmc::render(&total.report, Some("tests::total")), "total"),
    ];
    let files = ["slot", "slot_attribute", "slot_fixed", "tally", "total", "total_fixed"];
    assert_chapter("11-specifications", &files, &texts);
    let (attribute, builder) = (slot_attribute::tests::slot::spec(), slot_fixed::tests::spec());
    assert_eq!(attribute.explore().covered, builder.calls(4).explore().covered);
    assert_eq!(failed.scenario.as_deref(), Some("put(1) | put(2)"));
    assert!(std::panic::catch_unwind(slot::tests::slot).is_err());
    assert_eq!(total.scenario.as_deref(), Some("add(1) @1 | add(2)"));
    assert!(total_fixed.is_complete() && total_fixed.suspended > 0);
    assert!(std::panic::catch_unwind(total::tests::total).is_err());
}
