//! The text about a scenario that fails: its calls with their results, and why no order explains them.

use rsmc_core::trace::ScenarioCall;

use crate::spec::Criterion;
use crate::spec::history::Closest;
use crate::spec::scenario::Scenario;

/// The width of a table. Reports indent it by four columns.
const WIDTH: usize = 76;

/// The message about results that nothing explains. `told` has the text of each call with its result.
pub(crate) fn contradiction(criterion: Criterion, scenario: &Scenario, told: &[String], closest: &Closest) -> String {
    let mut lines = vec![headline(criterion).to_owned(), String::new()];
    lines.extend(table(scenario, &|call| told[call].clone()));
    lines.push(String::new());
    lines.extend(closest_order(closest, &|call| told[call].clone()));
    lines.join("\n")
}

/// A call with its result, which is left out if it says nothing.
pub(crate) fn told(label: &str, result: &str) -> String {
    if result == "()" { label.to_owned() } else { format!("{label} → {result}") }
}

fn headline(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Linearizable => "not linearizable: no order of these calls gives these results",
        Criterion::QuiescentlyConsistent => "not quiescently consistent: no order of these calls gives these results",
        Criterion::SequentiallyConsistent => "not sequentially consistent: no order of these calls gives these results",
    }
}

/// The calls with their results, a column for each thread; below each other where that is too wide.
fn table(scenario: &Scenario, told: &dyn Fn(usize) -> String) -> Vec<String> {
    let init: Vec<String> = (0..scenario.init.len()).map(told).collect();
    let all = scenario.len();
    let end: Vec<String> = (all - scenario.end.len()..all).map(told).collect();
    let column = |numbers: std::ops::Range<usize>| numbers.map(|call| scenario.marked(call, &told(call))).collect();
    let threads: Vec<Vec<String>> = scenario.numbers().into_iter().map(column).collect();
    let mut lines = Vec::new();
    lines.extend((!init.is_empty()).then(|| format!("first    {}", init.join(", "))));
    lines.extend(columns(&threads));
    lines.extend((!end.is_empty()).then(|| format!("at last  {}", end.join(", "))));
    if !scenario.signals.is_empty() {
        lines.push("(!a sets a flag of the client, ?a waits for it)".to_owned());
    }
    if !scenario.suspended.is_empty() {
        lines.push("(@n: the thread is suspended after n operations of the call)".to_owned());
    }
    lines
}

/// The calls of an execution; one that has not returned says so.
pub(crate) fn table_of_calls(scenario: &Scenario, calls: &[ScenarioCall]) -> Vec<String> {
    let told = |call: usize| match &calls[call] {
        ScenarioCall { begun, returned } if returned.is_empty() => format!("{begun} …"),
        ScenarioCall { returned, .. } => returned.clone(),
    };
    let mut lines = table(scenario, &told);
    if calls.iter().any(|call| call.returned.is_empty()) {
        lines.push("(… has not returned)".to_owned());
    }
    lines
}

fn columns(threads: &[Vec<String>]) -> Vec<String> {
    let titles: Vec<String> = (1..=threads.len()).map(|number| format!("thread {number}")).collect();
    let width = |text: &String| text.chars().count();
    let widest = |(title, cells): (&String, &Vec<String>)| cells.iter().map(width).max().unwrap_or(0).max(width(title));
    let widths: Vec<usize> = titles.iter().zip(threads).map(widest).collect();
    if widths.iter().sum::<usize>() + 3 * (threads.len() - 1) > WIDTH {
        let below =
            titles.iter().zip(threads).map(|(title, cells)| (title, cells.iter().map(|cell| format!("  {cell}"))));
        return below.flat_map(|(title, cells)| std::iter::once(title.clone()).chain(cells)).collect();
    }
    let row = |cells: &dyn Fn(usize) -> String| {
        let cell = |(column, &width): (usize, &usize)| format!("{:width$}", cells(column));
        widths.iter().enumerate().map(cell).collect::<Vec<_>>().join(" │ ").trim_end().to_owned()
    };
    let rule = widths.iter().map(|&width| "─".repeat(width)).collect::<Vec<_>>().join("─┼─");
    let longest = threads.iter().map(Vec::len).max().unwrap_or(0);
    let rows = (0..longest).map(|at| row(&|column| threads[column].get(at).cloned().unwrap_or_default()));
    [row(&|column| titles[column].clone()), rule].into_iter().chain(rows).collect()
}

/// The order that comes closest, and where it goes no further.
fn closest_order(closest: &Closest, told: &dyn Fn(usize) -> String) -> Vec<String> {
    let stuck = |(call, instead): &(usize, String)| format!("  {}   the model: {instead}", told(*call));
    let (first, then) = match (closest.sequence.is_empty(), &closest.stuck[..]) {
        (true, _) => ("no call can be the first:", None),
        (false, [_]) => ("the order that comes closest:", Some("and then not:")),
        (false, _) => ("the order that comes closest:", Some("and then none of:")),
    };
    let mut lines = vec![first.to_owned()];
    lines.extend(closest.sequence.iter().map(|&call| format!("  {}", told(call))));
    lines.extend(then.map(str::to_owned));
    lines.extend(closest.stuck.iter().map(stuck));
    lines
}

/// A test of a scenario, to be pasted. Its name is made of its operations, and is that of none.
pub(crate) fn test_to_keep(scenario: &str, names: &[Vec<&str>]) -> String {
    let thread = |names: &Vec<&str>| names.iter().map(|name| identifier(name)).collect::<Vec<_>>().join("_");
    let mut name = names.iter().map(thread).collect::<Vec<_>>().join("_and_");
    if let [only] = names
        && only.len() == 1
    {
        name += "_by_itself";
    }
    format!("#[rsmc::test]\nfn {name}() {{\n    spec().execute({scenario:?});\n}}")
}

/// The letters of a name that may be in an identifier.
fn identifier(name: &str) -> String {
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    let name: String = letters.collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("op_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::scenario::Call;

    fn scenario(text: &str) -> Scenario {
        let known: Vec<_> = ["push(1)", "pop()"].into_iter().zip(0..).collect();
        let known: Vec<_> =
            known.into_iter().map(|(label, value)| (label.to_owned(), Call { operation: 0, value })).collect();
        Scenario::parse(text, &known).unwrap()
    }

    #[test]
    fn results_are_a_table_of_threads() {
        let told = |call: usize| ["push(1)", "pop() → None", "pop() → Some(1)", "pop() → None"][call].to_owned();
        let lines = table(&scenario("[push(1)] pop() !a | ?a pop() [pop()]"), &told);
        let expected = [
            "first    push(1)",
            "thread 1        │ thread 2",
            "────────────────┼───────────────────",
            "pop() → None !a │ ?a pop() → Some(1)",
            "at last  pop() → None",
            "(!a sets a flag of the client, ?a waits for it)",
        ];
        assert_eq!(lines, expected);
        let long = |call: usize| format!("call {call} → {}", "x".repeat(40));
        let lines = table(&scenario("pop() | pop()"), &long);
        assert_eq!(lines[0], "thread 1");
        assert!(lines[1].starts_with("  call 0 →") && lines[3].starts_with("  call 1 →"));
    }

    #[test]
    fn the_order_that_comes_closest_is_told_with_its_end() {
        let told = |call: usize| format!("call {call}");
        let closest = Closest { sequence: vec![2, 0], stuck: vec![(1, "None".to_owned()), (3, "Some(1)".to_owned())] };
        let expected = [
            "the order that comes closest:",
            "  call 2",
            "  call 0",
            "and then none of:",
            "  call 1   the model: None",
            "  call 3   the model: Some(1)",
        ];
        assert_eq!(closest_order(&closest, &told), expected);
    }

    #[test]
    fn a_test_to_keep_is_rust() {
        let text = test_to_keep("push(\"a\") | pop()", &[vec!["push", "try pop"], vec!["2nd"]]);
        let expected =
            "#[rsmc::test]\nfn push_try_pop_and_op_2nd() {\n    spec().execute(\"push(\\\"a\\\") | pop()\");\n}";
        assert_eq!(text, expected);
        assert!(test_to_keep("pop()", &[vec!["pop"]]).contains("fn pop_by_itself() {"));
    }
}
