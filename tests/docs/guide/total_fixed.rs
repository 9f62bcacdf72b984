use rsmc_shim::sync::atomic::{AtomicU32, Ordering::*};

/// A sum.
#[derive(Default)]
pub struct Total {
    sum: AtomicU32,
}

impl Total {
    pub fn add(&self, number: u32) {
        self.sum.fetch_add(number, Relaxed);
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
}
