//! The place of a check's file: `<target>/rsmc/<executable>.<test>.checkpoint`.

use std::path::PathBuf;

use crate::files;

/// The place of this check's checkpoint; `None` if the system does not say where the executable is.
pub(super) fn of_checkpoint(check: &str) -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    let program = executable.file_stem()?.to_string_lossy();
    let name = files::file_name(&format!("{}::{check}", files::without_hash(&program)));
    Some(files::folder().join(format!("{name}.checkpoint")))
}
