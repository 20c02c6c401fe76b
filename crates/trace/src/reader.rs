//! Reads a trace in one pass, batch by batch, in bounded memory.

mod file;
pub(crate) mod sift;

use crate::address::{Addresses, Placement};
use crate::admission::Admission;
use crate::alignment::Misaligned;
use crate::array::Array;
use crate::blocks::BlockError;
use crate::cursor::{Problem, next_line};
use crate::decode::{Names, State};
use crate::detect::first_block;
use crate::error::{Excerpt, Fault, TraceError};
use crate::faults::Faults;
use crate::format::{Encoding, Format, TimeUnit};
use crate::injection::Injection;
use crate::options::{BadLines, Order, ReadOptions, Volumes};
use crate::plausibility::{Doubt, Pace};
use crate::report::{ReadReport, line_text, offending, offending_bytes};
use crate::request::Request;
use crate::rows::{Rows, Step, shown};
use crate::second_pass::require_second_pass;
use crate::slice::Slice;
use crate::volumes::{Seen, first_pass};
use destage_base::Ticks;
use file::TraceFile;
use std::path::Path;

/// The largest number of requests in a batch, which then occupies 128 KiB.
const BATCH: usize = 4096;

/// Reads a trace in one pass.
///
/// Times are those of the trace, in ticks of 0.1 ns. Calendar times are made relative to the first request of
/// the trace.
pub struct Reader {
    file: TraceFile,
    format: &'static Format,
    /// The rows of a table; `None` for other formats.
    rows: Option<Box<dyn Rows>>,
    state: State,
    admission: Admission,
    faults: Faults,
    /// The arrival of the first request on the clock of the trace. `None` before this request was read, and if
    /// times are not made relative to it.
    epoch: Option<Ticks>,
    /// The slice of the requests that follow.
    slice: Slice,
    injection: Option<Injection>,
    /// The array, and the disk of the array that gets the requests; `None` without an array.
    array: Option<Array>,
    returned: Returned,
    unit: TimeUnit,
    stage: Stage,
}

/// The requests that were returned so far.
#[derive(Default)]
struct Returned {
    count: u64,
    volumes: Seen,
    pace: Pace,
}

impl Returned {
    fn see(&mut self, batch: &[Request]) {
        self.count += batch.len() as u64;
        self.volumes.see(batch);
        self.pace.see(batch);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// More lines may follow.
    Reading,
    /// All lines are decoded; requests that wait for sorting may still have to be returned.
    Emptying,
    /// The whole trace was returned.
    Ended,
    /// A limit or an error ended reading before the end of the trace.
    Stopped,
}

impl Reader {
    /// Opens the trace at `path`, or standard input if `path` is `-`, and detects its format.
    ///
    /// # Errors
    /// If the file does not exist, cannot be read or decompressed, is empty or not text, or has an unknown
    /// format. With [`Volumes::Concatenate`] also for any error in the file, and for a trace that can be read
    /// only once.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, TraceError> {
        let placement = match options.volumes {
            Volumes::Ignore => Placement::Ignore,
            Volumes::Separate => Placement::Separate(options.volume_stride),
            Volumes::Concatenate => {
                let what = "trace.volumes=concatenate";
                require_second_pass(path, what, ", or trace.volumes=separate")?;
                first_pass(path, options)?
            }
        };
        let mut file = TraceFile::open(path, options.digest)?;
        let mut faults = Faults::new(options.bad_lines);
        let long_line = |error| {
            faults.note(|| error);
        };
        let format = first_block(
            &file.name,
            file.compression,
            &mut file.blocks,
            options,
            long_line,
        )?;
        let Some(format) = format else {
            return Err(TraceError::Empty {
                file: file.name,
                lines: 0,
                skipped: 0,
                expected: "at least one",
            });
        };
        let order = match options.order {
            Order::Auto if format.sorted => Order::Error,
            Order::Auto => Order::Sort,
            order => order,
        };
        let addresses = Addresses {
            shift: options.lba_shift,
            placement,
        };
        let unit = options.time_unit_of(&file.name, format)?;
        let mut state = State::new(unit.exponent()).with(&options.choices);
        state.unit.is_given = options.time_unit.is_some();
        // Lines that were skipped because they are too long count as read.
        state.line += faults.skipped;
        let rows = match format.encoding {
            Encoding::Text(_) | Encoding::Binary(_) => None,
            Encoding::Table(open) => match file.through() {
                None => Some(open(path, &state)?),
                Some(through) => {
                    return Err(TraceError::FrontToBack {
                        file: file.name,
                        format: format.name,
                        through,
                    });
                }
            },
        };
        Ok(Self {
            file,
            format,
            rows,
            state,
            admission: Admission::new(addresses, options.zero_length, order),
            faults,
            epoch: None,
            slice: options.slice,
            injection: Injection::new(&options.injection),
            array: options.array.divides().then_some(options.array),
            returned: Returned::default(),
            unit,
            stage: if options.slice.is_empty() {
                Stage::Stopped
            } else {
                Stage::Reading
            },
        })
    }

    /// Replaces the content of `batch` by the next requests, up to a few thousand, in the order of their
    /// arrival. Returns `false`, with an empty batch, at the end of the trace or at the limit.
    ///
    /// # Errors
    /// If a line is bad (unless bad lines are skipped), if reading the stream fails, or if the trace ends
    /// without any request. The requests of all lines before a bad line are returned before the error. After an
    /// error no more requests are returned.
    pub fn fill(&mut self, batch: &mut Vec<Request>) -> Result<bool, TraceError> {
        batch.clear();
        while matches!(self.stage, Stage::Reading | Stage::Emptying) {
            if let Err(error) = self.advance(batch) {
                self.stage = Stage::Stopped;
                batch.clear();
                return Err(error);
            }
            if !batch.is_empty() {
                self.returned.see(batch);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The format of the trace.
    #[must_use]
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// The path of the file as it was given.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.file.name
    }

    /// The arrival of the trace's first request, in ticks of 0.1 ns on the clock of its format. `None` if no
    /// request has been read yet, or if times are not calendar times.
    #[must_use]
    pub fn clock(&self) -> Option<u128> {
        Some(self.state.epoch_start() + u128::from(self.epoch?))
    }

    /// Numbers the names of volumes by the table of `names`, which other readers use too. Must be called before
    /// the first request is read. Concatenated volumes keep their numbers, because a first pass has placed them by
    /// these numbers.
    pub(crate) fn share_names(&mut self, names: &Names) {
        if !self.admission.is_concatenated() {
            self.state.names = names.clone();
        }
    }

    /// Whether the requests returned so far belong to several volumes.
    #[must_use]
    pub fn has_volumes(&self) -> bool {
        self.returned.volumes.several
    }

    /// Doubts about the times returned so far. Each doubt is a sentence for the user, without the file's name.
    #[must_use]
    pub fn doubts(&self) -> Vec<Doubt> {
        let mut pace = self.returned.pace;
        pace.rounded = self.state.rounded;
        pace.doubts(self.time_unit())
    }

    /// How the requests so far are misaligned to 4 KiB; `None` if most are aligned, or if no shift of the addresses
    /// would align most of them.
    #[must_use]
    pub fn misaligned(&self) -> Option<Misaligned> {
        self.admission.misaligned()
    }

    /// The unit in which times are read.
    #[must_use]
    pub fn time_unit(&self) -> TimeUnit {
        let columns = self.state.choices.columns.as_ref();
        let of_table = columns.and_then(|columns| columns.time_unit);
        of_table
            .filter(|_| self.format.general && !self.state.unit.is_given)
            .unwrap_or(self.unit)
    }

    /// The names of the columns that are not read because their names are not known. Only a table whose first
    /// line names its columns has such columns; the names are known when its first request was read.
    #[must_use]
    pub fn unknown_columns(&self) -> &[String] {
        let columns = self.state.choices.columns.as_ref();
        let columns = columns.filter(|_| self.format.general);
        columns.map_or(&[][..], |columns| columns.unknown.as_slice())
    }

    /// The counts so far.
    #[must_use]
    pub fn report(&self) -> ReadReport {
        ReadReport {
            lines: self.state.line - 1,
            requests: self.returned.count,
            skipped: self.faults.skipped,
            zero_length: self.admission.dropped,
            clamped: self.admission.clamped,
            added: self
                .injection
                .as_ref()
                .map_or(0, |injection| injection.added),
        }
    }

    /// The error message of the first bad line that was skipped.
    #[must_use]
    pub fn first_skipped(&self) -> Option<&str> {
        self.faults.first.as_deref()
    }

    /// SHA-256 of the uncompressed file in hexadecimal; `None` before the end of the file was reached, or if
    /// [`ReadOptions::digest`] is off.
    #[must_use]
    pub fn digest(&self) -> Option<String> {
        if self.stage == Stage::Ended {
            self.file.blocks.digest()
        } else {
            None
        }
    }

    /// The number of bytes read from the file so far. For a compressed file these are compressed bytes.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.file.bytes_read()
    }

    /// Does one step of reading. The step may add requests to `batch`, which must be empty, or leave it empty.
    fn advance(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        self.admission.waited(batch, BATCH);
        if batch.is_empty() {
            if let Some(error) = self.faults.pending.take() {
                return Err(error);
            }
            if self.stage == Stage::Emptying {
                self.stage = Stage::Ended;
                return self.require_a_request();
            }
            self.decode(batch)?;
        }
        if self.format.epoch || self.state.is_calendar {
            self.make_relative(batch);
        }
        self.slice.cut(batch);
        if self.slice.is_empty() {
            self.stage = Stage::Stopped;
        }
        if let Some(injection) = &mut self.injection {
            injection.apply(batch);
        }
        if let Some(array) = &self.array {
            array.apply(batch);
        }
        Ok(())
    }

    fn decode(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        // Lines after the limit are not decoded, unless they are needed for sorting.
        let room = usize::try_from(self.slice.end()).map_or(BATCH, |end| end.min(BATCH));
        batch.reserve(BATCH);
        if self.rows.is_some() {
            self.decode_rows(batch, room);
            return Ok(());
        }
        if self.file.needs_more() {
            match self.file.refill() {
                Ok(true) => {}
                Ok(false) => {
                    self.admission.finish();
                    self.stage = Stage::Emptying;
                    if let Encoding::Binary(binary) = self.format.encoding
                        && !(binary.ended)(&self.state)
                    {
                        self.faults.pending = Some(TraceError::NoEndMark {
                            file: self.file.name.clone(),
                            offset: self.file.blocks.offset(),
                        });
                    }
                    return Ok(());
                }
                Err(BlockError::LongLine) if self.faults.policy == BadLines::Skip => {
                    let error = self.no_more_bytes(BlockError::LongLine);
                    self.faults.note(|| error);
                    self.state.line += 1;
                    match self.file.blocks.pass_line() {
                        // The next line can be too long as well; the next refill then reports that line.
                        Ok(_) | Err(BlockError::LongLine) => {}
                        Err(error) => {
                            self.faults.pending = Some(self.no_more_bytes(error));
                            self.admission.finish();
                        }
                    }
                    return Ok(());
                }
                Err(error) => {
                    self.faults.pending = Some(self.no_more_bytes(error));
                    self.admission.finish();
                    return Ok(());
                }
            }
        }
        let consumed = match self.format.encoding {
            Encoding::Text(_) => self.decode_lines(batch, room),
            Encoding::Binary(_) => self.decode_records(batch, room),
            Encoding::Table(_) => unreachable!("its rows were read above"),
        };
        self.file.blocks.consume(consumed);
        if self.faults.pending.is_some() {
            // The requests that wait for sorting are returned before the error.
            self.admission.finish();
        }
        Ok(())
    }

    /// Decodes and admits the lines in the buffer. Returns the number of bytes of the lines that were handled.
    fn decode_lines(&mut self, batch: &mut Vec<Request>, room: usize) -> usize {
        let Self {
            file,
            format,
            state,
            admission,
            faults,
            ..
        } = self;
        let block = file.blocks.lines();
        let first_line = state.line;
        let outcome = format.decode(block, state, batch, room);
        let error =
            |line, fault: Fault, text: &[u8], expected: Option<&'static str>| TraceError::Line {
                file: file.name.clone(),
                line,
                fault,
                text: Excerpt::new(text),
                expected: expected.unwrap_or_else(|| fault.expected(format.columns)),
            };
        admission.admit(batch, |request, fault| {
            let line = u64::from(request.line);
            faults.note(|| {
                error(
                    line,
                    fault,
                    line_text(block, line - first_line.min(line)),
                    None,
                )
            })
        });
        let mut consumed = outcome.consumed;
        if let Some(problem) = outcome.problem
            && faults.pending.is_none()
        {
            let bad = &block[consumed..next_line(block, consumed)];
            let is_blank = problem.fault == Fault::BlankLine;
            let line = if is_blank {
                state.blanks.reported
            } else {
                state.line
            };
            faults.note(|| {
                let text = match is_blank {
                    true => &[],
                    false => offending(bad, consumed, &problem),
                };
                error(line, problem.fault, text, problem.expected)
            });
            if !is_blank {
                consumed += bad.len();
                state.line += 1;
            }
        }
        consumed
    }

    /// Decodes and admits the records in the buffer. Returns the number of bytes of the records that were
    /// handled.
    fn decode_records(&mut self, batch: &mut Vec<Request>, room: usize) -> usize {
        let Self {
            file,
            format,
            state,
            admission,
            faults,
            ..
        } = self;
        let Encoding::Binary(binary) = format.encoding else {
            unreachable!("the caller has asked for the encoding");
        };
        let TraceFile {
            name,
            blocks,
            starved,
            ..
        } = file;
        let block = blocks.lines();
        let offset = blocks.offset();
        let before = state.clone();
        let outcome = (binary.decode)(block, state, batch, room);
        *starved = outcome.problem.is_none() && batch.len() < room;
        let error = |at: usize, problem: &Problem| TraceError::Record {
            file: name.clone(),
            offset: offset + at as u64,
            fault: problem.fault,
            text: Excerpt::hexadecimal(offending_bytes(&block[at..], problem)),
            expected: problem
                .expected
                .unwrap_or_else(|| problem.fault.expected(format.columns)),
        };
        admission.admit(batch, |request, fault| {
            faults.note(|| {
                let at = (binary.locate)(block, &mut before.clone(), u64::from(request.line));
                error(at, &Problem::line(fault))
            })
        });
        let mut consumed = outcome.consumed;
        if let Some(problem) = outcome.problem
            && faults.pending.is_none()
        {
            match problem.record {
                Some(bytes) if faults.note(|| error(consumed, &problem)) => {
                    consumed += bytes;
                    state.line += 1;
                }
                Some(_) => {}
                // This record cannot be skipped, because the start of the next one is unknown.
                None => faults.pending = Some(error(consumed, &problem)),
            }
        }
        consumed
    }

    /// Decodes and admits rows of a table.
    fn decode_rows(&mut self, batch: &mut Vec<Request>, room: usize) {
        let Self {
            file,
            format,
            rows,
            state,
            admission,
            faults,
            ..
        } = self;
        let rows = rows.as_mut().expect("the caller has seen them");
        let outcome = rows.read(state, batch, room);
        let passed = rows.passed();
        admission.admit(batch, |request, fault| {
            faults.note(|| TraceError::Row {
                file: file.name.clone(),
                row: u64::from(request.line),
                fault,
                text: shown(request),
                expected: fault.expected(format.columns),
            })
        });
        let mut ended = false;
        if faults.pending.is_none() {
            match outcome {
                Ok(Step::Some) => {}
                Ok(Step::End) => ended = true,
                Ok(Step::Bad(error)) => {
                    faults.note(|| error);
                }
                Err(error) => faults.pending = Some(error),
            }
        }
        if let Err(error) = self.follow(if ended { u64::MAX } else { passed }) {
            self.faults.pending.get_or_insert(error);
        }
        if ended {
            self.stage = Stage::Emptying;
        }
        if ended || self.faults.pending.is_some() {
            self.admission.finish();
        }
    }

    /// Reads the bytes of a table for the digest, at least up to the position `place`.
    fn follow(&mut self, place: u64) -> Result<(), TraceError> {
        while self.file.blocks.total < place {
            let read = self.file.blocks.lines().len();
            self.file.blocks.consume(read);
            match self.file.refill() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Err(self.no_more_bytes(error)),
            }
        }
        Ok(())
    }

    #[cold]
    fn no_more_bytes(&self, error: BlockError) -> TraceError {
        self.file.error(self.state.line, error)
    }

    fn make_relative(&mut self, batch: &mut [Request]) {
        let Some(first) = batch.first() else { return };
        // Requests are admitted in order, so no later request arrives earlier.
        let epoch = *self.epoch.get_or_insert(first.arrival);
        for request in batch {
            request.arrival -= epoch;
        }
    }

    fn require_a_request(&self) -> Result<(), TraceError> {
        if self.admission.admitted > 0 {
            return Ok(());
        }
        let (lines, skipped) = (self.state.line - 1, self.faults.skipped);
        Err(TraceError::Empty {
            file: self.file.name.clone(),
            lines,
            skipped,
            expected: if self.format.filters_events {
                "at least one of the kind that trace.event names"
            } else {
                "at least one"
            },
        })
    }
}
