//! The lines of operations before which threads wait in loops, in one execution or another.

use crate::step::Observed;
use crate::trace::Site;

/// The lines, by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Loops {
    /// Those that are known, here or to another executor.
    pub(super) numbers: Vec<u32>,
    /// Those that were noted here.
    sites: Vec<Site>,
}

impl Loops {
    /// These lines.
    pub(super) fn of(numbers: &[u32]) -> Self {
        Self { numbers: numbers.to_vec(), sites: Vec::new() }
    }

    /// Notes a line. Returns whether it was not known.
    pub(super) fn note(&mut self, site: Site) -> bool {
        if self.sites.contains(&site) {
            return false;
        }
        self.sites.push(site);
        let number = Observed::number_of(&site.to_string());
        let is_new = !self.numbers.contains(&number);
        if is_new {
            self.numbers.push(number);
        }
        is_new
    }
}
