use rsmc_shim::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};

/// One number, from one thread to another.
#[derive(Default)]
pub struct Letterbox {
    number: AtomicU32,
    is_full: AtomicBool,
}

impl Letterbox {
    pub fn put(&self, number: u32) {
        self.number.store(number, Relaxed);
        self.is_full.store(true, SeqCst);
    }

    pub fn get(&self) -> Option<u32> {
        self.is_full.load(Acquire).then(|| self.number.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsmc_shim::thread;

    #[rsmc::audit(allow = [
        // Who puts a number then looks whether the owner sleeps, which is no part of this test.
        "letterbox_minimal.rs: put: self.is_full.store(true, SeqCst)",
    ])]
    fn letterbox() {
        let letterbox = Letterbox::default();
        thread::scope(|scope| {
            scope.spawn(|| letterbox.put(7));
            assert!(letterbox.get().is_none_or(|number| number == 7));
        });
    }
}
