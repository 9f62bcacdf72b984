//! The operations that all atomic types have in common.

/// The operations of every atomic type. The type is `struct { inline, identity }` and has `encode` and `decode`.
macro_rules! atomic_common {
    ([$($param:ident)?] $name:ident, $value:ty, $bits:expr) => {
        impl$(<$param>)? crate::model::Label for $name$(<$param>)? {
            #[track_caller]
            fn label(&self, name: &str) {
                let init = || Self::encode(self.inline.load(Ordering::Relaxed));
                hook::objects::label(self.identity.object(stringify!($name)), init, name);
            }
        }

        impl$(<$param>)? $name$(<$param>)? {
            /// An atomic that holds `value`.
            #[inline]
            #[must_use]
            #[track_caller]
            pub const fn new(value: $value) -> Self {
                Self { inline: std::sync::atomic::$name::new(value), identity: Identity::new() }
            }

            /// Performs an operation in a check; `None` outside.
            #[inline(always)]
            #[track_caller]
            fn access(&self, action: Action, order: Ordering, failure: Ordering) -> Option<Done> {
                hook::atomics::atomic(&self.identity, &Self::KIND, action, order, failure)
            }

            const KIND: Kind = Kind { name: stringify!($name), init: Self::outside };

            /// The value outside checks of the atomic of this identity.
            fn outside(identity: &Identity) -> u64 {
                let own = std::ptr::from_ref(identity).wrapping_byte_sub(std::mem::offset_of!(Self, identity));
                // SAFETY: the function is called for identities of atomics of this type only, and those are part of
                // them.
                let atomic = unsafe { &*own.cast::<Self>() };
                Self::encode(atomic.inline.load(Ordering::Relaxed))
            }

            /// Performs a read-modify-write in a check and returns the old value; `None` outside.
            #[inline(always)]
            #[track_caller]
            fn rmw(&self, kind: RmwKind, operand: $value, order: Ordering) -> Option<$value> {
                let rmw = Rmw { kind, operand: Self::encode(operand), bits: $bits };
                self.access(Action::Rmw(rmw), order, order).map(|outcome| Self::decode(outcome.read))
            }

            /// Loads the value.
            ///
            /// # Panics
            /// If `order` is `Release` or `AcqRel`, as in std.
            #[inline(always)]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                order::check_load(order);
                match self.access(Action::Load, order, order) {
                    Some(outcome) => Self::decode(outcome.read),
                    None => self.inline.load(order),
                }
            }

            /// Stores a value.
            ///
            /// # Panics
            /// If `order` is `Acquire` or `AcqRel`, as in std.
            #[inline(always)]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                order::check_store(order);
                if self.access(Action::Store(Self::encode(value)), order, order).is_none() {
                    self.inline.store(value, order);
                }
            }

            /// Stores a value and returns the old one.
            #[inline(always)]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.rmw(RmwKind::Swap, value, order).unwrap_or_else(|| self.inline.swap(value, order))
            }

            /// Stores `new` if the value is `current`; returns the old value in both cases.
            ///
            /// # Panics
            /// If `failure` is `Release` or `AcqRel`, as in std.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                order::check_failure(failure);
                let action = Action::Cas { expected: Self::encode(current), new: Self::encode(new), weak: false };
                let outcome = self.access(action, success, failure).map(Self::result);
                outcome.unwrap_or_else(|| self.inline.compare_exchange(current, new, success, failure))
            }

            /// As [`compare_exchange`](Self::compare_exchange), but may fail without cause. In a check it does so
            /// wherever it could, as often in one execution as `Config::spurious` says.
            ///
            /// # Panics
            /// If `failure` is `Release` or `AcqRel`, as in std.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                order::check_failure(failure);
                let action = Action::Cas { expected: Self::encode(current), new: Self::encode(new), weak: true };
                let outcome = self.access(action, success, failure).map(Self::result);
                outcome.unwrap_or_else(|| self.inline.compare_exchange_weak(current, new, success, failure))
            }

            #[inline(always)]
            fn result(Done { read, wrote }: Done) -> Result<$value, $value> {
                if wrote { Ok(Self::decode(read)) } else { Err(Self::decode(read)) }
            }

            /// Stores `new` if the value is `current`; returns the old value.
            #[inline]
            #[track_caller]
            #[deprecated(note = "use `compare_exchange` or `compare_exchange_weak` instead")]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                let failure = order::strongest_failure(order);
                self.compare_exchange(current, new, order, failure).unwrap_or_else(|old| old)
            }

            /// Replaces the value by a function of it: a load, then `compare_exchange` until it succeeds or
            /// `update` returns `None`.
            ///
            /// # Errors
            /// The value for which `update` returned `None`.
            ///
            /// # Panics
            /// If `fetch_order` is `Release` or `AcqRel`, as in std.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut update: F,
            ) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                // Std goes on with what `compare_exchange` returns. To load it is the same, and then a round that fails
                // is an iteration that changes nothing, which checks leave out.
                loop {
                    let old = self.load(fetch_order);
                    let Some(new) = update(old) else { return Err(old) };
                    if self.compare_exchange(old, new, set_order, fetch_order).is_ok() {
                        return Ok(old);
                    }
                }
            }

            /// As [`fetch_update`](Self::fetch_update): std's newer name of it. In a check it is the same steps.
            ///
            /// # Errors
            /// The value for which `update` returned `None`.
            ///
            /// # Panics
            /// If `fetch_order` is `Release` or `AcqRel`, as in std.
            #[inline(always)]
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.fetch_update(set_order, fetch_order, update)
            }

            /// Replaces the value by a function of it: a load, then `compare_exchange` until it succeeds. Returns the
            /// old value. In a check it is the same steps.
            ///
            /// # Panics
            /// If `fetch_order` is `Release` or `AcqRel`, as in std.
            #[inline(always)]
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut update: impl FnMut($value) -> $value,
            ) -> $value {
                let updated = self.fetch_update(set_order, fetch_order, |old| Some(update(old)));
                updated.unwrap_or_else(|_| unreachable!("the closure always gives a value"))
            }

            /// The value, to which no other thread has access. A relaxed load in a check, which reports a data race
            /// with every access of another thread that happens-before does not order.
            #[inline(always)]
            #[track_caller]
            pub fn get_mut(&mut self) -> &mut $value {
                if let Some(outcome) = self.access(Action::Load, Ordering::Relaxed, Ordering::Relaxed) {
                    *self.inline.get_mut() = Self::decode(outcome.read);
                    self.unsynchronised(CellAccess::Write);
                    self.identity.renew();
                }
                self.inline.get_mut()
            }

            /// Shows the value to `f`, for writing. As [`get_mut`](Self::get_mut), but the access lasts until `f`
            /// returns. For `rsmc-loom`.
            #[doc(hidden)]
            #[inline]
            #[track_caller]
            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
                let result = f(self.get_mut());
                self.unsynchronised(CellAccess::Write);
                result
            }

            /// Loads the value without synchronisation: a data race with every store that happens-before does not
            /// order. For `rsmc-loom`.
            ///
            /// # Safety
            /// None here; loom asks for it: no other thread may store meanwhile.
            #[doc(hidden)]
            #[inline]
            #[track_caller]
            pub unsafe fn unsync_load(&self) -> $value {
                let value = self.load(Ordering::Relaxed);
                self.unsynchronised(CellAccess::Read);
                value
            }

            #[track_caller]
            fn unsynchronised(&self, access: CellAccess) {
                hook::atomics::unsynchronised(&self.identity, &Self::KIND, access);
            }

            /// Unwraps the value. A relaxed load in a check.
            #[inline(always)]
            #[track_caller]
            pub fn into_inner(self) -> $value {
                match self.access(Action::Load, Ordering::Relaxed, Ordering::Relaxed) {
                    Some(outcome) => Self::decode(outcome.read),
                    None => self.inline.into_inner(),
                }
            }

            /// A pointer to the value. In a check it points to the *initial* value, and the check does not see its use.
            #[inline]
            pub const fn as_ptr(&self) -> *mut $value {
                self.inline.as_ptr()
            }
        }

        impl$(<$param>)? From<$value> for $name$(<$param>)? {
            #[track_caller]
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        impl$(<$param>)? fmt::Debug for $name$(<$param>)? {
            #[track_caller]
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.load(Ordering::Relaxed), f)
            }
        }
    };
}

/// Read-modify-writes that are one function of std and one kind of the model.
macro_rules! atomic_rmw {
    ($value:ty: $($(#[$doc:meta])* $method:ident = $kind:ident;)+) => {
        $(
            $(#[$doc])*
            ///
            /// Returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn $method(&self, value: $value, order: Ordering) -> $value {
                self.rmw(RmwKind::$kind, value, order).unwrap_or_else(|| self.inline.$method(value, order))
            }
        )+
    };
}
