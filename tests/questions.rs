//! The question that a reader of a failure has, and the row of the report that answers it, for the examples with a
//! mistake: `questions/<example>.txt` has the question, words of the row, and the report at 80 columns. The row must be
//! in the schedule, folded as it is. `RSMC_BLESS=1` rewrites the reports, and leaves questions and words alone.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rsmc::{Config, RenderOptions, Verdict};

use crate::examples::algorithms::{
    arc_swap, chase_lev, dekker_lock, michael_scott_queue, mpsc_parking, oneshot, peterson_lock, publish, ref_count,
    seqlock, spin_lock, spsc_ring, treiber_stack,
};

const EXAMPLES: [(&str, fn()); 25] = [
    ("treiber_stack", treiber_stack::broken),
    ("michael_scott_queue_at_tail", michael_scott_queue::broken_at_tail),
    ("michael_scott_queue_tail_first", michael_scott_queue::broken_tail_first),
    ("michael_scott_queue_relaxed", michael_scott_queue::broken_relaxed),
    ("peterson_lock_turn_first", peterson_lock::broken_turn_first),
    ("peterson_lock_without_fence", peterson_lock::broken_without_fence_by_value),
    ("dekker_lock_stubborn", dekker_lock::broken_stubborn),
    ("dekker_lock_without_fence", dekker_lock::broken_without_fence_by_value),
    ("spin_lock_unlock_relaxed", spin_lock::broken_unlock_relaxed),
    ("spin_lock_unlock_relaxed_by_value", spin_lock::broken_unlock_relaxed_by_value),
    ("arc_swap_replace_acquire", arc_swap::broken_replace_acquire),
    ("arc_swap_load_release", arc_swap::broken_load_release),
    ("spsc_ring_published_early", spsc_ring::broken_published_early),
    ("ref_count_load_then_store", ref_count::broken_load_then_store),
    ("ref_count_no_fence", ref_count::broken_no_fence),
    ("publish_relaxed", publish::broken_relaxed),
    ("publish_no_acquire", publish::broken_no_acquire),
    ("publish_cell_relaxed", publish::broken_cell_relaxed),
    ("seqlock_no_recheck", seqlock::broken_no_recheck),
    ("chase_lev_take_unfenced", chase_lev::broken_take_unfenced),
    ("chase_lev_into_old", chase_lev::broken_into_old),
    ("mpsc_parking_looking_once", mpsc_parking::broken_looking_once),
    ("mpsc_parking_send_unfenced", mpsc_parking::broken_send_unfenced),
    ("oneshot_send_relaxed", oneshot::broken_send_relaxed),
    ("oneshot_abandoned", oneshot::broken_abandoned),
];

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/questions").join(format!("{name}.txt"))
}

/// The report up to the command that replays it, without call paths: what a build has inlined is not in them.
fn report(body: fn()) -> String {
    let mut report = rsmc::explore(&Config::default(), body);
    report.elapsed = Duration::ZERO;
    assert!(matches!(report.verdict, Verdict::Failed(_)), "{report:?}");
    let text = rsmc::render_in(&report, &RenderOptions::of_test(None));
    let text = text.split("\nrun this").next().expect("a part");
    // Without optimisation, how many executions come first depends on what other tests of the process have left on
    // stacks: it decides which iterations of a loop are alike.
    let text: String = text.split_inclusive('\n').filter(|line| !line.starts_with("found after ")).collect();
    let sections = text.split("\n\n").filter(|section| !section.starts_with("call paths"));
    sections.collect::<Vec<_>>().join("\n\n")
}

/// A question with words of the row that answers it.
struct Question<'a> {
    question: &'a str,
    answer: &'a str,
}

/// The first two lines of a file.
fn question(text: &str) -> Option<Question<'_>> {
    let mut lines = text.lines();
    let question = lines.next()?.strip_prefix("question: ")?;
    let answer = lines.next()?.strip_prefix("answer: ")?;
    Some(Question { question, answer })
}

#[test]
fn the_row_that_answers_is_shown() {
    let mut wrong = String::new();
    for (name, body) in EXAMPLES {
        let report = report(body);
        let golden = std::fs::read_to_string(path(name)).unwrap_or_default().replace("\r\n", "\n");
        let Some(Question { question, answer }) = question(&golden) else {
            writeln!(wrong, "{name} has no question; its report is\n{report}").unwrap();
            continue;
        };
        let text = format!("question: {question}\nanswer: {answer}\n\n{report}");
        if std::env::var_os("RSMC_BLESS").is_some() {
            std::fs::write(path(name), &text).expect("the file can be written");
        } else if golden != text {
            writeln!(wrong, "{name} differs (RSMC_BLESS=1 rewrites it); it is now\n{text}").unwrap();
        }
        let wide: Vec<&str> = report.lines().filter(|line| line.chars().count() > 80).collect();
        if !wide.is_empty() {
            writeln!(wrong, "{name}: wider than 80 columns: {wide:#?}").unwrap();
        }
        let schedule = report.split_once("\nschedule (").expect("there is a schedule").1;
        let has_row =
            schedule.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").contains(answer));
        if !question.ends_with('?') || answer.is_empty() || !has_row {
            writeln!(wrong, "{name}: no row of the schedule has `{answer}`:\n{report}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
