//! Mirrors [`std::thread`].
//!
//! A panic that ends a thread fails the check, though another thread receives it by `join`; as in shuttle.

pub use rsmc_shim::thread::{
    AccessError, Builder, JoinHandle, LocalKey, Result, Scope, ScopedJoinHandle, Thread, ThreadId, current, panicking,
    park, park_timeout, scope, sleep, spawn, yield_now,
};
