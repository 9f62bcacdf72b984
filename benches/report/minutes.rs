//! Memory over ten minutes of checks that have to remember something for nearly every run: each in its own process.

use std::error::Error;
use std::process::{Command, Stdio};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use rsmc::sync::Mutex;
use rsmc::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use rsmc::{Config, Explorer, MemoryModel, hint, thread};
use rsmc_benches::memory;

/// The argument with which this executable runs one of [`CHECKS`].
pub const ARGUMENT: &str = "minutes";
/// When memory is looked at.
const MINUTES: [u64; 5] = [1, 2, 4, 7, 10];
/// Explorers and bodies.
const CHECKS: [(Explorer, &str, fn()); 3] =
    [(Explorer::ReadsFrom, "polls", polls), (Explorer::View, "polls", polls), (Explorer::View, "rounds", rounds)];

/// A lock that serves tickets in order: whoever waits looks.
#[derive(Default)]
struct TicketLock {
    next: AtomicUsize,
    serving: AtomicUsize,
}

impl TicketLock {
    fn pass(&self) {
        let ticket = self.next.fetch_add(1, SeqCst);
        while self.serving.load(SeqCst) != ticket {
            hint::spin_loop();
        }
        self.serving.store(ticket + 1, SeqCst);
    }
}

fn wait_for(flag: &AtomicBool) {
    while !flag.load(SeqCst) {
        hint::spin_loop();
    }
}

/// Four threads: three wait for a flag, and then take a mutex and pass a ticket lock in turn.
fn polls() {
    let (tickets, flag, sum) = (TicketLock::default(), AtomicBool::new(false), Mutex::new(0));
    thread::scope(|scope| {
        for number in 0..3 {
            let (tickets, flag, sum) = (&tickets, &flag, &sum);
            scope.spawn(move || {
                if number == 0 {
                    flag.store(true, SeqCst);
                } else {
                    wait_for(flag);
                }
                for _ in 0..4 {
                    *sum.lock().unwrap() += number;
                    tickets.pass();
                }
            });
        }
        for _ in 0..3 {
            *sum.lock().unwrap() += 1;
            tickets.next.load(SeqCst);
        }
    });
}

/// Four threads: three pass a ticket lock twice, and then a mutex several times, as one does that waits for a flag.
fn rounds() {
    let (tickets, flag, sum) = (TicketLock::default(), AtomicBool::new(false), Mutex::new(0));
    thread::scope(|scope| {
        for number in 0..3 {
            let (tickets, flag, sum) = (&tickets, &flag, &sum);
            scope.spawn(move || {
                (0..2).for_each(|_| tickets.pass());
                (0..4).for_each(|_| *sum.lock().unwrap() += number);
                if number == 0 {
                    flag.store(true, SeqCst);
                }
            });
        }
        wait_for(&flag);
        (0..3).for_each(|_| *sum.lock().unwrap() += 1);
    });
}

/// Runs a check of [`CHECKS`] in this process, and prints the memory in KiB at each of [`MINUTES`], and the executions.
pub fn run(number: &str) -> Result<(), Box<dyn Error>> {
    let &(explorer, _, body) = CHECKS.get(number.parse::<usize>()?).ok_or("no such check")?;
    let start = Instant::now();
    let samples = spawn(move || {
        let sample = |minutes| {
            // A moment before the end.
            sleep(Duration::from_secs(60 * minutes - 1).saturating_sub(start.elapsed()));
            memory::resident() / 1024
        };
        MINUTES.map(sample)
    });
    let last = Duration::from_secs(60 * MINUTES[MINUTES.len() - 1]);
    let config = Config::default().explorer(explorer).memory(MemoryModel::Sc).max_duration(last);
    let report = rsmc::explore(&config, body);
    let samples = samples.join().map_err(|_| "no memory to look at")?;
    println!("{} {}", samples.map(|kib| kib.to_string()).join(" "), report.executions);
    Ok(())
}

/// A row for each check, side by side, and the worst growth from the fourth minute to the last, with its check.
pub fn rows() -> Result<(String, f64, String), Box<dyn Error>> {
    let (mut rows, mut worst) = (String::new(), (0.0, String::new()));
    let this = std::env::current_exe()?;
    let start = |number: usize| {
        Command::new(&this).args([ARGUMENT, &number.to_string()]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    };
    let started = (0..CHECKS.len()).map(start).collect::<Result<Vec<_>, _>>()?;
    for (child, (explorer, name, _)) in started.into_iter().zip(CHECKS) {
        let text = String::from_utf8(child.wait_with_output()?.stdout)?;
        let numbers: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let [.., middle, _, last, executions] = numbers[..] else { return Err(format!("{name}: {text}").into()) };
        let growth = last as f64 / middle as f64;
        if growth > worst.0 {
            worst = (growth, format!("{explorer} in {name}"));
        }
        let mib = numbers[..MINUTES.len()].iter().map(|kib| (kib / 1024).to_string());
        let row = format!(
            "| {explorer} | {name} | {} | {} |\n",
            crate::measure::thousands(executions),
            mib.collect::<Vec<_>>().join(" | ")
        );
        print!("{row}");
        rows += &row;
    }
    Ok((rows, worst.0, worst.1))
}
