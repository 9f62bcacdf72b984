//! `Arc` and `Weak`.

mod raw;
mod traits;
mod weak;

use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::sync::Arc as StdArc;
use std::sync::atomic::AtomicBool;

use rsmc_core::runtime::hook;

use crate::model::identity::Identity;

pub use weak::Weak;

/// Mirrors [`std::sync::Arc`].
///
/// In a check, dropping a reference gives happens-before edges (a drop releases, the last one acquires, and so does
/// a successful `get_mut`, `make_mut`, `try_unwrap` or `into_inner`), but cloning and dropping are no steps.
///
/// Deviations. (1) What a program learns from counts (`strong_count`, `weak_count`, `get_mut`, `make_mut`,
/// `try_unwrap`, `into_inner`, `unwrap_or_clone`, [`Weak::upgrade`]), and which thread runs the destructor of the
/// value, is true of the schedule that runs, but no schedule is explored for its sake. The final form makes the
/// counting of an `Arc` visible as soon as it is observed. (2) No unsized coercion and no `self: Arc<Self>`, which
/// stable Rust keeps for std: see [`from_std`](Self::from_std) and [`coerce_arc!`](crate::coerce_arc). (3)
/// `make_mut` and `unwrap_or_clone` are for sized types; uninitialised allocation is left out.
pub struct Arc<T: ?Sized> {
    value: StdArc<T>,
    shared: StdArc<Shared>,
}

/// What all references to one value share besides the value.
struct Shared {
    identity: Identity,
    /// Raw pointers to the value were given out, and `raw` knows the way back.
    raw: AtomicBool,
}

impl Shared {
    #[track_caller]
    fn new() -> StdArc<Self> {
        StdArc::new(Self { identity: Identity::new(), raw: AtomicBool::new(false) })
    }
}

/// Takes over an `Arc` of std, possibly of an unsized type; [`Arc::from_std`] for both kinds of build.
#[track_caller]
pub fn arc_from_std<T: ?Sized>(arc: StdArc<T>) -> Arc<T> {
    Arc::from_std(arc)
}

#[doc(hidden)]
pub fn coerce_arc_with<T: ?Sized, U: ?Sized>(arc: Arc<T>, coerce: impl FnOnce(StdArc<T>) -> StdArc<U>) -> Arc<U> {
    let (value, shared) = arc.into_parts();
    Arc { value: coerce(value), shared }
}

impl<T> Arc<T> {
    /// A first reference to a new shared value.
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::from_std(StdArc::new(value))
    }

    /// As [`new`](Self::new), for a value that holds weak references to itself.
    #[track_caller]
    pub fn new_cyclic<F: FnOnce(&Weak<T>) -> T>(make: F) -> Self {
        let shared = Shared::new();
        let value =
            StdArc::new_cyclic(|weak| make(&Weak { value: weak.clone(), shared: Some(StdArc::clone(&shared)) }));
        Self { value, shared }
    }

    /// As [`new`](Self::new), for a value that never moves.
    #[track_caller]
    pub fn pin(value: T) -> Pin<Self> {
        // SAFETY: as for std's `Arc::pin`: an `Arc` does not move its value, and gives it out mutably only where
        // it is `Unpin` or the pin was given up.
        unsafe { Pin::new_unchecked(Self::new(value)) }
    }

    /// Unwraps the value of the only reference.
    ///
    /// # Errors
    /// The reference, if there are others.
    #[track_caller]
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        hook::counting();
        if StdArc::strong_count(&this.value) != 1 {
            return Err(this);
        }
        this.gone(true);
        let (value, shared) = this.into_parts();
        StdArc::try_unwrap(value).map_err(|value| Self { value, shared })
    }

    /// Drops the reference; the value, if it was the last.
    #[track_caller]
    pub fn into_inner(this: Self) -> Option<T> {
        hook::counting();
        this.gone(StdArc::strong_count(&this.value) == 1);
        StdArc::into_inner(this.into_parts().0)
    }

    /// The value, or a clone of it if there are other references.
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T
    where
        T: Clone,
    {
        Self::try_unwrap(this).unwrap_or_else(|this| T::clone(&this))
    }

    /// The value, for writing, in a new allocation if there are other references.
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T
    where
        T: Clone,
    {
        hook::counting();
        if StdArc::strong_count(&this.value) != 1 {
            *this = Self::new(T::clone(this));
        } else {
            this.counted(true);
            if StdArc::weak_count(&this.value) != 0 {
                this.forget_raw();
                // std moves the value away from its weak references.
                this.shared = Shared::new();
            }
        }
        StdArc::make_mut(&mut this.value)
    }
}

impl<T: ?Sized> Arc<T> {
    /// Takes over an `Arc` of std. This is how one has an `Arc<dyn Trait>`:
    /// `Arc::from_std(std::sync::Arc::new(x) as std::sync::Arc<dyn Trait>)`.
    ///
    /// References that std keeps besides are not seen by a check. Only in modelled builds; elsewhere use
    /// [`arc_from_std`], which is in both.
    #[inline]
    #[track_caller]
    pub fn from_std(value: StdArc<T>) -> Self {
        Self { value, shared: Shared::new() }
    }

    /// A weak reference to the value.
    #[must_use = "this returns a new `Weak` pointer, without modifying the original `Arc`"]
    pub fn downgrade(this: &Self) -> Weak<T> {
        hook::counting();
        let shared = Some(StdArc::clone(&this.shared));
        Weak { value: StdArc::downgrade(&this.value), shared }
    }

    /// How many references there are in the schedule that runs.
    pub fn strong_count(this: &Self) -> usize {
        StdArc::strong_count(&this.value)
    }

    /// How many weak references there are in the schedule that runs.
    pub fn weak_count(this: &Self) -> usize {
        StdArc::weak_count(&this.value)
    }

    /// Whether both refer to the same value.
    #[inline]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        StdArc::ptr_eq(&this.value, &other.value)
    }

    /// The value, for writing, if there is no other reference, strong or weak.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        hook::counting();
        if StdArc::strong_count(&this.value) == 1 && StdArc::weak_count(&this.value) == 0 {
            this.counted(true);
        }
        StdArc::get_mut(&mut this.value)
    }

    /// This reference goes.
    #[inline]
    #[track_caller]
    fn gone(&self, last: bool) {
        if last {
            self.forget_raw();
        }
        self.counted(last);
    }

    /// Tells the check that this reference goes, or that it is seen to be the last one.
    #[inline]
    #[track_caller]
    fn counted(&self, last: bool) {
        hook::reference_dropped(self.shared.identity.object("Arc"), last);
    }

    fn into_parts(self) -> (StdArc<T>, StdArc<Shared>) {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, so each field is moved out once.
        unsafe { (std::ptr::read(&this.value), std::ptr::read(&this.shared)) }
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[inline]
    #[track_caller]
    fn clone(&self) -> Self {
        hook::counting();
        Self { value: StdArc::clone(&self.value), shared: StdArc::clone(&self.shared) }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    #[inline]
    fn drop(&mut self) {
        hook::counting();
        self.gone(StdArc::strong_count(&self.value) == 1);
    }
}
