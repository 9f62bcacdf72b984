//! `Arc` and `Weak`.

mod copied;
mod counts;
mod from;
mod io;
mod raw;
mod traits;
mod uninit;
mod weak;

use std::mem::ManuallyDrop;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc as StdArc;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed};

use rsmc_core::runtime::hook;
use rsmc_core::runtime::hook::calls::InCall;

use crate::model::arc::copied::Copied;
use crate::model::arc::counts::{Count, Shared};

pub use weak::Weak;

/// Mirrors [`std::sync::Arc`].
///
/// In a check, dropping a reference gives happens-before edges (a drop releases, the last one acquires, and so does a
/// successful `get_mut`, `make_mut`, `try_unwrap` or `into_inner`), but cloning and dropping are no steps as long as
/// the program cannot tell. They become steps for all `Arc`s of a type as soon as, with other threads about, a count is
/// observed (`strong_count`, `weak_count`, `get_mut`, `make_mut`, `try_unwrap`, `into_inner`, `unwrap_or_clone`,
/// [`Weak::upgrade`]), the destructor of the value performs a step, or accesses are ordered only by which thread drops
/// the last reference; the check then starts again. What a thread observes alone, after it has joined all others, needs
/// no steps.
///
/// Deviations. (1) No unsized coercion and no `self: Arc<Self>`, which stable Rust keeps for std: see
/// [`from_std`](Self::from_std) and [`coerce_arc!`](crate::coerce_arc). (2) No [`Waker`](std::task::Waker) is made of
/// it: [`Wake`](std::task::Wake) is about std's `Arc`.
pub struct Arc<T: ?Sized> {
    /// Dropped by `drop`.
    value: ManuallyDrop<StdArc<T>>,
    shared: StdArc<Shared>,
}

/// Takes over an `Arc` of std, possibly of an unsized type; [`Arc::from_std`] for both kinds of build. A check does not
/// see references that std keeps besides.
#[track_caller]
pub fn arc_from_std<T: ?Sized>(arc: StdArc<T>) -> Arc<T> {
    Arc::from_std(arc)
}

#[doc(hidden)]
pub fn coerce_arc_with<T: ?Sized, U: ?Sized>(arc: Arc<T>, coerce: impl FnOnce(StdArc<T>) -> StdArc<U>) -> Arc<U> {
    let (value, shared) = arc.into_parts();
    Arc::of(coerce(value), shared)
}

impl<T> Arc<T> {
    /// A first reference to a new shared value.
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::fresh(StdArc::new(value))
    }

    /// As [`new`](Self::new), for a value that holds weak references to itself.
    #[track_caller]
    pub fn new_cyclic<F: FnOnce(&Weak<T>) -> T>(make: F) -> Self {
        let shared = Shared::of_new::<T>();
        let value = StdArc::new_cyclic(|weak| {
            let mut weak = Weak { value: weak.clone(), shared: Some(Shared::of_all(&shared)) };
            let value = make(&weak);
            // It becomes the weak reference that all strong ones have, so that its drop here does not count.
            weak.shared = None;
            value
        });
        if shared.is_counted() {
            shared.complete();
        }
        Self::of(value, shared)
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
        if !this.takes_only_reference("try_unwrap", Relaxed) {
            return Err(this);
        }
        if this.shared.is_counted() {
            hook::atomics::fence_within(Acquire);
        }
        this.value_goes();
        let (value, shared) = this.into_parts();
        StdArc::try_unwrap(value).map_err(|value| Self::of(value, shared))
    }

    /// Drops the reference; the value, if it was the last.
    #[track_caller]
    pub fn into_inner(this: Self) -> Option<T> {
        this.shared.observe();
        this.gone(Some(Location::caller()), "into_inner");
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
}

impl<T: ?Sized + Copied> Arc<T> {
    /// The value, for writing, in a new allocation if there are other references. It is a `Clone` value, a slice of
    /// those, or a string of one kind or another.
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T {
        let mut left_behind = None;
        if this.takes_only_reference("make_mut", Acquire) {
            if this.has_weak() {
                // std moves the value away from its weak references, one of which this may be the last.
                left_behind = Some(StdArc::downgrade(&this.value));
                this.value_goes();
                this.shared = Shared::of_new::<T>();
            } else if this.shared.is_counted() {
                let _call = this.call(Some(Location::caller()), "make_mut");
                this.shared.give_back();
            }
        } else {
            *this = Self::fresh(T::copied(this));
        }
        let value = T::unshared(&mut this.value);
        drop(left_behind);
        value
    }
}

impl<T: ?Sized> Arc<T> {
    /// Takes over an `Arc` of std. This is the way to an `Arc<dyn Trait>`: `Arc::from_std(std::sync::Arc::new(x) as
    /// std::sync::Arc<dyn Trait>)`.
    ///
    /// A check does not see references that std keeps besides. Only in modelled builds; elsewhere use [`arc_from_std`],
    /// which is in both.
    #[inline]
    #[track_caller]
    pub fn from_std(value: StdArc<T>) -> Self {
        Self::of(value, Shared::of::<T>())
    }

    /// A first reference to a value that std's `Arc` was just made for.
    #[inline]
    #[track_caller]
    fn fresh(value: StdArc<T>) -> Self {
        Self::of(value, Shared::of_new::<T>())
    }

    fn of(value: StdArc<T>, shared: StdArc<Shared>) -> Self {
        Self { value: ManuallyDrop::new(value), shared }
    }

    /// A weak reference to the value.
    #[must_use = "this returns a new `Weak` pointer, without modifying the original `Arc`"]
    #[track_caller]
    pub fn downgrade(this: &Self) -> Weak<T> {
        this.shared.meet(Some(Location::caller()));
        match this.shared.is_counted() {
            true => {
                let _call = this.call(Some(Location::caller()), "downgrade");
                this.shared.downgrade(StdArc::weak_count(&this.value));
            }
            false => hook::counts::counting(),
        }
        let shared = Some(Shared::of_all(&this.shared));
        Weak { value: StdArc::downgrade(&this.value), shared }
    }

    /// The number of strong references. In a check a relaxed load, as in std, where other threads could change it.
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        let now = StdArc::strong_count(&this.value);
        let is_step = this.shared.observe();
        let _call = this.call(Some(Location::caller()), "strong_count");
        if is_step { this.shared.strong(now) } else { now }
    }

    /// The number of weak references. In a check a relaxed load, as in std, where other threads could change it.
    #[track_caller]
    pub fn weak_count(this: &Self) -> usize {
        let now = StdArc::weak_count(&this.value);
        let is_step = this.shared.observe();
        let _call = this.call(Some(Location::caller()), "weak_count");
        if is_step { this.shared.weak(now, Relaxed) } else { now }
    }

    /// Begins a call of a method, where counting consists of steps.
    fn call(&self, place: Option<&'static Location<'static>>, verb: &'static str) -> Option<InCall> {
        self.shared.call(place, StdArc::strong_count(&self.value), verb)
    }

    #[track_caller]
    fn has_weak(&self) -> bool {
        let _call = self.call(Some(Location::caller()), "make_mut");
        let now = StdArc::weak_count(&self.value);
        let count = if self.shared.is_counted() { self.shared.weak(now, Relaxed) } else { now };
        count > 0
    }

    /// Whether this is the only strong reference. If so it counts as gone.
    #[track_caller]
    fn takes_only_reference(&self, verb: &'static str, order: Ordering) -> bool {
        let is_counted = self.shared.observe();
        let _call = self.call(Some(Location::caller()), verb);
        let now = StdArc::strong_count(&self.value);
        if is_counted {
            return self.shared.take(now, order);
        }
        hook::counts::counting();
        now == 1
    }

    /// Whether both refer to the same value.
    #[inline]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        StdArc::ptr_eq(&this.value, &other.value)
    }

    /// The value, for writing, if there is no other reference, strong or weak.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        if this.shared.observe() {
            let _call = this.call(Some(Location::caller()), "get_mut");
            let is_unique = this.shared.is_unique(StdArc::strong_count(&this.value), StdArc::weak_count(&this.value));
            return if is_unique { StdArc::get_mut(&mut this.value) } else { None };
        }
        hook::counts::counting();
        StdArc::get_mut(&mut this.value)
    }

    /// Drops this reference; true if it is the last one.
    #[inline]
    #[track_caller]
    fn gone(&self, place: Option<&'static Location<'static>>, verb: &'static str) -> bool {
        let now = StdArc::strong_count(&self.value);
        let last = match self.shared.counting(place) {
            true => {
                let _call = self.call(place, verb);
                self.shared.subtract(Count::Strong, now)
            }
            false => {
                // Other threads may have gone on meanwhile.
                let last = StdArc::strong_count(&self.value) == 1;
                self.shared.dropped(last);
                last
            }
        };
        if last {
            self.value_goes();
        }
        last
    }

    fn into_parts(self) -> (StdArc<T>, StdArc<Shared>) {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, so each field is moved out once.
        unsafe { (ManuallyDrop::take(&mut this.value), std::ptr::read(&this.shared)) }
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[inline]
    #[track_caller]
    fn clone(&self) -> Self {
        if self.shared.counting(Some(Location::caller())) {
            let _call = self.call(Some(Location::caller()), "clone");
            self.shared.add(Count::Strong, StdArc::strong_count(&self.value));
        }
        Self::of(StdArc::clone(&self.value), Shared::another(&self.shared, "clone"))
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    #[inline]
    fn drop(&mut self) {
        let last = self.gone(None, "drop");
        // SAFETY: no code uses the field after this.
        let mut drop = || unsafe { ManuallyDrop::drop(&mut self.value) };
        if last { self.shared.drop_value(drop) } else { drop() }
    }
}
