//! Calls that consist of several events: the one row of each, and how they belong together.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{LocId, ThreadId};
use crate::report::Finding;
use crate::trace::{Call, CallResult, Trace};

/// The calls of an execution, and the events that belong to them.
pub(super) struct CallRows<'a> {
    calls: Vec<&'a Call>,
    /// By event, the place of its call among the calls.
    of_event: Vec<Option<usize>>,
    /// By event, the place of the call that it decides: its row is there.
    decided_by: BTreeMap<usize, usize>,
    /// By call, the event that decides it.
    row_events: Vec<Option<usize>>,
    /// By place of a call that notifies waiting threads, those that go on.
    woken: BTreeMap<usize, Vec<ThreadId>>,
    /// By place of a call that receives a message, the event of the call that sent it.
    sent_by: BTreeMap<usize, usize>,
}

impl<'a> CallRows<'a> {
    pub(super) fn new(trace: &'a Trace) -> Self {
        let calls: Vec<&Call> = trace.calls.iter().collect();
        let (mut of_event, mut decided_by) = (vec![None; trace.events.len()], BTreeMap::new());
        for (number, call) in calls.iter().enumerate() {
            let own = trace.of_thread(call.thread);
            let end = call.end.map_or(own.len(), |end| (end as usize).min(own.len()));
            for &at in own.get(call.first as usize..end).unwrap_or_default() {
                // Calls lie within one another, and the outer one begins first.
                of_event[at as usize].get_or_insert(number);
            }
            let decided = call.decided.and_then(|index| own.get(index as usize));
            if let Some(&at) = decided.filter(|&&at| of_event[at as usize] == Some(number)) {
                decided_by.insert(at as usize, number);
            }
        }
        let mut row_events = vec![None; calls.len()];
        decided_by.iter().for_each(|(&at, &number)| row_events[number] = Some(at));
        let (woken, sent_by) = (woken(&calls, &decided_by), sent_by(&calls, &decided_by));
        Self { calls, of_event, decided_by, row_events, woken, sent_by }
    }

    /// The call that an event decides, with its place among the calls.
    pub(super) fn decided_by(&self, at: usize) -> Option<(usize, &'a Call)> {
        self.decided_by.get(&at).map(|&number| (number, self.calls[number]))
    }

    /// Whether a location stands for an object that is used by calls.
    pub(super) fn is_object(&self, loc: LocId) -> bool {
        self.calls.iter().any(|call| call.object == loc)
    }

    /// The event whose row is that of an event in a call, if there is one: the event that decides the call.
    pub(super) fn row_event(&self, at: usize) -> Option<usize> {
        self.row_events[self.of_event[at]?]
    }

    /// The events that belong to a call, in order.
    pub(super) fn events_of(&self, number: usize) -> impl Iterator<Item = usize> {
        self.of_event.iter().enumerate().filter(move |(_, of)| **of == Some(number)).map(|(at, _)| at)
    }

    /// Whether an event belongs to a call.
    pub(super) fn has(&self, at: usize) -> bool {
        self.of_event[at].is_some()
    }

    /// The types of the objects that are used by calls, by location; and by location of which only calls of other
    /// objects know, the object that it is a part of.
    pub(super) fn objects(&self, finding: &Finding<'_>) -> (BTreeMap<LocId, &'static str>, BTreeMap<LocId, LocId>) {
        let trace = finding.trace;
        let objects: BTreeMap<LocId, &'static str> = self.calls.iter().map(|call| (call.object, call.kind)).collect();
        let in_events = trace.events.iter().enumerate().map(|(at, event)| {
            let call = self.of_event[at].map(|number| self.calls[number]);
            (event.op.loc, call)
        });
        let at_end = finding.waiting.iter().filter_map(|pending| {
            let call = trace.calls.open(pending.id.thread);
            Some((pending.op?.loc, call))
        });
        let (mut met, mut parts) = (BTreeSet::new(), BTreeMap::new());
        for (loc, call) in in_events.chain(at_end) {
            if met.insert(loc) {
                parts.extend(call.filter(|call| call.object != loc).map(|call| (loc, call.object)));
            }
        }
        // What an outer call names is the user's, even if inner calls use parts of it.
        for call in &self.calls {
            let outer = match trace.of_thread(call.thread).get(call.first as usize) {
                Some(&at) => self.of_event[at as usize].map(|number| self.calls[number]),
                None => trace.calls.open(call.thread),
            };
            match outer.filter(|outer| outer.object != call.object) {
                Some(outer) => _ = parts.insert(call.object, outer.object),
                None => _ = parts.remove(&call.object),
            }
        }
        (objects, parts)
    }

    /// The row of the message that a call received.
    pub(super) fn sent_by(&self, number: usize) -> Option<usize> {
        self.sent_by.get(&number).copied()
    }

    /// A call, and the threads that go on thereby.
    pub(super) fn with_woken(&self, number: usize) -> (&'a Call, &[ThreadId]) {
        (self.calls[number], self.woken.get(&number).map_or(&[], Vec::as_slice))
    }
}

/// The calls in the order of the events that decided them.
fn in_order<'a>(
    calls: &'a [&'a Call],
    decided_by: &'a BTreeMap<usize, usize>,
) -> impl Iterator<Item = (usize, usize, &'a Call)> {
    decided_by.iter().map(|(&at, &number)| (at, number, calls[number]))
}

/// A notification that no thread has taken.
#[derive(Clone)]
struct Permit {
    object: LocId,
    /// The event that decides the call which gave it.
    given: usize,
    /// The place of that call.
    by: usize,
}

/// By call that notifies, the threads that go on. A notification is for those that wait when it is given; the oldest
/// is taken first.
fn woken(calls: &[&Call], decided_by: &BTreeMap<usize, usize>) -> BTreeMap<usize, Vec<ThreadId>> {
    let mut woken: BTreeMap<usize, Vec<ThreadId>> = BTreeMap::new();
    let mut waits: BTreeMap<(LocId, ThreadId), usize> = BTreeMap::new();
    let mut permits: Vec<Permit> = Vec::new();
    for (at, number, call) in in_order(calls, decided_by) {
        match call.result {
            CallResult::GivesBack(_) => _ = waits.insert((call.object, call.thread), at),
            CallResult::Notifies(many) => {
                permits.extend(std::iter::repeat_n(Permit { object: call.object, given: at, by: number }, many))
            }
            CallResult::Notified => {
                let since = waits.get(&(call.object, call.thread)).copied();
                let fits = |permit: &Permit| permit.object == call.object && Some(permit.given) > since;
                if let Some(place) = permits.iter().position(fits) {
                    woken.entry(permits.remove(place).by).or_default().push(call.thread);
                }
            }
            _ => {}
        }
    }
    woken
}

/// By call that receives a message, the event that decides the call which sent it: messages come in the order in which
/// they went.
fn sent_by(calls: &[&Call], decided_by: &BTreeMap<usize, usize>) -> BTreeMap<usize, usize> {
    let (mut sent, mut received): (BTreeMap<LocId, Vec<usize>>, BTreeMap<LocId, usize>) = Default::default();
    let mut sent_by = BTreeMap::new();
    let mut waits: BTreeSet<(LocId, ThreadId)> = BTreeSet::new();
    for (at, number, call) in in_order(calls, decided_by) {
        match call.result {
            CallResult::Offers(_) => {
                waits.insert((call.object, call.thread));
                sent.entry(call.object).or_default().push(at);
            }
            CallResult::Sent(_) if !waits.remove(&(call.object, call.thread)) => {
                sent.entry(call.object).or_default().push(at);
            }
            CallResult::Received(_) => {
                let nth = received.entry(call.object).or_default();
                let event = sent.get(&call.object).and_then(|sent| sent.get(*nth));
                sent_by.extend(event.map(|&event| (number, event)));
                *nth += 1;
            }
            _ => {}
        }
    }
    sent_by
}
