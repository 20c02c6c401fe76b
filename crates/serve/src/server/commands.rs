//! The conversion of clients' commands to requests for the device.

use destage_device::RequestKind;
use destage_sim::run::live::{Ask, Holds};

use super::core::Owner;
use super::requests::InFlight;
use crate::device::Front;
use crate::protocol::{Command, CommandKind, Extent};

/// The number of bytes of a sector.
pub(super) const SECTOR: u64 = 512;
/// The largest number of sectors of one request. A longer trim or write-zeroes is submitted in parts.
pub(super) const PART_SECTORS: u64 = 1 << 16;
/// The largest number of pages that one block status examines, and the largest number of extents that the reply
/// contains.
const STATUS_PAGES: usize = 1 << 16;
const STATUS_EXTENTS: usize = 1 << 10;

/// Converts `command` to a request for the device. Returns the record of the request in flight, and the request, or
/// its first part if the range is too long for one request.
pub(super) fn asked<'i>(command: &Command<'i>, owner: Owner) -> (InFlight, Ask<'i>) {
    let kind = match command.kind {
        CommandKind::Write => RequestKind::Write,
        CommandKind::WriteZeroes => RequestKind::WriteZeroes,
        CommandKind::Trim => RequestKind::Trim,
        CommandKind::Flush => RequestKind::Flush,
        CommandKind::Read
        | CommandKind::Cache
        | CommandKind::BlockStatus
        | CommandKind::Disconnect => RequestKind::Read,
    };
    let sector = command.offset / SECTOR;
    let end = sector + u64::from(command.length) / SECTOR;
    let first = (end - sector).min(PART_SECTORS);
    let fua = command.fua && !matches!(kind, RequestKind::Read | RequestKind::Flush);
    let request = InFlight {
        owner,
        kind,
        fua,
        bytes: command.data.len(),
        next: sector + first,
        end,
    };
    let ask = Ask {
        kind,
        sector,
        sectors: first as u32,
        fua,
        data: command.data,
        tag: 0,
    };
    (request, ask)
}

/// The states of the range of `command`, from the start of the range. The extents may cover only the beginning of the
/// range.
pub(super) fn extents(front: &Front<'_>, command: &Command<'_>) -> Vec<Extent> {
    let mut at = command.offset / SECTOR;
    let end = at + u64::from(command.length) / SECTOR;
    let mut all: Vec<Extent> = Vec::new();
    for _ in 0..STATUS_PAGES {
        let (holds, next) = front.holds(at);
        let next = next.min(end);
        let extent = Extent {
            bytes: ((next - at) * SECTOR) as u32,
            is_hole: holds == Holds::Nothing,
            is_zero: holds != Holds::Data,
        };
        let is_full = all.len() == STATUS_EXTENTS || (command.one_extent && !all.is_empty());
        match all.last_mut() {
            Some(last) if (last.is_hole, last.is_zero) == (extent.is_hole, extent.is_zero) => {
                last.bytes += extent.bytes;
            }
            _ if is_full => break,
            _ => all.push(extent),
        }
        at = next;
        if at == end {
            break;
        }
    }
    all
}
