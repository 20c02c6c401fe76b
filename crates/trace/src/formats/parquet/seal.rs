//! Checksums of the rows of a file that this project wrote.
//!
//! The pages of a Parquet file may have checksums, but the Parquet writer used here writes none. A damaged page
//! can often still be decoded, but to wrong numbers. So the footer of a file that this program writes contains,
//! under [`KEY`], one CRC-32 for each row group, in hexadecimal. The CRC-32 is computed over all rows in order:
//! over the seven numbers of each row in the order of the schema, as eight bytes each, lowest byte first.
//! Another program may rewrite such a file, keep the key-value pairs and change the rows. That program names
//! itself as the creator of the file, and the checksums of a file with another creator are ignored.

use crc32fast::Hasher;
use std::fmt::Write;

/// The key of the checksums in the footer.
pub(crate) const KEY: &str = "destage.crc32";
/// The beginning of the creator's name in a file that has these checksums.
pub(crate) const CREATOR: &str = "destage version ";

/// The numbers of one row, in the order of the schema.
pub(crate) type Numbers = [u64; 7];

/// The number of bytes of one row, and of a piece of 64 rows. The checksum is updated piece by piece, because
/// it is computed fast only over long pieces.
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

    /// Returns the checksum in the form that the footer contains, and starts a new one.
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
    /// Reads the checksums from `value`, the value of [`KEY`] in the footer. `None` if `creator` is another
    /// program, because the checksums then mean nothing.
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

    /// Makes sure that the file has a row group for every checksum of the footer.
    pub fn end(&self) -> Result<(), String> {
        match self.expected.as_slice() {
            [] => Ok(()),
            missing => Err(format!("{} row groups are missing", missing.len())),
        }
    }
}
