use rsmc_shim::hint;
use rsmc_shim::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};

/// A sum, with a lock for whoever adds to it.
#[derive(Default)]
pub struct Total {
    is_locked: AtomicBool,
    sum: AtomicU32,
}

impl Total {
    pub fn add(&self, number: u32) {
        while self.is_locked.swap(true, Acquire) {
            hint::spin_loop();
        }
        self.sum.store(self.sum.load(Relaxed) + number, Relaxed);
        self.is_locked.store(false, Release);
    }

    pub fn get(&self) -> u32 {
        self.sum.load(Relaxed)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rsmc::spec::Spec;

    pub(crate) fn spec() -> Spec<Total, u32> {
        Spec::new(Total::default, || 0)
            .op("add", [1, 2], |total, &number| total.add(number), |sum, &number| *sum += number)
            .op0("get", Total::get, |sum| *sum)
            .lock_free(["add", "get"])
    }

    #[cfg_attr(any(), test)]
    pub(crate) fn total() {
        spec().check();
    }
}
