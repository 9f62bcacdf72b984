//! The explorers on the same bodies under SC, and RVF-SMC with parts switched off.
//!
//! criterion's `elem/s` are runs per second. More programs and larger sizes are in docs/benchmarks/explorers.md, which
//! `cargo run --release --bin report explorers` writes.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use rsmc::MemoryModel;
use rsmc_benches::explorations::{ABLATIONS, EXPLORERS, body, drive, explore};
use rsmc_core::explore::RvfSmc;

const PROGRAMS: [(&str, &[usize]); 5] = [
    ("readinc", &[4, 5, 6]),
    ("fib_bench", &[2, 3]),
    ("reorder", &[4, 6, 8]),
    ("redundant_co", &[5, 10, 20]),
    ("msv", &[5, 7]),
];

const ABLATED: [(&str, usize); 4] = [("readinc", 5), ("fib_bench", 2), ("redundant_co", 10), ("peterson", 2)];

fn group<'c>(criterion: &'c mut Criterion, name: String) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(500));
    group
}

fn explorers(criterion: &mut Criterion) {
    for (name, n) in PROGRAMS.iter().flat_map(|(name, sizes)| sizes.iter().map(move |&n| (*name, n))) {
        let (body, mut group) = (body(name), group(criterion, format!("explorers {name}({n})")));
        for explorer in EXPLORERS {
            group.throughput(Throughput::Elements(explore(body, n, explorer).runs));
            group.bench_function(explorer.to_string(), |bencher| {
                bencher.iter(|| black_box(explore(body, n, explorer)));
            });
        }
        group.finish();
    }
}

fn ablations(criterion: &mut Criterion) {
    for (name, n) in ABLATED {
        let (body, mut group) = (body(name), group(criterion, format!("reads-value-from {name}({n})")));
        for (what, options) in ABLATIONS {
            let run = || drive(MemoryModel::Sc, body, n, || RvfSmc::with_options(options), |_, runs| runs);
            group.throughput(Throughput::Elements(run()));
            group.bench_function(what, |bencher| bencher.iter(|| black_box(run())));
        }
        group.finish();
    }
}

criterion_group!(benches, explorers, ablations);
criterion_main!(benches);
