//! The places of a check's files: `<target>/rsmc/<executable>.<test>.checkpoint`, and others with other extensions.

use std::path::PathBuf;

use crate::files;

/// The place of this check's file; `None` if the system does not say where the executable is.
pub(crate) fn of(check: &str, extension: &str) -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    let program = executable.file_stem()?.to_string_lossy();
    let name = files::file_name(&format!("{}::{check}", files::without_hash(&program)));
    Some(files::folder().join(format!("{name}.{extension}")))
}
