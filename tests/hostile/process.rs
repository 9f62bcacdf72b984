//! Bodies that end their process, or take something of it away.

use rsmc::FailureKind::Panic;
use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
use rsmc::thread;

use super::{Case, dies, fails, passes};

/// Does something in a thread that was spawned, in one of two executions.
fn when_seen(act: impl Fn() + Sync) {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            if x.load(SeqCst) == 1 {
                act();
            }
        });
        x.store(1, SeqCst);
    });
}

fn null() -> *mut u32 {
    std::hint::black_box(std::ptr::null_mut())
}

pub const CASES: &[Case] = &[
    dies("exit", "`exit` was called in `hostile::hostile_body`, thread t1", || when_seen(|| std::process::exit(0x55))),
    dies("exit in a real thread", "`exit` was called in a thread that no check knows", || {
        when_seen(|| std::thread::spawn(|| std::process::exit(0)).join().unwrap());
    }),
    dies("abort", "SIGABRT in `hostile::hostile_body`, thread t1", || when_seen(|| std::process::abort())),
    dies("a read through a null pointer", "SIGSEGV in `hostile::hostile_body`, thread t1", || {
        // SAFETY: none: that is what the case is about.
        when_seen(|| drop(unsafe { null().read_volatile() }.to_string()));
    }),
    dies("a write to code", "SIGSEGV in `hostile::hostile_body`, thread t1", || {
        // SAFETY: none: that is what the case is about.
        when_seen(|| unsafe { (std::hint::black_box(null as fn() -> *mut u32 as *mut u8)).write_volatile(0) });
    }),
    dies("a call of nothing", "SIGSEGV in `hostile::hostile_body`, thread t1", || {
        // SAFETY: none: that is what the case is about.
        when_seen(|| unsafe {
            let function: extern "C" fn() = std::mem::transmute(std::hint::black_box(8_usize));
            function();
        });
    }),
    dies("an abort in a destructor while a panic unwinds", "SIGABRT in `hostile::hostile_body`", || {
        struct Aborts;
        impl Drop for Aborts {
            fn drop(&mut self) {
                std::process::abort();
            }
        }
        let _aborts = Aborts;
        panic!("unwinds");
    }),
    dies("a segmentation fault in a thread-local's destructor", "SIGSEGV in `hostile::hostile_body`", || {
        struct Faults;
        impl Drop for Faults {
            fn drop(&mut self) {
                // SAFETY: none: that is what the case is about.
                unsafe { null().write_volatile(1) };
            }
        }
        rsmc::thread_local!(static FAULTS: Faults = const { Faults });
        thread::spawn(|| FAULTS.with(|_| ())).join().unwrap();
    }),
    fails("a panic that must not unwind", Panic, "out of C", || {
        extern "C" fn must_not() {
            panic!("out of C");
        }
        when_seen(|| must_not());
    }),
    dies("an overflow of a real thread", "has overflowed its stack", || {
        fn deep(depth: u64) -> u64 {
            if std::hint::black_box(depth) == 0 { 0 } else { std::hint::black_box(deep(depth - 1)) + 1 }
        }
        drop(std::thread::spawn(|| deep(u64::MAX)).join());
    }),
    dies("a segmentation fault of a real thread", "in a thread that no check knows", || {
        // SAFETY: none: that is what the case is about.
        drop(std::thread::spawn(|| unsafe { null().write_volatile(1) }).join());
    }),
    fails("a real thread panics", Panic, "", || std::thread::spawn(|| panic!("real")).join().unwrap()),
    passes("a child process", || {
        let status = std::process::Command::new("true").status().unwrap();
        assert!(status.success());
    }),
    passes("output without an end of line", || {
        use std::io::Write;
        std::io::stdout().write_all(b"no end\n").unwrap();
        when_seen(|| std::io::stderr().write_all(b"no end\n").unwrap());
    }),
    passes("the environment changes", || {
        // SAFETY: nobody else looks at it in this process.
        unsafe { std::env::set_var("RSMC_NO_SUCH_VARIABLE", "1") };
        when_seen(|| drop(std::env::var("RSMC_NO_SUCH_VARIABLE").unwrap()));
    }),
    passes("the current directory changes", || {
        std::env::set_current_dir("/").unwrap();
        when_seen(|| ());
    }),
];
