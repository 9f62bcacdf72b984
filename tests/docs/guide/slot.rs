use rsmc_shim::sync::atomic::{AtomicU32, Ordering::*};

/// Room for one number that is not 0.
#[derive(Default)]
pub struct Slot(AtomicU32);

impl Slot {
    /// False if there is a number already.
    pub fn put(&self, number: u32) -> bool {
        let is_free = self.0.load(Acquire) == 0;
        if is_free {
            self.0.store(number, Release);
        }
        is_free
    }

    pub fn take(&self) -> Option<u32> {
        let number = self.0.swap(0, AcqRel);
        (number != 0).then_some(number)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rsmc::spec::{Spec, opaque};

    pub(crate) fn spec() -> Spec<Slot, Option<u32>> {
        let put = |content: &mut Option<u32>, &number: &u32| {
            let is_free = content.is_none();
            content.get_or_insert(number);
            is_free
        };
        let spec = Spec::new(Slot::default, || None);
        spec.op("put", opaque(1..), |slot, &number| slot.put(number), put).op0("take", Slot::take, Option::take)
    }

    #[cfg_attr(any(), test)]
    pub(crate) fn slot() {
        spec().check();
    }
}
