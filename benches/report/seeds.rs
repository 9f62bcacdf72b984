//! The page on the papers' tables: every number of ours is counted before it is written.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rsmc::{Explorer, MemoryModel};
use rsmc_benches::explorations::explore_under;
use rsmc_testkit::lab::{self, Baseline, Counts, OptimalDpor, SourceDpor};

use super::rows::{BUFFERED, ROWS, Row, page};

/// Classes that source-DPOR explores at most: it makes many runs that are redundant.
const SOURCE: u64 = 1_000_000;

const TEXT: &str = include_str!("seeds.md");

/// Counts everything, and writes the page if all is as the rows say.
pub fn write(docs: &Path) -> Result<(), Box<dyn Error>> {
    let mut differ = Vec::new();
    for row in ROWS {
        let ours = row.ours;
        if ours.happens_before.is_some_and(|known| known <= SOURCE) {
            count_happens_before::<SourceDpor>("source-DPOR", row, &mut differ);
        }
        let redundant = count_happens_before::<OptimalDpor>("optimal DPOR", row, &mut differ);
        if redundant > 0 {
            differ.push(format!("{}({}), optimal DPOR: {redundant} redundant runs", row.program, row.n));
        }
        let columns = [
            (Explorer::ReadsFrom, ours.reads_from),
            (Explorer::ReadsValueFrom, ours.values),
            (Explorer::View, ours.views),
        ];
        for (explorer, known) in columns {
            count(
                &format!("{}({})", row.program, row.n),
                (row.body, row.n),
                (explorer, MemoryModel::Sc),
                known,
                &mut differ,
            );
        }
    }
    for row in BUFFERED {
        for (memory, known) in [(MemoryModel::Tso, row.tso), (MemoryModel::Pso, row.pso)] {
            let name = format!("{}({})", row.program, row.n);
            count(&name, (row.body, row.n), (Explorer::ReadsFrom, memory), known, &mut differ);
        }
    }
    if !differ.is_empty() {
        return Err(differ.join("\n").into());
    }
    fs::write(docs.join("seeds.md"), page(TEXT))?;
    Ok(())
}

/// Explores a program by a baseline if its number is known, and notes what is different. Returns the number of its
/// redundant runs.
fn count_happens_before<B: Baseline>(name: &str, row: &Row, differ: &mut Vec<String>) -> u64 {
    let Some(known) = row.ours.happens_before else { return 0 };
    let start = Instant::now();
    let Counts { executions, redundant, .. } = lab::count::<B>(|| (row.body)(row.n));
    let what = format!("{}({}), {name}: {executions}", row.program, row.n);
    println!("{what}, and {redundant} redundant runs, in {:.1} s", start.elapsed().as_secs_f64());
    if executions != known {
        differ.push(format!("{what}, and not {known}"));
    }
    redundant
}

/// Explores a program if its number is known, and notes what is different.
fn count(
    name: &str,
    (body, n): (fn(usize), usize),
    (explorer, memory): (Explorer, MemoryModel),
    known: Option<u64>,
    differ: &mut Vec<String>,
) {
    let Some(known) = known else { return };
    let report = explore_under(memory, body, n, explorer);
    let what = format!("{name}, {explorer} under {memory}: {}", report.executions);
    println!("{what} in {:.1} s", report.elapsed.as_secs_f64());
    if report.executions != known {
        differ.push(format!("{what}, and not {known}"));
    }
}
