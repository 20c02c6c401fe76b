//! What is kept of a trace: for each of its phases, how often which kind of request occurs, and how its writes spread
//! over the blocks of the working set. Blocks are numbered in the order of their first write; nothing is kept of any
//! one request or address.

use std::collections::BTreeMap;

use destage_base::time::TICKS_PER_MS;

/// Kinds of requests: where they go, by what came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A write of at most 2 pages, which the map of its phase places.
    Write,
    /// One of at most 16.
    Write16,
    /// One of at most 64.
    Write64,
    /// A larger one.
    WriteMore,
    /// Goes on behind a read, as large as that one.
    ReadOnSame,
    /// The same, of another size.
    ReadOn,
    /// Reads what a write wrote, from its start.
    ReadWritten,
    /// Reads a page that was written.
    ReadNearWritten,
    /// Reads what a read read, from end to end.
    ReadAgain,
    /// The same from its start, of another size.
    ReadAgainResized,
    /// Reads in a block that was read.
    ReadNear,
    /// Reads in a block that was not, near one that was.
    ReadBeside,
    /// Reads anywhere else.
    ReadFresh,
}

impl Kind {
    pub(super) const ALL: [Self; 13] = [
        Self::Write,
        Self::Write16,
        Self::Write64,
        Self::WriteMore,
        Self::ReadOnSame,
        Self::ReadOn,
        Self::ReadWritten,
        Self::ReadNearWritten,
        Self::ReadAgain,
        Self::ReadAgainResized,
        Self::ReadNear,
        Self::ReadBeside,
        Self::ReadFresh,
    ];

    pub(super) fn writes(self) -> bool {
        (self as usize) < WRITES
    }

    /// Whether it goes by what was written.
    pub(super) const fn reads_written(self) -> bool {
        matches!(self, Self::ReadWritten | Self::ReadNearWritten)
    }

    /// Whether it begins where an earlier request ended.
    pub(super) const fn goes_on(self) -> bool {
        matches!(self, Self::ReadOnSame | Self::ReadOn)
    }

    /// Whether it is as large as the earlier request that it goes by.
    pub(super) const fn keeps_size(self) -> bool {
        matches!(self, Self::ReadOnSame | Self::ReadAgain)
    }

    /// Whether it goes by one earlier request, not by a block.
    pub(super) const fn by_item(self) -> bool {
        let again = matches!(
            self,
            Self::ReadAgain | Self::ReadAgainResized | Self::ReadWritten
        );
        again || self.goes_on()
    }

    /// That of a write of so many sectors.
    pub(super) const fn of_write(sectors: u32) -> Self {
        match sectors {
            0..=16 => Self::Write,
            17..=128 => Self::Write16,
            129..=512 => Self::Write64,
            _ => Self::WriteMore,
        }
    }
}
/// Kinds of writes, which come first.
pub(super) const WRITES: usize = 4;
pub(super) const KINDS: usize = Kind::ALL.len();
/// Classes of gaps: none, and five of rising length.
pub(super) const GAP_CLASSES: usize = 6;
/// What the next request depends on: groups of kinds, each with four classes of gaps.
pub(super) const CONTEXTS: usize = 32;

/// The context that a request leaves.
pub(super) fn context_of(kind: Kind, gap: usize) -> usize {
    let group = match kind {
        Kind::Write | Kind::Write16 => 0,
        Kind::Write64 => 1,
        Kind::WriteMore => 2,
        Kind::ReadOnSame | Kind::ReadOn => 4,
        Kind::ReadWritten | Kind::ReadNearWritten => 5,
        Kind::ReadAgain | Kind::ReadAgainResized | Kind::ReadNear => 6,
        Kind::ReadBeside | Kind::ReadFresh => 7,
    };
    group * 4 + [0, 1, 2, 2, 3, 3][gap]
}

/// Parts of the address space that are told apart.
pub(super) const REGIONS: usize = 64;
/// Bins of what a card says beside depth and label.
pub(super) const PICKS: u32 = 32;

/// How many requests had each value.
pub(super) type Tally = BTreeMap<u32, u32>;

/// Writes of a phase to some successive blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Segment {
    /// The first block, in the order in which blocks were first written.
    pub(super) block: u32,
    pub(super) blocks: u32,
    /// New pages; and writes.
    pub(super) new: u32,
    pub(super) writes: u32,
    /// Mean size of a write: twice the logarithm to base 2 of sectors.
    pub(super) size: u32,
    /// Writes that went on where the last one in their block ended.
    pub(super) on: u32,
    /// Writes that began where an earlier one did.
    pub(super) again: u32,
    /// When, in 64ths of the phase's writes.
    pub(super) from: u32,
    pub(super) until: u32,
}
/// Parts of a phase that a segment's time is told in.
pub(super) const SLICES: u32 = 64;

/// Pages of successive numbers lie on so many dies.
pub(super) const DIES: u64 = 8;
/// Forms of each size.
pub(super) const FORMS: u32 = 256;

/// How a read lies in its block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Form {
    /// Sectors behind the start of a page.
    pub(super) align: u64,
    /// Its page modulo [`DIES`].
    pub(super) die: u64,
    /// Whether it lies whole lengths of its own from the last one in the block it goes by.
    pub(super) is_on_grid: bool,
    pub(super) is_first_page: bool,
}

impl Form {
    /// That of a card, whose higher part is a size.
    pub(super) fn of(card: u32) -> Self {
        Self {
            align: u64::from(card / 32 % 8),
            die: u64::from(card / 4 % 8),
            is_on_grid: card & 2 == 2,
            is_first_page: card & 1 == 1,
        }
    }

    /// The card, below [`FORMS`].
    pub(super) fn card(self) -> u32 {
        (self.align * 8 + self.die) as u32 * 4
            + 2 * u32::from(self.is_on_grid)
            + u32::from(self.is_first_page)
    }
}

/// Statistics of successive requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase {
    /// By context: kind and class of gap of what came next.
    pub(super) steps: Vec<Tally>,
    /// By kind: what reads went by, how long before it was used, and its label.
    pub(super) depths: [Tally; KINDS],
    /// By kind: size and [`Form`] of reads.
    pub(super) forms: [Tally; KINDS],
    /// Regions of reads of new ground.
    pub(super) regions: Tally,
    /// Sizes of writes, as indices.
    pub(super) sizes: Tally,
    /// How many requests began in the block since the one that began there.
    pub(super) agains: Tally,
    /// How many of the block's pages were written since the one a write begins in.
    pub(super) olds: Tally,
    /// How its writes spread over blocks.
    pub(super) map: Vec<Segment>,
}

/// A trace's statistics, from which requests like its own are drawn.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    pub(super) requests: u64,
    pub(super) footprint_sectors: u64,
    /// Requests of a phase; the last may have fewer.
    pub(super) phase_requests: u64,
    /// Sizes in sectors; tallies have their indices.
    pub(super) sizes: Vec<u32>,
    /// Gaps of each class in ticks, all alike.
    pub(super) gaps: [Vec<u64>; GAP_CLASSES],
    /// Requests of a stretch.
    pub(super) pace_requests: u64,
    /// How long each stretch took, in ticks.
    pub(super) pace: Vec<u64>,
    pub(super) phases: Vec<Phase>,
    /// How many blocks before it the block lies that is its neighbour; 0 for none.
    pub(super) layout: Vec<u32>,
    /// Sectors behind the start of a block that its first write began at, if any.
    pub(super) places: Tally,
    /// Regions of blocks that lie behind no other.
    pub(super) first_places: Tally,
}

/// Values in bins: each below 8 by itself, then four bins an octave.
pub(super) fn bin(value: usize) -> u32 {
    if value < 8 {
        return value as u32;
    }
    let octave = value.ilog2();
    8 + 4 * (octave - 3) + (value >> (octave - 2) & 3) as u32
}

/// The first value of a bin, and the first of the next.
pub(super) const fn bin_range(bin: u32) -> (u64, u64) {
    if bin < 8 {
        return (bin as u64, bin as u64 + 1);
    }
    let (octave, quarter) = ((bin - 8) / 4 + 3, ((bin - 8) % 4) as u64);
    let step = 1u64 << (octave - 2);
    ((4 + quarter) * step, (5 + quarter) * step)
}

impl Profile {
    /// The phase of a request of the trace.
    pub(super) fn phase(&self, request: u64) -> &Phase {
        &self.phases[(request / self.phase_requests) as usize]
    }

    /// How many requests the trace had; after so many, its phases begin again at other addresses.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.requests
    }

    /// The sector after the last one that the trace touched.
    #[must_use]
    pub const fn footprint_sectors(&self) -> u64 {
        self.footprint_sectors
    }

    /// Writes in a hundred requests.
    #[must_use]
    pub fn write_percent(&self) -> f64 {
        let steps = self.phases.iter().flat_map(|phase| &phase.steps);
        let writes = steps.flat_map(|tally| tally.range(..(WRITES * GAP_CLASSES) as u32));
        let writes: u64 = writes.map(|(_, count)| u64::from(*count)).sum();
        writes as f64 * 100.0 / self.requests as f64
    }

    /// Mean gap between arrivals, in milliseconds.
    #[must_use]
    pub fn mean_interarrival_ms(&self) -> f64 {
        let span: u128 = self.pace.iter().map(|ticks| u128::from(*ticks)).sum();
        span as f64 / TICKS_PER_MS as f64 / self.requests as f64
    }
}
