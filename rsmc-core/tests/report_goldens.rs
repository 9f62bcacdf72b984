//! Golden files of reports: a change of what users read shows as a change of a file in `tests/goldens`.
//!
//! Those with store buffers are in `goldens/buffered.rs`.
//!
//! `RSMC_BLESS=1 cargo test -p rsmc-core --test all report_goldens::` rewrites them.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

use rsmc_core::analysis::race::{Access, Position, Race};
use rsmc_core::base::{LocId, ThreadId};
use rsmc_core::explore::{RfSmc, up_to_date};
use rsmc_core::machine::Rules;
use rsmc_core::report;
use rsmc_core::session::{
    Check, Config, ExplorerKind, FailureKind, Fewest, Limit, MemoryModel, Needs, PreemptionBound, Progress,
};
use rsmc_core::step::{Executor, Explorer, Plan, Run, Why};
use rsmc_core::trace::spin::{Watched, Writer};
use rsmc_core::trace::{Action, NoteKind, Site};
use rsmc_testkit::litmus::{Interpreter, parse};

use crate::goldens::pictures::check_forms;
use crate::goldens::script::{MAIN, Script, add, cas};
use crate::goldens::{Case, check, counts};

const FREE_LOCK: Action = Action::Release { poisoned: false };

#[test]
fn lost_update() {
    let mut s = Script::new("src/counter.rs");
    let count = s.location("AtomicUsize", 8, 0);
    let [a, b] = [12, 12].map(|line| s.spawn(MAIN, None, line));
    s.step(a, Action::Load, count, Acquire, 13);
    s.step(b, Action::Load, count, Acquire, 13);
    s.step(b, Action::Store(1), count, Release, 14);
    s.end(b);
    s.step(a, Action::Store(1), count, Release, 14);
    s.end(a);
    s.join(MAIN, a, 18);
    s.join(MAIN, b, 18);
    s.step(MAIN, Action::Load, count, SeqCst, 20);
    let message = "assertion `left == right` failed: both increments count\n  left: 1\n right: 2";
    s.panic(MAIN, message, 20);
    let run = s.finish();
    let case = Case::new(FailureKind::Panic, message, &run);
    check("lost_update", &case.text(Some("counter::tests::two_increments")));
    check_forms("lost_update", &case);
}

#[test]
fn panic_in_a_named_thread_with_pointers() {
    let mut s = Script::new("src/stack.rs");
    let head = s.location("AtomicPtr", 22, 0x5555_1234_5600);
    let closed = s.location("AtomicBool", 23, 0);
    let ticket = s.location("AtomicI64", 24, 0);
    let producer = s.spawn(MAIN, Some("producer"), 40);
    let consumer = s.spawn(MAIN, Some("consumer"), 44);
    s.step(producer, Action::Load, head, Relaxed, 51);
    s.step(consumer, Action::Load, head, Acquire, 66);
    s.step(producer, cas(0x5555_1234_5600, 0x7f00_0000_1240), head, AcqRel, 53);
    s.step(consumer, cas(0x5555_1234_5600, 0), head, AcqRel, 68);
    s.step(producer, Action::Store(1), closed, Release, 57);
    s.step(producer, add(u64::MAX), ticket, Relaxed, 58);
    s.end(producer);
    s.step(consumer, Action::Load, closed, Acquire, 70);
    s.panic(consumer, "popped from a closed stack", 71);
    let run = s.finish();
    let case = Case::new(FailureKind::Panic, "popped from a closed stack", &run);
    check("pointers", &case.text(Some("stack::tests::close")));
}

#[test]
fn deadlock_of_two_locks() {
    let mut s = Script::new("src/bank.rs");
    let [from, to] = [9, 10].map(|line| s.location("Mutex", line, 0));
    let [a, b] = [14, 18].map(|line| s.spawn(MAIN, None, line));
    s.join_later(MAIN, a, 22);
    s.step(a, Action::Acquire, from, Acquire, 15);
    s.step(b, Action::Acquire, to, Acquire, 19);
    s.stand(a, Action::Acquire, to, Acquire, 16);
    s.stand(b, Action::Acquire, from, Acquire, 20);
    let run = s.finish();
    let case = Case::new(FailureKind::Deadlock, "every thread that is left waits for another", &run);
    check("deadlock", &case.text(Some("bank::tests::transfer_both_ways")));
    check_forms("deadlock", &case);
}

#[test]
fn lost_wakeup() {
    let mut s = Script::new("src/park.rs");
    let ready = s.location("AtomicBool", 5, 0);
    let token = s.location("park token", 8, 0);
    let lock = s.location("Mutex", 6, 0);
    let waiter = s.spawn(MAIN, None, 8);
    s.step(waiter, Action::Load, ready, Acquire, 9);
    s.step(MAIN, Action::Unpark, token, Release, 13);
    s.step(waiter, Action::Park, token, Acquire, 10);
    s.step(waiter, Action::Acquire, lock, Acquire, 11);
    s.step(waiter, FREE_LOCK, lock, Release, 11);
    s.step(MAIN, Action::TryAcquire, lock, Acquire, 14);
    s.step(MAIN, Action::Release { poisoned: true }, lock, Release, 15);
    let end = s.location("thread end", 16, 0);
    s.step(MAIN, Action::Load, end, Acquire, 16);
    s.stand(waiter, Action::Park, token, Acquire, 10);
    s.join_later(MAIN, waiter, 17);
    let run = s.finish();
    let case = Case::new(FailureKind::Deadlock, "every thread that is left waits for another", &run);
    check("lost_wakeup", &case.text(None));
}

/// A race between a thread that writes and main, which reads: the notes of both, and their lines.
fn race(
    loc: LocId,
    file: &'static str,
    (thread, first, wrote): (ThreadId, usize, u32),
    (second, read): (usize, u32),
) -> Race {
    let place = |line| Site::Place { file, line };
    Race {
        loc,
        first: Access { thread, writes: true, site: place(wrote), position: Position::Note(first), until: None },
        second: Access {
            thread: MAIN,
            writes: false,
            site: place(read),
            position: Position::Note(second),
            until: None,
        },
    }
}

#[test]
fn data_race_across_two_files() {
    let mut s = Script::new("src/mailbox/cell.rs");
    let slot = s.location("UnsafeCell", 11, 0);
    s.file("src/mailbox/mod.rs");
    let full = s.location("AtomicBool", 7, 0);
    let sender = s.spawn(MAIN, None, 31);
    s.file("src/mailbox/cell.rs");
    let first = s.note(sender, NoteKind::CellWrite(slot), 20);
    s.file("src/mailbox/mod.rs");
    s.step(sender, Action::Store(1), full, Relaxed, 33);
    s.step(MAIN, Action::Load, full, Acquire, 36);
    s.note(MAIN, NoteKind::Fence(SeqCst), 37);
    s.file("src/mailbox/cell.rs");
    let second = s.note(MAIN, NoteKind::CellRead(slot), 26);
    let race = race(slot, "src/mailbox/cell.rs", (sender, first, 20), (second, 26));
    let run = s.finish();
    let case = Case::new(FailureKind::DataRace, "data race on the UnsafeCell", &run);
    check("data_race", &Case { race: Some(race), ..case }.text(Some("mailbox::tests::send_one")));
}

/// The body goes on after a race; that it did does not matter.
#[test]
fn what_comes_after_the_failure_is_folded() {
    let mut s = Script::new("src/ring.rs");
    let slot = s.location("UnsafeCell", 11, 0);
    let tail = s.location("AtomicUsize", 12, 0);
    let sender = s.spawn(MAIN, None, 31);
    let first = s.note(sender, NoteKind::CellWrite(slot), 20);
    s.step(sender, Action::Store(1), tail, Relaxed, 21);
    s.step(MAIN, Action::Load, tail, Acquire, 36);
    let second = s.note(MAIN, NoteKind::CellRead(slot), 37);
    for turn in 2..40 {
        s.step(sender, Action::Store(turn), tail, Relaxed, 21);
        s.step(MAIN, Action::Load, tail, Acquire, 36);
    }
    s.end(sender);
    s.join(MAIN, sender, 40);
    let race = race(slot, "src/ring.rs", (sender, first, 20), (second, 37));
    let run = s.finish();
    let case = Case::new(FailureKind::DataRace, "data race on the UnsafeCell", &run);
    check("after_the_failure", &Case { race: Some(race), ..case }.text(Some("ring::tests::send_many")));
}

#[test]
fn livelock() {
    let mut s = Script::new("src/spin.rs");
    let locked = s.location("AtomicBool", 4, 1);
    let turn = s.location("AtomicU8", 5, 2);
    let other = s.spawn(MAIN, None, 10);
    s.step(other, Action::Load, turn, Acquire, 12);
    s.step(MAIN, cas(0, 1), locked, AcqRel, 17);
    s.step(MAIN, Action::Load, turn, Acquire, 18);
    let spin = |watched: Vec<(LocId, u64)>, line| Why::Spin {
        watched: watched.into_iter().map(|(loc, value)| Watched { loc, value, writer: Writer::Any }).collect(),
        hinted: line == 19,
        site: Site::Place { file: "src/spin.rs", line },
    };
    let waiting = vec![
        s.spins(MAIN, (cas(0, 1), locked, 17), spin(vec![(locked, 1), (turn, 2)], 19)),
        s.spins(other, (Action::Load, turn, 12), spin(vec![(turn, 2)], 12)),
    ];
    let run = Run { waiting, ..s.finish() };
    let case = Case::new(FailureKind::Livelock, "nobody will ever write it", &run);
    check("livelock", &case.text(Some("spin::tests::handover")));
}

#[test]
fn step_limit_folds_the_middle() {
    let mut s = Script::new("src/retry.rs");
    let version = s.location("AtomicU64", 6, 0);
    let other = s.spawn(MAIN, None, 9);
    for turn in 0..50 {
        s.step(other, Action::Load, version, Acquire, 10);
        s.step(other, cas(turn, turn + 1), version, AcqRel, 11);
        if turn % 10 == 0 {
            s.step(MAIN, Action::Load, version, Acquire, 16);
        }
    }
    let run = s.finish();
    let message = "the execution did not end within 105 operations; the last one was by thread t1 at src/retry.rs:11";
    check("step_limit", &Case::new(FailureKind::StepLimit, message, &run).text(Some("retry::tests::ends")));
}

#[test]
fn nondeterminism() {
    let mut s = Script::new("src/cache.rs");
    let hits = s.location("AtomicU32", 12, 0);
    let other = s.spawn(MAIN, None, 20);
    s.step(other, add(1), hits, Relaxed, 21);
    let run = s.finish();
    let message = "the test did something else when the same schedule was run again: operation 1 of thread t1, \
                   step 1: expected Load of AtomicU32 (Relaxed) at src/cache.rs:23, found Store(7) of AtomicU32 \
                   (Relaxed) at src/cache.rs:27";
    let case = Case::new(FailureKind::Nondeterminism, message, &run);
    check("nondeterminism", &case.text(Some("cache::tests::hits")));
}

#[test]
fn stale_seed() {
    let run = Script::new("src/cache.rs").finish();
    let message = "the seed does not fit this test any more: operation 2 was a load and is a store now, at \
                   src/cache.rs:14";
    check("stale_seed", &Case::new(FailureKind::StaleSeed, message, &run).text(Some("cache::tests::hits")));
}

#[test]
fn one_thread() {
    let mut s = Script::new("src/cache.rs");
    let bits = s.location("AtomicU8", 3, 0);
    s.step(MAIN, add(255), bits, Relaxed, 4);
    s.panic(MAIN, "attempt to add with overflow", 5);
    let run = s.finish();
    let case = Case::new(FailureKind::Panic, "attempt to add with overflow", &run);
    check("one_thread", &case.text(Some("cache::tests::bits")));
}

#[test]
fn eight_threads() {
    let mut s = Script::new("src/ring.rs");
    let tail = s.location("AtomicUsize", 15, 0);
    let full = s.location("AtomicBool", 16, 0);
    let threads: Vec<_> = (1..8).map(|_| s.spawn(MAIN, None, 30)).collect();
    for (n, &thread) in threads.iter().enumerate() {
        s.step(thread, Action::Load, tail, Acquire, 32);
        s.step(thread, cas(n as u64, n as u64 + 1), tail, AcqRel, 33);
    }
    s.step(threads[6], Action::Store(1), full, Release, 38);
    for &thread in &threads {
        s.end(thread);
        s.join(MAIN, thread, 42);
    }
    s.step(MAIN, cas(6, 8), tail, AcqRel, 44);
    s.panic(MAIN, "called `Result::unwrap()` on an `Err` value: 7", 44);
    let run = s.finish();
    let message = "called `Result::unwrap()` on an `Err` value: 7";
    check("eight_threads", &Case::new(FailureKind::Panic, message, &run).text(Some("ring::tests::seven_producers")));
}

#[test]
fn many_threads_have_no_lanes() {
    let mut s = Script::new("src/ring.rs");
    let tail = s.location("AtomicUsize", 15, 0);
    let threads: Vec<_> = (1..24).map(|n| s.spawn(MAIN, Some(&format!("worker-number-{n}")), 30)).collect();
    for &thread in &threads {
        s.step(thread, add(1), tail, Acquire, 32);
        s.end(thread);
    }
    s.panic(MAIN, "too many", 44);
    let run = s.finish();
    check("many_threads", &Case::new(FailureKind::Panic, "too many", &run).text(None));
}

/// The notes about the size of a schedule, and about memory models.
#[test]
fn smallest_schedule() {
    use MemoryModel::{C11, Pso, Sc, Tso};
    let mut s = Script::new("src/cache.rs");
    let bits = s.location("AtomicU8", 3, 0);
    s.step(MAIN, add(255), bits, Relaxed, 4);
    s.panic(MAIN, "attempt to add with overflow", 5);
    let run = s.finish();
    let model = |strongest, open: &[MemoryModel]| Needs::Model { strongest, open: open.to_vec() };
    let race = |fails, open: &[MemoryModel]| Needs::Race { fails, open: open.to_vec() };
    let cases = [
        (C11, Fewest::Possible, model(Sc, &[])),
        (C11, Fewest::OneMore, model(Tso, &[])),
        (Tso, Fewest::OneMore, model(Tso, &[])),
        (C11, Fewest::Found, model(Pso, &[])),
        (C11, Fewest::Found, model(C11, &[])),
        (C11, Fewest::Found, model(Tso, &[Sc])),
        (C11, Fewest::Found, model(C11, &[Tso, Pso])),
        (C11, Fewest::Possible, race(None, &[])),
        (C11, Fewest::Possible, race(None, &[Pso])),
        (C11, Fewest::Possible, race(Some((Tso, FailureKind::Deadlock)), &[])),
    ];
    let texts = cases.map(|(memory, fewest, needs)| {
        let case = Case::new(FailureKind::Panic, "attempt to add with overflow", &run);
        let text = Case { memory, fewest, needs: Some(needs), ..case }.text(None);
        let from = text.find("found after").expect("it has counts");
        text[from..].split("\n\n").next().unwrap_or_default().to_owned()
    });
    check("smallest_schedule", &texts.join("\n\n"));
}

#[test]
fn success() {
    let base = counts(1296, 6, 25);
    let lines = [
        report::verified(&base),
        report::verified(&report::Counts { runs: 1300, blocked: 4, ..base }),
        report::verified(&report::Counts { runs: 1301, elapsed: Duration::from_secs(185), ..base }),
        report::verified(&report::Counts { memory: MemoryModel::Tso, ..base }),
        report::verified(&counts(1, 3, 4)),
        report::verified(&report::Counts { shares: false, ..counts(1, 3, 4) }),
        report::verified(&counts(1, 1, 4)),
        report::verified(&counts(2, 1, 4)),
        report::verified(&report::Counts { unmodelled: true, ..base }),
    ];
    check("success", &lines.join("\n"));
}

#[test]
fn incomplete() {
    let base = report::Counts { elapsed: Duration::from_secs(600), ..counts(123_456, 4, 60) };
    let texts = [
        report::incomplete(&base, Limit::Duration(Duration::from_secs(600))),
        report::incomplete(
            &report::Counts { explorer: ExplorerKind::Exhaustive, ..counts(1000, 4, 60) },
            Limit::Executions(1000),
        ),
        report::incomplete(
            &report::Counts { explorer: ExplorerKind::Random, ..counts(10_000, 4, 60) },
            Limit::Executions(10_000),
        ),
    ];
    let most = Some(PreemptionBound::AtMost(2));
    let bounded = [
        report::Counts { preemption_bound: most, memory: MemoryModel::Tso, ..base },
        report::Counts { preemption_bound: most, delay_bound: Some(1), memory: MemoryModel::Tso, ..base },
        report::Counts { preemption_bound: most, ..base },
    ];
    check("bounded", &bounded.map(|counts| report::incomplete(&counts, Limit::Interrupted)).join("\n\n"));
    check("interrupted", &report::incomplete(&base, Limit::Interrupted));
    check("estimated", &[1, 100].map(stopped_after).join("\n\n"));
    check("workers", &report::incomplete(&base, Limit::Workers));
    check("replayed", &report::incomplete(&counts(1, 3, 12), Limit::Replay));
    check("incomplete", &texts.join("\n\n"));
}

/// A check of 125 runs is stopped after so many of them.
fn stopped_after(runs: u64) -> String {
    let program: String = (1..=4).map(|thread| format!("t{thread}: a{thread} = x; x = {thread}\n")).collect();
    let mut interpreter = Interpreter::new(&parse(&program).unwrap(), Rules::new(MemoryModel::Sc, 100)).unwrap();
    let (mut pulses, never) = (0, Duration::from_secs(3600));
    let mut pulse = |_: &Progress| {
        pulses += 1;
        pulses <= runs
    };
    let config = Config::default().memory(MemoryModel::Sc).max_duration(never);
    let report = Check::new(&config, &mut interpreter).pulse(Duration::ZERO, &mut pulse).run();
    let counts = report::Counts { elapsed: Duration::from_millis(10), ..(&report).into() };
    report::incomplete(&counts, Limit::Interrupted)
}

/// A read of an old write under C11: why it could take that.
/// The report on the first failing execution of a litmus program under C11.
fn under_c11(name: &str, text: &str) {
    let rules = Rules::new(MemoryModel::C11, 100);
    let mut interpreter = Interpreter::new(&parse(text).unwrap(), rules).unwrap();
    let (mut explorer, mut plan, mut run) = (RfSmc::new(MemoryModel::C11), Plan::default(), Run::default());
    while run.panics.is_empty() {
        assert!(explorer.next_plan(&mut plan), "the assertion fails in some execution");
        interpreter.execute(&plan, &mut run);
        explorer.observe(&run);
    }
    interpreter.execute(&up_to_date(&run.clone()), &mut run);
    let case = Case { memory: MemoryModel::C11, ..Case::new(FailureKind::Panic, "assertion failed", &run) };
    check(name, &case.text(Some("mailbox")));
    check_forms(name, &case);
}

#[test]
fn stale_read_under_c11() {
    under_c11("stale_read", "t1: x.rlx = 1; y.rel = 1\nt2: a = y.rlx; b = x.acq; assert a == 0 || b == 1\n");
}

/// Of the two reads one takes an old value in any order: it is the one that is not `SeqCst`.
#[test]
fn stale_read_of_a_strong_store_under_c11() {
    let text = "t1: x = 1; a = y.acq; if a == 0 { z.rlx = 1 }\nt2: y = 1; b = x; c = z.rlx; assert b == 1 || c == 0\n";
    under_c11("stale_read_of_seq_cst", text);
}

/// It reads what was overwritten before it in the run, but not in another order.
#[test]
fn no_stale_read_without_need_under_c11() {
    under_c11(
        "lost_update_under_c11",
        "t1: a = x; x = a + 1\nt2: b = x; x = b + 1\nmain: spawn t1; spawn t2; join t1; join t2; c = x; assert c == 2\n",
    );
}
