//! Checksums of the rows of a file that this project wrote.
//!
//! The pages of a Parquet file may have checksums, but the Parquet writer used here writes none, and a damaged
//! page often still decodes, to other numbers. So the footer of a file that this program writes contains, under
//! [`KEY`], one CRC-32 for each row group, in hexadecimal. It covers the rows in order: the seven numbers of
//! each row in the order of the schema, eight bytes each, lowest byte first. Another program that rewrites such
//! a file may keep its key-value pairs and change its rows, but it names itself as the creator. The checksums
//! of such a file are ignored.

use crc32fast::Hasher;
use std::fmt::Write;

/// The key in the footer under which the checksums stand.
pub(crate) const KEY: &str = "destage.crc32";
/// How the creator begins in a file that has these checksums.
pub(crate) const CREATOR: &str = "destage version ";

/// The numbers of one row, in the order of the schema.
pub(crate) type Numbers = [u64; 7];

/// The bytes of one row. Rows are collected to pieces of 64, because a checksum is fast only over long pieces.
const ROW_BYTES: usize = size_of::<Numbers>();
const PIECE_BYTES: usize = 64 * ROW_BYTES;

/// The checksum of the rows of a row group so far.
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
    /// Adds a row to the checksum.
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

    /// Returns the checksum as the footer has it, and starts a new one.
    pub fn take(&mut self) -> String {
        self.sum.update(&self.piece[..self.filled]);
        self.filled = 0;
        let sum = std::mem::take(&mut self.sum).finalize();
        let mut text = String::with_capacity(8);
        write!(text, "{sum:08x}").expect("a string takes any text");
        text
    }
}

/// Compares the checksums of a file's footer with its rows.
pub(crate) struct Seals {
    expected: std::vec::IntoIter<String>,
    running: Seal,
}

impl Seals {
    /// Reads the checksums from the value of the footer's key. `None` if `creator` is not this program, so that
    /// they mean nothing.
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

    /// Adds a row to the current checksum.
    #[inline]
    pub fn add(&mut self, numbers: &Numbers) {
        self.running.add(numbers);
    }

    /// Compares the checksum of the rows since the last check with the next checksum of the footer.
    pub fn check(&mut self) -> Result<(), String> {
        let found = self.running.take();
        match self.expected.next() {
            Some(expected) if expected == found => Ok(()),
            Some(_) => Err("the rows of its group do not match their checksum".to_owned()),
            None => Err("its row group has no checksum in the footer".to_owned()),
        }
    }

    /// Makes sure that every checksum of the footer had a row group.
    pub fn end(&self) -> Result<(), String> {
        match self.expected.as_slice() {
            [] => Ok(()),
            missing => Err(format!("{} row groups are missing", missing.len())),
        }
    }
}
