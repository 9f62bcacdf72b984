//! loom's API, as suites use it.

#[path = "all/api.rs"]
mod api;

#[path = "all/found.rs"]
mod found;

#[path = "all/settings.rs"]
mod settings;
