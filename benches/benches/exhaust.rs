//! Whole checks by every explorer, under several memory models. criterion's `elem/s` are runs per second. All programs
//! and sizes are in docs/benchmarks/exhaust.md, which `cargo run --profile measured --bin report exhaust` writes.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rsmc_benches::explorations::{MODES, explore_under, program};

const PROGRAMS: [(&str, usize); 3] = [("readinc", 4), ("fib_bench", 2), ("reorder", 4)];

fn exhaust(criterion: &mut Criterion) {
    for (name, n) in PROGRAMS {
        let (program, mut group) = (program(name), criterion.benchmark_group(format!("exhaust {name}({n})")));
        group.sample_size(10).warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(500));
        for (explorer, memory) in MODES {
            let body = program.body_under(memory);
            group.throughput(Throughput::Elements(explore_under(memory, body, n, explorer).runs));
            group.bench_function(format!("{explorer} {memory}"), |bencher| {
                bencher.iter(|| black_box(explore_under(memory, body, n, explorer)));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, exhaust);
criterion_main!(benches);
