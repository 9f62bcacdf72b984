//! shuttle's API, as suites use it.

#[path = "all/api.rs"]
mod api;

#[path = "all/found.rs"]
mod found;

#[path = "all/futures.rs"]
mod futures;

#[path = "all/settings.rs"]
mod settings;

#[path = "all/suite.rs"]
mod suite;

#[path = "all/support.rs"]
mod support;

#[path = "all/values.rs"]
mod values;
