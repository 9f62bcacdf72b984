//! Executions per second of `reads-from` and `random` under SC, by program size, beside the floor: the same body on
//! bare coroutines. criterion's `elem/s` are executions per second.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rsmc_benches::explorations::program;
use rsmc_benches::tools::{floor, random, reads_from};

const PROGRAMS: [(&str, &[usize]); 3] = [("readinc", &[3, 4, 5]), ("casrot", &[4, 7]), ("msqueue", &[2])];
/// Executions of a sample.
const SAMPLES: u64 = 500;

fn throughput(criterion: &mut Criterion) {
    for (name, n) in PROGRAMS.iter().flat_map(|(name, sizes)| sizes.iter().map(move |&n| (*name, n))) {
        let program = program(name);
        let mut group = criterion.benchmark_group(format!("throughput {name}({n})"));
        group.sample_size(10).throughput(Throughput::Elements(reads_from(&program, n).runs));
        group.bench_function("reads-from", |bencher| bencher.iter(|| black_box(reads_from(&program, n))));
        group.throughput(Throughput::Elements(SAMPLES));
        group.bench_function("random", |bencher| bencher.iter(|| black_box(random(&program, n, SAMPLES))));
        group.bench_function("floor", |bencher| bencher.iter(|| floor(&program, n, SAMPLES)));
        group.finish();
    }
}

criterion_group!(benches, throughput);
criterion_main!(benches);
