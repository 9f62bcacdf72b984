//! The memory of the program, as its file was loaded: where statics are, and with what bytes they started.
//!
//! Linux only, by `/proc/self`; elsewhere nothing is known. Read once in the life of the process. Libraries that are
//! loaded or left later do not matter: what is known here is the file that this code is part of.

use std::ops::Range;
use std::sync::OnceLock;

pub(super) struct Image {
    /// The parts of the file that were loaded and can be written, with the bytes of the file.
    statics: Vec<(Range<usize>, Vec<u8>)>,
    /// The parts of the file that were loaded and cannot be written.
    constants: Vec<Range<usize>>,
    /// The address at which the beginning of the file is, or would be.
    base: usize,
    /// The addresses from the lowest mapping of the process to the highest.
    span: Range<usize>,
}

/// A line of `/proc/self/maps`.
struct Mapping {
    place: Range<usize>,
    writable: bool,
    /// The offset in the file.
    offset: usize,
    /// Device and number of the file; `None` where there is none.
    file: Option<(String, u64)>,
}

/// The image of this program, if it is known.
#[inline]
pub(super) fn get() -> Option<&'static Image> {
    static IMAGE: OnceLock<Option<Image>> = OnceLock::new();
    IMAGE.get_or_init(Image::read).as_ref()
}

impl Image {
    #[cfg(target_os = "linux")]
    fn read() -> Option<Self> {
        use std::os::unix::fs::FileExt;

        let program = std::fs::File::open("/proc/self/exe").ok()?;
        let mappings = mappings()?;
        let here = (Self::read as fn() -> Option<Self>) as usize;
        let own = mappings.iter().find(|mapping| mapping.place.contains(&here))?.file.clone()?;
        // The last page of the address space belongs to the kernel.
        let (low, high) = mappings.iter().fold((usize::MAX, 0), |(low, high), Mapping { place, .. }| {
            (low.min(place.start), if place.end > usize::MAX / 2 { high } else { high.max(place.end) })
        });
        let own: Vec<Mapping> = mappings.into_iter().filter(|mapping| mapping.file.as_ref() == Some(&own)).collect();
        let base = own.iter().map(|mapping| mapping.place.start.wrapping_sub(mapping.offset)).min()?;
        let (statics, constants): (Vec<_>, Vec<_>) = own.into_iter().partition(|mapping| mapping.writable);
        let read = |mapping: Mapping| {
            let mut bytes = vec![0; mapping.place.len()];
            let mut known = 0;
            while known < bytes.len() {
                match program.read_at(&mut bytes[known..], (mapping.offset + known) as u64) {
                    Ok(0) | Err(_) => break,
                    Ok(more) => known += more,
                }
            }
            bytes.truncate(known);
            (mapping.place.start..mapping.place.start + known, bytes)
        };
        let statics = statics.into_iter().map(read).collect();
        let constants = constants.into_iter().map(|mapping| mapping.place).collect();
        Some(Self { statics, constants, base, span: low..high })
    }

    #[cfg(not(target_os = "linux"))]
    fn read() -> Option<Self> {
        None
    }

    /// Whether an address is in memory that was loaded from the file and can be written.
    #[inline]
    pub(super) fn has(&self, address: usize) -> bool {
        self.statics.iter().any(|(place, _)| place.contains(&address))
    }

    /// The bytes that the file has for a place.
    fn loaded(&self, place: Range<usize>) -> Option<&[u8]> {
        let (segment, bytes) = self.statics.iter().find(|(segment, _)| segment.contains(&place.start))?;
        bytes.get(place.start - segment.start..place.end - segment.start)
    }

    /// Whether the file has this word for an address.
    pub(super) fn had(&self, address: usize, word: u64) -> bool {
        self.loaded(address..address + size_of::<u64>()).is_some_and(|bytes| bytes == word.to_ne_bytes())
    }

    /// Whether `now`, which is at `address`, equals the bytes that were loaded there. A word that refers to a constant
    /// may be different in the file, which does not know where it will be loaded.
    pub(super) fn is_as_loaded(&self, address: usize, now: &[u8]) -> bool {
        let Some(loaded) = self.loaded(address..address + now.len()) else { return false };
        let same = |(now, loaded): (&[u8], &[u8])| now == loaded || self.is_relocated(number(now), number(loaded));
        pieces(address, now).zip(pieces(address, loaded)).all(same)
    }

    fn is_relocated(&self, now: Option<usize>, loaded: Option<usize>) -> bool {
        let Some((now, loaded)) = now.zip(loaded) else { return false };
        self.is_constant(now) && (loaded == 0 || loaded == now.wrapping_sub(self.base))
    }

    /// Whether a word of `now`, which is at `address`, may be the address of memory that can be written: on the heap,
    /// of a static, on a stack.
    pub(super) fn refers_to_writable(&self, address: usize, now: &[u8]) -> bool {
        pieces(address, now).filter_map(number).any(|word| self.is_writable(word))
    }

    fn is_writable(&self, address: usize) -> bool {
        // An address beyond the ends of what is mapped now was not mapped later: systems fill gaps first.
        self.span.contains(&address)
            && !self.is_constant(address)
            && (self.has(address)
                || mappings().is_none_or(|all| all.iter().any(|one| one.writable && one.place.contains(&address))))
    }

    fn is_constant(&self, address: usize) -> bool {
        self.constants.iter().any(|place| place.contains(&address))
    }
}

/// The words of bytes that are at an address, and the bytes before and behind them.
fn pieces(address: usize, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let before = (address.next_multiple_of(align_of::<usize>()) - address).min(bytes.len());
    let (before, words) = bytes.split_at(before);
    [before].into_iter().chain(words.chunks(size_of::<usize>()))
}

/// The value of a whole word.
fn number(piece: &[u8]) -> Option<usize> {
    piece.try_into().ok().map(usize::from_ne_bytes)
}

fn mappings() -> Option<Vec<Mapping>> {
    let text = std::fs::read("/proc/self/maps").ok()?;
    String::from_utf8_lossy(&text).lines().map(Mapping::parse).collect()
}

impl Mapping {
    fn parse(line: &str) -> Option<Self> {
        let number = |hex| usize::from_str_radix(hex, 16).ok();
        let mut fields = line.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let writable = fields.next()?.as_bytes().get(1) == Some(&b'w');
        let offset = number(fields.next()?)?;
        let device = fields.next()?.to_owned();
        let file = fields.next()?.parse().ok()?;
        let file = (file != 0).then_some((device, file));
        Some(Self { place: number(start)?..number(end)?, writable, offset, file })
    }
}
