//! Goldens of the JSON form and of graphs: one with a failing step, one with threads that wait, one with buffers, one
//! of C11. What is in pages is compared in the facade's `tests/kinds/pictures.rs`.

use std::path::Path;

use rsmc_core::report;

use super::Case;

/// Compares both forms with their files.
#[track_caller]
pub fn check_forms(name: &str, case: &Case<'_>) {
    let diagram = case.diagram(Some("example"));
    let json: serde_json::Value = serde_json::from_str(&report::json(&diagram)).unwrap();
    let json = format!("{json:#}\n");
    for (extension, text) in [("json", json), ("dot", report::dot(&diagram))] {
        let file = format!("{name}.{extension}");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(&file);
        if std::env::var_os("RSMC_BLESS").is_some() {
            std::fs::write(&path, &text).expect("the golden file can be written");
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert!(golden == text, "{file} differs (RSMC_BLESS=1 rewrites it); it is now\n\n{text}");
    }
}
