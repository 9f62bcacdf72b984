//! Puts the data of static locks and cells back when an execution is over.
//!
//! At an object's first touch in an execution its bytes are kept; at the end they are written back, and the value that
//! was there meanwhile is moved out and dropped. Two questions decide whether that is sound.
//!
//! *Will the object still be there?* It is a static for certain: it lies where the program's file was loaded, and the
//! file itself has its mark at that place, so that it was not made later, in memory that something else owns (as one
//! inside std's `LazyLock`). Before anything is written the mark is looked for once more.
//!
//! *May a bitwise copy stand for the value, once for every execution?*
//!
//! - No word of it may be the address of memory that can be written. So it owns no heap that an execution could free,
//!   it is no `&mut` that would be there twice, and it is not one half of a structure of which the other half stays as
//!   the execution left it. A reference to itself is such an address, too.
//! - If it has something to drop, it must be what the program's file says, never used outside a check. Such a value
//!   came from a constant expression, which could be used for any number of values, each with its own drop. What it
//!   becomes in an execution, as a `Vec` that has grown, is another value by then, and only the static owns it.
//!
//! Otherwise the data stays what the execution leaves.
//!
//! The value is moved out before it is dropped, since its destructor may use the same static, and finds its first value
//! then. Where a guard is still out (forgotten, or on the stack of a thread that was left for good), its references may
//! still be there, and the value is leaked instead of dropped.
//!
//! While the copy of a check is in the static, others stay out: other checks by one lock for all statics, and code
//! outside by the object's door. A cell has no door.

mod image;
mod turns;

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::{MaybeUninit, transmute_copy};
use std::ptr::{NonNull, from_ref};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rsmc_core::runtime::{Slot, Tag, hook};

use crate::model::door::{Door, Pass};
use crate::model::statics::image::Image;
use crate::model::statics::turns::Turn;

/// The mark of an object that was not used outside a check since the program was loaded.
const FRESH: u64 = 0x9b71_d5a3_4ec8_26f1;
/// The mark of an object that was used outside a check.
const USED: u64 = 0x6ca4_18fe_b353_d90b;

/// Part of an object whose data starts anew in every execution if it is a static.
pub(crate) struct Home {
    mark: AtomicU64,
}

/// The record of a static that can be put back.
struct Kept {
    data: NonNull<u8>,
    /// Its bytes at the first touch.
    first: Buffer,
    /// Drops a value in such a buffer and frees it, if there is something to drop.
    drop: Option<unsafe fn(NonNull<()>)>,
    pass: Option<Pass<'static>>,
}

/// Memory of the heap for a value.
struct Buffer {
    place: NonNull<u8>,
    layout: Layout,
}

/// The statics that this OS thread's execution has touched.
struct Touched {
    turn: Option<Turn>,
    /// By address.
    objects: BTreeMap<usize, Object>,
}

/// A static object that an execution has touched.
struct Object {
    mark: &'static AtomicU64,
    door: Option<&'static Door>,
    /// `None` where the data cannot be put back.
    kept: Option<Kept>,
}

thread_local! {
    static TOUCHED: RefCell<Touched> = const { RefCell::new(Touched { turn: None, objects: BTreeMap::new() }) };
}

/// Whether the object of a tag is a static for certain.
pub(crate) fn has(tag: &Tag) -> bool {
    image::get().is_some_and(|image| image.has(from_ref(tag).addr()))
}

impl Home {
    pub(crate) const fn new() -> Self {
        Self { mark: AtomicU64::new(FRESH) }
    }

    /// Notes that the data is about to be accessed, by a caller that may do so now, in a check or outside. An object
    /// with a door has a pass for it outside, and does not need one in a check.
    ///
    /// # Panics
    /// If another check, or code outside, does not let go of the data for ten seconds.
    #[inline]
    pub(crate) fn touch<T: ?Sized>(&self, data: *mut T, door: Option<&Door>) {
        if !hook::executions::in_run() {
            return self.mark.store(USED, Relaxed);
        }
        if let Some(image) = image::get().filter(|image| image.has(from_ref(self).addr())) {
            self.touch_static(image, data, door);
        }
    }

    #[cold]
    fn touch_static<T: ?Sized>(&self, image: &Image, data: *mut T, door: Option<&Door>) {
        hook::executions::aside(|| self.touch_first(image, data, door));
    }

    /// Remembers the object, in an execution; the memory for that is none of the user's.
    fn touch_first<T: ?Sized>(&self, image: &Image, data: *mut T, door: Option<&Door>) {
        let address = from_ref(self).addr();
        TOUCHED.with_borrow_mut(|touched| {
            if touched.objects.contains_key(&address) {
                return;
            }
            if touched.turn.is_none() {
                touched.turn = Some(turns::wait());
                hook::slots::at_end(put_back);
            }
            // SAFETY: the image has the object, so it is a part of a static, and those live as long as the program.
            let mark: &'static AtomicU64 = unsafe { &*from_ref(&self.mark) };
            // SAFETY: see above.
            let door: Option<&'static Door> = door.map(|door| unsafe { &*from_ref(door) });
            // SAFETY: see above, and the data is of the same object.
            let kept = unsafe { self.keep(image, data, door) };
            touched.objects.insert(address, Object { mark, door, kept });
        });
    }

    /// Keeps the bytes of the data, if they may stand for its value once more.
    ///
    /// # Safety
    /// The object is part of a static, `data` its data, and `door` its door. No other code accesses the data as long as
    /// a pass of the door is out, or, if it has none, now.
    unsafe fn keep<T: ?Sized>(&self, image: &Image, data: *mut T, door: Option<&'static Door>) -> Option<Kept> {
        let mark = &self.mark;
        let pass = door.map(Door::pass_in_run);
        // SAFETY: no code writes to the data now, and its metadata is that of a living value.
        let layout = unsafe { Layout::for_value(&*data) };
        let data = NonNull::new(data)?;
        let is_thin = size_of_val(&data) == size_of::<usize>();
        let needs_drop = std::mem::needs_drop::<T>();
        let address = data.cast::<u8>().addr().get();
        let loaded_here = image.had(from_ref(mark).addr(), FRESH);
        if !loaded_here || layout.size() == 0 || (needs_drop && !is_thin) {
            return None;
        }
        // SAFETY: the data has that many bytes, and no code writes to it now.
        let first = unsafe { Buffer::copy(data.cast(), layout) };
        let bytes = first.bytes();
        let may_return = !image.refers_to_writable(address, &bytes)
            && (!needs_drop || (mark.load(Relaxed) == FRESH && image.is_as_loaded(address, &bytes)));
        let drop: Option<unsafe fn(NonNull<()>)> = if needs_drop { Some(drop_box::<T>) } else { None };
        may_return.then_some(Kept { data: data.cast(), first, drop, pass })
    }
}

/// Puts back the data of all statics that the execution of this OS thread has touched, and lets others use them.
fn put_back() -> Vec<Slot> {
    let (objects, turn) =
        TOUCHED.with_borrow_mut(|touched| (std::mem::take(&mut touched.objects), touched.turn.take()));
    let left = objects.into_values().filter_map(Object::put_back).collect();
    drop(turn);
    left
}

impl Object {
    /// Returns the value of the execution, if it has to be dropped.
    fn put_back(self) -> Option<Slot> {
        let Self { mark, door, kept } = self;
        if ![FRESH, USED].contains(&mark.load(Relaxed)) {
            // The object is gone: something else is there now, also instead of its door.
            std::mem::forget(kept.and_then(|kept| kept.pass));
            return None;
        }
        let value = kept.and_then(Kept::put_back);
        if let Some(door) = door {
            door.take_back();
        }
        value
    }
}

impl Kept {
    /// Returns the value of the execution, if it has to be dropped.
    fn put_back(self) -> Option<Slot> {
        let Self { data, first, drop, pass } = self;
        let guards_left = pass.as_ref().is_some_and(Pass::others_are_out);
        // SAFETY: both have as many bytes. The object is there (see the module); no thread of the execution runs any
        // more, other checks wait for the turn and code outside for the door.
        unsafe {
            let bytes = first.place.cast::<MaybeUninit<u8>>().as_ptr();
            std::ptr::swap_nonoverlapping(data.cast().as_ptr(), bytes, first.layout.size());
        }
        let drop = drop.filter(|_| !guards_left)?;
        // The buffer has the layout of a box of the value.
        Some(Slot { value: first.into_raw().cast(), drop, of_static: true })
    }
}

/// Drops a value that was moved into a buffer, and the buffer.
///
/// # Safety
/// It must be a `T` that no code uses any more, in a buffer of its layout, and pointers to `T` must be thin.
unsafe fn drop_box<T: ?Sized>(value: NonNull<()>) {
    // SAFETY: a thin pointer is an address and nothing else.
    let value: *mut T = unsafe { transmute_copy(&value) };
    // SAFETY: the caller's; a box is memory of the global allocator with the layout of its value.
    drop(unsafe { Box::from_raw(value) });
}

impl Buffer {
    /// # Safety
    /// `from` must be valid for reads of the layout's size, which is not 0.
    unsafe fn copy(from: NonNull<u8>, layout: Layout) -> Self {
        // SAFETY: the size is not 0.
        let place = NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        // SAFETY: the caller's, and the memory is new.
        unsafe { from.cast::<MaybeUninit<u8>>().copy_to_nonoverlapping(place.cast(), layout.size()) };
        Self { place, layout }
    }

    fn bytes(&self) -> Vec<u8> {
        // SAFETY: the bytes are there. Padding has some value or other: it was copied from a static, and the compiler
        // cannot know better of a volatile read.
        (0..self.layout.size()).map(|nth| unsafe { self.place.add(nth).read_volatile() }).collect()
    }

    fn into_raw(self) -> NonNull<u8> {
        std::mem::ManuallyDrop::new(self).place
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.place.as_ptr(), self.layout) };
    }
}
