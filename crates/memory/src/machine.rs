//! The size of the machine's memory, read from a file of the system.

use std::fs::read_to_string;

/// The default limit is the machine's memory divided by this number.
const SHARE: u64 = 2;

/// The default limit in bytes: half of the machine's memory. The result is `None`, which means no limit, if no file
/// gives the size of the memory. On systems other than Linux no file gives it.
#[must_use]
pub fn default_limit() -> Option<u64> {
    Some(machine_bytes()? / SHARE)
}

/// Number of bytes that this process may use: the memory of the machine, or the limit of its control group if this is
/// smaller.
fn machine_bytes() -> Option<u64> {
    let machine = read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| total(&text))?;
    let group = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ]
    .iter()
    .find_map(|path| read_to_string(path).ok()?.trim().parse().ok());
    Some(group.map_or(machine, |group: u64| machine.min(group)))
}

fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_found() {
        let text = "MemTotal:       16330048 kB\nMemFree:          123456 kB\n";
        assert_eq!(total(text), Some(16_330_048 * 1024));
        assert_eq!(total("MemFree: 5 kB\n"), None);
    }
}
