//! `rsmc::spec`: structures by their models. Broken ones fail in a scenario with as few calls as there can be; right
//! ones are verified.

mod attribute;
mod counter;
mod elimination;
mod growing;
mod herlihy_wing;
mod index_stack;
mod lazy_list;
mod mpmc_ring;
mod oneshot;
mod processes;
mod progress;
mod random;
mod semaphore;
mod spsc_ring;
mod striped;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use rsmc::spec::{Criterion, Spec, SpecReport, Values, opaque, symmetric};
use rsmc::sync::Mutex;
use rsmc::sync::atomic::Ordering::{self, Relaxed, Release, SeqCst};
use rsmc::sync::atomic::{AtomicBool, AtomicUsize};
use rsmc::{Config, Explorer, FailureKind, MemoryModel, Verdict};

use crate::examples::algorithms::chase_lev::{Deque, Stolen};
use crate::examples::algorithms::michael_scott_queue::MichaelScottQueue;
use crate::examples::algorithms::treiber_stack::TreiberStack;
use crate::support::schema;
use counter::Counter;
use elimination::EliminationStack;
use growing::Growing;
use herlihy_wing::Queue;
use index_stack::IndexStack;
use lazy_list::LazyList;
use oneshot::Oneshot;
use semaphore::{Semaphore, Set};
use striped::Striped;

/// More time than a machine with other work needs.
const NEVER_OVER: Duration = Duration::from_secs(600);

/// Every scenario of up to `calls` calls is right. `SPEC_CALLS` asks for more of them.
#[track_caller]
fn verified<T: Sync, M: Clone + PartialEq>(spec: Spec<T, M>, calls: usize) -> SpecReport {
    let calls = std::env::var("SPEC_CALLS").map_or(calls, |more| more.parse::<usize>().unwrap().max(calls));
    let report = spec.calls(calls).budget(NEVER_OVER).explore();
    let told = || format!("{report}: {:?}\n{}", report.scenario, report.report);
    assert!(report.is_complete() && matches!(report.report.verdict, Verdict::Verified), "{}", told());
    report
}

/// The kind of failure, and the number of calls of the scenario that fails: all smaller ones are right.
#[track_caller]
fn fails<T: Sync, M: Clone + PartialEq>(spec: Spec<T, M>) -> (FailureKind, usize) {
    // `SPEC_DEFAULTS` asks whether the time that a specification has suffices.
    let spec = if std::env::var_os("SPEC_DEFAULTS").is_some() { spec } else { spec.budget(NEVER_OVER) };
    let report = spec.explore();
    let Verdict::Failed(failure) = &report.report.verdict else { panic!("{report}") };
    assert_eq!(failure.scenario, report.scenario);
    let calls = report.covered.last().unwrap().calls;
    assert!(report.covered[..calls - 1].iter().all(|covered| covered.verified == covered.scenarios));
    (failure.kind, calls)
}

fn stack(push: fn(&TreiberStack<u8>, u8)) -> Spec<TreiberStack<u8>, Vec<u8>> {
    Spec::new(TreiberStack::new, Vec::new)
        .op("push", opaque(1..), move |stack, &value| push(stack, value), |model, &value| model.push(value))
        .op0("pop", |stack| stack.pop(), |model| model.pop())
}

#[test]
fn treiber_stack() {
    verified(stack(|stack, value| stack.push(value)), 3);
    assert_eq!(fails(stack(|stack, value| stack.push_once(value))), (FailureKind::Panic, 4));
}

fn queue(enqueue: fn(&MichaelScottQueue<u8>, u8)) -> Spec<MichaelScottQueue<u8>, VecDeque<u8>> {
    Spec::new(MichaelScottQueue::new, VecDeque::new)
        .op("enqueue", opaque(1..), move |queue, &value| enqueue(queue, value), |model, &value| model.push_back(value))
        .op0("dequeue", |queue| queue.dequeue(), |model| model.pop_front())
}

#[test]
fn michael_scott_queue() {
    verified(queue(|queue, value| queue.enqueue(value)), 3);
    assert_eq!(fails(queue(|queue, value| queue.enqueue_at_tail(value))), (FailureKind::Leak, 2));
    assert_eq!(fails(queue(|queue, value| queue.enqueue_tail_first(value))), (FailureKind::Panic, 3));
    assert_eq!(fails(queue(|queue, value| queue.enqueue_relaxed(value))), (FailureKind::DataRace, 2));
}

fn spsc_ring(full_at: usize, publish: Ordering) -> Spec<spsc_ring::Ring, VecDeque<u8>> {
    let push = |model: &mut VecDeque<u8>, value: &u8| {
        let has_room = model.len() < 2;
        model.extend(has_room.then_some(*value));
        has_room
    };
    Spec::new(move || spsc_ring::Ring::new(full_at, publish), VecDeque::new)
        .op("push", opaque(1..), |ring: &spsc_ring::Ring, &value| ring.push(value), push)
        .op0("pop", |ring| ring.pop(), |model| model.pop_front())
        .on_one_thread(["push"])
        .on_one_thread(["pop"])
}

#[test]
fn ring_of_one_producer_and_one_consumer() {
    verified(spsc_ring(2, SeqCst), 6);
    assert_eq!(fails(spsc_ring(2, Release)), (FailureKind::Panic, 5));
    verified(spsc_ring(2, Release).config(Config::default().memory(MemoryModel::Sc)), 6);
    assert_eq!(fails(spsc_ring(3, Release)), (FailureKind::Panic, 3));
    assert_eq!(fails(spsc_ring(1, Release)), (FailureKind::Panic, 2));
    assert_eq!(fails(spsc_ring(2, Relaxed)), (FailureKind::DataRace, 2));
}

fn mpmc_ring(publish: Ordering, early: usize, strict: bool) -> Spec<mpmc_ring::Ring, VecDeque<u8>> {
    let push = move |model: &mut VecDeque<u8>, value: &u8, &pushed: &bool| {
        model.extend(pushed.then_some(*value));
        model.len() <= 2 && (pushed || !strict || model.len() == 2)
    };
    let pop = move |model: &mut VecDeque<u8>, _: &(), popped: &Option<u8>| match popped {
        Some(_) => model.pop_front() == *popped,
        None => !strict || model.is_empty(),
    };
    Spec::new(move || mpmc_ring::Ring::new(publish, early), VecDeque::new)
        .op_where("push", opaque(1..), |ring: &mpmc_ring::Ring, &value| ring.push(value), push)
        .op_where("pop", [()], |ring, _| ring.pop(), pop)
}

/// A completed element behind an unfinished one is not found, as long as the other call goes on. With five calls that
/// shows around a time without calls, too.
#[test]
fn ring_of_many() {
    verified(mpmc_ring(Release, 0, false), 3);
    assert_eq!(fails(mpmc_ring(Release, 0, true)), (FailureKind::Panic, 3));
    let strict = mpmc_ring(Release, 0, true).criterion(Criterion::QuiescentlyConsistent);
    assert_eq!(fails(strict), (FailureKind::Panic, 5));
    assert_eq!(fails(mpmc_ring(Release, 1, false)), (FailureKind::Panic, 3));
    assert_eq!(fails(mpmc_ring(Relaxed, 0, false)), (FailureKind::DataRace, 2));
}

fn deque(take: fn(&Deque) -> Option<u32>, steal: fn(&Deque) -> Stolen) -> Spec<Deque, VecDeque<u32>> {
    Spec::new(|| Deque::new(4), VecDeque::new)
        .op("push", opaque(1..), |deque: &Deque, &value| deque.push(value), |model, &value| model.push_back(value))
        .op0("take", take, |model| model.pop_back())
        .op_where(
            "steal",
            [()],
            move |deque, _| steal(deque),
            |model, _, stolen| match stolen {
                Stolen::Lost => true,
                other => model.pop_front() == other.element(),
            },
        )
        .on_one_thread(["push", "take"])
}

#[test]
fn chase_lev_deque() {
    verified(deque(Deque::take, Deque::steal), 4);
    assert_eq!(fails(deque(Deque::take_unfenced, Deque::steal)), (FailureKind::Panic, 5));
    assert_eq!(fails(deque(Deque::take, Deque::steal_unfenced)), (FailureKind::Panic, 5));
}

fn herlihy_wing(enqueue: fn(&Queue, u8), dequeue: fn(&Queue) -> u8) -> Spec<Queue, VecDeque<u8>> {
    Spec::new(Queue::new, VecDeque::new)
        .op(
            "enqueue",
            opaque(1..5),
            move |queue: &Queue, &value| enqueue(queue, value),
            |model, &value| model.push_back(value),
        )
        .blocking0("dequeue", dequeue, |model| model.pop_front())
}

#[test]
fn herlihy_wing_queue() {
    let report = verified(herlihy_wing(Queue::enqueue, Queue::dequeue), 4);
    assert!(report.covered[0].waiting == 1, "{report}");
    assert_eq!(fails(herlihy_wing(Queue::enqueue_in_two_steps, Queue::dequeue)), (FailureKind::Livelock, 4));
    assert_eq!(fails(herlihy_wing(Queue::enqueue, Queue::dequeue_in_two_steps)), (FailureKind::Panic, 4));
}

fn permits(release: fn(&Semaphore)) -> Spec<Semaphore, u32> {
    let acquire = |permits: &mut u32| {
        *permits = permits.checked_sub(1)?;
        Some(())
    };
    Spec::new(Semaphore::default, || 0).blocking0("acquire", Semaphore::acquire, acquire).op0(
        "release",
        release,
        |permits| *permits += 1,
    )
}

#[test]
fn semaphore() {
    verified(permits(Semaphore::release), 4);
    assert_eq!(fails(permits(Semaphore::release_waking_the_first)), (FailureKind::Deadlock, 4));
}

fn set(insert: fn(&Set, u8) -> bool, keys: impl Into<Values<u8>>) -> Spec<Set, BTreeSet<u8>> {
    let keys = keys.into();
    Spec::new(Set::default, BTreeSet::new)
        .op("insert", keys.clone(), move |set: &Set, &key| insert(set, key), |model, &key| model.insert(key))
        .op("remove", keys.clone(), |set, &key| set.remove(key), |model, key| model.remove(key))
        .op("contains", keys, |set, &key| set.contains(key), |model, key| model.contains(key))
}

#[test]
fn set_behind_a_lock() {
    verified(set(Set::insert, symmetric([1, 2])), 3);
    assert_eq!(fails(set(Set::insert_if_absent, symmetric([1, 2]))), (FailureKind::Panic, 2));
}

fn striped(len: fn(&Striped) -> usize) -> Spec<Striped, BTreeSet<u8>> {
    Spec::new(Striped::default, BTreeSet::new)
        .op("insert", [0, 1], |set: &Striped, &key| set.insert(key), |model, &key| model.insert(key))
        .op("remove", [0, 1], |set, &key| set.remove(key), |model, key| model.remove(key))
        .op0("len", len, |model| model.len())
}

#[test]
fn set_in_stripes() {
    verified(striped(Striped::len), 2);
    assert_eq!(fails(striped(Striped::len_of_one_by_one)), (FailureKind::Panic, 4));
}

fn lazy_list(validates: bool) -> Spec<LazyList, BTreeSet<u8>> {
    Spec::new(move || LazyList::new(validates), BTreeSet::new)
        .op("insert", [1, 2], |list: &LazyList, &key| list.insert(key), |model, &key| model.insert(key))
        .op("remove", [1, 2], |list, &key| list.remove(key), |model, key| model.remove(key))
        .op("contains", [1, 2], |list, &key| list.contains(key), |model, key| model.contains(key))
}

#[test]
fn lazy_list_as_a_set() {
    verified(lazy_list(true), 2);
    assert_eq!(fails(lazy_list(false)), (FailureKind::Panic, 2));
}

/// A thread is held back in an iteration in which it has given a lock back that another one takes: that one can go on,
/// and nobody waits for ever.
#[test]
fn lazy_list_with_calls_that_try_again() {
    for calls in [
        "insert(2), remove(2), insert(1) | remove(1) | remove(2)",
        "insert(1), remove(1), insert(1) | remove(1) | remove(1)",
    ] {
        for memory in [MemoryModel::Sc, MemoryModel::C11] {
            for explorer in [Explorer::ReadsFrom, Explorer::View] {
                if (memory, explorer) == (MemoryModel::C11, Explorer::View) {
                    continue;
                }
                let config = Config::default().memory(memory).explorer(explorer);
                let report = rsmc::explore(&config, || lazy_list(true).execute(calls));
                assert!(
                    matches!(report.verdict, Verdict::Verified),
                    "{calls} under {memory:?}, {explorer:?}: {report}"
                );
            }
        }
    }
}

fn counter() -> Spec<Counter, u32> {
    Spec::new(Counter::new, || 0).op0("increment", Counter::increment, |count| *count += 1).op0(
        "sum",
        Counter::sum,
        |count| *count,
    )
}

/// A client that looks after another thread has counted misses what that thread keeps to itself. Without an order
/// between the threads nobody can tell.
#[test]
fn counter_of_statistics() {
    let report = counter().explore();
    assert_eq!(report.scenario.as_deref(), Some("increment() !a | ?a sum()"), "{report}");
    verified(counter().criterion(Criterion::SequentiallyConsistent), 4);
}

fn growing(keys: fn(&Growing) -> Vec<u8>) -> Spec<Growing, BTreeSet<u8>> {
    let insert = |model: &mut BTreeSet<u8>, key: &u8| {
        model.insert(*key);
    };
    let all = |model: &mut BTreeSet<u8>| model.iter().copied().collect();
    Spec::new(Growing::default, BTreeSet::new)
        .op("insert", [0, 1], |set: &Growing, &key| set.insert(key), insert)
        .op0("keys", keys, all)
}

#[test]
fn set_in_more_and_more_stripes() {
    verified(growing(Growing::keys), 3);
    assert_eq!(fails(growing(Growing::keys_of_one_by_one)), (FailureKind::Panic, 3));
}

fn oneshot(publish: Ordering, receive: fn(&Oneshot) -> Option<u8>) -> Spec<Oneshot, (bool, Option<u8>)> {
    let send = |(sent, value): &mut (bool, Option<u8>), &new: &u8| {
        let is_first = !std::mem::replace(sent, true);
        *value = value.or(is_first.then_some(new));
        is_first
    };
    Spec::new(move || Oneshot::new(publish), || (false, None))
        .op("send", opaque(1..), |channel: &Oneshot, &value| channel.send(value), send)
        .op0("receive", receive, |(_, value)| value.take())
}

/// Of two senders one may know that there is a value before it can be received.
#[test]
fn channel_for_one_value() {
    let of_one_sender = |publish, receive| oneshot(publish, receive).on_one_thread(["send"]);
    verified(of_one_sender(Release, Oneshot::receive), 5);
    assert_eq!(fails(oneshot(Release, Oneshot::receive)), (FailureKind::Panic, 3));
    assert_eq!(fails(of_one_sender(Relaxed, Oneshot::receive)), (FailureKind::DataRace, 2));
    assert_eq!(fails(of_one_sender(Release, Oneshot::receive_in_two_steps)), (FailureKind::Panic, 3));
}

fn elimination(push: fn(&EliminationStack, u8)) -> Spec<EliminationStack, Vec<u8>> {
    Spec::new(EliminationStack::default, Vec::new)
        .op(
            "push",
            opaque(1..),
            move |stack: &EliminationStack, &value| push(stack, value),
            |model, &value| {
                model.push(value);
            },
        )
        .op0("pop", EliminationStack::pop, |model| model.pop())
}

#[test]
fn stack_with_elimination() {
    verified(elimination(EliminationStack::push), 3);
    assert_eq!(fails(elimination(EliminationStack::push_unasked)), (FailureKind::Panic, 4));
}

fn index_stack(make: fn() -> IndexStack) -> Spec<IndexStack, Vec<u8>> {
    let of_two = move || {
        let stack = make();
        (1..=2).for_each(|value| assert!(stack.push(value)));
        stack
    };
    let push = |model: &mut Vec<u8>, value: &u8, &pushed: &bool| {
        model.extend(pushed.then_some(*value));
        true
    };
    Spec::new(of_two, || vec![1, 2])
        .op_where("push", opaque(3..), |stack: &IndexStack, &value| stack.push(value), push)
        .op0("pop", IndexStack::pop, |model| model.pop())
        .threads(2)
        .end(1)
}

/// ABA: a thread finds the head that it has seen, and another node behind it.
#[test]
fn stack_of_nodes_that_are_used_again() {
    verified(index_stack(IndexStack::new), 4);
    assert_eq!(fails(index_stack(IndexStack::untagged)), (FailureKind::Panic, 5));
}

/// Values that are alike make fewer scenarios, and the same verdicts.
#[test]
fn values_that_are_alike() {
    let scenarios = |report: SpecReport| report.covered.iter().map(|covered| covered.scenarios).collect::<Vec<_>>();
    let all = scenarios(verified(set(Set::insert, [1, 2]), 2));
    let different = scenarios(verified(set(Set::insert, symmetric([1, 2])), 2));
    assert_eq!((all, different), (vec![6, 57], vec![3, 30]));
    assert_eq!(fails(set(Set::insert_if_absent, [1, 2])), (FailureKind::Panic, 2));
    let push = |values: Values<u8>| {
        Spec::new(TreiberStack::new, Vec::new)
            .op(
                "push",
                values,
                |stack: &TreiberStack<u8>, &value| stack.push_once(value),
                |model, &value| model.push(value),
            )
            .op0("pop", |stack| stack.pop(), |model| model.pop())
    };
    for values in [opaque(1..), symmetric([1, 2]), Values::from([1, 2])] {
        assert_eq!(fails(push(values)), (FailureKind::Panic, 4));
    }
}

/// There are as many scenarios with pairs as with an operation for each value, which has the key alone.
#[test]
fn parts_of_tuples_are_alike() {
    type Map = Mutex<BTreeMap<u8, u8>>;
    let map = || Spec::<Map, BTreeMap<u8, u8>>::new(Map::default, BTreeMap::new).calls(3).threads(2);
    let scenarios = |spec: Spec<Map, BTreeMap<u8, u8>>| {
        let report = spec.budget(NEVER_OVER).explore();
        assert!(report.is_complete(), "{report}");
        report.covered.iter().map(|covered| covered.scenarios).collect::<Vec<_>>()
    };
    let with_pairs = |keys: Values<u8>, values: Values<u8>| {
        map()
            .op(
                "insert",
                (keys.clone(), values),
                |map, &(k, v)| map.lock().unwrap().insert(k, v),
                |map, &(k, v)| map.insert(k, v),
            )
            .op("remove", keys, |map, k| map.lock().unwrap().remove(k), |map, k| map.remove(k))
    };
    let with_keys = |keys: Values<u8>, values: &[u8]| {
        let insert = |spec: Spec<Map, BTreeMap<u8, u8>>, &value: &u8| {
            let (name, keys) = (format!("insert {value}"), keys.clone());
            spec.op(
                &name,
                keys,
                move |map, &k| map.lock().unwrap().insert(k, value),
                move |map, &k| map.insert(k, value),
            )
        };
        let spec = values.iter().fold(map(), insert);
        spec.op("remove", keys.clone(), |map, k| map.lock().unwrap().remove(k), |map, k| map.remove(k))
    };
    let keys = || symmetric([1, 2]);
    assert_eq!(scenarios(with_pairs(keys(), opaque(1..))), scenarios(with_keys(keys(), &[1])));
    assert_eq!(scenarios(with_pairs(keys(), [1, 2].into())), scenarios(with_keys(keys(), &[1, 2])));
    assert_eq!(scenarios(with_pairs([1, 2].into(), opaque(1..))), scenarios(with_keys([1, 2].into(), &[1])));
}

/// What the structure itself notices fails like any panic, and so does the look at it at the end.
#[test]
fn panics_are_failures() {
    let overflows = |slot: &Mutex<u8>| {
        let mut slot = slot.lock().unwrap();
        assert!(*slot < 2, "three are too many");
        *slot += 1;
    };
    let spec = || Spec::new(|| Mutex::new(0), || ()).op0("add", overflows, |()| ()).calls(3);
    assert_eq!(fails(spec()), (FailureKind::Panic, 3));
    let less_than_two = |slot: &Mutex<u8>| assert!(*slot.lock().unwrap() < 2);
    let report = spec().validate(less_than_two).explore();
    assert_eq!(report.scenario.as_deref(), Some("add(), add()"));
}

/// Calls before and after the threads make larger scenarios affordable: two elements are there before the threads
/// start.
#[test]
fn beginnings_and_ends() {
    let spec = stack(|stack, value| stack.push(value)).threads(2).init(2).end(1);
    let report = verified(spec, 4);
    assert!(report.covered[3].scenarios > 54, "{report}");
    let broken = stack(|stack, value| stack.push_once(value)).threads(2).end(2);
    assert_eq!(fails(broken), (FailureKind::Panic, 4));
}

/// A flag that waits to be set.
#[derive(Default)]
struct Flag(AtomicBool);

impl Flag {
    fn wait(&self) {
        while !self.0.load(SeqCst) {
            rsmc::hint::spin_loop();
        }
    }
}

fn waiting_flag() -> Spec<Flag, bool> {
    Spec::new(Flag::default, || false).blocking0("wait", Flag::wait, |is_set| is_set.then_some(()))
}

/// Whether the model of `set` could wait is known only with its result. Alone it is run all the same.
#[test]
fn operations_with_a_predicate_beside_one_that_waits() {
    let set = |flag: &Flag, _: &()| flag.0.swap(true, SeqCst);
    let spec = |allows: fn(&mut bool, &(), &bool) -> bool| waiting_flag().op_where("set", [()], set, allows).calls(2);
    verified(
        spec(|is_set, _, _| {
            *is_set = true;
            true
        }),
        2,
    );
    assert_eq!(fails(spec(|_, _, was_set| *was_set)), (FailureKind::Panic, 1));
}

#[test]
#[should_panic(expected = "no scenario was run")]
fn a_specification_of_which_nothing_can_be_run() {
    waiting_flag().check();
}

#[test]
#[should_panic(expected = "there is no value for the argument of `set`")]
fn an_operation_without_values() {
    let _ = waiting_flag().op("set", 5..5, |_, _: &i32| (), |_, _| ());
}

#[test]
#[should_panic(expected = "only a check runs `push(1)`: `#[rsmc::test]` instead of `#[test]`")]
fn a_scenario_is_run_by_a_check() {
    stack(|stack, value| stack.push(value)).execute("push(1)");
}

/// A queue with two lanes, of which the second is emptied first.
#[derive(Default)]
struct Lanes {
    turn: AtomicUsize,
    lanes: [Mutex<VecDeque<u8>>; 2],
}

impl Lanes {
    fn enqueue(&self, value: u8) {
        let lane = self.turn.fetch_add(1, SeqCst) % 2;
        self.lanes[lane].lock().unwrap().push_back(value);
    }

    fn dequeue(&self) -> Option<u8> {
        self.lanes.iter().rev().find_map(|lane| lane.lock().unwrap().pop_front())
    }
}

/// A dequeue takes one of the first `places` elements.
fn lanes(places: usize) -> Spec<Lanes, VecDeque<u8>> {
    let dequeue = move |model: &mut VecDeque<u8>, _: &(), taken: &Option<u8>| match taken {
        Some(value) => model.iter().take(places).position(|it| it == value).and_then(|at| model.remove(at)).is_some(),
        None => model.is_empty(),
    };
    Spec::new(Lanes::default, VecDeque::new)
        .op(
            "enqueue",
            opaque(1..),
            |lanes: &Lanes, &value| lanes.enqueue(value),
            |model: &mut VecDeque<u8>, &value| model.push_back(value),
        )
        .op_where("dequeue", [()], |lanes, ()| lanes.dequeue(), dequeue)
}

/// By one place with up to four calls, by two with more.
#[test]
fn queue_that_is_out_of_order_by_some_places() {
    assert_eq!(fails(lanes(1)), (FailureKind::Panic, 3));
    assert_eq!(fails(lanes(2)), (FailureKind::Panic, 5));
    let report = lanes(2).calls(4).budget(NEVER_OVER).explore();
    assert!(report.is_complete() && matches!(report.report.verdict, Verdict::Verified), "{report}");
}

/// A table of calls, and brackets around their rows, whatever the failure is.
#[test]
fn a_report_has_the_calls_of_a_failure() {
    let schema = serde_json::from_str(include_str!("../docs/report.schema.json")).unwrap();
    let said = |report: &SpecReport, parts: &[&str]| {
        let text = rsmc::render(&report.report, None);
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        let json = rsmc::json(&report.report, &Config::default(), None).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(schema::errors(&schema, &json), Vec::<String>::new());
        assert!(json.to_string().contains(r#""operation":"call""#), "{json}");
    };
    let race = spsc_ring(2, Relaxed).explore();
    let table = "\n\n    thread 1       │ thread 2\n    ───────────────┼────────────────\n    push(1) → true │ pop() → Some(1)\n";
    said(&race, &["data race", table, "┌ push(1)", "└ push(1) → true", "┌ pop()"]);
    let deadlock = permits(Semaphore::release_waking_the_first).explore();
    said(&deadlock, &["deadlock", "acquire() …", "(… has not returned)", "└ release()"]);
    let panic = stack(|stack, value| stack.push_once(value)).explore();
    said(&panic, &["not linearizable", "┌ push(2)", "└ push(2)"]);
    let text = rsmc::render(&panic.report, None);
    let tables = text.lines().filter(|line| line.trim().starts_with("thread 1 ") && line.contains("│ thread 2"));
    assert_eq!(tables.count(), 1, "{text}");
}
