//! The report on VerifyTSO and VerifyPSO: their times as instances grow, against the naive verifiers.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rsmc_benches::verify_families::{Algorithm, Body, Ending, Family};
use rsmc_core::model::MemoryModel::{self, Pso, Tso};

use crate::chart::{Chart, Curve, slope};

const TEXT: &str = include_str!("verify.md");

/// The lengths that are tried, until a run takes long.
const LENGTHS: [usize; 18] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96];
/// No longer instance is tried after a run of so many seconds, nor one that is expected to take ten times as long.
const LONG: f64 = 0.25;
/// An instance is run until this many runs (unless they take seconds), and then up to this many while they are short.
const RUNS: (usize, usize) = (3, 25);
/// For so many seconds it is run in the first and in the second case.
const SECONDS: (f64, f64) = (2.0, 0.08);

/// Measures everything, and writes the text and the curves.
pub fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut table = Table::default();
    write_growth(folder, "verify-tso", &tso(), &mut table)?;
    write_growth(folder, "verify-pso", &pso(), &mut table)?;
    write_growth(folder, "verify-other", &others(), &mut table)?;
    write_threads(folder)?;
    let text = TEXT.replace("{{machine}}", &crate::machine()?).replace("{{table}}", &table.text);
    fs::write(folder.join("verify.md"), text)?;
    print!("{}", table.text);
    Ok(())
}

/// Not possible above, possible below.
fn tso() -> Vec<Family> {
    let family = |possible, (k, ending)| Family { model: Tso, body: Body::Distinct, ending, possible, k };
    let kinds = [(2, Ending::Seen), (3, Ending::Seen), (4, Ending::Seen), (4, Ending::Blind)];
    [false, true].into_iter().flat_map(|possible| kinds.map(|kind| family(possible, kind))).collect()
}

fn pso() -> Vec<Family> {
    let family =
        |possible, (k, ending, unread)| Family { model: Pso, body: Body::Chain { unread }, ending, possible, k };
    let impossible = [(2, Ending::Seen, 1), (2, Ending::Seen, 2), (3, Ending::Seen, 1), (5, Ending::Blind, 1)];
    let possible = [(3, Ending::Seen, 1), (3, Ending::Seen, 2), (4, Ending::Seen, 1), (5, Ending::Blind, 1)];
    impossible.map(|kind| family(false, kind)).into_iter().chain(possible.map(|kind| family(true, kind))).collect()
}

/// Where VerifyTSO and VerifyPSO have nothing to search.
fn others() -> Vec<Family> {
    vec![
        Family { model: Tso, body: Body::Distinct, ending: Ending::Easy, possible: true, k: 4 },
        Family { model: Pso, body: Body::Chain { unread: 1 }, ending: Ending::Easy, possible: true, k: 3 },
        Family { model: Pso, body: Body::Distinct, ending: Ending::Seen, possible: false, k: 2 },
        Family { model: Pso, body: Body::Distinct, ending: Ending::Seen, possible: true, k: 3 },
    ]
}

/// Times as the body grows.
fn write_growth(folder: &Path, name: &str, families: &[Family], table: &mut Table) -> Result<(), Box<dyn Error>> {
    let mut panels = Vec::new();
    for family in families {
        let curves = Algorithm::ALL.map(|algorithm| {
            let curve = curve(algorithm, LENGTHS.map(|m| (*family, m)), |family, m| family.step() * m);
            table.add(family, algorithm, &curve);
            curve
        });
        panels.push((family.name(), curves.into()));
    }
    draw(folder, name, "events of the body (n)", &[1.0, 10.0, 100.0, 1_000.0], panels)
}

/// Times as there are more threads for the same number of events.
fn write_threads(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut panels = Vec::new();
    for (model, body, events) in [(Tso, Body::Distinct, 24), (Pso, Body::Chain { unread: 1 }, 36)] {
        let family = |k| Family { model, body, ending: Ending::Seen, possible: false, k };
        let divides = |k: &usize| events % family(*k).step() == 0;
        let instances = (2..=events).filter(divides).map(|k| (family(k), events / family(k).step()));
        let curves = Algorithm::ALL.map(|algorithm| curve(algorithm, instances.clone(), |family, _| family.k));
        panels.push((format!("{model}, impossible, n = {events}"), curves.into()));
    }
    draw(folder, "verify-threads", "threads (k)", &[2.0, 3.0, 4.0, 6.0, 12.0], panels)
}

fn draw(
    folder: &Path,
    name: &str,
    x: &str,
    x_ticks: &[f64],
    panels: Vec<(String, Vec<Curve>)>,
) -> Result<(), Box<dyn Error>> {
    let names = Algorithm::ALL.map(Algorithm::name).into();
    Chart { columns: panels.len().min(4), x, x_ticks, x_shared: true, y: "milliseconds", names, panels }
        .write(&folder.join(name).with_extension("svg"))
}

/// The milliseconds that an algorithm takes, until it takes too long.
fn curve(
    algorithm: Algorithm,
    instances: impl IntoIterator<Item = (Family, usize)>,
    x: impl Fn(&Family, usize) -> usize,
) -> Curve {
    let mut times: Vec<f64> = Vec::new();
    let mut curve = Vec::new();
    for (family, m) in instances {
        if let [.., before, last] = times[..]
            && (last > LONG || last * last / before > 10.0 * LONG)
        {
            break;
        }
        let time = median_time(algorithm, &family, m);
        times.push(time);
        curve.push((x(&family, m) as f64, 1e3 * time));
    }
    curve
}

fn median_time(algorithm: Algorithm, family: &Family, m: usize) -> f64 {
    let instance = family.instance(m);
    let mut times = Vec::new();
    let mut spent = 0.0;
    while (times.len() < RUNS.0 && spent < SECONDS.0) || (times.len() < RUNS.1 && spent < SECONDS.1) {
        let start = Instant::now();
        let possible = algorithm.run(family.model, &instance);
        let time = start.elapsed().as_secs_f64();
        times.push(time);
        spent += time;
        assert_eq!(possible, family.possible, "{algorithm:?} is wrong: {family:?}, m = {m}");
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The fitted exponents, as rows of a table in Markdown.
#[derive(Default)]
struct Table {
    text: String,
}

impl Table {
    fn add(&mut self, family: &Family, algorithm: Algorithm, curve: &Curve) {
        let &(n, time) = curve.last().expect("at least one length is measured");
        let fitted = slope(curve).map_or("–".to_owned(), |slope| format!("{slope:.1}"));
        let row = format!(
            "| {} | {} | {} | {n} | {time:.2} | {fitted} | {} |\n",
            family.name(),
            algorithm.name(),
            curve.len(),
            bound(family, algorithm)
        );
        self.text.push_str(&row);
    }
}

/// The exponent of the paper's bound.
fn bound(family: &Family, algorithm: Algorithm) -> String {
    let k = family.k;
    match (algorithm, family.model, family.locations()) {
        (Algorithm::Naive, MemoryModel::Tso, _) => format!("2k = {}", 2 * k),
        (Algorithm::Naive, _, Some(d)) => format!("k(d+1) = {}", k * (d + 1)),
        (Algorithm::Naive, _, None) => "k(d+1), d grows".to_owned(),
        _ => format!("k+1 = {}", k + 1),
    }
}
