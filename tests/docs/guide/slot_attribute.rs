use rsmc_shim::sync::atomic::{AtomicU32, Ordering::*};

/// Room for one number that is not 0.
#[derive(Default)]
pub struct Slot(AtomicU32);

impl Slot {
    /// False if there is a number already.
    pub fn put(&self, number: u32) -> bool {
        self.0.compare_exchange(0, number, Release, Relaxed).is_ok()
    }

    pub fn take(&self) -> Option<u32> {
        let number = self.0.swap(0, AcqRel);
        (number != 0).then_some(number)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[rsmc::spec(calls = 4)]
    pub(crate) mod slot {
        use super::*;
        use rsmc::spec::opaque;

        pub(crate) fn new() -> Slot {
            Slot::default()
        }

        #[op(number in opaque(1..))]
        fn put(content: &mut Option<u32>, number: u32) -> bool {
            let is_free = content.is_none();
            content.get_or_insert(number);
            is_free
        }

        #[op]
        fn take(content: &mut Option<u32>) -> Option<u32> {
            content.take()
        }
    }
}
