//! The file of a checkpoint: a header that says what the checkpoint is of, and the checkpoint.
//!
//! `rsmc-checkpoint\n`, the version of the format in four bytes, a checksum of the rest in eight (both lowest byte
//! first), and in the format of postcard the header and the checkpoint. A checkpoint is read only by the executable
//! that wrote it, so the version is that of the header; what comes after it may change with every build.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const MAGIC: &[u8; 16] = b"rsmc-checkpoint\n";

/// The version of the format.
const VERSION: u32 = 1;

/// The check and the executable that a checkpoint is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// The check: the test, and the place of the call.
    pub(super) check: String,
    /// A hash of the executable.
    pub(super) executable: u128,
}

impl Header {
    pub(super) fn of(check: &str) -> io::Result<Self> {
        Ok(Self { check: check.to_owned(), executable: hash_of_executable()? })
    }
}

/// The reason why a check does not go on from a file.
#[derive(Debug, Error)]
pub(super) enum Stale {
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error("it is no checkpoint")]
    Other,
    #[error("it has version {0} of the format, and this is version {VERSION}")]
    Version(u32),
    #[error("it is damaged")]
    Damaged,
    #[error("it is one of `{0}`")]
    Check(String),
    #[error("it was made by another build of the test executable")]
    Executable,
    #[error("{0}")]
    Settings(String),
}

/// A checkpoint that is refused: the message says what to do.
#[derive(Debug, Error)]
#[error(
    "cannot resume from {}: {why}\n  delete this file, or run without RSMC_RESUME, to start from the beginning",
    path.display()
)]
pub(crate) struct Refused {
    path: PathBuf,
    why: Stale,
}

impl Refused {
    /// The checkpoint is of a check with other settings.
    pub(crate) fn settings(path: &Path, why: String) -> Self {
        Self { path: path.to_owned(), why: Stale::Settings(why) }
    }
}

/// Reads a checkpoint of type `T`; `None` if there is no file.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, check: &str) -> Result<Option<T>, Refused> {
    let refused = |why| Refused { path: path.to_owned(), why };
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(error.into())),
    };
    let header = Header::of(check).map_err(|error| refused(error.into()))?;
    decode(&bytes, &header).map(Some).map_err(refused)
}

/// Writes a checkpoint: whole, or not at all.
pub(crate) fn write(path: &Path, check: &str, checkpoint: &impl Serialize) -> io::Result<()> {
    let bytes = encode(&Header::of(check)?, checkpoint)?;
    let folder = path.parent().expect("a file lies in a folder");
    fs::create_dir_all(folder)?;
    let part = path.with_extension(format!("checkpoint-{}", std::process::id()));
    let written = File::create(&part).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&part, path));
    if renamed.is_err() {
        // What is left of it is of no use; that it cannot be removed either says nothing more.
        drop(fs::remove_file(&part));
    }
    renamed
}

fn encode(header: &Header, checkpoint: &impl Serialize) -> io::Result<Vec<u8>> {
    let content = postcard::to_stdvec(&(header, checkpoint)).map_err(io::Error::other)?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&xxh3_64(&content).to_le_bytes());
    bytes.extend_from_slice(&content);
    Ok(bytes)
}

fn decode<T: DeserializeOwned>(bytes: &[u8], expected: &Header) -> Result<T, Stale> {
    let (magic, rest) = bytes.split_first_chunk().ok_or(Stale::Other)?;
    if magic != MAGIC {
        return Err(Stale::Other);
    }
    let (version, rest) = rest.split_first_chunk().ok_or(Stale::Damaged)?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        return Err(Stale::Version(version));
    }
    let (checksum, content) = rest.split_first_chunk().ok_or(Stale::Damaged)?;
    if u64::from_le_bytes(*checksum) != xxh3_64(content) {
        return Err(Stale::Damaged);
    }
    let (header, rest) = postcard::take_from_bytes::<Header>(content).map_err(|_| Stale::Damaged)?;
    if header.check != expected.check {
        return Err(Stale::Check(header.check));
    }
    if header.executable != expected.executable {
        return Err(Stale::Executable);
    }
    postcard::from_bytes(rest).map_err(|_| Stale::Damaged)
}

/// A hash of the executable of this process, also where its file was replaced meanwhile, if the system can say. The
/// file is read once.
fn hash_of_executable() -> io::Result<u128> {
    static KNOWN: OnceLock<u128> = OnceLock::new();
    if let Some(&known) = KNOWN.get() {
        return Ok(known);
    }
    let running = Path::new("/proc/self/exe");
    let mut file = if cfg!(target_os = "linux") { File::open(running) } else { File::open(std::env::current_exe()?) }?;
    let (mut hash, mut buffer) = (Xxh3::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(*KNOWN.get_or_init(|| hash.digest128())),
            count => hash.update(&buffer[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use rsmc_core::session::{Checkpoint, Config};

    use super::*;

    /// A checkpoint of a check that has not begun.
    fn checkpoint() -> Checkpoint {
        use std::time::Duration;
        let (_, checkpoint) = rsmc_core::session::check_body(&Config::default(), &|| {}, |body| {
            body.check().pulse(Duration::ZERO, |_| false).run_part()
        })
        .unwrap();
        checkpoint.expect("it was stopped")
    }

    #[test]
    fn a_checkpoint_comes_back_and_a_stale_one_does_not() {
        let header = Header { check: "a::b".to_owned(), executable: 7 };
        let bytes = encode(&header, &checkpoint()).unwrap();
        assert!(decode::<Checkpoint>(&bytes, &header).is_ok());
        let refused = |bytes: &[u8], header: &Header| decode::<Checkpoint>(bytes, header).unwrap_err().to_string();
        let other = Header { executable: 8, ..header.clone() };
        assert_eq!(refused(&bytes, &other), "it was made by another build of the test executable");
        let other = Header { check: "c".to_owned(), ..header.clone() };
        assert_eq!(refused(&bytes, &other), "it is one of `a::b`");
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 4;
            let expected = match at {
                0..16 => "it is no checkpoint",
                16..20 => "of the format, and this is version 1",
                _ => "it is damaged",
            };
            assert!(refused(&wrong, &header).contains(expected), "byte {at}");
            let cut = refused(&bytes[..at], &header);
            assert!(cut == "it is no checkpoint" || cut == "it is damaged", "{cut}");
        }
    }
}
