//! VerifyTSO and VerifyPSO, with and without closure, against the naive verifiers.
//!
//! A smoke test with statistics: two sizes of a few families. The curves are in docs/benchmarks/verify.md, which
//! `cargo run --profile measured --bin report verify` writes.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rsmc_benches::verify_families::{Algorithm, Body, Ending, Family};
use rsmc_core::model::MemoryModel::{Pso, Tso};

/// Families, each with two lengths for VerifyTSO and VerifyPSO and two for the naive verifiers.
fn families() -> Vec<(Family, [usize; 2], [usize; 2])> {
    let tso = |k, ending, possible| Family { model: Tso, body: Body::Distinct, ending, possible, k };
    let pso = |k, ending, possible| Family { model: Pso, body: Body::Chain { unread: 1 }, ending, possible, k };
    vec![
        (tso(2, Ending::Seen, false), [8, 16], [4, 8]),
        (tso(3, Ending::Seen, false), [4, 8], [2, 4]),
        (tso(4, Ending::Seen, false), [3, 6], [1, 2]),
        (tso(6, Ending::Seen, false), [1, 2], [1, 1]),
        (tso(4, Ending::Blind, false), [3, 6], [1, 2]),
        (tso(3, Ending::Seen, true), [4, 8], [2, 4]),
        (tso(4, Ending::Blind, true), [3, 6], [2, 4]),
        (tso(4, Ending::Easy, true), [8, 16], [8, 16]),
        (pso(2, Ending::Seen, false), [8, 16], [3, 6]),
        (pso(3, Ending::Seen, false), [4, 8], [1, 2]),
        (pso(4, Ending::Seen, false), [2, 4], [1, 1]),
        (pso(5, Ending::Blind, false), [1, 2], [1, 1]),
        (pso(3, Ending::Seen, true), [4, 8], [1, 2]),
        (pso(5, Ending::Blind, true), [1, 2], [1, 1]),
        (pso(4, Ending::Easy, true), [8, 16], [8, 16]),
    ]
}

fn verify(criterion: &mut Criterion) {
    for (family, lengths, naive_lengths) in families() {
        let mut group = criterion.benchmark_group(format!("verify {}", family.name()));
        group.sample_size(10).warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(500));
        for algorithm in Algorithm::ALL {
            let mut lengths = Vec::from(if algorithm == Algorithm::Naive { naive_lengths } else { lengths });
            lengths.dedup();
            for m in lengths {
                let instance = family.instance(m);
                let id = BenchmarkId::new(algorithm.name(), format!("n={}", instance.len()));
                group.bench_function(id, |bencher| bencher.iter(|| algorithm.run(family.model, black_box(&instance))));
            }
        }
        group.finish();
    }
}

criterion_group!(benches, verify);
criterion_main!(benches);
