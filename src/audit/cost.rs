//! The instructions of atomic operations on x86-64 and AArch64, for what weaker orderings save.
//!
//! Source. What rustc makes of them, with the features `lse` and `rcpc` of AArch64 (ARMv8.3): the test below compiles
//! each.

use std::fmt;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};

use rsmc_core::trace::strongest;
use serde::Serialize;

use crate::audit::AuditedOrdering;

/// The instruction of an operation on both machines; `None`: there is none. An update is shown as an addition.
fn instructions(operation: &str, order: Ordering) -> [Option<&'static str>; 2] {
    let of = |suffixes: [&'static str; 4]| match order {
        Relaxed => suffixes[0],
        Acquire => suffixes[1],
        Release => suffixes[2],
        _ => suffixes[3],
    };
    match operation {
        "load" => [Some("mov"), Some(if order == SeqCst { "ldar" } else { of(["ldr", "ldapr", "ldr", "ldar"]) })],
        "store" => [Some(if order == SeqCst { "xchg" } else { "mov" }), Some(of(["str", "str", "stlr", "stlr"]))],
        "update" => [Some("lock xadd"), Some(of(["ldadd", "ldadda", "ldaddl", "ldaddal"]))],
        "compare_exchange" => [Some("lock cmpxchg"), Some(of(["cas", "casa", "casl", "casal"]))],
        _ if order == Relaxed => [None, None],
        _ => {
            let x86 = (order == SeqCst).then_some("lock or");
            [x86, Some(if order == Acquire { "dmb ishld" } else { "dmb ish" })]
        }
    }
}

/// The instructions that the weaker orderings of an audit change at one place.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Saving<'a> {
    /// The ordering; of a compare-exchange, that of success, if it is listed.
    #[serde(skip)]
    ordering: &'a AuditedOrdering,
    place: &'a str,
    changes: Vec<Change>,
}

/// The instruction of a place on one machine; `None`: there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Change {
    machine: &'static str,
    written: Option<&'static str>,
    weaker: Option<&'static str>,
}

impl Saving<'_> {
    /// Whether it is the saving at the place of an ordering of the same audit.
    pub(super) fn is_of(&self, ordering: &AuditedOrdering) -> bool {
        std::ptr::eq(self.ordering, ordering)
    }

    /// The changes, in words.
    pub(super) fn changes(&self) -> String {
        self.changes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Saving<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {}", self.place, self.changes())
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, written, weaker } = self;
        match weaker {
            Some(weaker) => write!(f, "{machine} {weaker} in place of {}", written.unwrap_or("nothing")),
            None => write!(f, "{machine} no {}", written.unwrap_or("instruction")),
        }
    }
}

/// The savings of the weaker orderings of an audit: one for each place at which the instruction is another one.
pub(super) fn savings<'a>(orderings: &'a [AuditedOrdering]) -> Vec<Saving<'a>> {
    let success =
        orderings.iter().filter(|one| !one.is_failure || !orderings.iter().any(|other| is_success(other, one)));
    let saving = |one: &'a AuditedOrdering| {
        // A compare-exchange has one instruction for both of its orderings. One that is `Relaxed` is not listed.
        let AuditedOrdering { operation, written, together, .. } = one;
        let other = orderings.iter().find(|other| is_success(one, other)).filter(|_| !one.is_failure);
        let [written, weaker] = match other {
            Some(failure) => [strongest(*written, failure.written), strongest(*together, failure.together)],
            None => [*written, *together],
        };
        let pairs = instructions(operation, written).into_iter().zip(instructions(operation, weaker));
        let changes = ["x86-64", "AArch64"].into_iter().zip(pairs);
        let changes = changes.map(|(machine, (written, weaker))| Change { machine, written, weaker });
        let changes: Vec<Change> = changes.filter(|change| change.written != change.weaker).collect();
        (!changes.is_empty()).then(|| Saving { ordering: one, place: &one.place, changes })
    };
    success.filter_map(saving).collect()
}

/// Whether these are the orderings of success and failure of one compare-exchange.
fn is_success(success: &AuditedOrdering, failure: &AuditedOrdering) -> bool {
    success.place == failure.place && !success.is_failure && failure.is_failure
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::sync::atomic::Ordering::AcqRel;

    use super::*;

    const OPERATIONS: [(&str, &[Ordering]); 5] = [
        ("load", &[Relaxed, Acquire, SeqCst]),
        ("store", &[Relaxed, Release, SeqCst]),
        ("update", &[Relaxed, Acquire, Release, AcqRel, SeqCst]),
        ("compare_exchange", &[Relaxed, Acquire, Release, AcqRel, SeqCst]),
        ("fence", &[Acquire, Release, AcqRel, SeqCst]),
    ];

    /// A function for each operation and ordering.
    fn source() -> String {
        let mut text = "#![no_std]\n#![crate_type = \"lib\"]\n\
                        use core::sync::atomic::{AtomicU64, Ordering::*, fence};\n"
            .to_owned();
        for (operation, orders) in OPERATIONS {
            for order in orders {
                let body = match operation {
                    "load" => format!("a.load({order:?})"),
                    "store" => format!("a.store(1, {order:?}); 0"),
                    "update" => format!("a.fetch_add(1, {order:?})"),
                    "fence" => format!("fence({order:?}); 0"),
                    _ => format!("a.compare_exchange(1, 2, {order:?}, Relaxed).unwrap_or(7)"),
                };
                let name = format!("{operation}_{order:?}").to_lowercase();
                text += &format!("#[no_mangle] pub fn {name}(a: &AtomicU64) -> u64 {{ {body} }}\n");
            }
        }
        text
    }

    /// The assembly for a target; nothing if its standard library is not installed.
    fn assembly(target: &str, features: &str) -> Option<String> {
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
        let mut command = Command::new(rustc);
        command.args(["-O", "--emit=asm", "-o", "-", "--target", target, "-C", features, "-"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("there is rustc");
        child.stdin.take().unwrap().write_all(source().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        if errors.contains("can't find crate for `core`") {
            return None;
        }
        assert!(output.status.success(), "{errors}");
        Some(String::from_utf8(output.stdout).unwrap())
    }

    /// The instructions of a function, with single blanks.
    fn of_function(assembly: &str, name: &str) -> Vec<String> {
        let lines = assembly.lines().skip_while(|line| *line != format!("{name}:")).skip(1);
        let lines = lines.take_while(|line| !line.ends_with(':') || line.starts_with('.'));
        lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn instructions_are_those_of_rustc() {
        let targets =
            [("x86_64-unknown-linux-gnu", "opt-level=3"), ("aarch64-unknown-linux-gnu", "target-feature=+lse,+rcpc")];
        let mut compared = 0;
        for (machine, (target, features)) in targets.into_iter().enumerate() {
            let Some(assembly) = assembly(target, features) else { continue };
            for (operation, orders) in OPERATIONS {
                for &order in orders {
                    let name = format!("{operation}_{order:?}").to_lowercase();
                    let lines = of_function(&assembly, &name);
                    let text = lines.join("\n");
                    // A suffix for the size of the operand comes behind the names of x86-64.
                    let has = |what: &str| {
                        let suffixes: &[&str] = if machine == 0 { &["q ", "l ", " "] } else { &[" ", ""] };
                        lines.iter().any(|line| {
                            suffixes.iter().any(|suffix| match *suffix {
                                "" => line == what,
                                suffix => line.starts_with(&format!("{what}{suffix}")),
                            })
                        })
                    };
                    match instructions(operation, order)[machine] {
                        Some(what) => assert!(has(what), "{target} has no `{what}` for {name}:\n{text}"),
                        None => assert!(!["mfence", "lock or", "dmb"].iter().any(|what| text.contains(what)), "{text}"),
                    }
                    compared += 1;
                }
            }
        }
        assert!(compared > 0 || !cfg!(target_arch = "x86_64"), "nothing was compared");
    }

    #[test]
    fn a_place_is_listed_where_its_instruction_changes() {
        let one = |place: &str, operation, is_failure, written, together| AuditedOrdering {
            place: place.to_owned(),
            operation,
            is_failure,
            written,
            is_exercised: true,
            alone: together,
            together,
            pairs: Vec::new(),
            needed: None,
        };
        let orderings = [
            one("a:1:1", "store", false, SeqCst, Release),
            one("a:2:1", "load", false, SeqCst, Acquire),
            one("a:3:1", "update", false, SeqCst, AcqRel),
            one("a:4:1", "fence", false, SeqCst, Relaxed),
            one("a:5:1", "compare_exchange", false, AcqRel, Release),
            one("a:5:1", "compare_exchange", true, Acquire, Acquire),
            one("a:6:1", "compare_exchange", false, AcqRel, Release),
            one("a:6:1", "compare_exchange", true, Acquire, Relaxed),
            one("a:7:1", "compare_exchange", true, Acquire, Relaxed),
        ];
        let expected = [
            "a:1:1  x86-64 mov in place of xchg",
            "a:2:1  AArch64 ldapr in place of ldar",
            "a:4:1  x86-64 no lock or, AArch64 no dmb ish",
            "a:6:1  AArch64 casl in place of casal",
            "a:7:1  AArch64 cas in place of casa",
        ];
        assert_eq!(savings(&orderings).iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }
}
