//! Decodes a block of lines to a batch of requests.
//!
//! A format implements [`Layout`] for one line. [`decode`] is compiled once for each format. So a call through
//! a pointer is made once for a batch, and never for a line.

use crate::cursor::{Column, Cursor, Problem, next_line};
use crate::digits::POWERS_OF_TEN;
use crate::error::Fault;
use crate::options::Choices;
use crate::request::{Operation, Request, SECTORS_MAX};
use destage_base::Ticks;
use destage_base::time::TICKS_PER_SECOND;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// For times that count from an epoch: by how many ticks a later time of the trace may be earlier than the
/// first one (3.6 years).
const EPOCH_MARGIN: Ticks = 1 << 60;

/// If the first time of a trace is at least this large (ten years), its times are calendar times, which do not
/// count from the beginning of the trace.
pub(crate) const CALENDAR: Ticks = 3650 * 86_400 * TICKS_PER_SECOND;

/// What an error message expects in place of a time that does not fit in 64 bits.
pub(crate) const TIME_MAX: &str = "a time below 2^64 ticks of 0.1 ns, 58 years";

/// The number of bytes that [`Layout::usual`] gets: enough for the longest usual line, and for the bytes after
/// it that are loaded together with its last bytes.
pub(crate) const WINDOW: usize = 64;

/// How a format writes one request as one line.
pub(crate) trait Layout {
    /// The beginning of a first line that names the columns instead of holding a request.
    const HEADER: Option<&'static [u8]> = None;
    /// Whether lines that begin with `#` are comments.
    const COMMENTS: bool = false;
    /// Whether blank lines are allowed anywhere.
    const BLANKS: bool = false;

    /// Whether [`Layout::usual`] reads nearly every line.
    const HAS_USUAL: bool = false;

    /// If the line at the beginning of `bytes` has the usual form, returns its request and the start of the
    /// next line. Returns `None` for other lines and for errors; [`Layout::line`] then reads the line. For a
    /// usual line, [`Layout::line`] returns the same request.
    #[inline(always)]
    fn usual(bytes: &[u8; WINDOW], state: &State) -> Option<(Request, usize)> {
        let _ = (bytes, state);
        None
    }

    /// Reads the line at the cursor and moves the cursor to the next line. `None` means that the format has no
    /// request on such a line.
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem>;
}

/// A function that decodes a block in one format: see [`decode`].
pub(crate) type Decode = fn(&[u8], &mut State, &mut Vec<Request>, usize) -> Outcome;

/// The state of a decoder between two lines or records.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The number of the next line or record, counted from 1.
    pub line: u64,
    /// The unit of the trace's times.
    pub unit: ClockUnit,
    /// For times that count from an epoch: the offset that is subtracted from each time, in whole units. The
    /// first time of the trace sets it.
    base: Option<u64>,
    /// Number of times in a table that have digits below the tick.
    pub rounded: u64,
    /// Whether the times of a table are calendar times. The first time decides.
    pub is_calendar: bool,
    /// Whether numbers in a table count from the beginning of the trace, however large they are.
    pub counts_from_zero: bool,
    /// The blank lines.
    pub blanks: Blanks,
    /// The names of hosts or of files.
    pub names: Names,
    /// The user's choices for properties that the format does not define.
    pub choices: Choices,
    /// A flush that belongs to the write in the current line. The flush is added to the batch before that
    /// write.
    pub ahead: Option<Request>,
    /// A number that a format keeps between lines, such as the version of the file. Each format defines the
    /// meaning of this number.
    pub kind: u32,
    /// The time of the last record in ticks, for formats that store only differences of times.
    pub clock: Ticks,
    /// The start time of each request that is not yet complete, in ticks, by the number that the trace gives
    /// the request. The code only looks up keys of this map, and never iterates over it.
    pub under_way: HashMap<u64, Ticks>,
}

/// The unit in which the times of a trace are written, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockUnit {
    /// Ticks in one unit; this is 10^`exponent`.
    pub ticks: u64,
    pub exponent: u32,
    /// For each number of digits after the decimal point: the number of ticks that a 1 in the last digit means;
    /// 0 if it means less than a tick.
    pub ticks_per_digit: [u64; 8],
    /// Whether the user names the unit. The trace's own unit is then ignored.
    pub is_given: bool,
}

impl ClockUnit {
    /// The unit of 10^`exponent` ticks.
    fn new(exponent: u32) -> Self {
        Self {
            ticks: POWERS_OF_TEN[exponent as usize],
            exponent,
            ticks_per_digit: std::array::from_fn(|digits| {
                let missing = (exponent as usize).checked_sub(digits);
                missing.map_or(0, |missing| POWERS_OF_TEN[missing])
            }),
            is_given: false,
        }
    }

    /// The ticks of `whole` units and `rest` ticks. `None` if they do not fit in 64 bits.
    #[inline(always)]
    fn ticks_of(&self, whole: u64, rest: Ticks) -> Option<Ticks> {
        whole.checked_mul(self.ticks)?.checked_add(rest)
    }
}

/// The blank lines of a trace, which are legal only at its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blanks {
    /// The number of the first of several consecutive blank lines, if the last line read was blank.
    first: Option<u64>,
    /// The number of the blank line that the last [`Fault::BlankLine`] reports.
    pub reported: u64,
}

/// The names of hosts or of files in a trace, which are numbered in the order in which they appear. Clones share
/// one table of names, so the same name has the same number in all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// The number of each name. The code only looks up keys of this map, and never iterates over it.
    numbers: Arc<Mutex<HashMap<Vec<u8>, u32>>>,
    /// The name that was looked up last, and its number. It saves most look-ups in the shared table.
    last: Option<(Vec<u8>, u32)>,
}

impl Names {
    /// The number of `name`: 0 for the first name seen, 1 for the second. `None` if there are more names than
    /// 32 bits can number.
    #[inline(always)]
    pub fn number(&mut self, name: &[u8]) -> Option<u32> {
        match &self.last {
            Some((last, number)) if last.as_slice() == name => Some(*number),
            _ => self.look_up(name),
        }
    }

    #[cold]
    fn look_up(&mut self, name: &[u8]) -> Option<u32> {
        let mut numbers = self.table();
        let next = u32::try_from(numbers.len()).ok()?;
        let number = match numbers.get(name) {
            Some(number) => *number,
            None => {
                numbers.insert(name.to_vec(), next);
                next
            }
        };
        drop(numbers);
        let last = self.last.get_or_insert_default();
        last.0.clear();
        last.0.extend_from_slice(name);
        last.1 = number;
        Some(number)
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Vec<u8>, u32>> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The volume number for a disk of a host. Disks of the first host keep their numbers. The numbers of disks
    /// of the n-th host after the first begin at n * 2^16. With several hosts, `None` if the number of the host
    /// or of the disk needs more than 16 bits.
    #[inline(always)]
    pub fn volume_of_host(&mut self, host: &[u8], disk: u32) -> Option<u32> {
        let host = self.number(host)?;
        if host < 1 << 16 && disk < 1 << 16 {
            return Some((host << 16) | disk);
        }
        (host == 0 && self.table().len() == 1).then_some(disk)
    }
}

/// The result of decoding a block.
pub(crate) struct Outcome {
    /// The number of bytes in the lines that were decoded.
    pub consumed: usize,
    /// The error in the line after the `consumed` bytes, or in the blank lines before it.
    pub problem: Option<Problem>,
}

impl State {
    /// Creates the state for a time unit of 10^`exponent` ticks.
    pub fn new(exponent: u32) -> Self {
        Self {
            line: 1,
            unit: ClockUnit::new(exponent),
            base: None,
            rounded: 0,
            is_calendar: false,
            counts_from_zero: false,
            blanks: Blanks::default(),
            names: Names::default(),
            choices: Choices::default(),
            ahead: None,
            kind: 0,
            clock: 0,
            under_way: HashMap::new(),
        }
    }

    /// Sets the unit of time to 10^`exponent` ticks for the lines that follow.
    pub fn count_in(&mut self, exponent: u32) {
        self.unit = ClockUnit {
            is_given: self.unit.is_given,
            ..ClockUnit::new(exponent)
        };
    }

    /// Sets the user's choices for units and events that the format does not define.
    pub fn with(self, choices: &Choices) -> Self {
        Self {
            choices: choices.clone(),
            ..self
        }
    }

    /// Reads a time in the trace's unit; returns ticks.
    #[inline(always)]
    pub fn time(&self, cursor: &mut Cursor<'_>, column: &'static Column) -> Result<Ticks, Problem> {
        let (whole, rest) = cursor.decimal(self.unit.exponent, column)?;
        let ticks = self.unit.ticks_of(whole, rest);
        ticks.ok_or_else(|| too_late(cursor, column, TIME_MAX))
    }

    /// Reads a time that counts from an epoch. Returns the ticks since a point up to 3.6 years before the time
    /// of the first line.
    ///
    /// This point is before the first line, because a later line of an unsorted trace can have an earlier time
    /// than the first line.
    #[inline(always)]
    pub fn epoch_time(
        &mut self,
        cursor: &mut Cursor<'_>,
        column: &'static Column,
    ) -> Result<Ticks, Problem> {
        let (whole, rest) = cursor.decimal(self.unit.exponent, column)?;
        let Some(whole) = self.since_base(whole) else {
            return Err(cursor.bad_field(Fault::BackInTime, column));
        };
        let ticks = self.unit.ticks_of(whole, rest);
        ticks.ok_or_else(|| {
            let expected = "a time within 54 years of the first request's";
            too_late(cursor, column, expected)
        })
    }

    /// Converts a time of a table, in whole units and ticks, to ticks. The first time of a table decides
    /// whether all times of the table are calendar times: they are if the first time `is_date`, or if it is ten
    /// years or more and the table does not count from zero. Returns `None` for a time that is too early or too
    /// large.
    #[inline(always)]
    pub fn table_time(&mut self, whole: u64, rest: u64, is_date: bool) -> Option<Ticks> {
        if self.base.is_none() {
            let is_late = !self.counts_from_zero && whole >= CALENDAR / self.unit.ticks;
            self.is_calendar = is_date || is_late;
            let margin = EPOCH_MARGIN / self.unit.ticks;
            self.base = Some(match self.is_calendar {
                true => whole.saturating_sub(margin),
                false => 0,
            });
        }
        let whole = whole.checked_sub(self.base?)?;
        self.unit.ticks_of(whole, rest)
    }

    /// Whether `whole` units are earlier than the point from which the times of this trace count.
    pub fn is_before_base(&self, whole: u64) -> bool {
        self.base.is_some_and(|base| whole < base)
    }

    /// The point from which [`State::epoch_time`] counts, in ticks since the epoch.
    pub fn epoch_start(&self) -> u128 {
        u128::from(self.base.unwrap_or(0)) * u128::from(self.unit.ticks)
    }

    /// Converts a time that counts from an epoch, in whole units, to ticks since the same point as
    /// [`State::epoch_time`]. `None` if the time is too early or too large.
    #[inline(always)]
    pub fn whole_epoch_time(&mut self, whole: u64) -> Option<Ticks> {
        self.since_base(whole)?.checked_mul(self.unit.ticks)
    }

    /// Whole units since a point well before the first line. The first call sets this point.
    #[inline(always)]
    fn since_base(&mut self, whole: u64) -> Option<u64> {
        let ticks_per_unit = self.unit.ticks;
        let base = *self
            .base
            .get_or_insert_with(|| whole.saturating_sub(EPOCH_MARGIN / ticks_per_unit));
        whole.checked_sub(base)
    }

    /// Creates a request at `sector`. `None` if the byte address of its end does not fit in 64 bits.
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
            ..Request::BLANK
        })
    }
}

/// The problem of a time that was just read and is too large.
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

/// Calls [`State::request`] for a line; a request beyond the address space is a problem of the line.
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

/// Decodes lines of `block`, which ends with a newline, until the block ends, `batch` holds `room` requests, or
/// a line is wrong. After the call, `state` is the state for the line after the last decoded line.
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
    if state.blanks.first.is_some() && at < block.len() {
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

/// Decodes usual lines of `block` from `at` on. Stops at the first unusual line, or near the end of the block,
/// and returns that position.
#[inline(never)]
fn usual_lines<L: Layout>(
    block: &[u8],
    mut at: usize,
    state: &mut State,
    batch: &mut Vec<Request>,
    room: usize,
) -> usize {
    while batch.len() < room
        // The window has a fixed size, so the compiler can omit nearly all checks of its bounds.
        && let Some(window) = block.get(at..).and_then(<[u8]>::first_chunk)
        && let Some((request, length)) = L::usual(window, state)
    {
        batch.push(request);
        state.line += 1;
        at += length;
    }
    at
}

/// Skips blank lines, which are legal only at the end of the file. Returns the position where decoding
/// continues, and the error if another line follows the blank lines.
#[cold]
fn blank_lines(block: &[u8], mut at: usize, state: &mut State) -> (usize, Option<Problem>) {
    while at < block.len() {
        let next = next_line(block, at);
        if !block[at..next].trim_ascii().is_empty() {
            // The blank lines are an error only because this line follows them. This line itself can be valid.
            let Some(line) = state.blanks.first.take() else {
                break;
            };
            state.blanks.reported = line;
            return (at, Some(Problem::line(Fault::BlankLine)));
        }
        state.blanks.first.get_or_insert(state.line);
        state.line += 1;
        at = next;
    }
    (at, None)
}
