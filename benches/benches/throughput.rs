//! Executions per second: rsmc's `reads-from` and `random`, loom, and shuttle's random scheduler, on the same
//! bodies in the same run.
//!
//! A tool that explores is measured over a whole exploration (loom: its first executions), one that samples over a
//! fixed number of runs; criterion's `elem/s` are executions per second in both cases.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use rsmc::{Config, Explorer, Report};
use rsmc_benches::{on_loom, on_rsmc, on_shuttle};

/// How many executions the samplers run, and loom at most.
const SAMPLES: u64 = 1_000;

/// A program, for every tool that can run it.
struct Program {
    name: &'static str,
    rsmc: fn(usize),
    loom: Option<fn(usize)>,
    shuttle: fn(usize),
    n: usize,
}

fn programs() -> Vec<Program> {
    macro_rules! program {
        ($body:ident, $n:expr, loom: $loom:expr) => {
            Program {
                name: concat!(stringify!($body), "(", stringify!($n), ")"),
                rsmc: on_rsmc::$body,
                loom: $loom.then_some(on_loom::$body as fn(usize)),
                shuttle: on_shuttle::$body,
                n: $n,
            }
        };
    }
    vec![
        program!(readinc, 4, loom: true),
        program!(readinc, 5, loom: false),
        program!(casrot, 4, loom: true),
        program!(casrot, 7, loom: false),
        program!(treiber, 2, loom: true),
    ]
}

fn reads_from(program: &Program) -> Report {
    let (body, n) = (program.rsmc, program.n);
    rsmc::explore(&Config::default().keep_going(true), move || body(n))
}

fn random(program: &Program) -> Report {
    let (body, n) = (program.rsmc, program.n);
    rsmc::explore(&Config::default().explorer(Explorer::Random).max_executions(SAMPLES), move || body(n))
}

/// Runs loom's first executions; how many it ran.
fn loom(body: fn(usize), n: usize) -> u64 {
    let executions = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&executions);
    let mut builder = loom::model::Builder::new();
    builder.max_permutations = Some(SAMPLES as usize);
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        body(n);
    });
    executions.load(Ordering::Relaxed)
}

fn shuttle(program: &Program) {
    let (body, n) = (program.shuttle, program.n);
    shuttle::check_random(move || body(n), SAMPLES as usize);
}

fn measure(group: &mut BenchmarkGroup<'_, WallTime>, tool: &str, executions: u64, mut run: impl FnMut()) {
    group.throughput(Throughput::Elements(executions));
    group.bench_function(tool, |bencher| bencher.iter(&mut run));
}

fn throughput(criterion: &mut Criterion) {
    for program in programs() {
        let mut group = criterion.benchmark_group(program.name);
        group.sample_size(10);
        measure(&mut group, "rsmc reads-from", reads_from(&program).runs, || drop(black_box(reads_from(&program))));
        measure(&mut group, "rsmc random", random(&program).runs, || drop(black_box(random(&program))));
        if let Some(body) = program.loom {
            measure(&mut group, "loom", loom(body, program.n), || {
                black_box(loom(body, program.n));
            });
        }
        measure(&mut group, "shuttle random", SAMPLES, || shuttle(&program));
        group.finish();
    }
}

criterion_group!(benches, throughput);
criterion_main!(benches);
