//! The benchmark programs, once for each tool, and the families of instances for the verifiers.

pub mod verify_families;

/// For rsmc.
pub mod on_rsmc {
    use rsmc::sync::Arc;
    use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use rsmc::thread::{JoinHandle, spawn};

    include!("../tests/programs/bodies.rs");
}

/// For loom, which runs at most four threads besides the body.
pub mod on_loom {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use loom::thread::{JoinHandle, spawn};

    include!("../tests/programs/bodies.rs");
}

/// For shuttle.
pub mod on_shuttle {
    use shuttle::sync::Arc;
    use shuttle::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use shuttle::thread::{JoinHandle, spawn};

    include!("../tests/programs/bodies.rs");
}
