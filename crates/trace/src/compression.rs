//! Reads the uncompressed bytes of a file that may be compressed.
//!
//! The compression is recognised by the first bytes of the file, not by its name. Parallel compressors and
//! concatenation make files of several compressed members; all members are read. If the file ends within a
//! member, the decoder returns an error. This module passes the error on, and never treats it as the end of the
//! file.

use flate2::bufread::GzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A source of bytes that can be sent to another thread.
pub(crate) type Source = Box<dyn Read + Send>;

/// The file extension that names a compression, for error messages; `None` for a file that is not compressed.
pub(crate) type Compression = Option<&'static str>;

/// Size of the buffer for compressed bytes.
const READ_BYTES: usize = 128 << 10;

/// Counts the bytes read, so that progress can be shown in bytes of the file.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.count.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// The uncompressed bytes of `file`, and its compression. `count` grows by the number of bytes read from
/// `file`.
pub(crate) fn plain(
    file: impl Read + Send + 'static,
    count: Arc<AtomicU64>,
) -> io::Result<(Source, Compression)> {
    let mut file = Counted { inner: file, count };
    let mut head = Vec::new();
    file.by_ref().take(10).read_to_end(&mut head)?;
    let compression = recognise(&head);
    let whole: Chain<_, _> = Cursor::new(head).chain(file);
    let Some(name) = compression else {
        return Ok((Box::new(whole), None));
    };
    let whole = BufReader::with_capacity(READ_BYTES, whole);
    let source: Source = match name {
        "zst" => Box::new(zstd::stream::read::Decoder::with_buffer(whole)?),
        "gz" => Box::new(Members::new(whole)),
        "bz2" => Box::new(bzip2::bufread::MultiBzDecoder::new(whole)),
        _ => Box::new(Xz::new(whole)?),
    };
    Ok((source, compression))
}

/// Reads the members of a gzip file one after the other. Tapes and some file systems add zero bytes after the
/// last member. They are skipped, as by `gzip`.
struct Members<R> {
    /// The member that is being read; `None` at the end of the file.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    fn new(file: R) -> Self {
        Self {
            member: Some(GzDecoder::new(file)),
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let length = member.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            let Some(mut file) = self.member.take().map(GzDecoder::into_inner) else {
                break;
            };
            let mut padded = false;
            loop {
                let ahead = file.fill_buf()?;
                let zeros = ahead.iter().take_while(|byte| **byte == 0).count();
                padded |= zeros > 0;
                match ahead.get(zeros) {
                    Some(_) if padded => {
                        return Err(io::Error::other(
                            "more data after the zero bytes that follow a gzip stream",
                        ));
                    }
                    Some(_) => {
                        self.member = Some(GzDecoder::new(file));
                        break;
                    }
                    None if zeros == 0 => return Ok(0),
                    None => file.consume(zeros),
                }
            }
        }
        Ok(0)
    }
}

/// The most memory, in bytes, that the decoder of an xz stream may use. This limit is enough for a dictionary
/// of 128 MiB and the decoder's other memory. 128 MiB is twice the dictionary of `xz -9`, and also the largest
/// window that the zstd decoder accepts. Without a limit, a few bytes of a header could make the xz decoder
/// allocate 4 GiB.
const XZ_BYTES_MAX: u64 = 136 << 20;

/// Reads the streams of an xz file one after the other.
struct Xz<R>(XzDecoder<R>);

impl<R: BufRead> Xz<R> {
    fn new(file: R) -> io::Result<Self> {
        let stream = Stream::new_stream_decoder(XZ_BYTES_MAX, CONCATENATED)?;
        Ok(Self(XzDecoder::new_stream(file, stream)))
    }
}

impl<R: BufRead> Read for Xz<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
            match cause {
                Some(liblzma::stream::Error::MemLimit) => io::Error::other(
                    "its dictionary is larger than 128 MiB, which no preset of xz makes",
                ),
                _ => error,
            }
        })
    }
}

fn recognise(head: &[u8]) -> Compression {
    // A line of text could begin with "BZh" and a digit, so a file counts as bzip2 only if the mark of a block
    // or of the end of the stream follows.
    const BZ_BLOCK: &[u8] = &[0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
    const BZ_END: &[u8] = &[0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
    match head {
        [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some("zst"),
        [0x1F, 0x8B, ..] => Some("gz"),
        [b'B', b'Z', b'h', b'1'..=b'9', mark @ ..] if mark == BZ_BLOCK || mark == BZ_END => {
            Some("bz2")
        }
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some("xz"),
        _ => None,
    }
}

/// The file name without the extension of a compression, if it has one.
pub(crate) fn strip_suffix(name: &str) -> &str {
    [".zst", ".gz", ".bz2", ".xz"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(name)
}
