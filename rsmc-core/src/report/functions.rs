//! The functions of the user through which a thread came to an operation.

use crate::report::places::parts;
use crate::report::source::SourceText;
use crate::trace::{Caller, Site};

/// The number of lines by which the place of a call in a chain of calls may differ from that of the chain.
const CHAIN: u32 = 6;

/// A function on the way to a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Function {
    /// Its name, without module and type.
    pub(super) name: String,
    file: &'static str,
    line: u32,
}

impl Function {
    /// The place of the call in it.
    pub(super) fn site(&self) -> Site {
        Site::Place { file: self.file, line: self.line }
    }
}

/// The functions on the way to an operation at this place, which is in the first of them; none if they are not known.
/// They have the names of the source: a build without full debug information has none for closures. A closure that
/// others run in its own function is one with that; one that is called there is not.
pub(super) fn functions(path: &[Caller], site: Site, source: &SourceText) -> Vec<Function> {
    let Some(first) = own(path, site) else { return Vec::new() };
    let mut functions: Vec<Function> = Vec::new();
    let mut run_by_others = false;
    for caller in &path[first..] {
        let (Some(file), Some(line)) = parts(caller.site) else { continue };
        let path = around_closures(&caller.function);
        let name = source.function(caller.site).unwrap_or_else(|| short(path));
        let is_last = |last: &Function| last.file == file && last.name == name;
        if !(run_by_others && functions.last().is_some_and(is_last)) {
            functions.push(Function { name: name.to_owned(), file, line });
        }
        run_by_others = caller.run_by_others && path.len() < caller.function.len();
    }
    functions
}

/// The path of the function around a closure, or of a function itself.
fn around_closures(path: &str) -> &str {
    let end = ["::{{closure}}", "::{closure#", "{{closure}}", "{closure#"].iter().find_map(|word| path.find(word));
    &path[..end.unwrap_or(path.len())]
}

/// The place of the function in which a site is. What frees memory has no site of its own.
fn own(path: &[Caller], site: Site) -> Option<usize> {
    let (Some(file), Some(line)) = parts(site) else { return (!path.is_empty()).then_some(0) };
    let is_near = |caller: &Caller, lines: u32| {
        let (other, at) = parts(caller.site);
        other == Some(file) && at.is_some_and(|at| at.abs_diff(line) <= lines)
    };
    [0, CHAIN].into_iter().find_map(|lines| path.iter().position(|caller| is_near(caller, lines)))
}

/// The last name of a path: `push` of `queue::Queue<T>::push::<u8>`.
fn short(path: &str) -> &str {
    let path = path.strip_suffix('>').and_then(|path| path.rfind("::<").map(|at| &path[..at])).unwrap_or(path);
    path.rsplit("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(function: &str, file: &'static str, line: u32, run_by_others: bool) -> Caller {
        Caller { function: function.to_owned(), site: Site::Place { file, line }, run_by_others }
    }

    fn path() -> Vec<Caller> {
        vec![
            caller("bank::Account<T>::take::{{closure}}", "src/account.rs", 31, true),
            caller("bank::Account<T>::take", "src/account.rs", 30, false),
            caller("<bank::Bank as bank::Transfers>::transfer::<u8>", "src/lib.rs", 12, true),
            caller("bank::tests::both::{closure#0}::{closure#1}", "src/lib.rs", 61, false),
            caller("bank::tests::both::{closure#0}", "src/lib.rs", 60, true),
        ]
    }

    #[test]
    fn a_closure_is_one_with_its_function_unless_that_calls_it() {
        let functions = functions(&path(), Site::Place { file: "src/account.rs", line: 31 }, &SourceText::default());
        let names: Vec<(&str, u32)> = functions.iter().map(|function| (&*function.name, function.line)).collect();
        assert_eq!(names, [("take", 31), ("transfer", 12), ("both", 61), ("both", 60)]);
    }

    #[test]
    fn the_place_of_the_row_is_looked_for() {
        let found = |site| functions(&path(), site, &SourceText::default());
        let at = |file, line| found(Site::Place { file, line }).first().map(|first| first.line);
        assert_eq!(at("src/lib.rs", 12), Some(12));
        // A chain of calls over several lines.
        assert_eq!(at("src/lib.rs", 14), Some(12));
        assert_eq!(at("src/lib.rs", 100), None);
        assert_eq!(at("src/other.rs", 12), None);
        // What frees memory has no place of its own.
        assert_eq!(found(Site::Unknown).len(), 4);
    }
}
