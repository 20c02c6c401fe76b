//! A log of the clients' writes, in the format of the kernel's dm-log-writes. The program `replay-log` of xfstests
//! applies such a log to a file or disk, up to any entry.
//!
//! ```text
//! sector 0: magic, version, number of entries (64 bits each), bytes of a sector (32 bits)
//! for each entry: sector, sectors, flags, bytes of a mark (64 bits each), padded to a sector;
//!                 a write is followed by its data
//! ```
//!
//! All numbers are little-endian. Entries are in the order in which the device received the requests. The log up to
//! a flush therefore contains every write that this flush covers.

use std::io::{self, Read, Seek, SeekFrom, Write};

use destage_device::RequestKind;
use destage_sim::run::live::Ask;

/// The magic number at the start of every log.
const MAGIC: u64 = 0x006a_7366_7773_6872;
const VERSION: u64 = 1;
const SECTOR: usize = 512;
/// The largest number of sectors in an entry of zeros. The number is limited because a program that replays the log
/// holds the data of one entry in memory.
const ZEROES_SECTORS: u64 = 1 << 15;

/// The flags of an entry.
const FLUSH: u64 = 1;
const FUA: u64 = 1 << 1;
const DISCARD: u64 = 1 << 2;

/// A log that is being written.
pub struct WriteLog<W> {
    out: W,
    entries: u64,
}

impl<W: Write + Seek> WriteLog<W> {
    /// Starts an empty log at the beginning of `out`.
    ///
    /// # Errors
    /// If the header cannot be written, or the position in `out` cannot be set.
    pub fn new(out: W) -> io::Result<Self> {
        let mut log = Self { out, entries: 0 };
        log.head()?;
        Ok(log)
    }

    fn head(&mut self) -> io::Result<()> {
        self.out.seek(SeekFrom::Start(0))?;
        let mut head = [0; SECTOR];
        head[..8].copy_from_slice(&MAGIC.to_le_bytes());
        head[8..16].copy_from_slice(&VERSION.to_le_bytes());
        head[16..24].copy_from_slice(&self.entries.to_le_bytes());
        head[24..28].copy_from_slice(&(SECTOR as u32).to_le_bytes());
        self.out.write_all(&head)
    }

    /// Appends the request `ask` of a client. A read adds no entry.
    ///
    /// # Errors
    /// If the entry cannot be written.
    pub fn take(&mut self, ask: &Ask<'_>) -> io::Result<()> {
        let flags = if ask.fua { FUA } else { 0 };
        let sectors = u64::from(ask.sectors);
        match ask.kind {
            RequestKind::Read => Ok(()),
            RequestKind::Flush => self.entry(0, 0, FLUSH),
            RequestKind::Trim => self.entry(ask.sector, sectors, flags | DISCARD),
            RequestKind::Write => {
                self.entry(ask.sector, sectors, flags)?;
                self.out.write_all(ask.data)
            }
            RequestKind::WriteZeroes => {
                let (mut sector, end) = (ask.sector, ask.sector + sectors);
                while sector < end {
                    let part = (end - sector).min(ZEROES_SECTORS);
                    self.entry(sector, part, flags)?;
                    let mut zeros = io::repeat(0).take(part * SECTOR as u64);
                    io::copy(&mut zeros, &mut self.out)?;
                    sector += part;
                }
                Ok(())
            }
        }
    }

    fn entry(&mut self, sector: u64, sectors: u64, flags: u64) -> io::Result<()> {
        let mut entry = [0; SECTOR];
        for (field, value) in entry.chunks_mut(8).zip([sector, sectors, flags]) {
            field.copy_from_slice(&value.to_le_bytes());
        }
        self.entries += 1;
        self.out.write_all(&entry)
    }

    /// Writes the number of entries into the header, and flushes `out`.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.head()?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn ask(kind: RequestKind, sector: u64, sectors: u32, data: &[u8], fua: bool) -> Ask<'_> {
        Ask {
            kind,
            sector,
            sectors,
            fua,
            data,
            tag: 0,
        }
    }

    /// The entries of a log: sector, sectors, flags, and the first byte of the data. The decoding follows the
    /// description of the format, and does not use the constants of the writer.
    fn entries(log: &[u8]) -> Vec<(u64, u64, u64, Option<u8>)> {
        let word = |at: usize| u64::from_le_bytes(log[at..at + 8].try_into().unwrap());
        assert_eq!(&log[..7], b"rhswfsj");
        assert_eq!((word(0), word(8)), (0x006a_7366_7773_6872, 1));
        assert_eq!(&log[24..28], [0, 2, 0, 0]);
        let mut at = 512;
        let mut found = Vec::new();
        for _ in 0..word(16) {
            let (sector, sectors, flags) = (word(at), word(at + 8), word(at + 16));
            assert!(log[at + 24..at + 512].iter().all(|byte| *byte == 0));
            at += 512;
            let bytes = if flags & 5 == 0 {
                sectors as usize * 512
            } else {
                0
            };
            let data = &log[at..at + bytes];
            assert!(data.iter().all(|byte| *byte == data[0]));
            found.push((sector, sectors, flags, data.first().copied()));
            at += bytes;
        }
        assert_eq!(at, log.len());
        found
    }

    #[test]
    fn everything_but_reads_is_there_in_its_order() {
        let mut bytes = Cursor::new(Vec::new());
        let mut log = WriteLog::new(&mut bytes).unwrap();
        for ask in [
            ask(RequestKind::Write, 8, 2, &[7; 1024], false),
            ask(RequestKind::Read, 8, 2, &[], false),
            ask(RequestKind::Flush, 0, 0, &[], false),
            ask(RequestKind::Write, 0, 1, &[9; 512], true),
            ask(RequestKind::Trim, 16, 1 << 20, &[], false),
            ask(RequestKind::WriteZeroes, 4, (1 << 15) + 3, &[], true),
        ] {
            log.take(&ask).unwrap();
        }
        log.finish().unwrap();
        assert_eq!(
            entries(bytes.get_ref()),
            [
                (8, 2, 0, Some(7)),
                (0, 0, 1, None),
                (0, 1, 2, Some(9)),
                (16, 1 << 20, 4, None),
                (4, 1 << 15, 2, Some(0)),
                (4 + (1 << 15), 3, 2, Some(0)),
            ]
        );
    }
}
