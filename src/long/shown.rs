//! The progress of a check, for its user: a line that is drawn again and again where stderr is a terminal, a new line
//! every minute otherwise. Both go to stderr itself and not through `eprintln`: libtest would keep them until the test
//! is over, and then they are of no use.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use rsmc_core::report::visible;
use rsmc_core::session::{Estimate, Progress, resident_memory};

use crate::long::status::Status;

/// The interval between two lines where there is no terminal.
const LINES: Duration = Duration::from_secs(60);

/// The progress of one check, as its user sees it.
pub(super) struct Shown {
    name: String,
    status: Option<Status>,
    lines: Lines,
}

/// The times of the lines, where there is no terminal.
struct Lines {
    /// The time at which the next one is due.
    next: Duration,
}

impl Lines {
    fn new() -> Self {
        Self { next: LINES }
    }

    /// Whether a line is due. Those that were missed are not made up for.
    fn is_due(&mut self, elapsed: Duration) -> bool {
        let due = elapsed >= self.next;
        if due {
            self.next = elapsed + LINES;
        }
        due
    }
}

impl Shown {
    pub(super) fn new(test: Option<&str>) -> Self {
        let name = test.map_or("rsmc".to_owned(), |test| format!("rsmc: {}", visible(test)));
        Self { name, status: None, lines: Lines::new() }
    }

    /// Shows the progress of a long check.
    pub(super) fn show(&mut self, progress: &Progress) {
        if std::io::stderr().is_terminal() {
            self.status.get_or_insert_with(Status::new).show(line(&self.name, progress));
        } else if self.lines.is_due(progress.elapsed) {
            // If the write fails, the check goes on.
            drop(writeln!(std::io::stderr(), "{}", line(&self.name, progress)));
        }
    }

    /// Takes the line away.
    pub(super) fn clear(&mut self) {
        self.status = None;
    }
}

/// The line of a check. Its numbers are runs, as those of the estimate are. A narrow terminal cuts off its end, so the
/// parts that matter least are the last.
fn line(name: &str, progress: &Progress) -> String {
    let seconds = progress.elapsed.as_secs_f64().max(1e-3);
    let rate = progress.runs_here as f64 / seconds;
    let mut parts = vec![format!("{name}: {}", so_far(progress))];
    if let Some((low, high)) = progress.estimate.and_then(|estimate| estimate.range) {
        parts.push(percent(progress.runs, low, high));
        parts.extend(to_go(progress.runs, low, high, rate));
    }
    parts.push(format!("{} runs/s", grouped(rate as u64)));
    if progress.depth > 0 {
        parts.push(format!("depth {}", progress.depth));
    }
    parts.extend(resident_memory(None).map(|bytes| format!("{} MiB", bytes >> 20)));
    parts.push(clock(progress.elapsed));
    parts.join(", ")
}

/// The number of runs, and how many there will be, as text.
fn so_far(progress: &Progress) -> String {
    let runs = grouped(progress.runs);
    match progress.estimate {
        Some(Estimate { range: Some((low, high)), .. }) => {
            format!("{runs} of {} to {} runs", grouped(low), grouped(high))
        }
        Some(Estimate { at_least, .. }) => format!("{runs} of at least {} runs", grouped(at_least)),
        None => format!("{runs} runs"),
    }
}

/// The part of the runs that is done, as text. It is never all, as there is a run to come.
fn percent(runs: u64, low: u64, high: u64) -> String {
    let part = |all: u64| (100 * u128::from(runs) / u128::from(all.max(1))).min(99);
    match (part(high), part(low)) {
        (least, most) if least == most => format!("{most} %"),
        (least, most) => format!("{least} to {most} %"),
    }
}

/// The time that the other runs will take at this rate, as text; none if there is no rate yet.
fn to_go(runs: u64, low: u64, high: u64, rate: f64) -> Option<String> {
    let time = |all: u64| Duration::try_from_secs_f64(all.saturating_sub(runs) as f64 / rate).ok().map(clock);
    let (least, most) = (time(low)?, time(high)?);
    Some(if least == most { format!("{most} to go") } else { format!("{least} to {most} to go") })
}

/// A number in groups of three digits: `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time as `hours:minutes:seconds`, after the days if there are some.
fn clock(time: Duration) -> String {
    let (minutes, seconds) = (time.as_secs() / 60, time.as_secs() % 60);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    let days = if hours < 24 { String::new() } else { format!("{}d ", hours / 24) };
    format!("{days}{:02}:{minutes:02}:{seconds:02}", hours % 24)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::SeqCst;

    use super::*;

    /// Lines of a check as they are shown.
    fn lines() -> Vec<String> {
        use rsmc_core::session::{Config, check_body};
        let mut lines = Vec::new();
        let mut pulse = |progress: &Progress| {
            lines.push(line("rsmc: a::test", progress));
            true
        };
        let body = || {
            let x = rsmc_shim::sync::atomic::AtomicU32::new(0);
            let add = || x.store(x.load(SeqCst) + 1, SeqCst);
            rsmc_shim::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(add))));
        };
        let every = Duration::ZERO;
        check_body(&Config::default(), &body, |body| body.check().pulse(every, &mut pulse).run()).unwrap();
        lines
    }

    #[test]
    fn lines_say_how_far_a_check_is() {
        let lines = lines();
        assert!(lines[0].starts_with("rsmc: a::test: 0 of at least 1 runs, 0 runs/s, "), "{}", lines[0]);
        let last = &lines[lines.len() - 1];
        assert!(last.starts_with("rsmc: a::test: 124 of 125 to "), "{last}");
        assert!(last.contains(", depth ") && last.ends_with(", 00:00:00"), "{last}");
    }

    /// Percent and the time to go are shown where there is a range, and only there.
    #[test]
    fn what_is_not_known_is_not_shown() {
        let (with, without): (Vec<_>, Vec<_>) = lines().into_iter().partition(|line| !line.contains("of at least"));
        assert!(!with.is_empty() && !without.is_empty());
        assert!(with.iter().all(|line| line.contains(" %, ") && line.contains(" to go, ")), "{with:?}");
        assert!(!without.iter().any(|line| line.contains('%') || line.contains("to go")), "{without:?}");
        assert!(!with.iter().chain(&without).any(|line| line.contains("execution")), "one unit in a line");
    }

    #[test]
    fn parts_and_times_are_ranges() {
        assert_eq!(percent(50, 100, 200), "25 to 50 %");
        assert_eq!(percent(99, 100, 100), "99 %");
        assert_eq!(percent(100, 100, 100), "99 %");
        assert_eq!(to_go(50, 100, 200, 0.5).unwrap(), "00:01:40 to 00:05:00 to go");
        assert_eq!(to_go(50, 100, 100, 0.5).unwrap(), "00:01:40 to go");
        assert_eq!(to_go(0, 1, 2, 0.0), None);
    }

    #[test]
    fn numbers_and_times_are_easy_to_read() {
        let numbers = [0, 999, 1_000, 12_345, 123_456, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "12,345", "123,456", "1,234,567"]);
        let times = [0, 59, 61, 86_399, 86_400, 200_000].map(|seconds| clock(Duration::from_secs(seconds)));
        assert_eq!(times, ["00:00:00", "00:00:59", "00:01:01", "23:59:59", "1d 00:00:00", "2d 07:33:20"]);
    }

    /// Asked ten times a second, as checks are; one execution takes three minutes.
    #[test]
    fn there_is_a_line_a_minute() {
        let mut lines = Lines::new();
        let asked = (1..3000_u64).filter(|tenths| !(1250..3050).contains(tenths)).chain(3050..4000);
        let due = asked.filter(|&tenths| lines.is_due(Duration::from_millis(100 * tenths)));
        assert_eq!(due.collect::<Vec<_>>(), [600, 1200, 3050, 3650]);
    }
}
