//! A file that refuses to read a page beyond its end, even if the footer of the file has such a page.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::path::Path;

/// An open file, and its length in bytes when it was opened.
pub(super) struct Bounded {
    file: File,
    bytes: u64,
}

impl Bounded {
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { file, bytes })
    }
}

impl Length for Bounded {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Bounded {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        // All clones of the file share one position. Each reader reads directly after it has moved the
        // position, so the readers do not disturb each other.
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::with_capacity(512, file))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start
            .checked_add(length as u64)
            .is_none_or(|end| end > self.bytes)
        {
            let text = format!("a page of {length} bytes at {start} ends beyond the file");
            return Err(ParquetError::EOF(text));
        }
        self.file.get_bytes(start, length)
    }
}
