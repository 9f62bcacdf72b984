//! A shared pointer that can be replaced while others read what it points to. A reader counts no reference: it writes
//! down that it *owes* one, and a writer that takes the pointer away pays such debts before it frees anything.
//!
//! Source. The crate `arc-swap`, whose readers have slots of this kind; much is left out here. It had mistakes like the
//! two with `Acquire` below (issues 200 and 204 of vorner/arc-swap).
//!
//! Nodes are numbers of places in an array, and a node that is freed is only marked so: a mistake is seen, and nothing
//! happens to the memory of the test. A place is used once, which rules out the ABA problem.
//!
//! Orderings. The reader stores its debt and then looks whether the pointer is still the same. The writer replaces the
//! pointer and then looks for the debt. At least one of the two has to see what the other did, as in Dekker's lock, so
//! all four accesses are `SeqCst`. Two of them are easy to get wrong:
//!
//! - The writer looks by a compare-exchange, which takes the debt out if there is one. If there is none, the
//!   compare-exchange fails, and is a mere load with the *failure* ordering. That this load read an old value is what
//!   must not happen, so it is the failure ordering that has to be `SeqCst`.
//! - The reader's second look is a load. With `Acquire` it sees what came before the value that it reads, but it may
//!   read an old value.
//!
//! The mistakes, and the models that show them. Each lets the reader use a node that was freed; all accesses are
//! atomic, so there is no data race:
//!
//! - [`replace_acquire`](ArcSwap::replace_acquire) looks for debts with the orderings `SeqCst` and `Acquire`, and
//!   [`load_acquire`](ArcSwap::load_acquire) looks at the pointer again with `Acquire`. Right under SC, TSO and PSO:
//!   there a `SeqCst` store is visible at once, and neither a load nor a failed compare-exchange reads an old value.
//!   Wrong under C11 alone.
//! - [`load_release`](ArcSwap::load_release) stores the debt with `Release`. Right under SC only: the debt may wait in
//!   a buffer while the reader takes its second look.

use rsmc_shim::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use rsmc_shim::sync::atomic::{AtomicBool, AtomicUsize, fence};
use rsmc_shim::thread;

/// How many nodes there are. The pointer points to the first one, and to each of the others at most once.
const NODES: usize = 3;

/// In the place of a node: nothing is owed.
const NONE: usize = usize::MAX;

/// A pointer to a node, with one reader. With more readers, each has a slot of its own, and the writer pays them all.
pub struct ArcSwap {
    current: AtomicUsize,
    /// The node of which the reader owes a reference.
    debt: AtomicUsize,
    nodes: [Node; NODES],
}

/// What there are references to.
struct Node {
    /// How many references are counted. At first one, which is the pointer's.
    references: AtomicUsize,
    freed: AtomicBool,
}

/// A reference to a node, owed or paid.
pub struct Loan<'a> {
    pointer: &'a ArcSwap,
    node: usize,
}

impl ArcSwap {
    /// A pointer to the first node.
    pub fn new() -> Self {
        let node = |_| Node { references: AtomicUsize::new(1), freed: AtomicBool::new(false) };
        Self { current: AtomicUsize::new(0), debt: AtomicUsize::new(NONE), nodes: std::array::from_fn(node) }
    }

    /// A reference to the node that the pointer points to. The reader has one at a time.
    pub fn load(&self) -> Loan<'_> {
        self.borrow(SeqCst, SeqCst)
    }

    /// As [`load`](Self::load), but broken: the second look may miss that the pointer was replaced.
    pub fn load_acquire(&self) -> Loan<'_> {
        self.borrow(SeqCst, Acquire)
    }

    /// As [`load`](Self::load), but broken: the second look may come before the debt is visible.
    pub fn load_release(&self) -> Loan<'_> {
        self.borrow(Release, SeqCst)
    }

    /// Lets the pointer point to another node. The old one is freed when nobody uses it any more.
    pub fn replace(&self, node: usize) {
        self.swap_and_pay(node, SeqCst);
    }

    /// As [`replace`](Self::replace), but broken: the debt may be missed.
    pub fn replace_acquire(&self, node: usize) {
        self.swap_and_pay(node, Acquire);
    }

    fn borrow(&self, owe: Ordering, confirm: Ordering) -> Loan<'_> {
        loop {
            let node = self.current.load(Relaxed);
            self.debt.store(node, owe);
            let loan = Loan { pointer: self, node };
            if self.current.load(confirm) == node {
                return loan;
            }
            // A writer came in between and may have missed the debt: the node may be freed already.
        }
    }

    fn swap_and_pay(&self, node: usize, nothing_owed: Ordering) {
        let old = self.current.swap(node, SeqCst);
        // The reference that is paid has to be counted first: the reader may give it back at once.
        self.nodes[old].references.fetch_add(1, Relaxed);
        if self.debt.compare_exchange(old, NONE, SeqCst, nothing_owed).is_err() {
            self.nodes[old].give_back();
        }
        // The pointer's own reference.
        self.nodes[old].give_back();
    }
}

impl Node {
    fn give_back(&self) {
        if self.references.fetch_sub(1, Release) == 1 {
            fence(Acquire);
            self.freed.store(true, Relaxed);
        }
    }

    fn is_freed(&self) -> bool {
        self.freed.load(Relaxed)
    }
}

impl Loan<'_> {
    /// Whether the node is still there, as it should be for as long as there is the reference.
    pub fn is_alive(&self) -> bool {
        !self.pointer.nodes[self.node].is_freed()
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        // Whoever finds nothing owed may free the node: this releases what was done with it.
        let unpaid = self.pointer.debt.compare_exchange(self.node, NONE, Release, Acquire);
        if unpaid.is_err() {
            self.pointer.nodes[self.node].give_back();
        }
    }
}

/// The pointer is replaced twice while a reader uses what it points to, twice: nothing is used after it was freed, and
/// all that was replaced is freed.
pub fn correct() {
    frees_when_unused(2, ArcSwap::load, ArcSwap::replace);
}

/// Once each.
pub fn correct_once() {
    frees_when_unused(1, ArcSwap::load, ArcSwap::replace);
}

/// Once each, with a writer that looks for debts with `Acquire`. Right under SC, TSO and PSO.
pub fn broken_replace_acquire() {
    frees_when_unused(1, ArcSwap::load, ArcSwap::replace_acquire);
}

/// Once each, with a reader that takes its second look with `Acquire`. Right under SC, TSO and PSO.
pub fn broken_load_acquire() {
    frees_when_unused(1, ArcSwap::load_acquire, ArcSwap::replace);
}

/// Once each, with a reader that stores its debt with `Release`. Right under SC.
pub fn broken_load_release() {
    frees_when_unused(1, ArcSwap::load_release, ArcSwap::replace);
}

fn frees_when_unused(rounds: usize, load: fn(&ArcSwap) -> Loan<'_>, replace: fn(&ArcSwap, usize)) {
    let pointer = ArcSwap::new();
    thread::scope(|scope| {
        scope.spawn(|| (1..=rounds).for_each(|node| replace(&pointer, node)));
        for _ in 0..rounds {
            assert!(load(&pointer).is_alive(), "a node was used after it was freed");
        }
    });
    let freed = pointer.nodes.iter().filter(|node| node.is_freed()).count();
    assert_eq!(freed, rounds, "all nodes that were replaced are freed");
}
