//! The shim's modules have the items of std's, and its types the methods, but for those that are named here.
//!
//! What std has is read from its documentation, where the toolchain has that (the component `rust-docs`); elsewhere
//! nothing is compared, which is said on standard error. Methods of traits are not looked at, and a method counts as
//! there if a source of its type defines one of its name.
#![allow(clippy::incompatible_msrv, reason = "tests are built by the compiler of the workspace")]

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A page of std's documentation, the sources of that type, and the methods that are left out. Types that the shim
/// takes over from std have them all.
type Page = (&'static str, &'static [&'static str], &'static [&'static str]);

const PAGES: &[Page] = &[
    ("sync/atomic/struct.AtomicUsize", &["atomic/common.rs", "atomic/int.rs"], &["from_ptr"]),
    ("sync/atomic/struct.AtomicI8", &["atomic/common.rs", "atomic/int.rs"], &["from_ptr"]),
    ("sync/atomic/struct.AtomicBool", &["atomic/common.rs", "atomic/boolean.rs"], &["from_ptr"]),
    ("sync/atomic/struct.AtomicPtr", &["atomic/common.rs", "atomic/ptr.rs"], &["from_ptr"]),
    ("sync/struct.Arc", &["arc.rs", "arc/raw.rs", "arc/uninit.rs", "arc/traits.rs"], &[]),
    ("sync/struct.Weak", &["arc/weak.rs", "arc/raw.rs"], &[]),
    ("sync/struct.Mutex", &["mutex/mod.rs"], &[]),
    ("sync/struct.MutexGuard", &["mutex/guard.rs"], &[]),
    ("sync/struct.RwLock", &["rwlock/mod.rs"], &[]),
    ("sync/struct.RwLockReadGuard", &["rwlock/guard.rs"], &[]),
    ("sync/struct.RwLockWriteGuard", &["rwlock/guard.rs"], &[]),
    ("sync/struct.Condvar", &["condvar.rs"], &[]),
    ("sync/struct.WaitTimeoutResult", &["condvar.rs"], &[]),
    ("sync/struct.BarrierWaitResult", &["barrier.rs"], &[]),
    ("sync/struct.OnceState", &["once/mod.rs"], &[]),
    ("sync/struct.Barrier", &["barrier.rs"], &[]),
    ("sync/struct.Once", &["once/mod.rs"], &[]),
    ("sync/struct.OnceLock", &["once/cell.rs"], &[]),
    ("sync/struct.LazyLock", &["once/lazy.rs"], &[]),
    ("sync/mpsc/struct.Receiver", &["mpsc/receiver.rs"], &[]),
    ("sync/mpsc/struct.Sender", &["mpsc/sender.rs"], &[]),
    ("sync/mpsc/struct.SyncSender", &["mpsc/sender.rs"], &[]),
    ("thread/struct.JoinHandle", &["thread/spawned.rs"], &[]),
    ("thread/struct.Builder", &["thread/spawned.rs", "thread/scoped.rs"], &["spawn_unchecked"]),
    ("thread/struct.Thread", &["thread/handle.rs"], &["into_raw", "from_raw"]),
    ("thread/struct.LocalKey", &["thread/local.rs"], &[]),
    ("thread/struct.Scope", &["thread/scoped.rs"], &[]),
    ("thread/struct.ScopedJoinHandle", &["thread/scoped.rs"], &[]),
    // They take a place that holds a value and no more for a cell.
    ("cell/struct.Cell", &["cell/cell.rs"], &["from_mut", "as_slice_of_cells", "as_array_of_cells"]),
    ("cell/struct.UnsafeCell", &["cell/unsafe_cell.rs"], &["from_mut", "raw_get"]),
    ("time/struct.Instant", &["time.rs"], &[]),
];

fn std_pages() -> Option<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    let pages = Path::new(String::from_utf8(output.stdout).ok()?.trim()).join("share/doc/rust/html/std");
    pages.is_dir().then_some(pages)
}

/// The stable methods on a page.
fn stable_methods(page: &str) -> BTreeSet<&str> {
    let end = ["id=\"deref-methods", "id=\"trait-implementations\""].iter().filter_map(|end| page.find(end)).min();
    let methods = page[..end.unwrap_or(page.len())].split("<section id=\"method.").skip(1);
    let is_stable = |text: &&str| {
        let behind = text.split_once("</section>").map_or("", |(_, behind)| behind);
        !behind.split("docblock").next().is_some_and(|behind| behind.contains("stab unstable"))
    };
    methods.filter(is_stable).filter_map(|text| text.split(['"', '-']).next()).collect()
}

/// Whether a source defines a method of this name, itself or by a macro.
fn defines(code: &str, method: &str) -> bool {
    [format!("fn {method}("), format!("fn {method}<"), format!(" {method} = ")].iter().any(|text| code.contains(text))
}

/// Modules of std, and the source or the folder that names the shim's items of them.
const MODULES: &[(&str, &str)] = &[
    ("sync", "mod.rs"),
    ("sync/atomic", "atomic"),
    ("sync/mpsc", "mpsc"),
    ("thread", "thread"),
    ("cell", "cell"),
    ("hint", "hint.rs"),
    ("time", "time.rs"),
];

/// Items that the shim leaves out, with the reason.
const LEFT_OUT: &[&str] = &[
    // A check has no calendar.
    "time: SystemTime",
    "time: SystemTimeError",
    "time: UNIX_EPOCH",
];

/// The names of the stable items on the page of a module that are not deprecated.
fn stable_items(page: &str) -> BTreeSet<&str> {
    let entries = page.split("<dt>").skip(1).map(|text| text.split("</dt>").next().unwrap_or_default());
    let is_stable = |entry: &&str| !entry.contains("stab unstable") && !entry.contains("stab deprecated");
    entries
        .filter(is_stable)
        .filter_map(|entry| {
            let (_, behind) = entry.split_once("href=\"")?;
            let (kind, behind) = behind.split_once('.')?;
            // A module has a page in its own folder.
            let is_item = kind != "macro" && !kind.contains('/');
            is_item.then(|| behind.split(".html").next().unwrap_or_default())
        })
        .collect()
}

/// The code of a source of the shim, or of all below a folder, without comments: a name in one is none that is there.
fn code_of(place: &Path) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model").join(place);
    if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("the folder can be read");
        return entries.map(|entry| code_of(&entry.expect("it can be read").path())).collect();
    }
    let text = std::fs::read_to_string(path).expect("the source is there");
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    text.lines().filter(is_code).flat_map(|line| [line, "\n"]).collect()
}

/// Whether the items that code offers have this name: by its definition, itself or by a macro, or because it is taken
/// over from elsewhere.
fn offers(code: &str, item: &str) -> bool {
    let kinds = ["struct", "enum", "fn", "const fn", "unsafe fn", "const unsafe fn", "type", "trait", "const"];
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_defined = |kind: &&str| {
        let definition = format!("pub {kind} {item}");
        code.match_indices(&definition).any(|(at, found)| !code[at + found.len()..].starts_with(is_in_word))
    };
    let mut taken_over = code.split("pub use ").skip(1).filter_map(|text| text.split(';').next());
    kinds.iter().any(is_defined)
        || code.contains(&format!("\": {item}, "))
        || taken_over.any(|text| text.split(|c| !is_in_word(c)).any(|word| word == item))
}

#[test]
fn every_item_of_std_is_there() {
    let Some(pages) = std_pages() else { return };
    let (mut missing, mut seen) = (Vec::new(), 0);
    for (module, place) in MODULES {
        let html = std::fs::read_to_string(pages.join(module).join("index.html")).expect("std has the module");
        let code = code_of(place.as_ref());
        let items = stable_items(&html);
        seen += items.len();
        let lacks = |item: &&&str| !offers(&code, item) && !LEFT_OUT.contains(&&*format!("{module}: {item}"));
        missing.extend(items.iter().filter(lacks).map(|item| format!("{module}: {item}")));
    }
    assert!(seen > 70, "only {seen} items of std were found");
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_method_of_std_is_there() {
    let Some(pages) = std_pages() else {
        let _ = writeln!(std::io::stderr(), "NOT TESTED: the component rust-docs is not installed");
        return;
    };
    let (mut missing, mut seen) = (Vec::new(), 0);
    for (page, files, left_out) in PAGES {
        let html = std::fs::read_to_string(pages.join(format!("{page}.html"))).expect("std has the type");
        let code: String = files.iter().map(|file| code_of(file.as_ref())).collect();
        let std = stable_methods(&html);
        seen += std.len();
        let lacks = |method: &&&str| !defines(&code, method) && !left_out.contains(*method);
        missing.extend(std.iter().filter(lacks).map(|method| format!("{page}: {method}")));
    }
    assert!(seen > 200, "only {seen} methods of std were found");
    assert!(missing.is_empty(), "{missing:#?}");
}
