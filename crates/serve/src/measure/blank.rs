//! The check whether a drive holds data that a measurement would overwrite, and the random bytes that a measurement
//! writes.

use destage_base::Random;

/// The number of bytes at either end of a drive that are checked for partitions and file systems.
pub(super) const LOOK: u64 = 1 << 20;

/// A sentence that says that the drive holds data; `None` if all `bytes` are 0.
pub(super) fn holds(bytes: &[u8]) -> Option<String> {
    let is_used = bytes.iter().any(|byte| *byte != 0);
    is_used.then(|| {
        "holds data in its first or last MiB, such as partitions or a file system".to_owned()
    })
}

/// The ranges of a drive of `bytes` bytes that are checked: offset and length in bytes.
pub(super) fn parts(bytes: u64) -> Vec<(u64, usize)> {
    let length = LOOK.min(bytes);
    let last = (bytes - length) / 4096 * 4096;
    vec![
        (0, length as usize),
        (last, (bytes - last).min(LOOK) as usize),
    ]
}

/// Random bytes, which are the data of writes. No drive can compress or deduplicate these data.
pub(super) struct Pool {
    bytes: Vec<u8>,
    writes: u64,
}

/// The number of bytes of a pool. The data of a write begin at an offset in the pool that is a multiple of 8 bytes.
const POOL: usize = 4 << 20;

impl Pool {
    pub fn new() -> Self {
        let mut random = Random::new(0x706f_6f6c);
        let words = (0..POOL / 8).flat_map(|_| random.next_u64().to_le_bytes());
        Self {
            bytes: words.collect(),
            writes: 0,
        }
    }

    /// Fills `out` with bytes that differ for each call.
    pub fn fill(&mut self, out: &mut [u8]) {
        self.writes += 1;
        let last = self.bytes.len() - out.len();
        let from = self.writes.wrapping_mul(0x9E37_79B9_7F4A_7C15) as usize % (last / 8) * 8;
        out.copy_from_slice(&self.bytes[from..from + out.len()]);
        let stamp = self.writes.to_le_bytes();
        out[..stamp.len()].copy_from_slice(&stamp);
    }
}
