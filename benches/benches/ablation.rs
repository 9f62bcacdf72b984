//! RVF-SMC with one of its parts switched off, and RF-SMC on a runtime with one of its savings switched off.
//! criterion's `elem/s` are runs per second.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rsmc::MemoryModel;
use rsmc_benches::explorations::{ABLATIONS, RUNTIMES, body, drive, drive_with};
use rsmc_core::explore::{RfSmc, RvfSmc};

const PROGRAMS: [(&str, usize); 4] = [("readinc", 5), ("fib_bench", 2), ("redundant_co", 10), ("peterson", 2)];

fn ablation(criterion: &mut Criterion) {
    for (name, n) in PROGRAMS {
        let (body, mut group) = (body(name), criterion.benchmark_group(format!("ablation {name}({n})")));
        group.sample_size(10).warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(500));
        for (what, options) in ABLATIONS {
            let run = || drive(MemoryModel::Sc, body, n, || RvfSmc::with_options(options), |_, runs| runs);
            group.throughput(Throughput::Elements(run()));
            group.bench_function(what, |bencher| bencher.iter(|| black_box(run())));
        }
        for (what, savings) in RUNTIMES {
            let model = MemoryModel::Sc;
            let run = || drive_with(savings, model, body, n, || RfSmc::new(model), |_, runs| runs);
            group.throughput(Throughput::Elements(run()));
            group.bench_function(format!("reads-from, {what}"), |bencher| bencher.iter(|| black_box(run())));
        }
        group.finish();
    }
}

criterion_group!(benches, ablation);
criterion_main!(benches);
