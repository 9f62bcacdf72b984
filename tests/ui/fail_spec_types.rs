//! Specifications that do not fit their structure.

use rsmc::sync::Mutex;

#[derive(Default)]
struct Register(Mutex<u32>);

impl Register {
    fn set(&self, to: u32) {
        *self.0.lock().unwrap() = to;
    }

    fn get(&self) -> u32 {
        *self.0.lock().unwrap()
    }

    fn add(&self, by: f32) {
        self.set(self.get() + by as u32);
    }
}

#[rsmc::spec]
mod another_result {
    fn new() -> super::Register {
        Default::default()
    }

    #[op]
    fn get(register: &mut u32) -> Option<u32> {
        Some(*register)
    }
}

#[rsmc::spec]
mod another_argument {
    fn new() -> super::Register {
        Default::default()
    }

    #[op]
    fn set(register: &mut u32, to: u8) {
        *register = u32::from(to);
    }
}

#[rsmc::spec]
mod no_such_method {
    fn new() -> super::Register {
        Default::default()
    }

    #[op]
    fn put(register: &mut u32, to: u32) {
        *register = to;
    }
}

#[rsmc::spec]
mod no_values {
    fn new() -> super::Register {
        Default::default()
    }

    #[op]
    fn add(register: &mut u32, by: f32) {
        *register += by as u32;
    }
}

fn main() {}
