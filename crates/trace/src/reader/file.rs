//! The file of a trace, and the blocks of its bytes.

use crate::blocks::{BlockError, Blocks};
use crate::compression::{self, Compression};
use crate::error::TraceError;
use crate::report::block_error;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An open file, and the bytes that were read from it.
pub(super) struct TraceFile {
    /// The path as it was given; `-` is standard input.
    pub(super) name: String,
    pub(super) compression: Compression,
    /// All bytes of the file in order. For a table these bytes are used only to compute the digest.
    pub(super) blocks: Blocks,
    /// Whether the buffer holds no complete record.
    pub(super) starved: bool,
    bytes_read: Arc<AtomicU64>,
    /// Whether it is a regular file.
    is_file: bool,
}

impl TraceFile {
    /// Opens the file at `path`, or standard input if `path` is `-`. `digest` tells whether a digest of the bytes
    /// is computed.
    pub(super) fn open(path: &Path, digest: bool) -> Result<Self, TraceError> {
        let name = path.display().to_string();
        let bytes_read = Arc::new(AtomicU64::new(0));
        let mut is_file = false;
        let opened = if path.as_os_str() == "-" {
            compression::plain(std::io::stdin(), Arc::clone(&bytes_read))
        } else {
            let input = File::open(path).map_err(|cause| TraceError::Open {
                file: name.clone(),
                cause,
            })?;
            is_file = input.metadata().is_ok_and(|data| data.is_file());
            compression::plain(input, Arc::clone(&bytes_read))
        };
        let (source, compression) = opened.map_err(|cause| TraceError::Read {
            file: name.clone(),
            offset: 0,
            cause,
        })?;
        Ok(Self {
            name,
            compression,
            blocks: Blocks::new(source, digest),
            starved: false,
            bytes_read,
            is_file,
        })
    }

    /// The number of bytes read so far, before decompression.
    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// What the bytes come through, if only a file that is read at any position contains a table.
    pub(super) fn through(&self) -> Option<&'static str> {
        match self.compression {
            _ if self.name == "-" => Some("standard input"),
            Some(name) => Some(name),
            None => (!self.is_file).then_some("a pipe or device"),
        }
    }

    /// Whether more bytes are needed before the next line or record can be decoded.
    pub(super) fn needs_more(&self) -> bool {
        self.starved || self.blocks.lines().is_empty()
    }

    /// Reads more bytes. Returns `false` at the end of the file.
    pub(super) fn refill(&mut self) -> Result<bool, BlockError> {
        let more = self.blocks.refill()?;
        self.starved &= !more;
        Ok(more)
    }

    /// The error for a file that provides no further lines. `line` is the number that the next line would have
    /// had.
    #[cold]
    pub(super) fn error(&self, line: u64, error: BlockError) -> TraceError {
        block_error(&self.name, self.compression, line, &self.blocks, error)
    }
}
