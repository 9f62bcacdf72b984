use rsmc_shim::sync::atomic::{AtomicUsize, Ordering::SeqCst};

#[derive(Default)]
pub struct Counter(AtomicUsize);

impl Counter {
    pub fn add(&self) {
        let old = self.0.load(SeqCst);
        self.0.store(old + 1, SeqCst);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rsmc_shim::thread;

    #[cfg_attr(any(), rsmc::test)]
    pub(crate) fn nothing_is_lost() {
        let counter = Counter::default();
        thread::scope(|scope| {
            scope.spawn(|| counter.add());
            scope.spawn(|| counter.add());
        });
        assert_eq!(counter.0.load(SeqCst), 2);
    }
}
