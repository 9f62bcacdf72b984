//! The messages between a coordinator and its workers: a length in four bytes, lowest first, then the message in the
//! format of postcard. `docs/protocol.md` describes them.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the protocol. A worker that speaks another is not used.
pub(crate) const VERSION: u32 = 12;

/// The longest message that is read.
const LONGEST: u32 = 1 << 30;

/// A message of a coordinator. A job `J` is a [`rsmc_core::session::jobs::Job`] or a question, or a reference to one.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToWorker<J> {
    /// The next job.
    Job(J),
    /// The request to answer the last job as soon as possible.
    Hurry,
}

/// A message of a worker. `A` is the answer to a job.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromWorker<A> {
    /// The first message.
    Hello { version: u32, token: u64, fingerprint: u64 },
    /// In a careful job: the seed of the execution so far.
    At(String),
    /// The result of the last job.
    Answer(Box<A>),
    /// The process is about to end: `stuck` says that it is stuck, as the end of a sentence, if it is; `seed` is that
    /// of the execution so far, and `scenario` its scenario, if it has one.
    Ends { stuck: Option<String>, seed: String, scenario: Option<String> },
}

/// Writes a message.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = postcard::to_extend(message, vec![0; 4]).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len() - 4).ok().filter(|&length| length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("the message is too long"))?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    to.write_all(&bytes)
}

/// Reads a message.
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::Error::other("the message is too long"));
    }
    let mut bytes = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut bytes)?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back() {
        let mut bytes = Vec::new();
        send(&mut bytes, &FromWorker::<u8>::At("rsmc3-x".to_owned())).unwrap();
        send(&mut bytes, &FromWorker::<u8>::Hello { version: VERSION, token: 7, fingerprint: u64::MAX }).unwrap();
        let mut from = &bytes[..];
        assert!(matches!(receive(&mut from).unwrap(), FromWorker::<u8>::At(seed) if seed == "rsmc3-x"));
        assert!(matches!(receive(&mut from).unwrap(), FromWorker::<u8>::Hello { version: VERSION, token: 7, .. }));
        assert!(receive::<FromWorker<u8>>(&mut from).is_err(), "there is no more");
        assert!(receive::<FromWorker<u8>>(&mut &bytes[..6]).is_err(), "it is cut");
        assert!(receive::<FromWorker<u8>>(&mut &[255; 8][..]).is_err(), "it is too long");
    }

    #[test]
    fn the_version_is_that_of_the_document() {
        let document = include_str!("../../docs/protocol.md");
        assert!(document.contains(&format!("This is version {VERSION} of the protocol.")));
    }
}
