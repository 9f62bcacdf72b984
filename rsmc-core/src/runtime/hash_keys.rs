//! The keys of std's hash maps.
//!
//! Problem. `RandomState::new` takes random keys, so a body that iterates over a `HashMap` goes another way in each
//! execution.
//!
//! Method. std draws two keys once for an OS thread, keeps them in a thread-local, and adds 1 to the first with each
//! `RandomState` (`std::hash::random`). [`HashKeys::find`] looks for them in the memory of the OS thread's
//! thread-locals: they are the two words that are the next keys. A modelled thread that goes on finds keys there that
//! depend on nothing but how many it has taken. Behind the execution the OS thread has its own back. Executions cost no
//! more until one takes keys; that one is run again.
//!
//! Limits. Linux. Where std keeps its keys in another way the search finds nothing, and keys stay random.
//! A `RandomState` that is made outside the executions has its keys from there.

use std::cell::Cell;
use std::ptr::NonNull;

/// The keys that each modelled thread takes first.
const FIXED: Keys = Keys { first: 0x7273_6d63, second: 0x6861_7368_206b_6579 };

/// The keys of a `RandomState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Keys {
    first: u64,
    second: u64,
}

/// The keys of this OS thread, if they were found.
#[derive(Debug)]
pub(super) struct HashKeys {
    /// The first and the second key, in std's thread-local.
    found: Option<[NonNull<u64>; 2]>,
    /// Its own keys, while an execution runs.
    own: Cell<Keys>,
    /// An execution has taken keys, so each modelled thread has its own from then on.
    are_used: Cell<bool>,
}

impl HashKeys {
    /// Looks for the keys of this OS thread.
    pub(super) fn find() -> Self {
        Self { found: find(), own: Cell::new(FIXED), are_used: Cell::new(false) }
    }

    /// An execution begins.
    pub(super) fn begin(&self) {
        self.own.set(self.get().unwrap_or(FIXED));
        self.set(FIXED);
    }

    /// An execution has ended: the OS thread gets its own keys back. Returns whether the execution is the first that
    /// has taken some: it is to be run again, since its threads took them from one another.
    pub(super) fn end(&self) -> bool {
        let is_first = self.taken() > 0 && !self.are_used.replace(true);
        self.set(self.own.get());
        is_first
    }

    /// Whether an execution has taken keys. If none has, no modelled thread has keys of its own.
    #[inline]
    pub(super) fn are_used(&self) -> bool {
        self.are_used.get()
    }

    /// A modelled thread goes on, which has taken so many keys.
    #[cold]
    pub(super) fn turn(&self, taken: u64) {
        self.set(Keys { first: FIXED.first.wrapping_add(taken), ..FIXED });
    }

    /// The number of keys that the modelled thread has taken that went on last.
    #[inline]
    pub(super) fn taken(&self) -> u64 {
        self.get().map_or(0, |keys| keys.first.wrapping_sub(FIXED.first))
    }

    #[inline]
    fn get(&self) -> Option<Keys> {
        // SAFETY: the places are in a thread-local of this OS thread, which no other touches. It has no destructor, so
        // that it is there as long as the thread; std has no reference to it but in `RandomState::new`.
        self.found.map(|[first, second]| unsafe { Keys { first: first.read(), second: second.read() } })
    }

    #[inline]
    fn set(&self, keys: Keys) {
        if let Some([first, second]) = self.found {
            // SAFETY: as in `get`. Any two numbers are keys.
            unsafe {
                first.write(keys.first);
                second.write(keys.second);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn find() -> Option<[NonNull<u64>; 2]> {
    None
}

#[cfg(target_os = "linux")]
use linux::find;

#[cfg(target_os = "linux")]
mod linux {
    //! The thread-locals of the executable and its libraries, as the linker lays them out.

    use std::ffi::c_void;
    use std::hash::RandomState;
    use std::ops::Range;
    use std::ptr::NonNull;

    use super::Keys;
    use crate::runtime::memcheck;

    /// The places of the first and the second key of this OS thread.
    pub(super) fn find() -> Option<[NonNull<u64>; 2]> {
        let take = || words(&RandomState::new());
        let (before, last) = (take()?, take()?);
        let counts = (0..2).find(|&at| last[at] == before[at].wrapping_add(1) && last[1 - at] == before[1 - at])?;
        let next = Keys { first: last[counts].wrapping_add(1), second: last[1 - counts] };
        let mut found = None;
        memcheck::ask();
        thread_locals(|block| found = found.or_else(|| position(block, next)));
        let [first, second] = found?;
        // The place holds the keys that come next. It is std's if it counts.
        take()?;
        // SAFETY: the place is in a thread-local of this OS thread.
        let now = unsafe { (first.read(), second.read()) };
        (now == (next.first.wrapping_add(1), next.second)).then_some([first, second])
    }

    /// The two words of a `RandomState`, in the order in which they lie there.
    pub(super) fn words(state: &RandomState) -> Option<[u64; 2]> {
        // SAFETY: it has the size of two words, and std's has no bytes that are not part of its two numbers.
        (size_of::<RandomState>() == 16).then(|| unsafe { std::mem::transmute_copy(state) })
    }

    /// Calls `each` with the memory of the thread-locals of each of them, on this OS thread.
    fn thread_locals<F: FnMut(Range<*mut u64>)>(mut each: F) {
        unsafe extern "C" fn visit<F: FnMut(Range<*mut u64>)>(
            library: *mut libc::dl_phdr_info,
            _size: usize,
            each: *mut c_void,
        ) -> libc::c_int {
            // SAFETY: the loader passes what describes a library, and `each` is what `dl_iterate_phdr` was given.
            let (library, each) = unsafe { (&*library, &mut *each.cast::<F>()) };
            let start = library.dlpi_tls_data.cast::<u64>();
            for at in 0..usize::from(library.dlpi_phnum) {
                // SAFETY: there are so many headers.
                let header = unsafe { &*library.dlpi_phdr.add(at) };
                if header.p_type == libc::PT_TLS && !start.is_null() && start.is_aligned() {
                    each(start..start.wrapping_byte_add(header.p_memsz as usize & !7));
                }
            }
            0
        }
        // SAFETY: `visit` takes what it is given, and `each` lives as long as the call.
        unsafe { libc::dl_iterate_phdr(Some(visit::<F>), (&raw mut each).cast()) };
    }

    /// The place of keys in a block of thread-locals: two words side by side, in either order.
    fn position(block: Range<*mut u64>, keys: Keys) -> Option<[NonNull<u64>; 2]> {
        // SAFETY: the block belongs to this OS thread, which runs. What is in it may change under a read if it is an
        // atomic; then some number comes out, which is not used but to compare it.
        let word = |at: *mut u64| memcheck::defined(unsafe { at.read_volatile() });
        let mut at = block.start;
        while at.wrapping_add(1) < block.end {
            let next = at.wrapping_add(1);
            match (word(at), word(next)) {
                (first, second) if first == keys.first && second == keys.second => {
                    return NonNull::new(at).zip(NonNull::new(next)).map(|(first, second)| [first, second]);
                }
                (second, first) if first == keys.first && second == keys.second => {
                    return NonNull::new(next).zip(NonNull::new(at)).map(|(first, second)| [first, second]);
                }
                _ => at = next,
            }
        }
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::hash::RandomState;

    use super::linux::words;
    use super::*;

    #[test]
    fn threads_take_the_same_keys_and_the_os_thread_keeps_its_own() {
        let keys = HashKeys::find();
        let before = keys.get().expect("the keys are found");
        keys.begin();
        let take = || words(&RandomState::new()).unwrap();
        let first = take();
        assert!(keys.end(), "the execution is the first that takes some");
        assert_eq!(keys.get(), Some(before));
        keys.begin();
        let two = |taken| {
            keys.turn(taken);
            [take(), take()]
        };
        let of_one_thread = two(0);
        assert!(of_one_thread[0] == first && keys.taken() == 2);
        assert_eq!(two(0), of_one_thread);
        assert_eq!(two(1)[0], of_one_thread[1]);
        assert!(!keys.end());
        assert_eq!(keys.get(), Some(before));
    }
}
