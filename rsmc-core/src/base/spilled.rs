//! A map whose memory is bounded: what is too much for it goes to files.
//!
//! Problem. An exploration may have to remember a name for nearly every run, however long it takes.
//!
//! Method. Entries go to a table. A full table is written to a file, sorted by key, and files of similar sizes are
//! merged, so there are few. A filter says of most absent keys that no file has them. Of other keys one page of each
//! file is read, found by the first keys of all pages; the newest file that has the key answers.
//!
//! Cost. In memory: a table of [`FULL`] entries, a filter of 8 MiB, and 16 bytes for each page of 4 KiB. On disk: 16
//! bytes an entry, each written as often as it is merged, about log2(entries / `FULL`) times. While there is no file, a
//! lookup is one in a table.
//!
//! Source. O'Neil, Cheng, Gawlick, O'Neil, "The log-structured merge-tree", Acta Informatica 1996; Bloom, "Space/time
//! trade-offs in hash coding with allowable errors", CACM 1970. Stern and Dill, "Using magnetic disk instead of main
//! memory in the Murφ verifier", CAV 1998, keep the states of a model checker on disk.
//!
//! Limits. Where a file cannot be written, or the files have as much as they may, the table grows instead. A file that
//! cannot be read any more is a panic. Files have no names, so they are gone with their process.

use std::collections::hash_map::Entry;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::hash::Hash;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use crate::base::Digest;

/// A table with so many entries is full: it would double with the next one.
const FULL: usize = (1 << 18) / 8 * 7;
/// The number of entries of a page.
const PAGE: usize = 256;
/// The number of pages that are read at once where all are.
const PAGES: usize = 64;
/// The size of an entry in a file.
const ENTRY: usize = size_of::<u128>();
/// A filter has this many words for each entry of a full table.
const FILTER: usize = 4;
/// The most words of a filter, 8 MiB: a key chooses one by 20 bits of its hash.
const WORDS: usize = 1 << 20;

/// Keys and values that have 128 bits together. Keys are hashes: any 64 bits of them tell most keys apart.
pub(crate) trait Record {
    type Key: Copy + Eq + Hash;
    type Value: Copy;
    /// The number of bits of a value.
    const VALUE: u32;

    /// The bits of a key.
    fn key(key: Self::Key) -> u128;

    /// The bits of a value.
    fn value(value: Self::Value) -> u128;

    /// The key and the value with these bits.
    fn unpack(key: u128, value: u128) -> (Self::Key, Self::Value);
}

/// A name in a set.
impl Record for Digest {
    type Key = Self;
    type Value = ();
    const VALUE: u32 = 0;

    fn key(Digest(bits): Self) -> u128 {
        bits
    }

    fn value((): ()) -> u128 {
        0
    }

    fn unpack(key: u128, _: u128) -> (Self, ()) {
        (Digest(key), ())
    }
}

/// The place of files, and what they may take.
#[derive(Clone, Debug)]
pub struct Spill {
    /// The folder, which is made when a file is.
    pub folder: Arc<Path>,
    /// A table with so many entries is written to a file.
    pub full: usize,
    /// The most bytes that the files of one map may have.
    pub most: u64,
}

impl Spill {
    /// Files in a folder, for tables as large as is good.
    pub fn to(folder: &Path, most: u64) -> Self {
        Self { folder: folder.into(), full: FULL, most }
    }
}

/// The map; see the module.
#[derive(Clone)]
pub(crate) struct Spilled<R: Record> {
    recent: FxHashMap<R::Key, R::Value>,
    on_disk: OnDisk,
    spill: Option<Spill>,
    /// The number of keys.
    len: usize,
}

/// The entries that are in files.
#[derive(Clone, Default)]
struct OnDisk {
    /// The oldest, which are the largest, first.
    files: Vec<Sorted>,
    /// Empty while there is no file.
    filter: Vec<u64>,
}

impl<R: Record> Default for Spilled<R> {
    fn default() -> Self {
        Self { recent: FxHashMap::default(), on_disk: OnDisk::default(), spill: None, len: 0 }
    }
}

impl<R: Record> fmt::Debug for Spilled<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.on_disk.files.len();
        f.debug_struct("Spilled").field("len", &self.len).field("files", &files).finish_non_exhaustive()
    }
}

impl<R: Record> Spilled<R> {
    /// An empty map with files in this place; `None`: it keeps everything in memory.
    pub(crate) fn new(spill: Option<Spill>) -> Self {
        Self { spill, ..Self::default() }
    }

    /// Forgets all entries.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.spill.take());
    }

    /// An empty map with files in the same place.
    pub(crate) fn anew(&self) -> Self {
        Self::new(self.spill.clone())
    }

    /// Has its files in this place from now on.
    pub(crate) fn spill_to(&mut self, spill: Option<Spill>) {
        self.spill = spill;
    }

    /// The number of keys.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn get(&self, key: R::Key) -> Option<R::Value> {
        self.recent.get(&key).copied().or_else(|| self.on_disk.find::<R>(key))
    }

    #[inline]
    pub(crate) fn contains(&self, key: R::Key) -> bool {
        self.get(key).is_some()
    }

    /// Adds a key, unless it is there. Returns whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, key: R::Key, value: R::Value) -> bool {
        let Entry::Vacant(place) = self.recent.entry(key) else { return false };
        if self.on_disk.find::<R>(key).is_some() {
            return false;
        }
        place.insert(value);
        self.len += 1;
        self.make_room();
        true
    }

    /// Gives a key that is there another value.
    pub(crate) fn replace(&mut self, key: R::Key, value: R::Value) {
        self.recent.insert(key, value);
        self.make_room();
    }

    /// Every key with its value, in no order.
    pub(crate) fn entries(&self) -> Vec<(R::Key, R::Value)> {
        let by_age = self.on_disk.files.iter().rev().enumerate();
        let mut all: Vec<_> = by_age.flat_map(|(age, file)| file.entries().map(move |packed| (packed, age))).collect();
        // Of several entries with one key the newest counts.
        all.sort_unstable_by_key(|&(packed, age)| (packed >> R::VALUE, age));
        all.dedup_by_key(|&mut (packed, _)| packed >> R::VALUE);
        let old = all.into_iter().map(|(packed, _)| unpack::<R>(packed));
        let recent = self.recent.iter().map(|(&key, &value)| (key, value));
        recent.chain(old.filter(|(key, _)| !self.recent.contains_key(key))).collect()
    }

    #[inline]
    fn make_room(&mut self) {
        if self.spill.as_ref().is_some_and(|spill| self.recent.len() >= spill.full) {
            self.write();
        }
    }

    /// Writes the table to a file. If that is not possible, there are no more files from now on.
    #[cold]
    fn write(&mut self) {
        let pack = |(&key, &value)| R::key(key) << R::VALUE | R::value(value);
        let mut packed: Vec<u128> = self.recent.iter().map(pack).collect();
        packed.sort_unstable();
        let is_written = self.spill.as_ref().is_some_and(|spill| self.on_disk.add::<R>(&packed, spill).is_ok());
        if is_written {
            self.recent.clear();
        } else {
            self.spill = None;
        }
    }
}

impl Spilled<Digest> {
    /// The set of these names.
    pub(crate) fn of(names: impl IntoIterator<Item = Digest>) -> Self {
        let mut set = Self::default();
        for name in names {
            set.insert(name, ());
        }
        set
    }

    /// The names of a set, in no order.
    pub(crate) fn names(&self) -> Vec<Digest> {
        self.entries().into_iter().map(|(name, ())| name).collect()
    }
}

impl OnDisk {
    /// The value of a key.
    #[inline]
    fn find<R: Record>(&self, key: R::Key) -> Option<R::Value> {
        if self.files.is_empty() { None } else { self.look_for::<R>(R::key(key)) }
    }

    #[cold]
    fn look_for<R: Record>(&self, key: u128) -> Option<R::Value> {
        let (word, bits) = self.in_filter(key);
        if self.filter[word] & bits != bits {
            return None;
        }
        let packed = self.files.iter().rev().find_map(|file| file.find(key, R::VALUE));
        packed.map(|packed| unpack::<R>(packed).1)
    }

    /// The word of the filter that says whether a key is there, and four bits of it.
    fn in_filter(&self, key: u128) -> (usize, u64) {
        let hash = ((key >> 64) as u64 ^ key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bits = [0, 6, 12, 18].into_iter().fold(0, |bits, from| bits | 1 << (hash >> from & 63));
        ((hash >> 44) as usize & (self.filter.len() - 1), bits)
    }

    /// Adds a file of these entries, which are in order, and merges it with those that are not much larger.
    fn add<R: Record>(&mut self, entries: &[u128], spill: &Spill) -> io::Result<()> {
        let bytes = self.files.iter().map(Sorted::bytes).sum::<u64>() + size_of_val(entries) as u64;
        if bytes > spill.most {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let mut file = Sorted::write(&spill.folder, entries.iter().copied())?;
        if self.filter.is_empty() {
            self.filter = vec![0; (FILTER * spill.full.next_power_of_two()).min(WORDS)];
        }
        for packed in entries {
            let (word, bits) = self.in_filter(packed >> R::VALUE);
            self.filter[word] |= bits;
        }
        while let Some(older) = self.files.last().filter(|older| older.len <= 2 * file.len)
            && let Ok(both) = Sorted::write(&spill.folder, merged::<R>(older, &file))
        {
            self.files.pop();
            file = both;
        }
        self.files.push(file);
        Ok(())
    }
}

fn unpack<R: Record>(packed: u128) -> (R::Key, R::Value) {
    R::unpack(packed >> R::VALUE, packed & ((1 << R::VALUE) - 1))
}

/// The entries of two files in order; of two with one key the newer.
fn merged<R: Record>(older: &Sorted, newer: &Sorted) -> impl Iterator<Item = u128> {
    let (mut older, mut newer) = (older.entries().peekable(), newer.entries().peekable());
    std::iter::from_fn(move || {
        let key = |packed: Option<&u128>| packed.map(|packed| packed >> R::VALUE);
        match (key(older.peek()), key(newer.peek())) {
            (Some(old), Some(new)) if old == new => {
                older.next();
                newer.next()
            }
            (Some(old), new) if new.is_none_or(|new| old < new) => older.next(),
            _ => newer.next(),
        }
    })
}

/// A file of entries in order.
#[derive(Clone)]
struct Sorted {
    file: Arc<File>,
    /// The first entry of each page.
    first: Arc<[u128]>,
    len: usize,
}

impl Sorted {
    fn write(folder: &Path, entries: impl Iterator<Item = u128>) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(PAGES * PAGE * ENTRY, without_name(folder)?);
        let (mut first, mut len) = (Vec::new(), 0);
        for entry in entries {
            if len % PAGE == 0 {
                first.push(entry);
            }
            file.write_all(&entry.to_le_bytes())?;
            len += 1;
        }
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Self { file: Arc::new(file), first: first.into(), len })
    }

    fn bytes(&self) -> u64 {
        (self.len * ENTRY) as u64
    }

    /// The entry with this key.
    fn find(&self, key: u128, value_bits: u32) -> Option<u128> {
        let page = self.first.partition_point(|first| first >> value_bits <= key).checked_sub(1)?;
        let mut bytes = [0; PAGE * ENTRY];
        let entries = self.read(page, &mut bytes);
        let at = entries.binary_search_by_key(&key, |entry| u128::from_le_bytes(*entry) >> value_bits).ok()?;
        Some(u128::from_le_bytes(entries[at]))
    }

    /// All entries, in order.
    fn entries(&self) -> impl Iterator<Item = u128> + '_ {
        (0..self.first.len()).step_by(PAGES).flat_map(|page| {
            let mut bytes = vec![0; PAGES * PAGE * ENTRY];
            let entries = self.read(page, &mut bytes);
            entries.iter().map(|entry| u128::from_le_bytes(*entry)).collect::<Vec<_>>()
        })
    }

    /// Reads the entries from a page on, as many as there are and as `bytes` can take.
    fn read<'a>(&self, page: usize, bytes: &'a mut [u8]) -> &'a [[u8; ENTRY]] {
        let from = page * PAGE * ENTRY;
        let most = bytes.len().min(self.len * ENTRY - from);
        let bytes = &mut bytes[..most];
        if let Err(error) = read_at(&self.file, bytes, from as u64) {
            panic!("rsmc cannot read a file any more that it has written for names: {error}");
        }
        bytes.as_chunks().0
    }
}

/// A new file, which the system removes when it is closed.
fn without_name(folder: &Path) -> io::Result<File> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("{}-{}.names", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], from: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, from)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], from: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(from))?;
    file.read_exact(bytes)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::base::mix;

    /// Keys of 64 bits with values of as many.
    struct Words;

    impl Record for Words {
        type Key = u64;
        type Value = u64;
        const VALUE: u32 = 64;

        fn key(key: u64) -> u128 {
            key.into()
        }

        fn value(value: u64) -> u128 {
            value.into()
        }

        fn unpack(key: u128, value: u128) -> (u64, u64) {
            (key as u64, value as u64)
        }
    }

    fn folder() -> PathBuf {
        std::env::temp_dir().join("rsmc-spilled")
    }

    /// Random entries, looked up and replaced as in a table that keeps all in memory.
    fn agrees_with_a_table(spill: Spill) -> Spilled<Words> {
        let (mut map, mut table) = (Spilled::<Words>::new(Some(spill)), FxHashMap::default());
        for step in 0..10_000 {
            let (key, value) = (mix(mix(step, 1) % 3_000, 2), mix(step, 3));
            assert_eq!(map.get(key), table.get(&key).copied());
            if step % 7 == 0 && table.contains_key(&key) {
                map.replace(key, value);
                table.insert(key, value);
            } else {
                assert_eq!(map.insert(key, value), !table.contains_key(&key));
                table.entry(key).or_insert(value);
            }
            assert_eq!(map.len(), table.len());
        }
        assert!((0..3_000).all(|key| map.contains(mix(key, 2)) == table.contains_key(&mix(key, 2))));
        let entries = map.entries();
        assert_eq!(entries.len(), table.len());
        assert!(entries.iter().all(|(key, value)| table.get(key) == Some(value)));
        map
    }

    #[test]
    fn it_is_a_map_whatever_is_in_files() {
        for full in [1, 2, 77, 1_000] {
            let map = agrees_with_a_table(Spill { full, ..Spill::to(&folder(), u64::MAX) });
            let files = &map.on_disk.files;
            assert!(map.recent.len() < full && !files.is_empty());
            assert!(files.windows(2).all(|pair| pair[0].len > 2 * pair[1].len), "there are few files");
        }
        assert_eq!(fs::read_dir(folder()).unwrap().count(), 0, "files have no names");
    }

    #[test]
    fn it_stays_in_memory_where_files_cannot_be_written_or_have_all_they_may() {
        let file = std::env::temp_dir().join("rsmc-spilled-no-folder");
        fs::write(&file, "").unwrap();
        let map = agrees_with_a_table(Spill { full: 100, ..Spill::to(&file, u64::MAX) });
        assert!(map.on_disk.files.is_empty());
        let map = agrees_with_a_table(Spill { full: 100, ..Spill::to(&folder(), 20_000) });
        assert!(map.recent.len() > 100 && map.on_disk.files.iter().map(Sorted::bytes).sum::<u64>() <= 20_000);
    }
}
