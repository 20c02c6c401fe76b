//! Identifies a file by its uncompressed bytes, whatever its name and its compression.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::compression::plain;
use crate::error::TraceError;

/// Bytes that are hashed at once.
const PIECE: usize = 256 << 10;

/// SHA-256 of the uncompressed bytes of the file at `path`, in hexadecimal. The result equals
/// [`crate::Reader::digest`] after the trace was read to its end, but the format of the file need not be known.
///
/// # Errors
/// If the file cannot be read or its compressed form is damaged.
pub fn digest(path: &Path) -> Result<String, TraceError> {
    let failed = |cause| TraceError::Open {
        file: path.display().to_string(),
        cause,
    };
    let file = File::open(path).map_err(failed)?;
    let (mut source, _) = plain(file, Default::default()).map_err(failed)?;
    let (mut piece, mut digest) = (vec![0; PIECE], Sha256::new());
    let mut offset = 0;
    loop {
        let read = source.read(&mut piece).map_err(|cause| TraceError::Read {
            file: path.display().to_string(),
            offset,
            cause,
        });
        match read? {
            0 => break,
            length => {
                digest.update(&piece[..length]);
                offset += length as u64;
            }
        }
    }
    Ok(hexadecimal(&digest.finalize()))
}

/// `bytes` in hexadecimal, two digits for each byte.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
