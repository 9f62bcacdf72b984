//! Goldens of executions with store buffers.

use std::ops::Range;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use rsmc_core::base::ThreadId;
use rsmc_core::session::{FailureKind, MemoryModel};
use rsmc_core::step::Run;
use rsmc_core::trace::{Action, NoteKind};

use super::pictures::check_forms;
use super::script::{MAIN, Script, add, buffered, cas};
use super::{Case, check};

fn report(memory: MemoryModel, kind: FailureKind, message: &str, run: &Run, name: &str) -> String {
    Case { memory, ..Case::new(kind, message, run) }.text(Some(name))
}

fn panic_text(memory: MemoryModel, message: &str, run: &Run, name: &str) -> String {
    report(memory, FailureKind::Panic, message, run, name)
}

fn end_and_join(s: &mut Script, threads: &[ThreadId], line: u32) {
    threads.iter().for_each(|&thread| s.end(thread));
    threads.iter().for_each(|&thread| s.join(MAIN, thread, line));
}

#[test]
fn store_buffering_under_tso() {
    let message = "assertion failed: both read 0";
    let run = buffered(MemoryModel::Tso, "src/dekker.rs", |s| {
        let [x, y] = [6, 7].map(|line| s.location("AtomicUsize", line, 0));
        let a = s.spawn(MAIN, None, 10);
        let b = s.spawn(MAIN, None, 14);
        let in_x = s.step(a, Action::Store(1), x, Release, 11);
        s.step(a, Action::Load, y, Acquire, 12);
        let in_y = s.step(b, Action::Store(1), y, Release, 15);
        s.step(b, Action::Load, x, Acquire, 16);
        s.flush(in_x);
        s.flush(in_y);
        end_and_join(s, &[a, b], 18);
        s.panic(MAIN, message, 19);
    });
    check("buffers_tso", &panic_text(MemoryModel::Tso, message, &run, "dekker::tests::one_wins"));
}

#[test]
fn message_passing_under_pso() {
    let message = "assertion `left == right` failed: the data is there\n  left: 0\n right: 42";
    let run = buffered(MemoryModel::Pso, "src/mailbox.rs", |s| {
        let data = s.location("AtomicU64", 9, 0);
        let ready = s.location("AtomicBool", 10, 0);
        let sender = s.spawn(MAIN, Some("sender"), 20);
        let in_data = s.step(sender, Action::Store(42), data, Relaxed, 21);
        s.step(sender, Action::Load, data, Relaxed, 22);
        let in_ready = s.step(sender, Action::Store(1), ready, Relaxed, 23);
        s.flush(in_ready);
        s.step(MAIN, Action::Load, ready, Acquire, 27);
        s.step(MAIN, Action::Load, data, Relaxed, 28);
        s.panic(MAIN, message, 28);
        s.flush(in_data);
        s.end(sender);
    });
    check("buffers_pso", &panic_text(MemoryModel::Pso, message, &run, "mailbox::tests::send_one"));
    let case = Case { memory: MemoryModel::Pso, ..Case::new(FailureKind::Panic, message, &run) };
    check_forms("buffers_pso", &case);
}

#[test]
fn many_threads_with_buffers() {
    let message = "two workers at once";
    let run = buffered(MemoryModel::Tso, "src/bakery.rs", |s| {
        let flags: Vec<_> = (0..5).map(|_| s.location("AtomicBool", 8, 0)).collect();
        let inside = s.location("AtomicUsize", 9, 0);
        let workers: Vec<_> = (0..5).map(|n| s.spawn(MAIN, Some(&format!("worker-{n}")), 20)).collect();
        (2..5).for_each(|n| s.end(workers[n]));
        let ins: Vec<_> = (0..2).map(|n| s.step(workers[n], Action::Store(1), flags[n], Release, 22)).collect();
        for (n, &worker) in workers[..2].iter().enumerate() {
            for other in (0..5).filter(|other| *other != n) {
                s.step(worker, Action::Load, flags[other], Acquire, 24);
            }
        }
        s.flush(ins[0]);
        s.step(workers[0], add(1), inside, Relaxed, 28);
        s.flush(ins[1]);
        s.step(workers[1], add(1), inside, Relaxed, 28);
        s.panic(workers[1], message, 28);
        s.end(workers[1]);
    });
    check("buffers_lanes", &panic_text(MemoryModel::Tso, message, &run, "bakery::tests::five_workers"));
}

#[test]
fn cut_off_while_a_store_waits() {
    let run = buffered(MemoryModel::Tso, "src/stop.rs", |s| {
        let stop = s.location("AtomicBool", 5, 0);
        let rounds = s.location("AtomicU32", 6, 0);
        let worker = s.spawn(MAIN, Some("worker"), 9);
        s.step(MAIN, Action::Store(1), stop, Relaxed, 15);
        for _ in 0..8 {
            s.step(worker, Action::Load, stop, Relaxed, 10);
            s.step(worker, add(1), rounds, Relaxed, 11);
        }
    });
    let message = "the execution did not end within 17 operations; the last one was by thread worker at src/stop.rs:11";
    let text = report(MemoryModel::Tso, FailureKind::StepLimit, message, &run, "stop::tests::stops");
    check("buffers_cut_off", &text);
}

#[test]
fn stores_that_need_not_wait() {
    let message = "assertion `left == right` failed: both increments count\n  left: 1\n right: 2";
    let run = buffered(MemoryModel::Tso, "src/counter.rs", |s| {
        let count = s.location("AtomicUsize", 8, 0);
        let done = s.location("AtomicU32", 9, 0);
        let [a, b] = [12, 12].map(|line| s.spawn(MAIN, None, line));
        s.step(a, Action::Load, count, Acquire, 13);
        s.step(b, Action::Load, count, Acquire, 13);
        let first = s.step(b, Action::Store(1), count, Release, 14);
        s.flush(first);
        s.step(b, add(1), done, Relaxed, 15);
        s.end(b);
        let second = s.step(a, Action::Store(1), count, Release, 14);
        s.step(a, Action::Load, done, Relaxed, 15);
        s.flush(second);
        end_and_join(s, &[a], 18);
        s.join(MAIN, b, 18);
        s.step(MAIN, Action::Load, count, SeqCst, 20);
        s.panic(MAIN, message, 20);
    });
    check("buffers_at_once", &panic_text(MemoryModel::Tso, message, &run, "counter::tests::two_increments"));
}

#[test]
fn folding_keeps_what_was_missed() {
    let message = "closed and still in use";
    let run = buffered(MemoryModel::Pso, "src/pool.rs", |s| {
        let users = s.location("AtomicU32", 5, 0);
        let closed = s.location("AtomicBool", 6, 0);
        let tries = s.location("AtomicU32", 7, 0);
        let [user, closer] = [("user", 10), ("closer", 30)].map(|(name, line)| s.spawn(MAIN, Some(name), line));
        let attempt = |s: &mut Script, values: Range<u64>| {
            values.for_each(|n| {
                s.step(user, cas(n, n + 1), tries, Relaxed, 12);
            });
        };
        attempt(s, 0..20);
        let enters = s.step(user, Action::Store(1), users, Release, 14);
        let closes = s.step(closer, Action::Store(1), closed, Release, 31);
        s.step(user, Action::Load, closed, Acquire, 15);
        s.step(closer, Action::Load, users, Acquire, 32);
        s.note(closer, NoteKind::Hint, 33);
        (0..10).for_each(|_| {
            s.step(closer, Action::Load, tries, Relaxed, 34);
        });
        s.flush(enters);
        s.flush(closes);
        attempt(s, 20..60);
        s.panic(user, message, 16);
        s.end(user);
    });
    check("buffers_folded", &panic_text(MemoryModel::Pso, message, &run, "pool::tests::close"));
}
