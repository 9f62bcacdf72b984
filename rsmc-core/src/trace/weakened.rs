//! Orderings that a check takes for weaker than written, as data: `src/queue.rs:41:20=Relaxed`.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::Ordering;

use crate::trace::Site;

/// An upper bound of the ordering of the atomic operations, or the fence, at one place in the source.
///
/// ```
/// use rsmc_core::trace::Weakened;
///
/// let weakened: Weakened = "src/queue.rs:41:20/failure=Relaxed".parse().unwrap();
/// assert_eq!((weakened.line, weakened.is_failure), (41, true));
/// assert_eq!(weakened.to_string(), "src/queue.rs:41:20/failure=Relaxed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakened {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, from 1 on.
    pub line: u32,
    /// The column, from 1 on.
    pub column: u32,
    /// Whether the ordering of a failed compare-exchange is meant, and not that of a success.
    pub is_failure: bool,
    /// The ordering that is left, if the one that is written is stronger. A fence with `Relaxed` is none.
    pub most: Ordering,
}

/// A text that is no [`Weakened`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an ordering to weaken is written as `src/queue.rs:41:20=Relaxed`, or Acquire, Release, AcqRel; not as `{0}`")]
pub struct WeakenedError(String);

const FAILURE: &str = "/failure";
const ORDERINGS: [Ordering; 4] = [Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcqRel];

impl Weakened {
    /// Several, as `RSMC_WEAKEN` takes them.
    pub fn list(weakened: &[Self]) -> String {
        weakened.iter().map(Self::to_string).collect::<Vec<_>>().join(",")
    }

    /// Whether it is about the operations at a place.
    pub fn is_at(&self, site: Site) -> bool {
        let Site::Code(place) = site else { return false };
        (place.line(), place.column()) == (self.line, self.column) && place.file() == self.file
    }
}

impl fmt::Display for Weakened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, is_failure, most } = self;
        write!(f, "{file}:{line}:{column}{}={most:?}", if *is_failure { FAILURE } else { "" })
    }
}

impl FromStr for Weakened {
    type Err = WeakenedError;

    fn from_str(text: &str) -> Result<Self, WeakenedError> {
        let parse = || {
            let (place, most) = text.rsplit_once('=')?;
            let most = ORDERINGS.into_iter().find(|order| format!("{order:?}") == most)?;
            let (place, is_failure) = place.strip_suffix(FAILURE).map_or((place, false), |place| (place, true));
            let (rest, column) = place.rsplit_once(':')?;
            let (file, line) = rest.rsplit_once(':')?;
            let (line, column) = (line.parse().ok()?, column.parse().ok()?);
            (!file.is_empty()).then(|| Self { file: file.to_owned(), line, column, is_failure, most })
        };
        parse().ok_or_else(|| WeakenedError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        for text in ["src/a.rs:1:2=Relaxed", "C:\\a b.rs:10:200/failure=Acquire", "/x=y.rs:3:4=AcqRel"] {
            assert_eq!(text.parse::<Weakened>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn mistakes_are_quoted() {
        for wrong in
            ["", "src/a.rs", "src/a.rs:1=Relaxed", "src/a.rs:1:2=SeqCst", "src/a.rs:1:2=relaxed", ":1:2=Relaxed"]
        {
            let error = wrong.parse::<Weakened>().unwrap_err().to_string();
            assert!(error.ends_with(&format!("not as `{wrong}`")), "{error}");
        }
    }
}
