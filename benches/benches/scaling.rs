//! The first executions of bodies that grow in one direction. criterion's `elem/s` are executions per second; the
//! exponents are in docs/benchmarks/scaling.md, which `cargo run --profile measured --bin report scaling` writes.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rsmc::{Explorer, MemoryModel};
use rsmc_benches::grid::Grid;
use rsmc_benches::instructions::{Subject, Work};

/// What grows, and the shapes.
const GROWTHS: [(&str, [Grid; 2]); 3] = [
    ("events", [grid(3, 2, 4), grid(3, 2, 16)]),
    ("threads", [grid(2, 2, 12), grid(6, 2, 4)]),
    ("locations", [grid(4, 1, 8), grid(4, 16, 8)]),
];
const EXECUTIONS: u64 = 200;

const fn grid(threads: usize, locations: usize, operations: usize) -> Grid {
    Grid { threads, locations, operations }
}

fn scaling(criterion: &mut Criterion) {
    for (what, grids) in GROWTHS {
        let mut group = criterion.benchmark_group(format!("scaling {what}"));
        group.sample_size(10);
        for grid in grids {
            let (explorer, memory) = (Explorer::ReadsFrom, MemoryModel::Sc);
            let work = Work { subject: Subject::Grid(grid), explorer, memory, executions: EXECUTIONS };
            group.throughput(Throughput::Elements(work.explore()));
            let Grid { threads, locations, operations } = grid;
            let id = BenchmarkId::from_parameter(format!("k={threads} d={locations} n={}", threads * operations));
            group.bench_function(id, |bencher| bencher.iter(|| black_box(work.explore())));
        }
        group.finish();
    }
}

criterion_group!(benches, scaling);
criterion_main!(benches);
