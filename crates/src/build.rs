//! Compiling a suite, and the tests that it has.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::Message;

use crate::Error;
use crate::list::{Checker, Crate};
use crate::source::{corpus, published_looms};

/// A compiled suite.
pub struct Suite {
    /// The folder of the crate, in which its tests run.
    pub folder: PathBuf,
    pub tests: Vec<Test>,
}

/// A test in an executable.
pub struct Test {
    /// Its path in the executable, after the name of the integration test if the suite has several executables.
    pub name: String,
    /// Its path in the executable.
    pub path: String,
    pub executable: PathBuf,
}

/// Compiles the targets of a crate in release mode, as the CI of most crates does, and lists their tests.
pub fn compile(one: &Crate, cfgs: &[&str], checker: Checker, folder: &Path) -> Result<Suite, Error> {
    let mut cargo = cargo(one, cfgs, checker, folder);
    let child = cargo.stdout(Stdio::piped()).spawn()?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("it does not compile under {checker}").into());
    }
    if let (Checker::Rsmc, [version, ..]) = (checker, &published_looms(folder)?[..]) {
        return Err(format!("rsmc-loom does not replace loom {version}").into());
    }
    let mut tests = Vec::new();
    for message in Message::parse_stream(output.stdout.as_slice()) {
        if let Message::CompilerArtifact(artifact) = message?
            && let Some(executable) = artifact.executable
        {
            let prefix = if one.targets.len() > 1 { format!("{}::", artifact.target.name) } else { String::new() };
            tests.extend(list(one, executable.as_std_path(), &prefix)?);
        }
    }
    tests.retain(|test| test.path.contains(&one.filter) && !one.skip.contains(&test.name));
    Ok(Suite { folder: folder.to_path_buf(), tests })
}

fn cargo(one: &Crate, cfgs: &[&str], checker: Checker, folder: &Path) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(folder);
    cargo.args(["test", "--release", "--no-run", "--quiet", "--message-format=json-render-diagnostics"]);
    cargo.arg("--target-dir").arg(corpus().join(checker.to_string()).join("target"));
    if !one.features.is_empty() {
        cargo.arg("--features").arg(one.features.join(","));
    }
    for target in &one.targets {
        match target.as_str() {
            "lib" => cargo.arg("--lib"),
            name => cargo.args(["--test", name]),
        };
    }
    let mut flags: Vec<String> = cfgs.iter().map(|cfg| format!("--cfg {cfg}")).collect();
    flags.push("--cap-lints allow".to_owned());
    cargo.env("RUSTFLAGS", flags.join(" ")).env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo
}

/// The tests of an executable that are not ignored.
fn list(one: &Crate, executable: &Path, prefix: &str) -> Result<Vec<Test>, Error> {
    let executable = fs::canonicalize(executable)?;
    let paths = |ignored: &[&str]| -> Result<Vec<String>, Error> {
        let output = Command::new(&executable).args(["--list", "--format", "terse"]).args(ignored).output()?;
        if !output.status.success() {
            return Err(format!("{}: its tests cannot be listed", one.name).into());
        }
        let text = String::from_utf8(output.stdout)?;
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    };
    let ignored = paths(&["--ignored"])?;
    let all = paths(&[])?.into_iter().filter(|path| !ignored.contains(path));
    Ok(all.map(|path| Test { name: format!("{prefix}{path}"), path, executable: executable.clone() }).collect())
}
