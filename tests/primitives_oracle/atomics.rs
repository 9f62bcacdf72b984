//! Mixes of atomics that are numbers or flags, of all types, with all their methods. Beside each atomic there is one of
//! std, which does the same at once: under SC both return the same.

use std::fmt::{self, Debug, Write};
use std::sync::atomic as std_atomic;

use rsmc::sync::Mutex;
use rsmc::sync::atomic::Ordering::{self, *};
use rsmc::sync::atomic::{self, AtomicBool, fence};

use super::program::{Differs, Mix, Operation, operations};

/// What an atomic returns, and what the atomic of std returns that is beside it.
pub struct Both<T>(T, T);

impl<T: Debug> Debug for Both<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut of_std = String::new();
        write!(of_std, "{:?}", self.1)?;
        let text = format!("{:?}", self.0);
        f.write_str(&text)?;
        if text == of_std { Ok(()) } else { write!(f, "{}", Differs(&of_std)) }
    }
}

/// An atomic, and one of std.
#[derive(Default)]
pub struct Pair<A, S>(A, S);

/// A method of both atomics of a pair.
macro_rules! both {
    ($pair:expr, $method:ident($($argument:expr),*)) => {{
        let Pair(modelled, of_std) = &$pair;
        Both(modelled.$method($($argument),*), of_std.$method($($argument),*))
    }};
}

/// A compare-exchange of both; one that is weak fails where the first one does.
macro_rules! exchange {
    ($pair:expr, $method:ident, $current:expr, $new:expr, $orders:expr) => {{
        let (Pair(modelled, of_std), (success, failure)) = (&$pair, $orders);
        let result = modelled.$method($current, $new, success, failure);
        let of_std = match result {
            Err(value) if value == $current => Err(of_std.load(SeqCst)),
            _ => of_std.compare_exchange($current, $new, SeqCst, SeqCst),
        };
        Both(result, of_std)
    }};
}

/// An update of both; the second one is told what the first one has found.
macro_rules! update {
    ($pair:expr, $method:ident, $orders:expr, $update:expr) => {{
        let (Pair(modelled, of_std), (success, failure), update) = (&$pair, $orders, $update);
        let result = modelled.$method(success, failure, update);
        let now = of_std.load(SeqCst);
        if let (Ok(_), Some(new)) = (result, update(now)) {
            of_std.store(new, SeqCst);
        }
        Both(result, if result.is_ok() { Ok(now) } else { Err(now) })
    }};
}

#[derive(Clone, Copy)]
pub enum Change {
    Swap,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
}
use Change::*;

/// An integer atomic of any type; values are the low bits of what is given.
pub trait Int: Send + Sync {
    fn change(&self, change: Change, value: i64, order: Ordering) -> Both<i128>;
    fn load(&self, order: Ordering) -> Both<i128>;
    fn store(&self, value: i64, order: Ordering);
    fn exchange(&self, current: i64, new: i64, is_weak: bool, orders: Orders) -> Both<Result<i128, i128>>;
    /// Adds one, unless the value is this one.
    fn add_unless(&self, limit: i64, orders: Orders) -> Both<Result<i128, i128>>;
    fn get_mut(&mut self) -> Both<&mut dyn AddAssign>;
    fn into_inner(self: Box<Self>) -> Both<i128>;
}

/// The orderings of a success and of a failure.
type Orders = (Ordering, Ordering);

/// An integer to which something can be added, wrapping around.
pub trait AddAssign: Debug {
    fn add(&mut self, value: i64);
}

impl<T> Both<T> {
    fn map<U>(self, code: impl Fn(T) -> U) -> Both<U> {
        Both(code(self.0), code(self.1))
    }
}

macro_rules! ints {
    ($($name:ident: $int:ident),+) => {
        $(impl AddAssign for $int {
            fn add(&mut self, value: i64) {
                *self = self.wrapping_add(value as $int);
            }
        }

        impl Int for Pair<atomic::$name, std_atomic::$name> {
            fn change(&self, change: Change, value: i64, order: Ordering) -> Both<i128> {
                let value = value as $int;
                let both = match change {
                    Swap => both!(*self, swap(value, order)),
                    Add => both!(*self, fetch_add(value, order)),
                    Sub => both!(*self, fetch_sub(value, order)),
                    And => both!(*self, fetch_and(value, order)),
                    Nand => both!(*self, fetch_nand(value, order)),
                    Or => both!(*self, fetch_or(value, order)),
                    Xor => both!(*self, fetch_xor(value, order)),
                    Max => both!(*self, fetch_max(value, order)),
                    Min => both!(*self, fetch_min(value, order)),
                };
                both.map(i128::from_int)
            }

            fn load(&self, order: Ordering) -> Both<i128> {
                both!(*self, load(order)).map(i128::from_int)
            }

            fn store(&self, value: i64, order: Ordering) {
                both!(*self, store(value as $int, order));
            }

            fn exchange(&self, current: i64, new: i64, is_weak: bool, orders: Orders) -> Both<Result<i128, i128>> {
                let (current, new) = (current as $int, new as $int);
                let both = match is_weak {
                    true => exchange!(*self, compare_exchange_weak, current, new, orders),
                    false => exchange!(*self, compare_exchange, current, new, orders),
                };
                both.map(|result| result.map(i128::from_int).map_err(i128::from_int))
            }

            fn add_unless(&self, limit: i64, orders: Orders) -> Both<Result<i128, i128>> {
                let add = |old: $int| (old != limit as $int).then(|| old.wrapping_add(1));
                let both = update!(*self, fetch_update, orders, add);
                both.map(|result| result.map(i128::from_int).map_err(i128::from_int))
            }

            fn get_mut(&mut self) -> Both<&mut dyn AddAssign> {
                Both(self.0.get_mut(), self.1.get_mut())
            }

            fn into_inner(self: Box<Self>) -> Both<i128> {
                Both(self.0.into_inner(), self.1.into_inner()).map(i128::from_int)
            }
        })+

        /// A conversion of every integer.
        trait FromInt<T> {
            fn from_int(value: T) -> Self;
        }

        $(impl FromInt<$int> for i128 {
            fn from_int(value: $int) -> i128 {
                value as i128
            }
        })+

        /// An atomic of one of the types.
        fn int(which: usize, value: i64) -> Box<dyn Int> {
            let new: &[fn(i64) -> Box<dyn Int>] = &[$(|value| {
                Box::new(Pair(atomic::$name::new(value as $int), std_atomic::$name::new(value as $int)))
            }),+];
            new[which % new.len()](value)
        }
    };
}

ints! {
    AtomicU8: u8, AtomicI8: i8, AtomicU16: u16, AtomicI16: i16, AtomicU32: u32,
    AtomicI32: i32, AtomicU64: u64, AtomicI64: i64, AtomicUsize: usize, AtomicIsize: isize
}

pub struct Ints;

pub struct Numbers {
    shared: Box<dyn Int>,
    /// What only one thread uses at a time; a thread may take it out.
    slot: Mutex<Option<Box<dyn Int>>>,
}

impl Numbers {
    fn add_in_slot(&self, value: i64) -> Option<Both<String>> {
        let mut slot = self.slot.lock().unwrap();
        let both = slot.as_mut()?.get_mut();
        both.0.add(value);
        both.1.add(value);
        Some(both.map(|value| format!("{value:?}")))
    }
}

impl Mix for Ints {
    type Objects = Numbers;
    type Given = ();
    type Held<'a> = ();
    const LENGTH: usize = 5;
    const VARIANTS: usize = 40;

    fn objects(variant: usize) -> Numbers {
        // The largest value of each signed type, in its low bits, and that of the unsigned ones.
        let bits = [8, 16, 32, 64, 64][variant % 10 / 2];
        let first = [0, -1, (1_u64 << (bits - 1)).wrapping_sub(1) as i64, 1][variant / 10];
        Numbers { shared: int(variant, first), slot: Mutex::new(Some(int(variant, first))) }
    }

    fn given(_: &Numbers, _: usize, _: usize) {}

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            me.all.shared.load(Relaxed);
            me.all.shared.load(Acquire);
            me.all.shared.load(SeqCst);
            me.all.shared.store(-1, Relaxed);
            me.all.shared.store(0, Release);
            me.all.shared.store(1, SeqCst);
            me.all.shared.change(Swap, -2, AcqRel);
            me.all.shared.change(Add, 1, Relaxed);
            me.all.shared.change(Add, 1, Release);
            me.all.shared.change(Add, -3, Acquire);
            me.all.shared.change(Sub, 1, SeqCst);
            me.all.shared.change(Sub, 200, Relaxed);
            me.all.shared.change(And, 5, Release);
            me.all.shared.change(Nand, 1, AcqRel);
            me.all.shared.change(Nand, -1, Relaxed);
            me.all.shared.change(Or, 130, Relaxed);
            me.all.shared.change(Xor, -1, Acquire);
            me.all.shared.change(Max, 1, Relaxed);
            me.all.shared.change(Max, -1, AcqRel);
            me.all.shared.change(Min, 0, Relaxed);
            me.all.shared.change(Min, 100, SeqCst);
            me.all.shared.exchange(0, 1, false, (Relaxed, Relaxed));
            me.all.shared.exchange(-1, 0, false, (AcqRel, Acquire));
            me.all.shared.exchange(1, 2, false, (Release, SeqCst));
            me.all.shared.exchange(0, -1, true, (SeqCst, Relaxed));
            me.all.shared.exchange(1, 0, true, (Acquire, Acquire));
            me.all.shared.add_unless(1, (AcqRel, Relaxed));
            me.all.shared.add_unless(-1, (Relaxed, Acquire));
            me.all.add_in_slot(1);
            me.all.add_in_slot(-2);
            me.all.slot.lock().unwrap().as_ref().map(|int| int.change(Add, 100, Relaxed));
            me.all.slot.lock().unwrap().take().map(Int::into_inner);
        }
    }
}

/// No update of these can come back to a value after it has failed: then it may go round again, and brute force shows
/// executions with such rounds besides those without.
pub struct Bools;

pub type Flag = Pair<AtomicBool, std_atomic::AtomicBool>;

impl Mix for Bools {
    type Objects = [Flag; 2];
    type Given = ();
    type Held<'a> = ();
    const LENGTH: usize = 6;

    fn objects(_: usize) -> Self::Objects {
        Default::default()
    }

    fn given(_: &Self::Objects, _: usize, _: usize) {}

    fn operations(_: usize) -> &'static [Operation<Self>] {
        operations! { |me|
            both!(me.all[0], load(Relaxed));
            both!(me.all[1], load(Acquire));
            both!(me.all[0], store(true, Release));
            both!(me.all[1], store(true, Relaxed));
            both!(me.all[0], swap(true, AcqRel));
            both!(me.all[0], swap(false, Relaxed));
            both!(me.all[1], swap(true, SeqCst));
            both!(me.all[0], fetch_and(false, Release));
            both!(me.all[0], fetch_and(true, Relaxed));
            both!(me.all[0], fetch_nand(true, AcqRel));
            both!(me.all[1], fetch_nand(false, Relaxed));
            both!(me.all[0], fetch_or(true, Acquire));
            both!(me.all[0], fetch_xor(true, Relaxed));
            both!(me.all[1], fetch_xor(false, SeqCst));
            both!(me.all[0], fetch_not(AcqRel));
            both!(me.all[1], fetch_not(Relaxed));
            exchange!(me.all[0], compare_exchange, false, true, (Acquire, Relaxed));
            exchange!(me.all[0], compare_exchange, true, false, (Release, Acquire));
            exchange!(me.all[1], compare_exchange_weak, false, true, (SeqCst, SeqCst));
            exchange!(me.all[0], compare_exchange_weak, true, true, (Relaxed, Relaxed));
            update!(me.all[0], fetch_update, (AcqRel, Acquire), |old: bool| old.then_some(false));
            update!(me.all[0], try_update, (Relaxed, Relaxed), |old: bool| (!old).then_some(true));
            Both(me.all[1].0.update(Relaxed, Relaxed, |_| true), me.all[1].1.swap(true, SeqCst));
            fence(SeqCst);
            fence(AcqRel);
        }
    }
}
