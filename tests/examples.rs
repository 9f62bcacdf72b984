//! What rsmc says about the algorithms of `examples/`: nothing is wrong with the right ones, and what is wrong with
//! the others. Every failure is replayed from its seed.

#[path = "../examples/algorithms/mod.rs"]
mod algorithms;

/// The right ones, tested the way a user would.
mod correct {
    use crate::algorithms;

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

    #[rsmc::test]
    fn spsc_ring() {
        algorithms::spsc_ring::correct();
    }

    #[rsmc::test]
    fn ref_count() {
        algorithms::ref_count::correct();
    }

    /// A test passes at a limit that was asked for; none of these needs one.
    #[test]
    fn all_are_verified() {
        let bodies: [(&str, fn()); 5] = [
            ("treiber_stack", algorithms::treiber_stack::correct),
            ("michael_scott_queue", algorithms::michael_scott_queue::correct),
            ("peterson_lock", algorithms::peterson_lock::correct),
            ("spsc_ring", algorithms::spsc_ring::correct),
            ("ref_count", algorithms::ref_count::correct),
        ];
        let config = rsmc::Config::default().max_duration(std::time::Duration::from_secs(20));
        for (name, body) in bodies {
            let report = rsmc::explore(&config, body);
            assert!(matches!(report.verdict, rsmc::Verdict::Verified), "{name}: {}", rsmc::render(&report, None));
            assert!(report.executions > 1, "{name} has nothing to interleave: {report:?}");
        }
    }
}

/// The others, each with how it fails.
mod broken {
    use rsmc::{Config, Failure, FailureKind, Verdict};

    use crate::algorithms::{michael_scott_queue, peterson_lock, ref_count, spsc_ring, treiber_stack};

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
    fn peterson_lock_turn_first() {
        fails(peterson_lock::broken_turn_first, FailureKind::DataRace, "peterson_lock.rs");
    }

    #[test]
    fn peterson_lock_look_first() {
        fails(peterson_lock::broken_look_first, FailureKind::DataRace, "peterson_lock.rs");
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

    /// Checks that a body fails like this, and that its seed fails in the same way.
    #[track_caller]
    fn fails(body: fn(), kind: FailureKind, message: &str) {
        let failure = failure_of(&Config::default(), body);
        assert_eq!(failure.kind, kind, "{}", failure.message);
        assert!(failure.message.contains(message), "`{message}` is not in: {}", failure.message);

        let again = failure_of(&Config::default().replay(failure.seed.clone()), body);
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
