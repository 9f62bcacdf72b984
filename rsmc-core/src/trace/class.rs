//! Names of equivalence classes, as digests.

use crate::base::Digest;
use crate::trace::{Source, Trace};

/// The reads-from class of a maximal execution: the same events per thread, every read from the same write, and every
/// choice alike.
///
/// Two maximal executions get the same digest exactly if they are in one class (up to collisions of 128 bits).
/// Which threads are left waiting follows from the events.
pub fn reads_from_class(trace: &Trace) -> Digest {
    let mut digest = Digest::EMPTY;
    for event in &trace.events {
        let (kind, thread, index) = match event.source {
            Source::None => (0, 0, 0),
            Source::Init => (1, 0, 0),
            Source::At(at) => {
                let id = trace.events[at as usize].id;
                (2, u64::from(id.thread.0), u64::from(id.index))
            }
        };
        let which = event.op.action.alternative();
        digest.add(&[u64::from(event.id.thread.0), u64::from(event.id.index), kind, thread, index, which]);
    }
    digest
}

/// A digest of what the program can observe of an execution: the values that its reads returned.
pub fn outcome_digest(trace: &Trace) -> Digest {
    let mut digest = Digest::EMPTY;
    for event in trace.events.iter().filter(|event| event.source != Source::None) {
        let which = event.op.action.alternative();
        digest.add(&[u64::from(event.id.thread.0), u64::from(event.id.index), event.read, which]);
    }
    digest
}
