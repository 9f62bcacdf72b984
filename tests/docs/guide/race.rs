use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::sync::atomic::{AtomicBool, Ordering};
use rsmc_shim::thread;

/// Room for a value that one thread puts in once.
pub struct Slot<T> {
    value: UnsafeCell<Option<T>>,
    full: AtomicBool,
}

// SAFETY: the value is the sender's until `full` is true, and the receiver's from then on.
unsafe impl<T: Send> Sync for Slot<T> {}

impl<T> Slot<T> {
    pub fn new() -> Self {
        Self { value: UnsafeCell::new(None), full: AtomicBool::new(false) }
    }

    pub fn put(&self, value: T) {
        // SAFETY: `full` is false, so nobody else touches the value.
        self.value.with_mut(|slot| unsafe { *slot = Some(value) });
        self.full.store(true, Ordering::Release);
    }

    pub fn take(&self) -> Option<T> {
        if !self.full.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: `full` is true, so the sender has finished.
        self.value.with_mut(|slot| unsafe { (*slot).take() })
    }
}

#[cfg_attr(any(), rsmc::test)]
pub(crate) fn the_value_arrives() {
    let slot = Slot::new();
    thread::scope(|scope| {
        scope.spawn(|| slot.put(Box::new(7)));
        if let Some(value) = slot.take() {
            assert_eq!(*value, 7);
        }
    });
}
