//! The page on the modelled types outside a check, beside those of std.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::promise::Promise;
use crate::turns::{Tool, best_rates};

const TEXT: &str = include_str!("shim.md");
const PAGE: &str = "shim";

/// So often an operation is done between two looks at the clock.
const AT_A_TIME: u64 = 100_000;
/// A lock may take so many times as long as std's.
const MOST: f64 = 6.0;

mod of_std {
    use std::hint::black_box;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::{Arc, Condvar, Mutex, RwLock};

    use super::{Tool, repeated};

    include!("shim_operations.rs");
}

mod of_rsmc {
    use std::hint::black_box;

    use rsmc::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use rsmc::sync::{Arc, Condvar, Mutex, RwLock};

    use super::{Tool, repeated};

    include!("shim_operations.rs");
}

/// An operation with the nanoseconds that it takes.
struct Row {
    name: &'static str,
    std: f64,
    rsmc: f64,
}

impl Row {
    fn measure(name: &'static str, std: Tool<'static>, rsmc: Tool<'static>) -> Self {
        let [std, rsmc] = best_rates([std, rsmc]).map(|rate| 1e9 / rate);
        let row = Self { name, std, rsmc };
        print!("{}", row.text());
        row
    }

    /// How many times as long it takes as std's.
    fn ratio(&self) -> f64 {
        self.rsmc / self.std
    }

    fn text(&self) -> String {
        format!("| {} | {:.1} | {:.1} | {:.1} |\n", self.name, self.std, self.rsmc, self.ratio())
    }
}

/// Measures everything, and writes the text.
pub fn write(folder: &Path) -> Result<Vec<Promise>, Box<dyn Error>> {
    let both = of_std::operations().into_iter().zip(of_rsmc::operations());
    let rows: Vec<Row> = both.map(|((name, std), (_, rsmc))| Row::measure(name, std, rsmc)).collect();
    let mut table = String::new();
    rows.iter().for_each(|row| write!(table, "{}", row.text()).expect("a string grows"));
    let locks = rows.iter().filter(|row| row.name.contains("unlock"));
    let slowest = locks.max_by(|a, b| a.ratio().total_cmp(&b.ratio())).expect("there are locks");
    let promises = vec![Promise {
        page: PAGE,
        what: format!("Outside a check a modelled lock that is free takes at most {MOST} times as long as std's"),
        measured: format!("at most {:.1} times, in {}", slowest.ratio(), slowest.name),
        holds: slowest.ratio() <= MOST,
    }];
    let text = TEXT
        .replace("{{machine}}", &crate::machine::machine()?)
        .replace("{{promises}}", &crate::promise::table(&promises))
        .replace("{{table}}", &table);
    fs::write(folder.join(PAGE).with_extension("md"), text)?;
    Ok(promises)
}

/// Does an operation [`AT_A_TIME`] times.
fn repeated(mut operation: impl FnMut() + Send + 'static) -> Tool<'static> {
    Box::new(move || {
        (0..AT_A_TIME).for_each(|_| operation());
        AT_A_TIME
    })
}
