//! A mix of `AtomicPtr`, with all its methods: null, boxes that are there from the beginning and those that threads
//! make.

use std::sync::{Mutex as StdMutex, PoisonError};

use rsmc::sync::atomic::AtomicPtr;
use rsmc::sync::atomic::Ordering::*;

use super::program::{Mix, Operation, operations};

pub struct Pointers;

pub struct Places {
    first: AtomicPtr<u16>,
    second: AtomicPtr<u16>,
    /// What both point to, or near it.
    targets: [Box<[u16; 4]>; 2],
    /// The boxes that threads have made, which are there until the end.
    #[expect(clippy::vec_box, reason = "what pointers point to must not move")]
    made: StdMutex<Vec<Box<u16>>>,
}

impl Places {
    fn to(&self, target: usize) -> *mut u16 {
        self.targets[target].as_ptr().cast_mut()
    }

    /// A new box with this number.
    fn make(&self, number: u16) -> *mut u16 {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.push(Box::new(number));
        let last: &mut u16 = made.last_mut().expect("there is one");
        last
    }

    /// A pointer, in words that do not depend on where boxes are.
    fn name(&self, pointer: *mut u16) -> String {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = made.iter().find(|number| std::ptr::eq(&raw const ***number, pointer)) {
            return format!("box of {number}");
        }
        let near = |base: *mut u16| pointer.addr().checked_sub(base.addr()).filter(|&bytes| bytes < 8);
        match (near(self.to(0)), near(self.to(1))) {
            (Some(bytes), _) => format!("a + {bytes}"),
            (_, Some(bytes)) => format!("b + {bytes}"),
            _ if pointer.addr() < 100 => format!("null + {}", pointer.addr()),
            _ => "elsewhere".to_owned(),
        }
    }

    fn named(&self, result: Result<*mut u16, *mut u16>) -> Result<String, String> {
        result.map(|pointer| self.name(pointer)).map_err(|pointer| self.name(pointer))
    }
}

impl Mix for Pointers {
    type Objects = Places;
    type Given = ();
    type Held<'a> = ();
    const LENGTH: usize = 5;
    const VARIANTS: usize = 2;

    fn objects(variant: usize) -> Places {
        let targets = [Box::new([0; 4]), Box::new([1; 4])];
        let first = if variant == 0 { std::ptr::null_mut() } else { targets[0].as_ptr().cast_mut() };
        Places { first: AtomicPtr::new(first), second: AtomicPtr::default(), targets, made: StdMutex::default() }
    }

    fn given(_: &Places, _: usize, _: usize) {}

    fn operations(_: usize) -> &'static [Operation<Self>] {
        const NULL: *mut u16 = std::ptr::null_mut();
        operations! { |me|
            me.all.name(me.all.first.load(Relaxed));
            me.all.name(me.all.first.load(Acquire));
            me.all.name(me.all.second.load(SeqCst));
            me.all.first.store(me.all.to(0), Release);
            me.all.first.store(NULL, Relaxed);
            me.all.second.store(me.all.first.load(Acquire), Relaxed);
            me.all.first.store(me.all.make(me.others.len() as u16), Release);
            me.all.name(me.all.first.swap(me.all.make(7), AcqRel));
            me.all.name(me.all.first.swap(me.all.to(1), Relaxed));
            me.all.name(me.all.first.swap(NULL, Acquire));
            me.all.named(me.all.first.compare_exchange(NULL, me.all.to(1), AcqRel, Acquire));
            me.all.named(me.all.first.compare_exchange(me.all.to(0), NULL, Relaxed, Relaxed));
            me.all.named(me.all.first.compare_exchange_weak(me.all.to(0), me.all.to(1), SeqCst, Relaxed));
            me.all.named(me.all.first.compare_exchange(NULL, me.all.make(8), Release, Relaxed));
            me.all.named(me.all.first.fetch_update(AcqRel, Acquire, |old| (!old.is_null()).then_some(NULL)));
            me.all.named(me.all.second.try_update(Relaxed, Relaxed, |old| old.is_null().then(|| me.all.to(0))));
            me.all.name(me.all.first.update(Release, Relaxed, |old| old.map_addr(|address| address ^ 4)));
            me.all.name(me.all.first.fetch_ptr_add(1, Relaxed));
            me.all.name(me.all.first.fetch_ptr_sub(1, AcqRel));
            me.all.name(me.all.first.fetch_byte_add(1, Release));
            me.all.name(me.all.first.fetch_byte_sub(1, Acquire));
            me.all.name(me.all.first.fetch_or(1, Relaxed));
            me.all.name(me.all.first.fetch_and(!1, SeqCst));
            me.all.name(me.all.first.fetch_xor(3, Relaxed));
        }
    }
}
