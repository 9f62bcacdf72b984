//! Choices that a check makes in every possible way.

/// One of the numbers below `of`: a check goes through all of them.
///
/// This is for what a test would otherwise draw at random or write a loop around: how many threads, which operation
/// comes next. Each number is a class of its own, so a few choices of a few numbers are what a test can afford. One of
/// more than 4,096 numbers is chosen, and reported, in several steps.
///
/// ```
/// # if false {
/// let threads = 1 + rsmc_shim::choose(3);
/// # let _ = threads;
/// # }
/// ```
///
/// A loop that the answer 0 does not end is a livelock if nothing else ends it. One that only another answer keeps
/// going ends: `while choose(2) == 1 {}` has one class.
///
/// # Panics
/// If `of` is 0, and outside a check, where nothing makes the choice.
#[must_use]
#[inline(always)]
#[track_caller]
pub fn choose(of: usize) -> usize {
    assert!(of > 0, "there is no number below 0 to choose");
    let chosen = chosen(of as u64);
    chosen.expect("`choose` and `nondet` are for the body of a check: nobody chooses here") as usize
}

#[cfg(feature = "model")]
#[inline(always)]
#[track_caller]
fn chosen(of: u64) -> Option<u64> {
    rsmc_core::runtime::hook::loops::stand();
    rsmc_core::runtime::hook::choices::choose(of, false)
}

#[cfg(not(feature = "model"))]
fn chosen(_: u64) -> Option<u64> {
    None
}

/// Any value of a type: a check goes through all of them. See [`choose`].
///
/// ```
/// # if false {
/// let (first, second): (bool, Option<bool>) = rsmc_shim::nondet();
/// # let _ = (first, second);
/// # }
/// ```
///
/// # Panics
/// Outside a check.
#[must_use]
#[track_caller]
pub fn nondet<T: Nondet>() -> T {
    T::any()
}

/// Types of which a check can go through all values. They should have few.
pub trait Nondet: Sized {
    /// Any value.
    ///
    /// # Panics
    /// Outside a check.
    fn any() -> Self;
}

impl Nondet for bool {
    #[track_caller]
    fn any() -> Self {
        choose(2) == 1
    }
}

impl Nondet for u8 {
    #[track_caller]
    fn any() -> Self {
        choose(256) as u8
    }
}

impl Nondet for i8 {
    #[track_caller]
    fn any() -> Self {
        u8::any() as i8
    }
}

impl Nondet for core::cmp::Ordering {
    #[track_caller]
    fn any() -> Self {
        choose(3).cmp(&1)
    }
}

impl<T: Nondet> Nondet for Option<T> {
    #[track_caller]
    fn any() -> Self {
        bool::any().then(T::any)
    }
}

impl<T: Nondet, E: Nondet> Nondet for Result<T, E> {
    #[track_caller]
    fn any() -> Self {
        if bool::any() { Err(E::any()) } else { Ok(T::any()) }
    }
}

impl<T: Nondet, const N: usize> Nondet for [T; N] {
    #[track_caller]
    fn any() -> Self {
        core::array::from_fn(|_| T::any())
    }
}

macro_rules! tuples {
    ($($($part:ident)*;)+) => {
        $(impl<$($part: Nondet),*> Nondet for ($($part,)*) {
            #[track_caller]
            fn any() -> Self {
                ($($part::any(),)*)
            }
        })+
    };
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
}
