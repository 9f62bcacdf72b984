//! Calls that consist of several events, in the words of the user's methods.

use crate::base::ThreadId;
use crate::report::names::{Locations, Threads};
use crate::trace::{Call, CallResult, Message, Trace};

/// A call in words: `recv ch1 → 7`. `woken` are the threads that go on thereby.
pub(super) fn words(call: &Call, woken: &[ThreadId], threads: &Threads, locations: &Locations) -> String {
    format!("{}{}", attempt(call, locations), result(&call.result, woken, threads, locations))
}

/// The name of a call in the JSON form.
pub(super) fn operation(call: &Call) -> &'static str {
    match call.verb {
        "drop a sender of" | "drop the last sender of" => "drop_sender",
        "drop the receiver of" => "drop_receiver",
        "clone a Weak of" => "clone_weak",
        "drop a Weak of" => "drop_weak",
        verb => verb,
    }
}

/// A call without its result.
pub(super) fn attempt(call: &Call, locations: &Locations) -> String {
    format!("{} {}", call.verb, locations.name(call.object))
}

/// The end of a sentence about a thread that waits in a call.
pub(super) fn awaited(call: &Call, trace: &Trace, locations: &Locations) -> String {
    let name = locations.name(call.object);
    let there = trace.calls.iter().filter(|other| other.object == call.object && other.end.is_none()).count();
    match (call.kind, call.verb, &call.result) {
        ("Barrier", _, CallResult::Came { all, .. }) => format!("at {name}, where {there} of {all} have come"),
        ("Condvar", ..) => format!("for a notification of {name}, and nobody is left to give one"),
        ("Notify", ..) => format!("for {name}, and nobody is left to notify it"),
        (_, "recv", _) => format!("for a message of {name}, and nobody is left to send one"),
        (_, "send", _) => format!("in send {name}, and nobody is left to receive"),
        _ => format!("in {} {name}", call.verb),
    }
}

fn result(result: &CallResult, woken: &[ThreadId], threads: &Threads, locations: &Locations) -> String {
    let all = |ids: &[ThreadId]| ids.iter().map(|&id| threads.name(id)).collect::<Vec<_>>().join(", ");
    match result {
        CallResult::Nothing => String::new(),
        CallResult::Remark(remark) => format!(": {remark}"),
        CallResult::Is(value) => format!(" → {value}"),
        CallResult::Number(number) => format!(" → {number}"),
        CallResult::References(0, kind) => format!(": the last {kind} one"),
        CallResult::References(number, kind) => format!(": {number} {kind}"),
        CallResult::Sent(message) => shown(*message).map(|text| format!(" ← {text}")).unwrap_or_default(),
        CallResult::Offers(message) => {
            shown(*message).map_or_else(|| ": waits".to_owned(), |text| format!(" ← {text}: waits"))
        }
        CallResult::Received(message) => match shown(*message) {
            Some(text) => format!(" → {text}"),
            None => " → a message".to_owned(),
        },
        CallResult::Came { there, all } => format!(": {there} of {all}"),
        CallResult::WaitsFor(holders) if holders.is_empty() => ": waits".to_owned(),
        CallResult::WaitsFor(holders) => format!(": waits for {}", all(holders)),
        CallResult::GivesBack(lock) => format!(" (gives back {})", locations.name(*lock)),
        CallResult::Notified => ": notified".to_owned(),
        CallResult::Notifies(0) => ": nobody waits".to_owned(),
        CallResult::Notifies(number) if woken.len() == *number => format!(": wakes {}", all(woken)),
        CallResult::Notifies(1) => ": for one that waits".to_owned(),
        CallResult::Notifies(number) => format!(": for {number} that wait"),
    }
}

fn shown(message: Message) -> Option<String> {
    match message {
        Message::Unknown => None,
        Message::Unsigned(number) => Some(number.to_string()),
        Message::Signed(number) => Some(number.to_string()),
        Message::Bool(value) => Some(value.to_string()),
        Message::Char(c) => Some(format!("{c:?}")),
    }
}
