//! What an object is to a check: the place of its state there, and where it was created.

use std::panic::Location;

use rsmc_core::runtime::Tag;
use rsmc_core::runtime::hook::Object;

pub(crate) struct Identity {
    tag: Tag,
    created: &'static Location<'static>,
}

impl Identity {
    /// Of an object that the caller creates.
    #[track_caller]
    pub(crate) const fn new() -> Self {
        Self { tag: Tag::new(), created: Location::caller() }
    }

    pub(crate) fn object(&self, kind: &'static str) -> Object<'_> {
        Object { tag: &self.tag, kind, created: Some(self.created) }
    }

    pub(crate) fn tag(&self) -> &Tag {
        &self.tag
    }

    /// Makes the object a new one, which holds what it holds inline.
    pub(crate) fn renew(&mut self) {
        self.tag.clear();
    }
}
