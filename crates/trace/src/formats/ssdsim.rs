//! `ssdsim`: the format of SSDSim and MQSim. It has the columns of DiskSim, with times in whole nanoseconds.

use super::disksim::rest_of_request;
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, TIME_MAX, decode, too_late};
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::Request;

pub(crate) const FORMAT: Format = Format {
    name: "ssdsim",
    extensions: &["ssdsim", "mqsim"],
    about: "SSDSim and MQSim: the columns of DiskSim, times in whole ns; some traces really count us (trace.time_unit).",
    columns: "5 columns: time in whole ns, device, first sector, sectors, flag",
    example: "26214000 0 303574 7 0",
    time_unit: TimeUnit::Nanoseconds,
    ..Format::of(Encoding::Text(decode::<SsdSim>))
};

const TIME: Column = Column::new("time", "a whole number such as 26214000");

struct SsdSim;

impl Layout for SsdSim {
    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        cursor.skip_blanks();
        let time = cursor.number(&TIME)?;
        cursor.blanks(&TIME)?;
        let Some(arrival) = time.checked_mul(state.unit.ticks) else {
            return Err(too_late(cursor, &TIME, TIME_MAX));
        };
        rest_of_request(cursor, state, arrival)
    }
}
