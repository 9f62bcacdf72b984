//! What rsmc says about the algorithms of `examples/` under each memory model: nothing is wrong with the right ones,
//! and what is wrong with the others. Every failure is replayed from its seed, which is short enough for a command
//! line.

#[path = "../examples/algorithms/mod.rs"]
pub(crate) mod algorithms;

use rsmc::Explorer;
use rsmc::MemoryModel::{self, C11, Pso, Sc, Tso};

/// The models of machines, the weakest last.
const MODELS: [MemoryModel; 3] = [Sc, Tso, Pso];

/// Every explorer that proves, under every model that it knows.
fn pairs() -> impl Iterator<Item = (MemoryModel, Explorer)> {
    let explorers = [Explorer::ReadsFrom, Explorer::View];
    let pairs = MODELS.into_iter().flat_map(move |memory| explorers.map(|explorer| (memory, explorer)));
    pairs.chain([(Sc, Explorer::ReadsValueFrom), (C11, Explorer::ReadsFrom)])
}

/// The right ones, tested the way a user would.
mod correct {
    use super::{algorithms, pairs};

    #[rsmc::test]
    fn treiber_stack() {
        algorithms::treiber_stack::correct();
    }

    #[rsmc::test]
    fn michael_scott_queue() {
        algorithms::michael_scott_queue::correct();
    }

    #[rsmc::test]
    fn peterson_lock() {
        algorithms::peterson_lock::correct();
    }

    #[rsmc::test(memory = ["sc", "tso", "pso"])]
    fn dekker_lock() {
        algorithms::dekker_lock::correct();
    }

    #[rsmc::test]
    fn spsc_ring() {
        algorithms::spsc_ring::correct();
    }

    #[rsmc::test]
    fn ref_count() {
        algorithms::ref_count::correct();
    }

    #[rsmc::test(memory = ["sc", "tso", "pso", "c11"])]
    fn spin_lock() {
        algorithms::spin_lock::correct();
    }

    #[rsmc::test(memory = ["sc", "tso", "pso", "c11"])]
    fn arc_swap() {
        algorithms::arc_swap::correct();
    }

    #[rsmc::test(memory = ["sc", "tso", "pso", "c11"])]
    fn publish() {
        algorithms::publish::correct();
    }

    #[rsmc::test(memory = ["sc", "tso", "pso", "c11"])]
    fn chase_lev() {
        algorithms::chase_lev::correct();
    }

    #[rsmc::test(memory = ["sc", "tso", "pso", "c11"])]
    fn mpsc_parking() {
        algorithms::mpsc_parking::correct();
    }

    #[rsmc::test(memory = ["sc", "tso", "pso", "c11"])]
    fn oneshot() {
        algorithms::oneshot::correct();
    }

    #[rsmc::test(memory = ["sc", "tso", "pso"])]
    fn seqlock() {
        algorithms::seqlock::correct();
    }

    /// A test passes at a limit that was asked for; none of these needs one.
    #[test]
    fn all_are_verified() {
        let bodies: [(&str, fn()); 28] = [
            ("treiber_stack", algorithms::treiber_stack::correct),
            ("michael_scott_queue", algorithms::michael_scott_queue::correct),
            ("peterson_lock", algorithms::peterson_lock::correct),
            ("peterson_lock, fenced", algorithms::peterson_lock::correct_fenced),
            ("peterson_lock, by value", algorithms::peterson_lock::correct_by_value),
            ("dekker_lock", algorithms::dekker_lock::correct),
            ("dekker_lock, by value", algorithms::dekker_lock::correct_by_value),
            ("spsc_ring", algorithms::spsc_ring::correct),
            ("spin_lock", algorithms::spin_lock::correct),
            ("spin_lock, by value", algorithms::spin_lock::correct_by_value),
            ("arc_swap", algorithms::arc_swap::correct),
            ("arc_swap, once", algorithms::arc_swap::correct_once),
            ("ref_count", algorithms::ref_count::correct),
            ("ref_count, by value", algorithms::ref_count::correct_by_value),
            ("publish", algorithms::publish::correct),
            ("publish, fenced", algorithms::publish::correct_fenced),
            ("publish, cell", algorithms::publish::correct_cell),
            ("publish, cell, fenced", algorithms::publish::correct_cell_fenced),
            ("seqlock", algorithms::seqlock::correct),
            ("chase_lev", algorithms::chase_lev::correct),
            ("chase_lev, two thieves", algorithms::chase_lev::correct_two_thieves),
            ("chase_lev, growing", algorithms::chase_lev::correct_growing),
            ("mpsc_parking", algorithms::mpsc_parking::correct),
            ("mpsc_parking, one sender", algorithms::mpsc_parking::correct_one_sender),
            ("oneshot", algorithms::oneshot::correct),
            ("oneshot, dropped", algorithms::oneshot::correct_dropped),
            ("oneshot, closing", algorithms::oneshot::correct_closing),
            ("oneshot, receiver dropped", algorithms::oneshot::correct_receiver_dropped),
        ];
        for (memory, explorer) in pairs() {
            let limit = std::time::Duration::from_secs(20);
            let config = rsmc::Config::default().memory(memory).explorer(explorer).max_duration(limit);
            for (name, body) in bodies {
                let report = rsmc::explore(&config, body);
                let text = rsmc::render(&report, None);
                assert!(matches!(report.verdict, rsmc::Verdict::Verified), "{name} under {memory}, {explorer}: {text}");
                assert!(report.executions > 1, "{name} has nothing to interleave: {report:?}");
            }
        }
    }
}

/// The others, each with how it fails.
mod broken {
    use rsmc::{Config, Failure, FailureKind, MemoryModel, Verdict};

    use super::algorithms::{
        arc_swap, chase_lev, dekker_lock, michael_scott_queue, mpsc_parking, oneshot, peterson_lock, publish,
        ref_count, seqlock, spin_lock, spsc_ring, treiber_stack,
    };
    use super::{C11, Explorer, MODELS, Pso, Tso, pairs};

    #[test]
    fn treiber_stack_push_once() {
        fails(treiber_stack::broken, FailureKind::Panic, "two elements were pushed");
    }

    #[test]
    fn michael_scott_queue_at_tail() {
        fails(michael_scott_queue::broken_at_tail, FailureKind::Panic, "elements of one producer, in order");
    }

    #[test]
    fn michael_scott_queue_tail_first() {
        fails(michael_scott_queue::broken_tail_first, FailureKind::Panic, "the queue is empty after an `enqueue`");
    }

    #[test]
    fn michael_scott_queue_relaxed() {
        fails(michael_scott_queue::broken_relaxed, FailureKind::DataRace, "michael_scott_queue.rs");
    }

    #[test]
    fn peterson_lock_turn_first() {
        fails(peterson_lock::broken_turn_first, FailureKind::DataRace, "peterson_lock.rs");
    }

    #[test]
    fn peterson_lock_look_first() {
        fails(peterson_lock::broken_look_first, FailureKind::DataRace, "peterson_lock.rs");
    }

    #[test]
    fn peterson_lock_without_fence() {
        fails_under(&[Tso, Pso], peterson_lock::broken_without_fence, FailureKind::DataRace, "peterson_lock.rs");
    }

    #[test]
    fn peterson_lock_without_fence_by_value() {
        fails_under(&[Tso, Pso], peterson_lock::broken_without_fence_by_value, FailureKind::Panic, "a count was lost");
    }

    #[test]
    fn peterson_lock_last_fence_only() {
        fails(peterson_lock::broken_last_fence_only, FailureKind::DataRace, "peterson_lock.rs");
    }

    #[test]
    fn peterson_lock_last_fence_only_by_value() {
        fails_under(&[Pso], peterson_lock::broken_last_fence_only_by_value, FailureKind::Panic, "a count was lost");
    }

    #[test]
    fn peterson_lock_without_acquire() {
        fails(peterson_lock::broken_without_acquire, FailureKind::DataRace, "peterson_lock.rs");
    }

    #[test]
    fn dekker_lock_stubborn() {
        fails(dekker_lock::broken_stubborn, FailureKind::Livelock, "dekker_lock.rs");
    }

    #[test]
    fn dekker_lock_without_fence() {
        fails_under(&[Tso, Pso], dekker_lock::broken_without_fence, FailureKind::DataRace, "dekker_lock.rs");
    }

    #[test]
    fn dekker_lock_without_fence_by_value() {
        fails_under(&[Tso, Pso], dekker_lock::broken_without_fence_by_value, FailureKind::Panic, "a count was lost");
    }

    #[test]
    fn dekker_lock_fenced_once() {
        fails_under(&[Tso, Pso], dekker_lock::broken_fenced_once, FailureKind::DataRace, "dekker_lock.rs");
    }

    #[test]
    fn spin_lock_unlock_relaxed() {
        fails(spin_lock::broken_unlock_relaxed, FailureKind::DataRace, "spin_lock.rs");
    }

    #[test]
    fn spin_lock_unlock_relaxed_by_value() {
        fails_under(&[Pso], spin_lock::broken_unlock_relaxed_by_value, FailureKind::Panic, "a count was lost");
    }

    #[test]
    fn spin_lock_unlock_by_swap() {
        fails(spin_lock::broken_unlock_by_swap, FailureKind::DataRace, "spin_lock.rs");
    }

    #[test]
    fn spin_lock_unlock_by_swap_by_value() {
        fails_under_c11_alone(spin_lock::broken_unlock_by_swap_by_value, "a count was lost");
    }

    #[test]
    fn spin_lock_lock_relaxed() {
        fails(spin_lock::broken_lock_relaxed, FailureKind::DataRace, "spin_lock.rs");
    }

    #[test]
    fn spin_lock_lock_relaxed_by_value() {
        fails_under_c11_alone(spin_lock::broken_lock_relaxed_by_value, "a count was lost");
    }

    #[test]
    fn arc_swap_replace_acquire() {
        fails_under_c11_alone(arc_swap::broken_replace_acquire, "a node was used after it was freed");
    }

    #[test]
    fn arc_swap_load_acquire() {
        fails_under_c11_alone(arc_swap::broken_load_acquire, "a node was used after it was freed");
    }

    #[test]
    fn arc_swap_load_release() {
        let message = "a node was used after it was freed";
        fails_under(&[Tso, Pso], arc_swap::broken_load_release, FailureKind::Panic, message);
    }

    #[test]
    fn spsc_ring_published_early() {
        fails(spsc_ring::broken_published_early, FailureKind::DataRace, "spsc_ring.rs");
    }

    #[test]
    fn spsc_ring_relaxed() {
        fails(spsc_ring::broken_relaxed, FailureKind::DataRace, "spsc_ring.rs");
    }

    #[test]
    fn ref_count_load_then_store() {
        fails(ref_count::broken_load_then_store, FailureKind::Panic, "how often the value was dropped");
    }

    #[test]
    fn ref_count_relaxed() {
        fails(ref_count::broken_relaxed, FailureKind::DataRace, "ref_count.rs");
    }

    #[test]
    fn ref_count_no_fence() {
        fails(ref_count::broken_no_fence, FailureKind::DataRace, "ref_count.rs");
    }

    #[test]
    fn ref_count_relaxed_by_value() {
        fails_under_c11_alone(ref_count::broken_relaxed_by_value, "what another thread left is not dropped");
    }

    #[test]
    fn ref_count_no_fence_by_value() {
        fails_under_c11_alone(ref_count::broken_no_fence_by_value, "what another thread left is not dropped");
    }

    #[test]
    fn publish_relaxed() {
        fails_under(&[Pso], publish::broken_relaxed, FailureKind::Panic, "the flag came before the letter");
    }

    #[test]
    fn publish_no_acquire() {
        fails_under_c11_alone(publish::broken_no_acquire, "the flag came before the letter");
    }

    #[test]
    fn publish_cell_relaxed() {
        fails(publish::broken_cell_relaxed, FailureKind::DataRace, "publish.rs");
    }

    #[test]
    fn publish_cell_no_acquire() {
        fails(publish::broken_cell_no_acquire, FailureKind::DataRace, "publish.rs");
    }

    #[test]
    fn seqlock_never_odd() {
        fails(seqlock::broken_never_odd, FailureKind::Panic, "a torn pair");
    }

    #[test]
    fn seqlock_no_recheck() {
        fails(seqlock::broken_no_recheck, FailureKind::Panic, "a torn pair");
    }

    #[test]
    fn seqlock_released_start() {
        fails_under(&[Pso], seqlock::broken_released_start, FailureKind::Panic, "a torn pair");
    }

    #[test]
    fn seqlock_relaxed_end() {
        fails_under(&[Pso], seqlock::broken_relaxed_end, FailureKind::Panic, "a torn pair");
    }

    #[test]
    fn seqlock_unfenced_read() {
        fails_under_c11_alone(seqlock::broken_unfenced_read, "a torn pair");
    }

    #[test]
    fn chase_lev_take_unfenced() {
        fails_under(&[Tso, Pso], chase_lev::broken_take_unfenced, FailureKind::Panic, "each element is got once");
    }

    #[test]
    fn chase_lev_steal_unfenced() {
        fails_under_c11_alone(chase_lev::broken_steal_unfenced, "each element is got once");
    }

    #[test]
    fn chase_lev_push_unfenced() {
        fails_under(&[Pso], chase_lev::broken_push_unfenced, FailureKind::Panic, "each element is got once");
    }

    #[test]
    fn chase_lev_growing_relaxed() {
        fails(chase_lev::broken_growing_relaxed, FailureKind::DataRace, "chase_lev.rs");
    }

    #[test]
    fn chase_lev_into_old() {
        fails(chase_lev::broken_into_old, FailureKind::Panic, "each element is got once");
    }

    #[test]
    fn mpsc_parking_looking_once() {
        fails(mpsc_parking::broken_looking_once, FailureKind::Deadlock, "mpsc_parking.rs");
    }

    #[test]
    fn mpsc_parking_receive_unfenced() {
        fails_under(&[Tso, Pso], mpsc_parking::broken_receive_unfenced, FailureKind::Deadlock, "mpsc_parking.rs");
    }

    #[test]
    fn mpsc_parking_send_unfenced() {
        fails_under(&[Tso, Pso], mpsc_parking::broken_send_unfenced, FailureKind::Deadlock, "mpsc_parking.rs");
    }

    #[test]
    fn mpsc_parking_send_by_swap() {
        fails_under(&[], mpsc_parking::broken_send_by_swap, FailureKind::Deadlock, "mpsc_parking.rs");
    }

    #[test]
    fn oneshot_send_relaxed() {
        fails(oneshot::broken_send_relaxed, FailureKind::DataRace, "oneshot.rs");
    }

    #[test]
    fn oneshot_poll_in_place() {
        fails(oneshot::broken_poll_in_place, FailureKind::DataRace, "oneshot.rs");
    }

    #[test]
    fn oneshot_send_over_closed() {
        fails(oneshot::broken_send_over_closed, FailureKind::DataRace, "oneshot.rs");
    }

    #[test]
    fn oneshot_poll_overwriting() {
        fails(oneshot::broken_poll_overwriting, FailureKind::Deadlock, "oneshot.rs");
    }

    #[test]
    fn oneshot_abandoned() {
        fails(oneshot::broken_abandoned, FailureKind::Deadlock, "oneshot.rs");
    }

    /// The proofs above in every interleaving. (The right one under C11 is left out: it takes seconds.)
    #[test]
    fn arc_swap_in_every_interleaving() {
        let config = |memory| Config::default().memory(memory).explorer(Explorer::Exhaustive);
        for body in [arc_swap::broken_replace_acquire as fn(), arc_swap::broken_load_acquire] {
            MODELS.into_iter().for_each(|memory| is_verified(&config(memory), body));
            fails_with(&config(C11), body, FailureKind::Panic, "a node was used after it was freed");
        }
        MODELS.into_iter().for_each(|memory| is_verified(&config(memory), arc_swap::correct_once));
    }

    /// Checks that a body fails like this under every model.
    #[track_caller]
    fn fails(body: fn(), kind: FailureKind, message: &str) {
        fails_under(&MODELS, body, kind, message);
    }

    /// Checks that a body panics like this under C11, and is verified under the others.
    #[track_caller]
    fn fails_under_c11_alone(body: fn(), message: &str) {
        fails_under(&[], body, FailureKind::Panic, message);
    }

    /// Checks that a body fails like this under these models and under C11, which allows all that they do, and is
    /// verified under the others.
    #[track_caller]
    fn fails_under(models: &[MemoryModel], body: fn(), kind: FailureKind, message: &str) {
        for (memory, explorer) in pairs() {
            let config = Config::default().memory(memory).explorer(explorer);
            if models.contains(&memory) || memory == C11 {
                fails_with(&config, body, kind, message);
            } else {
                is_verified(&config, body);
            }
        }
    }

    #[track_caller]
    fn is_verified(config: &Config, body: fn()) {
        let report = rsmc::explore(config, body);
        let text = rsmc::render(&report, None);
        assert!(matches!(report.verdict, Verdict::Verified), "it should hold: {text}");
    }

    /// Checks that a body fails like this, and that its seed fails in the same way.
    #[track_caller]
    fn fails_with(config: &Config, body: fn(), kind: FailureKind, message: &str) {
        let failure = failure_of(config, body);
        assert_eq!(failure.kind, kind, "{}", failure.message);
        assert!(failure.message.contains(message), "`{message}` is not in: {}", failure.message);

        let letters = failure.seed.to_string().len();
        assert!(letters <= 60, "a seed of {letters} letters for {} events", failure.trace.events.len());

        let again = failure_of(&config.clone().replay(failure.seed.clone()), body);
        assert_eq!((again.kind, &again.message), (failure.kind, &failure.message));
        assert_eq!(again.trace.events.len(), failure.trace.events.len());
        assert_eq!(again.seed, failure.seed);
    }

    #[track_caller]
    fn failure_of(config: &Config, body: fn()) -> Failure {
        let report = rsmc::explore(config, body);
        match report.verdict {
            Verdict::Failed(failure) => *failure,
            _ => panic!("it should fail: {}", rsmc::render(&report, None)),
        }
    }
}
