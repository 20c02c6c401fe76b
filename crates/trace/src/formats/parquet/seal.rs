//! Checksums of the rows of a file that this project wrote.
//!
//! The pages of a Parquet file may carry checksums, but the writer used here makes none, and a flipped byte in a page often
//! unpacks to another number. So the footer of a file that this program writes holds, under [`KEY`], one CRC-32 for each row group, in hexadecimal:
//! of its rows in order, each as its seven numbers in the order of the schema, eight bytes with the lowest first. Programs that rewrite such a file
//! may keep its key-value pairs and change its rows, but name themselves as its creator: then the checksums mean nothing.

use crc32fast::Hasher;
use std::fmt::Write;

/// The key in the footer.
pub(crate) const KEY: &str = "destage.crc32";
/// The beginning of the creator of a file that has these checksums.
pub(crate) const CREATOR: &str = "destage version ";

/// The numbers of a row, in the order of the schema.
pub(crate) type Numbers = [u64; 7];

/// Bytes of a row, and how many of them are summed at once: a checksum is fast over long pieces only.
const ROW_BYTES: usize = size_of::<Numbers>();
const PIECE_BYTES: usize = 64 * ROW_BYTES;

/// The running checksum of a row group.
pub(crate) struct Seal {
    sum: Hasher,
    piece: [u8; PIECE_BYTES],
    filled: usize,
}

impl Default for Seal {
    fn default() -> Self {
        Self {
            sum: Hasher::new(),
            piece: [0; PIECE_BYTES],
            filled: 0,
        }
    }
}

impl Seal {
    /// Adds a row.
    #[inline]
    pub fn add(&mut self, numbers: &Numbers) {
        let row = &mut self.piece[self.filled..][..ROW_BYTES];
        for (place, number) in row.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        self.filled += ROW_BYTES;
        if self.filled == PIECE_BYTES {
            self.sum.update(&self.piece);
            self.filled = 0;
        }
    }

    /// The checksum as it is written, and a fresh start.
    pub fn take(&mut self) -> String {
        self.sum.update(&self.piece[..self.filled]);
        self.filled = 0;
        let sum = std::mem::take(&mut self.sum).finalize();
        let mut text = String::with_capacity(8);
        write!(text, "{sum:08x}").expect("a string takes any text");
        text
    }
}

/// The checksums that a file should have.
pub(crate) struct Seals {
    expected: std::vec::IntoIter<String>,
    running: Seal,
}

impl Seals {
    /// The checksums in the footer of a file that `creator` made, if they can be trusted.
    pub fn of(creator: Option<&str>, value: Option<&str>) -> Option<Self> {
        creator?.starts_with(CREATOR).then(|| {
            let words = value.unwrap_or_default().split_ascii_whitespace();
            let expected: Vec<String> = words.map(str::to_owned).collect();
            Self {
                expected: expected.into_iter(),
                running: Seal::default(),
            }
        })
    }

    /// Adds a row.
    #[inline]
    pub fn add(&mut self, numbers: &Numbers) {
        self.running.add(numbers);
    }

    /// Holds the rows since the last check to the next checksum.
    pub fn check(&mut self) -> Result<(), String> {
        let found = self.running.take();
        match self.expected.next() {
            Some(expected) if expected == found => Ok(()),
            Some(_) => Err("the rows of its group do not match their checksum".to_owned()),
            None => Err("its row group has no checksum in the footer".to_owned()),
        }
    }

    /// Makes sure that no row group is missing.
    pub fn end(&self) -> Result<(), String> {
        match self.expected.as_slice() {
            [] => Ok(()),
            missing => Err(format!("{} row groups are missing", missing.len())),
        }
    }
}
