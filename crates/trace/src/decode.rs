//! From a block of lines to a batch of requests.
//!
//! A format implements [`Layout`] for one line; [`decode`] is compiled once per format around it, so a batch costs
//! one call through a pointer and a line none.

use crate::cursor::{Column, Cursor, Problem, next_line};
use crate::digits::POWERS_OF_TEN;
use crate::error::Fault;
use crate::options::Choices;
use crate::request::{Operation, Request, SECTORS_MAX};
use destage_base::Ticks;
use destage_base::time::TICKS_PER_SECOND;
use std::collections::HashMap;

/// Times up to this much earlier than the first time of a trace are still represented exactly, if its times count from an epoch.
const EPOCH_MARGIN: Ticks = 1 << 60;

/// Times that begin this late count from a day of the calendar, not from the beginning of a trace: ten years.
pub(crate) const CALENDAR: Ticks = 3650 * 86_400 * TICKS_PER_SECOND;

/// The error for a time that 64 bits cannot hold.
pub(crate) const TIME_MAX: &str = "a time below 2^64 ticks of 0.1 ns, 58 years";

/// Most bytes of a usual line, with those that are read after it.
pub(crate) const WINDOW: usize = 64;

/// How a format writes one request on one line.
pub(crate) trait Layout {
    /// The beginning of a first line that is not a request.
    const HEADER: Option<&'static [u8]> = None;
    /// Whether lines that begin with `#` are comments.
    const COMMENTS: bool = false;
    /// Whether blank lines may stand anywhere.
    const BLANKS: bool = false;

    /// Whether [`Layout::usual`] reads nearly every line.
    const HAS_USUAL: bool = false;

    /// The request of the line at the beginning of `bytes`, and the start of the next line, if the line has the usual form.
    /// Other lines, and errors, are left to [`Layout::line`], which reads such a line in the same way.
    #[inline(always)]
    fn usual(bytes: &[u8; WINDOW], state: &State) -> Option<(Request, usize)> {
        let _ = (bytes, state);
        None
    }

    /// Reads the line at the cursor and steps onto the next. `None` is a line that the format defines as no request.
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem>;
}

/// A format's decoder for a block: see [`decode`].
pub(crate) type Decode = fn(&[u8], &mut State, &mut Vec<Request>, usize) -> Outcome;

/// The state of decoding from one line, or record, to the next.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The number of the next line or record, from 1.
    pub line: u64,
    /// The time unit: ticks in one, a power of ten, and its exponent.
    pub ticks_per_unit: u64,
    pub exponent: u32,
    /// Whether the user names the unit, so that the trace does not.
    pub unit_is_given: bool,
    /// By the number of digits after the point: the ticks that 1 in the last digit stands for; 0 if that is less than a tick.
    pub ticks_per_digit: [u64; 8],
    /// For times that count from an epoch: the offset to subtract, in whole units.
    base: Option<u64>,
    /// Times of a table with digits below the tick.
    pub rounded: u64,
    /// Whether the times of a table turned out to count from a day of the calendar.
    pub is_calendar: bool,
    /// The first of the blank lines that were the last seen.
    blank: Option<u64>,
    /// The blank line that the latest [`Fault::BlankLine`] is about.
    pub bad_blank: u64,
    /// Numbers of names: of hosts, of files. Looked up, never walked.
    names: HashMap<Vec<u8>, u32>,
    /// The name looked up last, and its number.
    last_name: (Vec<u8>, u32),
    /// The user's choices where the format leaves something open.
    pub choices: Choices,
    /// A flush that the write being read carries. It is handed out before that write.
    pub ahead: Option<Request>,
    /// A number from the beginning of the file, such as a version. Its meaning is the format's own.
    pub kind: u32,
    /// A running time in ticks, for formats that note only differences.
    pub clock: Ticks,
    /// When requests under way began, by the number that the trace knows them by until they are done. Looked up,
    /// never walked.
    pub under_way: HashMap<u64, Ticks>,
}

/// How far a decoder came.
pub(crate) struct Outcome {
    /// Bytes of whole lines that are done.
    pub consumed: usize,
    /// The error in the line that starts there, or in the blank lines before it.
    pub problem: Option<Problem>,
}

impl State {
    /// For a time unit of 10^`exponent` ticks.
    pub fn new(exponent: u32) -> Self {
        let (ticks_per_unit, ticks_per_digit) = Self::ticks(exponent);
        Self {
            line: 1,
            ticks_per_unit,
            exponent,
            unit_is_given: false,
            ticks_per_digit,
            base: None,
            rounded: 0,
            is_calendar: false,
            blank: None,
            bad_blank: 0,
            names: HashMap::new(),
            last_name: (Vec::new(), 0),
            choices: Choices::default(),
            ahead: None,
            kind: 0,
            clock: 0,
            under_way: HashMap::new(),
        }
    }

    /// Ticks of a time unit of 10^`exponent` ticks, and of one in each digit behind its point.
    fn ticks(exponent: u32) -> (u64, [u64; 8]) {
        let of_digits = std::array::from_fn(|digits| {
            let missing = (exponent as usize).checked_sub(digits);
            missing.map_or(0, |missing| POWERS_OF_TEN[missing])
        });
        (POWERS_OF_TEN[exponent as usize], of_digits)
    }

    /// Times are of 10^`exponent` ticks from here on.
    pub fn count_in(&mut self, exponent: u32) {
        self.exponent = exponent;
        (self.ticks_per_unit, self.ticks_per_digit) = Self::ticks(exponent);
    }

    /// A decoder with the user's choices about units and events that the format leaves open.
    pub fn with(self, choices: &Choices) -> Self {
        Self {
            choices: choices.clone(),
            ..self
        }
    }

    /// A time in this trace's unit, in ticks.
    #[inline(always)]
    pub fn time(&self, cursor: &mut Cursor<'_>, column: &'static Column) -> Result<Ticks, Problem> {
        let (whole, rest) = cursor.decimal(self.exponent, column)?;
        whole
            .checked_mul(self.ticks_per_unit)
            .and_then(|ticks| ticks.checked_add(rest))
            .ok_or_else(|| too_late(cursor, column, TIME_MAX))
    }

    /// A time that counts from some epoch, in ticks from a point well before the first line.
    ///
    /// Later lines may be a little earlier than the first where a format is not sorted, hence "well before".
    #[inline(always)]
    pub fn epoch_time(
        &mut self,
        cursor: &mut Cursor<'_>,
        column: &'static Column,
    ) -> Result<Ticks, Problem> {
        let (whole, rest) = cursor.decimal(self.exponent, column)?;
        let Some(whole) = self.since_base(whole) else {
            return Err(cursor.bad_field(Fault::BackInTime, column));
        };
        whole
            .checked_mul(self.ticks_per_unit)
            .and_then(|ticks| ticks.checked_add(rest))
            .ok_or_else(|| {
                too_late(
                    cursor,
                    column,
                    "a time within 54 years of the first request's",
                )
            })
    }

    /// A time of a table, whose first time shows whether all are calendar times: it `is_date`, or is ten years or more. Given in whole units and
    /// ticks. `None` where it goes too far back or is too large.
    #[inline(always)]
    pub fn table_time(&mut self, whole: u64, rest: u64, is_date: bool) -> Option<Ticks> {
        if self.base.is_none() {
            self.is_calendar = is_date || whole >= CALENDAR / self.ticks_per_unit;
            let margin = EPOCH_MARGIN / self.ticks_per_unit;
            self.base = Some(match self.is_calendar {
                true => whole.saturating_sub(margin),
                false => 0,
            });
        }
        let whole = whole.checked_sub(self.base?)?;
        whole.checked_mul(self.ticks_per_unit)?.checked_add(rest)
    }

    /// Whether `whole` units are before everything that this trace's times count from.
    pub fn is_before_base(&self, whole: u64) -> bool {
        self.base.is_some_and(|base| whole < base)
    }

    /// The origin of [`State::epoch_time`], in ticks since the epoch.
    pub fn epoch_start(&self) -> u128 {
        u128::from(self.base.unwrap_or(0)) * u128::from(self.ticks_per_unit)
    }

    /// A number for `name`: 0 for the first name met, 1 for the second. `None` past 32 bits.
    #[inline(always)]
    pub fn number_of_name(&mut self, name: &[u8]) -> Option<u32> {
        if !self.names.is_empty() && self.last_name.0 == name {
            return Some(self.last_name.1);
        }
        self.other_name(name)
    }

    #[cold]
    fn other_name(&mut self, name: &[u8]) -> Option<u32> {
        let next = u32::try_from(self.names.len()).ok()?;
        let number = match self.names.get(name) {
            Some(number) => *number,
            None => {
                self.names.insert(name.to_vec(), next);
                next
            }
        };
        self.last_name.0.clear();
        self.last_name.0.extend_from_slice(name);
        self.last_name.1 = number;
        Some(number)
    }

    /// The number of a host's disk as a volume: disks of the first host keep their number, those of the
    /// n-th host after it start at n * 2^16. `None` where that does not fit.
    #[inline(always)]
    pub fn volume_of_host(&mut self, host: &[u8], disk: u32) -> Option<u32> {
        let host = self.number_of_name(host)?;
        if host == 0 && self.names.len() == 1 {
            return Some(disk);
        }
        (host < 1 << 16 && disk < 1 << 16).then_some((host << 16) | disk)
    }

    /// A time in whole units of this trace that counts from some epoch, as [`State::epoch_time`] makes it.
    /// `None` where it goes too far back or is too large.
    #[inline(always)]
    pub fn whole_epoch_time(&mut self, whole: u64) -> Option<Ticks> {
        self.since_base(whole)?.checked_mul(self.ticks_per_unit)
    }

    /// Whole units since a point well before the first line. The first call sets that point.
    #[inline(always)]
    fn since_base(&mut self, whole: u64) -> Option<u64> {
        let ticks_per_unit = self.ticks_per_unit;
        let base = *self
            .base
            .get_or_insert_with(|| whole.saturating_sub(EPOCH_MARGIN / ticks_per_unit));
        whole.checked_sub(base)
    }

    /// A request at `sector`, unless it ends where byte addresses do not fit in 64 bits any more.
    #[inline(always)]
    pub fn request(
        &self,
        arrival: Ticks,
        volume: u32,
        (sector, sectors): (u64, u32),
        operation: Operation,
    ) -> Option<Request> {
        if sector > SECTORS_MAX - u64::from(sectors) {
            return None;
        }
        Some(Request {
            arrival,
            sector,
            sectors,
            volume,
            line: u32::try_from(self.line).unwrap_or(u32::MAX),
            operation,
            fua: false,
            stream: 0,
        })
    }
}

/// The problem of a time, just read, that is too large.
#[cold]
#[inline(never)]
pub(crate) fn too_late(
    cursor: &Cursor<'_>,
    column: &'static Column,
    expected: &'static str,
) -> Problem {
    Problem {
        expected: Some(expected),
        ..cursor.bad_field(Fault::TooLarge(column.name), column)
    }
}

/// [`State::request`] of a line.
#[inline(always)]
pub(crate) fn request(
    state: &State,
    arrival: Ticks,
    volume: u32,
    range: (u64, u32),
    operation: Operation,
) -> Result<Option<Request>, Problem> {
    match state.request(arrival, volume, range, operation) {
        None => Err(Problem::line(Fault::BeyondAddressSpace)),
        made => Ok(made),
    }
}

/// Decodes lines of `block`, which ends with a newline, until it is used up, `batch` holds `room` requests, or a
/// line is wrong. The state then stands at the line after the last one done.
pub(crate) fn decode<L: Layout>(
    block: &[u8],
    state: &mut State,
    batch: &mut Vec<Request>,
    room: usize,
) -> Outcome {
    let mut at = 0;
    if let (1, Some(header)) = (state.line, L::HEADER)
        && block.starts_with(header)
    {
        at = next_line(block, 0);
        state.line += 1;
    }
    if state.blank.is_some() && at < block.len() {
        let (next, problem) = blank_lines(block, at, state);
        if problem.is_some() {
            return Outcome {
                consumed: next,
                problem,
            };
        }
        at = next;
    }
    while at < block.len() && batch.len() < room {
        if L::HAS_USUAL {
            at = usual_lines::<L>(block, at, state, batch, room);
            if at == block.len() || batch.len() == room {
                break;
            }
        }
        let mut cursor = Cursor::new(block, at);
        match L::line(&mut cursor, state) {
            Ok(Some(request)) => {
                if let Some(ahead) = state.ahead.take() {
                    batch.push(ahead);
                }
                batch.push(request);
            }
            Ok(None) => {}
            Err(problem) => {
                let line = &block[at..next_line(block, at)];
                let blank = line.trim_ascii().is_empty();
                let comment = line.trim_ascii_start().starts_with(b"#");
                if L::COMMENTS && comment || L::BLANKS && blank {
                    cursor.rest_of_line();
                } else if blank {
                    let (next, problem) = blank_lines(block, at, state);
                    if problem.is_some() {
                        return Outcome {
                            consumed: next,
                            problem,
                        };
                    }
                    at = next;
                    continue;
                } else {
                    return Outcome {
                        consumed: at,
                        problem: Some(problem),
                    };
                }
            }
        }
        at = cursor.at;
        state.line += 1;
    }
    Outcome {
        consumed: at,
        problem: None,
    }
}

/// Decodes the usual lines of `block` from `at` on, up to the first other or near the end; where that is.
#[inline(never)]
fn usual_lines<L: Layout>(
    block: &[u8],
    mut at: usize,
    state: &mut State,
    batch: &mut Vec<Request>,
    room: usize,
) -> usize {
    while batch.len() < room
        // In a window of fixed size, the compiler almost always knows that there is room.
        && let Some(window) = block.get(at..).and_then(<[u8]>::first_chunk)
        && let Some((request, length)) = L::usual(window, state)
    {
        batch.push(request);
        state.line += 1;
        at += length;
    }
    at
}

/// Passes over blank lines. They are legal only at the end of the file. Returns where reading continues, and the error.
#[cold]
fn blank_lines(block: &[u8], mut at: usize, state: &mut State) -> (usize, Option<Problem>) {
    while at < block.len() {
        let next = next_line(block, at);
        if !block[at..next].trim_ascii().is_empty() {
            // Only this line makes the blank one wrong, and may itself be right.
            let Some(line) = state.blank.take() else {
                break;
            };
            state.bad_blank = line;
            return (at, Some(Problem::line(Fault::BlankLine)));
        }
        state.blank.get_or_insert(state.line);
        state.line += 1;
        at = next;
    }
    (at, None)
}
