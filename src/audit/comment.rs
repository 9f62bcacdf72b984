//! The comment that belongs beside an ordering: with what it synchronises, and what fails with a weaker one.

use std::path::Path;
use std::sync::atomic::Ordering;

use rsmc_core::report::{visible, wrap};

use crate::audit::{AuditedOrdering, position, text};

impl AuditedOrdering {
    /// A comment to paste above the operation: the ordering of [`Audit::together`](crate::Audit::together), the lines
    /// with which it synchronises, what fails with a weaker one, and the seed of that execution for a check with
    /// [`Config::weaken`](crate::Config::weaken). Each line begins with `//` and has at most 80 columns, unless a word
    /// is longer. It speaks of lines, so it is right as long as they stay where they are.
    ///
    /// `None` if no failing execution was found that needs the ordering: `Relaxed` is enough, two threads never use the
    /// atomic, or the time was over.
    ///
    /// ```
    /// use rsmc::{Config, sync::atomic::{AtomicU32, Ordering::{Acquire, Relaxed, Release}}};
    ///
    /// let audit = rsmc::audit(&Config::default(), || {
    ///     let (flag, data) = (AtomicU32::new(0), AtomicU32::new(0));
    ///     rsmc::thread::scope(|scope| {
    ///         scope.spawn(|| {
    ///             data.store(1, Relaxed);
    ///             flag.store(1, Release);
    ///         });
    ///         assert!(flag.load(Acquire) == 0 || data.load(Relaxed) == 1);
    ///     });
    /// });
    /// let comment = audit.orderings[0].comment().unwrap();
    /// assert!(comment.starts_with("// Release: pairs with "));
    /// ```
    pub fn comment(&self) -> Option<String> {
        let needed = self.needed.as_ref().filter(|_| self.is_exercised && self.together != Ordering::Relaxed)?;
        let what = match self.operation {
            "fence" => " fence",
            _ if self.is_failure => " where it fails",
            _ => "",
        };
        let pairs = match text::listed(&self.lines()) {
            none if none.is_empty() => none,
            lines => format!("pairs with {lines}; "),
        };
        let (order, reason) = (self.together, text::reason(self, needed));
        let comment = format!("// {order:?}{what}: {pairs}{reason}; seed {}", needed.seed);
        Some(wrap(&visible(&comment), "// "))
    }

    /// The lines with which it synchronises: `line 41`, or `queue.rs:41` if that is another file.
    fn lines(&self) -> Vec<String> {
        let own = position(&self.place).0;
        let line = |place: &String| {
            let (file, line, _) = position(place);
            if file == own {
                return format!("line {line}");
            }
            let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
            format!("{name}:{line}")
        };
        let mut lines: Vec<String> = self.pairs.iter().map(line).collect();
        lines.dedup();
        lines
    }
}
