//! The blocks of memory that nothing points to, though they were not freed.
//!
//! Problem. Threads that are left behind own memory (`teardown`). It is not freed, but it must not be taken back
//! blindly: what they handed out before, to a collection that the body captured or to a static, is in use.
//!
//! The memory that an execution has lost (`leaks`) is found in the same way: it is the memory to which nothing leads.
//!
//! Method. Conservative marking (Boehm & Weiser, "Garbage collection in an uncooperative environment", 1988): every
//! word of the memory that can be written is taken for a pointer, without the bits that addresses do not have. What it
//! points into is in use, and so is what is pointed to from there. Only blocks that were left are ever taken back. All
//! else that is alive is a root: other blocks, and the whole memory of executions that run.
//!
//! Cost. Time linear in the memory that the process has written to, about a millisecond for 4 MB. It is paid when
//! executions have left 64 MB behind, and half of what was looked through the last time. A word that only looks like a
//! pointer keeps a block, until the next time.
//!
//! Limits. Linux, which lists the memory of a process; where it does not (emulators, sandboxes) no thread is left
//! behind. A pointer that is kept in another form (compressed, in a file), or at that moment only in a register of
//! another OS thread, is not seen.

use std::ops::Range;

#[cfg(target_os = "linux")]
pub(super) use linux::{collect, is_possible, known};

/// Blocks of a check's piece to which something may lead. Nothing here looks like a pointer: places count from the
/// beginning of the piece.
pub(super) struct Search<'a> {
    /// Where the piece begins.
    pub(super) start: usize,
    /// The blocks that are in use, in ascending order.
    pub(super) blocks: Vec<Range<usize>>,
    /// Places that something leads to.
    pub(super) known: Vec<usize>,
    /// The places to which a block leads by its contents, besides those to which its bytes lead.
    pub(super) leads_to: &'a dyn Fn(&Range<usize>) -> Vec<usize>,
    /// A place on the stack of the check's caller. What is behind it belongs to the caller.
    pub(super) caller: usize,
}

/// Elsewhere no thread is left behind.
#[cfg(not(target_os = "linux"))]
pub(super) fn collect() {}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_possible() -> bool {
    false
}

/// Elsewhere this is not known.
#[cfg(not(target_os = "linux"))]
pub(super) fn known(_: &Search<'_>) -> Option<Vec<bool>> {
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{File, read_to_string};
    use std::ops::Range;
    use std::os::unix::fs::FileExt;
    use std::sync::OnceLock;

    use crate::runtime::arena::in_use;
    use crate::runtime::blocks::{Block, blocks};
    use crate::runtime::leave;
    use crate::runtime::pieces::All;
    use crate::runtime::reclaim::Search;

    /// Whether the system shows this process its memory, as an emulator or a sandbox may not.
    pub(in crate::runtime) fn is_possible() -> bool {
        static IS_POSSIBLE: OnceLock<bool> = OnceLock::new();
        *IS_POSSIBLE.get_or_init(|| {
            let own = std::hint::black_box([std::process::id() as usize, 0x5eed, usize::MAX]);
            let mut shown = Vec::new();
            let range = own.as_ptr_range();
            let memory = Memory::open().map(|mut memory| {
                memory.read(range.start.addr()..range.end.addr(), &mut |words| shown.extend_from_slice(words));
            });
            memory.is_ok() && shown == own && read_to_string(MAPS).is_ok()
        })
    }

    /// The list of all mappings.
    const MAPS: &str = "/proc/self/maps";

    /// Takes back the blocks that were left and are not in use, in the pieces that no check has. It must not run on the
    /// stack of a modelled thread.
    pub(in crate::runtime) fn collect() {
        unsafe extern "C" fn with_stack(top: *mut ()) {
            // SAFETY: `collect` passes it.
            look_through_everything(unsafe { *top.cast::<usize>() });
        }
        let mut top = 0;
        // The call writes all registers to the stack that may hold something of our callers.
        // SAFETY: the function gets what it expects; it is not left, and does not unwind, or the process ends.
        unsafe { leave::call(&raw mut top, with_stack, (&raw mut top).cast()) };
    }

    /// Says of each block whether something leads to it; `None` if the system does not show the memory.
    ///
    /// Memory of the runtime is not looked at: it is full of remnants of what threads had in registers.
    pub(in crate::runtime) fn known(search: &Search<'_>) -> Option<Vec<bool>> {
        let all = All::hold();
        let region = all.region();
        let (mut memory, maps) = (Memory::open().ok()?, read_to_string(MAPS).ok()?);
        let from = search.start - region.start;
        let block = |block: &Range<usize>| Relative { start: from + block.start, end: from + block.end };
        let mut marking = Marking::new(region.clone(), usize::MAX, search.blocks.iter().map(block).collect());
        let mut look = |range: Range<usize>, marking: &mut Marking| {
            memory.read(range, &mut |words| marking.look_through(words));
        };
        statics(&maps).for_each(|range| look(range, &mut marking));
        let stack = maps.lines().filter_map(writable).find(|mapping| mapping.contains(&search.caller));
        stack.into_iter().for_each(|stack| look(search.caller..stack.end, &mut marking));
        for last in all.idle() {
            // SAFETY: no check has the piece, or gets it while all are held.
            let alive = unsafe { blocks(last) }.filter(|block| !block.is_dead() && !block.is_left());
            alive.for_each(|block| look(block.range(), &mut marking));
        }
        search.known.iter().for_each(|place| marking.note(from + place));
        while let Some(block) = marking.next() {
            let places = block.start - search.start..block.end - search.start;
            (search.leads_to)(&places).into_iter().for_each(|place| marking.note(from + place));
            look(block, &mut marking);
        }
        Some(marking.is_used)
    }

    /// The statics of the program and of its libraries: mappings of files, and what follows one without a name.
    fn statics(maps: &str) -> impl Iterator<Item = Range<usize>> {
        let mut end_of_file = 0;
        maps.lines().filter_map(move |line| {
            let mapping = writable(line)?;
            let of_file = line.contains('/');
            let is_static = of_file || (mapping.start == end_of_file && !line.contains('['));
            end_of_file = if of_file { mapping.end } else { 0 };
            is_static.then_some(mapping)
        })
    }

    fn look_through_everything(top: usize) {
        let all = All::hold();
        let region = all.region();
        let (mut left, mut roots) = (Vec::new(), Vec::new());
        for last in all.idle() {
            // SAFETY: no check has the piece, or gets it while all are held.
            for block in unsafe { blocks(last) } {
                match (block.is_left(), block.is_dead()) {
                    (true, _) => left.push(Relative::new(block.range(), &region)),
                    (false, true) => {}
                    (false, false) => roots.push(Relative::new(block.range(), &region)),
                }
            }
        }
        left.sort_unstable_by_key(|block| block.start);
        let mut marking = Marking::new(region.clone(), ADDRESS, left);
        let (Ok(mut memory), Ok(maps)) = (Memory::open(), read_to_string(MAPS)) else {
            return all.cannot_be_looked_through();
        };
        let mut bytes = 0;
        let mut look = |range: Range<usize>, marking: &mut Marking| {
            memory.read(range, &mut |words| {
                bytes += size_of_val(words);
                marking.look_through(words);
            });
        };
        for mapping in maps.lines().filter_map(writable) {
            // Below its end is what this function knows.
            let from = if mapping.contains(&top) { top } else { mapping.start };
            look(from..region.start.clamp(from, mapping.end), &mut marking);
            look(region.end.clamp(from, mapping.end)..mapping.end, &mut marking);
        }
        for (start, piece) in all.taken() {
            in_use(start, piece).for_each(|range| look(range, &mut marking));
        }
        for root in roots {
            look(root.absolute(&region), &mut marking);
        }
        while let Some(block) = marking.next() {
            look(block, &mut marking);
        }
        let (unused, stay) = marking.ends();
        for start in unused {
            // SAFETY: a block begins there, whose piece no check has.
            unsafe { Block::at(start) }.take_back();
        }
        all.were_looked_through(bytes, stay);
    }

    /// The place of a block, from the beginning of the region on: it must not look like a pointer.
    #[derive(Clone, Copy)]
    struct Relative {
        start: usize,
        end: usize,
    }

    impl Relative {
        fn new(block: Range<usize>, region: &Range<usize>) -> Self {
            Self { start: block.start - region.start, end: block.end - region.start }
        }

        fn absolute(self, region: &Range<usize>) -> Range<usize> {
            region.start + self.start..region.start + self.end
        }
    }

    /// Blocks, in ascending order, and which of them are in use.
    struct Marking {
        region: Range<usize>,
        /// The bits of a word that are the address.
        bits: usize,
        blocks: Vec<Relative>,
        is_used: Vec<bool>,
        /// The numbers of the blocks that are in use and were not looked through.
        open: Vec<usize>,
    }

    /// The bits that an address may have; programs put tags in the others.
    const ADDRESS: usize = (1 << 48) - 1;

    impl Marking {
        fn new(region: Range<usize>, bits: usize, blocks: Vec<Relative>) -> Self {
            Self { region, bits, is_used: vec![false; blocks.len()], blocks, open: Vec::new() }
        }

        /// Looks through memory that is in use.
        fn look_through(&mut self, words: &[usize]) {
            let (start, length) = (self.region.start, self.region.len());
            for word in words {
                let place = (word & self.bits).wrapping_sub(start);
                if place < length {
                    self.note(place);
                }
            }
        }

        /// Notes a pointer to a place: the block that is there is in use, or else the one that ends there, as far as is
        /// known.
        fn note(&mut self, place: usize) {
            let behind = self.blocks.partition_point(|block| block.start <= place);
            if let Some(at) = behind.checked_sub(1)
                && place <= self.blocks[at].end
                && !std::mem::replace(&mut self.is_used[at], true)
            {
                self.open.push(at);
            }
        }

        /// A block that is in use and was not looked through.
        fn next(&mut self) -> Option<Range<usize>> {
            self.open.pop().map(|at| self.blocks[at].absolute(&self.region))
        }

        /// The addresses at which the blocks begin that are not in use, and the number of bytes of the others.
        fn ends(self) -> (impl Iterator<Item = usize>, usize) {
            let used = self.blocks.iter().zip(&self.is_used).filter(|(_, is_used)| **is_used);
            let stay = used.map(|(block, _)| block.end - block.start).sum();
            let unused = self.blocks.into_iter().zip(self.is_used).filter(|(_, is_used)| !is_used);
            (unused.map(move |(block, _)| self.region.start + block.start), stay)
        }
    }

    /// The mapping that a line of the list names, if its memory can be read and written.
    fn writable(line: &str) -> Option<Range<usize>> {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        rest.starts_with("rw").then_some(address(start)?..address(end)?)
    }

    /// The number of bytes that are read at once.
    const CHUNK: usize = 64 << 10;

    /// The memory of this process as the system shows it: what another thread unmaps meanwhile cannot be read, and that
    /// is all.
    struct Memory {
        bytes: File,
        pages: File,
        page_size: usize,
        buffer: Vec<u8>,
        words: Vec<usize>,
    }

    impl Memory {
        fn open() -> std::io::Result<Self> {
            let (bytes, pages) = (File::open("/proc/self/mem")?, File::open("/proc/self/pagemap")?);
            // SAFETY: it only asks.
            let page_size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            let page_size = usize::try_from(page_size).map_err(std::io::Error::other)?;
            Ok(Self { bytes, pages, page_size, buffer: vec![0; CHUNK], words: Vec::new() })
        }

        /// Shows the words in a range, but for those on pages that were never written.
        fn read(&mut self, range: Range<usize>, look: &mut impl FnMut(&[usize])) {
            let mut at = range.start.next_multiple_of(size_of::<usize>());
            while at < range.end {
                // The chunks end where pages do.
                let until = (at - at % CHUNK + CHUNK).min(range.end);
                if self.were_written(at..until) && !self.read_at_once(at..until, look) {
                    // Another thread has unmapped some of it.
                    let mut from = at;
                    while from < until {
                        let end = (from - from % self.page_size + self.page_size).min(until);
                        self.read_at_once(from..end, look);
                        from = end;
                    }
                }
                at = until;
            }
        }

        /// Shows the words in a range of one chunk, which begins at one; false if a part of it is not there.
        fn read_at_once(&mut self, range: Range<usize>, look: &mut impl FnMut(&[usize])) -> bool {
            let bytes = &mut self.buffer[..range.len()];
            if self.bytes.read_exact_at(bytes, range.start as u64).is_err() {
                return false;
            }
            let word = |bytes: &[u8]| usize::from_ne_bytes(bytes.try_into().expect("it is a word"));
            self.words.clear();
            self.words.extend(bytes.chunks_exact(size_of::<usize>()).map(word));
            look(&self.words);
            true
        }

        /// Whether a page of a range has a place in memory or elsewhere. A page that was never written has none.
        fn were_written(&self, range: Range<usize>) -> bool {
            const SOMEWHERE: u64 = 0b11 << 62;
            let (first, behind) = (range.start / self.page_size, range.end.div_ceil(self.page_size));
            let mut entries = [0_u8; CHUNK / 4096 * 8 + 16];
            let entries = &mut entries[..(behind - first) * 8];
            let is_known = self.pages.read_exact_at(entries, first as u64 * 8).is_ok();
            let entry = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("it is an entry"));
            !is_known || entries.chunks_exact(8).any(|bytes| entry(bytes) & SOMEWHERE != 0)
        }
    }
}
