use rsmc_shim::sync::atomic::{AtomicU32, Ordering::*};
use std::cell::Cell;

rsmc_shim::thread_local! {
    static OWN: Cell<u32> = const { Cell::new(0) };
}

/// Each thread counts by itself, and adds that to the sum of all when it looks at it.
#[derive(Default)]
pub struct Tally(AtomicU32);

impl Tally {
    pub fn count(&self) {
        OWN.with(|own| own.set(own.get() + 1));
    }

    pub fn sum(&self) -> u32 {
        let own = OWN.with(Cell::take);
        self.0.fetch_add(own, SeqCst) + own
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rsmc::spec::Spec;

    pub(crate) fn spec() -> Spec<Tally, u32> {
        Spec::new(Tally::default, || 0).op0("count", |tally| tally.count(), |sum| *sum += 1).op0(
            "sum",
            |tally| tally.sum(),
            |sum| *sum,
        )
    }
}
