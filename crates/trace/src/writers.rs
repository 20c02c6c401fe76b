//! Writes requests to files: the registry of output formats, and their writers.

pub mod compact;
pub mod csv;
pub mod disksim;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod partition;

use crate::request::Request;
use compact::CompactWriter;
use flate2::write::GzEncoder;
#[cfg(feature = "parquet")]
use parquet::ParquetWriter;
use std::io::{self, BufWriter, Write};

/// A format in which traces can be written.
pub struct OutputForm {
    /// The name; the input format that reads the file has the same name.
    pub name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    DiskSim,
    Csv,
    Compact,
    #[cfg(feature = "parquet")]
    Parquet,
}

impl OutputForm {
    /// Whether the format stores flushes, trims, FUA and streams as well as reads and writes.
    #[must_use]
    pub fn stores_all(&self) -> bool {
        self.kind != Kind::DiskSim
    }
}

/// All output formats.
pub static OUTPUTS: &[OutputForm] = &[
    OutputForm {
        name: "compact",
        kind: Kind::Compact,
    },
    OutputForm {
        name: "csv",
        kind: Kind::Csv,
    },
    OutputForm {
        name: "disksim",
        kind: Kind::DiskSim,
    },
    #[cfg(feature = "parquet")]
    OutputForm {
        name: "parquet",
        kind: Kind::Parquet,
    },
];

/// The output format called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static OutputForm> {
    OUTPUTS.iter().find(|form| form.name == name)
}

/// The output format that belongs to the extension of the file name `name`; the extension of a compression is
/// ignored.
///
/// ```
/// use destage_trace::writers;
/// assert_eq!(writers::of_file("a.csv.gz").map(|form| form.name), Some("csv"));
/// assert!(writers::of_file("a.txt").is_none());
/// ```
#[must_use]
pub fn of_file(name: &str) -> Option<&'static OutputForm> {
    let (_, ending) = crate::compression::strip_suffix(name).rsplit_once('.')?;
    let format = crate::format::find(ending)?;
    find(format.name)
}

/// How the bytes of a file are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not compressed.
    Plain,
    /// One zstd frame with a checksum.
    Zstd,
    /// As gzip.
    Gzip,
}

impl Packing {
    /// The compression that belongs to the extension of the file name `name`. `None` for a compression that can
    /// be read but not written.
    #[must_use]
    pub fn of_file(name: &str) -> Option<Self> {
        match name.rsplit_once('.') {
            Some((_, "zst")) => Some(Self::Zstd),
            Some((_, "gz")) => Some(Self::Gzip),
            Some((_, "bz2" | "xz")) => None,
            _ => Some(Self::Plain),
        }
    }
}

/// Writes a trace.
pub struct TraceWriter<'a>(Lines<'a>);

enum Lines<'a> {
    DiskSim(Packed<'a>),
    Csv(Packed<'a>),
    Compact(CompactWriter<Packed<'a>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter<&'a mut (dyn Write + Send)>>),
}

enum Packed<'a> {
    Plain(BufWriter<&'a mut (dyn Write + Send)>),
    // Both encoders get their input through a buffer, in large pieces.
    Zstd(Box<BufWriter<zstd::Encoder<'static, &'a mut (dyn Write + Send)>>>),
    Gzip(Box<BufWriter<GzEncoder<&'a mut (dyn Write + Send)>>>),
}

/// The highest level at which zstd is still faster than the formatting of text.
const ZSTD_LEVEL: i32 = 3;

impl<'a> TraceWriter<'a> {
    /// Begins a trace in `form`. The compact format is always compressed with zstd, also with [`Packing::Plain`].
    ///
    /// # Errors
    /// If `out` fails, or (as [`io::ErrorKind::Unsupported`]) if the format compresses its own content and
    /// `packing` would compress it again.
    pub fn new(
        form: &OutputForm,
        packing: Packing,
        out: &'a mut (dyn Write + Send),
    ) -> io::Result<Self> {
        Ok(Self(match form.kind {
            Kind::Compact if packing == Packing::Gzip => {
                let text = "compact traces are always compressed with zstd; expected a name that ends in .compact or .compact.zst";
                return Err(io::Error::new(io::ErrorKind::Unsupported, text));
            }
            Kind::Compact => Lines::Compact(CompactWriter::new(Packed::new(Packing::Zstd, out)?)?),
            Kind::DiskSim => Lines::DiskSim(Packed::new(packing, out)?),
            Kind::Csv => {
                let mut packed = Packed::new(packing, out)?;
                writeln!(packed, "{}", csv::HEADER)?;
                Lines::Csv(packed)
            }
            #[cfg(feature = "parquet")]
            Kind::Parquet if packing == Packing::Plain => {
                Lines::Parquet(Box::new(ParquetWriter::new(out)?))
            }
            #[cfg(feature = "parquet")]
            Kind::Parquet => {
                let text = "Parquet files are compressed inside, and a compressed file of them could not be read; expected a name that ends in .parquet";
                return Err(io::Error::new(io::ErrorKind::Unsupported, text));
            }
        }))
    }

    /// Adds one request.
    ///
    /// # Errors
    /// If the output fails, or (as [`io::ErrorKind::Unsupported`]) if the format cannot store the request.
    pub fn write(&mut self, request: &Request) -> io::Result<()> {
        match &mut self.0 {
            Lines::DiskSim(out) => disksim::write(out, request),
            Lines::Csv(out) => csv::write(out, request),
            Lines::Compact(writer) => writer.write(request),
            #[cfg(feature = "parquet")]
            Lines::Parquet(writer) => writer.write(request),
        }
    }

    /// Ends the trace. Without this call the file may be incomplete and unreadable.
    ///
    /// # Errors
    /// If the output fails.
    pub fn finish(self) -> io::Result<()> {
        let packed = match self.0 {
            Lines::DiskSim(out) | Lines::Csv(out) => out,
            Lines::Compact(writer) => writer.finish()?,
            #[cfg(feature = "parquet")]
            Lines::Parquet(writer) => return writer.finish(),
        };
        match packed {
            Packed::Plain(mut out) => out.flush(),
            Packed::Zstd(out) => {
                let encoder = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                encoder.finish()?.flush()
            }
            Packed::Gzip(out) => {
                let encoder = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                encoder.finish()?.flush()
            }
        }
    }
}

impl<'a> Packed<'a> {
    fn new(packing: Packing, out: &'a mut (dyn Write + Send)) -> io::Result<Self> {
        Ok(match packing {
            Packing::Plain => Self::Plain(BufWriter::new(out)),
            Packing::Gzip => {
                let encoder = GzEncoder::new(out, flate2::Compression::default());
                Self::Gzip(Box::new(BufWriter::new(encoder)))
            }
            Packing::Zstd => {
                let mut encoder = zstd::Encoder::new(out, ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Self::Zstd(Box::new(BufWriter::new(encoder)))
            }
        })
    }
}

impl Write for Packed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Zstd(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Zstd(out) => out.flush(),
            Self::Gzip(out) => out.flush(),
        }
    }
}
