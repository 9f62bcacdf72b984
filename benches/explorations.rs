//! Explorations of the benchmark programs, also by explorers that checks do not offer.

use std::thread;

use rsmc::{Config, Explorer, MemoryModel, Report, Verdict};
use rsmc_core::explore::rvf_smc::Options;
use rsmc_core::machine::Rules;
use rsmc_core::runtime::{Runtime, Savings};
use rsmc_core::step::{End, Executor, Explorer as Explores, Plan, Run};

use crate::{on_floor, on_loom, on_rsmc, on_shuttle, relaxed};

/// The explorers that are compared, the one with the most classes first.
pub const EXPLORERS: [Explorer; 3] = [Explorer::ReadsFrom, Explorer::ReadsValueFrom, Explorer::View];

/// All explorers that prove and reduce, each under the models that it knows.
pub const MODES: [(Explorer, MemoryModel); 8] = [
    (Explorer::ReadsFrom, MemoryModel::Sc),
    (Explorer::ReadsFrom, MemoryModel::Tso),
    (Explorer::ReadsFrom, MemoryModel::Pso),
    (Explorer::ReadsFrom, MemoryModel::C11),
    (Explorer::ReadsValueFrom, MemoryModel::Sc),
    (Explorer::View, MemoryModel::Sc),
    (Explorer::View, MemoryModel::Tso),
    (Explorer::View, MemoryModel::Pso),
];

/// RVF-SMC as it is, and with one part switched off.
pub const ABLATIONS: [(&str, Options); 4] = [
    ("all of it", ALL),
    ("no backtrack signals", Options { backtrack_signals: false, ..ALL }),
    ("no closure", Options { closure: false, ..ALL }),
    ("no guidance", Options { guidance: false, ..ALL }),
];

const ALL: Options = Options { backtrack_signals: true, closure: true, guidance: true };

/// The runtime as it is, and with one of its savings switched off.
pub const RUNTIMES: [(&str, Savings); 3] = [
    ("all of it", Savings::ALL),
    ("a new stack for each thread", Savings { pooled_stacks: false, ..Savings::ALL }),
    ("a switch at each operation", Savings { in_place: false, ..Savings::ALL }),
];

/// A program and its sizes.
#[derive(Clone, Copy)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Its code.
    pub body: fn(usize),
    /// Its code with plain loads and stores that are `Relaxed`.
    pub relaxed: fn(usize),
    /// For loom.
    pub loom: fn(usize),
    /// For shuttle.
    pub shuttle: fn(usize),
    /// For the floor.
    pub floor: fn(usize),
    /// The sizes that are measured.
    pub sizes: &'static [usize],
    /// The largest size for ViewXplore, where it takes too long on some of these.
    pub most: usize,
}

macro_rules! programs {
    ($($name:ident $sizes:expr $(, view $view:literal)?;)+) => {
        [$(Program {
            name: stringify!($name),
            body: on_rsmc::$name,
            relaxed: relaxed::$name,
            loom: on_loom::$name,
            shuttle: on_shuttle::$name,
            floor: on_floor::$name,
            sizes: &$sizes,
            most: most(&[$($view)?]),
        }),+]
        .into()
    };
}

/// The limit, if there is one.
fn most(limit: &[usize]) -> usize {
    limit.first().copied().unwrap_or(usize::MAX)
}

/// All programs.
pub fn programs() -> Vec<Program> {
    programs! {
        readinc [2, 3, 4, 5, 6, 7];
        fib_bench [1, 2, 3, 4];
        reorder [3, 4, 6, 8, 10, 12];
        redundant_co [2, 5, 10, 20, 30];
        msv [4, 6, 8, 9];
        same_value [3, 5, 6];
        fkp2013 [3, 4, 5];
        sb [4, 8, 10];
        readers [4, 8, 10];
        nwr [4, 8];
        nwr2 [5, 12];
        float_read [8];
        lastwrite [9];
        singleton [10];
        co2p2w [5];
        two_sources [1];
        ainc [4, 6, 7];
        binc [3, 4];
        casrot [5, 7, 8];
        casw [4, 5];
        lastzero [5, 8, 10], view 8;
        indexer [5, 12, 13], view 5;
        eratosthenes [7, 9, 11, 13];
        opt_lock [4, 8, 16];
        dekker [1, 2];
        peterson [1, 2];
        linuxrwlocks [2, 3, 4];
        ticketlock [2, 3];
        treiber [2];
        msqueue [2];
    }
}

impl Program {
    /// Whether an explorer is done with a size in time.
    pub fn suits(&self, explorer: Explorer, n: usize) -> bool {
        explorer != Explorer::View || n <= self.most
    }

    /// The body for a model: where stores can wait or loads be stale, plain accesses are `Relaxed`.
    pub fn body_under(&self, memory: MemoryModel) -> fn(usize) {
        if memory == MemoryModel::Sc { self.body } else { self.relaxed }
    }
}

/// A program by its name.
///
/// # Panics
/// If there is none.
pub fn program(name: &str) -> Program {
    programs().into_iter().find(|program| program.name == name).expect("a program of the list")
}

/// The body of a program by its name, under SC.
///
/// # Panics
/// If there is none.
pub fn body(name: &str) -> fn(usize) {
    program(name).body
}

/// A whole check under SC.
pub fn explore(body: fn(usize), n: usize, explorer: Explorer) -> Report {
    explore_under(MemoryModel::Sc, body, n, explorer)
}

/// A whole check.
pub fn explore_under(memory: MemoryModel, body: fn(usize), n: usize, explorer: Explorer) -> Report {
    let config = Config::default().explorer(explorer).memory(memory).keep_going(true).allow_trivial(true);
    let report = rsmc::explore(&config, move || body(n));
    assert!(matches!(report.verdict, Verdict::Verified), "n = {n}, {explorer}: {:?}", report.verdict);
    report
}

/// An exploration under a model without a check around it; `at_end` sees the explorer and the number of runs before
/// anything is freed.
pub fn drive<E: Explores, T: Send>(
    memory: MemoryModel,
    body: fn(usize),
    n: usize,
    explorer: impl Fn() -> E + Send,
    at_end: impl FnOnce(&E, u64) -> T + Send,
) -> T {
    drive_with(Savings::ALL, memory, body, n, explorer, at_end)
}

/// An exploration on a runtime with these savings, as by [`drive`].
pub fn drive_with<E: Explores, T: Send>(
    savings: Savings,
    memory: MemoryModel,
    body: fn(usize),
    n: usize,
    explorer: impl Fn() -> E + Send,
    at_end: impl FnOnce(&E, u64) -> T + Send,
) -> T {
    let explore = move || {
        let body = move || body(n);
        let rules = Rules::new(memory, 100_000);
        let mut executor = Runtime::new(&body, rules, Config::default().stack_size).with_savings(savings);
        let (mut explores, mut plan, mut run, mut runs) = (explorer(), Plan::default(), Run::default(), 0);
        while explores.next_plan(&mut plan) {
            executor.execute(&plan, &mut run);
            runs += 1;
            if run.end == End::Learned {
                explores = explorer();
            } else {
                explores.observe(&run);
            }
        }
        let result = at_end(&explores, runs);
        drop(executor);
        result
    };
    // Executions have an OS thread of their own.
    thread::scope(|scope| scope.spawn(explore).join().expect("the program does not fail"))
}
