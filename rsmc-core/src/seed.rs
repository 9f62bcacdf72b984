//! Seeds.
use std::fmt;
/// A seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed(String);
impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) }
}
