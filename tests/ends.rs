//! Bodies that end the process, or do not go on: the process says where, and its seed runs the same execution again.

#![cfg(unix)]

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::AtomicBool as StdAtomicBool;
use std::time::{Duration, Instant};

use rsmc::sync::Arc;
use rsmc::sync::atomic::{AtomicU32, Ordering::*};
use rsmc::{Config, FailureKind, Verdict, thread};

use crate::support::child::{self, Ended};

/// A process at which a debugger looks may take as long as it likes, and no longer.
#[test]
#[cfg(target_os = "linux")]
fn a_debugger_may_look_at_a_process_that_is_stuck() {
    use std::ptr::null_mut;

    const NOTHING: *mut libc::c_void = null_mut();
    let mut child = child::command("ends::child_process", "lock of std", &[]).spawn().unwrap();
    let pid = libc::pid_t::try_from(child.id()).unwrap();
    // SAFETY: the child was started here, and nobody has waited for it.
    let seized = unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, NOTHING, NOTHING) };
    if seized == -1 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM) {
        // Nobody may look at a process here.
        child.kill().unwrap();
        child.wait().unwrap();
        return;
    }
    assert_eq!(seized, 0, "{}", std::io::Error::last_os_error());
    // It is told after 0.3 s.
    std::thread::sleep(Duration::from_secs(3));
    assert!(child.try_wait().unwrap().is_none(), "it has ended");
    // SAFETY: this thread looks at it.
    unsafe {
        assert_eq!(libc::ptrace(libc::PTRACE_INTERRUPT, pid, NOTHING, NOTHING), 0);
        assert_eq!(libc::waitpid(pid, null_mut(), libc::__WALL), pid);
        assert_eq!(libc::ptrace(libc::PTRACE_DETACH, pid, NOTHING, NOTHING), 0);
    }
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.contains("RSMC_REPLAY="), "{text}");
}

/// In a process for it, runs a case.
#[test]
fn child_process() {
    let Some(case) = child::case() else { return };
    let stuck = Config::default().stuck_after(Duration::from_millis(300));
    match case.as_str() {
        "segmentation fault" => rsmc::check(|| in_one_execution(segmentation_fault)),
        "abort" => rsmc::check(|| in_one_execution(|| std::process::abort())),
        "exit" => rsmc::check(|| in_one_execution(|| std::process::exit(3))),
        "illegal instruction" => rsmc::check(|| in_one_execution(illegal_instruction)),
        "signal from outside" => rsmc::check(|| in_one_execution(|| raise(libc_numbers::SIGILL))),
        "fault of a real thread" => rsmc::check(|| {
            in_one_execution(|| std::thread::spawn(segmentation_fault).join().unwrap());
        }),
        "overflow of a real thread" => rsmc::check(|| {
            in_one_execution(|| drop(std::thread::spawn(|| std::hint::black_box(deep(u64::MAX))).join()));
        }),
        "overflow" => rsmc::check(|| in_one_execution(|| drop(std::hint::black_box(deep(u64::MAX)).to_string()))),
        "fault after an overflow" => {
            let overflows = || drop(std::hint::black_box(deep(u64::MAX)).to_string());
            assert!(matches!(rsmc::explore(&Config::default(), overflows).verdict, Verdict::Failed(_)));
            rsmc::check(|| in_one_execution(segmentation_fault));
        }
        "abort after one that was caught" => {
            struct Panics;
            impl Drop for Panics {
                fn drop(&mut self) {
                    panic!("again");
                }
            }
            let twice = || {
                let _panics = Panics;
                panic!("once");
            };
            assert!(matches!(rsmc::explore(&Config::default(), twice).verdict, Verdict::Failed(_)));
            rsmc::check(|| in_one_execution(|| std::process::abort()));
        }
        "exit of a real thread" => rsmc::check(|| {
            in_one_execution(|| std::thread::spawn(|| std::process::exit(3)).join().unwrap());
        }),
        "exit after a check" => {
            rsmc::check_with(Config::default().allow_trivial(true), || ());
            std::process::exit(3);
        }
        "fault outside of a check" => {
            rsmc::check_with(Config::default().allow_trivial(true), || ());
            segmentation_fault();
        }
        "lock of std" => rsmc::check_with(stuck, lock_of_std),
        #[cfg(target_os = "linux")]
        "lock of std that was left" => rsmc::check_with(stuck.keep_going(true), lock_of_std_that_is_left),
        "channel of std" => rsmc::check_with(stuck, || {
            in_one_execution(|| {
                let (_sender, receiver) = std::sync::mpsc::channel::<()>();
                let _ = receiver.recv();
            })
        }),
        "atomic of std" => rsmc::check_with(stuck, || {
            let flag = StdAtomicBool::new(false);
            in_one_execution(|| {
                while !flag.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }),
        "loop" => rsmc::check_with(stuck, || {
            in_one_execution(|| {
                loop {
                    std::hint::black_box(());
                }
            })
        }),
        "computes" => rsmc::check_with(stuck, || in_one_execution(|| compute(Duration::from_millis(900)))),
        "computes between operations" => rsmc::check_with(stuck, || {
            let x = AtomicU32::new(0);
            for _ in 0..9 {
                compute(Duration::from_millis(100));
                x.fetch_add(1, Relaxed);
            }
        }),
        "stuck worker" => {
            let config = stuck.jobs(2).divide_after(Duration::ZERO);
            let body = || in_one_execution(|| compute(Duration::MAX));
            match rsmc::explore(&config, body).verdict {
                Verdict::Failed(failure) if failure.kind == FailureKind::Crash => {
                    let text = format!("{}\nseed: {}\n", failure.message, failure.seed);
                    std::io::stdout().write_all(text.as_bytes()).unwrap();
                }
                verdict => panic!("{verdict:?}"),
            }
        }
        "prints much" => rsmc::check_with(stuck, || {
            let x = AtomicU32::new(0);
            std::io::stdout().write_all(&[b'.'; 1 << 20]).unwrap();
            x.load(SeqCst);
        }),
        "thinks between executions" => {
            rsmc::check_with(Config::default().allow_trivial(true), || ());
            let mut think = |_: &rsmc_core::step::Run, _| compute(Duration::from_millis(500));
            let report = rsmc_core::session::check_body(&stuck, &|| in_one_execution(|| ()), |body| {
                body.check().observe(&mut think).run()
            })
            .unwrap();
            assert!(matches!(report.verdict, Verdict::Verified));
        }
        case => panic!("there is no case {case}"),
    }
}

mod libc_numbers {
    pub const SIGILL: i32 = 4;
    pub const SIGABRT: i32 = 6;
    pub const SIGSEGV: i32 = 11;
}

/// Sends a signal to this process, as from outside.
fn raise(signal: i32) {
    let process = std::process::id().to_string();
    std::process::Command::new("kill").args([&format!("-{signal}"), process.as_str()]).status().unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

fn illegal_instruction() {
    // SAFETY: it ends the process.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("ud2");
    }
    // SAFETY: it ends the process.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("udf #0");
    }
}

fn segmentation_fault() {
    // SAFETY: none: nothing can be written there, which is what the test is about.
    unsafe { std::ptr::without_provenance_mut::<u32>(8).write_volatile(1) };
}

fn deep(depth: u64) -> u64 {
    if std::hint::black_box(depth) == 0 { 0 } else { std::hint::black_box(deep(depth - 1)) + 1 }
}

fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Does something in one of the executions only, and there in a thread that was spawned.
fn in_one_execution(act: impl Fn()) {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            x.store(1, SeqCst);
            y.store(1, SeqCst);
            x.store(2, SeqCst);
        });
        let seen = y.load(SeqCst);
        if (seen, x.load(SeqCst)) == (1, 2) {
            act();
        }
    });
}

/// Two threads take a lock of std, and keep it across a step.
fn lock_of_std() {
    let shared = Arc::new((std::sync::Mutex::new(0), AtomicU32::new(0)));
    let spawn = |_| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let guard = shared.0.lock().unwrap();
            shared.1.fetch_add(1, SeqCst); // the step
            drop(guard);
        })
    };
    let threads: Vec<_> = (0..2).map(spawn).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Every execution is a deadlock, and its first thread has a lock then that the next one waits for.
#[cfg(target_os = "linux")]
fn lock_of_std_that_is_left() {
    static SEEN: std::sync::Mutex<u32> = std::sync::Mutex::new(0);
    // So there is another execution.
    let _ = rsmc::choose(2);
    let lock = Arc::new(rsmc::sync::Mutex::new(0));
    let there = Arc::clone(&lock);
    let held = lock.lock().unwrap();
    let thread = thread::spawn(move || *there.lock().unwrap());
    let mut seen = SEEN.lock().unwrap();
    *seen += thread.join().unwrap();
    drop(held);
}

fn run(case: &str, variables: &[(&str, &str)]) -> Ended {
    child::run("ends::child_process", case, variables, Duration::from_secs(60)).unwrap()
}

/// The seed that a process has said.
fn seed_of(ended: &Ended) -> String {
    let text = format!("{}{}", ended.stderr, ended.stdout);
    let after = |sign| text.split_once(sign).map(|(_, rest): (&str, &str)| rest);
    let rest = after("RSMC_REPLAY=").or_else(|| after("seed: ")).unwrap_or_else(|| panic!("no seed: {ended:?}"));
    rest.split_whitespace().next().unwrap().to_owned()
}

/// The lines of the last words that say where it was. Some cases explore first, and a replay says that this was in
/// vain.
fn place_of(ended: &Ended) -> Vec<String> {
    ended
        .stderr
        .lines()
        .filter(|line| !line.contains("does not read the environment"))
        .filter(|line| line.contains("ends::child_process") || line.contains("last operation"))
        .map(str::to_owned)
        .collect()
}

/// A case ends its process in the expected way, says where, and its seed does the same again.
#[track_caller]
fn dies(case: &str, is_so: impl Fn(&Ended) -> bool, says: &[&str]) {
    let ended = run(case, &[]);
    assert!(is_so(&ended), "{ended:?}");
    for part in says {
        assert!(ended.said().contains(part), "{part}: {ended:?}");
    }
    let again = run(case, &[("RSMC_REPLAY", &seed_of(&ended))]);
    assert!(is_so(&again), "{again:?}");
    assert_eq!(seed_of(&again), seed_of(&ended));
    assert_eq!(place_of(&again), place_of(&ended));
}

fn by(signal: i32) -> impl Fn(&Ended) -> bool {
    move |ended| ended.status.signal() == Some(signal)
}

/// In `in_one_execution`.
const LAST: &str = "its last operation: load u32_2 → 2 (sc, from #";

#[test]
fn a_segmentation_fault_says_its_seed() {
    let says = [
        "SIGSEGV in `ends::child_process`, thread main",
        LAST,
        "at tests/ends.rs:",
        "cargo test ends::child_process -- --exact",
    ];
    dies("segmentation fault", by(libc_numbers::SIGSEGV), &says);
    dies("fault after an overflow", by(libc_numbers::SIGSEGV), &says[..3]);
}

#[test]
fn an_abort_says_its_seed() {
    dies("abort", by(libc_numbers::SIGABRT), &["SIGABRT in `ends::child_process`, thread main", LAST]);
    dies(
        "abort after one that was caught",
        by(libc_numbers::SIGABRT),
        &["SIGABRT in `ends::child_process`, thread main", LAST],
    );
    dies("illegal instruction", by(libc_numbers::SIGILL), &["SIGILL in `ends::child_process`"]);
}

#[test]
fn an_exit_says_its_seed() {
    dies(
        "exit",
        |ended| ended.status.code() == Some(3),
        &["`exit` was called in `ends::child_process`, thread main", LAST],
    );
}

/// Of such a thread, and of a signal that the process as a whole gets, nobody knows which execution it belongs to; but
/// the test is known.
#[test]
fn real_threads_die_with_a_word() {
    let ended = run("fault of a real thread", &[]);
    assert!(by(libc_numbers::SIGSEGV)(&ended), "{ended:?}");
    assert!(
        ended.said().contains("SIGSEGV in a thread that no check knows, while `ends::child_process` goes on"),
        "{ended:?}"
    );
    let ended = run("exit of a real thread", &[]);
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    assert!(ended.said().contains("`exit` was called in a thread that no check knows"), "{ended:?}");
    // It may come while the check changes its own records.
    let ended = run("signal from outside", &[]);
    let said = ["SIGILL in", "in no state to say where"];
    assert!(by(libc_numbers::SIGILL)(&ended) && said.iter().any(|said| ended.said().contains(said)), "{ended:?}");
    let ended = run("overflow of a real thread", &[]);
    assert!(by(libc_numbers::SIGABRT)(&ended), "{ended:?}");
    assert!(ended.said().contains("has overflowed its stack"), "std says so: {ended:?}");
    assert!(ended.said().contains("in a thread that no check knows, while `ends::child_process` goes on"), "{ended:?}");
}

/// The stack of a modelled thread that overflows ends the check only, and what has nothing to do with checks is as it
/// was.
#[test]
fn what_is_nobodys_death_is_as_before() {
    let ended = run("overflow", &[]);
    assert!(ended.status.code() == Some(101) && ended.said().contains("stack overflow"), "{ended:?}");
    assert!(!ended.said().contains("SIGSEGV in"), "{ended:?}");
    let ended = run("exit after a check", &[]);
    assert!(ended.status.code() == Some(3) && !ended.said().contains("rsmc"), "{ended:?}");
    let ended = run("fault outside of a check", &[]);
    assert!(by(libc_numbers::SIGSEGV)(&ended) && !ended.said().contains("rsmc"), "{ended:?}");
}

#[test]
fn a_lock_of_std_across_a_step_is_no_hang() {
    let says = [
        "stuck in `ends::child_process`, thread t",
        "for 0.30 s",
        "it did nothing since it was started at tests/ends.rs:",
        "waits for a lock",
        "RSMC_STUCK_AFTER=",
    ];
    dies("lock of std", by(libc_numbers::SIGABRT), &says);
}

#[cfg(target_os = "linux")]
#[test]
fn a_lock_of_std_that_an_execution_leaves_is_no_hang() {
    let says =
        ["stuck in `ends::child_process`, thread main", "a thread of an earlier execution", "join or load first"];
    let ended = run("lock of std that was left", &[]);
    assert!(by(libc_numbers::SIGABRT)(&ended), "{ended:?}");
    says.iter().for_each(|says| assert!(ended.said().contains(says), "{says}: {ended:?}"));
}

#[test]
fn threads_that_never_come_to_an_operation_are_no_hang() {
    for case in ["channel of std", "atomic of std", "loop"] {
        dies(
            case,
            by(libc_numbers::SIGABRT),
            &["stuck in `ends::child_process`, thread main", LAST, "it spins on an atomic of std"],
        );
    }
}

/// A body that is only slow can say so, and time counts in the body only, and from one operation to the next.
#[test]
fn time_in_which_nothing_is_seen_may_be_longer() {
    let ended = run("computes", &[]);
    assert!(by(libc_numbers::SIGABRT)(&ended) && ended.said().contains("raise RSMC_STUCK_AFTER"), "{ended:?}");
    for patience in ["1m", "0s"] {
        let ended = run("computes", &[("RSMC_STUCK_AFTER", patience)]);
        assert!(ended.status.success(), "{ended:?}");
    }
    for case in ["computes between operations", "thinks between executions"] {
        let ended = run(case, &[]);
        assert!(ended.status.success(), "{ended:?}");
    }
}

/// A body that prints and is not read is not stuck.
#[test]
#[cfg(target_os = "linux")]
fn output_is_waited_for() {
    let mut child = child::command("ends::child_process", "prints much", &[]).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    let mut printed = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut printed).unwrap();
    assert!(child.wait().unwrap().success() && printed.len() > 1 << 20);
}

#[test]
fn a_worker_that_is_stuck_is_reported_as_a_crash() {
    let ended = run("stuck worker", &[]);
    assert!(ended.status.success(), "{ended:?}");
    assert!(ended.stdout.contains("a worker process was stuck for 0.30 s: thread main did nothing that rsmc sees (its last operation: load u32_2 → 2"), "{ended:?}");
    assert!(ended.took < Duration::from_secs(20), "it is not tried again: {ended:?}");
    let again = run("computes", &[("RSMC_REPLAY", &seed_of(&ended))]);
    assert!(by(libc_numbers::SIGABRT)(&again) && again.said().contains("stuck in"), "{again:?}");
}
