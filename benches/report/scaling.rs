//! The page on how the cost of a class grows.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rsmc::{Explorer, MemoryModel};
use rsmc_benches::grid::Grid;
use rsmc_benches::instructions::{Subject, Work};

use crate::chart::{Chart, Curve, slope, whole_slope};
use crate::measure::{best_time, thousands};

const TEXT: &str = include_str!("scaling.md");
const MODELS: [MemoryModel; 2] = [MemoryModel::Sc, MemoryModel::C11];

/// Executions of a check, and fewer where they are long; always more than one.
const EXECUTIONS: u64 = 1_000;
const EVENTS: u64 = 6_000;

/// A subject, and where its point is on the axis.
type Point = (f64, Subject);

/// What grows.
struct Growth {
    title: &'static str,
    /// What is on the horizontal axis.
    axis: &'static str,
    /// The exponent of the paper's bound for VerifySC in this direction.
    bound: &'static str,
    points: Vec<Point>,
}

fn growths() -> Vec<Growth> {
    let grid = |threads, locations, operations| Subject::Grid(Grid { threads, locations, operations });
    let sizes = |name, sizes: &[usize], x: fn(usize) -> usize| -> Vec<Point> {
        sizes.iter().map(|&n| (x(n) as f64, Subject::Program(name, n))).collect()
    };
    let operations = [4, 8, 12, 16, 24].into_iter();
    let locations = [1, 2, 4, 8, 16].into_iter();
    vec![
        Growth {
            title: "msv: longer threads",
            axis: "events",
            bound: "k+1 = 3",
            points: sizes("msv", &[4, 8, 16, 24, 32], |n| 2 * n),
        },
        Growth {
            title: "grid: longer threads, k = 3, d = 2",
            axis: "events",
            bound: "k+1 = 4",
            points: operations.map(|m| (3.0 * m as f64, grid(3, 2, m))).collect(),
        },
        Growth {
            title: "readers: more threads",
            axis: "threads",
            bound: "n^(k+1)",
            points: sizes("readers", &[4, 8, 12, 16, 24], |n| n + 1),
        },
        Growth {
            title: "grid: more threads, n = 48, d = 2",
            axis: "threads",
            bound: "n^(k+1)",
            points: [2, 3, 4, 6, 12].into_iter().map(|k| (k as f64, grid(k, 2, 48 / k))).collect(),
        },
        Growth {
            title: "grid: more locations, k = 4, n = 64",
            axis: "locations",
            bound: "k^(d+1)",
            points: locations.map(|d| (d as f64, grid(4, d, 16))).collect(),
        },
    ]
}

/// Measures everything, and writes the text and the curves.
pub fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let (mut points, mut fits) = (String::new(), String::new());
    let (mut times, mut instructions) = (Vec::new(), Vec::new());
    for growth in growths() {
        let costs = growth.measure(&mut points)?;
        for (memory, (time, count)) in MODELS.iter().zip(&costs) {
            let [by_time, by_count] = [time, count].map(|curve| slope(curve).expect("there are three points"));
            let Growth { title, axis, bound, .. } = growth;
            writeln!(fits, "| {title} | {axis} | {memory} | {by_time:.1} | {by_count:.1} | {bound} |")?;
        }
        let (of_time, of_count): (Vec<Curve>, Vec<Curve>) = costs.into_iter().unzip();
        times.push((growth.title.to_owned(), of_time));
        instructions.push((growth.title.to_owned(), of_count));
    }
    draw(&folder.join("scaling-time.svg"), "microseconds per class", times)?;
    draw(&folder.join("scaling-instructions.svg"), "instructions per class", instructions)?;
    let text = TEXT.replace("{{machine}}", &crate::machine()?).replace("{{fits}}", &fits);
    let text = text.replace("{{points}}", &points).replace("{{long}}", &long_executions());
    fs::write(folder.join("scaling.md"), text)?;
    Ok(())
}

impl Growth {
    /// Microseconds and instructions for each class, under each model.
    fn measure(&self, table: &mut String) -> Result<Vec<(Curve, Curve)>, Box<dyn Error>> {
        let mut costs = vec![(Curve::new(), Curve::new()); MODELS.len()];
        for (x, subject) in &self.points {
            let mut row = format!("| {} | {x}", self.title);
            for (memory, (times, instructions)) in MODELS.into_iter().zip(&mut costs) {
                let cost = cost(*subject, memory)?;
                times.push((*x, cost.microseconds));
                instructions.push((*x, cost.instructions));
                write!(row, " | {:.1} | {}", cost.microseconds, thousands(cost.instructions as u64))?;
            }
            println!("{row} |");
            writeln!(table, "{row} |")?;
        }
        Ok(costs)
    }
}

/// What a class costs.
struct Cost {
    microseconds: f64,
    instructions: f64,
}

/// The difference between one execution and many leaves out what a check costs as a whole.
fn cost(subject: Subject, memory: MemoryModel) -> Result<Cost, Box<dyn Error>> {
    let events = match subject {
        Subject::Grid(grid) => grid.events(),
        Subject::Program(_, n) => n,
    };
    let executions = EXECUTIONS.min(EVENTS / events as u64).max(2);
    let work = |executions| Work { subject, explorer: Explorer::ReadsFrom, memory, executions };
    let (one, many) = (work(1), work(executions));
    let seconds = |work: &Work| {
        best_time(|| {
            let start = Instant::now();
            let executions = work.explore();
            (start.elapsed().as_secs_f64(), executions)
        })
    };
    let ((_, alone), (found, together)) = (seconds(&one), seconds(&many));
    let others = (found - 1) as f64;
    Ok(Cost {
        microseconds: 1e6 * (together - alone) / others,
        instructions: (many.instructions()? - one.instructions()?) as f64 / others,
    })
}

/// Executions of a check whose first one counts, too.
const OF_LONG: u64 = 2_001;

/// Bodies whose executions are long, each with its numbers of events.
fn long_bodies() -> Vec<(&'static str, Vec<Point>)> {
    let rounds = [33, 83, 167, 333, 833].into_iter();
    vec![("fib_bench", rounds.map(|n| ((6 * n + 4) as f64, Subject::Program("fib_bench", n))).collect())]
}

/// The rows of a table: nanoseconds for each event and execution, by the number of events, and the exponent of an
/// execution.
fn long_executions() -> String {
    let mut rows = String::new();
    for (title, points) in long_bodies() {
        for memory in MODELS {
            let mut row = format!("| {title} | {memory}");
            let cost = |&(events, subject): &Point| {
                let work = Work { subject, explorer: Explorer::ReadsFrom, memory, executions: OF_LONG };
                let (executions, seconds) = best_time(|| {
                    let start = Instant::now();
                    let executions = work.explore();
                    (start.elapsed().as_secs_f64(), executions)
                });
                (events, 1e9 * seconds / executions as f64)
            };
            let costs: Curve = points.iter().map(cost).collect();
            costs.iter().for_each(|(events, nanoseconds)| {
                write!(row, " | {:.0}", nanoseconds / events).expect("a string grows")
            });
            println!("{row} | {:.2} |", whole_slope(&costs));
            writeln!(rows, "{row} | {:.2} |", whole_slope(&costs)).expect("a string grows");
        }
    }
    rows
}

fn draw(path: &Path, y: &str, panels: Vec<(String, Vec<Curve>)>) -> Result<(), Box<dyn Error>> {
    let names = MODELS.map(|memory| memory.to_string());
    let names = names.iter().map(String::as_str).collect();
    Chart { columns: 3, x: "events, threads or locations", x_ticks: &[], x_shared: false, y, names, panels }.write(path)
}
