//! Instructions that a piece of work executes, counted by callgrind in a process of its own.
//!
//! The process is this program again, with the work named on its command line: whoever counts has to call [`perform`]
//! first thing in `main`.

use std::env::{args, current_exe, var_os};
use std::error::Error;
use std::process::Command;

use rsmc::{Config, Explorer, MemoryModel};

use crate::explorations::program;
use crate::grid::Grid;

/// The first argument of a process that is counted.
const MARK: &str = "--perform";

/// An exploration.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The explored program.
    pub subject: Subject,
    /// By whom.
    pub explorer: Explorer,
    /// Under which model.
    pub memory: MemoryModel,
    /// It ends after this many executions, if there are more.
    pub executions: u64,
}

/// A body.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    /// A benchmark program, with relaxed accesses unless under SC, and its size.
    Program(&'static str, usize),
    /// A body by its shape.
    Grid(Grid),
}

impl Work {
    /// Explores; how many executions there were.
    ///
    /// # Panics
    /// If there is no such program.
    pub fn explore(&self) -> u64 {
        let config = Config::default().explorer(self.explorer).memory(self.memory).keep_going(true);
        let config = config.max_executions(self.executions);
        match self.subject {
            Subject::Program(name, n) => {
                let body = program(name).body_under(self.memory);
                rsmc::explore(&config, move || body(n)).executions
            }
            Subject::Grid(grid) => rsmc::explore(&config, move || grid.run()).executions,
        }
    }

    /// Instructions of a process that only explores, its start included. The same in every run, but for what depends on
    /// addresses: less than one in a thousand.
    ///
    /// # Errors
    /// If there is no valgrind, or it fails.
    pub fn instructions(&self) -> Result<u64, Box<dyn Error>> {
        count(&self.arguments())
    }

    fn arguments(&self) -> Vec<String> {
        let (name, sizes) = match self.subject {
            Subject::Program(name, n) => (name, vec![n]),
            Subject::Grid(Grid { threads, locations, operations }) => ("grid", vec![threads, locations, operations]),
        };
        let fixed = [name.to_owned(), self.explorer.to_string(), self.memory.to_string(), self.executions.to_string()];
        fixed.into_iter().chain(sizes.iter().map(usize::to_string)).collect()
    }

    fn parse(arguments: &[String]) -> Option<Self> {
        let [name, explorer, memory, executions, sizes @ ..] = arguments else { return None };
        let sizes: Vec<usize> = sizes.iter().filter_map(|size| size.parse().ok()).collect();
        let subject = match sizes[..] {
            [n] => Subject::Program(name.clone().leak(), n),
            [threads, locations, operations] => Subject::Grid(Grid { threads, locations, operations }),
            _ => return None,
        };
        let (explorer, memory) = (explorer.parse().ok()?, memory.parse().ok()?);
        Some(Self { subject, explorer, memory, executions: executions.parse().ok()? })
    }
}

/// Does the work that is named on the command line; false if there is none.
pub fn perform() -> bool {
    let arguments: Vec<String> = args().skip(1).collect();
    if arguments.first().is_none_or(|first| first != MARK) {
        return false;
    }
    if let Some(work) = Work::parse(&arguments[1..]) {
        work.explore();
    }
    true
}

/// Instructions of a process that does nothing.
///
/// # Errors
/// If there is no valgrind, or it fails.
pub fn idle_instructions() -> Result<u64, Box<dyn Error>> {
    count(&[])
}

/// All instructions of a process that performs this.
fn count(arguments: &[String]) -> Result<u64, Box<dyn Error>> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    // An environment of any size would move the stack.
    valgrind.arg(current_exe()?).arg(MARK).args(arguments).env_clear().envs(var_os("PATH").map(|path| ("PATH", path)));
    let output = valgrind.output().map_err(|error| format!("valgrind is needed, and does not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.split("Collected :").nth(1).and_then(|rest| rest.split_whitespace().next());
    match collected.and_then(|number| number.parse().ok()) {
        Some(instructions) if output.status.success() => Ok(instructions),
        _ => Err(format!("valgrind fails:\n{text}").into()),
    }
}
