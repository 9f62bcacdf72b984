use rsmc_shim::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

/// One number, from one thread to another.
#[derive(Default)]
pub struct Letterbox {
    number: AtomicU32,
    is_full: AtomicBool,
}

impl Letterbox {
    pub fn put(&self, number: u32) {
        self.number.store(number, SeqCst);
        self.is_full.store(true, SeqCst);
    }

    pub fn get(&self) -> Option<u32> {
        self.is_full.load(SeqCst).then(|| self.number.load(SeqCst))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rsmc_shim::thread;

    #[cfg_attr(any(), rsmc::test)]
    pub(crate) fn letterbox() {
        let letterbox = Letterbox::default();
        thread::scope(|scope| {
            scope.spawn(|| letterbox.put(7));
            assert!(letterbox.get().is_none_or(|number| number == 7));
        });
    }
}
