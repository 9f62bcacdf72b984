//! The identity of an object for a check: the place of its state there, and where it was created.

use std::panic::Location;

use crate::runtime::locations::Tag;

/// The properties that an object has for an execution that meets it first.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    /// Where executions keep their location of it.
    pub tag: &'a Tag,
    /// Its type, as the user wrote it.
    pub kind: &'static str,
    /// Where it was created, if that is known.
    pub created: Option<&'static Location<'static>>,
}

/// Part of every object of the shim.
#[derive(Debug)]
pub struct Identity {
    tag: Tag,
    created: &'static Location<'static>,
}

impl Identity {
    /// The identity of an object that the caller creates.
    #[track_caller]
    #[inline]
    #[allow(clippy::new_without_default, reason = "it is one of an object that the caller creates")]
    pub const fn new() -> Self {
        Self { tag: Tag::new(), created: Location::caller() }
    }

    /// The properties of the object; `kind` is its type.
    #[inline]
    pub fn object(&self, kind: &'static str) -> Object<'_> {
        Object { tag: &self.tag, kind, created: Some(self.created) }
    }

    /// Where executions keep their location of it.
    #[inline]
    pub fn tag(&self) -> &Tag {
        &self.tag
    }

    /// Makes the object hold what it holds inline, at a location of its own.
    pub fn renew(&mut self) {
        self.tag.renew();
    }
}
