//! Operations that must not be left out because the execution ends there.

struct Surely<F: Fn()>(F);

impl<F: Fn()> Drop for Surely<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Performs an operation of the shim. If the operation unwinds the thread, since the execution is over, it performs it
/// once more, among those that destructors do aside: the destructors of others may need it.
pub(crate) fn surely(operation: impl Fn()) {
    let again = Surely(operation);
    (again.0)();
    std::mem::forget(again);
}
