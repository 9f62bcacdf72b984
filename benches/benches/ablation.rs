//! RVF-SMC with one of its parts switched off. criterion's `elem/s` are runs per second. The other parts of the library
//! cannot be switched off.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rsmc::MemoryModel;
use rsmc_benches::explorations::{ABLATIONS, body, drive};
use rsmc_core::explore::RvfSmc;

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
        group.finish();
    }
}

criterion_group!(benches, ablation);
criterion_main!(benches);
