//! Without the feature `model`, the paths name the types of std themselves.
#![allow(clippy::incompatible_msrv, reason = "tests are built by the compiler of the workspace")]
#![cfg(not(feature = "model"))]

use std::any::TypeId;
use std::cell::UnsafeCell;

fn same<A: 'static, B: 'static>() {
    assert_eq!(TypeId::of::<A>(), TypeId::of::<B>(), "{}", std::any::type_name::<A>());
}

macro_rules! same {
    ($($($name:ident)::+ $(<$param:ty>)?;)+) => {
        $(same::<rsmc_shim::$($name)::+$(<$param>)?, std::$($name)::+$(<$param>)?>();)+
    };
}

#[test]
fn every_type_is_the_one_of_std() {
    same! {
        cell::BorrowError;
        cell::BorrowMutError;
        cell::Cell<u8>;
        cell::LazyCell<u8>;
        cell::OnceCell<u8>;
        cell::RefCell<u8>;
        sync::Arc<u8>;
        sync::Arc<str>;
        sync::Weak<u8>;
        sync::Mutex<u8>;
        sync::RwLock<u8>;
        sync::PoisonError<u8>;
        sync::TryLockError<u8>;
        sync::LockResult<u8>;
        sync::TryLockResult<u8>;
        sync::atomic::AtomicBool;
        sync::atomic::AtomicI8;
        sync::atomic::AtomicU8;
        sync::atomic::AtomicI16;
        sync::atomic::AtomicU16;
        sync::atomic::AtomicI32;
        sync::atomic::AtomicU32;
        sync::atomic::AtomicI64;
        sync::atomic::AtomicU64;
        sync::atomic::AtomicIsize;
        sync::atomic::AtomicUsize;
        sync::atomic::AtomicPtr<u8>;
        sync::atomic::Ordering;
        sync::mpsc::Sender<u8>;
        sync::mpsc::SyncSender<u8>;
        sync::mpsc::Receiver<u8>;
        sync::mpsc::IntoIter<u8>;
        sync::mpsc::SendError<u8>;
        sync::mpsc::TrySendError<u8>;
        sync::mpsc::RecvError;
        sync::mpsc::TryRecvError;
        sync::mpsc::RecvTimeoutError;
        thread::AccessError;
        thread::Builder;
        thread::JoinHandle<u8>;
        thread::LocalKey<u8>;
        thread::Result<u8>;
        thread::Thread;
        thread::ThreadId;
        time::Duration;
        time::Instant;
        time::TryFromFloatSecsError;
    }
    same::<rsmc_shim::cell::Ref<'static, u8>, std::cell::Ref<'static, u8>>();
    same::<rsmc_shim::cell::RefMut<'static, u8>, std::cell::RefMut<'static, u8>>();
    same::<rsmc_shim::sync::MutexGuard<'static, u8>, std::sync::MutexGuard<'static, u8>>();
    same::<rsmc_shim::sync::RwLockReadGuard<'static, u8>, std::sync::RwLockReadGuard<'static, u8>>();
    same::<rsmc_shim::sync::RwLockWriteGuard<'static, u8>, std::sync::RwLockWriteGuard<'static, u8>>();
    same::<rsmc_shim::sync::mpsc::Iter<'static, u8>, std::sync::mpsc::Iter<'static, u8>>();
    same::<rsmc_shim::sync::mpsc::TryIter<'static, u8>, std::sync::mpsc::TryIter<'static, u8>>();
    same::<rsmc_shim::thread::Scope<'static, 'static>, std::thread::Scope<'static, 'static>>();
    same::<rsmc_shim::sync::MutexGuard<'static, u8>, std::sync::MutexGuard<'static, u8>>();
    same::<rsmc_shim::thread::ScopedJoinHandle<'static, u8>, std::thread::ScopedJoinHandle<'static, u8>>();
}

#[test]
fn the_cell_has_the_layout_of_std() {
    assert_eq!(size_of::<rsmc_shim::cell::UnsafeCell<u8>>(), size_of::<UnsafeCell<u8>>());
    struct Shared(rsmc_shim::cell::UnsafeCell<u8>);
    // SAFETY: nothing is shared below.
    unsafe impl Sync for Shared {}
    static CELL: Shared = Shared(rsmc_shim::cell::UnsafeCell::new(7));
    // SAFETY: nobody writes.
    assert_eq!(CELL.0.with(|cell| unsafe { *cell }), 7);
}
