//! Random programs explored in parts, each from the checkpoint of the one before, and by worker processes: the numbers
//! are those of a check that explores everything at once. Each program has a process of its own, which its workers are
//! started from.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use rsmc::{Config, MemoryModel, Report, Verdict};
use rsmc_core::session::check_body;

use super::program::{Log, Mix, Program};
use crate::support::child;

/// The largest number of executions that a program may have, to be compared.
const MOST: u64 = 2_000;

fn numbers(report: &Report) -> (u64, u64) {
    (report.executions, report.failures)
}

/// Explores a few executions at a time.
fn in_parts(config: &Config, body: &(dyn Fn() + Sync), at_once: u64) -> (Report, u32) {
    let (mut resume, mut parts) = (None, 0);
    loop {
        let mut asked = 0;
        let mut pulse = |_: &_| {
            asked += 1;
            asked <= at_once
        };
        let resume_from = resume.take();
        let (report, checkpoint) = check_body(config, body, |body| {
            body.check().pulse(Duration::ZERO, &mut pulse).resume(resume_from).run_part()
        })
        .expect("it fits");
        parts += 1;
        match checkpoint {
            Some(checkpoint) => resume = Some(checkpoint),
            None => return (report, parts),
        }
    }
}

/// Compares on a program of a mix. If it was small enough, says how many executions it has, in how many parts they were
/// explored, and how many of them workers ran.
#[allow(clippy::print_stdout, reason = "the parent process reads it")]
pub fn compare<M: Mix>(seed: u64) {
    let (program, log) = (Program::<M>::random(seed), Log::default());
    let here = AtomicU64::new(0);
    let body = || {
        here.fetch_add(1, Relaxed);
        program.run(&log);
    };
    for memory in [MemoryModel::Sc, MemoryModel::C11] {
        let config = Config::default().memory(memory).keep_going(true).allow_trivial(true).check_leaks(false);
        let config = config.spurious(program.spurious).max_steps(1_000).shrink(0).max_executions(MOST);
        let whole = rsmc::explore(&config, body);
        if matches!(whole.verdict, Verdict::Incomplete(_)) {
            continue;
        }
        let (parted, parts) = in_parts(&config, &body, 1 + seed % 7);
        assert_eq!(numbers(&parted), numbers(&whole), "{memory}, in {parts} parts: {program}");
        here.store(0, Relaxed);
        let divided = rsmc::explore(&config.jobs(2).divide_after(Duration::ZERO), body);
        assert_eq!(numbers(&divided), numbers(&whole), "{memory}, divided: {program}{:?}", divided.notes);
        let elsewhere = divided.executions.saturating_sub(here.load(Relaxed));
        println!("compared: {} {parts} {elsewhere}", whole.executions);
    }
}

/// Compares on random programs of these mixes, in processes that run `test`.
#[allow(clippy::print_stdout, reason = "how much was compared, for who asks with --nocapture")]
pub fn compare_all(test: &str, mixes: &[&str], first: u64, programs: u64) {
    let all = mixes.iter().flat_map(|mix| (first..first + programs).map(move |seed| format!("{mix} {seed}")));
    let all = Mutex::new(all);
    let (mut compared, mut sums) = (0, [0; 3]);
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
    let (asked, [executions, parts, elsewhere]) = (2 * mixes.len() as u64 * programs, sums);
    let text = format!(
        "{compared} of {asked} comparisons, {executions} executions in {parts} parts, {elsewhere} of them by workers"
    );
    println!("{text}");
    assert!(compared > asked / 2 && parts > 2 * compared && elsewhere > executions / 10, "{text}");
}
