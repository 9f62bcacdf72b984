//! The memory of processes, and the amount at which a check stops.
//!
//! Some explorers keep a name of everything that they have found, so a long check may take more memory than there is.
//! It stops before the system ends its process.
//!
//! Source. proc(5) for `/proc/<pid>/status` and `/proc/meminfo`; cgroups(7) for `/proc/self/cgroup`, and the kernel's
//! documentation of control groups for `memory.max` (version 2) and `memory.limit_in_bytes` (version 1).
//!
//! Limits. Linux only: elsewhere nothing is known, and a check has no limit.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// The memory that a process has in use (its resident set), in bytes; without a number, this process. `None` where the
/// system does not say.
pub fn resident_memory(process: Option<u32>) -> Option<u64> {
    let process = process.map_or_else(|| "self".to_owned(), |number| number.to_string());
    kibibytes(&read_to_string(format!("/proc/{process}/status")).ok()?, "VmRSS:")
}

/// The memory that this process may have, in bytes: that of the machine, or less if a control group says so.
fn all_memory() -> Option<u64> {
    let machine = kibibytes(&read_to_string("/proc/meminfo").ok()?, "MemTotal:")?;
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().flat_map(limit_files).filter_map(|file| read_to_string(file).ok()?.trim().parse().ok());
    Some(limits.fold(machine, u64::min))
}

/// The files with the limits of a control group, as `/proc/self/cgroup` names it, and of those above it. In a container
/// the group may have another name there, and only the one at the top is seen.
fn limit_files(group: &str) -> Vec<PathBuf> {
    let mut parts = group.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { return Vec::new() };
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        _ if controllers.split(',').any(|one| one == "memory") => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        _ => return Vec::new(),
    };
    let below = |group: &Path| Path::new(root).join(group.strip_prefix("/").unwrap_or(group)).join(file);
    Path::new(path).ancestors().map(below).collect()
}

/// The limit of a check for which none was chosen: three quarters of all memory.
pub(super) fn default_limit() -> Option<u64> {
    all_memory().map(|all| all / 4 * 3)
}

/// The units of amounts of memory, with their number of bytes.
const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// Reads an amount of memory: a whole number with a unit, such as `512MiB` or `4GiB`. `None` if the text is not one.
pub fn parse_memory(text: &str) -> Option<u64> {
    let (number, bytes) = UNITS.iter().find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, bytes)))?;
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    if is_number { number.parse::<u64>().ok()?.checked_mul(*bytes) } else { None }
}

/// An amount of memory as text: as [`parse_memory`] reads it if it is a whole number of some unit, else roughly.
pub(crate) fn memory_text(bytes: u64) -> String {
    let (unit, size) = UNITS.into_iter().find(|&(_, size)| bytes >= size).unwrap_or(("KiB", 1 << 10));
    match UNITS.into_iter().find(|&(_, exact)| bytes.is_multiple_of(exact) && bytes / exact < 10_000) {
        Some((unit, size)) => format!("{}{unit}", bytes / size),
        None => format!("{:.1}{unit}", bytes as f64 / size as f64),
    }
}

/// The number of bytes in the line of a list that begins with `name`, and has a number of kibibytes.
fn kibibytes(list: &str, name: &str) -> Option<u64> {
    let line = list.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_in_kibibytes() {
        let list = "Name:\trsmc\nVmRSS:\t    2048 kB\nThreads:\t1\n";
        assert_eq!(kibibytes(list, "VmRSS:"), Some(2 << 20));
        assert_eq!((kibibytes(list, "VmSwap:"), kibibytes(list, "Threads:")), (None, None));
    }

    #[test]
    fn the_limits_of_a_control_group_and_of_those_above() {
        let files = |group| limit_files(group).iter().map(|file| file.display().to_string()).collect::<Vec<_>>();
        let second = ["/sys/fs/cgroup/a/b/memory.max", "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/memory.max"];
        assert_eq!(files("0::/a/b"), second);
        let first = ["/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
        assert_eq!(files("4:hugetlb,memory:/a"), first);
        assert!([files("5:cpu:/a"), files("9:name=systemd:/"), files("")].iter().all(Vec::is_empty));
    }

    #[test]
    fn amounts_as_text() {
        assert_eq!((parse_memory("512MiB"), parse_memory("4GiB")), (Some(512 << 20), Some(4 << 30)));
        for text in ["", "4", "GiB", "4 GiB", "4GB", "-1GiB", "1.5GiB", "4gib", "99999999999GiB"] {
            assert_eq!(parse_memory(text), None, "{text:?}");
        }
        let texts = [1 << 20, 1536 << 20, 3 << 30, (3 << 30) + 5].map(memory_text);
        assert_eq!(texts, ["1MiB", "1536MiB", "3GiB", "3.0GiB"]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_that_is_taken_is_seen() {
        let before = resident_memory(None).expect("Linux says it");
        let taken = std::hint::black_box(vec![1_u8; 64 << 20]);
        let now = resident_memory(Some(std::process::id())).expect("Linux says it");
        assert!(now >= before + (48 << 20), "{before} bytes before, {now} with {} more", taken.len());
        assert!(default_limit().expect("Linux says it") > now);
    }
}
