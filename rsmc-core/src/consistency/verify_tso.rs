//! VerifyTSO: can these reads take these writes under total store order?
//!
//! Problem. Given events of threads with one store buffer each, their program order, and for every read one good
//! write: is there an execution in which every read takes it, and which?
//!
//! Algorithm. Only the order in which writes reach memory is searched. For every lower set of memory-writes one
//! prefix is built, the one that has as many thread events as possible: a read is performed as soon as its write is
//! visible, anything else as soon as what is before it is done. A write may reach memory when no pending read needs
//! what the location holds. An atomic block (an update, a store with a full fence) counts as a memory-write.
//!
//! Cost. O(k · n^(k+1)) for n events of k threads, where all lower sets of events and flushes are n^(2k).
//!
//! Source. Toman, "Improved Verification Techniques for Concurrent Systems" (thesis, ISTA 2021), algorithm 5.1 and
//! 5.2.4.
//!
//! Deviations. (1) A write that no pending read takes, and that may reach memory, does so without a choice: whichever
//! node goes first otherwise, nothing held then is not held now. (2) Fences are no events: they put flushes before
//! events in the order.

use crate::base::Digest;
use crate::consistency::Instance;
use crate::consistency::search::{Prefix, Strategy};

/// The strategy; see the module.
pub(super) struct VerifyTso;

impl Strategy for VerifyTso {
    fn options(&self, instance: &Instance, prefix: &Prefix, options: &mut Vec<u32>) {
        let ranked = prefix.ranked.iter().copied();
        options.extend(ranked.filter(|&node| prefix.is_executable(instance, node as usize)));
    }

    fn take(&self, instance: &Instance, prefix: &mut Prefix, option: usize) -> bool {
        prefix.execute(instance, option);
        true
    }

    /// The thread events follow from the memory-writes.
    fn state(&self, _instance: &Instance, prefix: &Prefix) -> Digest {
        prefix.done_below(prefix.nodes.len())
    }
}
