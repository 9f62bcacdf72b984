//! The interpreter, on programs whose outcomes are known.

use rsmc_core::base::ThreadId;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel::Sc;
use rsmc_core::step::{End, Executor, Expect, Forced, Plan, Run, SchedulingPolicy, Why};
use rsmc_core::trace::{Event, Site};
use rsmc_testkit::litmus::{Interpreter, parse};

use crate::litmus_brute::{brute, rules};

/// The outcomes of all interleavings, as text.
#[track_caller]
fn check(program: &str, outcomes: &str) {
    let program = parse(program).unwrap_or_else(|error| panic!("{error}"));
    let found = brute(&program, Sc, 1_000_000).expect("few interleavings");
    assert_eq!(found.outcomes_text(), outcomes, "{program}");
}

fn first_run(program: &str) -> Run {
    let program = parse(program).unwrap();
    let mut run = Run::default();
    Interpreter::new(&program, rules(Sc)).unwrap().execute(&Plan::default(), &mut run);
    run
}

#[test]
fn store_buffering() {
    check("t1: x = 1; a = y\n t2: y = 1; b = x", "a=0 b=1 | a=1 b=0 | a=1 b=1");
}

#[test]
fn message_passing() {
    check("t1: x = 1; y = 1\n t2: a = y; b = x", "a=0 b=0 | a=0 b=1 | a=1 b=1");
}

#[test]
fn load_buffering() {
    check("t1: a = x; y = 1\n t2: b = y; x = 1", "a=0 b=0 | a=0 b=1 | a=1 b=0");
}

#[test]
fn coherence_of_reads() {
    check("t1: x = 1\n t2: a = x; b = x", "a=0 b=0 | a=0 b=1 | a=1 b=1");
}

#[test]
fn opposite_lock_orders_deadlock() {
    check("t1: lock m; lock n; unlock n; unlock m\n t2: lock n; lock m; unlock m; unlock n", "ok | stuck");
}

#[test]
fn a_lock_held_at_the_end_blocks_others() {
    check("t1: lock m\n t2: lock m", "stuck");
    check("t1: lock m; lock m", "stuck");
}

#[test]
fn try_lock_sees_who_was_first() {
    check("t1: lock m; unlock m\n t2: a = trylock m; if a { unlock m }", "a=0 | a=1");
    check("t1: lock m; a = trylock m; unlock m", "a=0");
}

#[test]
fn failed_assertion_ends_the_thread_and_releases_its_locks() {
    let program =
        "t1: lock m; lock n; a = x; assert a == 0; b = 1; unlock n; unlock m\n t2: lock m; unlock m\n t3: x = 1";
    check(program, "a=0 b=1 | a=1 b=0 panic");
}

#[test]
fn poison_stays_until_the_end() {
    let run = first_run("t1: lock m; assert 0\n t2: lock m; unlock m\n t3: lock m");
    assert_eq!(run.end, End::Complete);
    let written: Vec<_> = run.trace.events.iter().map(|event| event.written.unwrap()).collect();
    assert_eq!(written, [1, 2, 3, 2, 3]);
    assert_eq!(run.panics.len(), 1);
    assert_eq!(run.panics[0].site, Site::Line(1));
}

#[test]
fn bad_unlock_and_bad_join_panic() {
    check("t1: unlock m; a = 1", "a=0 panic");
    check("main: if 0 { spawn t1 }; join t1\n t1: x = 1", "panic");
}

#[test]
fn park_takes_one_token() {
    check("t1: park; a = x\n t2: x = 1; unpark t1", "a=1");
    check("t1: park; park\n t2: unpark t1; unpark t1", "ok | stuck");
    check("t1: park", "stuck");
}

#[test]
fn updates_and_compare_exchange() {
    check("t1: a = add(x, 1)\n t2: b = add(x, 1)", "a=0 b=1 | a=1 b=0");
    check("t1: a = cas(x, 0, 1)\n t2: b, c = cas(x, 0, 2)", "a=0 b=1 c=0 | a=1 b=0 c=1");
    check("init x = 5\n t1: swap(x, 1); sub(x, 2); a = x", "a=4294967295");
}

#[test]
fn main_may_be_written_out() {
    check("main: x = 1; spawn t1; join t1; b = y\n t1: a = x; y = a + 1", "a=1 b=2");
    check("t1: spawn t2; a = x\n t2: x = 1", "a=0 | a=1");
}

#[test]
fn branches_and_bounded_loops() {
    check("t1: while 1 upto 3 { a = a + 1 }; if a == 3 { b = 7 } else { b = 8 }", "a=3 b=7");
    check("t1: while a == 0 upto 2 { a = x }\n t2: x = 1", "a=0 | a=1");
    check("t1: if 0 { a = 1 } else if 1 && 0 || 1 { a = 2 } else { a = 3 }", "a=2");
}

#[test]
fn registers_of_one_name_are_told_apart() {
    check("t1: a = x\n t2: a = 1; x = 1", "t1.a=0 t2.a=1 | t1.a=1 t2.a=1");
}

#[test]
fn spin_loops_end() {
    check("t1: while a == 0 {\n a = x\n spin\n }\n t2: x = 1", "a=1");
    check("t1: while a == 0 {\n a = x\n }\n t2: x = 1", "a=1");
    check(
        "t1: a = 1\n while a {\n a = swap(l, 1)\n spin\n }\n l = 0\n t2: b = 1\n while b {\n b = swap(l, 1)\n spin\n }\n l = 0\n init l",
        "a=0 b=0",
    );
}

#[test]
fn a_livelock_is_stuck() {
    check("t1: while a == 0 {\n a = x\n spin\n }", "a=0 stuck");
}

#[test]
fn a_loop_without_operations_ends_at_the_limit() {
    let run = first_run("t1: while 1 { }");
    assert!(matches!(run.end, End::StepLimit { site: Site::Line(1), .. }), "{:?}", run.end);
    assert!(matches!(first_run("t1: while 1 { spin }").end, End::StepLimit { .. }));
}

/// A thread that counts how often it has polled never comes back to a state. It ends if threads take turns. Where the
/// one that it polls for is frozen, it goes on to the limit of steps, which no scheduler does to it.
#[test]
fn who_waits_for_a_frozen_thread_is_no_step_limit() {
    let program = parse("t1: while a == 0 { a = x; b = add(y, 1); c = choose 2 }\nt2: x = 1").unwrap();
    let mut interpreter = Interpreter::new(&program, Rules::new(Sc, 20_000)).unwrap();
    let mut run = Run::default();
    for frozen in [vec![], vec![ThreadId(2)], vec![]] {
        let is_frozen = !frozen.is_empty();
        interpreter.execute(&Plan { frozen, ..Plan::default() }, &mut run);
        let is_right =
            if is_frozen { matches!(run.end, End::Unfair { .. }) } else { !matches!(run.end, End::StepLimit { .. }) };
        assert!(is_right, "frozen: {is_frozen}, {:?}, {} events", run.end, run.trace.events.len());
    }
}

#[test]
fn waiting_threads_say_what_they_wait_for() {
    let run = first_run("t1:\n lock m\n park\nt2:\n lock m");
    assert_eq!(run.end, End::Stuck);
    let places: Vec<_> = run.waiting.iter().map(|pending| pending.site).collect();
    assert_eq!(places, [Site::Line(1), Site::Line(3), Site::Line(5)]);
    let whys: Vec<_> = run.waiting.iter().map(|pending| &pending.why).collect();
    assert!(matches!(whys[..], [Why::Join(_), Why::Park, Why::Lock { holder: Some(_), .. }]), "{whys:?}");
}

#[test]
fn a_run_repeats_under_its_own_steps() {
    let program = parse("t1: x = 1; a = y; lock m; unlock m\n t2: y = 1; lock m; b = x; unlock m").unwrap();
    let mut interpreter = Interpreter::new(&program, rules(Sc)).unwrap();
    for seed in 0..50 {
        let (mut run, mut again) = (Run::default(), Run::default());
        let random = Plan { policy: SchedulingPolicy::Random(seed), ..Plan::default() };
        interpreter.execute(&random, &mut run);
        let outcome = interpreter.outcome();
        let expect = |event: &Event| Expect::of(event, &run.trace.locs[event.op.loc]);
        let forced =
            run.trace.events.iter().zip(run.steps()).map(|(event, step)| Forced { step, expect: Some(expect(event)) });
        interpreter.execute(&Plan { forced: forced.collect(), ..Plan::default() }, &mut again);
        assert_eq!(again.end, run.end);
        assert_eq!(interpreter.outcome(), outcome);
        assert_eq!(format!("{:?}", again.trace.events), format!("{:?}", run.trace.events));
    }
}
