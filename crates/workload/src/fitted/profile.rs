//! What is kept of a trace: how often which kind of request occurs in each of its phases, and nothing of any one request.

use std::collections::BTreeMap;

/// Kinds of requests: where they go, by what came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Goes on behind a write, to a page never written; as large as that one.
    OnNewSame,
    /// The same, of another size.
    OnNew,
    /// Goes on behind a write, to a page that was written; as large as that one.
    OnOldSame,
    /// The same, of another size.
    OnOld,
    /// Writes what a write wrote, from end to end.
    Again,
    /// The same from its start, of another size.
    AgainResized,
    /// A page never written, in a block that was.
    NearNew,
    /// A page that was written, though no write that is remembered began there.
    NearOld,
    /// A block never written, near one that was.
    Beside,
    /// Any other.
    Fresh,
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
    pub(super) const ALL: [Self; 19] = [
        Self::OnNewSame, Self::OnNew, Self::OnOldSame, Self::OnOld, Self::Again, Self::AgainResized,
        Self::NearNew, Self::NearOld, Self::Beside, Self::Fresh, Self::ReadOnSame, Self::ReadOn, Self::ReadWritten,
        Self::ReadNearWritten, Self::ReadAgain, Self::ReadAgainResized, Self::ReadNear, Self::ReadBeside, Self::ReadFresh,
    ];
    pub(super) fn writes(self) -> bool {
        (self as usize) < Self::ReadOnSame as usize
    }
}
pub(super) const KINDS: usize = Kind::ALL.len();
pub(super) const GAP_CLASSES: usize = 6;
pub(super) const CONTEXTS: usize = 32;
pub(super) fn context_of(kind: Kind, gap: usize) -> usize {
    let group = match kind {
        Kind::OnNewSame | Kind::OnNew => 0,
        Kind::OnOldSame | Kind::OnOld => 1,
        Kind::Again | Kind::AgainResized | Kind::NearNew | Kind::NearOld => 2,
        Kind::Beside | Kind::Fresh => 3,
        Kind::ReadOnSame | Kind::ReadOn => 4,
        Kind::ReadWritten | Kind::ReadNearWritten => 5,
        Kind::ReadAgain | Kind::ReadAgainResized | Kind::ReadNear => 6,
        Kind::ReadBeside | Kind::ReadFresh => 7,
    };
    group * 4 + [0, 1, 2, 2, 3, 3][gap]
}
pub(super) const REGIONS: usize = 64;

pub(super) type Tally = BTreeMap<u32, u32>;

#[derive(Clone, Debug, Default)]
pub(super) struct Phase {
    pub(super) steps: Vec<Tally>,
    pub(super) depths: [Tally; KINDS],
    pub(super) forms: [Tally; KINDS],
    pub(super) regions: [Tally; 2],
}

impl Profile { pub fn len(&self) -> usize { self.requests as usize } }
#[derive(Clone, Debug, Default)]
pub struct Profile {
    pub(super) requests: u64,
    pub(super) footprint_sectors: u64,
    pub(super) phase_requests: u64,
    pub(super) sizes: Vec<u32>,
    pub(super) gaps: [Vec<u64>; GAP_CLASSES],
    pub(super) pace_requests: u64,
    pub(super) pace: Vec<u64>,
    pub(super) phases: Vec<Phase>,
}

pub(super) fn bin(value: usize) -> u32 {
    if value < 8 {
        return value as u32;
    }
    let octave = value.ilog2();
    8 + 4 * (octave - 3) + (value >> (octave - 2) & 3) as u32
}

pub(super) fn bin_range(bin: u32) -> (u64, u64) {
    if bin < 8 {
        return (u64::from(bin), u64::from(bin) + 1);
    }
    let (octave, quarter) = ((bin - 8) / 4 + 3, u64::from((bin - 8) % 4));
    let step = 1u64 << (octave - 2);
    ((4 + quarter) * step, (5 + quarter) * step)
}
