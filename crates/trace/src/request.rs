//! A host request.

use destage_base::Ticks;

/// Bytes in a sector, the unit of all addresses in a trace.
pub const SECTOR_BYTES: u64 = 512;

/// The largest end of a request, in sectors. All byte addresses below it fit in 64 bits.
pub const SECTORS_MAX: u64 = u64::MAX / SECTOR_BYTES;

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Data moves to the host.
    Read = 0,
    /// Data moves from the host.
    Write = 1,
    /// All acknowledged writes must become durable. A flush has no address.
    Flush = 2,
    /// The range is no longer needed.
    Trim = 3,
}

impl Operation {
    /// All operations. The index of an operation is its number in files.
    pub(crate) const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Flush, Self::Trim];

    /// The index of the operation in [`Operation::ALL`].
    pub(crate) const fn number(self) -> u64 {
        self as u64
    }

    /// The name of the operation in results and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Trim => "trim",
        }
    }
}

/// One host request.
///
/// A request has 32 bytes, so that two requests fit in a cache line and a trace in memory stays small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The arrival in ticks of 0.1 ns.
    pub arrival: Ticks,
    /// The first sector; a sector has 512 bytes.
    pub sector: u64,
    /// The number of sectors; 0 only for [`Operation::Flush`].
    pub sectors: u32,
    /// The number of the volume. Some traces call a volume device, disk or storage unit.
    pub volume: u32,
    /// The line of the trace, counted from 1, for error messages. A line number that does not fit in 32 bits is
    /// stored as the largest number that does.
    pub line: u32,
    /// The operation.
    pub operation: Operation,
    /// Whether this write must be durable before it is acknowledged (force unit access).
    pub fua: bool,
    /// The stream or placement handle that the host gives; data of one stream tend to be trimmed together. 0
    /// means none.
    pub stream: u16,
}

impl Request {
    /// A flush of volume 0 on line 1 that arrives at 0. Other requests are built from it.
    pub const BLANK: Self = Self {
        arrival: 0,
        sector: 0,
        sectors: 0,
        volume: 0,
        line: 1,
        operation: Operation::Flush,
        fua: false,
        stream: 0,
    };

    /// The sector after the last one that the request touches.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.sector + self.sectors as u64
    }

    /// A flush of the same volume with the same arrival.
    pub(crate) const fn flush_of_volume(&self) -> Self {
        Self {
            arrival: self.arrival,
            volume: self.volume,
            line: self.line,
            ..Self::BLANK
        }
    }
}

const _: () = assert!(size_of::<Request>() == 32);

/// The first sector and the number of sectors that `bytes` bytes from byte `offset` on touch, fully or in part.
/// `None` if the range does not fit in a request.
#[inline]
pub(crate) fn sectors_touched(offset: u64, bytes: u64) -> Option<(u64, u32)> {
    let first = offset / SECTOR_BYTES;
    if bytes == 0 {
        return Some((first, 0));
    }
    let last = offset.checked_add(bytes - 1)? / SECTOR_BYTES;
    Some((first, u32::try_from(last - first + 1).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_range_covers_every_sector_it_touches() {
        assert_eq!(sectors_touched(0, 512), Some((0, 1)));
        assert_eq!(sectors_touched(511, 2), Some((0, 2)));
        assert_eq!(sectors_touched(1024, 1), Some((2, 1)));
        assert_eq!(sectors_touched(700, 0), Some((1, 0)));
        assert_eq!(sectors_touched(u64::MAX, 1), Some((SECTORS_MAX, 1)));
        assert_eq!(sectors_touched(u64::MAX, 2), None);
        assert_eq!(sectors_touched(0, 1 << 42), None);
    }
}
