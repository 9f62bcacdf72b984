//! The published source of a crate, and a copy of it that can be compiled on its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cargo_metadata::MetadataCommand;
use serde::Deserialize;
use toml::{Table, Value};

use crate::list::{Checker, Crate};
use crate::{Error, here};

/// The folder below which everything is copied and compiled.
pub fn corpus() -> PathBuf {
    here().join("target/corpus")
}

/// The folder in which cargo keeps the published source; cargo downloads it first if need be.
pub fn published(one: &Crate) -> Result<PathBuf, Error> {
    let folder = corpus().join("fetch").join(&one.name);
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "")?;
    let manifest = folder.join("Cargo.toml");
    fs::write(
        &manifest,
        format!(
            "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n\
             [dependencies]\n{} = {{ version = \"={}\", default-features = false }}\n",
            one.name, one.version
        ),
    )?;
    let metadata = MetadataCommand::new().manifest_path(manifest).exec()?;
    let is_it = |package: &&cargo_metadata::Package| package.name.as_str() == one.name;
    let package = metadata.packages.iter().find(is_it).ok_or("cargo does not name the package")?;
    let folder = package.manifest_path.parent().ok_or("a manifest is in a folder")?;
    Ok(folder.into())
}

/// A copy of the source whose manifest names a workspace of its own, leaves out the dev-dependencies that the list
/// cuts, and for rsmc has rsmc-loom in loom's place. No other file changes.
pub fn prepared(one: &Crate, checker: Checker, published: &Path) -> Result<PathBuf, Error> {
    let folder = corpus().join(checker.to_string()).join(&one.name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    copy(published, &folder)?;
    let lock = folder.join("Cargo.lock");
    if lock.exists() {
        fs::remove_file(lock)?;
    }
    let path = folder.join("Cargo.toml");
    let mut manifest: Table = toml::from_str(&fs::read_to_string(&path)?)?;
    manifest.insert("workspace".into(), Value::Table(Table::new()));
    cut(&mut manifest, &one.cut)?;
    if one.debug_assertions {
        manifest.insert("profile".into(), with_assertions()?);
    }
    if checker == Checker::Rsmc {
        manifest.insert("patch".into(), patch()?);
    }
    fs::write(path, toml::to_string(&manifest)?)?;
    Ok(folder)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Removes dev-dependencies, those of targets as well.
///
/// # Errors
/// A name that is no dev-dependency.
fn cut(manifest: &mut Table, names: &[String]) -> Result<(), Error> {
    for name in names {
        let mut is_cut = cut_one(manifest, name);
        if let Some(Value::Table(targets)) = manifest.get_mut("target") {
            for (_, target) in targets.iter_mut() {
                is_cut |= target.as_table_mut().is_some_and(|target| cut_one(target, name));
            }
        }
        if !is_cut {
            return Err(format!("`{name}` is no dev-dependency").into());
        }
    }
    Ok(())
}

/// Removes a dev-dependency, and tells whether it was there.
fn cut_one(table: &mut Table, name: &str) -> bool {
    let dependencies = table.get_mut("dev-dependencies").and_then(Value::as_table_mut);
    dependencies.is_some_and(|dependencies| dependencies.remove(name).is_some())
}

/// A release profile with debug assertions in the crate, and not in what it depends on.
fn with_assertions() -> Result<Value, Error> {
    let profile = "release = { debug-assertions = true, package.\"*\".debug-assertions = false }";
    Ok(Value::Table(toml::from_str(profile)?))
}

/// `[patch.crates-io]` with rsmc-loom in the place of each version of loom: a crate and what it depends on may use
/// different ones.
fn patch() -> Result<Value, Error> {
    let folder = here().parent().ok_or("the package is in a folder")?.join("rsmc-loom/patch");
    let one = |version: &str| {
        let path = folder.join(format!("loom-{version}"));
        let path = path.to_str().ok_or("the path is not Unicode")?.to_owned();
        let entry = [("package", "loom".to_owned()), ("path", path)];
        let table = entry.map(|(key, value)| (key.to_owned(), Value::String(value)));
        Ok::<_, Error>((format!("loom-{version}").replace('.', "-"), Value::Table(Table::from_iter(table))))
    };
    let registry = Table::from_iter([one("0.7")?, one("0.6")?, one("0.5")?]);
    Ok(Value::Table(Table::from_iter([("crates-io".to_owned(), Value::Table(registry))])))
}

/// The versions of loom that a compiled crate has from the registry.
pub fn published_looms(folder: &Path) -> Result<Vec<String>, Error> {
    #[derive(Deserialize)]
    struct Lock {
        package: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        version: String,
        source: Option<String>,
    }
    let Lock { package } = toml::from_str(&fs::read_to_string(folder.join("Cargo.lock"))?)?;
    let looms = package.into_iter().filter(|one| one.name == "loom" && one.source.is_some());
    Ok(looms.map(|one| one.version).collect())
}
