//! Random programs explored in parts, each from the checkpoint of the one before, and by worker processes: what they
//! show is what a check shows that explores everything at once. Each program has a process of its own, which its
//! workers are started from.
//!
//! Of parts the classes, their outcomes and their numbers are compared. Nobody sees the runs of workers, but a report
//! counts the failing executions by their messages. So the body ends in a deadlock whose message has what the threads
//! have learned: a thread of that name waits for ever. The message of another deadlock says who waits where.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use rsmc::{Config, FailureKind, MemoryModel, Report, thread};
use rsmc_core::runtime::hook;
use rsmc_core::session::{Seen, check_body};

use super::oracle::Shown;
use super::program::{Log, Mix, Program};
use crate::support::child;

/// The largest number of executions that a program may have, to be compared.
const MOST: u64 = 2_000;

/// The largest number of messages that a report tells apart.
const MOST_CAUSES: usize = 100;

/// The numbers of a report, and of the executions that fail with each message.
fn numbers(report: &Report) -> (u64, u64, BTreeMap<String, u64>) {
    let mut causes = BTreeMap::new();
    for cause in report.causes.iter().filter(|_| report.causes.len() < MOST_CAUSES) {
        // Which of several races is named, and which of several panics at one place, depends on the order of the runs.
        let message = match cause.kind {
            FailureKind::DataRace | FailureKind::Panic => format!("{:?}", cause.kind),
            _ => cause.message.clone(),
        };
        *causes.entry(message).or_default() += cause.executions;
    }
    (report.executions, report.failures, causes)
}

/// The body of a check: a program, and at its end a deadlock whose message tells what the threads have learned.
fn tell<M: Mix>(program: &Program<M>, log: &Log) {
    let result = catch_unwind(AssertUnwindSafe(|| program.run(log)));
    if hook::executions::is_unwinding() {
        result.unwrap_or_else(|payload| resume_unwind(payload));
        return;
    }
    let name = format!("{}, {}", log.text(), if result.is_ok() { "t0 returns" } else { "t0 panics" });
    let told = thread::Builder::new().name(name).spawn(thread::park).expect("it is a modelled thread");
    drop(told.join());
}

/// Explores a few executions at a time, `at_once` of them; all of them if there is no such number.
fn explore(config: &Config, body: &(dyn Fn() + Sync), log: &Log, at_once: Option<u64>) -> (Report, Shown, u64) {
    let (mut resume, mut parts, mut shown) = (None, 0, Shown::default());
    loop {
        let mut asked = 0;
        let mut pulse = |_: &_| {
            asked += 1;
            at_once.is_none_or(|most| asked <= most)
        };
        let mut watch = |seen: Seen<'_>| match seen {
            Seen::Run(run, counts) => shown.take_in(run, counts, log),
            Seen::StartOver => shown = Shown::default(),
        };
        let resume_from = resume.take();
        let (report, checkpoint) = check_body(config, body, |body| {
            body.check().watch(&mut watch).pulse(Duration::ZERO, &mut pulse).resume(resume_from).run_part()
        })
        .expect("it fits");
        parts += 1;
        match checkpoint {
            Some(checkpoint) => resume = Some(checkpoint),
            None => return (report, shown, parts),
        }
    }
}

/// Compares on a program of a mix. If it was small enough, says how many executions it has, in how many parts they were
/// explored, how many of them workers ran, and how many messages tell them apart.
#[allow(clippy::print_stdout, reason = "the parent process reads it")]
pub fn compare<M: Mix>(seed: u64) {
    let (program, log) = (Program::<M>::random(seed), Log::default());
    let here = AtomicU64::new(0);
    let body = || {
        here.fetch_add(1, Relaxed);
        tell(&program, &log);
    };
    for memory in [MemoryModel::Sc, MemoryModel::C11] {
        let config = Config::default().memory(memory).keep_going(true).allow_trivial(true).check_leaks(false);
        let mut config = config.spurious(program.spurious).max_steps(1_000).shrink(0).max_executions(MOST);
        config.explains = false;
        let (whole, shown, _) = explore(&config, &body, &log, None);
        let is_racy = whole.causes.iter().any(|cause| cause.kind == FailureKind::DataRace);
        if whole.executions >= MOST || M::RACES_CHANGE_EVENTS && is_racy {
            continue;
        }
        let (parted, shown_in_parts, parts) = explore(&config, &body, &log, Some(1 + seed % 7));
        assert_eq!(numbers(&parted), numbers(&whole), "{memory}, in {parts} parts: {program}");
        assert_eq!(shown_in_parts, shown, "{memory}, in {parts} parts: {program}");
        here.store(0, Relaxed);
        let divided = rsmc::explore(&config.jobs(2).divide_after(Duration::ZERO), body);
        assert_eq!(numbers(&divided), numbers(&whole), "{memory}, divided: {program}{:?}", divided.notes);
        let elsewhere = divided.executions.saturating_sub(here.load(Relaxed));
        println!("compared: {} {parts} {elsewhere} {}", whole.executions, numbers(&whole).2.len());
    }
}

/// Compares on random programs of these mixes, in processes that run `test`.
#[allow(clippy::print_stdout, reason = "how much was compared, for who asks with --nocapture")]
pub fn compare_all(test: &str, mixes: &[&str], first: u64, programs: u64) {
    let all = mixes.iter().flat_map(|mix| (first..first + programs).map(move |seed| format!("{mix} {seed}")));
    let all = Mutex::new(all);
    let (mut compared, mut sums) = (0, [0; 4]);
    std::thread::scope(|scope| {
        let search = || {
            let mut said = String::new();
            while let Some(case) = { all.lock().unwrap().next() } {
                let ended = child::run(test, &case, &[], Duration::from_secs(60)).unwrap();
                assert!(ended.status.success(), "{case}: {ended:?}");
                said += &ended.stdout;
            }
            said
        };
        let threads = [scope.spawn(search), scope.spawn(search)];
        for said in threads.map(|thread| thread.join().unwrap()) {
            for numbers in said.lines().filter_map(|line| line.split_once("compared: ")) {
                let numbers = numbers.1.split(' ').map(|number| number.parse::<u64>().expect("a number"));
                sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
                compared += 1;
            }
        }
    });
    let (asked, [executions, parts, elsewhere, messages]) = (2 * mixes.len() as u64 * programs, sums);
    let text = format!(
        "{compared} of {asked} comparisons, {executions} executions in {parts} parts, {elsewhere} of them by workers, \
         {messages} messages"
    );
    println!("{text}");
    assert!(
        compared > asked / 2 && parts > 2 * compared && elsewhere > executions / 10 && messages > compared,
        "{text}"
    );
}
