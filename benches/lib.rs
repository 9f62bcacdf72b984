//! The benchmark programs, once for each tool, their sizes for each explorer, and the families of instances for the
//! verifiers.

pub mod explorations;
pub mod floor;
pub mod grid;
pub mod instructions;
pub mod litmus_on_loom;
pub mod litmus_on_rsmc;
pub mod memory;
pub mod tools;
pub mod verify_families;

/// For rsmc.
pub mod on_rsmc {
    use rsmc::hint::spin_loop;
    use rsmc::sync::atomic::{AtomicU32, Ordering, Ordering::SeqCst};
    use rsmc::sync::{Arc, Mutex};
    use rsmc::thread::{JoinHandle, spawn};

    const ORDER: Ordering = SeqCst;
    include!("../tests/programs/bodies.rs");
    include!("../tests/programs/papers.rs");
}

/// For rsmc, with plain loads and stores that are `Relaxed`.
pub mod relaxed {
    use rsmc::hint::spin_loop;
    use rsmc::sync::atomic::{AtomicU32, Ordering, Ordering::SeqCst};
    use rsmc::sync::{Arc, Mutex};
    use rsmc::thread::{JoinHandle, spawn};

    const ORDER: Ordering = Ordering::Relaxed;
    include!("../tests/programs/bodies.rs");
    include!("../tests/programs/papers.rs");
}

/// For loom, which runs at most four threads besides the body.
pub mod on_loom {
    use loom::hint::spin_loop;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU32, Ordering, Ordering::SeqCst};
    use loom::thread::{JoinHandle, spawn};

    const ORDER: Ordering = SeqCst;
    include!("../tests/programs/bodies.rs");
}

/// For shuttle.
pub mod on_shuttle {
    use shuttle::hint::spin_loop;
    use shuttle::sync::Arc;
    use shuttle::sync::atomic::{AtomicU32, Ordering, Ordering::SeqCst};
    use shuttle::thread::{JoinHandle, spawn};

    const ORDER: Ordering = SeqCst;
    include!("../tests/programs/bodies.rs");
}

/// For the floor.
pub mod on_floor {
    use std::rc::Rc as Arc;

    use crate::floor::{AtomicU32, JoinHandle, SeqCst, spawn, spin_loop};

    const ORDER: SeqCst = SeqCst;
    include!("../tests/programs/bodies.rs");
}
