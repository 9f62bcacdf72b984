//! The same bodies on loom and shuttle: executions per second, as criterion's `elem/s`. Loom and shuttle's depth-first
//! search end after a limit; docs/benchmarks/peers.md says how long they take to the end.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rsmc_benches::explorations::program;
use rsmc_benches::tools::{loom, reads_from, shuttle_dfs, shuttle_random};

const PROGRAMS: [(&str, usize); 4] = [("readinc", 3), ("casw", 3), ("treiber", 2), ("msqueue", 2)];
/// Iterations at most, but for `reads-from`.
const MOST: u64 = 500;
const LIMIT: Duration = Duration::from_secs(10);

fn peers(criterion: &mut Criterion) {
    for (name, n) in PROGRAMS {
        let program = program(name);
        let mut group = criterion.benchmark_group(format!("peers {name}({n})"));
        group.sample_size(10).throughput(Throughput::Elements(reads_from(&program, n).runs));
        group.bench_function("rsmc reads-from", |bencher| bencher.iter(|| black_box(reads_from(&program, n))));
        group.throughput(Throughput::Elements(MOST));
        group.bench_function("shuttle random", |bencher| bencher.iter(|| shuttle_random(&program, n, MOST)));
        group.throughput(Throughput::Elements(shuttle_dfs(&program, n, MOST).iterations));
        group.bench_function("shuttle dfs", |bencher| bencher.iter(|| shuttle_dfs(&program, n, MOST)));
        group.throughput(Throughput::Elements(loom(&program, n, LIMIT, MOST).iterations));
        group.bench_function("loom", |bencher| bencher.iter(|| loom(&program, n, LIMIT, MOST)));
        group.finish();
    }
}

criterion_group!(benches, peers);
criterion_main!(benches);
