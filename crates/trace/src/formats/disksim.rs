//! `disksim`: the ASCII format of the DiskSim simulator.

use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, WINDOW, decode, request};
use crate::digits::{DIGITS_SAFE, digit_before, digits, digits_before, two_single_digits};
use crate::error::Fault;
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::{Operation, Request};

pub(crate) const FORMAT: Format = Format {
    name: "disksim",
    extensions: &["disksim", "dis"],
    about: "DiskSim ASCII: times in ms with decimals; lowest bit of the flag set means read; # starts a comment.",
    columns: "5 columns: time in ms, device, first sector, sectors, flag",
    example: "5265.313 0 6357144 8 0",
    time_unit: TimeUnit::Milliseconds,
    as_table: Some("time,volume,sector,sectors,read"),
    ..Format::of(Encoding::Text(decode::<DiskSim>))
};

const TIME: Column = Column::new("time", "a decimal number such as 5265.313");
pub(super) const DEVICE: Column = Column::new("device", "a whole number below 2^32");
pub(super) const SECTOR: Column = Column::new("first sector", "a whole number of 512-byte sectors");
pub(super) const SECTORS: Column = Column::new("sector count", "a whole number below 2^32");
pub(super) const FLAG: Column = Column::new(
    "flag",
    "a whole number, odd for a read and even for a write",
);

struct DiskSim;

impl Layout for DiskSim {
    const COMMENTS: bool = true;
    const HAS_USUAL: bool = true;

    /// In a usual line the time has a decimal point, the device and the flag have one digit each, and exactly
    /// one blank is between two fields.
    #[inline(always)]
    fn usual(bytes: &[u8; WINDOW], state: &State) -> Option<(Request, usize)> {
        let (whole, point) = digits_before(b'.', bytes, 0)?;
        let (part, at) = digits_before(b' ', bytes, point)?;
        let ticks = match state.unit.ticks_per_digit[at - 1 - point] {
            0 => return None,
            ticks => part * ticks,
        };
        let arrival = whole.checked_mul(state.unit.ticks)?.checked_add(ticks)?;
        let (device, at) = digit_before(b' ', bytes, at)?;
        let (sector, length) = digits(bytes, at);
        if length.wrapping_sub(1) >= DIGITS_SAFE {
            return None;
        }
        let at = at + length;
        let (sectors, flag, at) = match two_single_digits(bytes, at) {
            Some((sectors, flag)) => (sectors, flag, at + 5),
            None if bytes.get(at) == Some(&b' ') => {
                let (sectors, at) = digits_before(b' ', bytes, at + 1)?;
                let (flag, at) = digit_before(b'\n', bytes, at)?;
                (sectors, flag, at)
            }
            None => return None,
        };
        let range = (sector, sectors as u32);
        let request = state.request(arrival, device as u32, range, operation(flag))?;
        Some((request, at))
    }

    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        cursor.skip_blanks();
        let arrival = state.time(cursor, &TIME)?;
        cursor.blanks(&TIME)?;
        rest_of_request(cursor, state, arrival)
    }
}

fn operation(flag: u64) -> Operation {
    match flag & 1 {
        1 => Operation::Read,
        _ => Operation::Write,
    }
}

/// Reads the four columns that `disksim` and `ssdsim` share.
#[inline(always)]
pub(super) fn rest_of_request(
    cursor: &mut Cursor<'_>,
    state: &State,
    arrival: u64,
) -> Result<Option<Request>, Problem> {
    let device = cursor.short_number(&DEVICE)?;
    let Ok(device) = u32::try_from(device) else {
        return Err(cursor.bad_field(Fault::TooLarge(DEVICE.name), &DEVICE));
    };
    cursor.blanks(&DEVICE)?;
    let sector = cursor.number(&SECTOR)?;
    cursor.blanks(&SECTOR)?;
    let sectors = cursor.short_number(&SECTORS)?;
    let Ok(sectors) = u32::try_from(sectors) else {
        return Err(cursor.bad_field(Fault::TooLarge(SECTORS.name), &SECTORS));
    };
    cursor.blanks(&SECTORS)?;
    // DiskSim reads the flag as a hexadecimal number. The lowest bit, the only one used here, is the same if
    // the digits are read as a decimal number.
    let flag = cursor.short_number(&FLAG)?;
    cursor.end(&FLAG)?;
    request(state, arrival, device, (sector, sectors), operation(flag))
}
